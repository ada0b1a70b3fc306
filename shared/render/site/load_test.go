package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/base/ignore"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// files makes a file system from pairs of a name and a text.
func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func loadFS(t testing.TB, fsys fstest.MapFS, opt Options) (*Site, []mdx.Diagnostic, error) {
	t.Helper()
	paths := make([]string, 0, len(fsys))
	for p := range fsys {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return Load(context.Background(), fsys, paths, opt)
}

// mustLoad loads a site and wants exactly these diagnostics' codes.
func mustLoad(t testing.TB, fsys fstest.MapFS, opt Options, codes ...string) *Site {
	t.Helper()
	s, diags, err := loadFS(t, fsys, opt)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range diags {
		got = append(got, d.Code)
	}
	if d := cmp.Diff(codes, got); d != "" {
		t.Errorf("diagnostics (-want +got):\n%s%v", d, diags)
	}
	return s
}

// outline writes a navigation as an indented list.
func outline(s *Site, n *Node) string {
	var b strings.Builder
	var walk func(n *Node, depth int)
	walk = func(n *Node, depth int) {
		b.WriteString(strings.Repeat("  ", depth))
		switch n.Kind {
		case KindPage:
			b.WriteString(s.Pages[n.Page].Address)
			if n.Label != "" {
				fmt.Fprintf(&b, " %q", n.Label)
			}
		default:
			fmt.Fprintf(&b, "%s %q", n.Kind, n.Label)
		}
		for _, f := range []struct {
			set  bool
			text string
		}{
			{n.Icon.Name != "", " icon=" + n.Icon.Name}, {n.Icon.Library != "", "/" + n.Icon.Library}, {n.Icon.Style != "", "!" + n.Icon.Style}, {n.Tag != "", " tag=" + n.Tag},
			{n.Href != "", " href=" + n.Href}, {n.Expanded, " expanded"}, {n.Hidden, " hidden"}, {n.Default, " default"},
			{n.OpenAPI != "", " openapi=" + n.OpenAPI}, {n.Directory != "", " directory=" + n.Directory},
		} {
			if f.set {
				b.WriteString(f.text)
			}
		}
		if n.Root >= 0 {
			b.WriteString(" root=" + s.Pages[n.Root].Address)
		}
		b.WriteByte('\n')
		for _, c := range n.Children {
			walk(c, depth+1)
		}
	}
	for _, c := range n.Children {
		walk(c, 0)
	}
	return b.String()
}

// All forms of a navigation give a tree of the same kind.
func TestNavigation(t *testing.T) {
	for _, c := range []struct {
		name, nav, want string
		codes           []string
	}{
		{"pages", `{"pages": ["a", "/b", "dir/index", "c.mdx"]}`, "a\nb\ndir/index\nc\n", nil},
		{"a folder's index by its folder", `{"pages": ["dir"]}`, "dir/index\n", nil},
		{"a bare list", `["a", {"group": "G", "pages": ["b"]}]`, "a\ngroup \"G\"\n  b\n", nil},
		{"groups in groups", `{"groups": [{"group": "G", "icon": "rocket", "tag": "New", "expanded": true, "pages": ["a",
			{"group": "H", "icon": {"name": "bolt", "style": "solid", "library": "lucide"}, "root": "b", "pages": ["c"]}]}]}`,
			"group \"G\" icon=rocket tag=New expanded\n  a\n  group \"H\" icon=bolt/lucide!solid root=b\n    c\n", nil},
		{"tabs", `{"tabs": [{"tab": "One", "groups": [{"group": "G", "pages": ["a"]}]}, {"tab": "Two", "icon": "x", "pages": ["b"]},
			{"tab": "Away", "href": "https://x.example"}]}`,
			"tab \"One\"\n  group \"G\"\n    a\ntab \"Two\" icon=x\n  b\ntab \"Away\" href=https://x.example\n", nil},
		{"a tab's menu", `{"tabs": [{"tab": "T", "menu": [{"item": "I", "groups": [{"group": "G", "pages": ["a"]}]}, {"item": "J", "href": "https://x.example"}]}]}`,
			"tab \"T\"\n  menu \"I\"\n    group \"G\"\n      a\n  menu \"J\" href=https://x.example\n", nil},
		{"versions in tabs", `{"tabs": [{"tab": "T", "versions": [{"version": "2", "default": true, "pages": ["a"]}, {"version": "1", "pages": ["b"]}]}]}`,
			"tab \"T\"\n  version \"2\" default\n    a\n  version \"1\"\n    b\n", nil},
		{"dropdowns in versions", `{"versions": [{"version": "1", "dropdowns": [{"dropdown": "D", "tabs": [{"tab": "T", "pages": ["a"]}]}]}]}`,
			"version \"1\"\n  dropdown \"D\"\n    tab \"T\"\n      a\n", nil},
		{"languages", `{"languages": [{"language": "en", "tabs": [{"tab": "T", "hidden": true, "pages": ["a"]}]}, {"language": "fr", "pages": ["b"]}]}`,
			"language \"en\"\n  tab \"T\" hidden\n    a\nlanguage \"fr\"\n  b\n", nil},
		{"products and anchors", `{"products": [{"product": "P", "anchors": [{"anchor": "A", "icon": "book", "pages": ["a"]}]}]}`,
			"product \"P\"\n  anchor \"A\" icon=book\n    a\n", nil},
		{"directories and specifications", `{"groups": [{"group": "G", "directory": "card", "openapi": {"source": "/api.json", "directory": "api"}, "pages": ["a"]}]}`,
			"group \"G\" openapi=/api.json directory=card\n  a\n", []string{"api-missing"}},
		{"links among pages", `{"pages": ["a", {"title": "Out", "href": "https://x.example", "icon": "y"}, {"page": "b", "title": "Bee"}, "https://z.example"]}`,
			"a\nlink \"Out\" icon=y href=https://x.example\nb \"Bee\"\nlink \"https://z.example\" href=https://z.example\n", nil},
		{"in another file", `{"$ref": "./nav/main.json"}`, "a\ngroup \"From a file of a file\"\n  b\n", nil},
		{"beside a reference", `{"pages": [{"$ref": "nav/group.json", "group": "Another name"}]}`, "group \"Another name\"\n  b\n", nil},
		{"pages that are missing", `{"pages": ["a", "nope", "GET /users", "openapi.json POST /users"]}`, "a\n", []string{"nav-missing", "nav-endpoint", "nav-endpoint"}},
		{"a file that is missing", `{"pages": ["a", {"$ref": "./none.json"}]}`, "a\n", []string{"config-ref"}},
		{"a reference to an address", `{"pages": ["a", {"$ref": "https://h.example/nav.json"}, {"$ref": "//h.example/nav.json"}]}`, "a\n", []string{"config-ref-address", "config-ref-address"}},
		{"a reference to itself", `{"pages": ["a", {"$ref": "./nav/loop.json"}]}`, "a\n", []string{"config-ref"}},
		{"other types", `{"pages": ["a", 7, {"group": 8, "pages": "b", "hidden": "yes"}, {}]}`, "a\ngroup \"8\"\n",
			[]string{"config-type", "config-type", "config-type", "nav-entry"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustLoad(t, files(
				"docs.json", `{"name": "x", "navigation": `+c.nav+`}`,
				"a.mdx", "", "b.mdx", "", "c.mdx", "", "dir/index.mdx", "",
				"nav/main.json", `{"pages": ["a", {"$ref": "group.json"}]}`,
				"nav/group.json", `{"group": "From a file of a file", "pages": ["b"]}`,
				"nav/loop.json", `{"$ref": "/nav/loop.json"}`,
			), Options{}, c.codes...)
			if d := cmp.Diff(c.want, outline(s, s.Nav)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if strings.Contains(fmt.Sprint(s.Files), "docs.json") {
				t.Error("the configuration is a file of the bundle")
			}
		})
	}
}

// Where a page stands follows from the first place that names it.
func TestPlaces(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"global": {"anchors": [{"anchor": "Forum", "href": "https://f.example"}]}, "tabs": [
		{"tab": "One", "groups": [{"group": "G", "pages": ["a", {"group": "H", "pages": ["b", "hidden", "c"]}]}]},
		{"tab": "Two", "pages": ["a", "d", "url"]}]}}`,
		"a.mdx", "", "b.mdx", "", "c.mdx", "", "d.mdx", "", "loose.mdx", "",
		"hidden.mdx", "---\nhidden: true\n---\n", "url.mdx", "---\nurl: https://x.example\n---\n"), Options{})
	page := func(address string) int {
		i, ok := s.Lookup(address)
		if !ok {
			t.Fatalf("no page %s", address)
		}
		return i
	}
	for _, c := range []struct{ page, trail, section, prev, next string }{
		{"a", "One G", "One", "", "b"},
		{"b", "One G H", "One", "a", "c"},
		{"hidden", "One G H", "One", "", ""},
		{"c", "One G H", "One", "b", ""},
		{"d", "Two", "Two", "", ""},
		{"loose", "", "", "", ""},
	} {
		i := page(c.page)
		var trail []string
		for _, n := range s.Trail(i) {
			trail = append(trail, n.Label)
		}
		section := ""
		if n := s.Section(i); n != nil {
			section = n.Label
		}
		name := func(i int) string {
			if i < 0 {
				return ""
			}
			return s.Pages[i].Address
		}
		got := [4]string{strings.Join(trail, " "), section, name(s.Prev(i)), name(s.Next(i))}
		if want := [4]string{c.trail, c.section, c.prev, c.next}; got != want {
			t.Errorf("%s: %q, want %q", c.page, got, want)
		}
	}
	if p := s.Pages[page("loose")]; p.InNav || !p.NoIndex {
		t.Errorf("a page outside the navigation: %+v", p)
	}
	if len(s.Global) != 1 || s.Global[0].Href != "https://f.example" {
		t.Errorf("global: %+v", s.Global)
	}
	if s.Pages[s.Home()].Address != "a" || s.DefaultSection().Label != "One" || s.Entry(s.Nav.Children[1]) != page("a") {
		t.Error("home is another page")
	}
}

// Anchors of the older form have the colour of colors.anchors, or one of their own; a
// gradient begins with its colour.
func TestLegacyAnchorColors(t *testing.T) {
	for _, c := range []struct{ colors, anchor, light, dark string }{
		{``, ``, "", ""},
		{`, "anchors": "#11aa22"`, ``, "#11aa22", "#11aa22"},
		{`, "anchors": {"from": "#11aa22", "to": "#33bb44"}`, ``, "#11aa22", "#11aa22"},
		{`, "anchors": {"to": "#33bb44"}`, ``, "#33bb44", "#33bb44"},
		{`, "anchors": {"from": "#11aa22", "via": "#22bb33", "to": "#33cc44"}`, ``, "#11aa22", "#11aa22"},
		{`, "anchors": "#11aa22"`, `, "color": "#5566ff"`, "#5566ff", "#5566ff"},
		{`, "anchors": {"from": "#11aa22", "to": "#33bb44"}`, `, "color": {"from": "#5566ff", "to": "#77aaff"}`, "#5566ff", "#5566ff"},
	} {
		s := mustLoad(t, files("mint.json", `{"name": "Old", "colors": {"primary": "#123456"`+c.colors+`}, "navigation": ["a"], "anchors": [
			{"name": "Forum", "icon": "comments", "url": "https://f.example"`+c.anchor+`}]}`, "a.mdx", ""), Options{})
		nodes := slices.Concat(s.Nav.Children, s.Global)
		i := slices.IndexFunc(nodes, func(n *Node) bool { return n.Kind == KindAnchor && n.Label == "Forum" })
		if i < 0 {
			t.Errorf("%s: there is no anchor", c.colors)
			continue
		}
		if n := nodes[i]; n.ColorLight != c.light || n.ColorDark != c.dark {
			t.Errorf("%s%s: light %q, dark %q, want %q and %q", c.colors, c.anchor, n.ColorLight, n.ColorDark, c.light, c.dark)
		}
	}
}

// Names that only begin like those of a bundle's own files are the author's.
func TestReserved(t *testing.T) {
	for p, want := range map[string]bool{
		"bindery": true, "bindery/search.js": true, "Bindery/x.png": true, "bindery.mdx": true, "bindery.md": true, "bindery.html": true, "bindery.json": true,
		"bindery.json.gz": true, "bindery.yaml": true, "bindery-dev/events": true,
		"bindery-guide.mdx": false, "bindery.png": false, "bindery.txt": false, "binderyx/y.mdx": false, "bindery-guide/a.mdx": false,
		"guides/bindery.mdx": false, "guides/bindery/x.mdx": false, "book": false, "": false,
	} {
		if got := Reserved(p); got != want {
			t.Errorf("%q: %t", p, got)
		}
	}
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a", "bindery-guide"]}}`,
		"a.mdx", "", "bindery-guide.mdx", "", "bindery.png", "x", "bindery.mdx", ""), Options{}, "name-reserved")
	if len(s.Pages) != 2 || s.Pages[1].Output != "bindery-guide.html" || !slices.Contains(s.Files, "bindery.png") {
		t.Errorf("the pages are %v, the files %v", s.Pages, s.Files)
	}
}

