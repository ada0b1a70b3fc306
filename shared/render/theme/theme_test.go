package theme

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/words"
	"github.com/bindery-docs/bindery/tests/outside"
)

func newTheme(t testing.TB, cfg Config) *Theme {
	t.Helper()
	if cfg.SiteName == "" {
		cfg.SiteName = "Acme"
	}
	th, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// sampleView has something in every part of the page.
func sampleView(th *Theme) *View {
	return &View{
		Title: "Start", Description: "How to start.", Canonical: "https://docs.example.com/guides/start",
		Image: "https://docs.example.com/bindery/og/1.png", ImageDrawn: true,
		Trail: []Link{{Label: "Docs", Href: "https://docs.example.com/"}, {Label: "<Guides>", Href: "https://docs.example.com/guides"}, {Label: "Start", Href: "https://docs.example.com/guides/start"}},
		Root:  "../", Markdown: "start.md", CurrentKey: 2, Tag: "Beta",
		Banner: &Banner{HTML: []byte("<p>News</p>"), Dismissible: true},
		Header: Header{
			Tabs:     []Tab{{Label: "Guides", Href: "start.html", Current: true}, {Label: "More", Menu: []Option{{Label: "API", Href: "../api.html", Description: "All calls"}}}},
			Switches: []Switch{{Kind: "version", Options: []Option{{Label: "v2", Href: "start.html", Current: true}, {Label: "v1", Href: "../v1/start.html", Tag: "Old"}}}},
			Links:    []Link{{Label: "Help", Href: "https://example.com/help"}},
			Primary:  &Link{Label: "Log in", Href: "https://example.com/login"},
		},
		Sidebar: th.Sidebar(SidebarView{
			Anchors: []Anchor{{Label: "Docs", Href: "start.html", Icon: "book", Current: true}},
			Items: []NavItem{
				{Label: "Basics", Key: -1, Children: []NavItem{
					{Label: "Intro", Href: "intro.html", Key: 1},
					{Label: "Deeper", Key: -1, Children: []NavItem{{Label: "Start", Href: "start.html", Key: 2}}},
				}},
				{Label: "Elsewhere", Href: "https://example.com", Key: -1, External: true},
			},
		}),
		Breadcrumbs: []Link{{Label: "Basics", Href: "intro.html"}, {Label: "Deeper"}},
		Contents:    []Heading{{ID: "one", Text: "One", Level: 2}, {ID: "two", Text: "Two", Level: 3}},
		Body:        []byte(`<h2 id="one">One</h2><p>Text.</p><h3 id="two">Two</h3>`),
		Prev:        &Link{Label: "Intro", Href: "intro.html"},
		Next:        &Link{Label: "End", Href: "end.html"},
		Footer:      Footer{Socials: []Link{{Label: "GitHub", Href: "https://github.com/example", Icon: "github"}}, Columns: []FooterColumn{{Title: "Legal", Links: []Link{{Label: "Terms", Href: "https://example.com/terms"}}}}},
		EditURL:     "https://forge.example.com/edit/start.mdx", IssueURL: "https://forge.example.com/issues/new",
		Modified: time.Date(2026, 3, 9, 23, 30, 0, 0, time.UTC),
		Actions: []Action{
			{Name: "copy", Href: "start.md"}, {Name: "view", Href: "start.md"},
			{Name: "claude", Label: "Ask Claude", Description: "About this page", Href: "https://claude.ai/new?q=x", External: true},
		},
		Alternates: []Alternate{{"en", "https://docs.example.com/guides/start"}, {"ar", "https://docs.example.com/ar/guides/start"}},
		Styles:     []string{"../a.css", "../b.css"},
		Scripts:    []string{"../a.js"},
	}
}

// The hash in a file's name changes with every change of the styles; golden
// files shall not.
var hashed = regexp.MustCompile(`\.[0-9a-f]{12}\.`)

// layout makes one line of each element, for people who read the golden files.
func layout(doc []byte) []byte {
	doc = hashed.ReplaceAll(doc, []byte(".HASH."))
	return regexp.MustCompile(`(</?(?:head|body|header|nav|main|article|div|ul|ol|li|details|footer|meta|link|script|title|button|h1|p)\b)`).ReplaceAll(doc, []byte("\n$1"))
}

func TestDocument(t *testing.T) {
	th := newTheme(t, Config{
		Logo: Logo{Light: "/logo/light.svg", Dark: "/logo/dark.svg"}, Favicon: "/favicon.svg",
	})
	plain := &View{Title: "Only a title", Root: "", CurrentKey: -1}
	tests := []struct {
		name string
		view func() *View
	}{
		{"full", func() *View { return sampleView(th) }},
		{"bare", func() *View { return plain }},
		{"custom", func() *View { v := sampleView(th); v.Mode = ModeCustom; return v }},
		{"frame", func() *View { v := sampleView(th); v.Mode = ModeFrame; return v }},
		{"center", func() *View { v := sampleView(th); v.Mode = ModeCenter; return v }},
		{"arabic", func() *View { v := sampleView(th); v.Lang = "ar"; return v }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := layout(th.Document(nil, tt.view()))
			file := filepath.Join("testdata", tt.name+".html")
			golden.Same(t, file, got)
		})
	}
}

