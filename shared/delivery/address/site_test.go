package address

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// follow is a redirect's answer where there is no file.
func follow(r *Redirects, path, rawQuery string) (to string, permanent, ok bool) {
	if to, permanent, ok = r.exact(nil, path, rawQuery); ok {
		return to, permanent, ok
	}
	return r.pattern(path, rawQuery)
}

// rows is a storage that looks up the files and the redirects of an address together,
// and may fail. Pages of sections' folders that only lead to the page beside them have
// no row.
type rows struct {
	files     map[string]bool // true: only leads elsewhere
	redirects []bundle.Redirect
	fails     func(look int) error
	looks     int
}

// site divides the redirects: those from one address are rows.
func (r *rows) site(t testing.TB) *Site[string] {
	var patterns []bundle.Redirect
	for _, one := range r.redirects {
		from := redirect.Parse(one.From)
		if _, wild := redirect.Compile(from.Path); wild || from.Optional {
			patterns = append(patterns, one)
		}
	}
	kept, err := NewRedirects(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return &Site[string]{
		Look: func(_ context.Context, name string) (Place[string], error) {
			r.looks++
			if r.fails != nil {
				if err := r.fails(r.looks); err != nil {
					return Place[string]{}, err
				}
			}
			has := func(name string) string {
				stub, ok := r.files[name]
				if dir, index := strings.CutSuffix(name, "/index.html"); index && stub {
					if _, beside := r.files[dir+".html"]; beside {
						return ""
					}
				}
				if !ok {
					return ""
				}
				return name
			}
			at := Place[string]{Plain: has(name), Page: has(name + ".html"), Index: has(strings.TrimPrefix(name+"/index.html", "/"))}
			// With others, as in an index with addresses as its keys.
			for _, one := range r.redirects {
				from := redirect.Parse(one.From)
				if _, wild := redirect.Compile(from.Path); !wild && !from.Optional && bare(from.Path) == bare(name) {
					at.Redirects = append(at.Redirects, one)
				}
			}
			return at, nil
		},
		Stub:      func(_ context.Context, name string) (bool, error) { return r.files[name], nil },
		Redirects: kept,
	}
}

// TestFindInRows: a storage that has redirects as rows, and no rows for the pages of
// sections' folders, gives the same answers.
func TestFindInRows(t *testing.T) {
	r := &rows{files: sampleFiles, redirects: sampleRedirects}
	site := r.site(t)
	for _, c := range findCases {
		r.looks = 0
		got, err := site.Find(t.Context(), c.path, c.query)
		if err != nil {
			t.Fatalf("%q: %v", c.path, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q ? %q: %s", c.path, c.query, diff)
		}
		if got.File != "" && !sampleFiles[got.File] && r.looks > 1 {
			t.Errorf("%q takes %d look-ups to find a file", c.path, r.looks)
		}
	}
}

// TestFindFails: whichever look-up fails, there is no answer but the error.
func TestFindFails(t *testing.T) {
	broken := errors.New("the storage does not answer")
	r := &rows{files: sampleFiles, redirects: sampleRedirects}
	site := r.site(t)
	for _, c := range findCases {
		r.looks, r.fails = 0, nil
		if _, err := site.Find(t.Context(), c.path, c.query); err != nil {
			t.Fatal(err)
		}
		for n := range r.looks {
			r.looks, r.fails = 0, func(look int) error {
				if look == n+1 {
					return broken
				}
				return nil
			}
			if got, err := site.Find(t.Context(), c.path, c.query); !errors.Is(err, broken) || got != (Answer{}) {
				t.Errorf("%q, look-up %d fails: %+v, %v", c.path, n+1, got, err)
			}
		}
	}
	stub := &Site[string]{Look: r.site(t).Look, Stub: func(context.Context, string) (bool, error) { return false, broken }}
	r.fails = nil
	for _, path := range []string{"/", "/api", "/old", "/style.css", "/beside/index.html", "/both/"} {
		if got, err := stub.Find(t.Context(), path, ""); !errors.Is(err, broken) || got != (Answer{}) {
			t.Errorf("%q: %+v, %v", path, got, err)
		}
	}
}

// FuzzFindInRows: both ways to look up agree on every address.
func FuzzFindInRows(f *testing.F) {
	for _, c := range findCases {
		f.Add(c.path, c.query)
	}
	r := &rows{files: sampleFiles, redirects: sampleRedirects}
	site, plain := r.site(f), sampleAddresses(f)
	// What an old address has beside its redirect is the storage's own business.
	without := &rows{redirects: slices.Clone(sampleRedirects), files: map[string]bool{}}
	for name, stub := range sampleFiles {
		if !stub || name == "lonely.html" {
			without.files[name] = stub
		}
	}
	bareSite := without.site(f)
	f.Fuzz(func(t *testing.T, path, query string) {
		want := plain.Find(path, query)
		for _, s := range []*Site[string]{site, bareSite} {
			got, err := s.Find(t.Context(), path, query)
			if err != nil || got != want {
				t.Fatalf("%q ? %q: %+v, %v; want %+v", path, query, got, err, want)
			}
		}
	})
}
