package site

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// redirecting is a site with some pages and these redirects, "source destination"
// each.
func redirecting(redirects ...string) *Site {
	s := &Site{Domain: "docs.example", Nav: &Node{Kind: KindRoot, Page: -1, Root: -1}}
	for _, a := range []string{"de/start", "guides/index", "guides/one", "guides/two", "index", "new/a/b", "v2/api/users"} {
		s.Pages = append(s.Pages, Page{Source: a + ".mdx", Address: a, Output: a + ".html"})
	}
	s.Files = []string{"f.pdf"}
	for _, r := range redirects {
		from, to, _ := strings.Cut(r, " ")
		s.Redirects = append(s.Redirects, Redirect{Source: from, Destination: to})
	}
	return s
}

// Where a link to an old address leads.
func TestRedirects(t *testing.T) {
	for _, c := range []struct {
		name      string
		redirects []string
		link      string
		want      string // "" where it leads nowhere
	}{
		{"exact", []string{"/old /guides/one"}, "/old", "guides/one.html"},
		{"with and without slashes", []string{"old/ guides/one"}, "/old/", "guides/one.html"},
		{"to a place on a page", []string{"/old /guides/one#there"}, "/old", "guides/one.html#there"},
		{"the link's own place wins", []string{"/old /guides/one#there"}, "/old#here", "guides/one.html#here"},
		{"a page wins", []string{"/guides/one /guides/two"}, "/guides/one", "guides/one.html"},
		{"a chain", []string{"/a /b", "/b /c", "/c /guides/two"}, "/a", "guides/two.html"},
		{"to another site", []string{"/a https://o.example/x"}, "/a", "https://o.example/x"},
		{"to the site's own domain", []string{"/a https://docs.example/guides/two"}, "/a", "guides/two.html"},
		{"escaped", []string{"/a%20b /guides/two"}, "/a%20b", "guides/two.html"},
		{"a rest", []string{"/was/:rest* /guides/:rest*"}, "/was/one", "guides/one.html"},
		{"a rest of many", []string{"/was/:rest* /new/:rest*"}, "/was/a/b", "new/a/b.html"},
		{"a rest of none", []string{"/was/:rest* /guides/:rest*"}, "/was", "guides/index.html"},
		{"a star", []string{"/was/* /guides/*"}, "/was/two", "guides/two.html"},
		{"a part of an element", []string{"/old/g-* /guides/*"}, "/old/g-two", "guides/two.html"},
		{"parameters", []string{"/:lang/api/:v/:page /:v/api/:page"}, "/en/api/v2/users", "v2/api/users.html"},
		{"an expression", []string{"/x/:page(\\w+) /guides/:page"}, "/x/two", "guides/two.html"},
		{"an expression that takes all", []string{"/x/:rest(.*) /new/:rest"}, "/x/a/b", "new/a/b.html"},
		{"a plus", []string{"/x/:rest+ /new/:rest+"}, "/x/a/b", "new/a/b.html"},
		{"exact before a pattern", []string{"/was/:rest* /guides/one", "/was/x /guides/two"}, "/was/x", "guides/two.html"},
		{"the first pattern", []string{"/was/:rest* /guides/one", "/was/:p /guides/two"}, "/was/x", "guides/one.html"},
		{"an optional parameter, there", []string{"/x/:page? /guides/:page"}, "/x/one", "guides/one.html"},
		{"an optional parameter, not there", []string{"/x/:page? /guides/:page"}, "/x", "guides/index.html"},
		{"a query", []string{"/x?v=1 /guides/one", "/x?v=2 /guides/two"}, "/x?v=2", "guides/two.html"},
		{"a query, by its path alone", []string{"/x?v=1 /guides/one", "/x?v=2 /guides/two"}, "/x", "guides/one.html"},
		{"another query is carried on", []string{"/x /guides/one"}, "/x?v=2", "guides/one.html?v=2"},
		{"a query on a pattern", []string{"/x/:page?y /guides/:page", "/x/:page /new/a/b"}, "/x/one?y", "guides/one.html"},
		{"a pattern's query missing", []string{"/x/:page?y /guides/:page", "/x/:page /new/a/b"}, "/x/one", "new/a/b.html"},
		{"a pattern with a query alone", []string{"/x/:page?y /guides/:page"}, "/x/one", "guides/one.html"},
		{"a place on an old page", []string{"/x#p /guides/one", "/x /guides/two"}, "/x#p", "guides/one.html"},
		{"another place on it", []string{"/x#p /guides/one", "/x /guides/two"}, "/x#q", "guides/two.html#q"},
		{"a circle", []string{"/a /b", "/b /a"}, "/a", ""},
		{"a pattern into itself", []string{"/docs/:rest* /docs/latest/:rest*"}, "/docs/x", ""},
		{"code", []string{"/a javascript:x"}, "/a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := redirecting(c.redirects...).Resolve(-1, c.link)
			if got.Kind == Missing {
				got.Href = ""
			}
			if got.Href != c.want {
				t.Errorf("%q, want %q", got.Href, c.want)
			}
		})
	}
}

