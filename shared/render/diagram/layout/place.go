package layout

import "slices"

// layout places a component whose steps are known: rows, order, then places.
func (c *comp) layout() {
	for try := 0; ; try++ {
		c.makeRows()
		c.order()
		c.placeX()
		c.placeY()
		if !c.shortcuts(try) {
			break
		}
	}
	c.route()
	c.bounds()
}

// edgeGap is the room between lines side by side.
func (d *builder) edgeGap() int { return max(2, d.nodeGap*2/5) &^ 1 }

// gap returns the room between two items side by side in a row.
func (c *comp) gap(a, b *item) int {
	d := c.lv.b
	half := func(it *item) int {
		switch it.kind {
		case itemVert:
			return d.nodeGap / 2
		case itemPort:
			return 0
		}
		return d.edgeGap() / 2
	}
	switch {
	case a.kind == itemLeft:
		n := d.padding()
		if b.kind == itemDummy {
			n = d.edgeGap() / 2
		}
		if c.lv.dir.horizontal() { // the title stands along this border
			n += c.lv.scopes[a.ref].th
		}
		return n
	case b.kind == itemRight && a.kind == itemDummy:
		return d.edgeGap() / 2
	case b.kind == itemRight:
		return d.padding()
	}
	return half(a) + half(b)
}

// least returns how wide a scope must be for its title, with the lines that pass
// beside it.
func (c *comp) least(s *scope) int {
	if c.lv.dir.horizontal() {
		return 0
	}
	r := s.top
	if c.lv.dir == Up {
		r = s.bottom
	}
	passing := 0
	c.lv.b.spend(1 + len(c.rows[r].order)/4)
	for _, i := range c.rows[r].order {
		if c.items[i].kind == itemDummy {
			passing++
		}
	}
	return s.tw + c.lv.b.padding() + 2*passing*c.lv.b.passGap()
}

// passGap is the room between lines that pass beside a title.
func (d *builder) passGap() int { return d.edgeGap() / 2 }

// blocks is the graph of blocks, chains of items straight below each other, in
// which an edge says how far two must be apart.
type blocks struct {
	of   []int32 // by item
	n    int
	from [][]apart
	in   []int
}

type apart struct {
	to  int32
	gap int
}

// placeX places the items along their rows as Brandes and Köpf do: four times,
// towards each side from each end, then the middle of the four. Borders of scopes
// are blocks that nothing else is aligned across, so they are straight.
func (c *comp) placeX() {
	n := len(c.items)
	var xs [4][]int
	narrow, width := 0, 0
	for k := range xs {
		down, left := k < 2, k%2 == 0
		xs[k] = c.compact(c.align(down, left), left)
		low, high := c.span(xs[k])
		if k == 0 || high-low < width {
			narrow, width = k, high-low
		}
	}
	low, high := c.span(xs[narrow])
	for k := range xs {
		l, h := c.span(xs[k])
		shift := low - l
		if k%2 == 1 {
			shift = high - h
		}
		for i := range xs[k] {
			xs[k][i] += shift
		}
	}
	c.lv.b.spend(8 * n)
	for i := range c.items {
		four := [4]int{xs[0][i], xs[1][i], xs[2][i], xs[3][i]}
		slices.Sort(four[:])
		c.items[i].x = (four[1] + four[2]) >> 1
	}
	c.refine()
}

// span returns the left- and rightmost of what is placed.
func (c *comp) span(x []int) (low, high int) {
	for i := range c.items {
		it := &c.items[i]
		if l := x[i] - it.wl; i == 0 || l < low {
			low = l
		}
		if h := x[i] + it.wr; i == 0 || h > high {
			high = h
		}
	}
	return low, high
}

// straight reports whether a line between two items of neighbouring rows is part
// of a longer one that is to be straight.
func (it *item) straight() bool { return it.kind == itemDummy || it.kind == itemLabel }

