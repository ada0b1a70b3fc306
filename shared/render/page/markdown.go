package page

import (
	"bytes"
	"strconv"
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

// isBlock tells whether a node is written as a block.
func (s *state) isBlock(n *mdx.Node) bool {
	switch n.Kind {
	case mdx.Text, mdx.Emphasis, mdx.Strong, mdx.Delete, mdx.InlineCode, mdx.InlineMath, mdx.Break, mdx.Link, mdx.Image, mdx.FootnoteRef, mdx.Expression:
		return false
	case mdx.Element:
		if c := s.component(n); c != nil {
			return c.Block
		}
		return isBlockTag(n.Name) || s.hasBlock(n.Children)
	}
	return true
}

func (s *state) markdownBlock(m *component.Markdown, n *mdx.Node) {
	switch n.Kind {
	case mdx.Paragraph:
		if s.hasBlock(n.Children) {
			s.markdownBlocks(m, n.Children)
		} else {
			m.Paragraph(s.markdownPhrase(n.Children))
		}
	case mdx.Heading:
		s.markdownHeading(m, n.Level, n.Children)
	case mdx.Blockquote:
		m.Push("> ", "> ")
		s.markdownBlocks(m, n.Children)
		m.Pop()
	case mdx.List:
		s.markdownList(m, n)
	case mdx.ListItem:
		m.Push("- ", "  ")
		s.markdownBlocks(m, n.Children)
		m.Pop()
	case mdx.CodeBlock:
		markdownCode(m, component.Code{Lang: n.Name, Meta: n.Meta, Value: n.Value})
	case mdx.MathBlock:
		m.Block()
		m.Write("$$\n" + n.Value + "\n$$")
	case mdx.ThematicBreak:
		m.Paragraph("---")
	case mdx.Table:
		rows := make([][]string, len(n.Children))
		for i, row := range n.Children {
			for _, cell := range row.Children {
				rows[i] = append(rows[i], s.cell(cell.Children))
			}
		}
		markdownTable(m, rows, n.Align)
	case mdx.Element:
		s.markdownElement(m, n)
	}
}

func (s *state) markdownHeading(m *component.Markdown, level int, children []*mdx.Node) {
	text := strings.Join(strings.Fields(s.markdownPhrase(soleParagraph(children))), " ")
	if text != "" {
		m.Paragraph("######"[:min(max(level, 1), 6)] + " " + text)
	}
}

func (s *state) markdownList(m *component.Markdown, n *mdx.Node) {
	loose := n.Loose
	for _, item := range n.Children {
		loose = loose || item.Loose
	}
	number := n.Start
	for i, item := range n.Children {
		marker := "- "
		if n.Ordered {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		indent := strings.Repeat(" ", len(marker))
		switch item.Checked {
		case 1:
			marker += "[ ] "
		case 2:
			marker += "[x] "
		}
		before := m.SetTight(i > 0 && !loose)
		m.Push(marker, indent)
		m.SetTight(!loose)
		s.markdownBlocks(m, item.Children)
		m.Pop()
		m.SetTight(before)
	}
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
			m.Push(marker, strings.Repeat(" ", len(marker)))
			s.markdownBlocks(m, c.Children)
			m.Pop()
		}
	case name == "blockquote":
		m.Push("> ", "> ")
		s.markdownBlocks(m, n.Children)
		m.Pop()
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

// htmlRows collects the cells of an HTML table.
func (s *state) htmlRows(n *mdx.Node, rows *[][]string) {
	for _, c := range n.Children {
		if c.Kind != mdx.Element {
			continue
		}
		if c.Name != "tr" {
			s.htmlRows(c, rows)
			continue
		}
		var row []string
		for _, cell := range c.Children {
			if cell.Kind == mdx.Element && (cell.Name == "td" || cell.Name == "th") {
				row = append(row, s.cell(cell.Children))
			}
		}
		*rows = append(*rows, row)
	}
}

// cell gives content on one line in which no bar ends the cell.
func (s *state) cell(list []*mdx.Node) string {
	var text string
	if s.hasBlock(list) {
		text = s.plain(list)
		text = inlineText(text)
	} else {
		before := s.inTable
		s.inTable = true
		text = s.markdownPhrase(list)
		s.inTable = before
	}
	text = strings.Join(strings.Fields(text), " ")
	return strings.ReplaceAll(text, "|", `\|`)
}

func markdownTable(m *component.Markdown, rows [][]string, align []mdx.Align) {
	width, held := 0, 0
	for _, row := range rows {
		width, held = max(width, len(row)), held+len(row)
	}
	filled := fillsUp(len(rows), width, held)
	if width == 0 {
		return
	}
	m.Block()
	for i, row := range rows {
		if i > 0 {
			m.Write("\n")
		}
		columns := width
		if i > 0 && !filled {
			columns = max(len(row), 1)
		}
		for j := range columns {
			cell := ""
			if j < len(row) {
				cell = row[j]
			}
			m.Write("| " + cell + " ")
		}
		m.Write("|")
		if i > 0 {
			continue
		}
		m.Write("\n")
		for j := range width {
			rule := "---"
			if j < len(align) {
				rule = [...]string{"---", ":--", ":-:", "--:"}[min(align[j], mdx.AlignRight)]
			}
			m.Write("| " + rule + " ")
		}
		m.Write("|")
	}
}

// markdownCode writes a fence that is longer than any in the code.
func markdownCode(m *component.Markdown, c component.Code) {
	f := parseFence(c.Lang, c.Meta)
	if c.Title != "" {
		f.title = c.Title
	}
	code := f.annotations(c.Value)
	longest, run := 2, 0
	for i := 0; i < len(code); i++ {
		if code[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	lang := f.lang
	if lang == "" && f.title != "" {
		lang = "text" // or the title's first word would be the language
	}
	info := strings.ReplaceAll(strings.TrimSpace(lang+" "+f.title), "`", "'")
	m.Block()
	m.Write(fence + strings.Join(strings.Fields(info), " ") + "\n")
	m.Write(code)
	m.Write("\n" + fence)
}

// inlineMarkdown appends inline nodes.
func (s *state) inlineMarkdown(b []byte, list []*mdx.Node) []byte {
	for _, n := range list {
		if n.Kind == mdx.Element && !n.Inline && len(b) > 0 && b[len(b)-1] != ' ' && b[len(b)-1] != '\n' {
			b = append(b, ' ') // it stood on a line of its own
		}
		switch n.Kind {
		case mdx.Text:
			b = component.AppendMarkdown(b, n.Value)
		case mdx.Emphasis:
			b = s.delimited(b, "*", n.Children)
		case mdx.Strong:
			b = s.delimited(b, "**", n.Children)
		case mdx.Delete:
			b = s.delimited(b, "~~", n.Children)
		case mdx.InlineCode:
			b = component.AppendCodeSpan(b, n.Value)
		case mdx.InlineMath:
			b = append(append(append(b, "$$"...), n.Value...), "$$"...)
		case mdx.Break:
			if s.inTable {
				b = append(b, "<br>"...)
			} else {
				b = append(b, "\\\n"...)
			}
		case mdx.Link:
			b = s.markdownAnchor(b, n.Children, n.URL)
		case mdx.Image:
			b = s.markdownImage(b, n.Value, n.URL)
		case mdx.FootnoteRef:
			b = append(append(append(b, "[^"...), n.Name...), ']')
		case mdx.Element:
			b = s.inlineElement(b, n)
		case mdx.CodeBlock:
			b = append(b, component.CodeSpan(strings.Join(strings.Fields(n.Value), " "))...)
		default:
			b = s.inlineMarkdown(b, n.Children)
		}
	}
	return b
}

// delimited appends content between delimiters. Markdown wants no white space
// inside them: it goes outside.
func (s *state) delimited(b []byte, with string, list []*mdx.Node) []byte {
	start := len(b)
	b = append(b, with...)
	b = s.inlineMarkdown(b, list)
	inner := b[start+len(with):]
	body := bytes.Trim(inner, " \t\n")
	switch {
	case len(body) == 0:
		return append(b[:start], inner...)
	case len(body) == len(inner):
		return append(b, with...)
	}
	inner = bytes.Clone(inner)
	before := bytes.Index(inner, body)
	body = inner[before : before+len(body)]
	b = append(b[:start], inner[:before]...)
	b = append(b, with...)
	b = append(b, body...)
	b = append(b, with...)
	return append(b, inner[before+len(body):]...)
}

func (s *state) markdownAnchor(b []byte, list []*mdx.Node, href string) []byte {
	if s.anchors > 0 { // Markdown knows no link in a link either
		return s.inlineMarkdown(b, list)
	}
	start := len(b)
	s.anchors++
	b = s.inlineMarkdown(append(b, '['), list)
	s.anchors--
	label := bytes.TrimSpace(b[start+1:])
	address := s.markdownLink(href)
	if len(label) == 0 || address == "" { // nothing to point at, or not safe to
		return append(b[:start], label...)
	}
	if len(label) < len(b)-start-1 {
		b = append(append(b[:start], '['), label...)
	}
	b = append(b, "]("...)
	b = append(b, markdownAddress(address)...)
	return append(b, ')')
}

func (s *state) markdownImage(b []byte, alt, src string) []byte {
	b = append(b, "!["...)
	b = component.AppendMarkdown(b, strings.Join(strings.Fields(alt), " "))
	b = append(b, "]("...)
	b = append(b, markdownAddress(s.r.site.Resolve(s.page, src).Href)...)
	return append(b, ')')
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
		if s.inTable {
			return append(b, "<br>"...)
		}
		return append(b, "\\\n"...)
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
