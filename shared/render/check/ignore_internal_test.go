package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
)

// FuzzIgnore: whatever a comment says, it silences nothing but what it names with a
// reason, on its line, and what is wrong with it has a place and is soon said.
func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"link-missing: soon", "link-missing", "", ":", ": why", "a, link-missing,, b : why: so", "link-misssing: x", "link-missing,link-missing: x", "\n link-missing\n:\n x"} {
		f.Add(seed, "link-missing", 3)
	}
	f.Fuzz(func(t *testing.T, text, code string, line int) {
		if len(text) > 2000 {
			return
		}
		i := &Ignore{Ignore: page.Ignore{File: "a.mdx", Line: 2, Column: 1, For: 3, Text: text}}
		d := &mdx.Diagnostic{Code: code, File: "a.mdx", Line: line}
		names, reason, _ := strings.Cut(text, ":")
		silenced := ignores{i}.silence(d)
		if silenced && (line != 3 || strings.TrimSpace(reason) == "" || !strings.Contains(names, code) || code == "") {
			t.Errorf("%q silences %q on line %d", text, code, line)
		}
		if silenced != slices.Equal(i.Used, []string{code}) {
			t.Errorf("%q is silenced: %t, and noted as %q", code, silenced, i.Used)
		}
		if other := (&mdx.Diagnostic{Code: code, File: "b.mdx", Line: 3}); (ignores{i}).silence(other) {
			t.Errorf("%q silences another file", text)
		}
		var all ignores
		all.add(i)
		all.add(&Ignore{Ignore: i.Ignore, Used: []string{code}})
		if len(all) != 1 || !slices.Contains(all[0].Used, code) {
			t.Errorf("one comment on two pages is %d", len(all))
		}
		for _, fault := range i.faults(Codes(), true) {
			if fault.Line != 2 || fault.Column != 1 || fault.Code != ignoreCode || len(fault.Message) > 2000 {
				t.Errorf("a fault has no place, or much to say: %+v", fault)
			}
		}
	})
}