// align joins each item with the middle one of its neighbours above (or below),
// from the left or from the right, and returns for each item the topmost of its
// block. Borders come first, then lines inside long edges.
func (c *comp) align(down, left bool) []int32 {
	root := make([]int32, len(c.items))
	for i := range root {
		root[i] = int32(i)
	}
	sign := int32(1)
	if !left {
		sign = -1
	}
	at := func(i int32) int32 { return sign * c.pos[i] }
	partner := make([]int32, 0, 64) // by place in the row: what is joined in any case
	for k := 1; k < len(c.rows); k++ {
		r := k
		if !down {
			r = len(c.rows) - 1 - k
		}
		order := c.rows[r].order
		c.lv.b.spend(2 * len(order))
		item := func(p int) int32 {
			if left {
				return order[p]
			}
			return order[len(order)-1-p]
		}
		partner = c.partners(order, item, at, down, partner[:0])
		limit := int32(1 << 30)
		next := make([]int32, len(order)) // up to where an item may be joined
		for p := len(order) - 1; p >= 0; p-- {
			next[p] = limit
			if partner[p] >= 0 {
				limit = at(partner[p])
			}
		}
		done := int32(-1 << 30)
		for p := range order {
			v := item(p)
			if partner[p] >= 0 {
				root[v], done = root[partner[p]], at(partner[p])
				continue
			}
			near := c.sorted(v, down, left)
			m := len(near)
			if m == 0 {
				continue
			}
			for _, q := range [2]int{(m - 1) / 2, m / 2} {
				if a := at(near[q]); a > done && a < next[p] && c.items[near[q]].kind < itemLeft {
					root[v], done = root[near[q]], a
					break
				}
			}
		}
	}
	return root
}

// partners lists for a row which items are joined in any case with which of the
// row before: borders, and lines inside long edges that cross none of them.
func (c *comp) partners(order []int32, item func(int) int32, at func(int32) int32, up bool, to []int32) []int32 {
	for p := range order {
		v := item(p)
		to = append(to, -1)
		if it := &c.items[v]; it.kind >= itemLeft {
			if near := c.near(v, up); len(near) > 0 {
				to[p] = near[0]
			}
		}
	}
	limits := make([]int32, len(order))
	limit := int32(1 << 30)
	for p := len(order) - 1; p >= 0; p-- {
		limits[p] = limit
		if to[p] >= 0 {
			limit = at(to[p])
		}
	}
	done := int32(-1 << 30)
	for p := range order {
		if to[p] >= 0 {
			done = at(to[p])
			continue
		}
		v := item(p)
		near := c.near(v, up)
		if !c.items[v].straight() || len(near) != 1 || !c.items[near[0]].straight() {
			continue
		}
		if a := at(near[0]); a > done && a < limits[p] {
			to[p], done = near[0], a
		}
	}
	return to
}

func (c *comp) near(i int32, up bool) []int32 {
	if up {
		return c.items[i].up
	}
	return c.items[i].down
}

// sorted returns the neighbours of an item by their place.
func (c *comp) sorted(i int32, up, left bool) []int32 {
	near := c.near(i, up)
	slices.SortFunc(near, func(a, b int32) int {
		if left {
			return int(c.pos[a] - c.pos[b])
		}
		return int(c.pos[b] - c.pos[a])
	})
	c.lv.b.spend(len(near))
	return near
}

// graph returns the blocks and how far they are apart, mirrored unless left.
func (c *comp) graph(root []int32, left bool) *blocks {
	g := &blocks{of: make([]int32, len(root))}
	id := make([]int32, len(root))
	for i, r := range root {
		if int32(i) == r {
			id[i] = int32(g.n)
			g.n++
		}
	}
	for i, r := range root {
		g.of[i] = id[r]
	}
	g.from, g.in = make([][]apart, g.n), make([]int, g.n)
	for r := range c.rows {
		order := c.rows[r].order
		for p := 1; p < len(order); p++ {
			a, b := &c.items[order[p-1]], &c.items[order[p]]
			g.add(g.of[order[p-1]], g.of[order[p]], a.wr+b.wl+c.gap(a, b), left)
		}
		c.lv.b.spend(2 * len(order))
	}
	for _, i := range c.scopes {
		s := &c.lv.scopes[i]
		g.add(g.of[s.left[0]], g.of[s.right[0]], c.least(s), left)
	}
	return g
}

func (g *blocks) add(a, b int32, gap int, left bool) {
	if !left {
		a, b = b, a
	}
	g.from[a] = append(g.from[a], apart{b, gap})
	g.in[b]++
}

