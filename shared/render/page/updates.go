package page

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Update is an entry of a changelog on a page, for feeds.
type Update struct {
	// ID is the entry's id on the page, "" for one without a label.
	ID string
	// Label and Description are what the page shows above the entry.
	Label, Description string
	// Title and Summary are those that the author wants in feeds, or empty.
	Title, Summary string
	Tags           []string
	// Text is what stands in the entry, by heading.
	Text []component.Section
}

// updated keeps what feeds need of an Update.
func (w *htmlWriter) updated(e *component.Element) {
	u := Update{ID: w.ids[e.Node], Label: e.String("label"), Description: e.TitleText("description"), Tags: e.Strings("tags")}
	t := w.NewText()
	t.Children(e)
	u.Text = t.Sections()
	v, _ := e.Value("rss")
	if o, ok := v.(mdx.Object); ok {
		text := func(key string) string {
			v, _ := o.Get(key)
			s, _ := v.(string)
			return strings.TrimSpace(s)
		}
		u.Title, u.Summary = text("title"), text("description")
	}
	w.result.Updates = append(w.result.Updates, u)
}

// Contents implements component.HTML.
func (w *htmlWriter) Contents(e *component.Element, level int, text string) {
	w.listed(level, w.ids[e.Node], text)
	if e.Component != nil && e.Component.Name == "Update" {
		w.updated(e)
	}
}