// What a file is follows from its path.
func TestFiles(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a", "CONTRIBUTING", "snippets/named"]}, "styles": "/z.css",
		"scripts": ["https://h.example/w.js?v=1#x", "b.js", "//h.example/w.js?v=1"]}`,
		"a.mdx", "", "b.md", "", "b.mdx", "", "c.md", "", "README.md", "", "sub/LICENSE.md", "", "CONTRIBUTING.md", "",
		"snippets/s.mdx", "", "snippets/named.mdx", "", "snippets/s.js", "", "snippets/pic.png", "", "x/_snippets/t.mdx", "",
		"components/c.jsx", "", "a.html", "", "a.md/x.txt", "", "LICENSE", "", "openapi.json", "{}",
		".hidden/x.mdx", "", ".well-known/y.txt", "", "node_modules/z.js", "",
		"bindery.json", "", "bindery/x.mdx", "", "y.css", "", "z.css", "", "a.js", "", "b.js", "",
	), Options{}, "name-reserved", "name-reserved", "page-shadowed", "file-left-out", "file-left-out", "file-shadowed")
	var pages []string
	for _, p := range s.Pages {
		pages = append(pages, p.Source)
	}
	if d := cmp.Diff([]string{"CONTRIBUTING.md", "a.mdx", "b.mdx", "c.md", "snippets/named.mdx"}, pages); d != "" {
		t.Errorf("pages (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{".well-known/y.txt", "a.js", "b.js", "openapi.json", "snippets/pic.png", "y.css", "z.css"}, s.Files); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if d := cmp.Diff([][]string{{"z.css", "y.css"}, {"https://h.example/w.js?v=1", "b.js", "a.js"}}, [][]string{s.Styles, s.Scripts}); d != "" {
		t.Errorf("styles and scripts (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Outside{{Address: "https://h.example/w.js?v=1", File: "docs.json", Line: 2, Column: 15}}, s.Outside); d != "" {
		t.Errorf("of other hosts (-want +got):\n%s", d)
	}
}

// The index of a folder has its files beside the folder, unless others have their names.
func TestIndexesBesideTheirFolders(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["index", "a/index", "a/deep/index", "page", "page/index", "file/index", "COPY/index", "odd/index", "odd.html/x"]}}`,
		"index.mdx", "", "a/index.mdx", "", "a/deep/index.mdx", "", "page.mdx", "", "page/index.mdx", "", "file/index.mdx", "", "file.html", "", "COPY/index.mdx", "", "copy.html", "", "odd/index.mdx", "", "odd.html/x.mdx", "",
	), Options{Publish: ignore.Parse("*.html")})
	got := map[string][2]string{}
	for _, p := range s.Pages {
		got[p.Source] = [2]string{p.Output, p.MarkdownPath()}
	}
	want := map[string][2]string{
		"index.mdx": {"index.html", "index.md"}, "a/index.mdx": {"a.html", "a.md"}, "a/deep/index.mdx": {"a/deep.html", "a/deep.md"},
		"page.mdx": {"page.html", "page.md"}, "page/index.mdx": {"page/index.html", "page/index.md"},
		"file/index.mdx": {"file/index.html", "file/index.md"}, "COPY/index.mdx": {"COPY/index.html", "COPY/index.md"},
		"odd/index.mdx": {"odd/index.html", "odd/index.md"}, "odd.html/x.mdx": {"odd.html/x.html", "odd.html/x.md"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"copy.html", "file.html"}, s.Files); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

