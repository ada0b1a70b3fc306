package site

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// restrictedOf loads a site for groups, and returns its pages, its navigation and
// what is reported, without what is said of its name.
func restrictedOf(t *testing.T, groups []string, pairs ...string) (s *Site, told []string) {
	t.Helper()
	s, diags, err := loadFS(t, files(pairs...), Options{Domain: "docs.example", Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		told = append(told, d.String())
	}
	return s, told
}

// Heads in all forms: what restricts a page, where it does so, and who is let in.
func TestRestrictedHeads(t *testing.T) {
	for _, c := range []struct {
		name, head string
		groups     []string
		line       int // of the finding; 0 for a page that is there
	}{
		{"nothing", "title: A", nil, 0},
		{"not said", "groups:", nil, 0},
		{"null", "groups: null", nil, 0},
		{"a list", "title: A\ngroups: [staff]", nil, 3},
		{"a list of lines", "groups:\n  - staff", nil, 2},
		{"a text", "groups: staff", nil, 2},
		{"in quotes", `"groups": ["staff"]`, nil, 2},
		{"nobody", "groups: []", []string{"staff"}, 2},
		{"an object", "groups: {staff: true}", []string{"staff"}, 2},
		{"an alias", "title: &a staff\ngroups: *a", []string{"staff"}, 3},
		{"unreadable", "title: [\ngroups: [staff]", []string{"staff"}, 3},
		{"too long", "description: " + strings.Repeat("x", maxFrontMatter) + "\ngroups: [staff]", []string{"staff"}, 3},
		{"unreadable, and no groups", "title: [", nil, 0},
		{"public too", "groups: [staff]\npublic: true", nil, 2},
		{"let in", "groups: [board, staff]", []string{"staff"}, 0},
		{"let in by a text", "groups: board, staff", []string{"staff"}, 0},
		{"another case", "groups: [Staff]", []string{"staff"}, 2},
		{"a variable", "groups: ['{{g}}']", []string{"staff"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, told := restrictedOf(t, c.groups, "docs.json", `{"name":"x","variables":{"g":"staff"},"navigation":{"pages":["a","b"]}}`, "a.mdx", "---\n"+c.head+"\n---\n\nText.\n", "b.mdx", "B")
			_, there := s.Lookup("a")
			at := slices.IndexFunc(told, func(d string) bool {
				return strings.Contains(d, "page-restricted") || strings.Contains(d, "the page a.mdx is left out")
			})
			switch {
			case there != (c.line == 0):
				t.Errorf("the page is there: %t; %q", there, told)
			case !there && (at < 0 || !strings.HasPrefix(told[at], "a.mdx:"+string(rune('0'+c.line))+":1: notice: ")):
				t.Errorf("reported: %q", told)
			case !there && len(s.Nav.Children) != 1:
				t.Error("it stands in the navigation")
			}
		})
	}
}

// The navigation: what it restricts, what public undoes, and what is left of it.
func TestRestrictedNavigation(t *testing.T) {
	for _, c := range []struct {
		name, navigation string
		groups           []string
		pages            string
		want             string
	}{
		{"a group", `{"groups": [{"group": "G", "groups": ["staff"], "pages": ["a"]}, {"group": "H", "pages": ["b"]}]}`, nil, "b c d", "group \"H\"\n  b\n"},
		{"let in", `{"groups": [{"group": "G", "groups": ["staff"], "pages": ["a"]}, {"group": "H", "pages": ["b"]}]}`, []string{"staff"}, "a b c d", "group \"G\"\n  a\ngroup \"H\"\n  b\n"},
		{"one name", `{"groups": [{"group": "G", "groups": "staff", "pages": ["a"]}, {"group": "H", "pages": ["b"]}]}`, nil, "b c d", "group \"H\"\n  b\n"},
		{"both below each other", `{"groups": [{"group": "G", "groups": ["staff"], "pages": ["a", {"group": "H", "groups": ["board"], "pages": ["b"]}]}]}`, []string{"staff"}, "a c d", "group \"G\"\n  a\n"},
		{"an open place too", `{"groups": [{"group": "G", "groups": ["staff"], "pages": ["a", "b"]}, {"group": "H", "pages": ["b"]}]}`, nil, "b c d", "group \"H\"\n  b\n"},
		{"a tab with groups below", `{"tabs": [{"tab": "T", "groups": [{"group": "G", "pages": ["a"]}]}, {"tab": "U", "groups": ["staff"], "root": "b", "pages": ["c"]}]}`, nil, "a d", "tab \"T\"\n  group \"G\"\n    a\n"},
		{"public below", `{"groups": [{"group": "G", "groups": ["staff"], "pages": ["a", {"group": "H", "public": true, "pages": ["b"]}]}]}`, nil, "b c d", ""},
		{"public alone", `{"groups": [{"group": "G", "public": true, "pages": ["a"]}, {"group": "H", "public": false, "pages": ["b"]}]}`, nil, "a b c d", "group \"G\"\n  a\ngroup \"H\"\n  b\n"},
		{"an entry", `{"pages": [{"page": "a", "groups": ["staff"]}, "b"]}`, nil, "b c d", "b\n"},
		{"a link", `{"pages": [{"title": "L", "href": "https://x.example", "groups": ["staff"]}, "b"]}`, nil, "a b c d", "b\n"},
		{"all of it", `{"groups": ["staff"], "root": "a", "pages": ["b", {"group": "G", "public": true, "pages": ["c"]}]}`, nil, "c d", ""},
		{"all of it, let in", `{"groups": ["staff"], "pages": ["b", "c"]}`, []string{"staff"}, "a b c d", "b\nc\n"},
		{"shown on every page", `{"global": {"anchors": [{"anchor": "A", "groups": ["staff"], "pages": ["a"]}]}, "pages": ["b"]}`, nil, "b c d", "b\n"},
		{"pages by mistake", `{"groups": ["a", "b"]}`, nil, "a b c d", "a\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, told := restrictedOf(t, c.groups, "docs.json", `{"name":"x","navigation":`+c.navigation+`}`, "a.mdx", "A", "b.mdx", "B", "c.mdx", "C", "d.mdx", "D")
			var pages []string
			for i := range s.Pages {
				pages = append(pages, s.Pages[i].Address)
			}
			if d := cmp.Diff(c.pages, strings.Join(pages, " ")); d != "" {
				t.Errorf("pages: %s", d)
			}
			if d := cmp.Diff(c.want, outline(s, s.Nav)); d != "" {
				t.Errorf("navigation: %s\n%q", d, told)
			}
			if s.Nav.Root >= 0 || len(s.Global) > 0 {
				t.Errorf("the root leads to %d, and %d parts are shown on every page", s.Nav.Root, len(s.Global))
			}
			for i := range s.Pages {
				if n := s.Next(i); n >= len(s.Pages) {
					t.Errorf("the page after %d is %d", i, n)
				}
			}
		})
	}
}

