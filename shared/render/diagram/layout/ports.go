package layout

import "slices"

// An edge that crosses the border of a level ends, in the level, at a port on its
// boundary. Which side that is on, the level around it says. A port above or below
// has a place in a row of ports at that end of the ranks. One at a side is reached
// straight from its vert, if nothing is in between, or else through the row of the
// border and a channel in it.

// port returns where an edge meets a vert in whose level it goes on, and whether it
// does.
func (lv *level) port(e *ledge, i int) (place, bool) {
	if i < 0 || lv.verts[i].child == nil {
		return place{}, false
	}
	v := &lv.verts[i]
	n, ok := v.child.at[e.edge]
	if !ok {
		return place{}, false
	}
	ce := &v.child.edges[n]
	if v.child.carries(ce) || ce.inner() {
		return place{}, false
	}
	p := ce.points[0]
	if ce.to < 0 {
		p = ce.points[len(ce.points)-1]
	}
	return lv.inFrame(v, v.child.page(p)), true
}

// channels counts the lines that leave the level's cluster at its sides, for which
// there is room in the rows of its borders.
func (c *comp) channels() {
	lv := c.lv
	if !lv.ported {
		return
	}
	up, in := 0, 0
	for _, i := range c.edges {
		if e := &lv.edges[i]; !e.inner() && e.out >= sideLeft && !e.direct {
			if e.from < 0 {
				up++
			} else {
				in++
			}
		}
	}
	s := &lv.scopes[0]
	s.trackUp, s.trackIn = 0, 0
	gap := lv.b.passGap()
	if up > 0 {
		s.trackUp = (up + 1) * gap
	}
	if in > 0 {
		s.trackIn = (in + 1) * gap
	}
}

// shortcuts finds edges that can lead straight from their vert to the side of the
// level where they leave it, as nothing is in between, instead of through a row
// at its end. It reports whether the component must be placed again, without or
// with rows for some of them.
func (c *comp) shortcuts(try int) (again bool) {
	lv := c.lv
	for _, i := range c.edges {
		e := &lv.edges[i]
		if e.inner() || e.out < sideLeft {
			continue
		}
		switch free := try < 5 && c.free(e, try == 0); {
		case e.direct && !free:
			e.direct, e.indirect, again = false, true, true
		case !e.direct && !e.indirect && try < 3 && free:
			e.direct, again = true, true
		}
	}
	return again
}

// free reports whether an edge can lead straight to its side. With hope, others that
// may do so too are not in its way.
func (c *comp) free(e *ledge, hope bool) bool {
	lv := c.lv
	i := max(e.from, e.to)
	v := &lv.verts[i]
	if _, ok := lv.port(e, i); ok || e.out == sideRight && len(v.loops) > 0 {
		return false
	}
	it := &c.items[c.of[i]]
	order, step, border := c.rows[it.row].order, -1, itemLeft
	if e.out == sideRight {
		step, border = 1, itemRight
	}
	for p := int(c.pos[c.of[i]]) + step; p >= 0 && p < len(order); p += step {
		o := &c.items[order[p]]
		if o.kind == border {
			continue
		}
		if hope && o.straight() {
			if other := &lv.edges[o.ref]; !other.inner() && other.out >= sideLeft {
				continue
			}
		}
		return false
	}
	_, y0, y1 := c.directs(e)
	gap := lv.b.passGap() / 2
	for _, k := range c.scopes {
		s := &lv.scopes[k]
		if s.th == 0 {
			continue
		}
		t := lv.titleOf(s)
		left := e.out == sideLeft && t.x0 < v.x || e.out == sideRight && t.x1 > v.x
		if left && t.y0 < y1+gap && t.y1 > y0-gap {
			return false
		}
	}
	return true
}

// directs returns where an edge that leads to a side leaves its vert, and where the
// first and the last of those do that leave at the same side of it.
func (c *comp) directs(e *ledge) (y, y0, y1 int) {
	lv := c.lv
	v := max(e.from, e.to)
	n, at := 0, 0
	for _, i := range c.edges {
		if o := &lv.edges[i]; !o.inner() && o.out == e.out && max(o.from, o.to) == v {
			n++
			if o == e {
				at = n
			}
		}
	}
	lv.b.spend(len(c.edges))
	w := &lv.verts[v]
	top := w.y - w.h/2
	return top + w.h*at/(n+1), top + w.h/(n+1), top + w.h*n/(n+1)
}

// routeDirect routes an edge straight to its side.
func (c *comp) routeDirect(e *ledge) {
	lv := c.lv
	v := &lv.verts[max(e.from, e.to)]
	y, _, _ := c.directs(e)
	a, b := place{v.x - v.w/2, y}, place{lv.scopes[0].x0, y}
	if e.out == sideRight {
		a, b = place{v.x + v.w/2, y}, place{lv.scopes[0].x1, y}
	}
	if e.from < 0 {
		a, b = b, a
	}
	e.points, e.label = []place{a, b}, b
}

// tracks returns the heights at which lines run to the sides of the level's
// cluster: the nearest to its side runs nearest to the content.
func (c *comp) tracks() map[int32]int {
	lv := c.lv
	at := map[int32]int{}
	if !lv.ported {
		return at
	}
	s := &lv.scopes[0]
	gap := lv.b.passGap()
	for _, top := range [2]bool{true, false} {
		taken := 0
		for _, out := range [2]side{sideLeft, sideRight} {
			var list []int32
			for k, i := range c.edges {
				if e := &lv.edges[i]; !e.inner() && !e.direct && e.out == out && (e.from < 0) == top {
					list = append(list, c.ports[k])
				}
			}
			x := func(j int32) int {
				if top {
					return c.items[c.items[j].down[0]].x
				}
				return c.items[c.items[j].up[0]].x
			}
			slices.SortStableFunc(list, func(a, b int32) int {
				if out == sideLeft {
					return x(a) - x(b)
				}
				return x(b) - x(a)
			})
			lv.b.spend(8 * len(list))
			for _, j := range list {
				taken++
				if top {
					at[j] = c.rows[s.top].bottom - gap*taken
				} else {
					at[j] = c.rows[s.bottom].top + gap*taken
				}
			}
		}
	}
	return at
}
