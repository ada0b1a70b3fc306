package reference

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// A description is plain Markdown: what MDX would take for something else stays
// what it is, and only tags of simple elements that match are HTML.
func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"braces", "an {id} and \\{x\\}", "p(an {id} and {x})"},
		{"statements", "import x\nexport y, important", "p(import x\nexport y, important)"},
		{"a fence in an item", "- a:\n\n      ```json\n      {\"b\": 1}\n      ```", "list(item(p(a:) code[{\"b\": 1}]))"},
		{"a fence in a quote", "> ```\n> {a}\n> ```", "quote(code[{a}])"},
		{"an address in angles", "[a](<b c>) <https://x.example/d?e=f.>", "p(link b c(a)   link https://x.example/d?e=f.(https://x.example/d?e=f.))"},
		{"a formula", "a $$b_{c}$$", "p(a  math[b_{c}])"},
		{"marks", "***both*** and ``a`b`` and [docs](/nl/a \"t\")", "p(em(strong(both))  and  code[a`b]  and  link /nl/a(docs))"},
		{"simple elements", "a<br>b <b>c</b>", "p(a <br>() b  <b>(c))"},
		{"others", "a < b <Unknown> <script>x</script> <!-- gone -->", "p(a < b <Unknown> <script>x</script> )"},
		{"tags that don't match", "<p>a <b>c</b> <!-- gone -->", "p(<p>a <b>c</b> )"},
		{"a note", "a[^b]\n\n[^b]: c", "p(a [^b])"},
	} {
		list, cut := markdown(c.text, mdx.Pos{Line: 1, Column: 1})
		if got := sketch(list); got != c.want || cut {
			t.Errorf("%s: got  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// sketch writes nodes as kind(content), one after another.
func sketch(list []*mdx.Node) string {
	names := map[mdx.Kind]string{mdx.Paragraph: "p", mdx.List: "list", mdx.ListItem: "item", mdx.Blockquote: "quote",
		mdx.Emphasis: "em", mdx.Strong: "strong"}
	var parts []string
	for _, n := range list {
		name := names[n.Kind]
		switch n.Kind {
		case mdx.Text:
			parts = append(parts, n.Value)
			continue
		case mdx.CodeBlock, mdx.InlineCode:
			parts = append(parts, "code["+n.Value+"]")
			continue
		case mdx.InlineMath:
			parts = append(parts, "math["+n.Value+"]")
			continue
		case mdx.Link:
			name = "link " + n.URL
		case mdx.Element:
			name = "<" + n.Name + ">"
		}
		parts = append(parts, name+"("+sketch(n.Children)+")")
	}
	return strings.Join(parts, " ")
}

// Nothing that runs comes of a description, whatever is in it.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"{a}", "`{", "<b onclick=\"x\">{x}</b>", "import a from 'b'", "---\na: 1\n---", "<br><p>", "[a]: b\n[a]", "x[^1]\n\n[^1]: y", "```\n{", "\\\\{a}", "<a\n{b}>", "> {a}\n- {b}\n1. export x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, _ := markdown(text, mdx.Pos{Line: 1, Column: 1})
		for _, n := range list {
			mdx.Walk(n, func(n *mdx.Node) bool {
				switch n.Kind {
				case mdx.ESM, mdx.Expression:
					t.Errorf("%q becomes code: %q", text, n.Value)
				}
				for _, a := range n.Attrs {
					if a.Kind == mdx.AttrExpr || a.Kind == mdx.AttrSpread || strings.HasPrefix(strings.ToLower(a.Name), "on") && n.Name == "" {
						t.Errorf("%q becomes an attribute %q", text, a.Name)
					}
				}
				return true
			})
		}
	})
}
