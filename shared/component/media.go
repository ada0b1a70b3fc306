package component

func mediaComponents() []*Component {
	return []*Component{
		{
			Name: "Frame", Doc: "A picture or video in a frame, with a caption.", Block: true,
			Attrs: []AttrSpec{
				{"caption", "nodes", "", "Text below the picture."},
				{"hint", "string", "", "Text above the picture."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<figure class="frame">`)
				if e.Has("hint") {
					w.Raw(`<p class="frame-hint">`).Title(e, "hint").Raw("</p>")
				}
				w.Raw(`<div class="frame-content">`).Children(e).Raw("</div>")
				if e.Has("caption") {
					w.Raw("<figcaption>").Title(e, "caption").Raw("</figcaption>")
				}
				w.Raw("</figure>")
			},
			Markdown: func(m *Markdown, e *Element) {
				m.Paragraph(m.Title(e, "hint"))
				m.Children(e)
				if c := m.Title(e, "caption"); c != "" {
					m.Paragraph("*" + c + "*")
				}
			},
			Text: func(t *Text, e *Element) {
				t.Line(e.TitleText("hint"))
				t.Children(e)
				t.Line(e.TitleText("caption"))
			},
		},
		{
			Name: "Panel", Doc: "Content beside the page in place of its contents.", Block: true,
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="panel">`).Children(e).Raw("</div>")
			},
		},
	}
}
