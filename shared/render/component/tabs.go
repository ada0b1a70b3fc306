package component

import (
	"slices"
	"strconv"
)

func tabComponents() []*Component {
	return []*Component{
		{
			Name: "Tabs", Doc: "Several texts of which a reader picks one.", Block: true,
			Attrs: []AttrSpec{
				{"sync", "boolean", "true", "Whether tabs and blocks of code with the same title change together."},
				{"groupId", "string", "", "Only tabs with the same group change together."},
				{"defaultTabIndex", "number", "0", "The tab that is shown first."},
				{"borderBottom", "boolean", "false", "A line below, apart from the text that follows."},
			},
			HTML: tabsHTML,
		},
		{
			Name: "Tab", Doc: "One of several tabs.", Block: true,
			Attrs: slices.Concat([]AttrSpec{{"title", "text", "", "The tab's label."}}, iconAttrs("An icon before the label.")),
			ID:    func(e *Element) (string, string) { return "", e.TitleText("title") },
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "tab bdy-tab").Raw(`><p class="bdy-tab-title">`)
				w.icon(e, "icon", "bdy-tab-icon")
				w.title(e, "title").Raw(`</p><div class="bdy-tab-body">`).Children(e).Raw("</div></div>")
			},
			Markdown: titledMarkdown,
		},
	}
}

// tabsHTML appends the tabs one below the other, each with its title: what is
// read without JavaScript. The script makes a list of tabs of the titles.
func tabsHTML(w *Writer, e *Element) {
	w.open("div", e, "tabs bdy-tabs", when(e.Bool("borderBottom"), "bdy-tabs-border")).AttrIf("data-bindery-group", e.String("groupId"))
	if e.Has("sync") && !e.Bool("sync") {
		w.Raw(` data-bindery-sync="false"`)
	}
	if n, ok := e.Number("defaultTabIndex"); ok && n > 0 && n < 1000 {
		w.Attr("data-bindery-default", strconv.Itoa(int(n)))
	}
	w.Raw(">").Children(e).Raw("</div>")
}

// titledMarkdown writes the title as a bold line and the content below it.
func titledMarkdown(m *Markdown, e *Element) {
	if title := m.Title(e, "title"); title != "" {
		m.Paragraph(bold(title))
	}
	m.Children(e)
}