// A letter with a mark can be written as one character or as two. Names of files have one
// form, and whatever names them may have either.
func TestUnicodeForms(t *testing.T) {
	const nfd, nfc = "u\u0308ber", "über"
	s := mustLoad(t, files("docs.json", `{"name": "x", "logo": "/img/`+nfd+`.svg", "navigation": {"pages": ["`+nfd+`", "teil/u\u0308ber"]},
		"redirects": [{"source": "/alt-`+nfd+`", "destination": "/`+nfd+`"}]}`,
		nfc+".mdx", "", "teil/"+nfc+".mdx", "", "img/"+nfc+".svg", "<svg/>"), Options{})
	for link, want := range map[string]string{
		"/" + nfd: nfc + ".html", "/u%CC%88ber": nfc + ".html", "teil/" + nfd: "teil/" + nfc + ".html",
		"/img/" + nfd + ".svg": "img/" + nfc + ".svg", "/alt-" + nfd: nfc + ".html", "/alt-" + nfc: nfc + ".html",
	} {
		if got := s.Resolve(0, link); got.Path != want || got.Kind == Missing {
			t.Errorf("%+q leads to %+v, want %s", link, got, want)
		}
	}
	if got := s.Resolve(0, "/"+nfd+"#gro\u0308ße"); got.Fragment != "größe" || !strings.HasSuffix(got.Href, "#größe") {
		t.Errorf("the link has the fragment %+q, and is %+q", got.Fragment, got.Href)
	}
}

