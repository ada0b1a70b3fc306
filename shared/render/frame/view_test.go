package frame

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
)

const domain = "docs.example"

func viewsOf(t *testing.T, config string, pages ...string) *Views {
	t.Helper()
	fsys := fstest.MapFS{"docs.json": {Data: []byte(config)}, "logo.svg": {Data: []byte("<svg/>")}}
	paths := []string{"docs.json", "logo.svg"}
	for _, p := range pages {
		name, head, _ := strings.Cut(p, "|")
		fsys[name+".mdx"] = &fstest.MapFile{Data: []byte("---\n" + head + "\n---\n")}
		paths = append(paths, name+".mdx")
	}
	s, _, err := site.Load(context.Background(), fsys, paths, site.Options{Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(Options{Site: s, Icons: icons.New()})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const divided = `{"name": "Site", "logo": {"light": "/logo.svg", "href": "/one"},
	"navbar": {"links": [{"label": "Login", "href": "/login"}, {"label": "Bad", "href": "javascript:x"}], "primary": {"type": "github", "href": "https://git.example"}},
	"navigation": {"global": {"anchors": [{"anchor": "Forum", "href": "https://f.example", "icon": "/logo.svg"}]}, "tabs": [
		{"tab": "Docs", "versions": [
			{"version": "2", "pages": [{"group": "G", "root": "one", "pages": ["deep/two", "hidden", {"title": "Out", "href": "https://o.example"}]}]},
			{"version": "1", "pages": ["old"]}]},
		{"tab": "API", "menu": [{"item": "Users", "pages": ["api/users"]}, {"item": "Gone", "href": "https://g.example"}]},
		{"tab": "Secret", "hidden": true, "pages": ["secret"]},
		{"tab": "Empty", "pages": []}]}}`

func dividedViews(t *testing.T) *Views {
	return viewsOf(t, divided, "api/users|openapi: POST /users", "deep/two|title: Two\ntag: NEW", "hidden|hidden: true", "old|", "one|", "secret|")
}

// The divisions on the way to a page become the header's choices, with the
// addresses as seen from the page's folder.
func TestHeader(t *testing.T) {
	v := dividedViews(t)
	i, _ := v.site.Lookup("deep/two")
	f := v.frame(v.site.Section(i), 1)
	want := theme.Header{
		Tabs: []theme.Tab{
			{Label: "Docs", Href: "../one.html", Current: true},
			{Label: "API", Href: "../api/users.html", Menu: []theme.Option{{Label: "Users", Href: "../api/users.html"}, {Label: "Gone", Href: "https://g.example"}}},
		},
		Switches: []theme.Switch{{Kind: "version", Options: []theme.Option{
			{Label: "2", Href: "../one.html", Current: true}, {Label: "1", Href: "../old.html"},
		}}},
		Links:   []theme.Link{{Label: "Login", Href: "https://docs.example/login"}},
		Primary: &theme.Link{Label: "GitHub", Href: "https://git.example", Icon: "github"},
	}
	if d := cmp.Diff(want, f.header); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if f.home != "../one.html" || f.root != "../" {
		t.Errorf("home %q, root %q", f.home, f.root)
	}
	// A hidden division shows itself to those who are in it.
	i, _ = v.site.Lookup("secret")
	tabs := v.frame(v.site.Section(i), 0).header.Tabs
	if n := len(tabs); n != 3 || tabs[2].Label != "Secret" || !tabs[2].Current {
		t.Errorf("%+v", tabs)
	}
}

// Tabs beside versions are for all of them. Where a version has a tab of the same
// name, its own stands for it.
func TestTabsBesideVersions(t *testing.T) {
	v := viewsOf(t, `{"name": "Site", "navigation": {
		"versions": [{"version": "2", "tabs": [{"tab": "Docs", "pages": ["two"]}, {"tab": "New", "pages": ["new"]}]}, {"version": "1", "tabs": [{"tab": "Docs", "pages": ["one"]}]}],
		"tabs": [{"tab": "Docs", "pages": ["two", "extra"]}, {"tab": "Blog", "pages": ["blog"]}]}}`, "two|", "new|", "one|", "extra|", "blog|")
	for page, want := range map[string]string{
		"two": "Blog, Docs two.html, New", "one": "Blog, Docs one.html", "extra": "Docs two.html, Blog", "blog": "Docs two.html, Blog",
	} {
		i, _ := v.site.Lookup(page)
		var got []string
		for _, tab := range v.frame(v.site.Section(i), 0).header.Tabs {
			if tab.Label == "Docs" {
				tab.Label += " " + tab.Href
			}
			got = append(got, tab.Label)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s has the tabs %s, want %s", page, got, want)
		}
	}
}

// Groups, pages and links of the section become the sidebar's tree.
func TestSidebar(t *testing.T) {
	v := dividedViews(t)
	two, _ := v.site.Lookup("deep/two")
	one, _ := v.site.Lookup("one")
	l := &linker{views: v, root: "../"}
	want := []theme.NavItem{{Label: "G", Href: "../one.html", Key: one, Children: []theme.NavItem{
		{Label: "Two", Href: "../deep/two.html", Key: two, Tag: "NEW"},
		{Label: "Out", Href: "https://o.example", Key: -1, External: true},
	}}}
	if d := cmp.Diff(want, v.sidebarItems(l, v.outline(v.site.Section(two)), whole)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]theme.Anchor{{Label: "Forum", Href: "https://f.example", Icon: "../logo.svg"}}, v.anchors(l, []*site.Node{v.site.Nav})); d != "" {
		t.Errorf("anchors (-want +got):\n%s", d)
	}
	users, _ := v.site.Lookup("api/users")
	if items := v.sidebarItems(l, v.outline(v.site.Section(users)), whole); len(items) != 1 || items[0].Method != "POST" {
		t.Errorf("%+v", items)
	}
}

// A page's document names its place: breadcrumbs, neighbours, canonical address.
func TestDocument(t *testing.T) {
	v := dividedViews(t)
	i, _ := v.site.Lookup("deep/two")
	doc := string(v.Document(nil, i, &page.Result{HTML: []byte("<p>body</p>"), Contents: []page.Heading{{Level: 2, ID: "h", Text: "Heading"}}}))
	for _, must := range []string{
		"<title>Two", "<p>body</p>", `rel="canonical" href="https://docs.example/deep/two"`, `href="two.md"`,
		`href="../one.html"`, `href="#h"`, `aria-current="page"`,
	} {
		if !strings.Contains(doc, must) {
			t.Errorf("the document lacks %s", must)
		}
	}
	if strings.Contains(doc, "javascript:") || strings.Contains(doc, `href="/`) {
		t.Error("the document has an address that it must not have")
	}
	v.features.HTMLAddresses = true
	if doc := string(v.Document(nil, i, &page.Result{})); !strings.Contains(doc, `href="https://docs.example/deep/two.html"`) {
		t.Error("the canonical address has no .html")
	}
}

// A banner has emphasis, code and links, and nothing else of Markdown or HTML.
func TestBanner(t *testing.T) {
	v := dividedViews(t)
	l := &linker{views: v, root: "../"}
	for _, c := range []struct{ in, out string }{
		{"Plain & simple", "Plain &amp; simple"},
		{"**New**: *see* `x<y` at [two](/deep/two)", `<strong>New</strong>: <em>see</em> <code>x&lt;y</code> at <a href="../deep/two.html">two</a>`},
		{"~~Old~~, ``a`b`` and [two](/deep/two \"t\")", "<del>Old</del>, <code>a`b</code> and <a href=\"../deep/two.html\" title=\"t\">two</a>"},
		{"[bad](javascript:alert)", "<a>bad</a>"},
		{"[out](https://x.example/?a=1&b=2)", `<a href="https://x.example/?a=1&amp;b=2">out</a>`},
		{"<script>x</script>", "x"},
		{"", ""},
	} {
		if got := string(page.Inline(c.in, l.href)); got != c.out {
			t.Errorf("%q: %s, want %s", c.in, got, c.out)
		}
	}
}

// Readers without a network have no outside service in the menu of a page.
func TestActionsOfOfflineReaders(t *testing.T) {
	c := &site.Config{}
	c.Contextual.Options = []site.ContextualOption{{Name: "copy"}, {Name: "chatgpt"}, {Name: "view"}}
	for offline, want := range map[bool]int{false: 3, true: 2} {
		if got := actionsOf(c, offline); len(got) != want {
			t.Errorf("offline %v: %d actions, want %d", offline, len(got), want)
		}
	}
}
