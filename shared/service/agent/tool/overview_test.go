package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The overview of a site is its navigation with titles, and what is outside of it.
func TestOverview(t *testing.T) {
	page := func(title string) string { return "---\ntitle: " + title + "\n---\n" }
	for _, c := range []struct {
		name string
		base memory
		want string
	}{
		{"groups in tabs, by other files too", memory{
			"docs.json": `{"name": "x", "navigation": {"tabs": [{"tab": "Guides", "groups": [{"group": "First", "pages": ["a", {"group": "Deep", "pages": ["b/c", "GET /x", "gone"]}]}]}, {"$ref": "api.json"}]}}`,
			"api.json":  `{"tab": "API", "pages": ["api/index"]}`, "a.mdx": page("Start"), "b/c.md": page("Sea"), "api/index.mdx": page("API"), "loose.mdx": page("Loose"),
			"snippets/s.mdx": "part\n", "AGENTS.md": "Write well.\n", "b/Claude.md": "Write well.\n", "vip.mdx": "---\ntitle: VIP\ngroups: [vip]\n---\n",
		}, "It has 5 pages.\n\nNavigation:\nGuides (tab)\n  First\n    a.mdx: Start\n    Deep\n      b/c.md: Sea\n      GET /x\n      gone\nAPI (tab)\n  api/index.mdx: API\n\nPages outside of the navigation: 2\nloose.mdx: Loose\nvip.mdx\n"},
		{"mint.json", memory{"mint.json": `{"name": "x", "navigation": [{"group": "First", "pages": ["a"]}]}`, "a.mdx": page("Start")},
			"It has 1 page.\n\nNavigation:\nFirst\n  a.mdx: Start\n"},
		{"a configuration that can't be read", memory{"docs.json": `{`, "a.mdx": page("Start"), ".x/b.mdx": ""},
			"It has 1 page. The navigation can't be read: the site has no docs.json that can be read.\n\nPages outside of the navigation: 1\na.mdx\n"},
	} {
		tree, err := NewTree(c.base, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Overview(t.Context(), tree)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v, -want +got:\n%s", c.name, err, d)
		}
	}
}

// An overview stays within its limits: it leaves out titles, then deeper parts, then
// lines, and counts what it leaves out.
func TestOverviewEnds(t *testing.T) {
	for _, c := range []struct {
		groups, pages int
		want          []string
		not           string
	}{
		{5, 10, []string{"It has 60 pages.", "Group 4\n  g4/p0.mdx: The title of page 0 of 4\n", "Pages outside of the navigation: 10\nl0.mdx: Loose\n"}, "…"},
		{20, 20, []string{"Group 19\n  g19/p0.mdx\n", "g19/p19.mdx\n"}, "The title"},
		{100, 20, []string{"Group 0: 20 pages\nGroup 1: 20 pages\n", "Group 99: 20 pages\n"}, "p0.mdx"},
		{2000, 1, []string{"Group 0: 1 page\n", " more lines; navigation shows them\n"}, "Group 1999"},
	} {
		base, groups := memory{}, []string{}
		for g := range c.groups {
			pages := []string{}
			for p := range c.pages {
				pages = append(pages, fmt.Sprintf(`"g%d/p%d"`, g, p))
				base[fmt.Sprintf("g%d/p%d.mdx", g, p)] = fmt.Sprintf("---\ntitle: The title of page %d of %d\n---\n", p, g)
			}
			groups = append(groups, fmt.Sprintf(`{"group": "Group %d", "pages": [%s]}`, g, strings.Join(pages, ",")))
		}
		for i := range 2 * c.groups {
			base[fmt.Sprintf("l%d.mdx", i)] = "---\ntitle: Loose\n---\n"
		}
		base["docs.json"] = `{"name": "x", "navigation": {"groups": [` + strings.Join(groups, ",") + `]}}`
		tree, err := NewTree(base, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Overview(t.Context(), tree)
		if err != nil || len(got) > maxOverview+maxLoose+500 || strings.Contains(got, c.not) {
			t.Errorf("%d groups: %d bytes, %v:\n%s", c.groups, len(got), err, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%d groups: no %q in\n%s", c.groups, want, got)
			}
		}
	}
}