// Names that differ only by case would overwrite each other on many disks: the second
// gets another. Names that not every disk and archive can carry get others, too.
func TestRenamedFiles(t *testing.T) {
	long := strings.Repeat("l", 250)
	s := mustLoad(t, files("docs.json", `{"name": "x", "logo": "/img/a%3Fb.svg", "navigation": {"pages": ["notes/16:30", "notes/16-30", "API", "api", "`+long+`", "aux/index"]}}`,
		"notes/16:30.mdx", "[other](./16-30) ![](/img/a?b.svg)", "notes/16-30.mdx", "", "API.mdx", "", "api.mdx", "", "aux/index.mdx", "",
		"a.../pic.png", "", "img/a?b.svg", "<svg/>", "img/A.png", "", "img/a.png", "", "img/a-b.svg", "", long+".mdx", "", ":x/only.mdx", "",
	), Options{}, "file-renamed", "file-renamed", "file-renamed", "file-renamed", "file-renamed", "file-renamed", "file-renamed", "file-renamed")
	moved := map[string]string{
		"/notes/16:30": "notes/16-30-2.html", "/notes/16%3A30": "notes/16-30-2.html", "/notes/16-30": "notes/16-30.html",
		"/API": "API.html", "/api": "api-2.html", "/aux": "aux-.html", "/aux/index": "aux-.html", "/:x/only": "-x/only.html",
		"/a.../pic.png": "a---/pic.png", "/img/a%3Fb.svg": "img/a-b-2.svg", "/img/a-b.svg": "img/a-b.svg", "/img/A.png": "img/A.png", "/img/a.png": "img/a-2.png",
	}
	for link, want := range moved {
		if got := s.Resolve(-1, link); got.Path != want || got.Kind == Missing {
			t.Errorf("%s leads to %+v, want %s", link, got, want)
		}
	}
	for i := range s.Pages {
		if p := &s.Pages[i]; filename.Fault(p.Address, filename.Page) != "" {
			t.Errorf("%s has the address %s", p.Source, p.Address)
		} else if !p.InNav && p.Source != ":x/only.mdx" {
			t.Errorf("%s is not in the navigation", p.Source)
		}
	}
	for _, f := range s.Files {
		if filename.Fault(f, filename.Compressed) != "" {
			t.Errorf("%s is among the files", f)
		}
	}
	var redirects []string
	for _, r := range s.Redirects {
		redirects = append(redirects, strings.ReplaceAll(r.Source+" "+r.Destination, long, "LONG"))
	}
	if d := cmp.Diff([]string{
		"/api /api-2", "/aux /aux-", "/LONG /" + strings.Repeat("l", 231) + "-21599af4", "/notes/16:30 /notes/16-30-2",
		"/a.../pic.png /a---/pic.png", "/img/a.png /img/a-2.png", "/img/a%3Fb.svg /img/a-b-2.svg",
	}, redirects); d != "" {
		t.Errorf("redirects (-want +got):\n%s", d)
	}
}

