package layout

// A level is what is laid out in one go: the drawing, or a cluster that stands in
// the level around it as one box. It has a frame of its own in which ranks lead
// down; fromFrame and toFrame turn places.
type level struct {
	b      *builder
	owner  int // cluster, or -1: the whole drawing
	dir    Direction
	verts  []vert
	scopes []scope
	edges  []ledge
	at     map[int]int // edge of the graph → its part here
	ported bool        // some edge ends at the boundary
	depth  int         // of the scopes
	w, h   int         // size in the frame
}

// vert is a node or a box of a cluster in a level.
type vert struct {
	node  int    // of the graph, or -1
	child *level // the cluster that it stands for
	scope int    // or -1
	w, h  int    // in the frame
	// left to down are how far it reaches from its middle, with its loops.
	left, right, up, down int
	x, y                  int // middle, in the frame
	step                  int
	loops                 []int // ledges
}

// scope is a cluster whose nodes take part in the level's own layout.
type scope struct {
	cluster          int
	parent, depth    int
	tw, th           int // title, as seen on the page
	first, last      int // steps
	top, bottom      int // rows of its upper and lower border
	left, right      []int32
	x0, x1, y0, y1   int
	trackIn, trackUp int // heights of the channels at the lower and the upper border
}

// side is where in the frame an edge leaves a level.
type side uint8

const (
	sideTop side = iota
	sideBottom
	sideLeft
	sideRight
)

// ledge is the part of an edge in one level.
type ledge struct {
	edge     int
	from, to int  // verts, or -1: the boundary
	out      side // where it meets the boundary
	flip     bool // drawn from to to from, as ranks go
	lw, lh   int  // label, in the frame
	length   int
	apart    bool    // has a place between the ranks without a label too
	direct   bool    // leads from its vert straight to the side of the level
	indirect bool    // must not
	points   []place // from from to to, in the frame
	label    place
}

// place is a point in a frame.
type place struct{ x, y int }

// inner reports whether both ends are in the level.
func (e *ledge) inner() bool { return e.from >= 0 && e.to >= 0 }

// upper and lower return the verts at the ends by rank, -1 for the boundary.
func (e *ledge) upper() int {
	if e.flip {
		return e.to
	}
	return e.from
}

func (e *ledge) lower() int {
	if e.flip {
		return e.from
	}
	return e.to
}

// builder makes levels from a graph.
type builder struct {
	*budget
	g       *Graph
	solid   []bool // clusters that are levels
	free    []bool // those that must be: lines would run through their titles
	again   bool   // free has grown, what is laid out is void
	dir     []Direction
	depth   []int
	nodes   [][]int // by cluster; the last: of none
	subs    [][]int
	nodeGap int
	rankGap int
	nodeAt  []int // index of a node's vert in its level
	subAt   []int // index of a solid cluster's vert in the level around it
}

func newBuilder(g *Graph, b *budget, free []bool) *builder {
	n := len(g.Clusters)
	b.spend(8 * (len(g.Nodes) + n + len(g.Edges)))
	d := &builder{
		budget: b, g: g, free: free, solid: make([]bool, n), dir: make([]Direction, n), depth: make([]int, n),
		nodes: make([][]int, n+1), subs: make([][]int, n+1), nodeAt: make([]int, len(g.Nodes)), subAt: make([]int, n),
		nodeGap: units(g.NodeSpacing), rankGap: units(g.RankSpacing),
	}
	if d.nodeGap == 0 {
		d.nodeGap = 50 * unit
	}
	if d.rankGap == 0 {
		d.rankGap = 50 * unit
	}
	for i, node := range g.Nodes {
		p := d.slot(node.Parent)
		d.nodes[p] = append(d.nodes[p], i)
	}
	for i, c := range g.Clusters {
		p := d.slot(c.Parent)
		d.subs[p] = append(d.subs[p], i)
	}
	d.chooseSolid()
	return d
}

// slot returns where lists by cluster keep a parent's part.
func (d *builder) slot(cluster int) int {
	if cluster < 0 {
		return len(d.g.Clusters)
	}
	return cluster
}

