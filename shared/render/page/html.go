package page

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
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

	anchors  int // depth of links: HTML knows none within another
	svg      int // depth of svg elements
	diagrams int // that were drawn
	images   int // pictures written so far
	// once is what reportOnce said, classes are those that the author wrote.
	once, classes map[string]struct{}
	// inlined is the file of links in attributes, where it is not the page's.
	inlined map[*mdx.Node]string
	// cited are the footnotes that were referred to, by their definitions; order
	// is that of the first references.
	cited map[*mdx.Node]*footnote
	order []*footnote
	lines [][]byte
	// href makes addresses where nodes are shown that stand on no page.
	href func(address string) string
}

var _ component.HTML = (*htmlWriter)(nil)

// writeHTML writes the page as HTML. It returns what is known of the page then,
// and the footnotes that it shows, in order. What its author should know goes
// to said.
func (t *tree) writeHTML(ctx context.Context, said *report) (*Result, []*footnote, error) {
	p := &t.r.site.Pages[t.page]
	w := &htmlWriter{tree: t, notes: notes{said: said}, ctx: ctx}
	w.result.Title, w.result.Description = p.Title, p.Description
	w.result.Reference, w.result.Playground = t.reference, t.playground
	for _, server := range t.servers {
		w.allow("connect-src", server)
	}
	b := make([]byte, 0, t.length*2+512)
	if t.unread != nil {
		b = w.notice(b, t.unread)
	}
	b = w.topLevel(b)
	b = w.footnoteSection(b)
	w.result.HTML, w.result.Lead = b, w.lead(p.Description)
	w.result.Classes = slices.Sorted(maps.Keys(w.classes))
	return &w.result, w.order, w.err
}

// notice shows a reader that something of the page could not be read.
func (w *htmlWriter) notice(b []byte, d *mdx.Diagnostic) []byte {
	b = append(b, `<div class="callout callout-danger page-notice" role="note"`...)
	b = html.AppendAttr(b, "aria-label", w.say(words.Error))
	b = append(b, `><div class="callout-body"><p>`...)
	b = html.AppendText(b, w.say(words.Unread)+": "+d.Message)
	if d.Line > 0 {
		b = html.AppendText(b, fmt.Sprintf(" (%s %d)", w.say(words.Line), d.Line))
	}
	return append(b, `</p></div></div>`...)
}

// blocks appends nodes, blocks or inlines.
func (w *htmlWriter) blocks(b []byte, list []*mdx.Node) []byte {
	for _, n := range list {
		b = w.node(b, n)
	}
	return b
}

// node appends one node.
func (w *htmlWriter) node(b []byte, n *mdx.Node) []byte {
	if write := w.r.kinds[n.Kind].html; write != nil {
		return write(w, b, n)
	}
	return b
}

// children appends a node's content alone.
func (w *htmlWriter) children(b []byte, n *mdx.Node) []byte { return w.blocks(b, n.Children) }

// scrollBox begins an element that scrolls by itself where it is too wide. It
// takes the focus, so that the keyboard can scroll it too; it is a group and
// not a region, because a page's tables and formulas are no landmarks.
func (w *htmlWriter) scrollBox(b []byte, class string, name words.Phrase) []byte {
	b = append(b, `<div class="`...)
	b = append(b, class...)
	b = append(b, `" tabindex="0" role="group"`...)
	b = html.AppendAttr(b, "aria-label", w.say(name))
	return append(b, '>')
}

// emitted records that an id stands in the HTML.
func (w *htmlWriter) emitted(id string) {
	if id != "" && !w.used.taken[id] {
		w.used.taken[id] = true
		w.result.IDs = append(w.result.IDs, id)
	}
}

// reportOnce records a warning the first time that key occurs on the page.
func (w *htmlWriter) reportOnce(n *mdx.Node, key string, pos mdx.Pos, code, message string) {
	if _, again := w.once[key]; again {
		return
	}
	if w.once == nil {
		w.once = map[string]struct{}{}
	}
	w.once[key] = struct{}{}
	w.report(w.fileOf(n), pos, mdx.Warning, code, message)
}

