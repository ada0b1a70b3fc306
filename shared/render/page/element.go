package page

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// registerElements registers elements: components and those of HTML.
func registerElements(k *kinds) {
	k[mdx.Element] = kind{
		form: formElement, resolve: (*state).expandElement, html: (*state).elementHTML, markdown: (*state).markdownElement, phrase: (*state).inlineElement, text: (*state).textElement,
	}
}

// elementHTML appends a component or an HTML element.
func (s *state) elementHTML(b []byte, n *mdx.Node) []byte {
	if c := s.component(n); c != nil {
		e := s.element(n, c)
		if a, ok := n.Attr("className"); ok {
			s.classNames(a)
		}
		w := component.Writer{B: b, Services: s}
		c.HTML(&w, e)
		if c.Block {
			w.B = append(w.B, '\n')
		}
		return w.B
	}
	if !isTag(n.Name) {
		s.reportOnce(n, "component "+n.Name, n.Pos, "component-unknown", "there is no component <"+n.Name+">; its content is shown without it")
		return s.blocks(b, n.Children)
	}
	return s.tag(b, n)
}

// reportOnce records a warning the first time that key occurs on the page.
func (s *state) reportOnce(n *mdx.Node, key string, pos mdx.Pos, code, message string) {
	if _, again := s.once[key]; again {
		return
	}
	if s.once == nil {
		s.once = map[string]struct{}{}
	}
	s.once[key] = struct{}{}
	s.report(s.fileOf(n), pos, mdx.Warning, code, message)
}

// markdownElement writes a component or an HTML element.
func (s *state) markdownElement(m *component.Markdown, n *mdx.Node) {
	if c := s.component(n); c != nil {
		if c.Markdown != nil {
			c.Markdown(m, s.element(n, c))
		} else {
			s.markdownBlocks(m, n.Children)
		}
		return
	}
	name := n.Name
	switch {
	case isHeadingTag(name):
		s.markdownHeading(m, int(name[1]-'0'), n.Children)
	case name == "hr":
		m.Paragraph("---")
	case name == "pre":
		if text := strings.Trim(mdx.PlainText(n), "\n"); text != "" {
			markdownCode(m, component.Code{Value: text})
		}
	case name == "ul" || name == "ol":
		number := 1
		for _, c := range n.Children {
			if c.Kind != mdx.Element || c.Name != "li" {
				s.markdownBlocks(m, []*mdx.Node{c})
				continue
			}
			marker := "- "
			if name == "ol" {
				marker = strconv.Itoa(number) + ". "
				number++
			}
			s.markdownWithin(m, marker, c)
		}
	case name == "blockquote":
		s.markdownWithin(m, "> ", n)
	case name == "table":
		var rows [][]string
		s.htmlRows(n, &rows)
		markdownTable(m, rows, nil)
	case name == "summary":
		if text := s.markdownPhrase(soleParagraph(n.Children)); text != "" {
			m.Paragraph("**" + text + "**")
		}
	case rules(name)&(drop|rawText) != 0 || name == "script" || name == "svg":
	default:
		s.markdownBlocks(m, n.Children)
	}
}

func (s *state) inlineElement(b []byte, n *mdx.Node) []byte {
	if c := s.component(n); c != nil {
		if c.Markdown == nil || c.Block {
			return s.inlineMarkdown(b, n.Children)
		}
		m := component.NewMarkdown(s)
		c.Markdown(m, s.element(n, c))
		return append(b, bytes.TrimRight(m.Bytes(), "\n")...)
	}
	switch n.Name {
	case "br":
		return s.lineBreak(b)
	case "strong", "b":
		return s.delimited(b, "**", n.Children)
	case "em", "i":
		return s.delimited(b, "*", n.Children)
	case "del", "s":
		return s.delimited(b, "~~", n.Children)
	case "code", "kbd", "samp", "tt":
		if text := strings.Join(strings.Fields(mdx.PlainText(n)), " "); text != "" {
			return append(b, component.CodeSpan(text)...)
		}
		return b
	case "a":
		if href := s.element(n, nil).String("href"); href != "" {
			return s.markdownAnchor(b, n.Children, href)
		}
	case "img":
		e := s.element(n, nil)
		return s.markdownImage(b, e.String("alt"), e.String("src"))
	case "iframe", "video", "audio":
		e := s.element(n, nil)
		src, title := e.String("src"), e.String("title")
		if src == "" {
			return s.inlineMarkdown(b, n.Children)
		}
		if title == "" {
			title = src
		}
		b = append(b, '[')
		b = component.AppendMarkdown(b, title)
		b = append(b, "]("...)
		b = append(b, markdownAddress(s.r.site.Resolve(s.page, src).Href)...)
		return append(b, ')')
	case "svg", "script", "style":
		return b
	}
	return s.inlineMarkdown(b, n.Children)
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
