package page

import (
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// text adds the words of nodes.
func (s *state) text(t *component.Text, list []*mdx.Node) {
	for _, n := range list {
		s.textNode(t, n)
	}
}

func (s *state) textNode(t *component.Text, n *mdx.Node) {
	switch n.Kind {
	case mdx.Text, mdx.InlineCode, mdx.InlineMath:
		t.Add(n.Value)
	case mdx.Image:
		t.Add(n.Value)
	case mdx.Break:
		t.Break()
	case mdx.Paragraph, mdx.Blockquote, mdx.List, mdx.ListItem, mdx.TableRow:
		t.Break()
		s.text(t, n.Children)
		t.Break()
	case mdx.TableCell:
		s.text(t, n.Children)
		t.Add(" ")
	case mdx.Heading:
		t.Begin(n.Level, s.plain(n.Children), s.ids[n])
	case mdx.CodeBlock:
		f := parseFence(n.Name, n.Meta)
		t.Verbatim(f.annotations(n.Value))
	case mdx.MathBlock:
		t.Verbatim(n.Value)
	case mdx.Element:
		s.textElement(t, n)
	case mdx.Emphasis, mdx.Strong, mdx.Delete, mdx.Link, mdx.Table, mdx.Document:
		s.text(t, n.Children)
	}
}

func (s *state) textElement(t *component.Text, n *mdx.Node) {
	if c := s.component(n); c != nil {
		e := s.element(n, c)
		switch {
		case c.Text != nil:
			c.Text(t, e)
		case c.Block:
			t.Line(e.TitleText("title"))
			t.Line(e.String("description"))
			t.Children(e)
		default:
			s.text(t, n.Children)
		}
		return
	}
	switch {
	case isHeadingTag(n.Name):
		t.Begin(int(n.Name[1]-'0'), s.plain(n.Children), s.ids[n])
	case n.Name == "script" || n.Name == "svg" || n.Name == "iframe" || rules(n.Name)&(drop|rawText) != 0:
	case n.Name == "img":
		t.Add(s.element(n, nil).String("alt"))
	case isBlockTag(n.Name) || n.Name == "br":
		t.Break()
		s.text(t, n.Children)
		t.Break()
	default:
		s.text(t, n.Children)
	}
}

// footnoteText adds the footnotes that the page refers to.
func (s *state) footnoteText(t *component.Text) {
	for _, f := range s.order {
		s.text(t, f.def.Children)
	}
}
