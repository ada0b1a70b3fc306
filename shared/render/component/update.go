package component

import "strings"

func updateComponents() []*Component {
	return []*Component{{
		Name: "Update", Doc: "An entry of a changelog.", Block: true,
		Attrs: []AttrSpec{
			{"label", "string", "", "Its date or version, which stands in the page's contents."},
			{"description", "text", "", "Text below the label."},
			{"tags", "list", "", "Labels of the entry; readers can pick entries by them."},
			{"rss", "object", "", "Title and description for a feed; not shown."},
		},
		ID:   func(e *Element) (string, string) { return "", e.String("label") },
		HTML: updateHTML,
		Markdown: func(m *Markdown, e *Element) {
			if label := e.String("label"); label != "" {
				m.Paragraph("## " + escapeText(label))
			}
			line := m.Title(e, "description")
			if tags := e.Strings("tags"); len(tags) > 0 {
				line = strings.TrimSpace(line + " (" + escapeText(strings.Join(tags, ", ")) + ")")
			}
			m.Paragraph(line)
			m.Children(e)
		},
		Text: func(t *Text, e *Element) {
			if label := e.String("label"); label != "" {
				t.Begin(2, label, t.ID(e))
			}
			t.Line(e.TitleText("description"))
			t.Line(strings.Join(e.Strings("tags"), " "))
			t.Children(e)
		},
	}}
}

func updateHTML(w *Writer, e *Element) {
	id, label := w.ID(e), e.String("label")
	w.Contents(e, 2, label)
	// A group, no landmark: entries of one day have the same label, and a changelog
	// of a hundred would have a hundred landmarks.
	w.open("div", e, "update bdy-update").Raw(` role="group"`).AttrIf("aria-label", label).Raw(`><div class="bdy-update-head">`)
	switch {
	case label == "":
	case id != "":
		w.Raw(`<p class="bdy-update-label"><a`).Attr("href", "#"+FragmentEscape(id)).Raw(">").Text(label).Raw("</a></p>")
	default:
		w.Raw(`<p class="bdy-update-label">`).Text(label).Raw("</p>")
	}
	if e.Has("description") {
		w.Raw(`<p class="bdy-update-description">`).RichTitle(e, "description").Raw("</p>")
	}
	if tags := e.Strings("tags"); len(tags) > 0 {
		w.Raw(`<p class="bdy-update-tags">`)
		for _, tag := range tags {
			w.Raw(`<span class="bdy-badge">`).Text(tag).Raw("</span> ")
		}
		w.Raw("</p>")
	}
	w.Raw(`</div><div class="bdy-update-body">`).Children(e).Raw("</div></div>")
}
