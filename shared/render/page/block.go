package page

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// registerBlocks registers the plain blocks of a page.
func registerBlocks(k *kinds) {
	k[mdx.Document] = kind{form: formPart, html: (*htmlWriter).children, text: textWriter.children}
	k[mdx.Paragraph] = kind{
		form: formBlock, html: (*htmlWriter).paragraph, text: textWriter.block,
		markdown: func(w *markdownWriter, m *component.Markdown, n *mdx.Node) {
			if w.hasBlock(n.Children) {
				w.blocks(m, n.Children)
			} else {
				m.Paragraph(w.phrase(n.Children))
			}
		},
	}
	k[mdx.Heading] = kind{
		form: formBlock,
		resolve: func(s *resolver, n *mdx.Node, sc *scope) ([]*mdx.Node, bool) {
			s.ownID(n)
			n.Children = s.expand(n.Children, sc)
			return nil, true
		},
		html: (*htmlWriter).heading,
		markdown: func(w *markdownWriter, m *component.Markdown, n *mdx.Node) {
			if n != w.titled {
				w.heading(m, n.Level, n.Children)
			}
		},
		text: func(w textWriter, t *component.Text, n *mdx.Node) {
			if n == w.titled {
				return
			}
			t.Begin(n.Level, w.plain(n.Children), w.ids[n])
		},
	}
	k[mdx.Blockquote] = kind{
		form: formBlock, text: textWriter.block,
		html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) {
			w.foreignQuote(n)
			w.nodes(out.Raw("<blockquote>\n"), n.Children).Raw("</blockquote>\n")
		},
		markdown: func(w *markdownWriter, m *component.Markdown, n *mdx.Node) { w.within(m, "> ", n) },
	}
	k[mdx.ThematicBreak] = kind{
		form:     formBlock,
		html:     func(_ *htmlWriter, out *component.Writer, _ *mdx.Node) { out.Raw("<hr>\n") },
		markdown: func(_ *markdownWriter, m *component.Markdown, _ *mdx.Node) { m.Paragraph("---") },
	}
}

// block adds the words of a node on lines of their own.
func (w textWriter) block(t *component.Text, n *mdx.Node) {
	t.Break()
	w.AddNodes(t, n.Children)
	t.Break()
}

// paragraph appends a paragraph, or a box for one that holds what HTML does not
// allow in it.
func (w *htmlWriter) paragraph(out *component.Writer, n *mdx.Node) {
	w.foreignFence(n)
	if w.hasBlock(n.Children) {
		w.nodes(out.Raw(`<div class="bdy-para">`), n.Children).Raw("</div>\n")
	} else {
		w.nodes(out.Raw("<p>"), n.Children).Raw("</p>\n")
	}
}

func (w *htmlWriter) heading(out *component.Writer, n *mdx.Node) {
	if n == w.titled { // only its places are left
		for _, id := range append([]string{w.ids[n]}, w.aliases[n]...) {
			out.Raw("<span").Attr("id", id).Raw("></span>\n")
			w.emitted(id)
		}
		return
	}
	level := min(max(n.Level, 1), 6)
	tag := "h1h2h3h4h5h6"[2*level-2 : 2*level]
	out.Raw("<").Raw(tag).Attr("id", w.ids[n]).Raw(">")
	w.headingBody(out, n, level)
	out.Raw("</").Raw(tag).Raw(">\n")
}

// titleHeading returns the first heading of the page if it repeats the title, else nil.
// In the modes custom and frame the page does not show its title, so nothing repeats it.
func (t *tree) titleHeading(p *site.Page) *mdx.Node {
	if len(t.root) == 0 || p.From != "" || p.Mode == "custom" || p.Mode == "frame" {
		return nil
	}
	n := t.root[0]
	words := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	if n.Kind != mdx.Heading || n.Level != 1 || words(t.plain(n.Children)) != words(p.Title) {
		return nil
	}
	return n
}

