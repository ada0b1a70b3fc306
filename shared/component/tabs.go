package component

import "strconv"

func tabComponents() []*Component {
	return []*Component{
		{
			Name: "Tabs", Doc: "Several texts of which a reader picks one.", Block: true,
			Attrs: []AttrSpec{
				{"groupId", "string", "", "Tabs with the same group change together; by default those with the same titles do."},
				{"sync", "boolean", "true", "Whether other tabs of the same title follow."},
				{"defaultTabIndex", "number", "0", "The tab that is shown first."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="tabs"`).AttrIf("data-group", e.String("groupId"))
				if e.Has("sync") && !e.Bool("sync") {
					w.Raw(` data-sync="false"`)
				}
				if n, ok := e.Number("defaultTabIndex"); ok && n > 0 && n < 1000 {
					w.Attr("data-default", strconv.Itoa(int(n)))
				}
				w.Raw(">").Children(e).Raw("</div>")
			},
		},
		{
			Name: "Tab", Doc: "One of several tabs.", Block: true,
			Attrs: []AttrSpec{
				{"title", "nodes", "", "The tab's label."},
				{"icon", "icon", "", "An icon before the label."},
				{"iconLibrary", "string", "", "The library that the icon's name is looked for in."},
				{"id", "string", "", "The tab's id, made from its title by default."},
			},
			ID: func(e *Element) (string, string) { return "", titleOrID(e) },
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="tab"`).ID(e).Raw(`><p class="tab-title">`)
				w.Icon(e, "icon", "tab-icon")
				w.Title(e, "title").Raw(`</p><div class="tab-body">`).Children(e).Raw("</div></div>")
			},
			Markdown: titledMarkdown,
		},
		{
			Name: "View", Doc: "A part of the page for readers of one language or platform.", Block: true,
			Attrs: []AttrSpec{
				{"title", "string", "", "Whom the part is for."},
				{"icon", "icon", "", "An icon before the title."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="view"`).Raw(`><p class="view-title">`)
				w.Icon(e, "icon", "tab-icon")
				w.Title(e, "title").Raw(`</p><div class="view-body">`).Children(e).Raw("</div></div>")
			},
			Markdown: titledMarkdown,
		},
	}
}

// titledMarkdown writes the title as a bold line and the content below it.
func titledMarkdown(m *Markdown, e *Element) {
	if title := m.Title(e, "title"); title != "" {
		m.Paragraph(bold(title))
	}
	m.Children(e)
}
