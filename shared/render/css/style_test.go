package css_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/css"
)

func TestDeclarations(t *testing.T) {
	for in, want := range map[string][]css.Declaration{
		"":                      nil,
		" ; /* x */ ;":          nil,
		"COLOR : Red ;--My-X:a": {{"COLOR : Red", "color", "Red"}, {"--My-X:a", "--My-X", "a"}},
		"a/*x*/:/*;*/b":         {{"a : b", "a", "b"}},
		"a:b/*x":                {{"a:b", "a", "b"}},
		"a*/b":                  {{"a*/b", "a*/b", ""}},
		"a":                     {{"a", "a", ""}},
		`a:";/*x*/";b:c`:        {{`a:";/*x*/"`, "a", `";/*x*/"`}, {"b:c", "b", "c"}},
		`a:"\";";b:c`:           {{`a:"\";"`, "a", `"\";"`}, {"b:c", "b", "c"}},
		"a:url(data:x;y,z);b:c": {{"a:url(data:x;y,z)", "a", "url(data:x;y,z)"}, {"b:c", "b", "c"}},
		"a:f(;(;););b:c":        {{"a:f(;(;);)", "a", "f(;(;);)"}, {"b:c", "b", "c"}},
		"a:b);c:d":              {{"a:b)", "a", "b)"}, {"c:d", "c", "d"}},
	} {
		if got := css.Declarations(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSafeValue(t *testing.T) {
	resolve := func(address string) string {
		if address == "gone" {
			return ""
		}
		return "to/" + address
	}
	for in, want := range map[string]string{
		"red":                           "red",
		"1px  solid\n\tred":             "1px solid red",
		`"a  b" url(c)`:                 `"a  b" url("to/c")`,
		`url( 'a"b(' ) no-repeat`:       `url("to/a%22b%28") no-repeat`,
		"URL(data:x;y,z)":               `url("to/data:x;y,z")`,
		`"url(gone)"`:                   `"url(gone)"`,
		"minmax(0,calc(1px + (2px*3)))": "minmax(0,calc(1px + (2px*3)))",
		"[a] 1fr [b]":                   "[a] 1fr [b]",
		"é":                             "é",
		`url('data:image/svg+xml;utf8,<svg a="b"><style>p{}</style></svg>') no-repeat`: `url("to/data:image/svg+xml;utf8,%3Csvg a=%22b%22%3E%3Cstyle%3Ep%7B%7D%3C/style%3E%3C/svg%3E") no-repeat`,
		`url("` + strings.Repeat("a", 9000) + `") center`:                              `url("to/` + strings.Repeat("a", 9000) + `") center`,
	} {
		if got, ok := css.SafeValue(in, resolve); !ok || got != want {
			t.Errorf("%q: %q, %t, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "a;b", `"a;b"`, "f(a;b)", "a}b", "{", "a<b", "@a", `\61`, "a\x00", "a\x7f", `"a`, "'a\nb'", "f(a", "a)", "[a", "a]", "(a]", "([a)]", "url(a", "url(a b)", "url(gone)",
		"url(a) url(gone)", "/**/", " ", "expression(a)", "-webkit-image-set(url(a) 1x)", `"javascript:a"`, strings.Repeat("a", 2001),
		`url("` + strings.Repeat("a", 40_000) + `")`, `url(a) }`, `url("a") <b`, `url("\61")`,
	} {
		if got, ok := css.SafeValue(in, resolve); ok {
			t.Errorf("%q is let through as %q", in, got)
		}
	}
	css.SafeValue("url(a) b)", func(string) string {
		t.Error("an address of a value that is left out is resolved")
		return ""
	})
}

// A safe value stays one declaration of one rule, and is safe again.
func FuzzSafeValue(f *testing.F) {
	for _, s := range []string{"1px solid red", `url(a) "b" [c] d(e)`, "url('a')", "/**/ url(", "a)", "\"'\"", "é\u00a0(", "-->", "url(\"a)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		same := func(address string) string { return "x" + address }
		safe, ok := css.SafeValue(value, same)
		if !ok {
			return
		}
		if strings.ContainsAny(safe, "{}<@\\") {
			t.Fatalf("%q: %q", value, safe)
		}
		if again, ok := css.SafeValue(safe, func(address string) string { return address }); len(safe) <= 2000 && (!ok || again != safe) {
			t.Fatalf("%q: %q, and then %q", value, safe, again)
		}
		var open int
		for _, token := range tokensOf([]byte(".a{b:" + safe + "}c")) {
			switch token.text {
			case "{":
				open++
			case "}":
				open--
			case "c":
				if open == 0 {
					return
				}
			}
		}
		t.Fatalf("%q: %q reaches out of its rule", value, safe)
	})
}
