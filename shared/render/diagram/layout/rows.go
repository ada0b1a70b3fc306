package layout

import (
	"cmp"
	"slices"
)

// comp is a part of a level that is laid out by itself: whatever edges and scopes
// join.
type comp struct {
	lv     *level
	verts  []int
	scopes []int
	edges  []int // without loops

	items []item
	rows  []row
	pos   []int32 // of an item in its row
	of    []int32 // the item of a vert, by its index in the level
	ports []int32 // the item at the boundary, by index in edges
	first []int32 // the first item below the upper end, by index in edges

	x0, y0, x1, y1 int
}

type itemKind uint8

const (
	itemVert itemKind = iota
	itemPort
	itemDummy
	itemLabel
	itemLeft // border of a scope
	itemRight
)

// item is something that has a place in a row.
type item struct {
	kind     itemKind
	ref      int // vert, ledge or scope, in the level
	row      int
	scope    int // innermost, -1: none
	wl, wr   int // reach to both sides of its middle
	up, down []int32
	x        int
	// offUp and offDown are how far from the middle of a vert above or below the
	// line meets it, at a cluster whose layout chose the place.
	offUp, offDown int
}

type rowKind uint8

const (
	rowPort rowKind = iota
	rowTop
	rowVert
	rowBottom
	rowLabel
)

// row is a line of items. Edges lead straight down through it and slant between
// rows alone, so that nothing in a row is ever cut.
type row struct {
	kind             rowKind
	step, sub        int
	order            []int32
	top, mid, bottom int // y
}

// components returns the parts of the level in source order.
func (lv *level) components() []*comp {
	n := len(lv.verts)
	set := make([]int, n+len(lv.scopes)+1)
	for i := range set {
		set[i] = i
	}
	find := func(i int) int {
		for set[i] != i {
			set[i] = set[set[i]]
			i = set[i]
		}
		return i
	}
	union := func(a, b int) {
		if a, b = find(a), find(b); a != b {
			set[max(a, b)] = min(a, b)
		}
	}
	for i := range lv.verts {
		if s := lv.verts[i].scope; s >= 0 {
			union(i, n+s)
		}
	}
	for i := range lv.scopes {
		if s := lv.scopes[i].parent; s >= 0 {
			union(n+i, n+s)
		}
	}
	for i := range lv.edges {
		if e := &lv.edges[i]; e.inner() {
			union(e.from, e.to)
		}
	}
	at := make([]*comp, len(set))
	var list []*comp
	get := func(i int) *comp {
		i = find(i)
		if at[i] == nil {
			at[i] = &comp{lv: lv}
			list = append(list, at[i])
		}
		return at[i]
	}
	for i := range lv.verts {
		c := get(i)
		c.verts = append(c.verts, i)
	}
	for i := range lv.scopes {
		c := get(n + i)
		c.scopes = append(c.scopes, i)
	}
	for i := range lv.edges {
		if e := &lv.edges[i]; e.from != e.to {
			c := get(max(e.from, e.to))
			c.edges = append(c.edges, i)
		}
	}
	lv.b.spend(n + len(lv.edges))
	return list
}

