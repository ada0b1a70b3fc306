package component

import (
	"slices"

	"github.com/bindery-docs/bindery/shared/render/words"
)

func accordionComponents() []*Component {
	return []*Component{
		{
			Name: "Accordion", Doc: "Content that opens below its title.", Block: true,
			Attrs: slices.Concat(
				[]AttrSpec{
					{"title", "text", "", "What is always visible."},
					{"description", "text", "", "Text below the title."},
					{"defaultOpen", "boolean", "false", "Whether it begins open."},
				},
				iconAttrs("An icon before the title.")),
			ID:       func(e *Element) (string, string) { return "", e.TitleText("title") },
			HTML:     func(w *Writer, e *Element) { disclosureHTML(w, e, "accordion bdy-accordion", words.Details) },
			Markdown: disclosureMarkdown,
		},
		{
			Name: "AccordionGroup", Doc: "Accordions without space between them.", Block: true,
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "accordion-group bdy-accordion-group").Raw(">").Children(e).Raw("</div>")
			},
		},
	}
}

// disclosureHTML appends what opens and closes without a script: a details
// element. title is shown where the author gave none.
func disclosureHTML(w *Writer, e *Element, class string, title words.Phrase) {
	w.open("details", e, class)
	if e.Bool("defaultOpen") {
		w.Raw(" open")
	}
	w.Raw("><summary>")
	w.icon(e, "icon", "bdy-disclosure-icon")
	w.Raw(`<span class="bdy-disclosure-title">`)
	if e.Has("title") {
		w.title(e, "title")
	} else {
		w.Text(w.say(title))
	}
	w.Raw("</span>")
	if e.Has("description") {
		w.Raw(`<span class="bdy-disclosure-description">`).title(e, "description").Raw("</span>")
	}
	w.Raw(`</summary><div class="bdy-disclosure-body">`).Children(e).Raw("</div></details>")
}

func disclosureMarkdown(m *Markdown, e *Element) {
	if title := m.Title(e, "title"); title != "" {
		m.Paragraph(bold(title))
	}
	m.Paragraph(m.Title(e, "description"))
	m.Children(e)
}
