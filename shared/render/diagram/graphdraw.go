package diagram

import (
	"math"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// draw draws everything: groups below links, links below nodes, labels on top.
func (p *placedGraph) draw() {
	d := &p.out
	p.drawGroups(-1, 0)
	// Grounds lie below all labels: one must not cover the label beside it.
	var grounds, labels drawing
	for i := range p.edges {
		p.edge(d, &grounds, &labels, i)
	}
	d.b = append(append(d.b, grounds.b...), labels.b...)
	for i := range p.nodes {
		if !p.nodes[i].gone {
			p.node(d, i)
		}
	}
}

// drawGroups draws the groups within another, and those within them on top.
func (p *placedGraph) drawGroups(parent, depth int) {
	if depth > maxNested+1 {
		return
	}
	for i := range p.groups {
		if p.groups[i].parent != parent {
			continue
		}
		if c := &p.groups[i]; !c.bare {
			p.group(c, p.groupBoxes[i])
		}
		p.drawGroups(i, depth+1)
	}
}

func (p *placedGraph) group(c *group, b layout.Box) {
	d := &p.out
	frame := rounded(b.X, b.Y, b.X+b.Width, b.Y+b.Height, 5)
	l := c.look
	fill := "bdy-d-cluster"
	if c.region {
		fill, l.dash = "bdy-d-none", "4 4"
	}
	d.raw("<path")
	d.paint(l, fill, "bdy-d-s-edge")
	d.trace(&frame, 0, 0)
	d.raw("/>")
	class := "bdy-d-strong"
	if l.ink() != "" {
		class = "bdy-d-heading"
	}
	d.label(&c.label, b.X+b.Width/2, b.Y+titlePad+c.label.height/2, 0, class, l.ink())
}

// node draws a node's form and label.
func (p *placedGraph) node(d *drawing, i int) {
	n, f, b := &p.nodes[i], &p.figures[i], p.nodeBoxes[i]
	x, y := b.X+b.Width/2, b.Y+b.Height/2
	if n.href != "" {
		d.b = append(d.b, markLink)
		p.links = append(p.links, n.href)
	}
	fill, stroke := "bdy-d-f-node", "bdy-d-s-edge"
	switch {
	case f.solid:
		fill, stroke = "bdy-d-f-text", "bdy-d-s-text"
	case f.open:
		fill, stroke = "bdy-d-none", "bdy-d-s-edge"
	case n.shape == shapeNote:
		fill, stroke = "bdy-d-f-note", "bdy-d-s-note"
	case n.shape == shapeEnd:
		fill, stroke = "bdy-d-f-bg", "bdy-d-s-text"
	}
	form := func(t *pen, l look, fill, stroke string) {
		d.raw("<path")
		d.paint(l, fill, stroke)
		d.trace(t, x, y)
		d.raw("/>")
	}
	if !f.plain {
		for k := range f.under {
			form(&f.under[k], n.look, fill, stroke)
		}
		form(&f.outline, n.look, fill, stroke)
	}
	lines := look{stroke: n.look.stroke, width: n.look.width}
	for k := range f.inner {
		switch {
		case n.shape == shapeEnd && n.look.stroke == "":
			form(&f.inner[k], look{}, "bdy-d-f-text", "bdy-d-s-text")
		case n.shape == shapeEnd:
			form(&f.inner[k], look{stroke: n.look.stroke, fill: n.look.stroke}, "", "")
		default:
			form(&f.inner[k], lines, "bdy-d-none", stroke)
		}
	}
	for _, left := range []bool{false, true} {
		p.notesBeside(d, n, b, left)
	}
	if len(n.parts) > 0 {
		p.parts(d, n, layout.Box{X: x - n.innerW/2, Y: y - n.innerH/2, Width: n.innerW, Height: n.innerH})
	} else if !f.solid && n.shape != shapeEnd && n.shape != shapeChoice {
		d.label(&n.label, x+f.dx, y+f.dy, 0, "bdy-d-word", n.look.ink())
	} else if !n.label.empty() {
		d.label(&n.label, x, b.Y+b.Height+n.label.height/2+2, 0, "bdy-d-word bdy-d-label", "")
	}
	if n.href != "" {
		d.b = append(d.b, markEnd)
	}
}

// notesBeside draws the notes at one side of a node, in its box.
func (p *placedGraph) notesBeside(d *drawing, n *node, b layout.Box, left bool) {
	away, side := n.noteRoom(left)
	if away == 0 {
		return
	}
	x, y := b.X+b.Width/2, b.Y+b.Height/2
	sign := 1.0
	if left {
		sign = -1
	}
	at := -side / 2
	for i := range n.notes {
		l := &n.notes[i].label
		if n.notes[i].left != left {
			continue
		}
		w, h := shapeNote.size(l.width, l.height, true)
		var cx, cy float64
		var tie pen
		if n.downward {
			off := sign * (n.innerW/2 + noteGap)
			cx, cy = x+off+sign*w/2, y+at+h/2
			tie = line(x+sign*n.innerW/2, y, x+off, cy)
			at += h + noteGap/2
		} else {
			off := sign * (n.innerH/2 + noteGap)
			cx, cy = x+at+w/2, y+off+sign*h/2
			tie = line(x, y+sign*n.innerH/2, cx, y+off)
			at += w + noteGap/2
		}
		d.raw(`<path class="bdy-d-link bdy-d-dots"`)
		d.trace(&tie, 0, 0)
		d.raw(`/><path class="bdy-d-f-note bdy-d-s-note"`)
		form := shapeNote.figure(w, h).outline
		d.trace(&form, cx, cy)
		d.raw("/>")
		d.label(l, cx, cy, 0, "bdy-d-said", "")
	}
}

// edge draws a link, and its labels and their grounds into other drawings that are
// laid on top.
func (p *placedGraph) edge(d, grounds, labels *drawing, i int) {
	e, r := &p.edges[i], &p.routes[i]
	if e.line == unseen || len(r.Points) < 2 {
		return
	}
	pts := append([]layout.Point(nil), r.Points...)
	var heads drawing
	end := len(pts) - 1
	pts[0] = heads.head(e.start, pts[0], pts[1], &e.look)
	pts[end] = heads.head(e.end, pts[end], pts[end-1], &e.look)
	way, middle := smooth(pts, r.Label, &e.label, p.bendOf(e))
	l := e.look
	l.fill = ""
	class := "bdy-d-link"
	switch {
	case e.line == dotted && l.dash == "":
		class += " bdy-d-dots"
	case e.line == thick && l.width == "":
		class += " bdy-d-thick"
	}
	d.raw("<path")
	if l.stroke == "" {
		d.paint(l, class, "")
	} else {
		// The class would win over the author's colour.
		if l.width == "" && e.line == thick {
			l.width = "2"
		}
		if l.dash == "" && e.line == dotted {
			l.dash = "3 4"
		}
		d.paint(l, "bdy-d-none", "")
	}
	d.trace(&way, 0, 0)
	d.raw("/>")
	d.b = append(d.b, heads.b...)
	if !e.label.empty() {
		in := p.groupOf(middle)
		grounds.ground(&e.label, middle, in)
		ink := ""
		if in != nil {
			ink = in.look.ink()
		}
		labels.label(&e.label, middle.X, middle.Y, 0, onClass(ink), ink)
	}
	labels.beside(&e.startText, r.Points[0], r.Points[1])
	labels.beside(&e.endText, r.Points[end], r.Points[end-1])
}

// groupOf is the innermost group that is drawn around a place, nil for none.
func (p *placedGraph) groupOf(at layout.Point) *group {
	var found *group
	size := math.Inf(1)
	for i := range p.groups {
		b := p.groupBoxes[i]
		if c := &p.groups[i]; !c.bare && !c.region && b.Width < size && at.X > b.X && at.X < b.X+b.Width && at.Y > b.Y && at.Y < b.Y+b.Height {
			found, size = c, b.Width
		}
	}
	return found
}

// ground covers what lies below a label on a link.
func (d *drawing) ground(l *label, at layout.Point, in *group) {
	d.raw("<rect")
	if in == nil {
		d.paint(look{}, "bdy-d-f-bg", "")
	} else {
		d.paint(look{fill: in.look.fill}, "bdy-d-cluster", "")
	}
	d.attr("x", at.X-l.width/2-linkPad)
	d.attr("y", at.Y-l.height/2-1)
	d.attr("width", l.width+2*linkPad)
	d.attr("height", l.height+2)
	d.raw(` rx="3"/>`)
}

// onClass is the class of a label on a link that has this colour, "" for the theme's.
func onClass(ink string) string {
	if ink != "" {
		return "bdy-d-member"
	}
	return "bdy-d-on"
}

// beside draws a text beside the end of a link that comes from a place before.
func (d *drawing) beside(l *label, at, before layout.Point) {
	if l.empty() {
		return
	}
	ux, uy := unit(before, at)
	x, y := at.X-float64(ux*16), at.Y-float64(uy*16)
	if math.Abs(uy) >= math.Abs(ux) {
		d.label(l, x+8, y, 1, "bdy-d-on bdy-d-label", "")
		return
	}
	d.label(l, x, y-l.height/2-3, 0, "bdy-d-on bdy-d-label", "")
}

// unit is the direction from a to b.
func unit(a, b layout.Point) (x, y float64) {
	dx, dy := b.X-a.X, b.Y-a.Y
	size := math.Sqrt(float64(dx*dx) + float64(dy*dy))
	if size < 1e-9 {
		return 0, 1
	}
	return dx / size, dy / size
}

// Largest radii of a link's turns.
const (
	linkBend     = 60.0
	bendLabelled = 36.0 // where a label is: it moves by a quarter of it at most
)

// bendOf is the largest radius of a link's turns.
func (g *graph) bendOf(e *edge) float64 {
	if g.sharp || e.sharp {
		return 0
	}
	return linkBend
}

// smooth is a way along points whose turns are round. A label that lies on a turn
// moves with it; moved is where it is then. bend is their largest radius, 0 for none.
func smooth(pts []layout.Point, middle layout.Point, l *label, bend float64) (way pen, moved layout.Point) {
	moved = middle
	way.move(pts[0].X, pts[0].Y)
	for i := 1; i < len(pts)-1; i++ {
		a, c, b := pts[i-1], pts[i], pts[i+1]
		back, on := distance(a, c), distance(c, b)
		if i > 1 {
			back /= 2
		}
		if i < len(pts)-2 {
			on /= 2
		}
		r := min(bend, back*0.9, on*0.9)
		labelled := !l.empty() && math.Abs(c.X-middle.X) < l.width/2+linkPad && math.Abs(c.Y-middle.Y) < l.height/2+linkPad
		if labelled {
			r = min(r, bendLabelled)
		}
		ux, uy := unit(c, a)
		vx, vy := unit(c, b)
		if r < 0.5 || float64(ux*vx)+float64(uy*vy) < -0.9998 {
			way.to(c.X, c.Y)
			continue
		}
		if labelled {
			moved.X += float64((ux + vx) * (r / 4))
			moved.Y += float64((uy + vy) * (r / 4))
		}
		sx, sy := c.X+float64(ux*r), c.Y+float64(uy*r)
		ex, ey := c.X+float64(vx*r), c.Y+float64(vy*r)
		const k = 1.0 / 3
		way.to(sx, sy)
		way.curve(c.X+float64(ux*r*k), c.Y+float64(uy*r*k), c.X+float64(vx*r*k), c.Y+float64(vy*r*k), ex, ey)
	}
	last := pts[len(pts)-1]
	way.to(last.X, last.Y)
	return way, moved
}

func distance(a, b layout.Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	return math.Sqrt(float64(dx*dx) + float64(dy*dy))
}

// head draws the sign at the end of a link that comes from a place before. It
// returns where the line ends.
func (d *drawing) head(s headSign, at, before layout.Point, l *look) layout.Point {
	if s == headNone {
		return at
	}
	ux, uy := unit(before, at)
	// on is the place that is a way back from the end, and to its side.
	on := func(back, side float64) layout.Point {
		return layout.Point{
			X: at.X - float64(ux*back) - float64(uy*side),
			Y: at.Y - float64(uy*back) + float64(ux*side),
		}
	}
	form := func(filled, closed bool, points ...layout.Point) {
		var p pen
		p.move(points[0].X, points[0].Y)
		for _, q := range points[1:] {
			p.to(q.X, q.Y)
		}
		if p.closed = closed; !closed {
			d.sign(&p, l, "bdy-d-none")
		} else if filled {
			d.sign(&p, l, "")
		} else {
			d.sign(&p, l, "bdy-d-f-bg")
		}
	}
	ring := func(back, r float64, filled bool) {
		c := on(back, 0)
		p := oval(r, r)
		for i := range p.ops {
			o := &p.ops[i]
			for _, q := range []*layout.Point{&o.a, &o.b, &o.c} {
				q.X += c.X
				q.Y += c.Y
			}
		}
		if filled {
			d.sign(&p, l, "")
		} else {
			d.sign(&p, l, "bdy-d-f-bg")
		}
	}
	switch s {
	case headArrow:
		form(true, true, on(0.5, 0), on(8.5, 3.6), on(8.5, -3.6))
		return on(7, 0)
	case headCircle:
		ring(4.5, 3.7, true)
		return on(7, 0)
	case headCross:
		form(false, false, on(2, 4), on(10, -4))
		form(false, false, on(2, -4), on(10, 4))
		return on(6, 0)
	case headTriangle:
		form(false, true, on(0.5, 0), on(12, 6.5), on(12, -6.5))
		return on(12, 0)
	case headDiamond, headHollow:
		form(s == headDiamond, true, on(0.5, 0), on(8, 5), on(15.5, 0), on(8, -5))
		return on(15, 0)
	case headOpen:
		form(false, false, on(9, 4.5), on(0.5, 0), on(9, -4.5))
		return on(1, 0)
	case headLollipop:
		ring(7, 6, false)
		return on(13, 0)
	case headOne:
		form(false, false, on(6, 5.5), on(6, -5.5))
		form(false, false, on(10, 5.5), on(10, -5.5))
	case headZeroOne:
		form(false, false, on(6, 5.5), on(6, -5.5))
		ring(13.5, 4, false)
	case headMany:
		form(false, false, on(0, 6), on(10, 0), on(0, -6))
		form(false, false, on(13, 5.5), on(13, -5.5))
	case headZeroMany:
		form(false, false, on(0, 6), on(10, 0), on(0, -6))
		ring(14.5, 4, false)
	}
	return at
}

// sign draws a part of a head; fill is a class, "" for the colour of the line.
func (d *drawing) sign(p *pen, l *look, fill string) {
	d.raw("<path")
	switch {
	case l.stroke == "" && fill == "":
		d.raw(` class="bdy-d-tip"`)
	case l.stroke == "":
		d.raw(` class="bdy-d-sign ` + fill + `"`)
	case fill == "":
		d.raw(` fill="` + l.stroke + `"`)
	default:
		d.raw(` class="` + fill + `" stroke="` + l.stroke + `"`)
	}
	d.trace(p, 0, 0)
	d.raw("/>")
}
