package page

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// TestIgnoresIn: which line a comment is about, and what is none.
func TestIgnoresIn(t *testing.T) {
	for _, c := range []struct {
		name, file, src string
		want            []Ignore
	}{
		{"before", "a.mdx", "{/* bindery-ignore x: y */}\r\n\r\ntext\r\n", []Ignore{{"a.mdx", 1, 1, 3, "x: y"}}},
		{"beside", "a.mdx", "text {/*bindery-ignore x:y*/}\ntext", []Ignore{{"a.mdx", 1, 6, 1, "x:y"}}},
		{"in two lines", "a.mdx", "- { /* bindery-ignore x:\n   y */ }\n- text", []Ignore{{"a.mdx", 1, 3, 1, "x:\n   y"}}},
		{"at the end", "a.mdx", "\n{/* bindery-ignore */}\n", []Ignore{{"a.mdx", 2, 1, 3, ""}}},
		{"another word", "a.mdx", "{/* bindery-ignored x: y */} {/* no bindery-ignore x: y */}", nil},
		{"in code", "a.mdx", "`{/* bindery-ignore x: y */}`\n\n    {/* text */}\n\n```\n{/* bindery-ignore x: y */}\n```\n", nil},
		{"Markdown", "a.md", "<!-- bindery-ignore x: y -->\ntext <!-- bindery-ignore z: y -->", []Ignore{{"a.md", 1, 1, 2, "x: y"}, {"a.md", 2, 6, 2, "z: y"}}},
		{"not Markdown", "a.mdx", "<!-- bindery-ignore x: y -->", nil},
	} {
		file, _ := mdx.Parse([]byte(c.src), mdx.Options{})
		if diff := cmp.Diff(c.want, ignoresIn(c.file, []byte(c.src), file.Root)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// FuzzIgnores: whatever stands in a page, its comments have their places, in the order
// of lines that exist, and none is about a line before its own.
func FuzzIgnores(f *testing.F) {
	for _, seed := range []string{
		"{/* bindery-ignore x: y */}\n\ntext", "text {/*bindery-ignore x:y*/}", "- { /* bindery-ignore\nx:y */ }\n- t", "<!-- bindery-ignore x: y -->\r\n\r\nt",
		"```\n{/* bindery-ignore a: b */}\n```", "`<!-- bindery-ignore a: b -->`", "{/* bindery-ignore */", "<!--bindery-ignore--><!-- bindery-ignore\u00a0x -->", "{/*bindery-ignore {/*bindery-ignore*/}*/}",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, src []byte, markdown bool) {
		if len(src) > 10_000 {
			return
		}
		name := "a.mdx"
		if markdown {
			name = "a.md"
		}
		file, _ := mdx.Parse(src, mdx.Options{})
		lines := bytes.Split(src, []byte("\n"))
		for _, i := range ignoresIn(name, src, file.Root) {
			if i.File != name || i.Line < 1 || i.Line > i.For || i.For > len(lines) || i.Column < 1 || i.Column > len(lines[i.Line-1]) {
				t.Fatalf("a comment of %d lines is %+v", len(lines), i)
			}
			if opens := lines[i.Line-1][i.Column-1:]; opens[0] != '{' && !(markdown && bytes.HasPrefix(opens, []byte("<!--"))) {
				t.Errorf("at %d:%d no comment begins: %q", i.Line, i.Column, opens)
			}
			if len(i.Text) > maxMessage+len("…") || !utf8.ValidString(i.Text) && utf8.Valid(src) {
				t.Errorf("the text is %q", i.Text)
			}
		}
	})
}
