package frame

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// lookup finds a page that must be there.
func lookup(t *testing.T, v *Views, address string) int {
	t.Helper()
	i, ok := v.site.Lookup(address)
	if !ok {
		t.Fatalf("no page %s", address)
	}
	return i
}

// frameOf is the frame that a page has around it.
func frameOf(v *Views, i int) *frame {
	section := v.site.Near(i)
	if section == nil {
		section = v.fallback
	}
	return v.frame(section, strings.Count(v.site.Pages[i].Output, "/"))
}

const spoken = `{"name": "Site", "banner": {"content": "Hello", "type": "critical"}, "navbar": {"links": [{"label": "All", "href": "/en/a"}]},
	"navigation": {"languages": [
		{"language": "en", "versions": [
			{"version": "2", "tag": "Latest", "pages": ["en/v2/a", "en/v2/b", "en/v2/new"]}, {"version": "1", "pages": ["en/v1/a", "en/v1/b"]}]},
		{"language": "ar", "default": true, "banner": {"content": "مرحبا", "dismissible": true}, "navbar": {"links": [{"label": "الكل", "href": "/ar/v2/a"}]},
			"footer": {"socials": {"x": "https://x.example"}}, "pages": ["ar/v2/a"]}]}}`

func spokenViews(t *testing.T) *Views {
	return viewsOf(t, spoken, "ar/v2/a|", "ar/lost|hidden: true", "en/v1/a|", "en/v1/b|", "en/v2/a|", "en/v2/b|", "en/v2/new|")
}

// A switch leads to the same page where there is one, else to the first.
func TestSwitchesKeepThePlace(t *testing.T) {
	v := spokenViews(t)
	for _, c := range []struct{ page, want string }{
		{"en/v2/a", "language en=en/v2/a ar=ar/v2/a; version 2=en/v2/a 1=en/v1/a"},
		{"en/v1/a", "language en=en/v2/a ar=ar/v2/a; version 2=en/v2/a 1=en/v1/a"},
		{"en/v1/b", "language en=en/v2/a ar=ar/v2/a; version 2=en/v2/b 1=en/v1/a"},
		{"en/v2/b", "language en=en/v2/a ar=ar/v2/a; version 2=en/v2/a 1=en/v1/b"},
		{"en/v2/new", "language en=en/v2/a ar=ar/v2/a; version 2=en/v2/a 1=en/v1/a"},
		{"ar/v2/a", "language en=en/v2/a ar=ar/v2/a"},
	} {
		i := lookup(t, v, c.page)
		f := frameOf(v, i)
		switches, _ := v.switches(f, i)
		var got []string
		for _, sw := range switches {
			s := sw.Kind
			for j, o := range sw.Options {
				name := []string{"en", "ar"}
				if sw.Kind == "version" {
					name = []string{"2", "1"}
				}
				s += " " + name[j] + "=" + strings.TrimSuffix(strings.TrimPrefix(o.Href, f.root), ".html")
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.page, s, c.want)
		}
	}
}