// Links and redirects to what is left out have findings of their own, at their
// places; so has a group that nothing is for.
func TestRestrictedLinks(t *testing.T) {
	s, told := restrictedOf(t, []string{"crew", "staff"},
		"docs.json", `{"name":"x","navigation":{"pages":["index","u"]},
"navbar":{"links":[{"label":"N","href":"/p"}]},
"redirects":[{"source":"/old","destination":"/p"},{"source":"/old/*","destination":"/p"},{"source":"/p","destination":"/"}]}`,
		"index.mdx", "---\ntitle: I\n---\n", "p/index.mdx", "---\ngroups: [board]\nmode: unknown\n---\n", "s.mdx", "---\ngroups: [staff]\n---\n", "u.mdx", "---\nurl: /p\n---\n")
	want := []string{
		`p/index.mdx:2:1: notice: the page p/index.mdx is left out: it is for the group "board" (page-restricted)`,
		`docs.json:1:1: warning: nothing in this site is for the group "crew" that the export lets in (group-unused)`,
		`docs.json:2:20: warning: a link is left out: p/index is for the group "board" (link-restricted)`,
		`u.mdx:1:1: warning: the url is left out: p/index is for the group "board" (link-restricted)`,
		`docs.json:3:14: warning: the redirect from "/old" is left out: p/index is for the group "board" (redirect-restricted)`,
		`docs.json:3:51: warning: the redirect from "/old/*" is left out: p/index is for the group "board" (redirect-restricted)`,
		`docs.json:3:90: warning: the redirect from "/p" is left out: p/index is for the group "board" (redirect-restricted)`,
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
	if len(s.Redirects) != 0 {
		t.Errorf("redirects are left: %v", s.Redirects)
	}
	for _, href := range []string{"/p", "p/", "/p/index", "/p.md", "https://docs.example/p#x", "/old"} {
		if got := s.Resolve(0, href); got.Kind != Restricted || got.Href != "" || got.Page != -1 {
			t.Errorf("%s leads to %+v", href, got)
		}
	}
	if got := s.Resolve(0, "/nowhere"); got.Kind != Missing {
		t.Errorf("a page that does not exist is %+v", got)
	}
}

// Files that only pages name which are left out go with them.
func TestRestrictedFiles(t *testing.T) {
	s, _ := restrictedOf(t, nil,
		"docs.json", `{"name":"x","favicon":"/i/icon.svg","navigation":{"pages":["a","b"]}}`,
		"a.mdx", "---\ngroups: [staff]\n---\n\n![](/i/only.png) ![](/i/both.png) ![](/i/of%20two.png) ![](i/icon.svg) [x](/files/secret.pdf?x=1).\n\n<Part img=\"/i/snippet.png\" /> style.css",
		"b.mdx", "![](i/both.png)", "snippets/s.mdx", "![](/i/snippet.png)",
		"i/only.png", "", "i/both.png", "", "i/of two.png", "", "i/icon.svg", "", "i/snippet.png", "", "i/nobody.png", "", "files/secret.pdf", "", "style.css", "")
	if d := cmp.Diff([]string{"i/both.png", "i/icon.svg", "i/nobody.png", "i/snippet.png", "style.css"}, s.Files); d != "" {
		t.Error(d)
	}
	if got := s.Resolve(0, "/i/only.png"); got.Kind != Restricted {
		t.Errorf("the picture is %+v", got)
	}
}
