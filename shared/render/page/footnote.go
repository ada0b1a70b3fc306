package page

import (
	"bytes"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// registerFootnotes registers references to footnotes. Their definitions stand
// in a section at the end.
func registerFootnotes(k *kinds) {
	k[mdx.FootnoteDef] = kind{form: formPart}
	k[mdx.FootnoteRef] = kind{
		form: formPhrase, html: (*htmlWriter).footnoteRef,
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte {
			return append(append(append(b, "[^"...), n.Name...), ']')
		},
	}
}

// footnote is a footnote that a page shows, and where it is referred to.
type footnote struct {
	def    *mdx.Node
	number int
	id     string
	refs   []string
}

func (w *htmlWriter) footnoteRef(b []byte, n *mdx.Node) []byte {
	def := w.footnotes[n.Name]
	if def == nil {
		b = append(b, "[^"...)
		b = html.AppendText(b, n.Name)
		return append(b, ']')
	}
	f := w.cited[def]
	if f == nil {
		number := len(w.order) + 1
		f = &footnote{def: def, number: number, id: w.used.unique("fn-" + strconv.Itoa(number))}
		if w.cited == nil {
			w.cited = map[*mdx.Node]*footnote{}
		}
		w.cited[def] = f
		w.order = append(w.order, f)
	}
	ref := w.used.unique("fnref-" + strconv.Itoa(f.number))
	f.refs = append(f.refs, ref)
	w.emitted(ref)
	b = append(b, `<sup class="footnote-ref"><a`...)
	b = html.AppendAttr(b, "id", ref)
	b = html.AppendAttr(b, "href", "#"+f.id)
	b = append(b, ` aria-describedby="`+footnotesID+`">`...)
	b = strconv.AppendInt(b, int64(f.number), 10)
	return append(b, "</a></sup>"...)
}

// footnoteSection appends the footnotes that were referred to, in the order
// of their first references.
func (w *htmlWriter) footnoteSection(b []byte) []byte {
	if len(w.order) == 0 {
		return b
	}
	w.emitted(footnotesID)
	b = append(b, `<section class="footnotes"><h2 id="`+footnotesID+`" class="sr">`...)
	b = html.AppendText(b, w.say(words.Footnotes))
	b = append(b, "</h2><ol>"...)
	// A footnote may refer to further ones: the list grows while it is written.
	for i := 0; i < len(w.order); i++ {
		f := w.order[i]
		w.emitted(f.id)
		b = append(b, "<li"...)
		b = html.AppendAttr(b, "id", f.id)
		b = append(b, '>')
		b = w.blocks(b, f.def.Children)
		// The way back stands at the end of the last paragraph's line.
		end := []byte("</p>\n")
		inLine := bytes.HasSuffix(b, end)
		if inLine {
			b = b[:len(b)-len(end)]
		}
		for _, ref := range f.refs {
			b = append(b, ` <a class="footnote-back"`...)
			b = html.AppendAttr(b, "href", "#"+ref)
			b = html.AppendAttr(b, "aria-label", w.say(words.Back))
			b = append(b, ">↩</a>"...)
		}
		if inLine {
			b = append(b, end...)
		}
		b = append(b, "</li>\n"...)
	}
	return append(b, "</ol></section>\n"...)
}