// Pages name themselves in all languages, for search engines.
func TestAlternates(t *testing.T) {
	v := spokenViews(t)
	i := lookup(t, v, "en/v2/a")
	_, got := v.switches(frameOf(v, i), i)
	want := []theme.Alternate{
		{Lang: "en", Href: "https://docs.example/en/v2/a"},
		{Lang: "ar", Href: "https://docs.example/ar/v2/a"}, {Lang: "x-default", Href: "https://docs.example/ar/v2/a"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	i = lookup(t, v, "en/v2/new")
	if _, got := v.switches(frameOf(v, i), i); got != nil {
		t.Errorf("a page in one language: %v", got)
	}
}

// A language has its own banner, header, footer and direction; a page outside
// the navigation has those of its folder.
func TestLanguagesOfTheirOwn(t *testing.T) {
	v := spokenViews(t)
	for _, c := range []struct {
		page, lang, banner, link string
		socials                  int
	}{
		{"en/v1/b", "en", "Hello", "All", 0}, {"ar/v2/a", "ar", "مرحبا", "الكل", 1}, {"ar/lost", "ar", "مرحبا", "الكل", 1},
	} {
		i := lookup(t, v, c.page)
		f := frameOf(v, i)
		if f.lang != c.lang || string(f.banner.HTML) != c.banner || f.header.Links[0].Label != c.link || len(f.footer.Socials) != c.socials {
			t.Errorf("%s: %q %s %v %v", c.page, f.lang, f.banner.HTML, f.header.Links, f.footer)
		}
		doc := string(v.Document(nil, i, &page.Result{}))
		if rtl := strings.Contains(doc, `dir="rtl"`); rtl != (c.lang == "ar") {
			t.Errorf("%s: right to left is %v", c.page, rtl)
		}
	}
	if b := frameOf(v, lookup(t, v, "en/v1/b")).banner; b.Kind != "critical" || b.Dismissible {
		t.Errorf("%+v", b)
	}
	if lang := siteLanguage(v.site); lang != "ar" {
		t.Errorf("the site's language is %q", lang)
	}
}

// The menu of a page has what the site asks for and a bundle can do.
func TestActions(t *testing.T) {
	for _, c := range []struct {
		name, contextual string
		want             []theme.Action
	}{
		{"nothing asked for", ``, []theme.Action{{Name: "copy", Href: "a.md"}, {Name: "view", Href: "a.md"}}},
		{"an empty list", `, "contextual": {"options": []}`, []theme.Action{{Name: "copy", Href: "a.md"}, {Name: "view", Href: "a.md"}}},
		{"services", `, "contextual": {"options": ["view", "claude", "mcp", "assistant"]}`, []theme.Action{
			{Name: "view", Href: "a.md"},
			{
				Name: "claude", Label: "Open in Claude", Description: "Ask questions about this page", Icon: "claude", External: true,
				Href: "https://claude.ai/new?q=Read+https%3A%2F%2Fdocs.example%2Fx%2Fa.md+so+that+I+can+ask+questions+about+it.",
			},
		}},
		{"the author's own", `, "contextual": {"options": [{"title": "T", "description": "D", "icon": "plus", "iconType": "light", "href": "/x/b"},
			{"title": "Q", "href": {"base": "https://q.example/s?a=1#f", "query": [{"key": "q&", "value": "About $path & $page"}]}},
			{"title": "P", "href": "https://p.example$path"}, {"title": "M", "href": "https://m.example/$mcp"}, {"title": "J", "href": "javascript:x"}]}`, []theme.Action{
			{Label: "T", Description: "D", Icon: ":light:plus", Href: "../x/b.html"},
			{Label: "Q", Href: "https://q.example/s?a=1&q%26=About+%2Fx%2Fa+%26+https%3A%2F%2Fdocs.example%2Fx%2Fa.md#f", External: true},
			{Label: "P", Href: "https://p.example/x/a", External: true},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := viewsOf(t, `{"name": "x", "navigation": {"pages": ["x/a", "x/b"]}`+c.contextual+`}`, "x/a|", "x/b|")
			i := lookup(t, v, "x/a")
			if d := cmp.Diff(c.want, v.actionsFor(frameOf(v, i), &v.site.Pages[i])); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Links to sources and issues follow the forge, and are there only where a site
// asks for them.
func TestForge(t *testing.T) {
	p := &site.Page{Source: "guides/a b.mdx", Title: "A & B"}
	on := func(url, branch, dir string) site.Repository {
		return site.Repository{URL: url, Branch: branch, Directory: dir, Edit: true, Issues: true}
	}
	const file = "guides/a%20b.mdx"
	const issue = "?title=Documentation%3A+A+%26+B&body=Page%3A+https%3A%2F%2Fd.example%2Fx%0ASource%3A+guides%2Fa+b.mdx%0A%0A"
	for _, c := range []struct {
		name        string
		r           site.Repository
		of          string
		edit, issue string
	}{
		{"not asked for", site.Repository{URL: "https://github.com/o/r"}, "https://github.com/o/r", "", ""},
		{"GitHub", on("https://github.com/o/r", "main", "docs"), "", "https://github.com/o/r/edit/main/docs/" + file, "https://github.com/o/r/issues/new" + issue},
		{"GitHub, the default branch", on("https://github.com/o/r", "", ""), "", "https://github.com/o/r/blob/HEAD/" + file, "https://github.com/o/r/issues/new" + issue},
		{"GitLab of a company", on("https://gitlab.corp.example/g/s/r", "feature/x", ""), "", "https://gitlab.corp.example/g/s/r/-/edit/feature/x/" + file,
			"https://gitlab.corp.example/g/s/r/-/issues/new?issue%5Btitle%5D=Documentation%3A+A+%26+B&issue%5Bdescription%5D=Page%3A+https%3A%2F%2Fd.example%2Fx%0ASource%3A+guides%2Fa+b.mdx%0A%0A"},
		{"Bitbucket", on("https://bitbucket.org/o/r", "main", ""), "", "https://bitbucket.org/o/r/src/main/" + file + "?mode=edit", "https://bitbucket.org/o/r/issues/new?title=Documentation%3A+A+%26+B"},
		{"Codeberg", on("https://codeberg.org/o/r", "main", ""), "", "https://codeberg.org/o/r/_edit/main/" + file, "https://codeberg.org/o/r/issues/new" + issue},
		{"Codeberg, the default branch", on("https://codeberg.org/o/r", "", ""), "", "", "https://codeberg.org/o/r/issues/new" + issue},
		{"the project's", site.Repository{Issues: true}, "https://github.com/o/r.git", "", "https://github.com/o/r/issues/new" + issue},
		{"a forge that nobody knows", on("https://code.example/o/r", "main", ""), "", "", ""},
		{"a host without a repository", on("https://github.com/", "main", ""), "", "", ""},
		{"with a password", on("https://u:p@github.com/o/r", "main", ""), "", "", ""},
		{"of another kind", on("ssh://git@github.com/o/r", "main", ""), "", "", ""},
	} {
		f := newForge(c.r, c.of)
		if got := f.edit(p); got != c.edit {
			t.Errorf("%s: edit %s, want %s", c.name, got, c.edit)
		}
		if got := f.issue(p, "https://d.example/x"); got != c.issue {
			t.Errorf("%s: issue %s, want %s", c.name, got, c.issue)
		}
	}
}

// When a page changed last is shown where the site or the page asks for it.
func TestModified(t *testing.T) {
	at := time.Date(2025, 4, 3, 2, 1, 0, 0, time.UTC)
	for _, c := range []struct {
		metadata, head string
		shown          bool
	}{
		{"false", "", false}, {"true", "", true}, {"true", "timestamp: false", false}, {"false", "timestamp: true", true},
	} {
		v := viewsOf(t, `{"name": "x", "metadata": {"timestamp": `+c.metadata+`}, "navigation": {"pages": ["a"]}}`, "a|"+c.head)
		v.modified = func(string) time.Time { return at }
		if got := strings.Contains(string(v.Document(nil, 0, &page.Result{})), "2025"); got != c.shown {
			t.Errorf("site %s, page %q: shown is %v", c.metadata, c.head, got)
		}
	}
}

// A page with a url is a way to elsewhere, also for those who have its address.
func TestPageThatLeadsElsewhere(t *testing.T) {
	v := viewsOf(t, `{"name": "x", "navigation": {"pages": ["x/out", "x/in", "x/bad"]}}`,
		"x/bad|url: javascript:x", "x/in|url: /x/out#p", "x/out|url: https://o.example/?a=1&b=2")
	for address, want := range map[string]string{
		"x/out": `content="0; url=https://o.example/?a=1&amp;b=2"`, "x/in": `content="0; url=../x/out.html#p"`, "x/bad": ">Bad</h1>",
	} {
		doc := string(v.Document(nil, lookup(t, v, address), &page.Result{}))
		if !strings.Contains(doc, want) || strings.Contains(doc, "javascript:") {
			t.Errorf("%s lacks %s", address, want)
		}
	}
}

// What stands above a title is the whole way or the section, as the site wants.
func TestEyebrows(t *testing.T) {
	for eyebrows, want := range map[string]string{"section": "Inner", "breadcrumbs": "Outer Inner"} {
		v := viewsOf(t, `{"name": "x", "styling": {"eyebrows": "`+eyebrows+`"}, "navigation": {"groups": [{"group": "Outer", "pages": [{"group": "Inner", "pages": ["a"]}]}]}}`, "a|")
		var got []string
		for _, l := range v.breadcrumbs(0) {
			got = append(got, l.Label)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", eyebrows, s, want)
		}
	}
}

// A page's own entries of its head go before the site's.
func TestMetaOfPages(t *testing.T) {
	v := viewsOf(t, `{"name": "x", "seo": {"metatags": {"og:image": "/logo.svg", "twitter:site": "@site", "og:locale": "en"}}, "navigation": {"pages": ["a", "b"]}}`,
		"a|", "b|\"og:image\": https://p.example/x.png\n\"twitter:site\": \"@page\"")
	image, meta := v.metaOf(0)
	if d := cmp.Diff([]theme.Meta{{Name: "twitter:site", Content: "@site"}, {Name: "og:locale", Content: "en"}}, meta); d != "" || image != "https://docs.example/logo.svg" {
		t.Errorf("%s %s", image, d)
	}
	image, meta = v.metaOf(1)
	if d := cmp.Diff([]theme.Meta{{Name: "twitter:site", Content: "@page"}, {Name: "og:locale", Content: "en"}}, meta); d != "" || image != "https://p.example/x.png" {
		t.Errorf("%s %s", image, d)
	}
}

// The pictures that services show beside links have whole addresses, and those that
// are not there give way: a page's to the site's, and the site's to drawn ones.
func TestPicturesForLinks(t *testing.T) {
	for _, tt := range []struct{ site, page, image, twitter string }{
		{"/logo.svg", "", "https://docs.example/logo.svg", "https://docs.example/logo.svg"},
		{"/logo.svg", "/gone.png", "https://docs.example/logo.svg", "https://docs.example/logo.svg"},
		{"/gone.png", "/logo.svg", "https://docs.example/logo.svg", "https://docs.example/logo.svg"},
		{"/gone.png", "../logo.svg", "https://docs.example/logo.svg", "https://docs.example/logo.svg"},
		{"/gone.png", "/gone.png", "https://docs.example/bindery/og/", ""},
		{"https://p.example/x.png", "data:image/png;base64,AA", "https://p.example/x.png", "https://p.example/x.png"},
		{"/logo.svg", "https://p.example/kept.png", "https://docs.example/bindery/remote/kept.png", "https://docs.example/bindery/remote/kept.png"},
	} {
		head := "x: y"
		if tt.page != "" {
			head = fmt.Sprintf("\"og:image\": %s\n\"twitter:image\": %[1]s", tt.page)
		}
		v := viewsOf(t, fmt.Sprintf(`{"name": "x", "seo": {"metatags": {"og:image": %q, "twitter:image": %[1]q}}, "navigation": {"pages": ["a", "in/b"]}}`, tt.site), "a|", "in/b|"+head)
		v.site.Remote = map[string]string{"https://p.example/kept.png": "bindery/remote/kept.png"}
		var image, twitter string
		doc := string(v.Document(nil, 1, &page.Result{}))
		for _, m := range regexp.MustCompile(`<meta (?:name|property)="((?:og|twitter):image)" content="([^"]*)">`).FindAllStringSubmatch(doc, -1) {
			if m[1] == "og:image" {
				image += m[2]
			} else {
				twitter += m[2]
			}
		}
		if !strings.HasPrefix(image, tt.image) || twitter != tt.twitter {
			t.Errorf("site %s, page %s: %q and %q", tt.site, tt.page, image, twitter)
		}
	}
}

// A group that asks for it is listed on its root page, as cards or to open, in
// HTML and in the Markdown copy.
func TestDirectory(t *testing.T) {
	const nav = `{"name": "x", "navigation": {"directory": "card", "groups": [{"group": "All", "root": "d/index", "directory": "%", "pages": [
		"d/index", "d/a", "d/hidden", {"group": "In <it>", "icon": "book", "pages": ["d/b", {"group": "Deep", "pages": ["d/c"]}]},
		{"group": "Own", "root": "d/own", "pages": ["d/e"]}, {"group": "Off", "hidden": true, "pages": ["d/f"]},
		{"title": "Out", "href": "https://o.example"}, {"group": "Empty", "pages": []}]}]}}`
	for directory, want := range map[string]string{
		"card": `<div class="bdy-columns bdy-cols-2 bdy-directory"><div class="card bdy-card"><div class="bdy-card-body"><p class="bdy-card-title"><a class="bdy-card-link" href="d/a.html">A &amp; B</a></p><p class="bdy-card-description">About it</p></div></div>` +
			`<div class="card bdy-card">BOOK<div class="bdy-card-body"><p class="bdy-card-title"><a class="bdy-card-link" href="d/b.html">In &lt;it&gt;</a></p></div></div>` +
			`<div class="card bdy-card"><div class="bdy-card-body"><p class="bdy-card-title"><a class="bdy-card-link" href="d/own.html">Own</a></p></div></div>` +
			`<div class="card bdy-card"><div class="bdy-card-body"><p class="bdy-card-title"><a class="bdy-card-link" href="https://o.example">Out</a></p></div></div></div>` + "\n",
		"accordion": `<div class="bdy-directory"><ul><li><a href="d/a.html">A &amp; B</a>: About it</li><li><a href="https://o.example">Out</a></li></ul><div class="accordion-group bdy-accordion-group">` +
			`<details class="accordion bdy-accordion"><summary>BOOK<span class="bdy-disclosure-title">In &lt;it&gt;</span></summary><div class="bdy-disclosure-body"><ul><li><a href="d/b.html">B</a></li><li><a href="d/c.html">Deep</a></li></ul></div></details>` +
			`<details class="accordion bdy-accordion"><summary><span class="bdy-disclosure-title">Own</span></summary><div class="bdy-disclosure-body"><ul><li><a href="d/e.html">E</a></li></ul></div></details></div></div>` + "\n",
		"none": "",
	} {
		v := viewsOf(t, strings.Replace(nav, "%", directory, 1),
			"d/a|title: A & B\ndescription: About it", "d/b|", "d/c|", "d/e|", "d/f|", "d/hidden|hidden: true", "d/index|", "d/own|")
		res := withDirectory(t, v, "d/index")
		book, _ := v.theme.Icon("book", "", "")
		class := map[string]string{"card": "bdy-card-icon", "accordion": "bdy-disclosure-icon"}[directory]
		want = "<p>x</p>\n" + strings.Replace(want, "BOOK", `<span class="`+class+`">`+book+`</span>`, 1)
		if d := cmp.Diff(want, string(res.HTML)); d != "" {
			t.Errorf("%s (-want +got):\n%s", directory, d)
		}
		text := "# D\n\nx\n"
		if directory != "none" {
			text += "\n- [A & B](d/a.md): About it\n- [In <it>](d/b.md)\n  - [B](d/b.md)\n  - [Deep](d/c.md)\n- [Own](d/own.md)\n  - [E](d/e.md)\n- [Out](https://o.example)\n"
		}
		if d := cmp.Diff(text, string(res.Markdown)); d != "" {
			t.Errorf("%s (-want +got):\n%s", directory, d)
		}
	}
	v := viewsOf(t, strings.Replace(nav, "%", "card", 1), "d/a|", "d/own|", "d/e|")
	if res := withDirectory(t, v, "d/own"); !strings.Contains(string(res.HTML), "d/e.html") {
		t.Error("a group does not inherit the directory of the one around it")
	}
}

// withDirectory renders a page that says "x", with its directory.
func withDirectory(t *testing.T, v *Views, name string) *page.Result {
	i := lookup(t, v, name)
	pages := page.New(page.Options{
		Site: v.site, FS: fstest.MapFS{v.site.Pages[i].Source: {Data: []byte("x\n")}}, After: v.Directory,
		Registry: component.NewRegistry(append(component.Builtin().All(), Components()...)...),
	})
	res, err := pages.Render(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
