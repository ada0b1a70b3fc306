package frame

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/page"
)

func TestDayIn(t *testing.T) {
	for label, want := range map[string]string{
		"2026-05-04": "2026-05-04", "2026-05": "2026-05-01", "May 2026": "2026-05-01", "May 4, 2026": "2026-05-04", "May 4th 2026": "2026-05-04",
		"4 May 2026": "2026-05-04", "v2.1 (Sept 2, 2026)": "2026-09-02", "August 1st, 2026 — more": "2026-08-01", "Week of Jan. 12, 2026": "2026-01-12",
		"v2.1.0": "", "": "", "Mayhem 2026": "", "2026-13-40": "", "Version 2026": "", "2026": "", "May": "", "mai 2026": "",
	} {
		got := ""
		if at, ok := dayIn(label); ok {
			got = at.Format("2006-01-02")
		}
		if got != want {
			t.Errorf("%q is %q, want %q", label, got, want)
		}
	}
}

// An update has an entry for each of its highest headings. Entries are the same
// ones when an update is added before them, and its headings take their ids.
func TestFeedItems(t *testing.T) {
	text := func(ids ...string) []component.Section {
		return []component.Section{{Text: "Before."}, {Heading: "Added", Level: 3, ID: ids[0], Text: "One."}, {Heading: "More", Level: 4, Text: "Deep."}, {Heading: "Added", Level: 3, ID: ids[1]}}
	}
	outline := func(u *page.Update) (out []string) {
		for _, i := range feedItems("https://docs.example/log", u) {
			out = append(out, strings.Join([]string{i.Title, i.Link[len("https://docs.example/log"):], i.GUID.Value[len("https://docs.example/log"):], i.Description}, "|"))
		}
		return out
	}
	for _, c := range []struct {
		name   string
		update page.Update
		want   []string
	}{
		{"headings", page.Update{ID: "v2", Label: "v2", Text: text("added", "added-2")}, []string{
			"v2|#v2|#v2|Before.", "v2: Added|#added|#v2 Added|One.\n\nMore\nDeep.", "v2: Added|#added-2|#v2 Added 2|"}},
		{"headings with other ids", page.Update{ID: "v2", Label: "v2", Text: text("added-3", "added-4")[1:]}, []string{
			"v2: Added|#added-3|#v2 Added|One.\n\nMore\nDeep.", "v2: Added|#added-4|#v2 Added 2|"}},
		{"no headings", page.Update{ID: "v2", Label: "v2", Text: text("", "")[:1]}, []string{"v2|#v2|#v2|Before."}},
		{"nothing", page.Update{ID: "v2", Label: "v2"}, []string{"v2|#v2|#v2|"}},
		{"the author's words", page.Update{ID: "v2", Label: "v2", Title: "Second", Text: text("a", "b")[:2]}, []string{"Second|#v2|#v2|Before.\n\nAdded\nOne."}},
		{"no name", page.Update{Text: text("a", "b")}, nil},
	} {
		if got := outline(&c.update); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A page with updates has a feed, unless the site has a file in its place.
func TestFeed(t *testing.T) {
	v := viewsOf(t, `{"name": "x", "navigation": {"pages": ["a", "b"]}}`, "a|", "b|")
	v.site.Files = append(v.site.Files, "B/rss.xml")
	res := &page.Result{Updates: []page.Update{{Label: "May 2026", ID: "may"}}}
	for i, want := range []string{"a/rss.xml", ""} {
		name, data, err := v.Feed(i, res)
		if err != nil || name != want || strings.Contains(string(data), "<link>https://docs.example/a#may</link>") != (want != "") {
			t.Errorf("%q, %v:\n%s", name, err, data)
		}
	}
	if name, _, err := v.Feed(0, &page.Result{}); name != "" || err != nil {
		t.Errorf("a page without updates: %q, %v", name, err)
	}
}