// walk calls fn for every element.
func walk(n *html.Node, fn func(*html.Node)) {
	if n.Type == html.ElementNode {
		fn(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, fn)
	}
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func parse(t testing.TB, doc []byte) *html.Node {
	t.Helper()
	n, err := html.Parse(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPagesNeedNoServerNoNetworkAndNoInlineScript(t *testing.T) {
	th := newTheme(t, Config{Favicon: "favicon.svg", Logo: Logo{Light: "l.svg"}})
	docs := map[string][]byte{
		"page": th.Document(nil, sampleView(th)), "404": th.NotFound("https://docs.example.com/", []Link{{Label: "Guides", Href: "https://docs.example.com/guides"}}, true), "redirect": th.RedirectPage("../", "a/b.html", ""),
	}
	for name, doc := range docs {
		ids, targets := map[string]bool{}, map[string]bool{}
		walk(parse(t, doc), func(n *html.Node) {
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s> has the handler %s", name, n.Data, a.Key)
				case a.Key == "popovertarget" || a.Key == "aria-labelledby":
					targets[a.Val] = true
				case a.Key == "style":
					t.Errorf("%s: <%s> has an inline style", name, n.Data)
				case (a.Key == "href" || a.Key == "src") && strings.HasPrefix(a.Val, "/"):
					t.Errorf("%s: %s=%q depends on the server's root", name, a.Key, a.Val)
				case a.Key == "src" && strings.Contains(a.Val, "://"):
					t.Errorf("%s: %q is loaded from the network", name, a.Val)
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("%s: id %q twice", name, a.Val)
				case a.Key == "id":
					ids[a.Val] = true
					if !strings.HasPrefix(a.Val, "bindery-") && !hookIDs[a.Val] && a.Val != "one" && a.Val != "two" {
						t.Errorf("%s: id %q may be that of a heading", name, a.Val)
					}
				}
			}
			if n.Data == "script" {
				typ, _ := attr(n, "type")
				if _, ok := attr(n, "src"); !ok && typ != "application/ld+json" && name != "404" { // its hash is in the policy
					t.Errorf("%s: an inline script", name)
				}
				if typ == "module" {
					t.Errorf("%s: module scripts do not run from a folder", name)
				}
			}
		})
		for id := range targets {
			if !ids[id] {
				t.Errorf("%s: nothing has the id %q", name, id)
			}
		}
	}
	for _, a := range th.Assets() {
		for _, bad := range []string{"@import", "url(http", "url(//", "import(", "mask:", "mask-image", "new Worker", "XMLHttpRequest", "sourceMappingURL"} {
			if bytes.Contains(a.Data, []byte(bad)) {
				t.Errorf("%s holds %q", a.Path, bad)
			}
		}
		// The one use: the page's own Markdown, where there is a server.
		if n := bytes.Count(a.Data, []byte("fetch(")); n > 1 || n == 1 && !bytes.Contains(a.Data, []byte("dataset.binderyCopyPage")) {
			t.Errorf("%s fetches %d times", a.Path, n)
		}
	}
}

func TestAssetsAreNamedByTheirContent(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	a := newTheme(t, Config{Colors: Colors{Primary: "#123456"}})
	same := newTheme(t, Config{Colors: Colors{Primary: "#123456"}})
	other := newTheme(t, Config{Colors: Colors{Primary: "#654321"}})
	if diff := cmp.Diff(a.Assets(), same.Assets()); diff != "" {
		t.Errorf("the same site gives other files:\n%s", diff)
	}
	if a.css == other.css {
		t.Error("another colour gives a style sheet of the same name")
	}
	if a.js != other.js {
		t.Error("a colour changes the script")
	}
	doc := string(a.Document(nil, &View{Root: "../../"}))
	for _, as := range a.Assets() {
		if ext := path.Ext(as.Path); ext == ".woff2" || ext == ".txt" {
			if !regexp.MustCompile(`^bindery/(fonts/[a-z0-9-]+\.[0-9a-f]{12}\.woff2|licences\.[0-9a-f]{12}\.txt)$`).MatchString(as.Path) {
				t.Errorf("the path is %s", as.Path)
			}
			continue // the sheet refers to them
		}
		if strings.Contains(as.Path, "/folder.") {
			continue // boot.js refers to it
		}
		if as.Path == a.away {
			continue // pages that lead to others do
		}
		if !strings.Contains(doc, `"../../`+as.Path+`"`) {
			t.Errorf("the page does not refer to %s", as.Path)
		}
		if !regexp.MustCompile(`^bindery/(theme|boot)\.[0-9a-f]{12}\.(css|js)$`).MatchString(as.Path) {
			t.Errorf("the path is %s", as.Path)
		}
	}
}

func TestPartsOfOtherRoomsFollowTheThemes(t *testing.T) {
	th := newTheme(t, Config{CSS: []string{".bdy-card{color:red}", ".hl{color:blue}"}, JS: []string{"window.a=1", "window.b=2"}})
	for _, as := range th.Assets() {
		var first, second string
		switch {
		case strings.HasPrefix(as.Path, "bindery/theme.") && strings.HasSuffix(as.Path, ".css"):
			first, second = ".bdy-card{color:red}", ".hl{color:blue}"
		case strings.HasPrefix(as.Path, "bindery/theme."):
			first, second = "window.a=1", "window.b=2"
		default:
			continue
		}
		i, j := strings.Index(string(as.Data), first), strings.Index(string(as.Data), second)
		if i < 0 || j < i {
			t.Errorf("%s: %q at %d, %q at %d", as.Path, first, i, second, j)
		}
	}
}

// A site that asks for it has square corners: what it says stands before the
// theme's sizes and wins, for they are in :where.
func TestSharp(t *testing.T) {
	for _, sharp := range []bool{false, true} {
		for _, as := range newTheme(t, Config{Sharp: sharp}).Assets() {
			if strings.HasPrefix(as.Path, "bindery/theme.") && strings.HasSuffix(as.Path, ".css") {
				if got := strings.Contains(string(as.Data), "--r:0;--r-lg:0"); got != sharp {
					t.Errorf("sharp is %t: square corners are %t", sharp, got)
				}
			}
		}
	}
}

// A page loads these before it shows anything, with the parts of all rooms, as
// an export puts them together: at most 20 kB of styles and 15 kB of scripts,
// compressed.
func TestSizeBudget(t *testing.T) {
	sum := map[string]int{}
	for _, as := range newTheme(t, Config{
		CSS: []string{component.CSS(), highlight.CSS()}, JS: []string{component.JS(nil)},
	}).Assets() {
		if strings.Contains(as.Path, "/folder.") {
			continue // never comes over a network
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(as.Data); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		sum[path.Ext(as.Path)] += packed.Len()
	}
	for ext, limit := range map[string]int{".css": 20 << 10, ".js": 15 << 10} {
		t.Logf("%s: %d bytes compressed", ext, sum[ext])
		if sum[ext] == 0 || sum[ext] > limit {
			t.Errorf("%d bytes of %s, limit %d", sum[ext], ext, limit)
		}
	}
}

func TestSiteFilesComeAfterTheThemes(t *testing.T) {
	th := newTheme(t, Config{})
	doc := string(th.Document(nil, sampleView(th)))
	at := -1
	for _, s := range []string{"../" + th.boot, "../" + th.css, `"../a.css"`, `"../b.css"`, "../" + th.js, `"../a.js"`} {
		i := strings.Index(doc, s)
		if i <= at {
			t.Errorf("%s stands at %d, after %d expected", s, i, at)
		}
		at = i
	}
}

func TestNotFoundStandsAlone(t *testing.T) {
	for _, base := range []string{"", "https://docs.example.com/"} {
		links, icons := 0, 0
		walk(parse(t, newTheme(t, Config{}).NotFound(base, nil, base != "")), func(n *html.Node) {
			if n.Data == "link" {
				rel, _ := attr(n, "rel")
				href, _ := attr(n, "href")
				if rel != "icon" || !strings.HasPrefix(href, "data:") {
					t.Errorf("base %q: a link to %q", base, href)
				}
				icons++
			}
			if _, ok := attr(n, "src"); ok {
				t.Errorf("base %q: <%s> refers to a file", base, n.Data)
			}
			if n.Data == "a" {
				links++
				if h, _ := attr(n, "href"); h != base {
					t.Errorf("base %q: links to %q", base, h)
				}
			}
		})
		if (links == 2) != (base != "") { // the site's name, and home
			t.Errorf("base %q: %d links home", base, links)
		}
		if icons != 1 {
			t.Errorf("base %q: %d icons; without one a browser asks for /favicon.ico", base, icons)
		}
	}
}

func TestRedirectPage(t *testing.T) {
	th := newTheme(t, Config{})
	tests := []struct{ to, refresh, link string }{
		{"guides/start.html", "0; url=guides/start.html", "guides/start.html"},
		{"a b.html", "0; url=a%20b.html", "a b.html"},
		{`x"><script>`, `0; url=x%22><script>`, `x"><script>`},
		{"javascript:alert(1)", "0; url=#", "#"},
	}
	for _, tt := range tests {
		var refresh, link string
		walk(parse(t, th.RedirectPage("", tt.to, "")), func(n *html.Node) {
			if e, _ := attr(n, "http-equiv"); e == "refresh" {
				refresh, _ = attr(n, "content")
			}
			if n.Data == "a" {
				link, _ = attr(n, "href")
			}
			if src, _ := attr(n, "src"); n.Data == "script" && src != th.away {
				t.Errorf("%q: the script %q", tt.to, src)
			}
		})
		if refresh != tt.refresh || link != tt.link {
			t.Errorf("%q: refresh %q, link %q", tt.to, refresh, link)
		}
	}
}

// A tag that the author sets is there once, with what the author says; one that
// the author leaves empty is ours.
func TestTagsOfTheAuthorStandAlone(t *testing.T) {
	head := string(newTheme(t, Config{SiteName: "Site"}).appendHead(nil, &View{Title: "Page", Meta: []Meta{
		{"og:title", "Mine"}, {"OG:type", "website"}, {"twitter:card", "player"}, {"og:site_name", ""}, {"og:locale", "en"},
	}}))
	for want, n := range map[string]int{
		`"og:title"`: 1, `"Mine"`: 1, `"article"`: 0, `"website"`: 1, `"twitter:card"`: 1, `"player"`: 1, `"og:site_name" content="Site"`: 1, `"og:locale"`: 1,
	} {
		if got := strings.Count(head, want); got != n {
			t.Errorf("%s is there %d times, want %d:\n%s", want, got, n, head)
		}
	}
}

// A small picture may be in the address itself; other data, and files of the
// reader's machine, are no pictures of a site.
func TestPicturesInAddresses(t *testing.T) {
	for logo, want := range map[string]string{
		"data:image/svg+xml,%3Csvg%3E": `<img class="nav-logo" src="data:image/svg+xml,%3Csvg%3E" alt="">`,
		"data:text/html,x":             `<img class="nav-logo" src="#" alt="">`,
		"file:///logo.svg":             `<img class="nav-logo" src="#" alt="">`,
	} {
		th := newTheme(t, Config{SiteName: "Docs", Logo: Logo{Light: logo}})
		if page := string(th.Document(nil, &View{Title: "A"})); !strings.Contains(page, want) {
			t.Errorf("the logo %s is not shown as %s", logo, want)
		}
	}
}

func TestDay(t *testing.T) {
	at := time.Date(2026, 3, 9, 23, 30, 0, 0, time.FixedZone("", -7200)) // the 10th in UTC
	for lang, want := range map[string]string{
		"en": "10 March 2026", "de": "10. März 2026", "fr": "10 mars 2026", "es": "10 de marzo de 2026",
		"ru": "10 марта 2026 г.", "ja": "2026年3月10日", "zh": "2026年3月10日", "ko": "2026년 3월 10일", "ar": "10 مارس 2026",
		"hu": "2026. március 10.", "he": "10 במרץ 2026", "uz": "2026-yil 10-mart", "vi": "10 tháng 3, 2026", "zh-Hant": "2026年3月10日",
	} {
		if got := day(words.In(lang), at); got != want {
			t.Errorf("%s: the day is %q, want %q", lang, got, want)
		}
	}
}

// A page without a language is in the site's; one in a language that there are
// no words of is in English, in that language's direction.
func TestLanguages(t *testing.T) {
	th := newTheme(t, Config{Lang: "de"})
	for lang, want := range map[string]string{
		"": `<html lang="de" dir="ltr"`, "he": `<html lang="he" dir="rtl"`, "sw": `<html lang="sw" dir="ltr"`, "ur": `<html lang="ur" dir="rtl"`,
	} {
		doc := string(th.Document(nil, &View{Lang: lang}))
		skip := map[string]string{"": "Zum Inhalt", "he": "דילוג לתוכן"}[lang]
		if skip == "" {
			skip = "Skip to content"
		}
		if !strings.Contains(doc, want) || !strings.Contains(doc, ">"+skip+"</a>") {
			t.Errorf("%q: want %s and %s in\n%s", lang, want, skip, doc)
		}
	}
}

func TestAppearance(t *testing.T) {
	tests := []struct {
		appearance     string
		strict         bool
		dark, toggle   bool
		dataAppearance string
	}{
		{"", false, false, true, ""},
		{"system", false, false, true, ""},
		{"light", false, false, true, "light"},
		{"dark", false, true, true, "dark"},
		{"dark", true, true, false, "dark"},
		{"light", true, false, false, "light"},
	}
	for _, tt := range tests {
		th := newTheme(t, Config{Appearance: tt.appearance, Strict: tt.strict})
		toggle, dark, data := false, false, ""
		walk(parse(t, th.Document(nil, &View{Title: "x"})), func(n *html.Node) {
			if _, ok := attr(n, "data-bindery-appearance-menu"); ok {
				toggle = true
			}
			if n.Data == "html" {
				c, _ := attr(n, "class")
				dark = strings.Contains(" "+c+" ", " dark ")
				data, _ = attr(n, "data-bindery-appearance")
			}
		})
		if toggle != tt.toggle || dark != tt.dark || data != tt.dataAppearance {
			t.Errorf("%q strict=%v: toggle %v, dark %v, data %q", tt.appearance, tt.strict, toggle, dark, data)
		}
	}
}

// FuzzDocument puts hostile text everywhere: it may change no element and no
// attribute, and must come out as it went in.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"plain", `"><script>alert(1)</script>`, "' onload=x", "</title><b>", "&amp; &lt;", "a\u202eb", "\xff\xfe", "]]>", "<!--", "javascript:alert(1)"} {
		f.Add(s)
	}
	th := newTheme(f, Config{})
	shape := func(t *testing.T, s string) string {
		v := &View{
			Title: s, Description: s, Canonical: s, Root: "", CurrentKey: 1, Tag: s, Image: s, Markdown: s,
			Meta: []Meta{{"keywords", s}}, Trail: []Link{{Label: s, Href: s}, {Label: s, Href: s}},
			Header: Header{Tabs: []Tab{{Label: s, Href: s}}, Switches: []Switch{{Kind: s, Options: []Option{{Label: s, Href: s, Tag: s, Description: s, Lang: s}}}}, Links: []Link{{Label: s, Href: s}}, Primary: &Link{Label: s, Href: s}},
			Sidebar: th.Sidebar(SidebarView{Anchors: []Anchor{{Label: s, Href: s}}, Items: []NavItem{
				{Label: s, Href: s, Key: 1, Tag: s, Method: s}, {Label: s, Key: -1, Children: []NavItem{{Label: s, Key: -1, Children: []NavItem{{Label: s, Href: s, Key: 2}}}}},
			}}),
			Breadcrumbs: []Link{{Label: s, Href: s}}, Contents: []Heading{{ID: s, Text: s, Level: 2}},
			Prev: &Link{Label: s, Href: s}, Next: &Link{Label: s, Href: s},
			Footer: Footer{Socials: []Link{{Label: s, Href: s}}, Columns: []FooterColumn{{Title: s, Links: []Link{{Label: s, Href: s}}}}},
			Styles: []string{s}, Scripts: []string{s}, EditURL: s, IssueURL: s,
			Actions:    []Action{{Name: "copy", Href: s}, {Label: s, Description: s, Href: s}},
			Alternates: []Alternate{{s, s}},
		}
		var b strings.Builder
		walk(parse(t, th.Document(nil, v)), func(n *html.Node) {
			b.WriteString(n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key)
			}
			if n.Data == "a" {
				if h, _ := attr(n, "href"); strings.HasPrefix(strings.ToLower(strings.TrimSpace(h)), "javascript:") {
					t.Errorf("%q: a link runs a script", s)
				}
			}
			b.WriteByte('\n')
		})
		return b.String()
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || s == "version" || s == "language" || s == "product" || isPicture(s) {
			t.Skip("changes the parts that are shown, as it should")
		}
		if diff := cmp.Diff(shape(t, "x"), shape(t, s)); diff != "" {
			t.Errorf("%q changes the page:\n%s", s, diff)
		}
	})
}

