package page

import (
	"bytes"
	"maps"
	"strconv"

	"github.com/bindery-docs/bindery/shared/render/component"
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

func (w *htmlWriter) footnoteRef(out *component.Writer, n *mdx.Node) {
	def := w.footnotes[n.Name]
	if def == nil {
		out.Raw("[^").Text(n.Name).Raw("]")
		return
	}
	f := w.cited[def]
	if f == nil {
		if w.cited == nil {
			w.noted = idSet{maps.Clone(w.used.taken), maps.Clone(w.used.next)}
		}
		number := len(w.order) + 1
		f = &footnote{def: def, number: number, id: w.noted.unique("fn-" + strconv.Itoa(number))}
		put(&w.cited, def, f)
		w.order = append(w.order, f)
	}
	ref := w.noted.unique("fnref-" + strconv.Itoa(f.number))
	f.refs = append(f.refs, ref)
	w.emitted(ref)
	out.Raw(`<sup class="bdy-footnote-ref"><a`).Attr("id", ref).Attr("href", "#"+f.id).
		Raw(` aria-describedby="` + footnotesID + `">`).Raw(strconv.Itoa(f.number)).Raw("</a></sup>")
}

// footnoteSection appends the footnotes that were referred to, in the order
// of their first references.
func (w *htmlWriter) footnoteSection(out *component.Writer) {
	if len(w.order) == 0 {
		return
	}
	w.emitted(footnotesID)
	out.Raw(`<section class="bdy-footnotes"><h2 id="` + footnotesID + `" class="bdy-sr">`).Text(w.say(words.Footnotes)).Raw("</h2><ol>")
	// A footnote may refer to further ones: the list grows while it is written.
	for i := 0; i < len(w.order); i++ {
		f := w.order[i]
		w.emitted(f.id)
		w.nodes(out.Raw("<li").Attr("id", f.id).Raw(">"), f.def.Children)
		// The way back stands at the end of the last paragraph's line.
		const end = "</p>\n"
		var inLine bool
		out.B, inLine = bytes.CutSuffix(out.B, []byte(end))
		for _, ref := range f.refs {
			out.Raw(` <a class="bdy-footnote-back"`).Attr("href", "#"+ref).Attr("aria-label", w.say(words.Back)).Raw(">↩</a>")
		}
		if inLine {
			out.Raw(end)
		}
		out.Raw("</li>\n")
	}
	out.Raw("</ol></section>\n")
}
