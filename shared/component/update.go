package component

import "strings"

func updateComponents() []*Component {
	return []*Component{{
		Name: "Update", Doc: "An entry of a changelog.", Block: true,
		Attrs: []AttrSpec{
			{"label", "string", "", "Its date or version."},
			{"description", "string", "", "Text below the label."},
			{"tags", "list", "", "Labels of the entry."},
			{"id", "string", "", "The id, made from the label by default."},
		},
		ID: func(e *Element) (string, string) {
			if id := e.String("id"); id != "" {
				return "", id
			}
			return "", e.String("label")
		},
		HTML: func(w *Writer, e *Element) {
			id := w.Services.ID(e)
			w.Contents(e, 2, e.String("label"))
			w.Raw(`<section class="update"`).AttrIf("id", id).Raw(`><div class="update-head"><p class="update-label">`)
			if id != "" {
				w.Raw(`<a`).Attr("href", "#"+FragmentEscape(id)).Raw(">").Text(e.String("label")).Raw("</a>")
			} else {
				w.Text(e.String("label"))
			}
			w.Raw("</p>")
			if d := e.String("description"); d != "" {
				w.Raw(`<p class="update-description">`).Phrase(d).Raw("</p>")
			}
			if tags := e.Strings("tags"); len(tags) > 0 {
				w.Raw(`<p class="update-tags">`)
				for _, tag := range tags {
					w.Raw(`<span class="badge">`).Text(tag).Raw("</span> ")
				}
				w.Raw("</p>")
			}
			w.Raw(`</div><div class="update-body">`).Children(e).Raw("</div></section>")
		},
		Markdown: func(m *Markdown, e *Element) {
			m.Paragraph("## " + escapePhrase(e.String("label")))
			line := escapePhrase(e.String("description"))
			if tags := e.Strings("tags"); len(tags) > 0 {
				line = strings.TrimSpace(line + " (" + escapePhrase(strings.Join(tags, ", ")) + ")")
			}
			m.Paragraph(line)
			m.Children(e)
		},
		Text: func(t *Text, e *Element) {
			t.Begin(2, e.String("label"), t.ID(e))
			t.Line(e.String("description"))
			t.Line(strings.Join(e.Strings("tags"), " "))
			t.Children(e)
		},
	}}
}
