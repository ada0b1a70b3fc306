package export

import (
	"fmt"
	"slices"
	"testing"

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
			plans := shards(list, want, 0, shardWeight)
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
	plans := shards(list, 4, 0, shardWeight)
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