// chooseSolid decides which clusters are levels: those with a direction other
// than the one around them, that no edge crosses, that an edge ends at as a whole,
// and the empty ones.
func (d *builder) chooseSolid() {
	crossed := make([]bool, len(d.solid))
	filled := make([]bool, len(d.solid))
	for _, n := range d.g.Nodes {
		for c := n.Parent; c >= 0 && !filled[c]; c = d.g.Clusters[c].Parent {
			filled[c] = true
		}
	}
	order := append([]int(nil), d.subs[len(d.g.Clusters)]...)
	for k := 0; k < len(order); k++ {
		order = append(order, d.subs[order[k]]...)
	}
	for _, c := range order {
		around, p := d.g.Direction, d.g.Clusters[c].Parent
		if p >= 0 {
			around = d.dir[p]
			d.depth[c] = d.depth[p] + 1
		}
		d.dir[c] = around
		if d.g.Clusters[c].HasDirection {
			d.dir[c] = d.g.Clusters[c].Direction
		}
		d.solid[c] = d.dir[c] != around || !filled[c] || d.free[c]
	}
	for _, e := range d.g.Edges {
		a, b := d.holder(e.From, e.FromCluster), d.holder(e.To, e.ToCluster)
		for a != b {
			d.spend(1)
			if b < 0 || a >= 0 && d.depth[a] >= d.depth[b] {
				crossed[a] = true
				a = d.g.Clusters[a].Parent
			} else {
				crossed[b] = true
				b = d.g.Clusters[b].Parent
			}
		}
		if e.FromCluster {
			d.solid[e.From] = true
		}
		if e.ToCluster {
			d.solid[e.To] = true
		}
	}
	for c := range d.solid {
		d.solid[c] = d.solid[c] || !crossed[c]
	}
}

// holder returns the cluster around an end, -1 for none.
func (d *builder) holder(i int, cluster bool) int {
	if cluster {
		return d.g.Clusters[i].Parent
	}
	return d.g.Nodes[i].Parent
}

// newLevel makes the level of a cluster (-1: of the drawing) and those inside it.
func (d *builder) newLevel(owner int) *level {
	lv := &level{b: d, owner: owner, dir: d.g.Direction, at: map[int]int{}}
	if owner >= 0 {
		lv.dir = d.dir[owner]
	}
	d.collect(lv, owner, -1)
	return lv
}

// collect adds what a cluster holds to a level.
func (d *builder) collect(lv *level, cluster, in int) {
	for _, n := range d.nodes[d.slot(cluster)] {
		w, h := units(d.g.Nodes[n].Width), units(d.g.Nodes[n].Height)
		if lv.dir.horizontal() {
			w, h = h, w
		}
		d.nodeAt[n] = len(lv.verts)
		lv.verts = append(lv.verts, vert{node: n, scope: in, w: w, h: h})
	}
	for _, c := range d.subs[d.slot(cluster)] {
		if d.solid[c] {
			d.subAt[c] = len(lv.verts)
			lv.verts = append(lv.verts, vert{node: -1, scope: in, child: d.newLevel(c)})
			continue
		}
		d.collect(lv, c, lv.addScope(c, in))
	}
}

func (lv *level) addScope(cluster, parent int) int {
	c := &lv.b.g.Clusters[cluster]
	s := scope{cluster: cluster, parent: parent, tw: units(c.TitleWidth), th: units(c.TitleHeight)}
	if parent >= 0 {
		s.depth = lv.scopes[parent].depth + 1
	}
	lv.depth = max(lv.depth, s.depth+1)
	lv.scopes = append(lv.scopes, s)
	return len(lv.scopes) - 1
}

// chain is where an end of an edge lies.
type chain struct {
	levels []int // solid clusters around an end, the outermost first
	whole  bool  // the end is the last of them, as a whole
}

func (d *builder) chain(i int, cluster bool) chain {
	var c chain
	p := d.holder(i, cluster)
	if cluster {
		p, c.whole = i, true
	}
	for ; p >= 0; p = d.g.Clusters[p].Parent {
		if d.solid[p] {
			c.levels = append(c.levels, p)
		}
	}
	for i, j := 0, len(c.levels)-1; i < j; i, j = i+1, j-1 {
		c.levels[i], c.levels[j] = c.levels[j], c.levels[i]
	}
	return c
}