// rank finds the step of each vert.
func (c *comp) rank() {
	lv := c.lv
	at := make(map[int]int, len(c.verts))
	for i, v := range c.verts {
		at[v] = i
	}
	n := len(c.verts)
	scopeAt := make(map[int]int, len(c.scopes)) // its upper border; the lower one is next
	for i, s := range c.scopes {
		scopeAt[s] = n + 2*i
	}
	n += 2 * len(c.scopes)
	var arcs []arc
	for _, v := range c.verts {
		if s := lv.verts[v].scope; s >= 0 {
			arcs = append(arcs, arc{scopeAt[s], at[v], 0, 0}, arc{at[v], scopeAt[s] + 1, 0, 0})
		}
	}
	for _, s := range c.scopes {
		// Scopes are as short as what they hold allows.
		arcs = append(arcs, arc{scopeAt[s], scopeAt[s] + 1, 0, 4})
		if p := lv.scopes[s].parent; p >= 0 {
			arcs = append(arcs, arc{scopeAt[p], scopeAt[s], 0, 0}, arc{scopeAt[s] + 1, scopeAt[p] + 1, 0, 0})
		}
	}
	top, bottom := n, n+1
	if lv.ported {
		n += 2
		arcs = append(arcs, arc{top, scopeAt[0], 1, 0}, arc{scopeAt[0] + 1, bottom, 1, 0})
	}
	for _, i := range c.edges {
		e := &lv.edges[i]
		u, v := top, bottom
		if w := e.upper(); w >= 0 {
			u = at[w]
		}
		if w := e.lower(); w >= 0 {
			v = at[w]
		}
		if lv.carries(e) { // inside the border, with room for the label
			if u == top {
				arcs = append(arcs, arc{scopeAt[0], v, e.length, 1})
			} else {
				arcs = append(arcs, arc{u, scopeAt[0] + 1, e.length, 1})
			}
		}
		arcs = append(arcs, arc{u, v, e.length, 1})
	}
	steps := rankArcs(lv.b.budget, n, arcs)
	for i, v := range c.verts {
		lv.verts[v].step = steps[i]
	}
	for _, s := range c.scopes {
		lv.scopes[s].first, lv.scopes[s].last = -1, -1
	}
	for _, v := range c.verts {
		for s := lv.verts[v].scope; s >= 0; s = lv.scopes[s].parent {
			sc := &lv.scopes[s]
			step := lv.verts[v].step
			if sc.first < 0 || step < sc.first {
				sc.first = step
			}
			sc.last = max(sc.last, step)
		}
	}
	if lv.ported {
		lv.scopes[0].first, lv.scopes[0].last = steps[scopeAt[0]], steps[scopeAt[0]+1]
	}
}

// Sub-rows of a step, in order: upper borders of scopes, outermost first; verts;
// lower borders, innermost first; labels.
func (c *comp) subVert() int        { return c.lv.depth }
func (c *comp) subTop(d int) int    { return d }
func (c *comp) subBottom(d int) int { return 2*c.lv.depth - d }
func (c *comp) subLabel() int       { return 2*c.lv.depth + 1 }

// labelStep returns the step below whose verts an edge has its label.
func (c *comp) labelStep(e *ledge) int {
	lv := c.lv
	a, b := 0, 0
	switch u, l := e.upper(), e.lower(); {
	case u < 0:
		return lv.verts[l].step - 1
	case l < 0:
		return lv.verts[u].step
	default:
		a, b = lv.verts[u].step, lv.verts[l].step
	}
	return (a + b - 1) / 2
}

// mid reports whether an edge has a place of its own between steps.
func (e *ledge) mid() bool { return e.lw > 0 || e.lh > 0 || e.apart }