// AppendNodes implements component.HTML. Text that stands beside blocks, as in
// <Step>Do this: <Note>…</Note></Step>, becomes paragraphs: a style sheet sees no
// text, and would put no space between the two.
func (w *htmlWriter) AppendNodes(b []byte, nodes []*mdx.Node) []byte {
	if !w.hasBlock(nodes) {
		return w.blocks(b, nodes)
	}
	for len(nodes) > 0 {
		n, text := 0, false
		for n < len(nodes) && !w.isBlock(nodes[n]) {
			text = text || nodes[n].Kind == mdx.Text && strings.TrimSpace(nodes[n].Value) != ""
			n++
		}
		switch {
		case n == 0:
			n = 1
			b = w.node(b, nodes[0])
		case text && !w.hasBlock(nodes[:n]):
			b = append(b, "<p>"...)
			b = w.blocks(b, nodes[:n])
			b = append(b, "</p>\n"...)
		default:
			b = w.blocks(b, nodes[:n])
		}
		nodes = nodes[n:]
	}
	return b
}

// AppendCode implements component.HTML.
func (w *htmlWriter) AppendCode(b []byte, c component.Code) []byte { return w.codeBlock(b, nil, c) }

// Inline implements component.HTML.
func (w *htmlWriter) Inline(e *component.Element, name, text string) []*mdx.Node {
	list := mdx.ParseInline(text)
	pos := attrPos(e.Node, name)
	file := w.fileOf(e.Node)
	for _, n := range list {
		mdx.Walk(n, func(n *mdx.Node) bool {
			n.Pos, n.End = pos, pos
			if file != w.source && n.Kind == mdx.Link { // what may be reported
				if w.inlined == nil {
					w.inlined = map[*mdx.Node]string{}
				}
				w.inlined[n] = file
			}
			return true
		})
	}
	return list
}

// fileOf is the file that a node was written in.
func (w *htmlWriter) fileOf(n *mdx.Node) string {
	if f, ok := w.inlined[n]; ok {
		return f
	}
	return w.tree.fileOf(n)
}

// Link implements component.HTML.
func (w *htmlWriter) Link(e *component.Element, href string) string {
	return w.link(e.Node, attrPos(e.Node, "href"), href)
}

// InLink implements component.HTML.
func (w *htmlWriter) InLink() bool { return w.anchors > 0 }

// Contents implements component.HTML.
func (w *htmlWriter) Contents(e *component.Element, level int, text string) {
	w.listed(level, w.ids[e.Node], text)
	if e.Component != nil && e.Component.Name == "Update" {
		w.updated(e)
	}
}

// ID implements component.Page: the id stands in the HTML from here on.
func (w *htmlWriter) ID(e *component.Element) string {
	id := w.ids[e.Node]
	w.emitted(id)
	return id
}

// NewMarkdown implements component.Page: what is in a link has none of its own.
func (w *htmlWriter) NewMarkdown() *component.Markdown {
	return component.NewMarkdown(&markdownWriter{tree: w.tree, anchors: w.anchors})
}

// Asset implements component.Looks.
func (w *htmlWriter) Asset(e *component.Element, src string) string {
	return w.asset(e.Node, e.Node.Pos, src)
}

// Size implements component.Looks.
func (w *htmlWriter) Size(src string) (width, height int, ok bool) {
	size, ok := w.sizeOf(&w.notes, src)
	return size.Width, size.Height, ok
}

// Icon implements component.Looks.
func (w *htmlWriter) Icon(e *component.Element, name string) (string, bool) {
	if w.r.icons == nil {
		return "", false
	}
	library := cmp.Or(e.String("iconLibrary"), e.String("library"), w.r.site.Config.Icons.Library)
	svg, ok := w.r.icons.Icon(name, library, e.String("iconType"))
	if !ok {
		w.report(w.fileOf(e.Node), e.Node.Pos, mdx.Warning, "icon-unknown", "no icon is called "+name)
	}
	return svg, ok
}

// Style implements component.Looks.
func (w *htmlWriter) Style(e *component.Element, css string) string {
	return w.style(e.Node, e.Node.Pos, css)
}

// StyleClass implements component.Looks.
func (w *htmlWriter) StyleClass(e *component.Element) string { return w.styleClass(e.Node) }
