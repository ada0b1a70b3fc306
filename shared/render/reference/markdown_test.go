package reference

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// A description is CommonMark: what MDX would take for something else stays
// what it is.
func TestPlainMarkdown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"braces", "an {id} and \\{x\\}", "an &#123;id&#125; and &#123;x&#125;"},
		{"in code they are code", "`{a}` ``{`b`}`` {c}", "`{a}` ``{`b`}`` &#123;c&#125;"},
		{"code that does not close", "`{a}", "`&#123;a&#125;"},
		{"a fence", "```js\n{<a>}\n```\n{b}", "```js\n{<a>}\n```\n&#123;b&#125;"},
		{"statements", "import x\nexport y, important", "&#105;mport x\n&#101;xport y, important"},
		{"simple elements", "a<br>b <b>c</b> <img src=\"x\">", "a<br/>b <b>c</b> <img src=\"x\"/>"},
		{"others", "a < b <Unknown> <script>x</script> <!-- gone -->", "a &lt; b &lt;Unknown> &lt;script>x&lt;/script> "},
		{"addresses", "<https://x.example/a?b=c> <mailto:a@b.example>", "https://x.example/a?b=c mailto:a@b.example"},
		{"windows' lines", "a\r\n{b}", "a\n&#123;b&#125;"},
	} {
		if got := plainMarkdown(c.text, true); got != c.want {
			t.Errorf("%s: got  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// Nothing that runs comes of a description, whatever is in it.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"{a}", "`{", "<b onclick=\"x\">{x}</b>", "import a from 'b'", "---\na: 1\n---", "<br><p>", "[a]: b\n[a]", "x[^1]\n\n[^1]: y", "```\n{", "\\\\{a}", "<a\n{b}>", "> {a}\n- {b}\n1. export x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range markdown(text, mdx.Pos{Line: 1, Column: 1}) {
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
