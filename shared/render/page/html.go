package page

import (
	"context"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// htmlWriter writes a tree as HTML, and collects what is known of the page once
// that is written.
type htmlWriter struct {
	*tree
	notes
	ctx    context.Context
	result Result
	// uncoloured leaves code in one colour.
	uncoloured bool

	// full is set once the page has reached its limit of bytes.
	full bool

	anchors int // depth of links: HTML knows none within another
	svg     int // depth of svg elements
	images  int // pictures written so far
	loads   []elsewhere
	// once is what reportOnce said, classes are those that the author wrote.
	once, classes map[string]struct{}
	// inlined is the file of links in attributes, where it is not the page's.
	inlined map[*mdx.Node]string
	// written are the ids in result.IDs.
	written map[string]struct{}
	// cited are the footnotes that were referred to, by their definitions; order
	// is that of the first references, noted are all ids with theirs.
	cited map[*mdx.Node]*footnote
	order []*footnote
	noted idSet
	lines [][]byte
	// endless counts the formulas that bounds ended.
	endless int
	// endAhead ends drawing formulas ahead, if that has begun.
	endAhead func()
	// href makes addresses where nodes are shown that stand on no page.
	href func(address string) string
}

var _ component.HTML = (*htmlWriter)(nil)

// nodes appends nodes, blocks or inlines.
func (w *htmlWriter) nodes(out *component.Writer, list []*mdx.Node) *component.Writer {
	for _, n := range list {
		// A formula that fails takes its bytes back, but full stays set.
		if w.full = w.full || !w.fits(len(out.B), n); w.full {
			break
		}
		if write := w.r.kinds[n.Kind].html; write != nil {
			write(w, out, n)
		}
	}
	return out
}

// children appends a node's content alone.
func (w *htmlWriter) children(out *component.Writer, n *mdx.Node) { w.nodes(out, n.Children) }

// scrollBox begins an element that scrolls by itself where it is too wide. It
// takes the focus, so that the keyboard can scroll it too; it is a group and
// not a region, because a page's tables and formulas are not landmarks.
func (w *htmlWriter) scrollBox(out *component.Writer, class string, name words.Phrase) {
	out.Raw(`<div class="`).Raw(class).Raw(`" tabindex="0" role="group"`).Attr("aria-label", w.say(name)).Raw(">")
}

// emitted records that an id stands in the HTML.
func (w *htmlWriter) emitted(id string) {
	if _, again := w.written[id]; !again && id != "" {
		put(&w.written, id, struct{}{})
		w.result.IDs = append(w.result.IDs, id)
	}
}

// reportOnce records a finding the first time that key occurs on the page.
func (w *htmlWriter) reportOnce(n *mdx.Node, key string, pos mdx.Pos, level mdx.Severity, code, message string) {
	if _, again := w.once[key]; again {
		return
	}
	put(&w.once, key, struct{}{})
	w.report(w.fileOf(n), pos, level, code, message)
}

// told reports, once a page, what has no effect by the table of capabilities; n is
// nil where nothing is reported.
func (w *htmlWriter) told(n *mdx.Node, of capability.Kind, name string) {
	row := capability.Find(of, name)
	key := "told " + name
	if _, again := w.once[key]; again || n == nil {
		return
	}
	put(&w.once, key, struct{}{})
	w.report(w.fileOf(n), n.Pos, mdx.Notice, row.Code, name+" has no effect: "+row.Rule)
}

// WriteNodes implements component.HTML. Text that stands beside blocks, as in
// <Step>Do this: <Note>…</Note></Step>, becomes paragraphs: a style sheet sees no
// text, and would put no space between the two.
func (w *htmlWriter) WriteNodes(out *component.Writer, nodes []*mdx.Node) {
	if !w.hasBlock(nodes) {
		w.nodes(out, nodes)
		return
	}
	for len(nodes) > 0 {
		n, text := 0, false
		for n < len(nodes) && !w.isBlock(nodes[n]) {
			text = text || nodes[n].Kind == mdx.Text && !component.IsBlank(nodes[n])
			n++
		}
		if text && !w.hasBlock(nodes[:n]) {
			w.nodes(out.Raw("<p>"), nodes[:n]).Raw("</p>\n")
		} else {
			n = max(n, 1)
			w.nodes(out, nodes[:n])
		}
		nodes = nodes[n:]
	}
}

// fileOf is the file that a node was written in.
func (w *htmlWriter) fileOf(n *mdx.Node) string {
	if f, ok := w.inlined[n]; ok {
		return f
	}
	return w.tree.fileOf(n)
}

// ID implements component.Page: the id stands in the HTML from here on.
func (w *htmlWriter) ID(e *component.Element) string {
	id := w.ids[e.Node]
	w.emitted(id)
	return id
}

// Aliases implements component.HTML.
func (w *htmlWriter) Aliases(e *component.Element) []string {
	all := w.aliases[e.Node]
	for _, id := range all {
		w.emitted(id)
	}
	return all
}

// NewMarkdown implements component.Page: what is in a link has none of its own.
func (w *htmlWriter) NewMarkdown() *component.Markdown {
	return component.NewMarkdown(&markdownWriter{tree: w.tree, anchors: w.anchors})
}

// listed adds an entry to the page's contents.
func (w *htmlWriter) listed(level int, id, text string) {
	if (level == 2 || level == 3) && id != "" && text != "" {
		w.result.Contents = append(w.result.Contents, Heading{Level: level, ID: id, Text: text})
	}
}
