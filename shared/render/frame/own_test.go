package frame

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/site"
)

func pagesSite(names ...string) *site.Site {
	s := &site.Site{Domain: domain}
	for _, n := range names {
		s.Pages = append(s.Pages, site.Page{Source: n + ".mdx", Address: n, Output: n + ".html", Title: n, Size: 6000})
	}
	return s
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("page-%06d", i)
	}
	return names
}

func TestRedirectFile(t *testing.T) {
	for source, want := range map[string]string{
		"/old":            "old.html",
		"old/":            "old.html",
		"/a/../b":         "b.html",
		"/page.html":      "page.html",
		"/":               "",
		"/old/*":          "",
		"/:slug":          "",
		"/a?b=c":          "",
		"/bindery/theme":  "",
		"/../../etc/x":    "etc/x.html",
		"/a\x00b":         "",
		`/a\b`:            "",
		"/" + "x/" + "//": "x.html",
	} {
		got, ok := redirectFile(source)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", source, got, ok)
		}
	}
}

// A sitemap holds 50,000 addresses at most; larger sites have several.
func TestSitemaps(t *testing.T) {
	for _, c := range []struct {
		pages int
		want  map[string]int // entries by file
	}{
		{0, map[string]int{"sitemap.xml": 0}},
		{3, map[string]int{"sitemap.xml": 3}},
		{50_000, map[string]int{"sitemap.xml": 50_000}},
		{50_001, map[string]int{"sitemap.xml": 2, "sitemap-1.xml": 50_000, "sitemap-2.xml": 1}},
	} {
		s := pagesSite(manyNames(c.pages)...)
		got := map[string]int{}
		o := newOwnFiles(&Views{site: s, modified: func(string) time.Time { return time.Time{} }}, func(name string, data []byte) error {
			got[name] = strings.Count(string(data), "<loc>https://docs.example/")
			return nil
		})
		if o.sitemaps(); o.err != nil {
			t.Fatal(o.err)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d pages: %v, want %v", c.pages, got, c.want)
		}
	}
}

