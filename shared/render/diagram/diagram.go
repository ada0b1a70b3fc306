package diagram

import (
	"context"
	"crypto/sha256"
	_ "embed" // for the styles
	"encoding/hex"
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
	// Ignored are settings of the author's that have no effect here, and whose effect
	// readers would see in Mermaid's own drawing.
	Ignored []string

	svg   []byte   // what is inside the element; the bytes markLink and markEnd are around links
	links []string // their addresses, in the order of the drawing
}

// fill sets the drawing and its size.
func (d *Diagram) fill(svg []byte, width, height float64) {
	d.svg, d.Width, d.Height = svg, ceil(width), ceil(height)
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
	*drawn
	family string
	face   face
}

// drawn are the drawings that are kept.
type drawn struct {
	mu    sync.Mutex
	cache map[[32]byte]*Diagram
	bytes int
}

// New makes a Drawer for sites in the theme's own font.
func New() *Drawer {
	return &Drawer{drawn: &drawn{cache: make(map[[32]byte]*Diagram)}, face: faceOf("")}
}

// For returns a Drawer for a site whose text is set in a family, "" for the theme's
// own. source is the file of a font of the site's own, whose widths are not known.
// It keeps its drawings with those of w.
func (w *Drawer) For(family, source string) *Drawer {
	if source != "" {
		family = "a file of the site"
	}
	return &Drawer{drawn: w.drawn, family: family, face: faceOf(family)}
}

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
	key := sha256.Sum256([]byte(w.family + "\x00" + text))
	w.mu.Lock()
	d := w.cache[key]
	w.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, err := draw(text, w.face)
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

func draw(text string, f face) (*Diagram, error) {
	src := parseSource(text)
	src.face = f
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
	d.Kind, d.Title, d.Description, d.Ignored = src.kind, src.title, src.description, src.ignored
	if missing := lost(&src, d.svg); missing != "" {
		return nil, fmt.Errorf("the drawing would lose the word %q", clip(missing, 40))
	}
	return d, nil
}

// drawings draw the kinds.
var drawings = map[Kind]func(*source) (*Diagram, error){
	Sequence: sequenceDiagram, Pie: pieDiagram, Git: gitDiagram,
	Flowchart: graphDiagram(readFlow), State: graphDiagram(readStates), Class: graphDiagram(readClasses), Entity: graphDiagram(readEntities),
	Gantt: ganttDiagram, Mindmap: mindmapDiagram, Timeline: timelineDiagram, Quadrant: quadrantDiagram, XY: xyDiagram,
	Other: func(*source) (*Diagram, error) { return nil, ErrOther },
}

func graphDiagram(read func(*source) (*graph, error)) func(*source) (*Diagram, error) {
	return func(src *source) (*Diagram, error) {
		g, err := read(src)
		if err != nil {
			return nil, err
		}
		g.theme()
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

//go:embed diagram.js
var script []byte

// Script returns the script of pages with large drawings, and its path in the
// bundle, which carries the content's hash. It is a classic script that needs no
// other: readers zoom and move the drawings whose figure, or view, has the six
// names of its buttons in data-bindery-tools, divided by "|".
func Script() (path string, data []byte) {
	sum := sha256.Sum256(script)
	return "bindery/drawings." + hex.EncodeToString(sum[:6]) + ".js", script
}

func sequenceDiagram(src *source) (*Diagram, error) {
	s, err := parseSequence(src)
	if err != nil {
		return nil, err
	}
	svg, w, h := drawSequence(s)
	return &Diagram{svg: svg, Width: ceil(w), Height: ceil(h), Lines: s.lines()}, nil
}

// leastWidths are the widths in pixels below which drawings are not made smaller:
// a drawing has the first that is at least leastShare of its own, at which words of
// 13 pixels have more than 11. In a narrower column it is scrolled. The style sheet
// has a class for each; wider drawings have their own size everywhere.
var leastWidths = [...]int{279, 304, 331, 361, 393, 428, 467, 509, 555, 605, 659, 718, 783, 853, 930, 1014, 1105}

const (
	leastShare = 88  // hundredths
	smallWidth = 290 // narrower ones fit on every screen
	lowHeight  = 600 // pixels; lower ones too
)

// sizeClass is the class of a drawing by its width, "" for none.
func sizeClass(width int) string {
	if width < smallWidth {
		return ""
	}
	for _, least := range leastWidths {
		if least*100 >= width*leastShare {
			return fmt.Sprintf(` class="bdy-d-w%d"`, least)
		}
	}
	return ` class="bdy-d-wide"`
}

// Large reports whether the drawing may be larger than the place it is shown in, so
// that readers want Script.
func (d *Diagram) Large() bool { return d.Width >= smallWidth || d.Height > lowHeight }

// AppendSVG adds the drawing as an SVG element that is named by name. address
// returns where a link of the author's leads, "" for nowhere; nil leads all
// nowhere.
func (d *Diagram) AppendSVG(dst []byte, name string, address func(href string) string) []byte {
	role := "img"
	addresses := make([]string, len(d.links))
	for i, href := range d.links {
		if address != nil {
			addresses[i] = address(href)
		}
		if addresses[i] != "" {
			role = "group" // what is in an image can't be reached
		}
	}
	dst = fmt.Appendf(dst, `<svg%s viewBox="0 0 %d %d" width="%[2]d" height="%[3]d" role="%s" aria-label="`, sizeClass(d.Width), d.Width, d.Height, role)
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