// Patterns stand for the old addresses of the pages that exist.
func TestOldAddresses(t *testing.T) {
	for _, c := range []struct {
		name      string
		redirects []string
		want      []string
	}{
		{"none", nil, nil},
		{"exact ones are known", []string{"/old /guides/one"}, nil},
		{"a rest", []string{"/was/:rest* /guides/:rest*"}, []string{"was", "was/one", "was/two"}},
		{"a parameter", []string{"/was/:page /guides/:page"}, []string{"was/one", "was/two"}},
		{"a part of an element", []string{"/g-* /guides/*"}, []string{"g-", "g-one", "g-two"}},
		{"parameters in another order", []string{"/:page/of/:v /:v/api/:page"}, []string{"users/of/v2"}},
		{"a chain of patterns", []string{"/older/:r* /old/:r*", "/old/:r* /new/:r*"}, []string{"old/a/b", "older/a/b"}},
		{"from an exact one", []string{"/older/:r* /old/:r*", "/old/x /guides/one"}, []string{"older/x"}},
		{"a page keeps its address", []string{"/guides/:p /v2/api/:p", "/:p /guides/:p"}, []string{"one", "two", "guides/users", "users"}},
		{"an exact one that leads elsewhere", []string{"/was/:p /guides/:p", "/was/one https://o.example"}, []string{"was/two"}},
		{"what has no way back", []string{"/was/* /guides/one", "/w/:a/:b /guides/:a", "/x/:p /f.pdf", "/y/* https://o.example/*"}, nil},
		{"no pattern twice", []string{"/v1/:r* /:r*"}, []string{"v1/de/start", "v1/guides", "v1/guides/one", "v1/guides/two", "v1", "v1/new/a/b", "v1/v2/api/users"}},
		{"with a query", []string{"/was/:p?x /guides/:p"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := redirecting(c.redirects...)
			got, more := s.OldAddresses()
			slices.Sort(got)
			slices.Sort(c.want)
			if d := cmp.Diff(c.want, got); d != "" || more {
				t.Errorf("(-want +got):\n%s%v", d, more)
			}
			for _, a := range got {
				if r := s.Resolve(-1, "/"+a); r.Kind != ToPage {
					t.Errorf("%s leads to %+v", a, r)
				}
			}
		})
	}
}

// Patterns that stand for too much are cut, the same way each time.
func TestOldAddressesAreBounded(t *testing.T) {
	s := redirecting()
	for i := range 3000 {
		s.Redirects = append(s.Redirects, Redirect{Source: "/" + strings.Repeat("x", i+1) + "/:rest*", Destination: "/:rest*"})
	}
	got, more := s.OldAddresses()
	if limit := 1000 + 4*len(s.Pages); !more || len(got) > limit || len(got) == 0 {
		t.Errorf("%d addresses, more %v", len(got), more)
	}
	s2 := redirecting()
	s2.Redirects = s.Redirects
	if again, _ := s2.OldAddresses(); !slices.Equal(got, again) {
		t.Error("another time other addresses are taken")
	}
}

func FuzzRedirects(f *testing.F) {
	f.Add("/old/:rest*", "/guides/:rest*", "/old/one")
	f.Add("/x/:page?y#z", "https://docs.example/guides/:page#p", "/x/one?y#z")
	f.Add("/:a/:b(.*)", "/:b/*", "/guides//%2e%2e/x")
	f.Add("/:", "*", "")
	f.Fuzz(func(t *testing.T, source, destination, link string) {
		s := redirecting("/q /guides/one")
		s.Redirects = append(s.Redirects, Redirect{Source: source, Destination: destination})
		if got := s.Resolve(-1, link); utf8.ValidString(source+destination+link) && strings.HasPrefix(strings.ToLower(got.Href), "javascript:") {
			t.Errorf("%+v", got)
		}
		old, _ := s.OldAddresses()
		for _, a := range old {
			if _, page := s.Lookup(a); page && s.Pages[0].Address == a {
				t.Errorf("%q is a page", a)
			}
		}
		s.way(strings.Trim(source, "/"))
	})
}
