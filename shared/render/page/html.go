package page

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// blocks appends nodes, blocks or inlines.
func (s *state) blocks(b []byte, list []*mdx.Node) []byte {
	for _, n := range list {
		b = s.html(b, n)
	}
	return b
}

// html appends one node.
func (s *state) html(b []byte, n *mdx.Node) []byte {
	switch n.Kind {
	case mdx.Text:
		return html.AppendText(b, n.Value)
	case mdx.Paragraph:
		return s.paragraph(b, n)
	case mdx.Heading:
		return s.heading(b, n)
	case mdx.Blockquote:
		b = append(b, "<blockquote>\n"...)
		b = s.blocks(b, n.Children)
		return append(b, "</blockquote>\n"...)
	case mdx.List:
		return s.list(b, n)
	case mdx.ListItem: // only where a component takes a list apart
		return s.blocks(b, n.Children)
	case mdx.CodeBlock:
		return s.codeBlock(b, n, component.Code{Lang: n.Name, Meta: n.Meta, Value: n.Value})
	case mdx.ThematicBreak:
		return append(b, "<hr>\n"...)
	case mdx.Table:
		return s.table(b, n)
	case mdx.MathBlock:
		return s.math(b, n, true)
	case mdx.InlineMath:
		return s.math(b, n, false)
	case mdx.Emphasis:
		return s.wrap(b, "em", n)
	case mdx.Strong:
		return s.wrap(b, "strong", n)
	case mdx.Delete:
		return s.wrap(b, "del", n)
	case mdx.InlineCode:
		b = append(b, "<code>"...)
		b = html.AppendText(b, n.Value)
		return append(b, "</code>"...)
	case mdx.Break:
		return append(b, "<br>\n"...)
	case mdx.Link:
		return s.anchor(b, n)
	case mdx.Image:
		return s.image(b, n)
	case mdx.FootnoteRef:
		return s.footnoteRef(b, n)
	case mdx.Element:
		return s.elementHTML(b, n)
	case mdx.Document:
		return s.blocks(b, n.Children)
	}
	return b // definitions, imports and expressions are gone by now
}

// paragraph appends a paragraph, or a box for one that holds what HTML does not
// allow in it.
func (s *state) paragraph(b []byte, n *mdx.Node) []byte {
	if s.hasBlock(n.Children) {
		b = append(b, `<div class="para">`...)
		b = s.blocks(b, n.Children)
		return append(b, "</div>\n"...)
	}
	b = append(b, "<p>"...)
	b = s.blocks(b, n.Children)
	return append(b, "</p>\n"...)
}

// anchor appends a link of Markdown.
func (s *state) anchor(b []byte, n *mdx.Node) []byte {
	// An address in a link becomes a link of its own, as MDX reads it; a
	// browser would close the outer one before it and leave it empty.
	if s.anchors > 0 {
		return s.blocks(b, n.Children)
	}
	s.anchors++
	defer func() { s.anchors-- }()
	b = append(b, "<a"...)
	if href := s.link(n, n.Pos, n.URL); href != "" || n.URL == "" {
		b = html.AppendAttr(b, "href", href)
	}
	if n.Title != "" {
		b = html.AppendAttr(b, "title", n.Title)
	}
	b = append(b, '>')
	b = s.blocks(b, n.Children)
	return append(b, "</a>"...)
}

func (s *state) wrap(b []byte, tag string, n *mdx.Node) []byte {
	b = append(b, '<')
	b = append(b, tag...)
	b = append(b, '>')
	b = s.blocks(b, n.Children)
	b = append(b, "</"...)
	b = append(b, tag...)
	return append(b, '>')
}

func (s *state) heading(b []byte, n *mdx.Node) []byte {
	level := min(max(n.Level, 1), 6)
	id := s.ids[n]
	b = append(b, "<h"...)
	b = append(b, byte('0'+level))
	b = html.AppendAttr(b, "id", id)
	b = append(b, '>')
	b = s.headingBody(b, n, id, level)
	b = append(b, "</h"...)
	b = append(b, byte('0'+level))
	return append(b, ">\n"...)
}

