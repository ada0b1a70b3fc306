package frame

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/tests/outside"
)

// contentsOf writes the contents pages of a site without files.
func contentsOf(t testing.TB, v *Views) (names []string, pages map[string]string) {
	t.Helper()
	pages = make(map[string]string)
	o := newOwnFiles(v, func(name string, data []byte) error {
		names, pages[name] = append(names, name), string(data)
		return nil
	})
	if o.contentsPages(); o.err != nil {
		t.Fatal(o.err)
	}
	return names, pages
}

// listedOn are the targets of a contents page's list, as files.
func listedOn(name, doc string) (out []string) {
	_, doc, _ = strings.Cut(doc, `class="prose mdx-content">`)
	doc, _, _ = strings.Cut(doc, "</article>")
	for _, m := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(doc, -1) {
		if to := path.Join(path.Dir(name), m[1]); !strings.HasPrefix(to, contentsFolder) {
			out = append(out, to)
		}
	}
	return out
}

// Each page that the navigation names is listed once, in its order, and each
// contents page can be reached from the first one.
func TestContentsPagesListAll(t *testing.T) {
	for name, nav := range map[string]func(b *builder) []*site.Node{
		"flat":               func(b *builder) []*site.Node { return b.pages("p", 3001) },
		"one group":          func(b *builder) []*site.Node { return []*site.Node{group("All", b.pages("p/", 2500)...)} },
		"just more than fit": func(b *builder) []*site.Node { return []*site.Node{group("All", b.pages("p/", 301)...)} },
		"groups": func(b *builder) []*site.Node {
			var out []*site.Node
			for i := range 40 {
				out = append(out, group(fmt.Sprint("G", i), b.pages(fmt.Sprintf("g%d/", i), 1+i*i%97)...))
			}
			return out
		},
		"groups that begin where a page ends": func(b *builder) []*site.Node {
			deep := group("Deep", group("Deeper", group("Deepest", b.pages("d/", 1200)...)))
			return []*site.Node{group("First", append(b.pages("f/", 997), deep)...), group("Last", b.pages("l/", 3)...)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{site: &site.Site{Domain: domain}}
			v := b.views(t, nav(b)...)
			var want []string
			var walk func(n *site.Node)
			walk = func(n *site.Node) {
				if n.Kind == site.KindPage {
					want = append(want, b.site.Pages[n.Page].Output)
				}
				for _, c := range n.Children {
					walk(c)
				}
			}
			walk(b.site.Nav)
			names, pages := contentsOf(t, v)
			var got []string
			for _, name := range names {
				got = append(got, listedOn(name, pages[name])...)
				if name != names[0] && !strings.Contains(pages[names[0]], `href="`+path.Base(name)+`"`) {
					t.Errorf("%s can't be reached", name)
				}
				if n := len(pages[name]); n > 400_000 {
					t.Errorf("%s has %d bytes", name, n)
				}
				if n := strings.Count(pages[name], "<ul"); n != strings.Count(pages[name], "</ul>") || n == 0 {
					t.Errorf("%s has lists that are not closed", name)
				}
				if !strings.Contains(pages[name], `<meta name="robots" content="noindex">`) {
					t.Errorf("%s is for search engines", name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A section whose pages show all of it has no contents page; of others each page
// leads to it.
func TestContentsPagesAreWhereTheyAreNeeded(t *testing.T) {
	b := &builder{site: &site.Site{Domain: domain}}
	tab := func(label string, n int) *site.Node {
		return &site.Node{Kind: site.KindTab, Label: label, Page: -1, Root: -1, Children: []*site.Node{group("All", b.pages(slug(label)+"/", n)...)}}
	}
	small, large, twin, other := tab("Small", 300), tab("R & <D>", 301), tab("r d", 301), tab("日本", 400)
	v := b.views(t, small, large, twin, other)
	names, pages := contentsOf(t, v)
	want := []string{"bindery/contents/r-d.html", "bindery/contents/r-d_2.html", "bindery/contents/日本.html"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatal(diff)
	}
	if !strings.Contains(pages[names[0]], ">All pages of R &amp; &lt;D&gt;</h1>") {
		t.Error("the title is not the section's")
	}
	for i := range b.site.Pages {
		p := &b.site.Pages[i]
		doc := string(v.Document(nil, i, &page.Result{}))
		var link string
		for at, section := range []*site.Node{large, twin, other} {
			if b.site.Section(i) == section {
				link = "../" + strings.ReplaceAll(names[at], "日本", "%E6%97%A5%E6%9C%AC")
			}
		}
		if has := strings.Contains(doc, "nav-all"); has != (link != "") || link != "" && !strings.Contains(doc, `href="`+link+`"`) {
			t.Fatalf("%s: a link to the contents: %v, want %q", p.Address, has, link)
		}
	}
}

func TestContentsPageGolden(t *testing.T) {
	b := &builder{site: &site.Site{Domain: domain}}
	intro := group("Introduction", b.pages("intro/", 2)...)
	intro.Root, intro.Icon = b.page("intro/index").Page, site.Icon{Name: "book"}
	inner := group("Inner & outer", b.pages("inner/", 2)...)
	inner.Description, inner.Tag = "Groups <in> groups.", "New"
	many := group("Many", b.pages("many/", 300)...)
	out := &site.Node{Kind: site.KindLink, Label: "Elsewhere", Href: "https://other.example/x", Page: -1, Root: -1}
	post := b.page("api/post")
	p := &b.site.Pages[post.Page]
	p.OpenAPI, p.Deprecated, p.Description = "POST /v1/jobs", true, "Makes a **job** & <waits>."
	v := b.views(t, b.page("index"), out, intro, group("API", post, inner), many)
	_, pages := contentsOf(t, v)
	doc := pages["bindery/contents/pages.html"]
	_, doc, _ = strings.Cut(doc, `<nav class="bdy-sidebar"`)
	doc, _, _ = strings.Cut(doc, "</article>")
	got := strings.NewReplacer("<li", "\n<li", "<h2", "\n<h2", "<ul", "\n<ul", "<div", "\n<div").Replace(doc)
	got = regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(got, "<svg/>")
	// Three hundred pages alike are of no use to a reader of the file.
	got = regexp.MustCompile(`\n<li>.*many/([2-9]|\d\d+)\..*`).ReplaceAllString(got, "")
	file := filepath.Join("testdata", "contents.golden.html")
	golden.Same(t, file, []byte(got))
}

// What the documentation says of large sections is so.
func TestContentsAreAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../infra/docs/authoring/navigation.mdx")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fmt.Sprintf("more than %d entries", theme.DefaultMaxLinks), fmt.Sprintf("%d entries to a page", contentsPart)} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page about navigation should say %q", want)
		}
	}
}

// What a page costs does not grow with its section, contents pages included:
// counted are the bytes that are written, and entries of navigation that are
// made, of which there are few.
func TestContentsCostPerPage(t *testing.T) {
	outside.Long(t, "frames thousands of pages")
	cost := func(n int) (made, bytes float64) {
		b := &builder{site: &site.Site{Domain: domain}}
		var nav []*site.Node
		for i := range n / 20 {
			nav = append(nav, group(fmt.Sprintf("Group %05d", i), b.pages(fmt.Sprintf("g%05d/", i), 20)...))
		}
		v := b.views(t, nav...)
		var doc []byte
		sum := 0
		for i := range b.site.Pages {
			doc = v.Document(doc[:0], i, &page.Result{})
			sum += len(doc)
		}
		names, pages := contentsOf(t, v)
		for _, name := range names {
			sum += len(pages[name])
		}
		return float64(v.made.Load()) / float64(n), float64(sum) / float64(n)
	}
	smallMade, smallBytes := cost(1000)
	largeMade, largeBytes := cost(20_000)
	t.Logf("a page of 1,000 costs %.1f entries and %.0f bytes, of 20,000 %.1f and %.0f", smallMade, smallBytes, largeMade, largeBytes)
	if largeMade > 12 || largeBytes > 1.2*smallBytes {
		t.Error("a page of a large site costs more")
	}
}
