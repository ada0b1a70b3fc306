package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/rulesfile"
	"github.com/bindery-docs/bindery/tests/outside"
)

// FuzzRules: whatever stands in a file of rules, reading it ends, and what is found
// has its place.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		"check:\n  link-missing: off\n", "check: {link-missing: error, alt-missing: off}", "check:\n- a\n", "check: &a\n  b: *a\n",
		"---\n---\n", "? a\n: b\n", "run: {kind: cloud, path: [a, true]}", "run:\n  path: &a [*a]\n", "check:\n  ? [a]\n  : b\n", "<<: {check: {}}\n", "check: !!x\n", "# nothing\n", "", "check:\n\tx: y",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r := newRuleReader()
		r.take(rulesfile.Parse(src, r.sections()))
		for code, level := range r.rules {
			if code == rulesCode || !slices.Contains([]string{"off", "info", "notice", "warning", "error"}, string(level)) {
				t.Errorf("%s has the level %q", code, level)
			}
		}
		for _, s := range r.run {
			if s.Line < 1 || s.Column < 1 || !slices.Contains(RunKeys(), s.Key) {
				t.Errorf("a setting is %+v", s)
			}
		}
		for _, d := range r.faults {
			if d.Line < 1 || d.Column < 1 || len(d.Message) > 2000 {
				t.Errorf("a fault has no place, or much to say: %v", d)
			}
		}
	})
}

// TestCodes: the table has each code that the sources report, and no other.
func TestCodes(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	reported := regexp.MustCompile(`(?:mdx\.(?:Error|Warning|Notice), |[cC]ode:? += |Code: |report(?:Once)?\(.*, |say\(p, |CodeSyntax = )"([a-z]+(?:-[a-z]+)*)"`)
	used, text := map[string]bool{}, strings.Builder{}
	root := outside.Checkout(t)
	for _, folder := range []string{"shared/render", "shared/service/export", "infra/cmd/bindery"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "check/codes.go") {
				return err
			}
			data, err := os.ReadFile(file)
			text.Write(data)
			if strings.Contains(file, "/render/") || strings.Contains(file, "/export/") {
				for _, m := range reported.FindAllSubmatch(data, -1) {
					used[string(m[1])] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(used) < 70 {
		t.Fatalf("only %d codes were found in the sources", len(used))
	}
	var names []string
	for _, c := range Codes() {
		if slices.Contains(names, c.Name) {
			t.Errorf("%s is listed twice", c.Name)
		}
		names = append(names, c.Name)
		if !strings.Contains(text.String(), `"`+c.Name+`"`) {
			t.Errorf("nothing reports %s", c.Name)
		}
		if c.About == "" || !strings.HasSuffix(c.About, ".") {
			t.Errorf("%s is not explained", c.Name)
		}
	}
	for code := range used {
		if !slices.Contains(names, code) {
			t.Errorf("the table lacks %s", code)
		}
	}
}

// TestPageOfCodes: the documentation has the table of codes.
func TestPageOfCodes(t *testing.T) {
	const begin, end = "{/* codes */}\n", "{/* end of codes */}\n"
	file := filepath.Join(outside.Checkout(t), "infra", "docs", "authoring", "check.mdx")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), begin)
	got, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	var want strings.Builder
	want.WriteString("\n| Code | Level | Meaning |\n|---|---|---|\n")
	for _, c := range Codes() {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", c.Name, c.Level, c.About)
	}
	want.WriteString("\n")
	if golden.Update() {
		golden.Write(t, file, []byte(before+begin+want.String()+end+after))
		return
	}
	if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the table differs (-program +page; -update writes it anew):\n%s", diff)
	}
}
