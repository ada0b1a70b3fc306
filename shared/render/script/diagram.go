package script

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// Limits of a diagram's source. What is larger than the first two is not
// looked at; none of the corpora's has more than 2 kB.
const (
	maxSource = 64 << 10
	maxLine   = 4 << 10
	// maxGraph bounds nodes and edges together. Laying out that many takes
	// some seconds; beyond, time grows with their square.
	maxGraph = 300
	// maxPairs bounds the edges that "A & B --> C & D" makes.
	maxPairs = 600
)

// Diagram is one drawing. It is shared: nobody changes it.
type Diagram struct {
	Kind Kind
	// Title and Description are the author's words for the whole, "" for none.
	Title, Description string
	// Lines say in words what the drawing shows, for readers who can't see it.
	Lines []Line
	// Width and Height are in pixels at the size of the page's text.
	Width, Height int

	svg []byte // what is inside the element; byte 0 stands where ids begin
}

// Line is one thing that a drawing shows. Depth is how many frames it is in.
type Line struct {
	Depth int
	Text  string
}

// ErrOther is the error of diagrams of kinds, or with signs, that only Mermaid
// itself draws.
var ErrOther = errors.New("only Mermaid itself draws this kind of diagram")

// Draw draws a diagram. An error is about the diagram, and its text is for the
// page's author, unless it is the context's. Drawings are kept, so a repeated
// one costs nothing.
func (e *Engine) Draw(ctx context.Context, text string) (*Diagram, error) {
	if len(text) > maxSource {
		return nil, errLarge{fmt.Sprintf("more than %d KiB", maxSource>>10)}
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	key := sha256.Sum256([]byte(text))
	e.mu.Lock()
	d := e.cache[key]
	e.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := e.draw(ctx, text)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bytes > cacheBytes {
		clear(e.cache)
		e.bytes = 0
	}
	e.cache[key] = d
	e.bytes += len(d.svg) + len(text) + 256
	return d, nil
}

func (e *Engine) draw(ctx context.Context, text string) (*Diagram, error) {
	src := parseSource(text)
	for _, l := range src.lines {
		if len(l) > maxLine {
			return nil, errLarge{"lines that are too long"}
		}
	}
	var d *Diagram
	var err error
	switch src.kind {
	case Sequence:
		d, err = sequenceDiagram(&src)
	case Pie:
		d, err = pieDiagram(&src)
	case Flowchart, State, Class, Entity:
		d, err = e.graphDiagram(ctx, &src)
	default:
		return nil, ErrOther
	}
	if err != nil {
		return nil, err
	}
	d.Kind, d.Title, d.Description = src.kind, src.title, src.description
	if missing := lost(&src, d.svg); missing != "" {
		return nil, fmt.Errorf("the drawing would lose the word %q", clip(missing, 40))
	}
	return d, nil
}

func sequenceDiagram(src *source) (*Diagram, error) {
	s, err := parseSequence(src)
	if err != nil {
		return nil, err
	}
	svg, w, h := drawSequence(s)
	return &Diagram{svg: svg, Width: ceil(w), Height: ceil(h), Lines: s.lines()}, nil
}

// scrolled is the width from which a drawing is scrolled on a wide screen; a
// narrower one fits into the column and stays readable.
const scrolled = 1060

// AppendSVG adds the drawing as an SVG element that is named by name. prefix
// makes its ids unique on the page.
func (d *Diagram) AppendSVG(dst []byte, prefix, name string) []byte {
	class := ""
	if d.Width > scrolled {
		class = ` class="d-wide"`
	}
	dst = fmt.Appendf(dst, `<svg%s viewBox="0 0 %d %d" width="%[2]d" height="%[3]d" role="img" aria-label="`, class, d.Width, d.Height)
	dst = html.AppendValue(dst, inXML(name))
	dst = append(dst, `">`...)
	for _, b := range d.svg {
		if b == 0 {
			dst = append(dst, prefix...)
			continue
		}
		dst = append(dst, b)
	}
	return append(dst, "</svg>"...)
}
