package frame

import (
	"strings"
	"testing"

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
