package page_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Authors write code, emphasis and links in a page's description; all else in
// it is text.
func TestLead(t *testing.T) {
	tests := []struct{ description, html, md, diagnostics string }{
		{"Run `bindery up` **now**", "Run <code>bindery up</code> <strong>now</strong>", "> Run `bindery up` **now**", ""},
		{"See [the other](/other)", `See <a href="other.html">the other</a>`, "> See [the other](other.md)", ""},
		{"See [nothing](/nothing)", `See <a href="nothing">nothing</a>`, "> See [nothing](nothing)", "link-missing"},
		{"A [link](javascript:alert(1)) & <b>", "A link) &amp; &lt;b&gt;", "", "link-unsafe"},
		{"snake_case_word and 2 * 3 * 4", "snake_case_word and 2 * 3 * 4", "", ""},
		{"", "", "# Page\n", ""},
	}
	for _, tt := range tests {
		fsys := fstest.MapFS{
			"page.mdx":  {Data: []byte("---\ntitle: Page\ndescription: '" + tt.description + "'\n---\n\nText.\n")},
			"other.mdx": {Data: []byte("Other.\n")},
		}
		result := renderFiles(t, fsys, "page.mdx")
		if got := string(result.Lead); got != tt.html {
			t.Errorf("%q: lead %q, want %q", tt.description, got, tt.html)
		}
		if !strings.Contains(string(result.Markdown), tt.md) {
			t.Errorf("%q: the copy has no %q:\n%s", tt.description, tt.md, result.Markdown)
		}
		if got := diagnostics(result); got == "" != (tt.diagnostics == "") || !strings.Contains(got, tt.diagnostics) {
			t.Errorf("%q: diagnostics %q, want %q", tt.description, got, tt.diagnostics)
		}
	}
}