// addEdges splits the edges among the levels. levels are by solid cluster,
// the drawing's last.
func (d *builder) addEdges(levels []*level) {
	for i, e := range d.g.Edges {
		a, b := d.chain(e.From, e.FromCluster), d.chain(e.To, e.ToCluster)
		k := 0
		for k < len(a.levels) && k < len(b.levels) && a.levels[k] == b.levels[k] {
			k++
		}
		if a.whole && b.whole && k == len(a.levels) && k == len(b.levels) {
			k-- // a loop at a cluster
		}
		d.spend(4 + len(a.levels) + len(b.levels))
		// The vert of an end in the level that is number k of its chain.
		at := func(c chain, k, node int) int {
			switch {
			case k < len(c.levels):
				return d.subAt[c.levels[k]]
			case c.whole:
				return -1 // the level's own boundary
			}
			return d.nodeAt[node]
		}
		around := len(d.g.Clusters)
		if k > 0 {
			around = a.levels[k-1]
		}
		levels[around].add(ledge{edge: i, from: at(a, k, e.From), to: at(b, k, e.To), length: 1}, &d.g.Edges[i])
		for j := k + 1; j <= len(a.levels); j++ {
			if v := at(a, j, e.From); v >= 0 {
				levels[a.levels[j-1]].add(ledge{edge: i, from: v, to: -1, length: 1}, nil)
			}
		}
		for j := k + 1; j <= len(b.levels); j++ {
			if v := at(b, j, e.To); v >= 0 {
				levels[b.levels[j-1]].add(ledge{edge: i, from: -1, to: v, length: 1}, nil)
			}
		}
	}
}

// add appends a part of an edge; with e the one that carries its label.
func (lv *level) add(l ledge, e *Edge) {
	if e != nil {
		l.length = min(max(e.MinLength, 1), maxLength)
		l.lw, l.lh = units(e.LabelWidth), units(e.LabelHeight)
		if lv.dir.horizontal() {
			l.lw, l.lh = l.lh, l.lw
		}
	}
	if l.from == l.to {
		lv.verts[l.from].loops = append(lv.verts[l.from].loops, len(lv.edges))
	}
	lv.at[l.edge] = len(lv.edges)
	lv.ported = lv.ported || !l.inner()
	lv.edges = append(lv.edges, l)
}

// layout lays the graph out; nil if it must be done again.
func (d *builder) layout() *Layout {
	root := d.newLevel(-1)
	levels := make([]*level, len(d.g.Clusters)+1)
	levels[len(d.g.Clusters)] = root
	list := []*level{root}
	for k := 0; k < len(list); k++ {
		for i := range list[k].verts {
			if c := list[k].verts[i].child; c != nil {
				levels[c.owner] = c
				list = append(list, c)
			}
		}
	}
	d.addEdges(levels)
	root.layout()
	if d.again {
		return nil
	}
	return d.compose(root)
}

// layout places what is in the level, in its frame. Ranks come before the levels
// inside, because these must know on which side an edge arrives.
func (lv *level) layout() {
	if lv.ported {
		lv.enclose()
	}
	lv.acyclic()
	lv.separate()
	comps := lv.components()
	for _, c := range comps {
		c.rank()
	}
	for i := range lv.verts {
		v := &lv.verts[i]
		if v.child != nil {
			lv.enter(v)
		}
		lv.extents(v)
	}
	for i := range lv.edges {
		e := &lv.edges[i]
		if e.from == e.to {
			continue
		}
		// A place chosen inside is met from a place between the ranks.
		_, from := lv.port(e, e.from)
		_, to := lv.port(e, e.to)
		e.apart = e.apart || e.inner() && (from || to)
	}
	for _, c := range comps {
		c.layout()
		if c.freeTitles() {
			lv.b.again = true
		}
	}
	if lv.ported {
		s := &lv.scopes[0]
		lv.shift(-s.x0, -s.y0)
		lv.w, lv.h = s.x1-s.x0, s.y1-s.y0
		return
	}
	lv.pack(comps)
	lv.frame()
}

// enclose makes the level's own cluster a scope around everything, for edges that
// cross its border.
func (lv *level) enclose() {
	old := lv.scopes
	lv.scopes, lv.depth = nil, 0
	lv.addScope(lv.owner, -1)
	for _, s := range old {
		s.parent++
		s.depth++
		lv.depth = max(lv.depth, s.depth+1)
		lv.scopes = append(lv.scopes, s)
	}
	for i := range lv.verts {
		lv.verts[i].scope++
	}
}

