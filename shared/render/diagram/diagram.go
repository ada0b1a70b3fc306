package diagram

import (
	"context"
	"crypto/sha256"
	_ "embed" // for the styles
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// Limits of a diagram's source. What is larger than the first two is not
// looked at; none of the corpora's has more than 2 kB.
const (
	maxSource = 64 << 10
	maxLine   = 4 << 10
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

	svg   []byte   // what is inside the element; the bytes markLink and markEnd are around links
	links []string // their addresses, in the order of the drawing
}

// Bytes that no text of a drawing holds.
const (
	markLink = 1
	markEnd  = 2
)

// Line is one thing that a drawing shows. Depth is how many frames it is in.
type Line struct {
	Depth int
	Text  string
}

// ErrOther is the error of diagrams of kinds, or with signs, that only Mermaid
// itself draws.
var ErrOther = errors.New("only Mermaid itself draws this kind of diagram")

// cacheBytes is what a Drawer keeps of drawings.
const cacheBytes = 8 << 20

// Drawer draws diagrams and keeps the drawings. One serves a process; it is safe
// for concurrent use.
type Drawer struct {
	mu    sync.Mutex
	cache map[[32]byte]*Diagram
	bytes int
}

// New makes a Drawer.
func New() *Drawer { return &Drawer{cache: make(map[[32]byte]*Diagram)} }

// Draw draws a diagram. An error is about the diagram, and its text is for the
// page's author, unless it is the context's. Drawings are kept, so a repeated
// one costs nothing.
func (w *Drawer) Draw(ctx context.Context, text string) (*Diagram, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(text) > maxSource {
		return nil, errLarge{fmt.Sprintf("more than %d KiB", maxSource>>10)}
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	key := sha256.Sum256([]byte(text))
	w.mu.Lock()
	d := w.cache[key]
	w.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := draw(text)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes > cacheBytes {
		clear(w.cache)
		w.bytes = 0
	}
	w.cache[key] = d
	w.bytes += len(d.svg) + len(text) + 256
	return d, nil
}

func draw(text string) (*Diagram, error) {
	src := parseSource(text)
	for _, l := range src.lines {
		if len(l) > maxLine {
			return nil, errLarge{"lines that are too long"}
		}
	}
	if len(src.lines) > maxItems && src.kind != Pie {
		return nil, errLarge{fmt.Sprintf("more than %d lines", maxItems)}
	}
	d, err := drawings[src.kind](&src)
	if err != nil {
		return nil, err
	}
	d.Kind, d.Title, d.Description = src.kind, src.title, src.description
	if missing := lost(&src, d.svg); missing != "" {
		return nil, fmt.Errorf("the drawing would lose the word %q", clip(missing, 40))
	}
	return d, nil
}

// drawings draw the kinds.
var drawings = map[Kind]func(*source) (*Diagram, error){
	Sequence: sequenceDiagram, Pie: pieDiagram,
	Flowchart: graphDiagram(readFlow), State: graphDiagram(readStates), Class: graphDiagram(readClasses), Entity: graphDiagram(readEntities),
	Other: func(*source) (*Diagram, error) { return nil, ErrOther },
}

func graphDiagram(read func(*source) (*graph, error)) func(*source) (*Diagram, error) {
	return func(src *source) (*Diagram, error) {
		g, err := read(src)
		if err != nil {
			return nil, err
		}
		return drawGraph(g)
	}
}

// Live reports whether a diagram that Draw has this error for may still be drawn
// by Mermaid on the page. What is too large is not.
func Live(err error) bool {
	var large errLarge
	return err != nil && !errors.As(err, &large)
}

//go:embed diagram.css
var styles string

// CSS returns the styles of diagrams. They use the theme's custom properties and
// define none of them.
func CSS() string { return styles }

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

// AppendSVG adds the drawing as an SVG element that is named by name. address
// returns where a link of the author's leads, "" for nowhere; nil leads all
// nowhere.
func (d *Diagram) AppendSVG(dst []byte, name string, address func(href string) string) []byte {
	class, role := "", "img"
	if d.Width > scrolled {
		class = ` class="d-wide"`
	}
	addresses := make([]string, len(d.links))
	for i, href := range d.links {
		if address != nil {
			addresses[i] = address(href)
		}
		if addresses[i] != "" {
			role = "group" // what is in an image can't be reached
		}
	}
	dst = fmt.Appendf(dst, `<svg%s viewBox="0 0 %d %d" width="%[2]d" height="%[3]d" role="%s" aria-label="`, class, d.Width, d.Height, role)
	dst = html.AppendValue(dst, inXML(name))
	dst = append(dst, `">`...)
	at, open := 0, false
	for _, b := range d.svg {
		switch b {
		case markLink:
			if open = addresses[at] != ""; open {
				dst = append(dst, `<a href="`...)
				dst = html.AppendValue(dst, inXML(addresses[at]))
				dst = append(dst, `">`...)
			}
			at++
		case markEnd:
			if open {
				dst = append(dst, "</a>"...)
			}
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, "</svg>"...)
}
