package layout

import (
	"cmp"
	"slices"
)

// loopSize is how far a loop stands out and how far its ends are apart, in pixels,
// where the graph says nothing.
const loopSize = 20

// loop returns both for the graph, in units.
func (d *builder) loop() (reach, height int) {
	return units(cmp.Or(d.g.LoopReach, loopSize)), units(cmp.Or(d.g.LoopHeight, loopSize))
}

// extents sets how far a vert reaches, with room for its loops: bands one above the
// other on its right, each with its label.
func (lv *level) extents(v *vert) {
	v.left, v.right, v.up, v.down = v.w/2, v.w/2, v.h/2, v.h/2
	if len(v.loops) == 0 {
		return
	}
	high, wide := 0, 0
	for _, i := range v.loops {
		e := &lv.edges[i]
		high += lv.band(e)
		wide = max(wide, e.lw)
	}
	reach, _ := lv.b.loop()
	v.right += reach
	if wide > 0 {
		v.right += wide + loopLabel
	}
	v.up, v.down = max(v.up, high/2), max(v.down, (high+1)/2)
}

// band returns the height that a loop takes.
func (lv *level) band(e *ledge) int {
	_, height := lv.b.loop()
	return max(e.lh+4*unit, height)
}

// loopLabel is the room between a loop and its label.
const loopLabel = 5 * unit

// routeLoops routes the loops of a vert.
func (lv *level) routeLoops(v *vert) {
	high := 0
	for _, i := range v.loops {
		high += lv.band(&lv.edges[i])
	}
	if len(v.loops) == 0 {
		return
	}
	// Where the loops meet the shape is drawn together if the bands are higher.
	inner := min(high, v.h*3/4)
	reach, _ := lv.b.loop()
	x, out := v.x+v.w/2, v.x+v.w/2+reach
	y := 0
	for _, i := range v.loops {
		e := &lv.edges[i]
		h := lv.band(e)
		at := func(part int) int { return (y*8+h*part)*inner/(8*high) - inner/2 + v.y }
		top, mid := v.y-high/2+y, v.y-high/2+y+h/2
		e.points = []place{{x, at(1)}, {out, top + h/4}, {out, top + h - h/4}, {x, at(7)}}
		e.label = place{out + loopLabel + e.lw/2, mid}
		if e.lw == 0 {
			e.label.x = out
		}
		y += h
	}
}

// route routes all edges of the component.
func (c *comp) route() {
	lv := c.lv
	for _, v := range c.verts {
		lv.routeLoops(&lv.verts[v])
	}
	c.passTitles()
	tracks := c.tracks()
	for k, i := range c.edges {
		if e := &lv.edges[i]; e.direct {
			c.routeDirect(e)
		} else {
			c.routeEdge(k, e, tracks)
		}
	}
}

// passTitles moves lines that cross the row of a title beside it. The title stands in
// the middle of its box, which is known only after the items were placed.
func (c *comp) passTitles() {
	lv := c.lv
	if lv.dir.horizontal() {
		return
	}
	gap := lv.b.passGap()
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		if s.th == 0 {
			continue
		}
		r := s.top
		if lv.dir == Up {
			r = s.bottom
		}
		mid := (s.x0 + s.x1) / 2
		low, high := mid-s.tw/2-gap/2, mid+s.tw/2+gap/2
		order := c.rows[r].order
		from, to := int(c.pos[s.left[r-s.top]]), int(c.pos[s.right[r-s.top]])
		split := from + 1
		for split < to && c.items[order[split]].x < mid {
			split++
		}
		for p := split - 1; p > from; p-- {
			if j := order[p]; c.items[j].x > low {
				c.items[j].x = low
				low -= gap
			} else {
				low = c.items[j].x - gap
			}
		}
		for p := split; p < to; p++ {
			if j := order[p]; c.items[j].x < high {
				c.items[j].x = high
				high += gap
			} else {
				high = c.items[j].x + gap
			}
		}
	}
}

