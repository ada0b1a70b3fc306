package diagram

import (
	"math"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Room in boxes of several parts, in pixels.
const (
	partPad  = 7.0
	partSide = 12.0
	cellGap  = 14.0
)

// partsSize is the size of a node of several parts.
func (n *node) partsSize() (w, h float64) {
	if len(n.columns) > 0 {
		return n.tableSize()
	}
	for i, part := range n.parts {
		ph := 0.0
		for j := range part {
			w = max(w, part[j].width)
			ph += part[j].height
		}
		if len(part) == 0 && i > 0 {
			ph = 2
		}
		h += ph + 2*partPad
	}
	return math.Ceil(max(w+2*partSide, 72)), math.Ceil(h)
}

// parts draws the parts of a node below each other, with lines between them.
func (p *placedGraph) parts(d *drawing, n *node, b layout.Box) {
	if len(n.columns) > 0 {
		p.table(d, n, b)
		return
	}
	y := b.Y
	ink := n.look.ink()
	for i, part := range n.parts {
		if i > 0 {
			rule := line(b.X, y, b.X+b.Width, y)
			d.raw("<path")
			d.paint(look{stroke: n.look.stroke}, "bdy-d-none", "bdy-d-s-edge")
			d.trace(&rule, 0, 0)
			d.raw("/>")
		}
		y += partPad
		for j := range part {
			l := &part[j]
			class := "bdy-d-word"
			if i == 0 && l.size < textSize {
				class = "bdy-d-on"
			}
			if i == 0 {
				d.label(l, b.X+b.Width/2, y+l.height/2, 0, class, ink)
			} else {
				d.label(l, b.X+partSide, y+l.height/2, 1, "bdy-d-member", ink)
			}
			y += l.height
		}
		if len(part) == 0 && i > 0 {
			y += 2
		}
		y += partPad
	}
}

// rowHeight is the height of a row of an entity's table.
const rowHeight = 24.0

// tableSize is the size of an entity: its name above rows of cells.
func (n *node) tableSize() (w, h float64) {
	clear(n.columns)
	for _, row := range n.parts[1:] {
		for j := range row {
			n.columns[j] = max(n.columns[j], row[j].width)
		}
	}
	for _, c := range n.columns {
		if c > 0 {
			w += c + cellGap
		}
	}
	title := &n.parts[0][0]
	h = title.height + 2*partPad + 2
	for _, row := range n.parts[1:] {
		h += tall(row)
	}
	wide := math.Ceil(max(w+2*partSide-cellGap, title.width+2*partSide, 90))
	for i := range n.columns {
		if n.columns[i] > 0 {
			n.columns[i] += cellGap
		}
	}
	return wide, math.Ceil(h)
}

// tall is the height of a row.
func tall(row []label) float64 {
	h := rowHeight
	for j := range row {
		h = max(h, row[j].height+7)
	}
	return h
}

func (p *placedGraph) table(d *drawing, n *node, b layout.Box) {
	title := &n.parts[0][0]
	ink := n.look.ink()
	h := title.height + 2*partPad + 2
	d.label(title, b.X+b.Width/2, b.Y+h/2, 0, "bdy-d-word", ink)
	y := b.Y + h
	for i, row := range n.parts[1:] {
		rh := tall(row)
		rule := line(b.X, y, b.X+b.Width, y)
		d.raw("<path")
		stroke := "bdy-d-s-soft"
		if i == 0 {
			stroke = "bdy-d-s-edge"
		}
		d.paint(look{stroke: n.look.stroke}, "bdy-d-none", stroke)
		d.trace(&rule, 0, 0)
		d.raw("/>")
		x := b.X + partSide
		for j := range row {
			class := "bdy-d-member"
			if j != 1 {
				class = "bdy-d-member bdy-d-f-muted"
			}
			if ink != "" {
				class = "bdy-d-member"
			}
			d.label(&row[j], x, y+rh/2, 1, class, ink)
			x += n.columns[j]
		}
		y += rh
	}
}