// Whoever sets a strict policy needs the hash of the one style that stands in a
// page.
func TestPolicySources(t *testing.T) {
	th := newTheme(t, Config{})
	for name, doc := range map[string][]byte{"404": th.NotFound("https://docs.example.com/", []Link{{Label: "Guides", Href: "https://docs.example.com/guides"}}, true), "redirect": th.RedirectPage("", "a.html", "")} {
		styles := 0
		walk(parse(t, doc), func(n *html.Node) {
			if n.Data != "style" {
				return
			}
			styles++
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			if got := th.PolicySources()["style-src"]; len(got) != 1 || got[0] != want {
				t.Errorf("%s: the policy allows %q, the style is %s", name, got, want)
			}
		})
		if styles != 1 {
			t.Errorf("%s: %d styles", name, styles)
		}
	}
}

// What a site's settings load from elsewhere is named by its host.
func TestPolicySourcesOfSettings(t *testing.T) {
	th := newTheme(t, Config{
		Logo:    Logo{Light: "https://Pictures.example/a.svg", Dark: "https://pictures.example/b.svg"},
		Favicon: "icon.png",
		Fonts:   Fonts{Body: Font{Family: "Own", Source: "https://fonts.example:8443/own.woff2", Format: "woff2"}},
	})
	got := th.PolicySources()
	if diff := cmp.Diff([]string{"data:", "https://pictures.example"}, got["img-src"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"https://fonts.example:8443"}, got["font-src"]); diff != "" {
		t.Error(diff)
	}
}

// A link without a label shows its icon, and no address, which would fill the header.
func TestLinksWithAnIconOnly(t *testing.T) {
	th := newTheme(t, Config{SiteName: "Docs"})
	v := &View{Title: "T", Header: Header{Links: []Link{
		{Label: "https://a.example/long", Href: "https://a.example/long", Icon: "github", IconOnly: true},
		{Label: "https://b.example", Href: "https://b.example", Icon: "no-such-icon", IconOnly: true},
	}}}
	got := string(th.Document(nil, v))
	for _, want := range []string{`</svg><span class="bdy-sr">https://a.example/long</span></a>`, `<a href="https://b.example"><span>https://b.example</span></a>`} {
		if !strings.Contains(got, want) {
			t.Errorf("the header has no %s", want)
		}
	}
}
