package site

import "testing"

// TestNearest: forty slips of authors, and words that are no slips.
func TestNearest(t *testing.T) {
	words := []string{
		"Card", "Columns", "Accordion", "AccordionGroup", "Warning", "Note", "Tip", "Info", "Check", "Danger", "Steps", "Step", "Tabs", "Tab",
		"CodeGroup", "Frame", "Tooltip", "Update", "ParamField", "ResponseField", "Expandable", "Icon", "Panel", "Tree",
		"quickstart", "guides/writing", "guides/publishing", "api-reference/users", "changelog", "images/favicon.svg",
		"rocket", "book-open", "circle-check", "arrow-right", "magnifying-glass",
	}
	for slip, want := range map[string]string{
		"Cadr": "Card", "Crad": "Card", "Cards": "Card", "card": "Card", "Colums": "Columns", "Column": "Columns", "Acordion": "Accordion",
		"Accordian": "Accordion", "AccordionGrop": "AccordionGroup", "Acordiongroup": "AccordionGroup", "Wraning": "Warning", "Waring": "Warning",
		"Warnign": "Warning", "Noet": "Note", "Notes": "Note", "Tpi": "Tip", "Inf": "Info", "Chekc": "Check", "Dangre": "Danger", "Stepss": "Steps",
		"Codegroup": "CodeGroup", "CodeGruop": "CodeGroup", "Fraem": "Frame", "Toltip": "Tooltip", "ToolTip": "Tooltip", "Udpate": "Update",
		"ParmField": "ParamField", "ReponseField": "ResponseField", "Expandible": "Expandable", "Icno": "Icon", "Pannel": "Panel",
		"quickstrat": "quickstart", "quick-start": "quickstart", "guides/writting": "guides/writing", "guide/writing": "guides/writing",
		"guides/publising": "guides/publishing", "api-refrence/users": "api-reference/users", "chagelog": "changelog", "rokcet": "rocket",
		"magnifing-glass": "magnifying-glass",
	} {
		if got := Nearest(slip, words); got != want {
			t.Errorf("%s: %q, want %q", slip, got, want)
		}
	}
	for _, other := range []string{"", "x", "Video", "Whatever", "start", "guides", "nonexistant-icon", "Tax1", "quickstart-for-teams"} {
		if got := Nearest(other, words); got != "" {
			t.Errorf("%s: %q", other, got)
		}
	}
}

// TestNoNearest: words of authors that are no slips of those of the format.
func TestNoNearest(t *testing.T) {
	words := []string{
		"related", "tag", "title", "icon", "mode", "rss", "api", "groups", "hidden", "noindex", "keywords", "description", "sidebarTitle", "public",
		"openapi", "url", "version", "deprecated", "timestamp", "color", "tabs", "pages", "root", "href", "name", "theme", "logo", "fonts", "navbar", "footer", "search", "banner", "seo",
	}
	for _, other := range []string{
		"created", "stage", "date", "author", "slug", "layout", "weight", "status", "type", "image", "order", "draft", "locale", "lang", "toc",
		"category", "owner", "updated", "section", "parent", "published", "team", "level", "source", "format",
	} {
		if got := Nearest(other, words); got != "" {
			t.Errorf("%s: %q", other, got)
		}
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("Wraning", "Warning")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if near := Nearest(a, []string{b}); near != "" && near != b {
			t.Errorf("%q: %q of %q", a, near, b)
		}
		if len(a) < 100 && len(b) < 100 {
			d := Distance(a, b)
			if got := slips(a, b, 2); got <= 2 && got != d || d <= 2 && got != d {
				t.Errorf("slips(%q, %q) = %d, and Distance is %d", a, b, got, d)
			}
		}
	})
}
