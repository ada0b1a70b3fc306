package page

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// topLevel appends the page's top level. What stands beside the text comes in
// one box, in place of the first of it: it is one column, and its place in the
// text matters on narrow screens alone.
func (w *htmlWriter) topLevel(b []byte) []byte {
	beside := func(n *mdx.Node) bool { return n.Kind == mdx.Element && component.Beside(n.Name) }
	line := func(b []byte, n *mdx.Node) []byte {
		b = w.node(b, n)
		// Elements on lines of their own are as apart as their lines.
		if len(b) > 0 && b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		return b
	}
	first := slices.IndexFunc(w.root, beside)
	for i, n := range w.root {
		switch {
		case !beside(n):
			b = line(b, n)
		case i == first:
			w.result.Beside = true
			out := component.Writer{B: b, HTML: w}
			b = append(out.OpenBeside().B, '\n')
			for _, n := range w.root {
				if beside(n) {
					b = line(b, n)
				}
			}
			b = append(b, "</div></aside>\n"...)
		}
	}
	return b
}

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

// writeMarkdown writes the page's Markdown copy: title and description first,
// then the tree without any JSX, and the footnotes that the page shows.
func (t *tree) writeMarkdown(notes []*footnote) []byte {
	p := &t.r.site.Pages[t.page]
	w := &markdownWriter{tree: t}
	m := component.NewMarkdown(w)
	m.Paragraph("# " + inlineText(p.Title))
	if p.Description != "" {
		m.Push("> ", "> ")
		m.Paragraph(m.Title(leadElement(p.Description, w), "description"))
		m.Pop()
	}
	w.blocks(m, t.root)
	for _, f := range notes {
		m.Push("[^"+f.def.Name+"]: ", "    ")
		w.blocks(m, f.def.Children)
		m.Pop()
	}
	return m.Bytes()
}

// writeText returns the page's text by heading, with the footnotes that the page
// shows.
func (t *tree) writeText(notes []*footnote) []component.Section {
	text := t.NewText()
	text.Nodes(t.root)
	for _, f := range notes {
		text.Nodes(f.def.Children)
	}
	return text.Sections()
}
