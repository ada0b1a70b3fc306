package css_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	parsed "github.com/tdewolff/parse/v2"
	lexed "github.com/tdewolff/parse/v2/css"

	"github.com/bindery-docs/bindery/shared/render/css"
)

// moved is a replacement for addresses from the root.
func moved(address string) (string, bool) {
	if rest, ok := strings.CutPrefix(address, "/"); ok {
		return "../" + rest, true
	}
	return address, true
}

func TestRewriteURLs(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"bare", `a{b:url(/c.png)}`, `a{b:url(../c.png)}`},
		{"quoted", `a{b:url("/c.png") url( '/d.png'	)}`, `a{b:url("../c.png") url( '../d.png'	)}`},
		{"letter case", `a{b:URL(/c.png) Url( "/c.png" )}`, `a{b:URL(../c.png) Url( "../c.png" )}`},
		{"imports", `@import "/a.css";@import '/b.css' layer(x) screen;@import url(/c.css);@import URL("/d.css") print;`, `@import "../a.css";@import '../b.css' layer(x) screen;@import url(../c.css);@import URL("../d.css") print;`},
		{"an import's spelling", `@IMPORT"/a.css";@\69mport/* "/x" */ "/b.css"`, `@IMPORT"../a.css";@\69mport/* "/x" */ "../b.css"`},
		{"one address an import", `@import "/a.css" supports(content:"/b") "/c";`, `@import "../a.css" supports(content:"/b") "/c";`},
		{"other at-rules", `@charset "/a";@namespace "/b";@namespace x url(/c);@layer "/d";a{b:url(/e)}`, `@charset "/a";@namespace "/b";@namespace x url(/c);@layer "/d";a{b:url(../e)}`},
		{"the end of a namespace", `@namespace x url(/c);a{b:url(/e)}@namespace y{}url(/f)`, `@namespace x url(/c);a{b:url(../e)}@namespace y{}url(../f)`},
		{"a line that goes on", "url('/a\\\r\nb\\\nc')", "url('../abc')"},
		{"texts", `a{content:"url(/c.png)";b:'@import "/x"'}`, `a{content:"url(/c.png)";b:'@import "/x"'}`},
		{"escaped quotes", `a{content:"\"";b:url("/\"c");c:"url(/d)"}`, `a{content:"\"";b:url("../%22c");c:"url(/d)"}`},
		{"comments", `/* url(/c) @import "/d" */a{b:url(/c)/**/}`, `/* url(/c) @import "/d" */a{b:url(../c)/**/}`},
		{"no comment in an address", `a{b:url(/*/c) url(/d/*e)}`, `a{b:url(../*/c) url(../d/*e)}`},
		{"escapes in addresses", `a{b:url(/a\ b\29 .png) url("/\41\
b\e9")}`, `a{b:url(../a%20b%29.png) url("../Abé")}`},
		{"an escaped name", `a{b:u\72l("/c") \u\rl(/d)}`, `a{b:u\72l("../c") \u\rl(../d)}`},
		{"white space at the ends", "a{b:url(\n/c\\  )}", "a{b:url(\n../c%20 )}"},
		{"names that only look like it", `a{b:curl(/c) url-prefix(/d) src("/e");url:"/f"}`, `a{b:curl(/c) url-prefix(/d) src("/e");url:"/f"}`},
		{"bad addresses", "a{b:url(/c d) url(/e\"f) url(\"/g\nh\")}i{j:url(/k)}", "a{b:url(/c d) url(/e\"f) url(\"/g\nh\")}i{j:url(../k)}"},
		{"modifiers and comments after an address", `a{b:url("/c" /* d */) url('/e' crossorigin(anonymous))}`, `a{b:url("../c" /* d */) url('../e' crossorigin(anonymous))}`},
		{"what is not closed", `a{b:url("/c`, `a{b:url("../c`},
		{"what is not closed, bare", `a{b:url(/c`, `a{b:url(../c`},
		{"an import that is not closed", `@import "/c\`, `@import "../c`},
		{"a comment that is not closed", `/* url(/c)`, `/* url(/c)`},
		{"other addresses", `a{b:url(c) url() url(#d) url("") url(data:x;y,z)}`, `a{b:url(c) url() url(#d) url("") url(data:x;y,z)}`},
		{"escapes of other addresses", `a{b:url(\63) url("d\(")}`, `a{b:url(\63) url("d\(")}`},
		{"bytes of any kind", "\x00\xff a{b:url(/\xff)}\x00", "\x00\xff a{b:url(../\xff)}\x00"},
		{"a mark at the beginning", "\ufeff@import '/a';", "\ufeff@import '../a';"},
	} {
		if got := string(css.RewriteURLs([]byte(c.in), moved)); got != c.out {
			t.Errorf("%s: %s, want %s", c.name, got, c.out)
		}
	}
}