// compact places the blocks as far to the left (or the right) as they go, then
// each as near to the next ones as they allow.
func (c *comp) compact(root []int32, left bool) []int {
	g := c.graph(root, left)
	x := make([]int, g.n)
	order := make([]int32, 0, g.n)
	for b := range g.n {
		if g.in[b] == 0 {
			order = append(order, int32(b))
		}
	}
	for k := 0; k < len(order); k++ {
		b := order[k]
		for _, e := range g.from[b] {
			x[e.to] = max(x[e.to], x[b]+e.gap)
			if g.in[e.to]--; g.in[e.to] == 0 {
				order = append(order, e.to)
			}
		}
		c.lv.b.spend(1 + len(g.from[b]))
	}
	closing := itemRight // this border stays with what is before it
	if !left {
		closing = itemLeft
	}
	stay := make([]bool, g.n)
	for i := range c.items {
		if c.items[i].kind == closing {
			stay[g.of[i]] = true
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		b := order[k]
		if len(g.from[b]) == 0 || stay[b] {
			continue
		}
		to := 1 << 60
		for _, e := range g.from[b] {
			to = min(to, x[e.to]-e.gap)
		}
		x[b] = max(x[b], to)
	}
	all := make([]int, len(c.items))
	for i := range all {
		all[i] = x[g.of[i]]
		if !left {
			all[i] = -all[i]
		}
	}
	return all
}

// placeY places the rows one below the other.
func (c *comp) placeY() {
	lv := c.lv
	y := 0
	up, down := make([]int, len(c.rows)), make([]int, len(c.rows))
	for _, v := range c.verts {
		w := &lv.verts[v]
		r := c.items[c.of[v]].row
		up[r], down[r] = max(up[r], w.up), max(down[r], w.down)
	}
	for _, i := range c.edges {
		e := &lv.edges[i]
		if e.lh > 0 {
			r := c.find(c.labelStep(e), c.subLabel())
			up[r], down[r] = max(up[r], e.lh/2), max(down[r], e.lh/2)
		}
	}
	c.channels()
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		th := s.th
		top, bottom := s.trackUp, s.trackIn
		switch lv.dir {
		case Down:
			top += th
		case Up:
			bottom += th
		}
		down[s.top], up[s.bottom] = max(down[s.top], top), max(up[s.bottom], bottom)
	}
	for r := range c.rows {
		w := &c.rows[r]
		if r > 0 {
			y += c.steep(r, c.rowGap(&c.rows[r-1], w))
		}
		w.top, w.mid, w.bottom = y, y+up[r], y+up[r]+down[r]
		y = w.bottom
		if lv.dir.horizontal() && w.kind == rowBottom {
			for _, i := range c.scopes {
				if s := &lv.scopes[i]; s.bottom == r {
					// The title's length, and room for the channels beside it.
					extra := c.rows[s.top].top + s.tw + lv.b.padding() + 2*max(s.trackUp, s.trackIn) - y
					if extra > 0 {
						y += extra
						w.top, w.mid, w.bottom = w.top+extra, w.mid+extra, y
						c.lower(s.top+1, r, extra/2&^1) // the content stands in the middle
					}
				}
			}
		}
	}
	for _, v := range c.verts {
		it := &c.items[c.of[v]]
		lv.verts[v].x, lv.verts[v].y = it.x, c.rows[it.row].mid
	}
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		s.x0, s.x1 = c.items[s.left[0]].x, c.items[s.right[0]].x
		s.y0, s.y1 = c.rows[s.top].top, c.rows[s.bottom].bottom
	}
}

// lower moves rows down, from one to the one before the last.
func (c *comp) lower(from, last, by int) {
	c.lv.b.spend(last - from)
	for r := from; r < last; r++ {
		w := &c.rows[r]
		w.top, w.mid, w.bottom = w.top+by, w.mid+by, w.bottom+by
	}
}

// steep returns the gap above a row, larger where a line leads so far to the side
// that it would lie almost flat on what is below.
func (c *comp) steep(r, gap int) int {
	far := 0
	for _, i := range c.rows[r].order {
		it := &c.items[i]
		if it.kind >= itemLeft {
			continue
		}
		for _, j := range it.up {
			far = max(far, abs(c.items[j].x-it.x))
		}
	}
	return gap + min(max(0, (far-6*gap)/16), c.lv.b.rankGap)&^1
}