// headingBody appends what stands in a heading: its alias, its words and a
// link to itself. It also lists the heading in the contents.
func (s *state) headingBody(b []byte, n *mdx.Node, id string, level int) []byte {
	s.emitted(id)
	s.listed(level, id, s.plain(n.Children))
	if alias := s.aliases[n]; alias != "" {
		b = append(b, "<span"...)
		b = html.AppendAttr(b, "id", alias)
		b = append(b, "></span>"...)
		s.emitted(alias)
	}
	b = s.blocks(b, soleParagraph(n.Children))
	if noAnchor(n) || s.anchors > 0 { // a link can't stand in a link
		return b
	}
	b = append(b, `<a class="anchor" href="#`...)
	b = html.AppendValue(b, component.FragmentEscape(id))
	b = append(b, '"')
	b = html.AppendAttr(b, "aria-label", s.say(words.Link))
	return append(b, "></a>"...)
}

// noAnchor reports whether a heading's author wants it without a link to
// itself.
func noAnchor(n *mdx.Node) bool {
	for _, a := range n.Attrs {
		if strings.EqualFold(a.Name, "noAnchor") {
			v, _ := attrValue(a)
			return v != false && v != "false"
		}
	}
	return false
}

// listed adds an entry to the page's contents.
func (s *state) listed(level int, id, text string) {
	if (level == 2 || level == 3) && id != "" && text != "" {
		s.result.Contents = append(s.result.Contents, Heading{Level: level, ID: id, Text: text})
	}
}

func (s *state) list(b []byte, n *mdx.Node) []byte {
	tag := "ul"
	if n.Ordered {
		tag = "ol"
	}
	b = append(b, '<')
	b = append(b, tag...)
	if n.Ordered && n.Start != 1 {
		b = html.AppendAttr(b, "start", strconv.Itoa(n.Start))
	}
	loose, tasks := n.Loose, false
	for _, item := range n.Children {
		loose = loose || item.Loose
		tasks = tasks || item.Checked != 0
	}
	if tasks {
		b = append(b, ` class="task-list"`...)
	}
	b = append(b, ">\n"...)
	for _, item := range n.Children {
		if item.Checked == 0 {
			b = append(b, "<li>"...)
		} else {
			b = append(b, `<li class="task">`...)
			if task := item.Children; loose && len(task) > 0 && task[0].Kind == mdx.Paragraph {
				b = append(b, "<p>"...)
			}
			b = append(b, `<input type="checkbox" disabled`...)
			if item.Checked == 2 {
				b = append(b, " checked"...)
			}
			word := words.Todo
			if item.Checked == 2 {
				word = words.Done
			}
			b = html.AppendAttr(b, "aria-label", s.say(word))
			b = append(b, "> "...)
		}
		for i, c := range item.Children {
			if c.Kind == mdx.Paragraph && !loose {
				if i > 0 {
					b = append(b, '\n')
				}
				b = s.blocks(b, c.Children)
				if i+1 < len(item.Children) {
					b = append(b, '\n')
				}
				continue
			}
			if i == 0 && item.Checked != 0 && c.Kind == mdx.Paragraph {
				b = s.blocks(b, c.Children)
				b = append(b, "</p>\n"...)
				continue
			}
			b = s.html(b, c)
		}
		b = append(b, "</li>\n"...)
	}
	b = append(b, "</"...)
	b = append(b, tag...)
	return append(b, ">\n"...)
}

// scrollBox begins an element that scrolls by itself where it is too wide. It
// takes the focus, so that the keyboard can scroll it too; it is a group and
// not a region, because a page's tables and formulas are no landmarks.
func (s *state) scrollBox(b []byte, class string, name words.Phrase) []byte {
	b = append(b, `<div class="`...)
	b = append(b, class...)
	b = append(b, `" tabindex="0" role="group"`...)
	b = html.AppendAttr(b, "aria-label", s.say(name))
	return append(b, '>')
}

