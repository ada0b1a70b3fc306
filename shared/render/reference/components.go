package reference

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Names of components that no author can write: a tag begins with a letter.
const (
	endpointName   = "#endpoint"
	playgroundName = "#playground"
	typesName      = "#types"
	absentName     = "#absent"
)

// Groups of tabs that change together: content types of what is sent, and of
// answers. The script of the playground knows them too.
const (
	requestTypes = "request-type"
	answerTypes  = "answer-type"
)

// IsPlayground reports whether a node is the form that sends a call.
func IsPlayground(n *mdx.Node) bool { return n.Kind == mdx.Element && n.Name == playgroundName }

// Absent returns what readers see in the place of what a specification should
// have said, in a page's language. remote is set where the specification is on
// another host, which may have it later. Search does not find pages by it.
func Absent(lang string, remote bool) *mdx.Node {
	b := &builder{pos: mdx.Pos{Line: 1, Column: 1}, slice: &Slice{}}
	phrase := words.NoReference
	if remote {
		phrase = words.NoRemoteReference
	}
	say := b.paragraph(b.text(words.In(lang).Say(phrase)))
	return b.element(absentName, nil, b.element("Warning", nil, say))
}

// Components are the components that Content's nodes name besides those that
// authors have.
func Components() []*component.Component {
	return []*component.Component{
		{
			Name: endpointName, Doc: "Method and path of a call.", Block: true,
			HTML: func(w *component.Writer, e *component.Element) {
				method, server := e.String("method"), e.String("server")
				w.Raw(`<div class="bdy-endpoint"><span class="bdy-endpoint-method method-pill`)
				if c := methodClass(method); c != "" {
					w.Raw(" bdy-endpoint-").Raw(c)
				}
				w.Raw(`">`).Text(method).Raw(`</span> <code class="bdy-endpoint-path">`)
				if e.Bool("full") {
					w.Raw(`<span class="bdy-endpoint-server">`).Text(server).Raw(`</span>`)
				}
				pathHTML(w, e.String("path"))
				w.Raw(`</code>`)
				if e.Bool("deprecated") {
					w.Raw(` <span class="bdy-endpoint-deprecated">`).Text(words.In(w.Lang()).Say(words.Deprecated)).Raw(`</span>`)
				}
				if server != "" && !e.Bool("full") {
					w.Raw(` <span class="bdy-endpoint-base">`).Text(server).Raw(`</span>`)
				}
				w.Raw("</div>\n")
			},
			Markdown: func(m *component.Markdown, e *component.Element) {
				m.Paragraph("**" + e.String("method") + "** " + component.CodeSpan(e.String("server")+e.String("path")))
			},
			Text: func(t *component.Text, e *component.Element) {
				t.Line(e.String("method") + " " + e.String("path"))
			},
		},
		{
			Name: typesName, Doc: "Tabs with samples by content type, picked from a list.", Block: true,
			HTML: func(w *component.Writer, e *component.Element) {
				w.Raw(`<div class="tabs bdy-tabs bdy-code-group-dropdown bdy-sample-types" data-bindery-group="`+requestTypes+`"`).
					Attr("data-bindery-label", words.In(w.Lang()).Say(words.ContentType)).Raw(">").Children(e).Raw("</div>")
			},
		},
		{
			Name: absentName, Doc: "Stands in the place of what could not be read.", Block: true,
			HTML:     func(w *component.Writer, e *component.Element) { w.Children(e) },
			Markdown: func(m *component.Markdown, e *component.Element) { m.Children(e) },
			Text:     func(*component.Text, *component.Element) {},
		},
		{
			Name: playgroundName, Doc: "A form that sends a call.", Block: true,
			HTML: func(w *component.Writer, e *component.Element) {
				w.Raw(`<div class="bdy-playground"`).Attr("data-bindery-model", e.String("model")).Raw("></div>\n")
			},
			Markdown: func(*component.Markdown, *component.Element) {},
			Text:     func(*component.Text, *component.Element) {},
		},
	}
}

func methodClass(method string) string {
	switch m := strings.ToLower(method); m {
	case "get", "post", "put", "patch", "delete":
		return m
	}
	return ""
}

// pathHTML appends a path with its parameters marked.
func pathHTML(w *component.Writer, path string) {
	for path != "" {
		open := strings.IndexByte(path, '{')
		end := strings.IndexByte(path, '}')
		if open < 0 || end < open {
			break
		}
		w.Text(path[:open]).Raw(`<span class="bdy-endpoint-param">`).Text(path[open : end+1]).Raw(`</span>`)
		path = path[end+1:]
	}
	w.Text(path)
}