// headingBody appends what stands in a heading: its aliases, its words and a
// link to itself. It also lists the heading in the contents.
func (w *htmlWriter) headingBody(out *component.Writer, n *mdx.Node, level int) {
	id := w.ids[n]
	w.emitted(id)
	w.listed(level, id, w.plain(n.Children))
	for _, alias := range w.aliases[n] {
		out.Raw("<span").Attr("id", alias).Raw("></span>")
		w.emitted(alias)
	}
	w.nodes(out, component.Phrasing(n.Children))
	if !noAnchor(n) && w.anchors == 0 { // a link can't stand in a link
		out.B = html.AppendValue(append(out.B, `<a class="bdy-anchor" href="#`...), component.FragmentEscape(id))
		out.Raw(`"`).Attr("aria-label", w.say(words.Link)).Raw("></a>")
	}
}

// noAnchor reports whether a heading's author wants it without a link to
// itself.
func noAnchor(n *mdx.Node) bool {
	for _, a := range n.Attrs {
		if strings.EqualFold(a.Name, "noAnchor") {
			v, _ := component.AttrValue(a)
			return v != false && v != "false"
		}
	}
	return false
}

func (w *markdownWriter) heading(m *component.Markdown, level int, children []*mdx.Node) {
	text := strings.Join(strings.Fields(w.phrase(component.Phrasing(children))), " ")
	if text != "" {
		m.Paragraph("######"[:min(max(level, 1), 6)] + " " + text)
	}
}

// ownID takes {#id} off the end of a heading: the id that its author wants.
func (s *resolver) ownID(n *mdx.Node) {
	last := len(n.Children) - 1
	if last < 0 || n.Children[last].Kind != mdx.Expression {
		return
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(n.Children[last].Value), "#")
	if !ok || id == "" || strings.ContainsAny(id, " \t\n\"'<>&") {
		return
	}
	n.Children = n.Children[:last]
	if last > 0 && n.Children[last-1].Kind == mdx.Text {
		n.Children[last-1].Value = strings.TrimRight(n.Children[last-1].Value, " \t")
	}
	put(&s.ownIDs, n, id)
}

// registerPhrases registers what stands in a line of text, but for links and
// pictures.
func registerPhrases(k *kinds) {
	k[mdx.Text] = kind{
		form: formPhrase,
		html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) {
			w.spacedLink(n)
			out.Text(n.Value)
		},
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte { return component.AppendMarkdown(b, n.Value) },
		text:   addValue,
	}
	k[mdx.InlineCode] = kind{
		form: formPhrase,
		html: func(_ *htmlWriter, out *component.Writer, n *mdx.Node) {
			out.Raw("<code>").Text(n.Value).Raw("</code>")
		},
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte { return component.AppendCodeSpan(b, n.Value) },
		text:   addValue,
	}
	k[mdx.Break] = kind{
		form:   formPhrase,
		html:   func(_ *htmlWriter, out *component.Writer, _ *mdx.Node) { out.Raw("<br>\n") },
		phrase: func(w *markdownWriter, b []byte, _ *mdx.Node) []byte { return w.lineBreak(b) },
		text:   func(_ textWriter, t *component.Text, _ *mdx.Node) { t.Break() },
	}
	for _, of := range [...]struct {
		kind        mdx.Kind
		tag, around string
	}{{mdx.Emphasis, "em", "*"}, {mdx.Strong, "strong", "**"}, {mdx.Delete, "del", "~~"}} {
		k[of.kind] = kind{
			form: formPhrase,
			html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) {
				w.nodes(out.Raw("<").Raw(of.tag).Raw(">"), n.Children).Raw("</").Raw(of.tag).Raw(">")
			},
			phrase: func(w *markdownWriter, b []byte, n *mdx.Node) []byte { return w.delimited(b, of.around, n.Children) },
			text:   textWriter.children,
		}
	}
}

// lineBreak appends a hard break of Markdown; a table's cell has one line.
func (w *markdownWriter) lineBreak(b []byte) []byte {
	if w.inTable {
		return append(b, "<br>"...)
	}
	return append(b, "\\\n"...)
}

// delimited appends content between delimiters. Markdown wants no white space
// inside them: it goes outside.
func (w *markdownWriter) delimited(b []byte, with string, list []*mdx.Node) []byte {
	if slices.Contains(w.open, with) {
		return w.inline(b, list)
	}
	start := len(b)
	b = append(b, with...)
	w.open = append(w.open, with)
	b = w.inline(b, list)
	w.open = w.open[:len(w.open)-1]
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
