package component

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/words"
)

// On a wide screen, panels and examples stand beside the text and stay in
// sight while it scrolls, in place of the page's contents. On others, and
// where they stand within other elements, they are part of the text.

// Beside reports whether an element stands beside the text when it stands at the
// page's top level. A page writes all such elements, in order, into one box of
// the class "bdy-beside" in place of the first.
func Beside(name string) bool {
	return name == "Panel" || name == "RequestExample" || name == "ResponseExample"
}

// HookID returns the id that the first element of this name on a page has for
// authors' styles and scripts, or "".
func HookID(name string) string {
	switch name {
	case "Panel":
		return "panel"
	case "RequestExample":
		return "request-example"
	case "ResponseExample":
		return "response-example"
	}
	return ""
}

// OpenBeside appends the start of that box; "</div></aside>" ends it.
func (w *Writer) OpenBeside() *Writer {
	return w.Raw(`<aside class="bdy-beside"`).Attr("aria-label", w.say(words.Beside)).Raw(`><div class="bdy-beside-box">`)
}

func exampleComponents() []*Component {
	example := func(name string, label words.Phrase) *Component {
		return &Component{
			Name: name, Doc: "An example of a " + strings.ToLower(strings.TrimSuffix(name, "Example")) + ", beside the text on a wide screen.", Block: true,
			Attrs: []AttrSpec{{"dropdown", "boolean", "false", "Blocks are picked from a list."}},
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "bdy-example").Raw(` role="group"`).Attr("aria-label", w.say(label)).
					Raw(`><p class="bdy-example-title">`).Text(w.say(label)).Raw(`</p><div class="code-group bdy-code-group`)
				if e.Bool("dropdown") {
					w.Raw(` bdy-code-group-dropdown`)
				}
				w.Raw(`">`).Children(e).Raw(`</div></div>`)
			},
			Markdown: func(m *Markdown, e *Element) {
				m.Paragraph(bold(m.say(label)))
				m.Children(e)
			},
		}
	}
	return []*Component{
		example("RequestExample", words.Request),
		example("ResponseExample", words.Response),
		{
			Name: "Panel", Doc: "Content beside the text, in place of the page's contents.", Block: true,
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "panel bdy-panel").Raw(">").Children(e).Raw("</div>")
			},
		},
	}
}