// routeEdge makes the points of an edge.
func (c *comp) routeEdge(k int, e *ledge, tracks map[int32]int) {
	lv := c.lv
	w := &way{comp: c, e: e}
	i := c.ports[k]
	if u := e.upper(); u >= 0 {
		i = c.of[u]
	}
	next := c.first[k]
	w.start(i)
	for {
		it := &c.items[next]
		if it.kind == itemVert || it.kind == itemPort {
			break
		}
		r := &c.rows[it.row]
		x := it.x
		switch {
		case it.kind == itemLabel:
			w.add(x, r.top, false)
			w.add(x, r.mid, true)
			w.add(x, r.bottom, false)
			e.label = place{x, r.mid}
		case c.items[i].kind == itemPort && len(w.points) == 0:
			s := &lv.scopes[0]
			if t, ok := tracks[i]; ok {
				side := s.x0
				if e.out == sideRight {
					side = s.x1
				}
				w.add(side, t, true)
				w.add(x, t, true)
				w.add(x, r.bottom, true)
			} else {
				w.add(x, r.top, true)
				w.add(x, r.bottom, true)
			}
		case len(it.down) == 1 && c.items[it.down[0]].kind == itemPort:
			s := &lv.scopes[0]
			w.add(x, r.top, true)
			if t, ok := tracks[it.down[0]]; ok {
				side := s.x0
				if e.out == sideRight {
					side = s.x1
				}
				w.add(x, t, true)
				w.add(side, t, true)
			} else {
				w.add(x, r.bottom, true)
			}
		default:
			w.add(x, r.top, false)
			w.add(x, r.bottom, false)
		}
		next = it.down[0]
	}
	w.end(next)
	w.setWalls()
	w.shorten()
	w.clip(i, next)
	e.points = w.result()
	if e.flip {
		slices.Reverse(e.points)
	}
	if !e.mid() {
		e.label = middle(e.points)
	}
}

// way is a route that is being made, from the upper end to the lower.
type way struct {
	*comp
	e      *ledge
	points []place
	fixed  []bool
	walls  []rect
}

func (w *way) add(x, y int, fixed bool) {
	p := place{x, y}
	if n := len(w.points); n > 0 && w.points[n-1] == p {
		w.fixed[n-1] = w.fixed[n-1] || fixed
		return
	}
	w.points = append(w.points, p)
	w.fixed = append(w.fixed, fixed)
}

// start begins at the middle of the upper end, or at its port.
func (w *way) start(i int32) {
	it := &w.items[i]
	if it.kind != itemVert {
		return
	}
	v := &w.lv.verts[it.ref]
	bottom := w.rows[it.row].bottom
	if p, ok := w.lv.port(w.e, it.ref); ok {
		w.add(p.x, p.y, true)
		w.add(p.x, bottom, false)
		return
	}
	w.add(v.x, v.y, true)
	w.add(v.x, bottom, false)
}

// end ends in the middle of the lower end, or at its port.
func (w *way) end(i int32) {
	it := &w.items[i]
	if it.kind != itemVert {
		return
	}
	v := &w.lv.verts[it.ref]
	top := w.rows[it.row].top
	if p, ok := w.lv.port(w.e, it.ref); ok {
		w.add(p.x, top, false)
		w.add(p.x, p.y, true)
		return
	}
	w.add(v.x, top, false)
	w.add(v.x, v.y, true)
}

// maxStraight is how many rows a line is looked for in that replaces a bend.
const maxStraight = 16

// shorten leaves out bends where the straight way is clear.
func (w *way) shorten() {
	// Straight down through several rows is clear.
	n := 0
	for k, p := range w.points {
		if k > 0 && k+1 < len(w.points) && !w.fixed[k] && w.points[n-1].x == p.x && w.points[k+1].x == p.x {
			continue
		}
		w.points[n], w.fixed[n] = p, w.fixed[k]
		n++
	}
	w.points, w.fixed = w.points[:n], w.fixed[:n]
	for range 4 {
		n, dropped := 1, false
		for k := 1; k+1 < len(w.points); k++ {
			if !w.fixed[k] && w.clear(w.points[n-1], w.points[k+1]) {
				dropped = true
				continue
			}
			w.points[n], w.fixed[n] = w.points[k], w.fixed[k]
			n++
		}
		if !dropped {
			return
		}
		last := len(w.points) - 1
		w.points[n], w.fixed[n] = w.points[last], w.fixed[last]
		w.points, w.fixed = w.points[:n+1], w.fixed[:n+1]
	}
}