// longCell is the length in bytes from which a cell's text is kept from being
// squeezed into a column of single words.
const longCell = 48

// shortCell is the length in bytes up to which a cell of one word, such as a
// date or a number, is kept from being broken at its hyphens.
const shortCell = 24

// unbroken reports whether a text is one word that a browser might break.
func unbroken(text string) bool {
	return strings.ContainsAny(text, "-/") && !strings.ContainsAny(text, " \t\n")
}

// textLen is the length in bytes of the text in inline content.
func textLen(list []*mdx.Node) int {
	n := 0
	for _, c := range list {
		n += len(c.Value) + textLen(c.Children)
	}
	return n
}

// cells are a row's cells; empty ones past the head's end come of a stray bar.
func cells(row *mdx.Node, head int) []*mdx.Node {
	list := row.Children
	for len(list) > head && len(list[len(list)-1].Children) == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// fillsUp reports whether the rows of a table that end early are filled up with
// empty cells. A table with very many columns and very many rows of one cell
// would become thousands of times as long as its source: there they are not.
func fillsUp(rows, columns, held int) bool {
	const always, most = 1000, 10 // cells; times those that are there
	return rows*columns-held <= max(always, most*held)
}

func (s *state) table(b []byte, n *mdx.Node) []byte {
	b = append(s.scrollBox(b, "table-wrap", words.Table), "<table>"...)
	head, columns, held := 0, 0, 0
	for i, row := range n.Children {
		if i == 0 {
			head = len(row.Children)
		}
		n := len(cells(row, head))
		columns, held = max(columns, n), held+n
	}
	filled := fillsUp(len(n.Children), columns, held)
	for i, row := range n.Children {
		tag := "td"
		cells := cells(row, head)
		if len(cells) > head {
			s.report(s.fileOf(row), row.Pos, mdx.Warning, "table-cells", fmt.Sprintf(
				"this row has %d cells, the table's head %d; a | that is part of a cell is written \\|, also in code", len(cells), head))
		}
		switch i {
		case 0:
			tag = "th"
			b = append(b, "<thead>"...)
		case 1:
			b = append(b, "<tbody>\n"...)
		}
		b = append(b, "<tr>"...)
		for j, cell := range cells {
			b = append(b, '<')
			b = append(b, tag...)
			class := ""
			if j < len(n.Align) {
				switch n.Align[j] {
				case mdx.AlignLeft:
					class = "align-left"
				case mdx.AlignCenter:
					class = "align-center"
				case mdx.AlignRight:
					class = "align-right"
				}
			}
			switch n := textLen(cell.Children); {
			case n > longCell:
				class = strings.TrimSpace(class + " long")
			case n <= shortCell && unbroken(s.plain(cell.Children)):
				class = strings.TrimSpace(class + " short")
			}
			if class != "" {
				b = html.AppendAttr(b, "class", class)
			}
			b = append(b, '>')
			b = s.blocks(b, cell.Children)
			b = append(b, "</"...)
			b = append(b, tag...)
			b = append(b, '>')
		}
		// A row that ends early is filled up, so that borders and tints do
		// not end early too.
		for j := len(cells); filled && j < columns; j++ {
			b = append(b, "<td></td>"...)
		}
		b = append(b, "</tr>\n"...)
		if i == 0 {
			b = append(b, "</thead>"...)
		}
	}
	if len(n.Children) > 1 {
		b = append(b, "</tbody>"...)
	}
	return append(b, "</table></div>\n"...)
}

// hasBlock reports whether inline content holds something that HTML does not
// allow in a paragraph.
func (s *state) hasBlock(list []*mdx.Node) bool {
	for _, n := range list {
		switch n.Kind {
		case mdx.Element:
			if c := s.component(n); c != nil {
				if c.Block {
					return true
				}
			} else if isBlockTag(n.Name) {
				return true
			}
			if s.hasBlock(n.Children) {
				return true
			}
		case mdx.Emphasis, mdx.Strong, mdx.Delete, mdx.Link:
			if s.hasBlock(n.Children) {
				return true
			}
		case mdx.Paragraph, mdx.Heading, mdx.Blockquote, mdx.List, mdx.CodeBlock, mdx.ThematicBreak, mdx.Table, mdx.MathBlock:
			return true
		}
	}
	return false
}

// soleParagraph returns the content of a paragraph that stands alone: inside
// elements that hold phrases, MDX makes paragraphs of lines of their own.
func soleParagraph(list []*mdx.Node) []*mdx.Node {
	var only *mdx.Node
	for _, n := range list {
		if n.Kind == mdx.Text && strings.TrimSpace(n.Value) == "" {
			continue
		}
		if only != nil {
			return list
		}
		only = n
	}
	if only != nil && only.Kind == mdx.Paragraph {
		return only.Children
	}
	return list
}

// footnote is a footnote's definition and where it is referred to.
type footnote struct {
	label  string
	def    *mdx.Node
	number int
	id     string
	refs   []string
}

func (s *state) defineFootnote(n *mdx.Node) {
	if s.footnotes == nil {
		s.footnotes = map[string]*footnote{}
	}
	if _, again := s.footnotes[n.Name]; !again {
		s.footnotes[n.Name] = &footnote{label: n.Name, def: n}
	}
}

func (s *state) footnoteRef(b []byte, n *mdx.Node) []byte {
	f := s.footnotes[n.Name]
	if f == nil {
		b = append(b, "[^"...)
		b = html.AppendText(b, n.Name)
		return append(b, ']')
	}
	if f.number == 0 {
		s.order = append(s.order, f)
		f.number = len(s.order)
		f.id = s.unique("fn-" + strconv.Itoa(f.number))
	}
	ref := s.unique("fnref-" + strconv.Itoa(f.number))
	f.refs = append(f.refs, ref)
	s.emitted(ref)
	b = append(b, `<sup class="footnote-ref"><a`...)
	b = html.AppendAttr(b, "id", ref)
	b = html.AppendAttr(b, "href", "#"+f.id)
	b = append(b, ` aria-describedby="`+footnotesID+`">`...)
	b = strconv.AppendInt(b, int64(f.number), 10)
	return append(b, "</a></sup>"...)
}

// footnoteSection appends the footnotes that were referred to, in the order
// of their first references.
func (s *state) footnoteSection(b []byte) []byte {
	if len(s.order) == 0 {
		return b
	}
	s.emitted(footnotesID)
	b = append(b, `<section class="footnotes"><h2 id="`+footnotesID+`" class="sr">`...)
	b = html.AppendText(b, s.say(words.Footnotes))
	b = append(b, "</h2><ol>"...)
	// A footnote may refer to further ones: the list grows while it is written.
	for i := 0; i < len(s.order); i++ {
		f := s.order[i]
		s.emitted(f.id)
		b = append(b, "<li"...)
		b = html.AppendAttr(b, "id", f.id)
		b = append(b, '>')
		b = s.blocks(b, f.def.Children)
		// The way back stands at the end of the last paragraph's line.
		end := []byte("</p>\n")
		inLine := bytes.HasSuffix(b, end)
		if inLine {
			b = b[:len(b)-len(end)]
		}
		for _, ref := range f.refs {
			b = append(b, ` <a class="footnote-back"`...)
			b = html.AppendAttr(b, "href", "#"+ref)
			b = html.AppendAttr(b, "aria-label", s.say(words.Back))
			b = append(b, ">↩</a>"...)
		}
		if inLine {
			b = append(b, end...)
		}
		b = append(b, "</li>\n"...)
	}
	return append(b, "</ol></section>\n"...)
}
