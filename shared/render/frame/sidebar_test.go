package frame

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/tests/outside"
)

// builder makes large sites without files.
type builder struct{ site *site.Site }

func (b *builder) page(address string) *site.Node {
	b.site.Pages = append(b.site.Pages, site.Page{Source: address + ".mdx", Address: address, Output: address + ".html", Title: "On " + address, InNav: true})
	return &site.Node{Kind: site.KindPage, Page: len(b.site.Pages) - 1, Root: -1}
}

func (b *builder) pages(prefix string, n int) []*site.Node {
	var out []*site.Node
	for i := range n {
		out = append(out, b.page(fmt.Sprintf("%s%d", prefix, i)))
	}
	return out
}

func group(label string, children ...*site.Node) *site.Node {
	return &site.Node{Kind: site.KindGroup, Label: label, Page: -1, Root: -1, Children: children}
}

func (b *builder) views(t testing.TB, nav ...*site.Node) *Views {
	t.Helper()
	b.site.Nav = &site.Node{Kind: site.KindRoot, Page: -1, Root: -1, Children: nav}
	v, err := New(Options{Site: b.site, Icons: icons.New()})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A page of a large section shows the same sidebar as if the theme had been
// given all of the section.
func TestExcerptIsWhatTheWholeWouldShow(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	for name, nav := range map[string]func(b *builder) []*site.Node{
		"one flat group": func(b *builder) []*site.Node { return []*site.Node{group("All", b.pages("p/", 500)...)} },
		"no group":       func(b *builder) []*site.Node { return b.pages("", 333) },
		"many groups": func(b *builder) []*site.Node {
			var out []*site.Node
			for i := range 130 {
				out = append(out, group(fmt.Sprint("G", i), b.pages(fmt.Sprintf("g%d/", i), 3)...))
			}
			return out
		},
		"groups in groups": func(b *builder) []*site.Node {
			var out []*site.Node
			for i := range 3 {
				inner := b.pages(fmt.Sprintf("a%d/", i), 90)
				for j := range 50 {
					g := group(fmt.Sprint("H", j), b.pages(fmt.Sprintf("a%d/b%d/c/", i, j), 2)...)
					if j%3 == 0 {
						g.Root = b.page(fmt.Sprintf("a%d/b%d/index", i, j)).Page
					}
					if j%7 == 0 {
						g.Children = append(g.Children, group("Deep", b.pages(fmt.Sprintf("a%d/b%d/d/", i, j), 100)...))
						g.Expanded = true
					}
					inner = append(inner, g)
				}
				out = append(out, group(fmt.Sprint("G", i), inner...))
			}
			return out
		},
		"hidden, empty, twice, elsewhere": func(b *builder) []*site.Node {
			all := b.pages("p/", 400)
			for i := range all {
				p := &b.site.Pages[all[i].Page]
				p.Hidden, p.Excluded, p.Deprecated = i%11 == 3, i%13 == 5, i%17 == 1
				if i%19 == 2 {
					p.URL = "https://other.example/x"
				}
				if i%23 == 4 {
					all[i] = &site.Node{Kind: site.KindLink, Label: "Out", Href: "https://out.example", Page: -1, Root: -1}
				}
				if i%29 == 5 {
					all[i] = &site.Node{Kind: site.KindLink, Label: "Bad", Href: "javascript:x", Page: -1, Root: -1}
				}
			}
			secret := group("Secret", b.pages("s/", 5)...)
			secret.Hidden = true
			lone := group("Lone")
			lone.Root = all[7].Page
			return []*site.Node{group("Empty"), group("Links", &site.Node{Kind: site.KindLink, Label: "Out", Href: "https://out.example", Page: -1, Root: -1}),
				group("First", all[:200]...), secret, group("Again", all[100:]...), lone, group("Nothing", group("in it"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{site: &site.Site{Domain: domain}}
			top := nav(b)
			b.page("off/the/map")
			v := b.views(t, top...)
			o := v.outline(b.site.Nav)
			if o.links <= theme.DefaultMaxLinks {
				t.Fatalf("%d links: the section is not large", o.links)
			}
			full := wholeSidebars(v, o)
			for i := range b.site.Pages {
				p := &b.site.Pages[i]
				if p.Excluded || p.URL != "" { // in no bundle, or only a way to elsewhere
					continue
				}
				got := string(v.Document(nil, i, &page.Result{}))
				depth := strings.Count(p.Output, "/")
				want := string(v.documentWith(nil, i, &page.Result{}, v.frame(b.site.Nav, depth), full[depth]))
				if got != want {
					t.Fatalf("page %s (-whole +excerpt):\n%s", p.Address, cmp.Diff(strings.SplitAfter(want, "<li"), strings.SplitAfter(got, "<li")))
				}
			}
		})
	}
}

// wholeSidebars returns a section's sidebar of all its entries for some depths.
func wholeSidebars(v *Views, o *outline) (out []*theme.Sidebar) {
	for depth := range 5 {
		l := &linker{views: v, root: strings.Repeat("../", depth)}
		out = append(out, v.theme.Sidebar(theme.SidebarView{Items: v.items(l, o, 0), Listing: v.contentsLink(l, "", o.entries[0].node)}))
	}
	return out
}

// What is made for the sidebars of all pages of one section grows with the
// pages and no faster.
func TestSidebarWorkPerPage(t *testing.T) {
	outside.Long(t, "frames thousands of pages")
	for name, nav := range map[string]func(b *builder, n int) []*site.Node{
		"flat": func(b *builder, n int) []*site.Node {
			var all []*site.Node
			for i := range n {
				all = append(all, b.page(fmt.Sprintf("part-%d/%sp%d", i/500, strings.Repeat("x/", i%3), i)))
			}
			return []*site.Node{group("All", all...)}
		},
		"groups of twenty": func(b *builder, n int) []*site.Node {
			var out []*site.Node
			for i := range n / 20 {
				out = append(out, group(fmt.Sprint("G", i), b.pages(fmt.Sprintf("g%d/", i), 20)...))
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			perPage := func(n int) float64 {
				b := &builder{site: &site.Site{Domain: domain}}
				v := b.views(t, nav(b, n)...)
				var doc []byte
				for i := range b.site.Pages {
					doc = v.Document(doc[:0], i, &page.Result{})
				}
				return float64(v.made.Load()) / float64(n)
			}
			small, large := perPage(4000), perPage(12_000)
			t.Logf("entries made a page: %.1f of 4,000 pages, %.1f of 12,000", small, large)
			if large > 1.2*small || large > 20 {
				t.Errorf("entries made a page: %.1f of 4,000 pages, %.1f of 12,000", small, large)
			}
		})
	}
}

// However pages follow each other, one costs no more than what is shown around it.
func TestSidebarWorkOfOnePage(t *testing.T) {
	b := &builder{site: &site.Site{Domain: domain}}
	v := b.views(t, group("All", b.pages("", 5000)...))
	v.Document(nil, 0, &page.Result{})
	for _, i := range []int{4999, 2500, 17, 3333} {
		before := v.made.Load()
		v.Document(nil, i, &page.Result{})
		if made := v.made.Load() - before; made > 2*(2*sidebarMargin+sidebarRun) {
			t.Errorf("page %d: %d entries were made", i, made)
		}
	}
}
