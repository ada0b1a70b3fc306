package page_test

import (
	"strings"
	"testing"
)

// TestCommentsStayOut: pages show the text around an HTML comment, and not the comment.
// Code shows comments.
func TestCommentsStayOut(t *testing.T) {
	for _, src := range []string{
		"a <!-- secret --> b", "a <!-- secret\nsecret --> b", "a <!-- secret\n\nsecret --> b", "a <!-- secret\n\nsecret\n\n- secret\n\n# secret\n\nsecret --> b\n\nend",
		"- a <!-- secret\n\n  secret --> b\n- c", "- a b\n\n  <!-- secret\n\n  secret -->\n- c", "- a <!-- secret\n- secret --> b\n\nend", "- a <!-- secret\n\nsecret --> b", "- a\n  - b\n\n    c <!-- secret\n\n    secret -->",
		"<Card>\n\na <!-- secret\n\nsecret --> b\n\n</Card>", "<Card>a <!-- secret\n\nsecret --> b</Card>", "<Card>\n<!-- secret\n\nsecret -->\na b\n</Card>", "<Card>a b<!-- secret --></Card>", "<Card>\n  <!-- secret -->\n  a b\n</Card>",
		"<div>a <!-- secret --> b</div>", "<div>\n<!-- secret\n\n</div> secret\n-->\na b\n</div>", "<p>{/* secret */}a b<!-- secret --></p>", "a <!-- secret\n\n<Card>\n\nsecret --> b\n\n</Card>\n\nend",
		"> a <!-- secret\n>\n> secret --> b", "> a <!-- secret\n\nsecret --> b", "| a | b |\n|---|---|\n| x <!-- secret --> | y |", "# a <!-- secret --> b", "# a <!-- secret\n\nsecret --> b", "## a b <!-- secret", "a <!-- secret {x} <Card> --> b", "a <!-- secret\n\n```\nsecret\n```\n--> b",
		"[a <!-- secret --> b](/x)", "**a <!-- secret --> b**", "a <!-- secret\n\nsecret --> b <!-- secret\n\nsecret --> c", "a <!-- secret\nsecret\n\nb", "<!-- secret\nsecret\n\na b", "a `<!-- shown -->` b", "a b\n\n```\n<!-- shown\n\nshown -->\n```", "a \\<!-- shown --> b",
		"a <!-- secret\r\n\r\nsecret --> b",
	} {
		result := withIslands(t, nil, map[string]string{"page.mdx": src + "\n"})
		for name, text := range map[string]string{"page": string(result.HTML), "Markdown": string(result.Markdown)} {
			if strings.Contains(text, "secret") || strings.Contains(src, "shown") && name == "page" && !strings.Contains(text, "shown") {
				t.Errorf("%q: the %s is %s", src, name, text)
			}
		}
		if html := string(result.HTML); !strings.Contains(html, "a") || !strings.Contains(html, "b") {
			t.Errorf("%q lacks something: %s", src, html)
		}
	}
}

// TestEmptyExpressions: braces with nothing in them show nothing, and what can't be
// evaluated is shown as written.
func TestEmptyExpressions(t *testing.T) {
	for src, want := range map[string]string{
		"a {}b": "<p>a b</p>\n", "{}": "", "{ \n }": "", "a\n\n{}\n\nb": "<p>a</p>\n<p>b</p>\n", "<p>{}x{ }</p>": "<p>x</p>\n", "{/* c */}": "",
		"{a}": "<p>{a}</p>\n", "`{}`": "<p><code>{}</code></p>\n", "\\{}": "<p>{}</p>\n", "/users/{id}": "<p>/users/{id}</p>\n",
	} {
		result := withIslands(t, nil, map[string]string{"page.mdx": src + "\n"})
		if got := string(result.HTML); got != want || strings.Contains(diagnostics(result), "{} is shown") {
			t.Errorf("%q is %q, want %q; %s", src, got, want, diagnostics(result))
		}
	}
}

// TestRawContent: dangerouslySetInnerHTML says what an element has, in pages and in
// components; a script's is left out with what to do, data for search engines stays.
func TestRawContent(t *testing.T) {
	const put = "put its code into a .js file of the site"
	for _, tt := range []struct{ element, want, said string }{
		{`<style dangerouslySetInnerHTML={{__html: ".a > b { color: red }"}} />`, "<style>.a > b { color: red }</style>", ""},
		{`<div dangerouslySetInnerHTML={{__html: "<b>x</b> < y"}} />`, "<div><b>x</b> &lt; y</div>", ""},
		{`<script dangerouslySetInnerHTML={{__html: "if (1 < 2) alert(1)"}} />`, "", put},
		{"<script>{`alert(1)`}</script>", "", put},
		{`<script type="module" dangerouslySetInnerHTML={{__html: "1"}} />`, "", put},
		{`<script type="application/ld+json" dangerouslySetInnerHTML={{__html: JSON.stringify({a: "</script><b>"})}} />`, `<script type="application/ld+json">{"a":"\u003c/script\u003e\u003cb\u003e"}</script>`, ""},
		{`<script type="application/ld+json">{` + "`{\"a\": 1}`" + `}</script>`, `<script type="application/ld+json">{"a":1}</script>`, ""},
		{`<script type="application/ld+json" dangerouslySetInnerHTML={{__html: "alert(1)"}} />`, "", put},
	} {
		for where, src := range map[string]string{"page": tt.element, "component": "export const A = () => " + tt.element + "\n\n<A />"} {
			result := withIslands(t, nil, map[string]string{"page.mdx": src + "\n"})
			html, d := strings.TrimSpace(string(result.HTML)), diagnostics(result)
			if html != tt.want || tt.said == "" && d != "" || strings.Count(d, "script-dropped") != strings.Count(tt.said, put) || !strings.Contains(d, tt.said) {
				t.Errorf("%s in a %s is %q, want %q; it says %q", tt.element, where, html, tt.want, d)
			}
		}
	}
}
