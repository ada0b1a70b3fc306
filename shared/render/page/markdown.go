package page

import (
	"bytes"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// markdownWriter writes a tree as Markdown.
type markdownWriter struct {
	*tree
	// anchors is the depth of links: Markdown knows none within another.
	anchors int
	// open holds the delimiters around what is written: bold text in bold text has none.
	open []string
	// inTable is set while a table's cell is written.
	inTable bool
	// scratch is where phrases are put together.
	scratch []byte
}

var _ component.Blocks = (*markdownWriter)(nil)

// inlineText writes a plain text on one line.
func inlineText(text string) string {
	return string(component.AppendMarkdown([]byte("x"), strings.Join(strings.Fields(text), " "))[1:])
}

// blocks writes nodes as blocks; runs of inline nodes are paragraphs.
func (w *markdownWriter) blocks(m *component.Markdown, list []*mdx.Node) {
	for i := 0; i < len(list) && w.fits(m.Len(), list[i]); {
		if w.isBlock(list[i]) {
			w.block(m, list[i])
			i++
			continue
		}
		start := i
		for i < len(list) && !w.isBlock(list[i]) {
			i++
		}
		m.Paragraph(w.phrase(list[start:i]))
	}
}

// phrase returns inline nodes as they stand in a paragraph.
func (w *markdownWriter) phrase(list []*mdx.Node) string {
	// The buffer is taken while it is in use: a component in the phrase may
	// write a phrase of its own.
	b := w.scratch[:0]
	w.scratch = nil
	b = w.inline(b, list)
	text := string(bytes.Trim(b, " \t\n"))
	for !w.inTable && (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 { // a break at the end
		text = strings.TrimRight(text[:len(text)-1], " \t\n")
	}
	w.scratch = b
	return text
}

func (w *markdownWriter) block(m *component.Markdown, n *mdx.Node) {
	if write := w.r.kinds[n.Kind].markdown; write != nil {
		write(w, m, n)
	}
}

// within writes a node's content as blocks in a container: a quote or an
// item of a list, whose first line begins with mark.
func (w *markdownWriter) within(m *component.Markdown, mark string, n *mdx.Node) {
	rest := mark
	if mark != "> " {
		rest = strings.Repeat(" ", len(mark))
	}
	m.Push(mark, rest)
	w.blocks(m, n.Children)
	m.Pop()
}

// inline appends inline nodes; of a block it appends what is in it.
func (w *markdownWriter) inline(b []byte, list []*mdx.Node) []byte {
	for _, n := range list {
		if !w.fits(len(b), n) {
			break
		}
		if n.Kind == mdx.Element && !n.Inline && len(b) > 0 && b[len(b)-1] != ' ' && b[len(b)-1] != '\n' {
			b = append(b, ' ') // it stood on a line of its own
		}
		if write := w.r.kinds[n.Kind].phrase; write != nil {
			b = write(w, b, n)
		} else {
			b = w.inline(b, n.Children)
		}
	}
	return b
}

// WriteNodes implements component.Blocks.
func (w *markdownWriter) WriteNodes(m *component.Markdown, nodes []*mdx.Node) { w.blocks(m, nodes) }

// Phrase implements component.Blocks.
func (w *markdownWriter) Phrase(nodes []*mdx.Node) string { return string(w.inline(nil, nodes)) }

// Link implements component.Blocks: links to pages lead to their copies.
func (w *markdownWriter) Link(href string) string {
	t := w.target(href)
	out := t.Href
	if t.Kind == site.ToPage {
		end := strings.IndexAny(out, "?#")
		if end < 0 {
			end = len(out)
		}
		if base, ok := strings.CutSuffix(out[:end], ".html"); ok {
			out = base + ".md" + out[end:]
		}
	}
	return out
}