// separate marks edges between the same verts, so that they keep apart.
func (lv *level) separate() {
	last := map[[2]int]int{}
	for i := range lv.edges {
		e := &lv.edges[i]
		if !e.inner() || e.from == e.to {
			continue
		}
		key := [2]int{min(e.from, e.to), max(e.from, e.to)}
		if k, ok := last[key]; ok {
			lv.edges[k].apart = true
			e.apart = true
		}
		last[key] = i
	}
}

// enter lays out the level inside a vert and takes over its size.
func (lv *level) enter(v *vert) {
	c := v.child
	for i := range c.edges {
		e := &c.edges[i]
		switch {
		case e.inner():
			continue
		case !c.carries(e):
			e.out = c.sideOf(lv.pageSide(lv.portSide(e.edge, e.to < 0)))
		case e.to < 0:
			e.out = sideBottom
		}
		// Where it meets the boundary decides how the ranks lead.
		e.flip = e.out == sideTop && e.to < 0 || e.out == sideBottom && e.from < 0
	}
	c.layout()
	w, h := c.pageSize()
	if lv.dir.horizontal() {
		w, h = h, w
	}
	v.w, v.h = w, h
}

// portSide returns where in the frame an edge leaves, or with out false enters, a
// vert of the level.
func (lv *level) portSide(edge int, out bool) side {
	e := &lv.edges[lv.at[edge]]
	switch {
	case e.inner() && e.flip == out:
		return sideTop
	case e.inner():
		return sideBottom
	case e.out == sideTop || e.out == sideBottom:
		return e.out
	case out:
		return sideBottom
	}
	return sideTop
}

// frame puts the title and the border round a level that stands alone.
func (lv *level) frame() {
	if lv.owner < 0 {
		return
	}
	c := &lv.b.g.Clusters[lv.owner]
	pad, tw, th := lv.b.padding(), units(c.TitleWidth), units(c.TitleHeight)
	dx, dy := pad, pad
	if lv.dir.horizontal() {
		lv.w, lv.h = lv.w+2*pad+th, lv.h+2*pad
		dx += th
		if extra := tw + pad - lv.h; extra > 0 {
			dy += extra / 2
			lv.h += extra
		}
	} else {
		lv.w, lv.h = lv.w+2*pad, lv.h+2*pad+th
		if lv.dir == Down {
			dy += th
		}
		if extra := tw + pad - lv.w; extra > 0 {
			dx += extra / 2
			lv.w += extra
		}
	}
	lv.shift(dx, dy)
}

// padding is the room between a cluster's border and its content.
func (d *builder) padding() int { return max(2, d.nodeGap*3/10) &^ 1 }

// pageSize returns the level's size as seen on the page.
func (lv *level) pageSize() (w, h int) {
	if lv.dir.horizontal() {
		return lv.h, lv.w
	}
	return lv.w, lv.h
}

// page turns a place in the frame into one on the page, from the box's top left.
func (lv *level) page(p place) place {
	switch lv.dir {
	case Up:
		return place{p.x, lv.h - p.y}
	case Right:
		return place{p.y, p.x}
	case Left:
		return place{lv.h - p.y, p.x}
	}
	return p
}

// pageSide turns a side of the frame into one of the page.
func (lv *level) pageSide(s side) side {
	return [4][4]side{
		Down:  {sideTop, sideBottom, sideLeft, sideRight},
		Up:    {sideBottom, sideTop, sideLeft, sideRight},
		Right: {sideLeft, sideRight, sideTop, sideBottom},
		Left:  {sideRight, sideLeft, sideTop, sideBottom},
	}[lv.dir&3][s]
}

// sideOf turns a side of the page into one of the frame.
func (lv *level) sideOf(page side) side {
	for s := sideTop; s < sideRight; s++ {
		if lv.pageSide(s) == page {
			return s
		}
	}
	return sideRight
}

// inFrame turns a place on the page, in the box of a vert, into the frame.
func (lv *level) inFrame(v *vert, p place) place {
	switch lv.dir {
	case Up:
		p = place{p.x, v.h - p.y}
	case Right:
		p = place{p.y, p.x}
	case Left:
		p = place{p.y, v.h - p.x}
	}
	return place{v.x - v.w/2 + p.x, v.y - v.h/2 + p.y}
}

