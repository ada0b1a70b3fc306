package page

import (
	"bytes"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// markdown writes the page's Markdown copy: title and description first, then
// the tree without any JSX.
func (s *state) markdown(p *site.Page) []byte {
	m := component.NewMarkdown(s)
	m.Paragraph("# " + inlineText(p.Title))
	if p.Description != "" {
		m.Push("> ", "> ")
		m.Paragraph(m.Title(s.leadElement(p.Description), "description"))
		m.Pop()
	}
	s.markdownBlocks(m, s.root)
	for _, f := range s.order {
		m.Push("[^"+f.label+"]: ", "    ")
		s.markdownBlocks(m, f.def.Children)
		m.Pop()
	}
	return m.Bytes()
}

// inlineText writes a plain text on one line.
func inlineText(text string) string {
	return string(component.AppendMarkdown([]byte("x"), strings.Join(strings.Fields(text), " "))[1:])
}

// markdownBlocks writes nodes as blocks; runs of inline nodes are paragraphs.
func (s *state) markdownBlocks(m *component.Markdown, list []*mdx.Node) {
	for i := 0; i < len(list); {
		if s.isBlock(list[i]) {
			s.markdownBlock(m, list[i])
			i++
			continue
		}
		start := i
		for i < len(list) && !s.isBlock(list[i]) {
			i++
		}
		m.Paragraph(s.markdownPhrase(list[start:i]))
	}
}

// markdownPhrase gives inline nodes as they stand in a paragraph.
func (s *state) markdownPhrase(list []*mdx.Node) string {
	// The buffer is taken while it is in use: a component in the phrase may
	// write a phrase of its own.
	b := s.scratch[:0]
	s.scratch = nil
	b = s.inlineMarkdown(b, list)
	text := string(bytes.Trim(b, " \t\n"))
	s.scratch = b
	return text
}

func (s *state) markdownBlock(m *component.Markdown, n *mdx.Node) {
	if write := s.kinds[n.Kind].markdown; write != nil {
		write(s, m, n)
	}
}

// markdownWithin writes a node's content as blocks in a container: a quote or an
// item of a list, whose first line begins with mark.
func (s *state) markdownWithin(m *component.Markdown, mark string, n *mdx.Node) {
	rest := mark
	if mark != "> " {
		rest = strings.Repeat(" ", len(mark))
	}
	m.Push(mark, rest)
	s.markdownBlocks(m, n.Children)
	m.Pop()
}

// inlineMarkdown appends inline nodes; of a block it appends what is in it.
func (s *state) inlineMarkdown(b []byte, list []*mdx.Node) []byte {
	for _, n := range list {
		if n.Kind == mdx.Element && !n.Inline && len(b) > 0 && b[len(b)-1] != ' ' && b[len(b)-1] != '\n' {
			b = append(b, ' ') // it stood on a line of its own
		}
		if write := s.kinds[n.Kind].phrase; write != nil {
			b = write(s, b, n)
		} else {
			b = s.inlineMarkdown(b, n.Children)
		}
	}
	return b
}
