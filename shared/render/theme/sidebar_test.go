package theme

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// navTree makes groups of pages: groups of groups of pages.
func navTree(sections, groups, pages int) SidebarView {
	key := 0
	var v SidebarView
	for s := range sections {
		sec := NavItem{Label: fmt.Sprintf("Section %d", s), Key: -1}
		for g := range groups {
			grp := NavItem{Label: fmt.Sprintf("Group %d.%d", s, g), Key: -1}
			for range pages {
				grp.Children = append(grp.Children, NavItem{Label: fmt.Sprintf("Page %d", key), Href: fmt.Sprintf("../p/page-%d.html", key), Key: key})
				key++
			}
			sec.Children = append(sec.Children, grp)
		}
		v.Items = append(v.Items, sec)
	}
	return v
}

// reading is what a reader sees of a sidebar.
type reading struct {
	current []string // labels of links marked as the current page
	open    []string // titles of open groups
	links   int
}

func read(t *testing.T, fragment []byte) reading {
	t.Helper()
	var r reading
	text := func(n *html.Node) string {
		var b strings.Builder
		var f func(*html.Node)
		f = func(n *html.Node) {
			if n.Type == html.TextNode {
				b.WriteString(n.Data)
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				f(c)
			}
		}
		f(n)
		return b.String()
	}
	walk(parse(t, fragment), func(n *html.Node) {
		switch n.Data {
		case "a":
			r.links++
			if c, _ := attr(n, "aria-current"); c == "page" {
				r.current = append(r.current, text(n))
			}
		case "details":
			if _, ok := attr(n, "open"); ok {
				r.open = append(r.open, text(n.FirstChild))
			}
		}
	})
	return r
}

func TestSidebarMarksThePageAndOpensItsGroups(t *testing.T) {
	th := newTheme(t, Config{})
	for _, limit := range []int{0, 1} { // the whole tree; only the branch
		v := navTree(3, 3, 4)
		v.MaxLinks = limit
		s := th.Sidebar(v)
		for key := range 36 {
			r := read(t, s.append(nil, &View{CurrentKey: key}))
			wantPage, wantGroup := fmt.Sprintf("Page %d", key), fmt.Sprintf("Group %d.%d", key/12, key/4%3)
			if len(r.current) != 1 || r.current[0] != wantPage {
				t.Fatalf("limit %d, page %d: marked %q", limit, key, r.current)
			}
			if len(r.open) != 1 || r.open[0] != wantGroup {
				t.Fatalf("limit %d, page %d: open %q, want %q", limit, key, r.open, wantGroup)
			}
		}
		r := read(t, s.append(nil, &View{CurrentKey: -1}))
		if len(r.current) != 0 || len(r.open) != 0 {
			t.Errorf("limit %d, a page that is not there: %+v", limit, r)
		}
	}
}

func TestSidebarOfGroupsWithPages(t *testing.T) {
	th := newTheme(t, Config{})
	v := SidebarView{Items: []NavItem{{Label: "Top", Href: "top.html", Key: 1, Children: []NavItem{
		{Label: "Inner", Href: "inner.html", Key: 2, Expanded: true, Children: []NavItem{{Label: "Leaf", Href: "leaf.html", Key: 3}}},
	}}}}
	for _, limit := range []int{0, 1} {
		v.MaxLinks = limit
		s := th.Sidebar(v)
		for key, want := range map[int]string{1: "Top", 2: "Inner", 3: "Leaf"} {
			r := read(t, s.append(nil, &View{CurrentKey: key}))
			if len(r.current) != 1 || r.current[0] != want {
				t.Errorf("limit %d, key %d: marked %q, want %q", limit, key, r.current, want)
			}
		}
	}
}

func TestALargeSectionShowsItsBranch(t *testing.T) {
	th := newTheme(t, Config{})
	// One flat group, as generated references have.
	flat := th.Sidebar(navTree(1, 1, 5000))
	for _, key := range []int{0, 1, 29, 30, 31, 32, 2500, 4968, 4969, 4970, 4998, 4999} {
		b := flat.append(nil, &View{CurrentKey: key})
		r := read(t, b)
		if len(r.current) != 1 || r.current[0] != fmt.Sprintf("Page %d", key) {
			t.Errorf("page %d: marked %q", key, r.current)
		}
		if r.links > branchWindow+2 || r.links < branchWindow {
			t.Errorf("page %d shows %d entries", key, r.links)
		}
		if len(b) > 12<<10 {
			t.Errorf("page %d carries %d bytes of navigation", key, len(b))
		}
		for _, next := range []int{key - 1, key + 1} {
			if next >= 0 && next < 5000 && !strings.Contains(string(b), fmt.Sprintf("page-%d.html", next)) {
				t.Errorf("page %d: no way to page %d", key, next)
			}
		}
	}
	// Many groups: the other groups are links to their first page.
	many := th.Sidebar(navTree(1, 40, 50))
	b := many.append(nil, &View{CurrentKey: 120})
	r := read(t, b)
	if want := 50 + 39; r.links != want {
		t.Errorf("%d links, want %d: the branch and a link for each other group", r.links, want)
	}
	if !strings.Contains(string(b), "page-1950.html") {
		t.Error("no way to the last group")
	}
}