// clear reports whether the line from a down to b keeps away from everything that
// is not its own.
func (w *way) clear(a, b place) bool {
	for _, i := range w.walls {
		if i.cut(a, b) {
			return false
		}
	}
	w.lv.b.spend(1 + len(w.walls))
	r, _ := slices.BinarySearchFunc(w.rows, a.y, func(r row, y int) int { return r.bottom - y })
	for n := 0; r < len(w.rows) && w.rows[r].top <= b.y; r++ {
		if n++; n > maxStraight || !w.clearRow(&w.rows[r], a, b) {
			return false
		}
	}
	return true
}

// clearRow is clear in one row.
func (w *way) clearRow(r *row, a, b place) bool {
	margin := w.lv.b.passGap() / 2
	x0, x1 := a.x, b.x // where the line is in the row
	if dy := b.y - a.y; dy > 0 {
		y0, y1 := max(a.y, r.top), min(b.y, r.bottom)
		x0, x1 = a.x+(b.x-a.x)*(y0-a.y)/dy, a.x+(b.x-a.x)*(y1-a.y)/dy
	}
	if x0 > x1 {
		x0, x1 = x1, x0
	}
	p, _ := slices.BinarySearchFunc(r.order, x0-margin, func(i int32, x int) int { return w.items[i].x + w.items[i].wr - x })
	for ; p < len(r.order); p++ {
		it := &w.items[r.order[p]]
		w.lv.b.spend(1)
		if it.x-it.wl >= x1+margin {
			break
		}
		var box rect
		switch {
		case it.kind == itemVert && (it.ref == w.e.from || it.ref == w.e.to):
			v := &w.lv.verts[it.ref]
			if v.right == v.w/2 {
				continue
			}
			box = rect{v.x + v.w/2, v.y - v.up, v.x + v.right, v.y + v.down} // its loops
		case it.kind == itemVert:
			v := &w.lv.verts[it.ref]
			box = rect{v.x - v.left, v.y - v.up, v.x + v.right, v.y + v.down}
		case it.kind == itemLabel && &w.lv.edges[it.ref] != w.e:
			box = rect{it.x - it.wl, r.top, it.x + it.wr, r.bottom}
		case it.kind == itemDummy && it.ref >= 0 && &w.lv.edges[it.ref] != w.e:
			box = rect{it.x, r.top, it.x, r.bottom}
		default:
			continue
		}
		if (rect{box.x0 - margin, box.y0 - margin, box.x1 + margin, box.y1 + margin}).cut(a, b) {
			return false
		}
	}
	return true
}

// setWalls collects the boxes that the edge must not run through: scopes that it
// has no end in, and titles.
func (w *way) setWalls() {
	lv := w.lv
	from, to := -1, -1
	if u := w.e.upper(); u >= 0 {
		from = lv.verts[u].scope
	}
	if v := w.e.lower(); v >= 0 {
		to = lv.verts[v].scope
	}
	around := func(s, i int) bool {
		for ; s >= 0; s = lv.scopes[s].parent {
			if s == i {
				return true
			}
		}
		return false
	}
	margin := lv.b.passGap() / 2
	lv.b.spend(len(w.scopes))
	for _, i := range w.scopes {
		s := &lv.scopes[i]
		if !around(from, i) && !around(to, i) {
			w.walls = append(w.walls, rect{s.x0 - margin, s.y0 - margin, s.x1 + margin, s.y1 + margin})
		} else if s.th > 0 {
			w.walls = append(w.walls, lv.titleOf(s))
		}
	}
}

// titleOf returns where a title is in the frame.
func (lv *level) titleOf(s *scope) rect {
	x, y := (s.x0+s.x1)/2, (s.y0+s.y1)/2
	switch lv.dir {
	case Down:
		return rect{x - s.tw/2, s.y0, x + s.tw/2, s.y0 + s.th}
	case Up:
		return rect{x - s.tw/2, s.y1 - s.th, x + s.tw/2, s.y1}
	}
	return rect{s.x0, y - s.tw/2, s.x0 + s.th, y + s.tw/2}
}

