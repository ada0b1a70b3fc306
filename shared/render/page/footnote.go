package page

import (
	"bytes"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// registerFootnotes registers references to footnotes. Their definitions stand
// in a section at the end.
func registerFootnotes(k *kinds) {
	k[mdx.FootnoteDef] = kind{form: formPart}
	k[mdx.FootnoteRef] = kind{
		form: formPhrase, html: (*state).footnoteRef,
		phrase: func(_ *state, b []byte, n *mdx.Node) []byte {
			return append(append(append(b, "[^"...), n.Name...), ']')
		},
	}
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

// footnoteText adds the footnotes that the page refers to.
func (s *state) footnoteText(t *component.Text) {
	for _, f := range s.order {
		s.text(t, f.def.Children)
	}
}
