package component

func visibilityComponents() []*Component {
	// The page's text goes to the search index, which people use.
	return []*Component{{
		Name: "Visibility", Doc: "Content for people only, or only for programs that read the Markdown copy.", Block: true,
		Attrs: []AttrSpec{{"for", "string", "", "humans: on the page alone. agents: in the Markdown copy and llms.txt alone."}},
		HTML: func(w *Writer, e *Element) {
			if e.String("for") != "agents" {
				w.Children(e)
			}
		},
		Markdown: func(m *Markdown, e *Element) {
			if e.String("for") != "humans" {
				m.Children(e)
			}
		},
		Text: func(t *Text, e *Element) {
			if e.String("for") != "agents" {
				t.Children(e)
			}
		},
	}}
}
