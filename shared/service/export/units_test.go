package export

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
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

func layoutOf(s *site.Site, sizes map[string]int64) layout {
	l := layout{sizes: func(name string) int64 { return sizes[name] }}
	for i := range s.Pages {
		l.pages = append(l.pages, i)
	}
	for _, f := range s.Files {
		if stored(f) {
			l.stored = append(l.stored, f)
		} else {
			l.text = append(l.text, f)
		}
	}
	return l
}

// Units hold every page and file once, in order, within their limits.
func TestCut(t *testing.T) {
	s := pagesSite(manyNames(1000)...)
	sizes := map[string]int64{}
	for i := range 300 {
		for _, ext := range []string{"png", "json"} {
			f := fmt.Sprintf("f%03d.%s", i, ext)
			s.Files = append(s.Files, f)
			sizes[f] = int64(i) * 1000
		}
	}
	s.Files = append(s.Files, "large.json")
	sizes["large.json"] = 100 << 20
	l := layoutOf(s, sizes)
	next := map[unitKind]int{}
	for _, u := range l.cut(s) {
		if u.From != next[u.Kind] || u.To <= u.From {
			t.Fatalf("%+v follows %d", u, next[u.Kind])
		}
		next[u.Kind] = u.To
		var bytes int64
		for i := u.From; i < u.To; i++ {
			if u.Kind == pageUnit {
				bytes += s.Pages[l.pages[i]].Size
			} else {
				bytes += l.sizes(l.list(u.Kind)[i])
			}
		}
		if n := u.To - u.From; n > unitPages || bytes > unitBytes && n > 1 {
			t.Errorf("%+v has %d bytes", u, bytes)
		}
	}
	if next[pageUnit] != 1000 || next[textUnit] != 301 || next[storedUnit] != 300 {
		t.Errorf("units end at %v", next)
	}
}

// A new page changes the unit that it falls into, and moves no border that is
// far from it.
func TestCutIsStable(t *testing.T) {
	names := manyNames(2000)
	units := func(names []string) map[string]bool {
		s := pagesSite(names...)
		l := layoutOf(s, nil)
		out := map[string]bool{}
		for _, u := range l.cut(s) {
			out[names[u.From]+"…"+names[u.To-1]] = true
		}
		return out
	}
	before := units(names)
	after := units(slices.Insert(slices.Clone(names), 700, "page-000699-more"))
	changed := 0
	for u := range after {
		if !before[u] {
			changed++
		}
	}
	if changed == 0 || changed > 4 {
		t.Errorf("%d of %d units changed", changed, len(after))
	}
}

// Shards hold every unit once and in order, none is empty, and none is much
// heavier than the others where units are alike.
func TestShards(t *testing.T) {
	for _, units := range []int{0, 1, 2, 7, 8, 9, 100, 2500} {
		list := make([]unit, units)
		for i := range list {
			list[i] = unit{Kind: pageUnit, From: i, To: i + 1, weight: int64(1000 + i%7)}
		}
		for _, want := range []int{0, 1, 3, 40, 5000} {
			plans := shards(list, want)
			at := 0
			for _, p := range plans {
				if len(p.Units) == 0 && units > 0 {
					t.Fatalf("%d units in %d shards: one is empty", units, len(plans))
				}
				if most := 2*units/len(plans) + 1; len(p.Units) > most {
					t.Errorf("%d units in %d shards: one has %d", units, len(plans), len(p.Units))
				}
				for _, u := range p.Units {
					if u.From != at {
						t.Fatalf("unit %d stands at %d", u.From, at)
					}
					at++
				}
				if p.Pages != len(p.Units) {
					t.Errorf("%d pages in %d units", p.Pages, len(p.Units))
				}
			}
			if at != units || len(plans) > MaxShards {
				t.Errorf("%d of %d units in %d shards", at, units, len(plans))
			}
		}
	}
}

// One unit may weigh more than all others together.
func TestShardsOfUnevenUnits(t *testing.T) {
	list := []unit{{weight: 1}, {weight: 1 << 40}, {weight: 1}, {weight: 1}}
	plans := shards(list, 4)
	if len(plans) != 4 {
		t.Fatalf("%d shards", len(plans))
	}
	for i, p := range plans {
		if len(p.Units) != 1 {
			t.Errorf("shard %d has %d units", i, len(p.Units))
		}
	}
}

func TestSiteSheet(t *testing.T) {
	s := pagesSite("index")
	s.Files = []string{"fonts/a.woff2", "images/b(1).png", "images/b.png", "styles/site.css"}
	s.Redirects = []site.Redirect{{Source: "/moved.png", Destination: "https://cdn.example/b(1).png"}}
	for _, c := range []struct{ name, in, out string }{
		{"styles/site.css", `a{background:url(/images/b.png)}`, `a{background:url(../images/b.png)}`},
		{"styles/site.css", `@font-face{src:url( "/fonts/a.woff2#x" )}`, `@font-face{src:url( "../fonts/a.woff2#x" )}`},
		{"site.css", `a{background:url('/images/b.png?v=1')}`, `a{background:url('images/b.png?v=1')}`},
		{"styles/site.css", `a{background:url(/images/b%281%29.png)}`, `a{background:url(../images/b%281%29.png)}`},
		{"styles/site.css", `a{background:url("/moved.png#x%22y")}`, `a{background:url("https://cdn.example/b%281%29.png#x%22y")}`},
		{"site.css", `a{background:url(images/b.png)}`, `a{background:url(images/b.png)}`},
		{"site.css", `a{background:url(//cdn.example/b.png)}`, `a{background:url(//cdn.example/b.png)}`},
		{"site.css", `a{background:url(https://cdn.example/b.png)}`, `a{background:url(https://cdn.example/b.png)}`},
		{"site.css", `a{background:url(data:image/png;base64,/9j)}`, `a{background:url(data:image/png;base64,/9j)}`},
	} {
		if got := string(siteSheet(s, c.name, []byte(c.in))); got != c.out {
			t.Errorf("%s in %s: %s, want %s", c.in, c.name, got, c.out)
		}
	}
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
		src := &source{site: s, layout: layoutOf(s, nil), views: &views{site: s},
			fs: snapshot.OpenFS(context.Background(), nil, nil, &snapshot.Manifest{}, snapshot.FSOptions{})}
		got := map[string]int{}
		o := &ownFiles{src: src, taken: map[string]struct{}{}, add: func(name string, data []byte) error {
			got[name] = strings.Count(string(data), "<loc>https://docs.example/")
			return nil
		}}
		if err := o.sitemaps(); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d pages: %v, want %v", c.pages, got, c.want)
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
	src := &source{site: s, layout: layoutOf(s, nil), views: &views{site: s}}
	got := ""
	o := &ownFiles{src: src, taken: map[string]struct{}{}, add: func(_ string, data []byte) error {
		got = string(data)
		return nil
	}}
	if err := o.llms(); err != nil {
		t.Fatal(err)
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
			o := &ownFiles{
				src:   &source{site: s, layout: layoutOf(s, nil), views: &views{site: s}},
				taken: map[string]struct{}{}, folders: map[string]struct{}{},
				add: func(name string, data []byte) error {
					files[name] = string(data)
					return nil
				},
			}
			if err := o.llms(); err != nil {
				t.Fatal(err)
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
