package diagram

import (
	"cmp"
	"math"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Ends of links, in pixels.
const (
	endGap  = 14.0 // between two at one side of a node, where it has the room
	flatEnd = 16.0 // the last piece of a link that would arrive along the side
)

// sideEnd is the end of a link at a side of a node.
type sideEnd struct {
	edge  int
	first bool    // it is the beginning of the link's points
	at    float64 // its place along the side
	slope float64 // of the way to it: by how much it goes along the side
}

// steady is how much harder a link that meets the side at a right angle is to move:
// it would lean.
const steady = 50.0

func (e *sideEnd) weight() float64 {
	if math.Abs(e.slope) < 0.02 {
		return steady
	}
	return 1
}

// inner is a node's box without the room for its notes.
func (p *placedGraph) inner(node int) layout.Box {
	n, b := &p.nodes[node], p.nodeBoxes[node]
	return layout.Box{X: b.X + (b.Width-n.innerW)/2, Y: b.Y + (b.Height-n.innerH)/2, Width: n.innerW, Height: n.innerH}
}

// Sides of a box: the upper, the lower, the left and the right one.
const sides = 4

// sideOf returns the side of a box that a place is at, -1 for none.
func sideOf(b layout.Box, at layout.Point) int {
	return slices.IndexFunc([]float64{at.Y - b.Y, at.Y - b.Y - b.Height, at.X - b.X, at.X - b.X - b.Width},
		func(d float64) bool { return math.Abs(d) < 1 })
}

// along returns the coordinate of a place along a side.
func along(side int, at *layout.Point) *float64 {
	if side < 2 {
		return &at.X
	}
	return &at.Y
}

// spread moves the ends of links at one side of a node apart.
func (p *placedGraph) spread() {
	ends := make([][]sideEnd, sides*len(p.nodes))
	for i := range p.edges {
		e, pts := &p.edges[i], p.routes[i].Points
		if len(pts) < 2 || e.line == unseen || e.from == e.to && e.fromGroup == e.toGroup {
			continue
		}
		for _, first := range []bool{true, false} {
			node, group := e.to, e.toGroup
			end, before := pts[len(pts)-1], pts[:len(pts)-1]
			if first {
				node, group = e.from, e.fromGroup
				end = pts[0]
				before = slices.Clone(pts[1:])
				slices.Reverse(before)
			}
			if group || fixed[p.nodes[node].shape][0] > 0 && p.nodes[node].shape != shapeFork {
				continue
			}
			side := sideOf(p.inner(node), end)
			if side < 0 {
				continue
			}
			// A short straight piece before the end says nothing about the way.
			at := *along(side, &end)
			from := before[len(before)-1]
			if len(before) > 1 && math.Abs(*along(side, &from)-at) < 0.5 && distance(from, end) < 3*flatEnd {
				from = before[len(before)-2]
			}
			slope := (*along(side, &from) - at) / max(1, math.Abs(*along(sides-1-side, &from)-*along(sides-1-side, &end)))
			ends[sides*node+side] = append(ends[sides*node+side], sideEnd{i, first, at, slope})
		}
	}
	for k, list := range ends {
		if len(list) > 1 {
			p.spreadSide(k/sides, k%sides, list)
		}
	}
}

// spreadSide is spread for one side.
func (p *placedGraph) spreadSide(node, side int, list []sideEnd) {
	slices.SortStableFunc(list, func(a, b sideEnd) int {
		if math.Abs(a.at-b.at) > 0.5 {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.slope, b.slope)
	})
	b := p.inner(node)
	low, size := b.X, b.Width
	if side >= 2 {
		low, size = b.Y, b.Height
	}
	corner := min(8, size/4)
	gap := min(endGap, (size-2*corner)/float64(len(list)-1))
	for i, to := range apart(list, gap) {
		to = max(low+corner+float64(float64(i)*gap), min(to, low+size-corner-float64(float64(len(list)-1-i)*gap)))
		if d := to - list[i].at; math.Abs(d) > 0.5 {
			p.moveEnd(node, side, &list[i], d)
		}
	}
}

// apart returns places that are at least gap apart and as near as can be to those
// of the ends, which are in order.
func apart(list []sideEnd, gap float64) []float64 {
	// Without the gaps before them, the places must only not decrease: where they
	// do, they become one, their mean.
	type block struct {
		at, weight float64
		n          int
	}
	var blocks []block
	for i := range list {
		w := list[i].weight()
		blocks = append(blocks, block{list[i].at - float64(float64(i)*gap), w, 1})
		for k := len(blocks) - 1; k > 0 && blocks[k-1].at > blocks[k].at; k-- {
			a, b := blocks[k-1], blocks[k]
			w := a.weight + b.weight
			blocks[k-1] = block{(float64(a.at*a.weight) + float64(b.at*b.weight)) / w, w, a.n + b.n}
			blocks = blocks[:k]
		}
	}
	var out []float64
	for _, b := range blocks {
		for range b.n {
			out = append(out, b.at+float64(float64(len(out))*gap))
		}
	}
	return out
}

// moveEnd moves an end, and a short straight piece before it, along a side, unless
// the link would run through another node then.
func (p *placedGraph) moveEnd(node, side int, e *sideEnd, by float64) {
	r := &p.routes[e.edge]
	last := len(r.Points) - 1
	was := *r
	r.Points = slices.Clone(r.Points)
	end, before := &r.Points[last], &r.Points[last-1]
	near := r.Points[max(0, last-2):]
	if e.first {
		end, before = &r.Points[0], &r.Points[1]
		near = r.Points[:min(3, last+1)]
	}
	if last > 1 && math.Abs(*along(side, before)-e.at) < 0.5 && distance(*before, *end) < 3*flatEnd {
		*along(side, before) += by
	}
	if last == 1 {
		*along(side, &r.Label) += by / 2
	}
	*along(side, end) += by
	// From outside, as outlines may be round.
	out := *end
	b := p.inner(node)
	*along(sides-1-side, &out) = [sides]float64{b.Y - 4, b.Y + b.Height + 4, b.X - 4, b.X + b.Width + 4}[side]
	outer := out
	*along(sides-1-side, &outer) += 4 * (2*float64(side%2) - 1)
	*end = p.meet(node, out, outer)
	if !p.clear(e.edge, near) {
		*r = was
	}
}

// flattened returns a way whose arrow would lie along the side of its node with a
// last piece at a right angle to it.
func (p *placedGraph) flattened(node int, pts []layout.Point) []layout.Point {
	last := len(pts) - 1
	end, before := pts[last], pts[last-1]
	side := sideOf(p.inner(node), end)
	if side < 0 {
		return pts
	}
	across := *along(sides-1-side, &before) - *along(sides-1-side, &end)
	if math.Abs(across) < flatEnd/2 || math.Abs(across) > 0.4*math.Abs(*along(side, &before)-*along(side, &end)) {
		return pts
	}
	turn := end
	*along(sides-1-side, &turn) += math.Copysign(min(flatEnd, math.Abs(across)*0.75), across)
	return append(slices.Clone(pts[:last]), turn, end)
}

// beside brings a loop of a node with notes to a side of it without any, and reports
// whether there is one.
func (p *placedGraph) beside(node int, r *layout.Route) bool {
	n, b := &p.nodes[node], p.nodeBoxes[node]
	room := func(left bool) float64 {
		away, _ := n.noteRoom(left)
		return away
	}
	if len(n.notes) == 0 || room(true) > 0 && room(false) > 0 {
		return false
	}
	side, by, middle := 2, (b.Height-n.innerH)/2, b.Y+b.Height/2
	if n.downward {
		side, by, middle = 0, (b.Width-n.innerW)/2, b.X+b.Width/2
	}
	move := func(at *layout.Point) {
		c := along(side, at)
		if *c -= by; room(false) > 0 {
			*c = 2*middle - *c
		}
	}
	for i := range r.Points {
		move(&r.Points[i])
	}
	move(&r.Label)
	last := len(r.Points) - 1
	r.Points[0] = p.meet(node, r.Points[0], r.Points[1])
	r.Points[last] = p.meet(node, r.Points[last], r.Points[last-1])
	return true
}

// crosses reports whether a line runs through the inside of a box.
func crosses(a, b layout.Point, o layout.Box) bool {
	const eps = 0.6
	if max(a.X, b.X) <= o.X+eps || min(a.X, b.X) >= o.X+o.Width-eps || max(a.Y, b.Y) <= o.Y+eps || min(a.Y, b.Y) >= o.Y+o.Height-eps {
		return false
	}
	t0, t1 := 0.0, 1.0
	clip := func(d, low, high float64) bool { // low <= t*d <= high
		if d == 0 {
			return low <= 0 && high >= 0
		}
		x, y := low/d, high/d
		t0, t1 = max(t0, min(x, y)), min(t1, max(x, y))
		return t0 < t1
	}
	return clip(b.X-a.X, o.X+eps-a.X, o.X+o.Width-eps-a.X) && clip(b.Y-a.Y, o.Y+eps-a.Y, o.Y+o.Height-eps-a.Y)
}

// clear reports whether a way of a link runs through no node but those that it joins.
func (p *placedGraph) clear(edge int, pts []layout.Point) bool {
	e := &p.edges[edge]
	for k := 1; k < len(pts); k++ {
		for j := range p.nodes {
			own := j == e.from && !e.fromGroup || j == e.to && !e.toGroup
			if !own && crosses(pts[k-1], pts[k], p.nodeBoxes[j]) {
				return false
			}
		}
	}
	return true
}