// compose puts the levels together on the page.
func (d *builder) compose(root *level) *Layout {
	g := d.g
	l := &Layout{Nodes: make([]Box, len(g.Nodes)), Clusters: make([]Box, len(g.Clusters)), Routes: make([]Route, len(g.Edges))}
	w, h := root.pageSize()
	l.Width, l.Height = pixels(w), pixels(h)
	// The parts of an edge, from From outwards and from To outwards.
	heads, tails := make([][][]Point, len(g.Edges)), make([][][]Point, len(g.Edges))
	d.place(root, place{}, l, heads, tails)
	for i := range g.Edges {
		var all []Point
		for k := len(heads[i]) - 1; k >= 0; k-- {
			all = join(all, heads[i][k])
		}
		all = join(all, l.Routes[i].Points)
		for _, p := range tails[i] {
			all = join(all, p)
		}
		l.Routes[i].Points = all
	}
	return l
}

// join appends the points of b to a without repeating one.
func join(a, b []Point) []Point {
	for _, p := range b {
		if n := len(a); n == 0 || a[n-1] != p {
			a = append(a, p)
		}
	}
	return a
}

// place converts a level, whose box has its top left at o on the page, to pixels,
// and those inside it.
func (d *builder) place(lv *level, o place, l *Layout, heads, tails [][][]Point) {
	d.spend(len(lv.verts) + len(lv.edges))
	box := func(x0, y0, x1, y1 int) Box {
		p, q := lv.page(place{x0, y0}), lv.page(place{x1, y1})
		p, q = place{min(p.x, q.x), min(p.y, q.y)}, place{max(p.x, q.x), max(p.y, q.y)}
		return Box{pixels(o.x + p.x), pixels(o.y + p.y), pixels(q.x - p.x), pixels(q.y - p.y)}
	}
	if lv.owner >= 0 {
		l.Clusters[lv.owner] = box(0, 0, lv.w, lv.h)
	}
	for i := range lv.scopes {
		s := &lv.scopes[i]
		l.Clusters[s.cluster] = box(s.x0, s.y0, s.x1, s.y1)
	}
	for i := range lv.edges {
		e := &lv.edges[i]
		points := make([]Point, len(e.points))
		for k, p := range e.points {
			p = lv.page(p)
			points[k] = Point{pixels(o.x + p.x), pixels(o.y + p.y)}
		}
		switch {
		case e.inner() || lv.carries(e):
			p := lv.page(e.label)
			l.Routes[e.edge] = Route{points, Point{pixels(o.x + p.x), pixels(o.y + p.y)}}
		case e.to < 0:
			heads[e.edge] = append(heads[e.edge], points)
		default:
			tails[e.edge] = append(tails[e.edge], points)
		}
	}
	for i := range lv.verts {
		v := &lv.verts[i]
		b := box(v.x-v.w/2, v.y-v.h/2, v.x+v.w/2, v.y+v.h/2)
		if v.child != nil {
			p := lv.page(place{v.x - v.w/2, v.y - v.h/2})
			q := lv.page(place{v.x + v.w/2, v.y + v.h/2})
			d.place(v.child, place{o.x + min(p.x, q.x), o.y + min(p.y, q.y)}, l, heads, tails)
			continue
		}
		// The box as wide as asked for, in the middle of the rounded one.
		n := &d.g.Nodes[v.node]
		nw, nh := clamp(n.Width), clamp(n.Height)
		l.Nodes[v.node] = Box{b.X + float64((b.Width-nw)/2), b.Y + float64((b.Height-nh)/2), nw, nh}
	}
}

// carries reports whether a part of an edge at the boundary is the outermost: the
// edge joins the level's own cluster with something in it.
func (lv *level) carries(e *ledge) bool {
	if lv.owner < 0 {
		return false
	}
	ge := &lv.b.g.Edges[e.edge]
	return e.to < 0 && ge.ToCluster && ge.To == lv.owner || e.from < 0 && ge.FromCluster && ge.From == lv.owner
}

// clamp returns a size that is a number between 0 and maxSize.
func clamp(px float64) float64 {
	if !(px > 0) {
		return 0
	}
	return min(px, maxSize)
}