// makeRows makes the rows and all items.
func (c *comp) makeRows() {
	lv := c.lv
	c.items = c.items[:0]
	var keys []row
	for _, v := range c.verts {
		keys = append(keys, row{kind: rowVert, step: lv.verts[v].step, sub: c.subVert()})
	}
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		keys = append(keys, row{kind: rowTop, step: s.first, sub: c.subTop(s.depth)}, row{kind: rowBottom, step: s.last, sub: c.subBottom(s.depth)})
	}
	for _, i := range c.edges {
		if e := &lv.edges[i]; e.mid() {
			keys = append(keys, row{kind: rowLabel, step: c.labelStep(e), sub: c.subLabel()})
		}
	}
	if lv.ported {
		keys = append(keys, row{kind: rowPort, step: -2}, row{kind: rowPort, step: 1 << 30})
	}
	slices.SortFunc(keys, compareRows)
	c.rows = slices.CompactFunc(keys, func(a, b row) bool { return compareRows(a, b) == 0 })
	lv.b.spend(4 * len(keys))

	c.of = make([]int32, len(lv.verts))
	for _, v := range c.verts {
		w := &lv.verts[v]
		c.of[v] = c.add(item{kind: itemVert, ref: v, row: c.find(w.step, c.subVert()), scope: w.scope, wl: w.left, wr: w.right})
	}
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		s.top, s.bottom = c.find(s.first, c.subTop(s.depth)), c.find(s.last, c.subBottom(s.depth))
		s.left, s.right = nil, nil
		for r := s.top; r <= s.bottom; r++ {
			s.left = append(s.left, c.add(item{kind: itemLeft, ref: i, row: r, scope: i}))
			s.right = append(s.right, c.add(item{kind: itemRight, ref: i, row: r, scope: i}))
			if r > s.top {
				c.link(s.left[r-s.top-1], s.left[r-s.top])
				c.link(s.right[r-s.top-1], s.right[r-s.top])
			}
		}
	}
	c.ports, c.first = make([]int32, len(c.edges)), make([]int32, len(c.edges))
	for k, i := range c.edges {
		if !lv.edges[i].direct {
			c.makeChain(k, i)
		}
	}
}

func compareRows(a, b row) int {
	return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.sub, b.sub))
}

func (c *comp) find(step, sub int) int {
	r, _ := slices.BinarySearchFunc(c.rows, row{step: step, sub: sub}, compareRows)
	return r
}

func (c *comp) add(it item) int32 {
	c.lv.b.spend(16)
	c.items = append(c.items, it)
	return int32(len(c.items) - 1)
}

func (c *comp) link(u, v int32) {
	c.items[u].down = append(c.items[u].down, v)
	c.items[v].up = append(c.items[v].up, u)
}

// makeChain makes the items of an edge from its upper to its lower end.
func (c *comp) makeChain(k, i int) {
	lv := c.lv
	e := &lv.edges[i]
	end := func(v, r int) int32 {
		if v >= 0 {
			return c.of[v]
		}
		c.ports[k] = c.add(item{kind: itemPort, ref: i, row: r, scope: -1})
		return c.ports[k]
	}
	u, v := end(e.upper(), 0), end(e.lower(), len(c.rows)-1)
	label := -1
	if e.mid() {
		label = c.find(c.labelStep(e), c.subLabel())
	}
	from, to := c.items[u].scope, c.items[v].scope
	lca := c.common(from, to)
	last := u
	for r := c.items[u].row + 1; r < c.items[v].row; r++ {
		it := item{kind: itemDummy, ref: i, row: r, scope: lca}
		for ; from != lca && lv.scopes[from].bottom < r; from = lv.scopes[from].parent {
		}
		if from != lca {
			it.scope = from
		} else {
			for s := to; s != lca; s = lv.scopes[s].parent {
				if lv.scopes[s].top <= r {
					it.scope = s
					break
				}
			}
		}
		if r == label {
			it.kind, it.wl, it.wr = itemLabel, e.lw/2, e.lw/2
		}
		d := c.add(it)
		c.link(last, d)
		if last == u {
			c.first[k] = d
		}
		last = d
	}
	c.link(last, v)
	if last == u {
		c.first[k] = v
		return
	}
	if p, ok := lv.port(e, e.upper()); ok {
		c.items[c.first[k]].offUp = p.x - lv.verts[e.upper()].x
	}
	if p, ok := lv.port(e, e.lower()); ok {
		c.items[last].offDown = p.x - lv.verts[e.lower()].x
	}
}

// common returns the innermost scope around both.
func (c *comp) common(a, b int) int {
	s := c.lv.scopes
	for a != b {
		if b < 0 || a >= 0 && s[a].depth >= s[b].depth {
			a = s[a].parent
		} else {
			b = s[b].parent
		}
	}
	return a
}
