package component

import "github.com/bindery-docs/bindery/shared/render/mdx"

func frameComponents() []*Component {
	return []*Component{{
		Name: "Frame", Doc: "A picture or video in a frame, with a caption.", Block: true,
		Attrs: []AttrSpec{
			{"caption", "text", "", "Text below the picture; links may stand in it."},
			{"hint", "text", "", "Text above the picture."},
		},
		Ready: func(e *Element) { playQuietly(e.Flat()) },
		HTML:  frameHTML,
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
	}}
}

func frameHTML(w *Writer, e *Element) {
	w.open("figure", e, "frame bdy-frame").Raw(">")
	if e.Has("hint") {
		w.Raw(`<p class="bdy-frame-hint">`).RichTitle(e, "hint").Raw("</p>")
	}
	w.Raw(`<div class="bdy-frame-content">`).Children(e).Raw("</div>")
	if e.Has("caption") {
		w.Raw("<figcaption>").RichTitle(e, "caption").Raw("</figcaption>")
	}
	w.Raw("</figure>")
}

// playQuietly lets a video that plays by itself do so without sound, in its
// place and again and again: browsers refuse to start one with sound.
func playQuietly(nodes []*mdx.Node) {
	for _, n := range nodes {
		if n.Kind != mdx.Element || n.Name != "video" {
			continue
		}
		if _, ok := n.Attr("autoPlay"); !ok {
			if _, ok = n.Attr("autoplay"); !ok {
				continue
			}
		}
		for _, name := range []string{"muted", "loop", "playsInline"} {
			if _, ok := n.Attr(name); !ok {
				n.Attrs = append(n.Attrs, mdx.Attr{Kind: mdx.AttrBool, Name: name, Pos: n.Pos})
			}
		}
	}
}
