package component

import "strings"

// On a wide screen, panels and examples stand beside the text and stay in
// sight while it scrolls, in place of the page's contents. On others, and
// where they stand within other elements, they are part of the text.

// Beside tells whether an element stands beside the text when it stands at the
// page's top level. A page writes all such elements, in order, into one box of
// the class "beside" in place of the first.
func Beside(name string) bool {
	return name == "Panel" || name == "RequestExample" || name == "ResponseExample"
}

func exampleComponents() []*Component {
	example := func(name, label string) *Component {
		return &Component{
			Name: name, Doc: "An example of a " + strings.ToLower(label) + ", beside the text on a wide screen.", Block: true,
			Attrs: []AttrSpec{{"dropdown", "boolean", "false", "Blocks are picked from a list."}},
			HTML: func(w *Writer, e *Element) {
				w.Open("div", e, "example").Raw(` role="group" aria-label="`).Raw(label).Raw(`"><p class="example-title">`).Raw(label).Raw(`</p><div class="code-group`)
				if e.Bool("dropdown") {
					w.Raw(` code-group-dropdown`)
				}
				w.Raw(`">`).Children(e).Raw(`</div></div>`)
			},
			Markdown: func(m *Markdown, e *Element) {
				m.Paragraph("**" + label + "**")
				m.Children(e)
			},
		}
	}
	return []*Component{
		example("RequestExample", "Request"),
		example("ResponseExample", "Response"),
		{
			Name: "Panel", Doc: "Content beside the text, in place of the page's contents.", Block: true,
			HTML: func(w *Writer, e *Element) {
				w.Open("div", e, "panel").Raw(">").Children(e).Raw("</div>")
			},
		},
	}
}
