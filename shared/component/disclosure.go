package component

func disclosureComponents() []*Component {
	attrs := []AttrSpec{
		{"title", "nodes", "", "What is always visible."},
		{"description", "string", "", "Text below the title."},
		{"defaultOpen", "boolean", "false", "Whether it begins open."},
		{"icon", "icon", "", "An icon before the title."},
		{"iconLibrary", "string", "", "The library that the icon's name is looked for in."},
		{"id", "string", "", "The id, made from the title by default."},
	}
	return []*Component{
		{
			Name: "Accordion", Doc: "Content that opens below its title.", Block: true, Attrs: attrs,
			ID: func(e *Element) (string, string) { return "", titleOrID(e) },
			HTML: func(w *Writer, e *Element) {
				disclosureHTML(w, e, "accordion", "Details")
			},
			Markdown: disclosureMarkdown,
		},
		{
			Name: "AccordionGroup", Doc: "Accordions without space between them.", Block: true,
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="accordion-group">`).Children(e).Raw("</div>")
			},
		},
		{
			Name: "Expandable", Doc: "The properties of a field, which open below it.", Block: true, Attrs: attrs,
			HTML: func(w *Writer, e *Element) {
				disclosureHTML(w, e, "expandable", "properties")
			},
			Markdown: disclosureMarkdown,
		},
	}
}

func disclosureHTML(w *Writer, e *Element, class, title string) {
	w.Raw(`<details class="`).Raw(class).Raw(`"`).ID(e)
	if e.Bool("defaultOpen") {
		w.Raw(" open")
	}
	w.Raw("><summary>")
	w.Icon(e, "icon", "disclosure-icon")
	w.Raw(`<span class="disclosure-title">`)
	if e.Has("title") {
		w.Title(e, "title")
	} else {
		w.Text(title)
	}
	w.Raw("</span>")
	if d := e.String("description"); d != "" {
		w.Raw(`<span class="disclosure-description">`).Phrase(d).Raw("</span>")
	}
	w.Raw(`</summary><div class="disclosure-body">`).Children(e).Raw("</div></details>")
}

func disclosureMarkdown(m *Markdown, e *Element) {
	if title := m.Title(e, "title"); title != "" {
		m.Paragraph(bold(title))
	}
	m.Paragraph(escapePhrase(e.String("description")))
	m.Children(e)
}
