package page

import (
	"testing"

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
