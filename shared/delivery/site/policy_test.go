package site

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

func TestContentSecurityPolicy(t *testing.T) {
	const rest = "; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
	for _, c := range []struct {
		name    string
		sources map[string][]string
		want    string
	}{
		{"nothing is needed", nil, "default-src 'self'" + rest},
		{"what the bundle needs, in one order", map[string][]string{"style-src": {"'unsafe-inline'"}, "img-src": {"data:", "https://a.example"}},
			"default-src 'self'; img-src 'self' data: https://a.example; style-src 'self' 'unsafe-inline'" + rest},
		{"a source can't end its directive", map[string][]string{"img-src": {"x; script-src *", "x;script-src", "a, b", "a,b", "a b", "a\nb", "ü", ""}},
			"default-src 'self'; img-src 'self'" + rest},
		{"no other directives", map[string][]string{"default-src": {"*"}, "sandbox": {"x"}, "report-uri": {"/x"}, "a b-src": {"*"}, "-src": {"*"}},
			"default-src 'self'" + rest},
		{"objects and forms where they are needed", map[string][]string{"object-src": {"https://a.example"}, "form-action": {"https://b.example"}},
			"default-src 'self'; form-action 'self' https://b.example; object-src 'self' https://a.example; base-uri 'none'; frame-ancestors 'self'"},
		{"no base, whatever a bundle says of it", map[string][]string{"base-uri": {"https://a.example"}}, "default-src 'self'" + rest},
		{"no objects where no source is named", map[string][]string{"object-src": {"'none'"}}, "default-src 'self'" + rest},
		{"nothing beside itself", map[string][]string{"img-src": {"'none'", "'self'"}}, "default-src 'self'; img-src 'self'" + rest},
	} {
		if got := ContentSecurityPolicy(&bundle.Info{Sources: c.sources}); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// FuzzContentSecurityPolicy: whatever a bundle asks for, the header stays one
// line, and the directives are those that it names and our own.
func FuzzContentSecurityPolicy(f *testing.F) {
	f.Add("img-src", "data:")
	f.Add("script-src", "x; default-src *")
	f.Add("script-src", "x;default-src")
	f.Add("img-src", "a,b")
	f.Fuzz(func(t *testing.T, directive, source string) {
		policy := ContentSecurityPolicy(&bundle.Info{Sources: map[string][]string{directive: {source}}})
		if strings.ContainsFunc(policy, func(r rune) bool { return r < ' ' || r >= 0x7f || r == ',' }) {
			t.Fatalf("%q", policy)
		}
		for i, part := range strings.Split(policy, ";") {
			name, _, _ := strings.Cut(strings.TrimPrefix(part, " "), " ")
			own := name == "object-src" || name == "base-uri" || name == "form-action" || name == "frame-ancestors" || name == "default-src" && i == 0
			if !own && name != directive {
				t.Fatalf("%q has the directive %q", policy, name)
			}
		}
	})
}
