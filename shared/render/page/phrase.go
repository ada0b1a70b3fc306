package page

import (
	"bytes"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// registerPhrases registers what stands in a line of text, but for links and
// pictures.
func registerPhrases(k *kinds) {
	k[mdx.Text] = kind{
		form:   formPhrase,
		html:   func(_ *htmlWriter, out *component.Writer, n *mdx.Node) { out.Text(n.Value) },
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
	start := len(b)
	b = append(b, with...)
	b = w.inline(b, list)
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
