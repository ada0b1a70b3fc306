package page_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// The outline of a page has what its readers get: with snippets in place, and without
// what is not shown.
func TestOutline(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		name, source string
		want         string
	}{
		{"headings", "# A page\n\n## Two {#x}\n\n### Deep *down*\n", "## Two (#x)\n### Deep down (#deep-down)\n"},
		{"text with links and a picture", "Hello [b](/b#x), <https://e.com> and ![Alt](/p.png).\n", "text: Hello b, https://e.com and Alt.\n  link /b#x: b\n  link https://e.com: https://e.com\n  picture /p.png: Alt\n"},
		{"pictures", "![Alt](/p.png)\n\n![](/q.png)\n\n<img src=\"/r.png\" alt=\"R\" />\n", "picture /p.png: Alt\npicture /q.png without alternative text\npicture /r.png: R\n"},
		{"code", "```bash title=\"x\"\nls\npwd\n```\n\n```mermaid\ngraph TD\n```\n\n```\nplain\n```\n", "code in bash, 2 lines {title=\"x\"}: ls\ndiagram in mermaid, 1 line: graph TD\ncode, 1 line: plain\n"},
		{"a table", "| A | B |\n|---|---|\n| 1 | [x](/b) |\n| 2 | 3 |\n", "table of 2 columns and 2 rows: A | B\n  link /b: x\n"},
		{"lists", "- one\n- [ ] two\n- [x] three\n\n  more\n\n1. first\n", "list of 3 items\n  item: one\n  open task: two\n  done task: three\n    text: more\nnumbered list of 1 item\n  item: first\n"},
		{"a quote and a formula", "> said\n\n$$\nx^2\n$$\n", "quote\n  text: said\nformula: x^2\n"},
		{"components", "<Note>Be **careful**.</Note>\n\n<CardGroup cols={2}><Card title=\"T\" href=\"/b\">text</Card></CardGroup>\n\n<Steps>\n  <Step title=\"One\">\n\n```js\n1\n```\n\n  </Step>\n</Steps>\n",
			"<Note>\n  text: Be careful.\n<CardGroup> cols=2\n  <Card> title=\"T\" href=\"/b\"\n    text: text\n<Steps>\n  <Step> title=\"One\"\n    code in js, 1 line: 1\n"},
		{"a component in a line", "Press <Tooltip tip=\"Help\">this</Tooltip> now.\n", "text: Press this now.\n  <Tooltip> tip=\"Help\"\n"},
		{"a component that does not exist", "<Hint>\n  Look [here](/b).\n</Hint>\n", "<Hint>, which does not exist: readers see its content without it\n  text: Look here.\n    link /b: here\n"},
		{"HTML", "<div className=\"x\">\n  <h2>Head</h2>\n\n  Text\n</div>\n\n<video src=\"/v.mp4\" />\n", "## Head (#head)\ntext: Text\nvideo /v.mp4\n"},
		{"a snippet", "import S from '/snippets/s.mdx'\n\n<S />\n", "text: From the snippet.\n"},
		{"a constant", "export const n = 3\n\nThere are {n + 1}.\n", "text: There are 4.\n"},
		{"a footnote", "Text[^a].\n\n[^a]: The note.\n", "text: Text.\nfootnote:\n  text: The note.\n"},
		{"long text", long + "\n", "text: " + strings.TrimSpace(long[:160]) + "…\n"},
	} {
		fsys := fstest.MapFS{
			"docs.json": {Data: []byte(`{"name": "x", "navigation": {"pages": ["a", "b"]}}`)}, "b.mdx": {Data: []byte("b\n")},
			"snippets/s.mdx": {Data: []byte("From the snippet.\n")}, "p.png": {}, "q.png": {}, "r.png": {}, "v.mp4": {},
			"a.mdx": {Data: []byte("---\ntitle: A page\n---\n\n" + c.source)},
		}
		s, _, err := site.Load(t.Context(), fsys, []string{"docs.json", "a.mdx", "b.mdx", "snippets/s.mdx", "p.png", "q.png", "r.png", "v.mp4"}, site.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i := range s.Pages {
			if s.Pages[i].Source == "a.mdx" {
				at = i
			}
		}
		o, err := page.New(page.Options{Site: s, FS: fsys}).Outline(t.Context(), at, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range o.Parts {
			b.WriteString(strings.Repeat("  ", p.Depth) + p.Text + "\n")
		}
		if d := cmp.Diff(c.want, b.String()); d != "" || o.More > 0 {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

// An outline ends, and says how much it leaves out.
func TestOutlineEnds(t *testing.T) {
	fsys := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "x", "navigation": {"pages": ["a"]}}`)}, "a.mdx": {Data: []byte(strings.Repeat("a\n\n", page.MaxParts+7))}}
	s, _, err := site.Load(t.Context(), fsys, []string{"docs.json", "a.mdx"}, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := page.New(page.Options{Site: s, FS: fsys}).Outline(t.Context(), 0, nil)
	if err != nil || len(o.Parts) != page.MaxParts || o.More != 7 {
		t.Errorf("%d parts and %d more, %v", len(o.Parts), o.More, err)
	}
}
