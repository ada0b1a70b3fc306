package html

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestEscapes(t *testing.T) {
	for _, c := range []struct{ in, text, value string }{
		{"", "", ""},
		{"plain größe", "plain größe", "plain größe"},
		{`<a href="x">'&'</a>`, `&lt;a href="x"&gt;'&amp;'&lt;/a&gt;`, `&lt;a href=&quot;x&quot;&gt;'&amp;'&lt;/a&gt;`},
		{"a\nb\r\tc", "a\nb\r\tc", "a&#10;b\r\tc"},
		{"\x00x\x00", "\uFFFDx\uFFFD", "\uFFFDx\uFFFD"},
		{"&amp;", "&amp;amp;", "&amp;amp;"},
		{"\xff~\x7f@", "\xff~\x7f@", "\xff~\x7f@"},
	} {
		if got := string(AppendText([]byte("x"), c.in)); got != "x"+c.text {
			t.Errorf("text %q: %q", c.in, got)
		}
		if got := string(AppendValue([]byte("x"), c.in)); got != "x"+c.value {
			t.Errorf("value %q: %q", c.in, got)
		}
		if got := string(AppendAttr(nil, "n", c.in)); got != ` n="`+c.value+`"` {
			t.Errorf("attribute %q: %q", c.in, got)
		}
	}
}

// FuzzEscapes: whatever is written is one text and one attribute for a reader of
// HTML, and what was meant.
func FuzzEscapes(f *testing.F) {
	f.Add(`"><script>`, "</p>&lt")
	f.Add("a\nb\x00", "&#x0;")
	f.Fuzz(func(t *testing.T, value, text string) {
		clean := strings.NewReplacer("\r\n", "", "\r", "", "\x00", "").Replace // a parser changes them
		value, text = clean(value), clean(text)
		b := append(AppendAttr([]byte("<p"), "title", value), '>')
		b = append(AppendText(b, text), "</p>"...)
		z := html.NewTokenizer(strings.NewReader(string(b)))
		if z.Next() != html.StartTagToken {
			t.Fatalf("%q", b)
		}
		if at := z.Token().Attr; len(at) != 1 || at[0].Key != "title" || at[0].Val != value {
			t.Fatalf("%q is %q", b, at)
		}
		if text != "" && (z.Next() != html.TextToken || z.Token().Data != text) {
			t.Fatalf("%q has another text", b)
		}
		if z.Next() != html.EndTagToken {
			t.Fatalf("%q", b)
		}
	})
}

func TestSafeURL(t *testing.T) {
	for address, want := range map[string]bool{
		"javascript:alert(1)":           false,
		"JaVaScRiPt:alert(1)":           false,
		" java\nscript:alert(1)":        false,
		"java script:alert(1)":          false,
		"\x01javascript:alert(1)":       false,
		"\x7f\tjavascript\t:alert(1)":   false,
		"vbscript:x":                    false,
		"file:///etc/passwd":            false,
		"blob:https://o.example/1":      false,
		"filesystem:https://o.example/": false,
		"View-Source:https://o.example": false,
		"data:":                         false,
		"data:,x":                       false,
		"data:text/html,<script>":       false,
		"data: image/png,x":             false,
		"data:image":                    false,
		"data:image/png;base64,x":       true,
		"DATA:Image/SVG+XML,x":          true,
		"https://example.com/a:b":       true,
		"mailto:a@example.com":          true,
		"vscode://file/x":               true,
		"a/javascript:b":                true,
		"?javascript:b":                 true,
		"#javascript:":                  true,
		"../x.html":                     true,
		"":                              true,
		"javascript":                    true,
		"view-sources:x":                true,
		"averylongschemeindeed:thing":   true,
	} {
		if got := SafeURL(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
		safe := address
		if !want {
			safe = "#"
		}
		if got := Safe(address); got != safe {
			t.Errorf("%q becomes %q", address, got)
		}
	}
}

func BenchmarkAppendText(b *testing.B) {
	text := strings.Repeat("What a page says is mostly letters, with a <tag> & a \"quote\" in between. ", 50)
	buf := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		AppendText(buf, text)
	}
}