// rowGap returns the room between two rows.
func (c *comp) rowGap(a, b *row) int {
	d := c.lv.b
	pad := d.padding()
	n := pad
	half := d.rankGap / 2
	switch {
	case a.kind == rowPort || b.kind == rowPort:
		return 0
	case a.kind == rowVert && b.kind == rowVert:
		n = 2 * half
	case a.kind == rowLabel && b.kind == rowLabel,
		a.kind == rowVert && b.kind == rowLabel, a.kind == rowLabel && b.kind == rowVert,
		a.kind == rowVert && b.kind == rowTop, a.kind == rowBottom && b.kind == rowVert,
		a.kind == rowBottom && b.kind == rowTop:
		n = half
	}
	if a.step >= 0 && b.step < 1<<30 {
		n += max(0, b.step-a.step-1) * 2 * half
	}
	return n &^ 1
}

// shift moves all of the level.
func (lv *level) shift(dx, dy int) {
	lv.b.spend(len(lv.verts) + len(lv.edges))
	for i := range lv.verts {
		lv.verts[i].x += dx
		lv.verts[i].y += dy
	}
	for i := range lv.scopes {
		s := &lv.scopes[i]
		s.x0, s.x1, s.y0, s.y1 = s.x0+dx, s.x1+dx, s.y0+dy, s.y1+dy
	}
	for i := range lv.edges {
		lv.edges[i].shift(dx, dy)
	}
}

func (e *ledge) shift(dx, dy int) {
	for k := range e.points {
		e.points[k].x += dx
		e.points[k].y += dy
	}
	e.label.x += dx
	e.label.y += dy
}

// shift moves a component.
func (c *comp) shift(dx, dy int) {
	lv := c.lv
	for _, i := range c.verts {
		v := &lv.verts[i]
		v.x, v.y = v.x+dx, v.y+dy
		for _, k := range v.loops {
			lv.edges[k].shift(dx, dy)
		}
	}
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		s.x0, s.x1, s.y0, s.y1 = s.x0+dx, s.x1+dx, s.y0+dy, s.y1+dy
	}
	for _, i := range c.edges {
		lv.edges[i].shift(dx, dy)
	}
}

// bounds sets the box around the component.
func (c *comp) bounds() {
	lv := c.lv
	first := true
	grow := func(x0, y0, x1, y1 int) {
		if first {
			c.x0, c.y0, c.x1, c.y1 = x0, y0, x1, y1
			first = false
		}
		c.x0, c.y0, c.x1, c.y1 = min(c.x0, x0), min(c.y0, y0), max(c.x1, x1), max(c.y1, y1)
	}
	edge := func(e *ledge) {
		for _, p := range e.points {
			grow(p.x, p.y, p.x, p.y)
		}
		if e.lw > 0 || e.lh > 0 {
			grow(e.label.x-e.lw/2, e.label.y-e.lh/2, e.label.x+e.lw/2, e.label.y+e.lh/2)
		}
	}
	for _, i := range c.verts {
		v := &lv.verts[i]
		grow(v.x-v.left, v.y-v.up, v.x+v.right, v.y+v.down)
		for _, k := range v.loops {
			edge(&lv.edges[k])
		}
	}
	for _, i := range c.scopes {
		s := &lv.scopes[i]
		grow(s.x0, s.y0, s.x1, s.y1)
	}
	for _, i := range c.edges {
		edge(&lv.edges[i])
	}
}

// pack puts the components side by side, in lines if they would be far wider than
// high, and sets the size of the level.
func (lv *level) pack(comps []*comp) {
	gap := lv.b.nodeGap
	area, widest := 0, 0
	for _, c := range comps {
		area += (c.x1 - c.x0 + gap) / unit * ((c.y1 - c.y0 + gap) / unit)
		widest = max(widest, c.x1-c.x0)
	}
	limit := max(widest, 3*root(area)*unit)
	x, y, high := 0, 0, 0
	for _, c := range comps {
		w, h := c.x1-c.x0, c.y1-c.y0
		if x > 0 && x+w > limit {
			x, y, high = 0, y+high+gap, 0
		}
		c.shift(x-c.x0, y-c.y0)
		lv.w, lv.h = max(lv.w, x+w), max(lv.h, y+h)
		x += w + gap
		high = max(high, h)
	}
	lv.w, lv.h = lv.w+lv.w&1, lv.h+lv.h&1
}

// root returns the whole part of a square root.
func root(n int) int {
	r := 0
	for b := 1 << 31; b > 0; b >>= 1 {
		if (r+b)*(r+b) <= n {
			r += b
		}
	}
	return r
}