// A sitemap has canonical addresses alone.
func TestSitemapsLeaveOutOtherCanonicalAddresses(t *testing.T) {
	s := pagesSite("a", "b", "c", "d")
	s.Pages[0].Canonical, s.Pages[1].Canonical, s.Pages[2].Canonical = "https://other.example/a", "https://docs.example/b", "https://docs.example/a"
	var got string
	o := newOwnFiles(&Views{site: s, modified: func(string) time.Time { return time.Time{} }}, func(_ string, data []byte) error {
		got = string(data)
		return nil
	})
	o.sitemaps()
	for address, want := range map[string]bool{"/a": false, "/b": true, "/c": false, "/d": true} {
		if strings.Contains(got, "https://docs.example"+address+"<") != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// llms.txt lists each page once, under its divisions and outermost group.
func TestLLMs(t *testing.T) {
	s := pagesSite("a", "b", "c", "d", "e")
	s.Config.Name, s.Config.Description = "My  site", "What it\nis"
	s.Pages[1].Title, s.Pages[1].Description = "B [x]", "About b"
	s.Pages[4].NoIndex = true
	page := func(i int) *site.Node { return &site.Node{Kind: site.KindPage, Page: i, Root: -1} }
	group := func(label string, children ...*site.Node) *site.Node {
		return &site.Node{Kind: site.KindGroup, Label: label, Page: -1, Root: -1, Children: children}
	}
	s.Nav = &site.Node{Kind: site.KindRoot, Page: -1, Root: -1, Children: []*site.Node{
		{Kind: site.KindTab, Label: "Docs", Page: -1, Root: -1, Children: []*site.Node{
			group("Start", page(0), group("Inner", page(1))),
			group("Empty", page(4)),
			group("Again", page(0), page(2)),
		}},
	}}
	got := ""
	o := newOwnFiles(&Views{site: s}, func(_ string, data []byte) error {
		got = string(data)
		return nil
	})
	if o.llms(); o.err != nil {
		t.Fatal(o.err)
	}
	want := `# My site

> What it is

## Docs — Start

- [a](https://docs.example/a.md)
- [B \[x\]](https://docs.example/b.md): About b

## Docs — Again

- [c](https://docs.example/c.md)

## More

- [d](https://docs.example/d.md)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Versions and languages that readers don't see first are files of their own;
// specifications that pages show are listed.
func TestLLMsOfVersions(t *testing.T) {
	s := pagesSite("v1/a", "v2/a", "v2/b", "both")
	s.Config.Name = "Site"
	s.Files = []string{"api.yaml", "other.yaml"}
	s.Pages[2].Reference = &site.Reference{File: "api.yaml"}
	page := func(i int) *site.Node { return &site.Node{Kind: site.KindPage, Page: i, Root: -1} }
	version := func(label string, def bool, children ...*site.Node) *site.Node {
		return &site.Node{Kind: site.KindVersion, Label: label, Default: def, Page: -1, Root: -1, Children: children}
	}
	s.Nav = &site.Node{Kind: site.KindRoot, Page: -1, Root: -1, Children: []*site.Node{
		version("v1", false, page(3), page(0)), version("v2", true, page(1), page(2), page(3)),
	}}
	files := map[string]string{}
	o := newOwnFiles(&Views{site: s}, func(name string, data []byte) error {
		files[name] = string(data)
		return nil
	})
	if o.llms(); o.err != nil {
		t.Fatal(o.err)
	}
	want := map[string]string{
		"llms.txt": "# Site\n\n## v2\n\n- [v2/a](https://docs.example/v2/a.md)\n- [v2/b](https://docs.example/v2/b.md)\n- [both](https://docs.example/both.md)\n" +
			"\n## Specifications\n\n- [api.yaml](https://docs.example/api.yaml)\n" +
			"\n## Optional\n\n- [v1](https://docs.example/llms/v1.txt): 1 page\n",
		"llms/v1.txt": "# v1\n\n- [v1/a](https://docs.example/v1/a.md)\n",
	}
	if d := cmp.Diff(want, files); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLLMsInSections: a list that is too long for one file is cut by its
// sections; llms.txt says where they are, and together they list each page once.
func TestLLMsInSections(t *testing.T) {
	const pages = 3000
	names := make([]string, pages)
	for i := range names {
		names[i] = fmt.Sprintf("page-%04d", i)
	}
	group := func(label string, from, to int) *site.Node {
		n := &site.Node{Kind: site.KindGroup, Label: label, Page: -1, Root: -1}
		for i := from; i < to; i++ {
			n.Children = append(n.Children, &site.Node{Kind: site.KindPage, Page: i, Root: -1})
		}
		return n
	}
	many := &site.Node{Kind: site.KindTab, Label: "Many", Page: -1, Root: -1}
	for i := range pages {
		many.Children = append(many.Children, group(fmt.Sprintf("Group %d", i), i, i+1))
	}
	for name, c := range map[string]struct {
		nav  []*site.Node
		want []string
	}{
		"sections":           {[]*site.Node{group("Größe & co.", 0, 100), group("GRÖSSE", 100, 200), group("größe — co", 200, 300), group("***", 300, 400)}, []string{"llms/größe-co.txt", "llms/grösse.txt", "llms/größe-co-2.txt", "llms/pages.txt", "llms/more.txt", "llms/more-2.txt"}},
		"one long section":   {[]*site.Node{group("All", 0, pages)}, []string{"llms/all.txt", "llms/all-2.txt"}},
		"very many sections": {[]*site.Node{many}, []string{"llms/many.txt", "llms/many-2.txt"}},
		"no section":         {nil, []string{"llms/more.txt", "llms/more-2.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := pagesSite(names...)
			s.Nav = &site.Node{Kind: site.KindRoot, Page: -1, Root: -1, Children: c.nav}
			for i := range s.Pages {
				s.Pages[i].Description = "What stands on this page"
			}
			files := map[string]string{}
			o := newOwnFiles(&Views{site: s}, func(name string, data []byte) error {
				files[name] = string(data)
				return nil
			})
			if o.llms(); o.err != nil {
				t.Fatal(o.err)
			}
			seen := map[string]int{}
			for name, text := range files {
				if len(text) > llmsBytes+200 {
					t.Errorf("%s has %d bytes", name, len(text))
				}
				if name == "llms.txt" {
					continue
				}
				if !strings.Contains(files["llms.txt"], "("+s.AbsoluteURL(name)+")") {
					t.Errorf("llms.txt does not name %s", name)
				}
				for _, line := range strings.Split(text, "\n") {
					if strings.HasPrefix(line, "- ") {
						seen[line]++
					}
				}
			}
			if len(seen) != pages {
				t.Errorf("%d pages are listed of %d", len(seen), pages)
			}
			for line, n := range seen {
				if n != 1 {
					t.Errorf("%d times: %s", n, line)
				}
			}
			for _, name := range c.want {
				if files[name] == "" {
					t.Errorf("no %s among %d files: %s", name, len(files), files["llms.txt"])
				}
			}
		})
	}
}

// Files writes each name once, also where the site has one of them, and returns
// an error of add as it is.
func TestFiles(t *testing.T) {
	v := viewsOf(t, `{"name": "x", "navigation": {"pages": ["a"]}, "redirects": [{"source": "/old", "destination": "/a"}]}`, "a|")
	v.site.Files = append(v.site.Files, "Robots.txt")
	names := map[string]int{}
	if err := v.Files(nil, func(name string, _ []byte) error { names[name]++; return nil }); err != nil {
		t.Fatal(err)
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%s is written %d times", name, n)
		}
	}
	for _, name := range []string{"404.html", "index.html", "old.html", "sitemap.xml", "llms.txt"} {
		if names[name] != 1 {
			t.Errorf("there is no %s: %v", name, names)
		}
	}
	if names["robots.txt"] != 0 {
		t.Error("the site's own robots.txt has a second beside it")
	}
	full := errors.New("no room")
	if err := v.Files(nil, func(string, []byte) error { return full }); err != full {
		t.Errorf("the error of add is %v", err)
	}
}