func TestSidebarDeeperThanAnyoneWrites(t *testing.T) {
	th := newTheme(t, Config{})
	item := NavItem{Label: "leaf", Href: "leaf.html", Key: 7}
	for range 60 {
		item = NavItem{Label: "g", Key: -1, Children: []NavItem{item}}
	}
	for _, limit := range []int{0, 1} {
		s := th.Sidebar(SidebarView{Items: []NavItem{item, {Label: "other", Href: "o.html", Key: 8}}, MaxLinks: limit})
		if r := read(t, s.append(nil, &View{CurrentKey: 7})); len(r.current) != 1 {
			t.Errorf("limit %d: marked %q", limit, r.current)
		}
	}
}

func BenchmarkSidebarMark(b *testing.B) {
	s := newTheme(b, Config{}).Sidebar(navTree(6, 5, 10)) // 300 links
	buf := s.append(nil, &View{CurrentKey: 150})
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = s.append(buf[:0], &View{CurrentKey: 150})
	}
}

func BenchmarkSidebarMarkLarge(b *testing.B) {
	s := newTheme(b, Config{}).Sidebar(navTree(1, 1, 20000))
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = s.append(buf[:0], &View{CurrentKey: 15000})
	}
}

// A sidebar that is cut leads to the list of all; that page marks the link.
func TestSidebarLeadsToTheListing(t *testing.T) {
	th := newTheme(t, Config{})
	v := navTree(1, 2, 3)
	v.Listing = &Link{Label: th.AllPages("fr", "A & B"), Href: "../all.html"}
	const link = `href="../all.html"`
	if b := th.Sidebar(v).append(nil, &View{CurrentKey: 1}); strings.Contains(string(b), link) {
		t.Error("a sidebar that shows everything leads to a list of it")
	}
	v.MaxLinks = 1
	s := th.Sidebar(v)
	if b := string(s.append(nil, &View{CurrentKey: 1})); !strings.Contains(b, `<a `+link) || !strings.Contains(b, "Toutes les pages : A &amp; B") {
		t.Errorf("no way to the list: %s", b)
	}
	if r := read(t, s.append(nil, &View{CurrentKey: ListingKey})); len(r.current) != 1 || r.current[0] != "Toutes les pages : A & B" {
		t.Errorf("marked is %q", r.current)
	}
	v.Listing = &Link{Label: "x", Href: ""}
	if b := string(th.Sidebar(v).append(nil, &View{CurrentKey: 1})); strings.Contains(b, "nav-all") {
		t.Error("a link that leads nowhere")
	}
}

// Each language has its own words for a section's listing.
func TestAllPagesInEachLanguage(t *testing.T) {
	th := newTheme(t, Config{})
	seen := map[string]string{}
	for _, lang := range []string{"en", "de", "fr", "es", "it", "pt", "nl", "ru", "ja", "zh", "ko", "ar"} {
		all, of := th.AllPages(lang, ""), th.AllPages(lang, "%s API")
		if all == "" || !strings.Contains(of, "%s API") || strings.Count(of, "%s") != 1 {
			t.Errorf("%s: %q, %q", lang, all, of)
		}
		if other := seen[of]; other != "" {
			t.Errorf("%s has the words of %s", lang, other)
		}
		seen[of] = lang
	}
}

func BenchmarkSidebarBuild(b *testing.B) {
	th := newTheme(b, Config{})
	v := navTree(6, 5, 10)
	b.ReportAllocs()
	for b.Loop() {
		th.Sidebar(v)
	}
}

func BenchmarkDocument(b *testing.B) {
	th := newTheme(b, Config{})
	v := sampleView(th)
	v.Sidebar, v.CurrentKey = th.Sidebar(navTree(6, 5, 10)), 150
	v.Body = []byte(strings.Repeat("<p>Some text of a page, with <code>code</code>.</p>\n", 200))
	buf := th.Document(nil, v)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = th.Document(buf[:0], v)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Config{SiteName: "Acme"}); err != nil {
			b.Fatal(err)
		}
	}
}