// An address can't end what it stands in.
func TestReplacementsAreEscaped(t *testing.T) {
	const with = "a b(c)\"d'e\\f\ng"
	for in, want := range map[string]string{
		`url(x)`:      `url(a%20b%28c%29%22d%27e%5Cf%0Ag)`,
		`url("x")`:    `url("a b%28c%29%22d'e%5Cf%0Ag")`,
		`@import 'x'`: `@import 'a b%28c%29%22d%27e%5Cf%0Ag'`,
	} {
		if got := string(css.RewriteURLs([]byte(in), func(string) (string, bool) { return with, true })); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// A sheet of many short addresses does not become one of many long ones.
func TestGrowthIsBounded(t *testing.T) {
	in := bytes.Repeat([]byte("url(a)"), 1000)
	long := strings.Repeat("b", 100_000)
	out := css.RewriteURLs(in, func(string) (string, bool) { return long, true })
	if n := len(out) - len(in); n < 3<<20 || n > 4<<20 {
		t.Errorf("it grows by %d bytes", n)
	}
	if !bytes.HasSuffix(out, []byte("url(a)")) {
		t.Error("its end is lost")
	}
}

func TestAddresses(t *testing.T) {
	got := slices.Collect(css.Addresses([]byte(`@import "\61.css" screen; /* url(b) */ c{d:URL( 'e\'f' ) url(g\ h);i:"url(j)"}`)))
	if want := []string{"a.css", "e'f", "g h"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range css.Addresses([]byte("url(a)url(b)")) {
		break
	}
}

func TestClasses(t *testing.T) {
	got := slices.Collect(css.Classes([]byte(`.a,b.c>.md\:flex:hover{width:.5em;d:url(x.e) ".f"} /* .g */ .\31 0, .-x, .--y{&.h{}} . i{} @media{.a{}}`)))
	if want := []string{"a", "c", "md:flex", "10", "-x", "--y", "h", "a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range css.Classes([]byte(".a.b")) {
		break
	}
}

// Were any of these to take more than linear time, it would not end.
func TestHostileSheetsEnd(t *testing.T) {
	for _, part := range []string{
		"url(url(", "url(", `url("`, "url('\\", `"`, "\"\n", "/*", "/* *", "@import ", `@import "`, "(", "{[(", ")", "\\", "u\\72l(", "\\75", "-", "--", "U+", "U+1", "u", "1e", "1.", "<!-", "\x00", ".", ".a", ";", "url(a)", "\\\xc3", "@namespace ",
	} {
		sheet := bytes.Repeat([]byte(part), 1<<20/len(part))
		got := css.RewriteURLs(sheet, func(address string) (string, bool) { return "b", address == "a" })
		if part != "url(a)" && !bytes.Equal(got, sheet) {
			t.Errorf("%q changes", part)
		}
		for range css.Classes(sheet) {
		}
		css.Declarations(string(sheet))
		css.SafeValue(string(sheet[:2000]), func(string) string { return "" })
	}
}

// token is a token as browsers see it.
type token struct {
	kind lexed.TokenType
	text string
}

func tokensOf(text []byte) []token {
	var out []token
	lexer := lexed.NewLexer(parsed.NewInputBytes(slices.Clip(text)))
	for {
		kind, data := lexer.Next()
		if kind == lexed.ErrorToken {
			return out
		}
		out = append(out, token{kind, string(data)})
	}
}

// Whatever a sheet is, its bytes stay but for those of its addresses: other
// addresses make the same tokens.
func FuzzRewriteURLs(f *testing.F) {
	for _, s := range []string{"a{b:url(/c)}", `@import "/x"; url('`, "url(\"/a\\\"b\")", "@import url(/x.css)", "url( /a\\ )", "u\\72l('/a'", "url(\\\xe0)", "@namespace url(/a);", "url('/a' b)", "\"\\41\r\n\"", "url(/a\\"} {
		f.Add(s, "../b")
	}
	f.Add("url(/a)'/b'url(\"/c\")", "a'b\"c(d)e\\ \n\x00\xff")
	f.Fuzz(func(t *testing.T, text, with string) {
		sheet := []byte(text)
		if got := css.RewriteURLs(sheet, func(address string) (string, bool) { return address, true }); string(got) != text {
			t.Fatalf("%q becomes %q though nothing is replaced", text, got)
		}
		out := css.RewriteURLs(sheet, func(string) (string, bool) { return with, true })
		if string(sheet) != text {
			t.Fatalf("the sheet itself becomes %q", sheet)
		}
		before, after := tokensOf(sheet), tokensOf(out)
		if len(before) != len(after) {
			t.Fatalf("%q: %d tokens, then %d: %q", text, len(before), len(after), out)
		}
		addresses := 0
		for i, b := range before {
			a := after[i]
			switch {
			case a.kind != b.kind:
				t.Fatalf("%q: token %d, %q, becomes %q", text, i, b.text, a.text)
			case b.kind == lexed.URLToken, b.kind == lexed.BadURLToken, b.kind == lexed.StringToken:
				addresses++
			case a != b:
				t.Fatalf("%q: token %d, %q, becomes %q", text, i, b.text, a.text)
			}
		}
		was, is := slices.Collect(css.Addresses(sheet)), slices.Collect(css.Addresses(out))
		if len(was) > addresses || with != "" && len(is) != len(was) {
			t.Fatalf("%q: the addresses %q become %q", text, was, is)
		}
		for range css.Classes(sheet) {
		}
	})
}