// result returns the points without repetition and those on a straight line.
func (w *way) result() []place {
	var to []place
	for _, p := range w.points {
		if n := len(to); n > 0 && to[n-1] == p {
			continue
		}
		for n := len(to); n > 1; n-- {
			a, b := to[n-2], to[n-1]
			if (b.x-a.x)*(p.y-b.y) != (b.y-a.y)*(p.x-b.x) || (p.y-b.y)*(b.y-a.y) < 0 {
				break
			}
			to = to[:n-1]
		}
		to = append(to, p)
	}
	return to
}

// clip cuts the parts inside the boxes at the ends off.
func (w *way) clip(i, j int32) {
	if it := &w.items[i]; it.kind == itemVert {
		if v := &w.lv.verts[it.ref]; len(w.points) > 1 && w.points[0] == (place{v.x, v.y}) {
			w.points[0] = border(v, w.points[1], v.h/2)
		}
	}
	if it := &w.items[j]; it.kind == itemVert {
		n := len(w.points)
		if v := &w.lv.verts[it.ref]; n > 1 && w.points[n-1] == (place{v.x, v.y}) {
			w.points[n-1] = border(v, w.points[n-2], -v.h/2)
		}
	}
}

// border returns where the line from the middle of a vert to p leaves its box; y is
// the edge that a line to a place in the box leaves by.
func border(v *vert, p place, y int) place {
	dx, dy := p.x-v.x, p.y-v.y
	w, h := v.w/2, v.h/2
	if abs(dx) <= w && abs(dy) <= h {
		return place{p.x, v.y + y}
	}
	if abs(dy)*w >= abs(dx)*h { // by the upper or the lower edge
		if dy < 0 {
			h = -h
		}
		return place{v.x + dx*h/dy, v.y + h}
	}
	if dx < 0 {
		w = -w
	}
	return place{v.x + w, v.y + dy*w/dx}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// middle returns the point half way along a line.
func middle(points []place) place {
	total := 0
	for k := 1; k < len(points); k++ {
		total += length(points[k-1], points[k])
	}
	half := total / 2
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		n := length(a, b)
		if half <= n && n > 0 {
			return place{a.x + (b.x-a.x)*half/n, a.y + (b.y-a.y)*half/n}
		}
		half -= n
	}
	if len(points) > 0 {
		return points[len(points)-1]
	}
	return place{}
}

// length returns the length of a line, in whole units.
func length(a, b place) int {
	dx, dy := a.x-b.x, a.y-b.y
	return root(dx*dx + dy*dy)
}

// rect is a box in a frame.
type rect struct{ x0, y0, x1, y1 int }

// cut reports whether the line from a to b runs through the inside of the box.
func (r rect) cut(a, b place) bool {
	if max(a.x, b.x) <= r.x0 || min(a.x, b.x) >= r.x1 || max(a.y, b.y) <= r.y0 || min(a.y, b.y) >= r.y1 {
		return false
	}
	// Corners on both sides of the line.
	dx, dy := b.x-a.x, b.y-a.y
	left, right := false, false
	for _, p := range [4]place{{r.x0, r.y0}, {r.x0, r.y1}, {r.x1, r.y0}, {r.x1, r.y1}} {
		side := dx*(p.y-a.y) - dy*(p.x-a.x)
		left, right = left || side < 0, right || side > 0
	}
	return left && right
}

// freeTitles makes clusters levels of their own whose titles lines run through, and
// reports whether there are any. That can be where ranks are columns: the title
// stands at the side of the scope there, which lines cross that come from beside it.
func (c *comp) freeTitles() bool {
	lv := c.lv
	found := false
	if !lv.dir.horizontal() {
		return false
	}
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		if s.th == 0 || s.cluster == lv.owner {
			continue
		}
		title := lv.titleOf(s)
		for _, k := range c.edges {
			points := lv.edges[k].points
			lv.b.spend(len(points))
			for n := 1; n < len(points); n++ {
				if title.cut(points[n-1], points[n]) {
					lv.b.free[s.cluster], found = true, true
				}
			}
		}
	}
	return found
}
