package component_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/render/component"
)

// Whatever stands in an attribute of a component, it is text: it makes no
// element, no attribute, no handler, no style and no address that runs code.
func TestAttributesAreText(t *testing.T) {
	values := []string{
		`"><zz9 onzz9=1>'><zz9 a='`,
		`x" onzz9="1" zz9="`,
		`x' onzz9='1' zz9='`,
		`</p></a></span></code></title></style></script><zz9>`,
		`<!--><zz9>--><![CDATA[<zz9>]]>`,
		"`**_[<zz9>](javascript:zz9)_**` [x](javascript:zz9) [<zz9>](/a\"onzz9=1)",
		`javascript:zz9`, " \tjava\nscript:zz9", `JAVASCRIPT:zz9.svg`, `data:text/html,<zz9>`, `vbscript:zz9`, `/a" onzz9="`, `data:image/svg+xml,<zz9>" onzz9="`,
		`red;background:url(javascript:zz9)`, `#fff}</style><zz9>`, `url("/a)</style><zz9>`,
		"\x00\u202e\u2028\ufeff&lt;zz9&gt;&quot;onzz9=1", "1e999", "-1", "1\" zz9=\"1",
	}
	for _, c := range component.Builtin().All() {
		for _, a := range append(slices.Clone(c.Attrs), component.CommonAttrs()...) {
			var page strings.Builder
			for i, v := range values {
				quoted := strconv.QuoteToASCII(v)
				for _, form := range []string{quoted, "[" + quoted + "]", "{light: " + quoted + ", dark: " + quoted + ", title: " + quoted + ", color: " + quoted + ", " + quoted + ": 1}"} {
					// Other attributes stand beside it, so that the parts appear
					// that need them.
					page.WriteString("<" + c.Name)
					for _, beside := range c.Attrs {
						if beside.Name != a.Name && (beside.Name == "title" || beside.Name == "href" || beside.Name == "name" || beside.Name == "icon" || beside.Name == "tip") {
							page.WriteString(" " + beside.Name + `="/x` + strconv.Itoa(i) + `"`)
						}
					}
					page.WriteString(" " + a.Name + "={" + form + "}>text</" + c.Name + ">\n\n")
				}
			}
			result := render(t, fstest.MapFS{"page.mdx": {Data: []byte(page.String())}})
			for _, fault := range faults(result.HTML) {
				if !strings.Contains(strings.ToLower(fault), "javascript:") { // harmless but in addresses, see below
					t.Errorf("%s.%s: %s", c.Name, a.Name, fault)
				}
			}
			if !bytes.Contains(result.HTML, []byte("text")) && c.Name != "Icon" && c.Name != "Visibility" && c.Name != "View" &&
				!strings.HasPrefix(c.Name, "Color") && !strings.HasPrefix(c.Name, "Tree") && c.Name != "GitHub.Repo" {
				t.Errorf("%s.%s: nothing of the content is there: %.200s", c.Name, a.Name, result.HTML)
			}
			root, err := html.Parse(bytes.NewReader(result.HTML))
			if err != nil {
				t.Fatal(err)
			}
			for n := range root.Descendants() {
				if n.Type == html.CommentNode || n.Type == html.ElementNode && n.Data == "zz9" {
					t.Errorf("%s.%s: a node <%s>", c.Name, a.Name, n.Data)
				}
				for _, at := range n.Attr {
					address := strings.ToLower(strings.Join(strings.FieldsFunc(at.Val, func(r rune) bool { return r <= ' ' }), ""))
					switch {
					case strings.HasPrefix(at.Key, "on"), strings.Contains(at.Key, "zz9"), at.Key == "style", at.Key == "srcdoc", at.Key == "src" && at.Val == "":
						t.Errorf("%s.%s: <%s %s=%q>", c.Name, a.Name, n.Data, at.Key, at.Val)
					case slices.Contains([]string{"href", "src", "poster", "action", "formaction", "srcset", "data", "xlink:href"}, at.Key) &&
						(strings.HasPrefix(address, "javascript:") || strings.HasPrefix(address, "vbscript:") || strings.HasPrefix(address, "data:text")):
						t.Errorf("%s.%s: <%s %s=%q>", c.Name, a.Name, n.Data, at.Key, at.Val)
					}
				}
			}
			for class, rule := range result.Styles {
				if strings.ContainsAny(rule, "<>{}") || strings.Contains(rule, "javascript") {
					t.Errorf("%s.%s: the rule %s is %q", c.Name, a.Name, class, rule)
				}
			}
		}
	}
}
