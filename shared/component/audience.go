package component

import "strings"

func audienceComponents() []*Component {
	return []*Component{
		{
			Name: "Visibility", Doc: "Content for people only, or only for programs that read the Markdown copy.", Block: true,
			Attrs: []AttrSpec{{"for", "string", "", "humans or agents."}},
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
		},
		{
			Name: "Prompt", Doc: "A text to give to an assistant, ready to be copied.", Block: true,
			Attrs: []AttrSpec{
				{"description", "nodes", "", "What the prompt does."},
				{"icon", "icon", "", "An icon before the description."},
				{"actions", "list", "", "Understood and ignored: copying is always offered."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="prompt"><p class="prompt-title">`)
				w.Icon(e, "icon", "prompt-icon")
				if e.Has("description") {
					w.Title(e, "description")
				} else {
					w.Raw("Prompt")
				}
				w.Raw(`</p><div class="prompt-body" tabindex="0">`).Children(e).Raw("</div></div>")
			},
			Markdown: func(m *Markdown, e *Element) {
				m.Paragraph(m.Title(e, "description"))
				m.Push("> ", "> ")
				m.Children(e)
				m.Pop()
			},
			Text: func(t *Text, e *Element) {
				t.Line(e.TitleText("description"))
				t.Children(e)
			},
		},
		{
			Name: "GitHub.Repo", Doc: "A link to a repository on GitHub.", Block: true,
			Attrs: []AttrSpec{
				{"repo", "string", "", "owner/name"},
				{"variant", "string", "", "inset or flat"},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="card card-horizontal">`)
				if svg, ok := w.Services.Icon(e, "github"); ok {
					w.Raw(`<span class="card-icon">`).Raw(svg).Raw("</span>")
				}
				w.Raw(`<div class="card-body"><p class="card-title"><a class="card-link"`).
					Attr("href", w.Link(e, repoAddress(e))).Raw(">").Text(e.String("repo")).Raw("</a></p></div></div>")
			},
			Markdown: func(m *Markdown, e *Element) {
				m.Paragraph("[" + escapePhrase(e.String("repo")) + "](" + repoAddress(e) + ")")
			},
			Text: func(t *Text, e *Element) { t.Line(e.String("repo")) },
		},
	}
}

func repoAddress(e *Element) string {
	return "https://github.com/" + strings.Trim(strings.TrimPrefix(e.String("repo"), "https://github.com/"), "/ ")
}
