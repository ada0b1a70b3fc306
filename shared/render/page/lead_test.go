package page_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/page"
)

// The texts of docs.json are emphasis, code and links too; of all else the words.
func TestInline(t *testing.T) {
	href := func(address string) string { return strings.Replace(address, "/nl/", "../nl/", 1) }
	for _, c := range []struct{ in, html, text string }{
		{"***both*** and ``a`b`` and [docs](/nl/a \"t\")", "<em><strong>both</strong></em> and <code>a`b</code> and <a href=\"../nl/a\" title=\"t\">docs</a>", "both and a`b and docs"},
		{"~~old~~ & new", "<del>old</del> &amp; new", "old & new"},
		{"# a\n\nb  \nc <b>d</b> ![e](/f)", "a b c d ", "a b c d "},
	} {
		if got := string(page.Inline(c.in, href)); got != c.html {
			t.Errorf("%q is %s, want %s", c.in, got, c.html)
		}
		if got := page.InlineText(c.in); got != c.text {
			t.Errorf("the text of %q is %q, want %q", c.in, got, c.text)
		}
	}
}

// Authors write code, emphasis and links in a page's description; all else in
// it is text.
func TestLead(t *testing.T) {
	tests := []struct{ description, html, md, diagnostics string }{
		{"Run `bindery up` **now**", "Run <code>bindery up</code> <strong>now</strong>", "> Run `bindery up` **now**", ""},
		{"See [the other](/other)", `See <a href="other.html">the other</a>`, "> See [the other](other.md)", ""},
		{"See [nothing](/nothing)", `See <a href="nothing">nothing</a>`, "> See [nothing](nothing)", "link-missing"},
		{"A [link](javascript:alert(1)) & <b>", "A <a>link</a> &amp; &lt;b&gt;", "", "link-unsafe"},
		{"***both*** and ``a`b`` and [docs](/other \"t\")", "<em><strong>both</strong></em> and <code>a`b</code> and <a href=\"other.html\" title=\"t\">docs</a>",
			"> ***both*** and `` a`b `` and [docs](other.md)", ""},
		{"{braces} # and\n\n- no blocks", "{braces} # and\n- no blocks", "> {braces} # and - no blocks", ""},
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
