package site

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// What Begin writes names every page, in an order that a reader expects, and a site
// with it has no findings.
func TestBegin(t *testing.T) {
	for _, c := range []struct {
		name  string
		files string
		want  []string // pages, by their trails of groups
	}{
		{"pages alone", "b.md index.md a.mdx", []string{"index", "a", "b"}},
		{"folders", "start.md index.md guides/index.md guides/a.md guides/deep-down/z.mdx api/x.md", []string{
			"Fish > index", "Fish > start", "Api > api/x", "Guides > guides/index", "Guides > guides/a", "Guides > Deep down > guides/deep-down/z"}},
		{"folders alone", "b/x.md a/y.md", []string{"A > a/y", "B > b/x"}},
		{"what is not a page", "index.md README.md snippets/s.mdx _snippets/t.md img/a.png x.js", []string{"index"}},
		{"one address", "index.md index.mdx", []string{"index"}},
	} {
		fsys := fstest.MapFS{}
		for _, file := range strings.Fields(c.files) {
			fsys[file] = &fstest.MapFile{Data: []byte("text\n")}
		}
		config, pages, err := Begin("Fish", strings.Fields(c.files))
		if err != nil || pages != len(c.want) {
			t.Errorf("%s: %d pages, %v", c.name, pages, err)
		}
		fsys["docs.json"] = &fstest.MapFile{Data: config}
		s, diags, err := loadFS(t, fsys, Options{})
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, config)
			continue
		}
		for _, d := range diags {
			if d.Code != "page-shadowed" { // of the two with one address
				t.Errorf("%s: %v", c.name, d)
			}
		}
		var got []string
		var walk func(n *Node, trail string)
		walk = func(n *Node, trail string) {
			if n.Kind == KindPage {
				got = append(got, trail+s.Pages[n.Page].Address)
				return
			}
			if n.Label != "" {
				trail += n.Label + " > "
			}
			for _, below := range n.Children {
				walk(below, trail)
			}
		}
		walk(s.Nav, "")
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q\n%s", c.name, got, c.want, config)
		}
	}
	if _, pages, err := Begin("x", []string{"a.png", "README.md"}); err != nil || pages != 0 {
		t.Errorf("%d pages where there are none, %v", pages, err)
	}
}
