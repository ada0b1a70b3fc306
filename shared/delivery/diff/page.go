package diff

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page is what readers have of a page.
type page struct {
	title string
	// text is what is read in it, a line a block.
	text string
	// anchors are the ids that a link may name, in the page's order.
	anchors []anchor
}

// anchor is a place in a page.
type anchor struct {
	id string
	// text is that of a heading, else empty.
	text string
}

// readPage reads a page's title, text and anchors: what stands in its main part,
// without what our frame puts there. A page without such a part, as authors may
// write one, is read whole.
func readPage(data []byte) page {
	r := pageReader{}
	if i := bytes.Index(data, []byte("<main")); i >= 0 {
		head := data[:i]
		if i := bytes.Index(head, []byte("<title")); i >= 0 {
			r.read(head[i:min(len(head), i+4096)], atom.Title)
			r.title, r.out = strings.TrimSpace(r.out.String()), strings.Builder{}
		}
		r.anchors = nil
		r.read(data[i:], atom.Main)
	} else {
		r.read(data, 0)
	}
	return page{r.title, lines(r.out.String()), r.anchors}
}

// mainPart is the part of a page from its main part on, as far as it goes: all
// that readPage reads of the body.
func mainPart(data []byte) []byte {
	if i := bytes.Index(data, []byte("<main")); i >= 0 {
		data = data[i:]
	}
	if i := bytes.LastIndex(data, []byte("</main>")); i >= 0 {
		data = data[:i]
	}
	return data
}

// titled is a copy of what readPage reads of a page: its title and its main part.
func titled(data []byte) []byte {
	var out []byte
	if i := bytes.Index(data, []byte("<main")); i >= 0 {
		if t := bytes.Index(data[:i], []byte("<title")); t >= 0 {
			out = append(out, data[t:min(i, t+4096)]...)
		}
	}
	return append(out, mainPart(data)...)
}

type pageReader struct {
	title   string
	out     strings.Builder
	anchors []anchor
	// heading is the anchor of the heading that is open, -1 outside of one, and
	// from where its text begins.
	heading, from int
}

// skipped are elements whose text is not read, or not the page's.
var skipped = []atom.Atom{
	atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Button, atom.Annotation, atom.Head, atom.Iframe,
}

// ours are classes of what the frame puts into a page's main part.
var ours = []string{"bdy-actions", "bdy-breadcrumbs", "bdy-contents-place", "bdy-pager", "bdy-footer"}

// inline are elements that don't end a line.
var inline = []atom.Atom{
	atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Del, atom.Dfn, atom.Em, atom.I, atom.Img, atom.Ins, atom.Kbd,
	atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr,
}

// read reads tokens up to the end of the element that they begin with, or all.
func (r *pageReader) read(data []byte, until atom.Atom) {
	r.heading = -1
	z := html.NewTokenizer(bytes.NewReader(data))
	skip, depth := atom.Atom(0), 0 // the element that is skipped, and how deep in its like
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return // io.EOF: what was cut short ends there
		case html.TextToken:
			if skip == 0 {
				r.out.Write(z.Text())
			}
			continue
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		default:
			continue
		}
		raw, more := z.TagName()
		name := atom.Lookup(raw)
		if skip != 0 {
			if name == skip && kind != html.SelfClosingTagToken {
				if depth++; kind == html.EndTagToken {
					depth -= 2
				}
				if depth == 0 {
					skip = 0
				}
			}
			continue
		}
		if kind == html.EndTagToken {
			if name == until && until != 0 {
				return
			}
			r.close(name)
			continue
		}
		if r.open(z, name, more) && kind == html.StartTagToken {
			skip, depth = name, 1
		}
	}
}

// open notes the start of an element, and reports whether it is skipped.
func (r *pageReader) open(z *html.Tokenizer, name atom.Atom, more bool) bool {
	if slices.Contains(skipped, name) {
		return true
	}
	var id, class string
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "id":
			id = string(value)
		case "class":
			class = string(value)
		}
	}
	if name != 0 && !isVoid(name) {
		for c := range strings.FieldsSeq(class) {
			if slices.Contains(ours, c) {
				return true
			}
		}
	}
	if !slices.Contains(inline, name) {
		r.out.WriteByte('\n')
	}
	if linkable(id) {
		r.anchors = append(r.anchors, anchor{id: id})
		if isHeading(name) {
			r.heading, r.from = len(r.anchors)-1, r.out.Len()
		}
	}
	return false
}

func (r *pageReader) close(name atom.Atom) {
	if isHeading(name) && r.heading >= 0 {
		r.anchors[r.heading].text = strings.Join(strings.Fields(r.out.String()[r.from:]), " ")
		r.heading = -1
	}
	if !slices.Contains(inline, name) {
		r.out.WriteByte('\n')
	}
}

func isHeading(name atom.Atom) bool {
	return slices.Contains([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, name)
}

func isVoid(name atom.Atom) bool {
	return slices.Contains([]atom.Atom{atom.Img, atom.Br, atom.Hr, atom.Input, atom.Wbr, atom.Source, atom.Track, atom.Embed, atom.Area, atom.Col}, name)
}

// linkable reports whether others may link to an id: not to those of tooltips,
// footnotes, drawings and the frame.
func linkable(id string) bool {
	for _, prefix := range []string{"bindery-", "tip-", "fn-", "fnref-", "diagram-"} {
		if strings.HasPrefix(id, prefix) {
			return false
		}
	}
	return id != ""
}

// lines removes empty lines and repeated spaces.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			b.WriteString(strings.Join(words, " "))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// maxPage bounds the bytes of a page that are read.
const maxPage = 32 << 20

func readAll(data io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(data, maxPage)) }