func TestNamesThatDifferByCase(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["Guide", "other"]}}`,
		"Guide.mdx", "", "guide.md", "", "OTHER.html", "", "other.mdx", ""), Options{Publish: ignore.Parse("*.html")}, "page-shadowed", "file-shadowed")
	if len(s.Pages) != 2 || len(s.Files) != 0 {
		t.Errorf("%v %v", s.Pages, s.Files)
	}
}

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		head string
		want Page
		code string
	}{
		{"title: Hello", Page{Title: "Hello"}, ""},
		{"title: \"Quoted: yes\"\ndescription: 'It''s'\nsidebarTitle: Side", Page{Title: "Quoted: yes", Description: "It's", SidebarTitle: "Side"}, ""},
		{"title: >\n  Folded\n  text\nicon: {name: bolt, library: lucide}", Page{Title: "Folded text", Icon: Icon{Name: "bolt", Library: "lucide"}}, ""},
		{"hidden: true\nnoindex: \"true\"\ndeprecated: true\nmode: wide\ntag: NEW", Page{Title: "The page", Hidden: true, NoIndex: true, Deprecated: true, Mode: "wide", Tag: "NEW"}, ""},
		{"keywords: [one, two]\nopenapi: GET /x\nurl: https://x.example\nmode: unknown", Page{Title: "The page", Keywords: []string{"one", "two"}, OpenAPI: "GET /x", URL: "https://x.example"}, "front-matter-mode api-missing"},
		{"title: null\n# a comment\n\nother:\n  deep: 1", Page{Title: "The page"}, "front-matter-unknown"},
		{"sidebartitle: Side\nversion: 1", Page{Title: "The page"}, "front-matter-unknown front-matter-unknown"},
		{"lastUpdatedDate: 2026-03-31\nhideFooterPagination: true\nplayground: none\ncontextual: false", Page{Title: "The page", Updated: "2026-03-31", NoNeighbours: true, Playground: "none", NoActions: true}, ""},
		{"lastUpdatedDate: yesterday", Page{Title: "The page"}, "front-matter-mode"},
		{"related: [/a]\napi: GET /x", Page{Title: "The page", API: "GET /x"}, "front-matter-unsupported front-matter-unsupported"},
		{"title: 42", Page{Title: "42"}, ""},
		{"title: [broken", Page{Title: "The page"}, "front-matter"},
		{"- a\n- b", Page{Title: "The page"}, "front-matter"},
		{"title: \"a\\u00e9\\\"b\"", Page{Title: "aé\"b"}, ""},
		{"", Page{Title: "The page"}, ""},
		{"title: " + strings.Repeat("[", 10_000), Page{Title: "The page"}, "front-matter"},
		{"title: " + strings.Repeat("x", 70_000), Page{Title: "The page"}, "front-matter"},
	} {
		var codes []string
		if c.code != "" {
			codes = strings.Fields(c.code)
		}
		s := mustLoad(t, files("docs.json", `{"name":"x","navigation":{"pages":["the-page"]}, "seo":{"indexing":"all"}}`,
			"the-page.mdx", "---\n"+c.head+"\n---\n\nText"), Options{}, codes...)
		got := s.Pages[0]
		want := c.want
		want.Source, want.Address, want.Output, want.Size, want.InNav = got.Source, "the-page", "the-page.html", got.Size, true
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.head, d)
		}
	}
}

// The place of a fault in a head is that in the page.
func TestFrontMatterPlace(t *testing.T) {
	_, diags, err := loadFS(t, files("docs.json", `{"name":"x","navigation":{"pages":["a"]}}`, "a.mdx", "---\ntitle: x\nicon: [a\n---\n"), Options{})
	if err != nil || len(diags) != 1 || diags[0].File != "a.mdx" || diags[0].Line < 3 || diags[0].Line > 4 {
		t.Errorf("%v, %v", diags, err)
	}
}

func TestTitleOf(t *testing.T) {
	for address, want := range map[string]string{
		"getting-started": "Getting started", "a/b_c": "B c", "guides/index": "Guides", "index": "Index", "übung": "Übung", "-": "Untitled",
	} {
		if got := titleOf(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// A site that can't be used is refused with the place.
func TestUnusable(t *testing.T) {
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{"no configuration", files("a.mdx", ""), "docs.json: the folder has no such file, which says what the site consists of; bindery init writes one"},
		{"not JSON", files("docs.json", "{\n  \"name\": x\n}"), "docs.json:2:11: this is not JSON: invalid character 'x' looking for beginning of value"},
		{"cut", files("docs.json", "{\n  \"name\": \"x\"\n"), "docs.json:2:14: the file ends too early: a bracket or a quote is not closed"},
		{"empty", files("docs.json", ""), "docs.json:1:1: the file ends too early: a bracket or a quote is not closed"},
		{"two values", files("docs.json", "{}\n{}"), "docs.json:2:1: this is not JSON: invalid character '{' after top-level value"},
		{"a list", files("docs.json", " []"), "docs.json:1:2: expected an object, found a list"},
		{"too deep", files("docs.json", `{"a":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+"}"), "docs.json:1:106: nested deeper than 100 levels"},
		{"another file", files("docs.json", `{"redirects": {"$ref": "r.json"}}`, "r.json", "[\n1,]"), "r.json:2:3: this is not JSON: invalid character ']' looking for beginning of value"},
		{"the older form", files("mint.json", `{"name": }`), "mint.json:1:10: this is not JSON: invalid character '}' looking for beginning of value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := loadFS(t, c.files, Options{})
			var e *ConfigError
			if !errors.As(err, &e) || e.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	s := mustLoad(t, files("docs.json", "\ufeff"+`{
		"name": "Name", "description": "What it is", "theme": "mint",
		"colors": {"primary": "#0055aa", "light": "#fff", "dark": "red"},
		"logo": {"light": "/l.svg", "href": "https://x.example"}, "favicon": "/f.ico",
		"fonts": {"family": "Inter", "heading": {"family": "Space", "weight": 600}},
		"navbar": {"links": [{"label": "Blog", "href": "https://b.example"}, {"label": "None"}, {"label": "", "icon": "users", "href": "https://c.example"}], "primary": {"type": "github", "href": "https://g.example"}},
		"footer": {"socials": {"x": "https://x.example", "github": "https://g.example"}, "links": [{"header": "H", "items": [{"label": "L", "href": "/a"}]}]},
		"seo": {"metatags": {"robots": "noindex", "og:x": "y"}, "indexing": "all"},
		"api": {"openapi": ["a.yml", "b.yml"], "playground": {"display": "simple"}, "mdx": {"server": "https://api.example", "auth": {"method": "bearer"}}},
		"errors": {"404": {"redirect": false, "title": "Gone"}},
		"appearance": {"default": "dark", "strict": true}, "variables": {"v": "1"}, "contextual": {"options": ["copy", {"title": "x"}]},
		"redirects": [{"source": "old", "destination": "/a", "permanent": false}, {"source": "/x"}],
		"navigation": {"pages": ["a"]}, "typo": 1
	}`, "a.mdx", "", "l.svg", "<svg/>", "f.ico", ""), Options{}, "config-unsupported", "config-unsupported", "config-color", "config-link", "config-unsupported", "config-link", "config-redirect", "api-missing", "api-missing", "config-unknown")
	want := Config{
		Theme: "mint", Name: "Name", Description: "What it is", Colors: Colors{Primary: "#0055aa", Light: "#fff"},
		Logo: Logo{"/l.svg", "/l.svg", "https://x.example"}, Favicon: Logo{Light: "/f.ico", Dark: "/f.ico"},
		Fonts:    Fonts{Heading: Font{Family: "Space", Weight: "600"}, Body: Font{Family: "Inter"}},
		Navbar:   Navbar{[]NavLink{{Label: "Blog", Href: "https://b.example"}, {Label: "https://c.example", Href: "https://c.example", Icon: Icon{Name: "users"}, IconOnly: true}}, &NavLink{Label: "GitHub", Href: "https://g.example", Type: "github"}},
		Footer:   Footer{[]Social{{"x", "https://x.example"}, {"github", "https://g.example"}}, []FooterColumn{{"H", []NavLink{{Label: "L", Href: "/a"}}}}},
		SEO:      SEO{Indexing: "all", NoIndex: true, Metatags: []Meta{{Name: "robots", Content: "noindex"}, {Name: "og:x", Content: "y"}}},
		API:      API{OpenAPI: []string{"a.yml", "b.yml"}, Playground: "simple"},
		NotFound: NotFound{Title: "Gone"}, Appearance: Appearance{"dark", true},
		Variables: map[string]string{"v": "1"}, Contextual: Contextual{Options: []ContextualOption{{Name: "copy"}}},
	}
	if d := cmp.Diff(want, s.Config); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Redirect{{Source: "/old", Destination: "/a"}}, s.Redirects); d != "" {
		t.Errorf("redirects (-want +got):\n%s", d)
	}
}

