package site

import "testing"

// An address of which the bundle has a copy leads to it, from every folder and
// with what marks a place in it; all other addresses stay.
func TestResolveCopies(t *testing.T) {
	s := &Site{
		Domain: "docs.example", Nav: &Node{Kind: KindRoot, Page: -1, Root: -1},
		Pages:  []Page{{Source: "a/b.mdx", Address: "a/b", Output: "a/b.html"}},
		Remote: map[string]string{"https://h.example/x.svg?v=1": "bindery/remote/1.svg"},
	}
	for _, c := range []struct {
		from       int
		href, want string
		kind       TargetKind
	}{
		{0, "https://h.example/x.svg?v=1", "../bindery/remote/1.svg", ToFile},
		{0, "//h.example/x.svg?v=1#only-dark", "../bindery/remote/1.svg#only-dark", ToFile},
		{-1, "https://h.example/x.svg?v=1", "bindery/remote/1.svg", ToFile},
		{0, "https://h.example/x.svg", "https://h.example/x.svg", External},
		{0, "http://h.example/x.svg?v=1", "http://h.example/x.svg?v=1", External},
	} {
		if got := s.Resolve(c.from, c.href); got.Href != c.want || got.Kind != c.kind {
			t.Errorf("%s from %d leads to %q (%d), want %q", c.href, c.from, got.Href, got.Kind, c.want)
		}
	}
}
