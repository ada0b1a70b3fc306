package diagram

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits and sizes of a mind map.
const (
	maxThoughts = 250
	maxThoughtD = 25 // how deep they are

	thoughtLimit = 170.0 // the width at which a text is broken
	thoughtGap   = 12.0  // between two below each other
	thoughtLink  = 44.0  // between a thought and those that follow from it
)

// thought is a node of a mind map, with those that follow from it.
type thought struct {
	label    label
	shape    shape
	framed   bool // the author gave it a shape
	indent   int
	hue      int // of its branch, -1 for the middle
	children []*thought
	w, h     float64
	tall     float64 // with all that follows from it
}

// form is what a shape stands between.
type form struct {
	open, close string
	shape       shape
}

var thoughtForms = [...]form{
	{"((", "))", shapeCircle}, {"))", "((", shapeBang}, {"{{", "}}", shapeHexagon}, {"(", ")", shapeRounded}, {")", "(", shapeCloud}, {"[", "]", shapeRect},
}

// thoughtWord is a line about the thought above it: classes, an icon.
var thoughtWord = lazy.Regexp(`^(?::::.*|::icon\(.*\))$`)

func mindmapDiagram(src *source) (*Diagram, error) {
	root, err := readThoughts(src)
	if err != nil {
		return nil, err
	}
	d := &Diagram{}
	var walk func(t *thought, depth int)
	walk = func(t *thought, depth int) {
		d.Lines = append(d.Lines, Line{depth, t.label.String()})
		for _, c := range t.children {
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	d.fill(drawThoughts(root))
	return d, nil
}

// readThoughts reads a tree by the spaces in front of its lines.
func readThoughts(src *source) (*thought, error) {
	var root *thought
	var way []*thought // from the middle to the last one
	count := 0
	lines := src.raw
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if thoughtWord().MatchString(line) {
			if root == nil {
				return nil, errUnread{line}
			}
			continue
		}
		first := i
		for j := i + 1; openThought(line) && j < min(first+maxJoined, len(lines)); j++ {
			if more := line + "\n" + strings.TrimSpace(strings.Join(lines[first+1:j+1], "\n")); !openThought(more) {
				line, i = more, j
			}
		}
		if line == "" {
			continue
		}
		if count++; count > maxThoughts {
			return nil, errLarge{"more than " + strconv.Itoa(maxThoughts) + " nodes"}
		}
		t := &thought{indent: indentOf(lines[first])}
		t.read(src, line)
		for len(way) > 0 && way[len(way)-1].indent >= t.indent {
			way = way[:len(way)-1]
		}
		switch {
		case root == nil:
			root, t.hue = t, -1
		case len(way) == 0:
			return nil, errUnread{line} // a second middle
		default:
			above := way[len(way)-1]
			t.hue = above.hue
			if above == root {
				t.hue = len(root.children) % pieHues
			}
			above.children = append(above.children, t)
		}
		if way = append(way, t); len(way) > maxThoughtD {
			return nil, errLarge{"too many nodes within each other"}
		}
	}
	if root == nil {
		return nil, errors.New("there is nothing in it")
	}
	return root, nil
}

// openThought reports whether a shape is open at a text's end, or a quote.
func openThought(line string) bool {
	if strings.Count(line, `"`)%2 == 1 || strings.Count(line, "`")%2 == 1 {
		return true
	}
	f, at := thoughtForm(line)
	return at >= 0 && !strings.HasSuffix(strings.TrimSpace(line), f.close)
}

// thoughtForm returns the shape that a line opens, and where; -1 for none.
func thoughtForm(line string) (f form, at int) {
	for _, f := range thoughtForms {
		if at := strings.Index(line, f.open); at >= 0 && !strings.ContainsAny(line[:at], `[](){}"`) {
			return f, at
		}
	}
	return form{}, -1
}

// indentOf is how far a line is moved in; a tab counts as one.
func indentOf(line string) int {
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// read takes a node's shape and text.
func (t *thought) read(src *source, line string) {
	text := line
	if f, at := thoughtForm(line); at >= 0 {
		if inner, ok := strings.CutSuffix(line[at+len(f.open):], f.close); ok {
			text, t.shape, t.framed = inner, f.shape, true
		}
	}
	t.label = src.face.readLabel(text, textSize, thoughtLimit, false)
	if !t.framed {
		t.shape = shapeRounded
	}
	t.w, t.h = t.shape.size(t.label.width, t.label.height, false)
}

// measure finds how much room a thought takes with all that follows from it.
func (t *thought) measure() {
	sum := -thoughtGap
	for _, c := range t.children {
		c.measure()
		sum += c.tall + thoughtGap
	}
	t.tall = max(t.h, sum)
}

// drawThoughts returns the SVG of a mind map, and its size: what follows from the
// middle stands on its right and, of several, on its left too.
func drawThoughts(root *thought) (svg []byte, width, height float64) {
	root.measure()
	all := 0.0
	for _, c := range root.children {
		all += c.tall + thoughtGap
	}
	// The first half stands on the right.
	n, half := 0, 0.0
	for n < len(root.children) && (half < all/2 || len(root.children) < 3) {
		half += root.children[n].tall + thoughtGap
		n++
	}
	m := &mindDrawing{left: -root.w / 2, right: root.w / 2, top: -root.h / 2, bottom: root.h / 2}
	m.side(root, root.children[:n], 0, 0, 1)
	m.side(root, root.children[n:], 0, 0, -1)
	m.node(root, 0, 0)
	var d drawing
	d.raw(`<g transform="translate(`)
	d.num(seqMargin - m.left)
	d.raw(" ")
	d.num(seqMargin - m.top)
	d.raw(`)">`)
	d.raw(string(m.links.b))
	d.raw(string(m.nodes.b))
	d.raw("</g>")
	return d.b, m.right - m.left + 2*seqMargin, m.bottom - m.top + 2*seqMargin
}

type mindDrawing struct {
	links, nodes             drawing
	left, right, top, bottom float64
}

// side places thoughts below each other beside the one at x and y that they follow
// from: to its right where dir is 1, to its left where it is -1.
func (m *mindDrawing) side(from *thought, children []*thought, x, y, dir float64) {
	tall := -thoughtGap
	for _, c := range children {
		tall += c.tall + thoughtGap
	}
	at := y - tall/2
	for _, c := range children {
		cx, cy := x+dir*(from.w/2+thoughtLink+c.w/2), at+c.tall/2
		if from.hue >= 0 && !from.framed { // from the end of its line
			m.link(c, x+dir*from.w/2, y+from.h/2, cx, cy, dir)
		} else {
			m.link(c, x+dir*from.w/2, y, cx, cy, dir)
		}
		m.side(c, c.children, cx, cy, dir)
		m.node(c, cx, cy)
		at += c.tall + thoughtGap
	}
}

// link draws a line to the near side of a thought. One without a shape stands on it.
func (m *mindDrawing) link(c *thought, x1, y1, x, y, dir float64) {
	x2 := x - dir*c.w/2
	if !c.framed {
		y += c.h / 2
	}
	mid := (x1 + x2) / 2
	p := &pen{}
	p.move(x1, y1)
	p.curve(mid, y1, mid, y, x2, y)
	if !c.framed {
		p.to(x2+dir*c.w, y)
	}
	m.links.raw(`<path class="bdy-d-twig bdy-d-hue-` + strconv.Itoa(c.hue) + `"`)
	m.links.trace(p, 0, 0)
	m.links.raw("/>")
}

func (m *mindDrawing) node(t *thought, x, y float64) {
	m.left, m.right = math.Min(m.left, x-t.w/2), math.Max(m.right, x+t.w/2)
	m.top, m.bottom = math.Min(m.top, y-t.h/2), math.Max(m.bottom, y+t.h/2)
	f := t.shape.figure(t.w, t.h)
	class := "bdy-d-word"
	switch {
	case t.hue < 0:
		m.nodes.raw(`<path class="bdy-d-middle"`)
		class = "bdy-d-share"
	case t.framed:
		m.nodes.raw(`<path class="bdy-d-hue-` + strconv.Itoa(t.hue) + ` bdy-d-tone"`)
	}
	if t.hue < 0 || t.framed {
		m.nodes.trace(&f.outline, x, y)
		m.nodes.raw("/>")
	}
	m.nodes.label(&t.label, x+f.dx, y+f.dy, 0, class, "")
}
