package component_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Titles and captions hold inline Markdown as pages do; all else is text.
func TestCaption(t *testing.T) {
	for _, c := range []struct{ in, html, text string }{
		{"plain", "plain", "plain"},
		{"**bold** and *italic*", "<strong>bold</strong> and <em>italic</em>", "bold and italic"},
		{"__bold__ and _italic_", "<strong>bold</strong> and <em>italic</em>", "bold and italic"},
		{"~~old~~ `a*b*`", "<del>old</del> <code>a*b*</code>", "old a*b*"},
		{"**a *b* c**", "<strong>a <em>b</em> c</strong>", "a b c"},
		{"snake_case_name and __init__.py", "snake_case_name and <strong>init</strong>.py", "snake_case_name and init.py"},
		{"2 * 3 * 4, a ** b", "2 * 3 * 4, a ** b", "2 * 3 * 4, a ** b"},
		{"*open and **open", "*open and **open", "*open and **open"},
		{`\*not\* C:\dir`, `*not* C:\dir`, `*not* C:\dir`},
		{"a [link](https://example.com) here", `a <a href="https://example.com">link</a> here`, "a link here"},
		{"***both*** and ``a`b``", "<em><strong>both</strong></em> and <code>a`b</code>", "both and a`b"},
		{`[docs](https://example.com "t")`, `<a href="https://example.com" title="t">docs</a>`, "docs"},
		{"see https://example.com.", `see <a href="https://example.com" data-bindery-bare>https://example.com</a>.`, "see https://example.com."},
		{"![alt](/a.png) &amp; {a}", "alt &amp; {a}", "alt & {a}"},
		{"[no link] (x) [y](", "[no link] (x) [y](", "[no link] (x) [y]("},
		{"[bad](javascript:alert(1))", "<a>bad</a>", "bad"},
		{"[**b**](https://example.com)", `<a href="https://example.com"><strong>b</strong></a>`, "b"},
		{"<b> & `<i>`", "&lt;b&gt; &amp; <code>&lt;i&gt;</code>", "<b> & <i>"},
		{"`` and `", "`` and `", "`` and `"},
		{"日本語の**太字**です", "日本語の<strong>太字</strong>です", "日本語の太字です"},
	} {
		if got := mdx.InlineText(c.in); got != c.text {
			t.Errorf("text of %q is %q, want %q", c.in, got, c.text)
		}
		attr := strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", "{", "&#123;").Replace(c.in)
		r := render(t, fstest.MapFS{"page.mdx": {Data: []byte(`<Frame caption="` + attr + `">x</Frame>` + "\n")}})
		_, got, _ := strings.Cut(string(r.HTML), "<figcaption>")
		if got, _, _ = strings.Cut(got, "</figcaption>"); got != c.html {
			t.Errorf("%q is %q, want %q", c.in, got, c.html)
		}
	}
}

// Of the links in a title only the words are shown: it may stand in a link.
func TestTitle(t *testing.T) {
	r := render(t, fstest.MapFS{"page.mdx": {Data: []byte("<Card title=\"***both*** and ``a`b`` and [docs](https://example.com 't') www.example.com\" href=\"https://example.com\" cta=\"**More**\">x</Card>\n")}})
	_, got, _ := strings.Cut(string(r.HTML), `class="bdy-card-link" href="https://example.com">`)
	got, _, _ = strings.Cut(got, "</a>")
	if want := "<em><strong>both</strong></em> and <code>a`b</code> and docs www.example.com"; got != want {
		t.Errorf("the title is %s, want %s", got, want)
	}
	if want := `aria-hidden="true"><strong>More</strong></p>`; !strings.Contains(string(r.HTML), want) {
		t.Errorf("the page lacks %s:\n%s", want, r.HTML)
	}
}

// FuzzCaption: whatever an attribute holds, the HTML has the words of the text
// and no tag but those of marks, and the Markdown copy is made.
func FuzzCaption(f *testing.F) {
	for _, s := range []string{"**a** _b_ ~~c~~ `d` [e](/f)", "*a **b* c**", "[a](b [c](d))", `\`, "<script>", strings.Repeat("*a _b ", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
			if r < ' ' || r == '{' || r == '}' || r == 0x7f {
				return -1
			}
			return r
		}, s), "")
		attr := strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;").Replace(s)
		r := render(t, fstest.MapFS{"page.mdx": {Data: []byte(`<Frame caption="` + attr + `">x</Frame>` + "\n")}})
		for _, fault := range faults(r.HTML) {
			t.Errorf("%q: %s", s, fault)
		}
		_, caption, ok := strings.Cut(string(r.HTML), "<figcaption>")
		if !ok {
			return
		}
		caption, _, _ = strings.Cut(caption, "</figcaption>")
		var words strings.Builder
		for z := html.NewTokenizer(strings.NewReader(caption)); z.Next() != html.ErrorToken; {
			switch token := z.Token(); token.Type {
			case html.TextToken:
				words.WriteString(token.Data)
			case html.StartTagToken, html.EndTagToken:
				switch token.Data {
				case "strong", "em", "del", "code", "a":
				default:
					t.Errorf("%q holds <%s>", s, token.Data)
				}
			}
		}
		if want := mdx.InlineText(s); words.String() != want {
			t.Errorf("%q is %q, its text %q", s, words.String(), want)
		}
	})
}