// What the configuration refers to and the site does not have is reported with
// its place, wherever it stands.
func TestReferences(t *testing.T) {
	const config = `{"name": "x",
"logo": {"light": "/l.svg", "dark": "/d.svg", "href": "/gone-1"},
"favicon": "/f.ico",
"fonts": {"family": "F", "source": "/fonts/f.woff2"}, "seo": {"metatags": {"og:image": "/o.png", "twitter:image": "https://o.example/t.png", "og:title": "/t"}},
"navbar": {"links": [{"label": "L", "href": "/gone-2"}, {"label": "A", "href": "/a#b?"}],
  "primary": {"label": "P", "href": "javascript:x"}},
"footer": {"socials": {"x": "https://x.example", "github": "/gone-3"},
  "links": [{"header": "H", "items": [{"label": "L", "href": "gone-4/"}, {"label": "M", "href": "mailto:a@b.example"}]}]},
"redirects": [{"source": "/old", "destination": "/gone-5"},
  {"source": "/round", "destination": "/trip"}, {"source": "/trip", "destination": "/round"},
  {"source": "/w/*", "destination": "/gone/*"}, {"source": "/a", "destination": "/gone-6"},
  {"source": "/file", "destination": "/l.svg"}, {"source": "/away", "destination": "https://o.example"}],
"navigation": {"global": {"anchors": [{"anchor": "G", "href": "/gone-7"}]},
  "tabs": [{"tab": "T", "pages": ["a", {"title": "T", "href": "/gone-8"}, {"title": "U", "href": "/old"}, "https://o.example"]},
    {"tab": "V", "href": "/gone-9"}, {"tab": "W", "href": "/w/x"}]}}`
	_, diags, err := loadFS(t, files("docs.json", config, "a.mdx", "", "l.svg", "<svg/>"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range diags {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", d.File, d.Line, d.Column, d.Code))
	}
	want := []string{
		"docs.json:2:37 file-missing", "docs.json:2:55 link-missing", "docs.json:3:12 file-missing", "docs.json:4:36 file-missing",
		"docs.json:5:22 link-missing", "docs.json:6:14 link-unsafe", "docs.json:7:60 link-missing", "docs.json:8:39 link-missing", "docs.json:4:88 file-missing",
		"docs.json:13:63 link-missing", "docs.json:14:40 link-missing", "docs.json:14:75 link-missing",
		"docs.json:15:26 link-missing", "docs.json:15:59 link-missing",
		"docs.json:9:15 redirect-missing", "docs.json:10:3 redirect-loop", "docs.json:10:49 redirect-loop", "docs.json:11:49 redirect-unused",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A redirect that can't do what its author means says so.
func TestRedirectsWithoutEffect(t *testing.T) {
	for name, c := range map[string]struct{ redirects, want string }{
		"a name in the query":           {`{"source": "/q/:id", "destination": "/a?id=:id"}`, ""},
		"a name that the source lacks":  {`{"source": "/u/:x", "destination": "/a/:y"}`, "redirect-pattern"},
		"in the query":                  {`{"source": "/u/:x", "destination": "/a?b=:y"}`, "redirect-pattern"},
		"a name that is part of a word": {`{"source": "/pre-:x", "destination": "/a"}`, "redirect-pattern"},
		"one source twice":              {`{"source": "/u", "destination": "/a"}, {"source": "/u/", "destination": "/b"}`, "redirect-unused"},
		"one pattern twice":             {`{"source": "/u/:x", "destination": "/a"}, {"source": "/u/:x", "destination": "/b"}`, "redirect-unused"},
		"one path, two queries":         {`{"source": "/u?v=1", "destination": "/a"}, {"source": "/u?v=2", "destination": "/b"}`, ""},
		"from a page":                   {`{"source": "/b", "destination": "/a"}`, "redirect-unused"},
		"from a page with a query":      {`{"source": "/b?x=1", "destination": "/a"}`, ""},
		"a pattern over a page":         {`{"source": "/:any", "destination": "/a"}`, ""},
		"from the root":                 {`{"source": "/", "destination": "/a"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = append(want, c.want)
			}
			mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a", "b"]}, "redirects": [`+c.redirects+`]}`, "a.mdx", "", "b.mdx", ""), Options{}, want...)
		})
	}
}

// A name in a destination's query or fragment is filled in.
func TestRedirectsFillQueries(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a"]}, "redirects": [
{"source": "/q/:id", "destination": "/a?id=:id"}, {"source": "/h/:id", "destination": "/a#:id"}, {"source": "/w/:p*", "destination": "https://x.test/docs/:p*?utm=1"}]}`,
		"a.mdx", "## b-1\n"), Options{})
	for link, want := range map[string]string{"/q/7": "a.html?id=7", "/h/b-1": "a.html#b-1", "/w/c/d": "https://x.test/docs/c/d?utm=1"} {
		if got := s.Resolve(-1, link); got.Href != want {
			t.Errorf("%s leads to %s, want %s", link, got.Href, want)
		}
	}
}

// A star inside an element is a star, and a colon alone a colon: such redirects
// lead where they say, though only servers can answer there.
func TestRedirectsWithLiteralStars(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a"]}, "redirects": [
{"source": "/a*b", "destination": "/a"}, {"source": "/c*d/:x", "destination": "/a"}, {"source": "/e(f)/:x", "destination": "/a"},
{"source": "/g/:", "destination": "/a"}, {"source": "/h*i/*", "destination": "/a"}]}`, "a.mdx", ""), Options{}, "redirect-pattern", "redirect-pattern", "redirect-name", "redirect-pattern")
	for _, link := range []string{"/a*b", "/c*d/1", "/e(f)/1", "/g/:", "/h*i/1/2"} {
		if got := s.Resolve(-1, link); got.Kind != ToPage || got.Href != "a.html" {
			t.Errorf("%s leads to %+v", link, got)
		}
	}
	if got := s.Resolve(-1, "/axb"); got.Kind != Missing {
		t.Errorf("/axb leads to %+v", got)
	}
}

