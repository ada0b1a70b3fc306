package page

import (
	"cmp"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

var _ component.Services = (*state)(nil)

// Link implements component.Services.
func (s *state) Link(e *component.Element, href string) string {
	return s.link(e.Node, attrPos(e.Node, "href"), href)
}

// Lang implements component.Services.
func (s *state) Lang() string {
	if s.lang == nil {
		// The language of the section that the page shows beside it: what is
		// around the page speaks it.
		section := cmp.Or(s.r.site.Near(s.page), s.r.fallback)
		lang := cmp.Or(s.r.site.Language(section), s.r.lang)
		s.lang = &lang
	}
	return *s.lang
}

// say returns a phrase in the page's language.
func (s *state) say(p words.Phrase) string { return words.In(s.Lang()).Say(p) }

// InLink implements component.Services.
func (s *state) InLink() bool { return s.anchors > 0 }

// Asset implements component.Services.
func (s *state) Asset(e *component.Element, src string) string {
	return s.asset(e.Node, e.Node.Pos, src)
}

// Size implements component.Services.
func (s *state) Size(_ *component.Element, src string) (width, height int, ok bool) {
	size, ok := s.sizeOf(src)
	return size.Width, size.Height, ok
}

// MarkdownLink implements component.Services.
func (s *state) MarkdownLink(_ *component.Element, href string) string { return s.markdownLink(href) }

// Icon implements component.Services.
func (s *state) Icon(e *component.Element, name string) (string, bool) {
	if s.r.icons == nil {
		return "", false
	}
	library := e.String("iconLibrary")
	if library == "" {
		library = e.String("library")
	}
	if library == "" {
		library = s.r.site.Config.Icons.Library
	}
	svg, ok := s.r.icons.Icon(name, library, e.String("iconType"))
	if !ok {
		s.report(s.fileOf(e.Node), e.Node.Pos, mdx.Warning, "icon-unknown", "no icon is called "+name)
	}
	return svg, ok
}

// Style implements component.Services.
func (s *state) Style(e *component.Element, css string) string {
	return s.style(e.Node, e.Node.Pos, css)
}

// StyleClass implements component.Services.
func (s *state) StyleClass(e *component.Element) string { return s.styleClass(e.Node) }

// ID implements component.Services.
func (s *state) ID(e *component.Element) string {
	id := s.ids[e.Node]
	s.emitted(id)
	return id
}

// Contents implements component.Services.
func (s *state) Contents(e *component.Element, level int, text string) {
	s.listed(level, s.ids[e.Node], text)
	if e.Component != nil && e.Component.Name == "Update" {
		s.updated(e)
	}
}

// Slot implements component.Services.
func (s *state) Slot(e *component.Element, name string) []*mdx.Node { return s.slots[e.Node][name] }

// Inline implements component.Services.
func (s *state) Inline(e *component.Element, name, text string) []*mdx.Node {
	list := mdx.ParseInline(text)
	pos := attrPos(e.Node, name)
	file, foreign := s.origin[e.Node]
	for _, n := range list {
		mdx.Walk(n, func(n *mdx.Node) bool {
			n.Pos, n.End = pos, pos
			if foreign && n.Kind == mdx.Link { // what may be reported
				s.origin[n] = file
			}
			return true
		})
	}
	return list
}

// AppendHTML implements component.Services. Text that stands beside blocks, as in
// <Step>Do this: <Note>…</Note></Step>, becomes paragraphs: a style sheet sees no
// text, and would put no space between the two.
func (s *state) AppendHTML(b []byte, nodes []*mdx.Node) []byte {
	if !s.hasBlock(nodes) {
		return s.blocks(b, nodes)
	}
	for len(nodes) > 0 {
		n, text := 0, false
		for n < len(nodes) && !s.isBlock(nodes[n]) {
			text = text || nodes[n].Kind == mdx.Text && strings.TrimSpace(nodes[n].Value) != ""
			n++
		}
		switch {
		case n == 0:
			n = 1
			b = s.html(b, nodes[0])
		case text && !s.hasBlock(nodes[:n]):
			b = append(b, "<p>"...)
			b = s.blocks(b, nodes[:n])
			b = append(b, "</p>\n"...)
		default:
			b = s.blocks(b, nodes[:n])
		}
		nodes = nodes[n:]
	}
	return b
}

// AppendCode implements component.Services.
func (s *state) AppendCode(b []byte, c component.Code) []byte { return s.codeBlock(b, nil, c) }

// Markdown implements component.Services.
func (s *state) Markdown(m *component.Markdown, nodes []*mdx.Node) { s.markdownBlocks(m, nodes) }

// MarkdownCode implements component.Services.
func (s *state) MarkdownCode(m *component.Markdown, c component.Code) { markdownCode(m, c) }

// MarkdownInline implements component.Services.
func (s *state) MarkdownInline(nodes []*mdx.Node) string { return string(s.inlineMarkdown(nil, nodes)) }

// Text implements component.Services.
func (s *state) Text(t *component.Text, nodes []*mdx.Node) { s.text(t, nodes) }

// Report implements component.Services.
func (s *state) Report(e *component.Element, severity mdx.Severity, code, message string) {
	s.report(s.fileOf(e.Node), e.Node.Pos, severity, code, message)
}

// component finds the component that an element names, nil for an HTML
// element or an unknown one.
func (s *state) component(n *mdx.Node) *component.Component { return s.r.registry.Lookup(n.Name) }

func (s *state) element(n *mdx.Node, c *component.Component) *component.Element {
	return component.NewElement(n, c, s)
}

func attrPos(n *mdx.Node, name string) mdx.Pos {
	if a, ok := n.Attr(name); ok && a.Pos.Line > 0 {
		return a.Pos
	}
	return n.Pos
}