// Pages whose files can't stand beside each other in an archive: the one in
// fewer folders does, the other is reported.
func TestPagesInEachOthersWay(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a", "b"]}}`,
		"a.mdx", "", "a/index.mdx", "", "a/b.mdx", "", "a.html/c.mdx", "", "a.md/d.mdx", "", "b.html/x.css", "", "b.mdx", "",
		"C.html/e.mdx", "", "c.mdx", ""), Options{},
		"page-shadowed", "page-shadowed", "page-shadowed", "file-shadowed")
	var got []string
	for _, p := range s.Pages {
		got = append(got, p.Address)
	}
	if d := cmp.Diff([]string{"a", "a/b", "a/index", "b", "c"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Of a page that no author wrote only the head is read.
func TestHugePage(t *testing.T) {
	text := "---\ntitle: Huge\n---\n" + strings.Repeat("x", 17<<20)
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a"]}}`, "a.mdx", text), Options{})
	if p := s.Pages[0]; p.Title != "Huge" || p.Size != int64(len(text)) {
		t.Errorf("%+v", p)
	}
}

// The older form has groups in one list, and tabs that name prefixes.
func TestLegacy(t *testing.T) {
	s := mustLoad(t, files("mint.json", `{"name": "Old", "colors": {"primary": "#123456"},
		"topbarLinks": [{"name": "Support", "url": "mailto:a@b.example"}], "topbarCtaButton": {"name": "Go", "url": "https://go.example"},
		"tabs": [{"name": "API", "url": "api"}], "anchors": [{"name": "Blog", "icon": "pen", "url": "https://b.example"}, {"name": "SDK", "url": "api/sdk"}],
		"navigation": [{"group": "Start", "pages": ["a"]}, {"group": "Ends", "pages": ["api/x"]}, {"group": "Kit", "pages": ["api/sdk/y"]}],
		"footerSocials": {"github": "https://g.example"}}`,
		"a.mdx", "", "api/x.mdx", "", "api/sdk/y.mdx", ""), Options{})
	want := `tab "Documentation" default
  group "Start"
    a
tab "API"
  group "Ends"
    api/x
anchor "Blog" icon=pen href=https://b.example
anchor "SDK"
  group "Kit"
    api/sdk/y
`
	if d := cmp.Diff(want, outline(s, s.Nav)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s.Config.Navbar.Links[0].Label != "Support" || s.Config.Navbar.Primary.Href != "https://go.example" || s.ConfigFile != "mint.json" {
		t.Errorf("%+v", s.Config)
	}
}

// Versions, anchors and groups of the older form.
func TestLegacyForms(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"versions have what names them, and what names none",
			`"versions": ["2", {"name": "1", "default": true}], "tabs": [{"name": "API", "url": "api", "version": "2"}],
			"navigation": [{"group": "New", "version": "2", "pages": ["a"]}, {"group": "Ends", "pages": ["api/x"]}]`,
			"version \"2\"\n  tab \"Documentation\" default\n    group \"New\"\n      a\n  tab \"API\"\n    group \"Ends\"\n      api/x\n" +
				"version \"1\" default\n  group \"Ends\"\n    api/x\n"},
		{"anchors alone, and the one on top",
			`"topAnchor": {"name": "Home", "icon": "house"}, "anchors": [{"name": "API", "url": "api", "icon": {"name": "code", "library": "lucide"}}],
			"navigation": [{"group": "Start", "pages": ["a"]}, {"group": "Ends", "pages": ["api/x"]}]`,
			"anchor \"Home\" icon=house default\n  group \"Start\"\n    a\nanchor \"API\" icon=code/lucide\n  group \"Ends\"\n    api/x\n"},
		{"groups alone", `"navigation": [{"group": "Start", "pages": ["a", {"group": "In", "pages": ["api/x"]}]}]`,
			"group \"Start\"\n  a\n  group \"In\"\n    api/x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustLoad(t, files("mint.json", `{"name": "Old", `+c.config+`}`, "a.mdx", "", "api/x.mdx", ""), Options{})
			if d := cmp.Diff(c.want, outline(s, s.Nav)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Only pages under the wanted prefixes are in the bundle.
func TestPrefixes(t *testing.T) {
	fsys := files("docs.json", `{"name":"x","navigation":{"pages":["a/one","b/two"]}}`,
		"a/one.mdx", "", "a/index.mdx", "", "ab/x.mdx", "", "b/two.mdx", "", "index.mdx", "")
	for _, c := range []struct {
		prefixes []string
		want     string
		codes    []string
	}{
		{nil, "a/index a/one ab/x b/two index", nil},
		{[]string{"/"}, "a/index a/one ab/x b/two index", nil},
		{[]string{"/a"}, "a/index a/one", nil},
		{[]string{"a/", "/b/two"}, "a/index a/one b/two", nil},
		{[]string{"/none"}, "", []string{"path-empty"}},
		{[]string{"a", "nope"}, "a/index a/one", []string{"path-empty"}},
	} {
		s := mustLoad(t, fsys, Options{Prefixes: c.prefixes}, c.codes...)
		var got []string
		for _, p := range s.Pages {
			if !p.Excluded {
				got = append(got, p.Address)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.prefixes, got, c.want)
		}
	}
}

// A site without a navigation shows all its pages.
func TestNoNavigation(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name":"x"}`, "a.mdx", "", "b.mdx", "---\nhidden: true\n---\n"), Options{}, "nav-empty")
	if got := outline(s, s.Nav); got != "a\n" {
		t.Errorf("%q", got)
	}
}

// Our reading of JSON agrees with the standard library's on what is JSON, and
// every value knows a place that is in the file.
func FuzzConfig(f *testing.F) {
	f.Add(`{"name":"x","navigation":{"tabs":[{"tab":"T","pages":["a"]}]}}`)
	f.Add(`{"navigation":{"$ref":"docs.json"},"colors":[],"redirects":{}}`)
	f.Add("{\"a\":\n[1e400, \"\\ud800\", {}]}")
	for _, name := range []string{"docs.json", "mint.json"} {
		if every, err := os.ReadFile("testdata/every/" + name); err == nil {
			f.Add(string(every))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parseJSON("docs.json", []byte(text), maxConfigValues)
		valid := json.Valid([]byte(strings.TrimPrefix(text, "\ufeff")))
		var e *ConfigError
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Column < 1) {
			t.Errorf("%v has no place", err)
		}
		if err == nil && !valid || err != nil && valid && !strings.Contains(err.Error(), "nested deeper") {
			t.Errorf("%q: %v, but valid is %v", text, err, valid)
		}
		for _, name := range []string{"docs.json", "mint.json"} {
			s, diags, err := loadFS(t, files(name, text, "a.mdx", ""), Options{Domain: "docs.example"})
			if err != nil {
				continue
			}
			for _, d := range diags {
				if d.File == "" || d.Code == "" || d.Message == "" {
					t.Errorf("a diagnostic that says nothing: %+v", d)
				}
			}
			s.Resolve(0, "/x")
			s.DefaultSection()
			s.Counterpart(0, s.Nav, s.Nav)
		}
	})
}

// No head of a page ends an export, and where the short way reads one, the
// YAML parser reads the same.
func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"title: a", "title: \"a\"\nicon: {name: b}", "a: &x [1]\nb: *x", "? a\n: b", "title: |\n  x", "a: 'b'\na: c", "k: 0x1F", "k: yes", "k: ~", "k: a#b", "k: a: b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, head string) {
		if len(head) > 1<<10 {
			return
		}
		if _, diag := frontMatter("a.mdx", []byte(head)); diag != nil && (diag.Line < 1 || diag.Message == "") {
			t.Errorf("%+v", diag)
		}
		short, ok := simpleYAML(head)
		if !ok || !utf8.ValidString(head) {
			return
		}
		full, diag := fullYAML("a.mdx", []byte(head))
		if diag != nil {
			t.Fatalf("%q: the short way reads what YAML refuses: %v", head, diag)
		}
		if d := cmp.Diff(full, short, cmp.AllowUnexported(field{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q (-full +short):\n%s", head, d)
		}
	})
}

// What a hidden part of the navigation alone names is kept from search engines;
// a hidden version is only out of the menus.
func TestHiddenParts(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"tabs": [
		{"tab": "A", "pages": ["a", {"group": "G", "hidden": true, "pages": ["b", "c"]}]},
		{"tab": "B", "hidden": true, "pages": ["d", "a"]},
		{"tab": "C", "versions": [{"version": "1", "pages": ["e"]}, {"version": "0", "hidden": true, "pages": ["f"]}]},
		{"tab": "D", "pages": ["c"]}
	]}}`, "a.mdx", "", "b.mdx", "", "c.mdx", "", "d.mdx", "", "e.mdx", "", "f.mdx", ""), Options{})
	for _, p := range s.Pages {
		if want := p.Address == "b" || p.Address == "d"; p.NoIndex != want || p.Listed() == want {
			t.Errorf("%s: noindex is %v", p.Address, p.NoIndex)
		}
	}
}

// knownHeads are heads by their sources, and the sources that were read.
type knownHeads struct {
	known map[string][]byte
	read  []string
}

func (h *knownHeads) Head(source string) ([]byte, bool) {
	yaml, ok := h.known[source]
	return yaml, ok
}

func (h *knownHeads) Keep(source string, yaml []byte) {
	h.known[source] = bytes.Clone(yaml)
	h.read = append(h.read, source)
}

// TestKnownHeadsAreNotRead: of pages whose heads are known no source is read, and
// the site is the same.
func TestKnownHeadsAreNotRead(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "N", "navigation": {"pages": ["a", "b", "c"]}}`)},
		"a.mdx":     {Data: []byte("---\ntitle: A title\ntag: new\n---\n\nText.\n")},
		"b.mdx":     {Data: []byte("No head.\n")},
		"c.mdx":     {Data: []byte("---\nkeywords: [one, two]\n---\n")},
	}
	heads := &knownHeads{known: map[string][]byte{}}
	load := func(want ...string) *Site {
		t.Helper()
		heads.read = nil
		var announced []string
		s, _, err := Load(t.Context(), fsys, []string{"a.mdx", "b.mdx", "c.mdx", "docs.json"}, Options{Heads: heads, Prefetch: func(_ context.Context, paths []string) error {
			announced = append(announced, paths...)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(heads.read, want) || !slices.Equal(announced, want) {
			t.Errorf("read %v and announced %v, not %v", heads.read, announced, want)
		}
		return s
	}
	first := load("a.mdx", "b.mdx", "c.mdx")
	if again := load(); !reflect.DeepEqual(again.Pages, first.Pages) {
		t.Errorf("got  %+v\nwant %+v", again.Pages, first.Pages)
	}
	delete(heads.known, "c.mdx")
	load("c.mdx")
}
