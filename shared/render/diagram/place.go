package diagram

import (
	"errors"
	"math"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Room between what is placed, in pixels.
const (
	nodeSpacing = 36.0
	rankSpacing = 44.0
	margin      = 8.0
	// mermaidSpacing is Mermaid's distance between nodes and between ranks.
	mermaidSpacing = 50.0
	linkSize       = 12.0 // of the letters on links
	linkPad        = 4.0  // around labels of links
	titlePad       = 7.0  // above and below a group's title
)

// placedGraph is a graph with places.
type placedGraph struct {
	*graph
	nodeBoxes  []layout.Box // of those that are drawn, by the node's index
	groupBoxes []layout.Box
	routes     []layout.Route
	figures    []figure
	width      float64
	height     float64
	out        drawing
	links      []string
}

// drawGraph draws a graph.
func drawGraph(g *graph) (*Diagram, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	g.settle()
	p, err := place(g)
	if err != nil {
		return nil, err
	}
	p.draw()
	return &Diagram{svg: p.out.b, links: p.links, Width: ceil(p.width), Height: ceil(p.height), Lines: g.lines()}, nil
}

// asked is what the layout is asked for, with the graph's indices of what it
// places.
type asked struct {
	layout.Graph
	groups, nodes []int
	back          []bool // links that are placed from their ends to their beginnings
}

// ask makes the layout's graph.
func (g *graph) ask() asked {
	in := asked{Graph: layout.Graph{
		Direction: g.direction,
		// By how much more or less than Mermaid's own distances the author wants.
		NodeSpacing: nodeSpacing * g.number("nodeSpacing", 15, 200, mermaidSpacing) / mermaidSpacing,
		RankSpacing: rankSpacing * g.number("rankSpacing", 15, 200, mermaidSpacing) / mermaidSpacing,
	}, back: g.backward()}
	groupAt, nodeAt := make([]int, len(g.groups)), make([]int, len(g.nodes))
	for i := range g.groups {
		groupAt[i] = -1
		if !g.groups[i].bare {
			groupAt[i] = len(in.groups)
			in.groups = append(in.groups, i)
		}
	}
	parent := func(i int) int {
		for i >= 0 && groupAt[i] < 0 {
			i = g.groups[i].parent
		}
		if i < 0 {
			return -1
		}
		return groupAt[i]
	}
	for _, i := range in.groups {
		c := &g.groups[i]
		cluster := layout.Cluster{Parent: parent(c.parent), Direction: c.direction, HasDirection: c.hasDirection}
		if !c.label.empty() {
			cluster.TitleWidth, cluster.TitleHeight = c.label.width+2*titlePad, c.label.height+2*titlePad
		}
		in.Clusters = append(in.Clusters, cluster)
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		nodeAt[i] = len(in.nodes)
		if !n.gone {
			in.nodes = append(in.nodes, i)
			n.measure(g.downward(n.group))
			in.Nodes = append(in.Nodes, layout.Node{Width: n.width, Height: n.height, Parent: parent(n.group)})
		}
	}
	end := func(i int, isGroup bool) int {
		if isGroup {
			return groupAt[i]
		}
		return nodeAt[i]
	}
	for i := range g.edges {
		e := &g.edges[i]
		at := layout.Edge{
			From: end(e.from, e.fromGroup), To: end(e.to, e.toGroup), FromCluster: e.fromGroup, ToCluster: e.toGroup,
			MinLength: min(max(e.length, 1), 12),
		}
		if !e.label.empty() {
			at.LabelWidth, at.LabelHeight = e.label.width+2*linkPad, e.label.height+2*linkPad
		}
		if in.back[i] {
			at.From, at.To, at.FromCluster, at.ToCluster = at.To, at.From, at.ToCluster, at.FromCluster
		}
		in.Edges = append(in.Edges, at)
	}
	if g.wide {
		in.RankSpacing += g.besides()
		in.LoopReach, in.LoopHeight = g.loops()
	}
	return in
}

// place positions everything.
func place(g *graph) (*placedGraph, error) {
	in := g.ask()
	if len(in.nodes) == 0 && len(in.groups) == 0 {
		return nil, errors.New("there is nothing in it")
	}
	l, err := layout.Compute(&in.Graph, maxSteps)
	if errors.Is(err, layout.ErrBudget) {
		return nil, errLarge{"too many crossings"}
	}
	if err != nil {
		return nil, err
	}
	p := &placedGraph{
		graph: g, nodeBoxes: make([]layout.Box, len(g.nodes)), groupBoxes: make([]layout.Box, len(g.groups)), routes: l.Routes,
		width: l.Width + 2*margin, height: l.Height + 2*margin, figures: make([]figure, len(g.nodes)),
	}
	for at, i := range in.nodes {
		p.nodeBoxes[i] = l.Nodes[at]
		p.figures[i] = g.nodes[i].shape.figure(g.nodes[i].innerW, g.nodes[i].innerH)
	}
	for at, i := range in.groups {
		p.groupBoxes[i] = l.Clusters[at]
	}
	for i := range p.routes {
		if in.back[i] {
			slices.Reverse(p.routes[i].Points)
		}
	}
	p.move(margin, margin)
	for i := range p.routes {
		p.clip(i)
	}
	p.spread()
	p.crop()
	return p, nil
}

// move moves everything.
func (p *placedGraph) move(dx, dy float64) {
	for i := range p.nodeBoxes {
		p.nodeBoxes[i].X += dx
		p.nodeBoxes[i].Y += dy
	}
	for i := range p.groupBoxes {
		p.groupBoxes[i].X += dx
		p.groupBoxes[i].Y += dy
	}
	for i := range p.routes {
		r := &p.routes[i]
		for j := range r.Points {
			r.Points[j].X += dx
			r.Points[j].Y += dy
		}
		r.Label.X += dx
		r.Label.Y += dy
	}
}

// crop takes away the room that notes need only for the sake of symmetry.
func (p *placedGraph) crop() {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	reach := func(x1, y1, x2, y2 float64) {
		left, top, right, bottom = min(left, x1), min(top, y1), max(right, x2), max(bottom, y2)
	}
	noted := false
	for i := range p.nodes {
		n, b := &p.nodes[i], p.nodeBoxes[i]
		if n.gone {
			continue
		}
		x1, y1, x2, y2 := b.X, b.Y, b.X+b.Width, b.Y+b.Height
		if len(n.notes) > 0 {
			noted = true
			for _, side := range []bool{false, true} {
				away, _ := n.noteRoom(side)
				cut := 0.0 // that is empty
				switch {
				case n.downward:
					if cut = (b.Width-n.innerW)/2 - away; away > 0 {
						cut -= noteGap
					}
					if side {
						x1 += cut
					} else {
						x2 -= cut
					}
				default:
					if cut = (b.Height-n.innerH)/2 - away; away > 0 {
						cut -= noteGap
					}
					if side {
						y1 += cut
					} else {
						y2 -= cut
					}
				}
			}
		}
		reach(x1, y1, x2, y2)
	}
	if !noted {
		return
	}
	for i := range p.groups {
		if !p.groups[i].bare {
			b := p.groupBoxes[i]
			reach(b.X, b.Y, b.X+b.Width, b.Y+b.Height)
		}
	}
	for i := range p.routes {
		r, l := &p.routes[i], &p.edges[i].label
		for _, at := range r.Points {
			reach(at.X, at.Y, at.X, at.Y)
		}
		if !l.empty() {
			reach(r.Label.X-l.width/2-linkPad, r.Label.Y-l.height/2, r.Label.X+l.width/2+linkPad, r.Label.Y+l.height/2)
		}
	}
	p.width, p.height = right-left+2*margin, bottom-top+2*margin
	p.move(margin-left, margin-top)
}

// besides is the room that signs and texts at the ends of links need between ranks.
func (g *graph) besides() float64 {
	room := 20.0
	for i := range g.edges {
		if e := &g.edges[i]; !g.downward(-1) {
			room = max(room, e.startText.width+e.endText.width)
		}
	}
	return min(room, 160)
}

// loops is the room that loops take whose ends have signs, and texts above them.
func (g *graph) loops() (reach, height float64) {
	reach, height = 32, 28
	for i := range g.edges {
		if e := &g.edges[i]; e.from == e.to && e.fromGroup == e.toGroup {
			reach = max(reach, e.startText.width+24, e.endText.width+24)
			height = max(height, e.startText.height+e.endText.height+12)
		}
	}
	return min(reach, 160), height
}

// backward finds the links that lead back in a circle, from what the source names
// first: what comes first in it stands first.
func (g *graph) backward() []bool {
	// A group and all that is in it begin at one place of their own.
	count := len(g.nodes) + len(g.groups)
	end := func(i int, isGroup bool) int {
		if isGroup {
			return len(g.nodes) + i
		}
		return i
	}
	next := make([][]int, count) // links by their beginnings
	for i := range g.edges {
		from := end(g.edges[i].from, g.edges[i].fromGroup)
		next[from] = append(next[from], i)
	}
	back := make([]bool, len(g.edges))
	const fresh, open, done = 0, 1, 2
	state := make([]byte, count)
	at := make([]int, count) // the next link to follow
	var stack []int
	for start := range count {
		if state[start] != fresh {
			continue
		}
		stack = append(stack[:0], start)
		state[start] = open
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if at[top] == len(next[top]) {
				state[top] = done
				stack = stack[:len(stack)-1]
				continue
			}
			i := next[top][at[top]]
			at[top]++
			switch to := end(g.edges[i].to, g.edges[i].toGroup); {
			case state[to] == open:
				back[i] = to != top
			case state[to] == fresh:
				state[to] = open
				stack = append(stack, to)
			}
		}
	}
	return back
}

// downward reports whether ranks in a group are rows.
func (g *graph) downward(group int) bool {
	d := g.direction
	for group >= 0 {
		if g.groups[group].hasDirection {
			d = g.groups[group].direction
			break
		}
		group = g.groups[group].parent
	}
	return d == layout.Down || d == layout.Up
}

// measure finds a node's size.
func (n *node) measure(down bool) {
	n.downward = down
	defer func() {
		n.innerW, n.innerH = n.width, n.height
		n.addNotes()
	}()
	if len(n.parts) > 0 {
		n.width, n.height = n.partsSize()
		return
	}
	var style textStyle
	if n.look.bold {
		style |= bold
	}
	if n.look.italic {
		style |= italic
	}
	n.label.restyle(style)
	w, h := n.shape.size(n.label.width, n.label.height, down)
	n.width, n.height = math.Ceil(w), math.Ceil(h)
}

// noteGap is between a state and a note.
const noteGap = 18.0

// addNotes makes a node's box hold its notes.
func (n *node) addNotes() {
	var along, across float64 // of all notes at the side that has more
	for _, left := range []bool{false, true} {
		l, a := n.noteRoom(left)
		along, across = max(along, l), max(across, a)
	}
	switch {
	case along == 0:
	case n.downward:
		n.width += 2 * (along + noteGap)
		n.height = max(n.height, across)
	default:
		n.height += 2 * (along + noteGap)
		n.width = max(n.width, across)
	}
}

// noteRoom is what the notes at one side of a node take: away from it, and along
// its side.
func (n *node) noteRoom(left bool) (away, side float64) {
	for i := range n.notes {
		if n.notes[i].left != left {
			continue
		}
		w, h := shapeNote.size(n.notes[i].label.width, n.notes[i].label.height, true)
		if !n.downward {
			w, h = h, w
		}
		if away = max(away, w); side > 0 {
			side += noteGap / 2
		}
		side += h
	}
	return away, side
}

// clip ends a route at the outlines of its shapes instead of their boxes.
func (p *placedGraph) clip(i int) {
	e, pts := &p.edges[i], p.routes[i].Points
	if len(pts) < 2 {
		return
	}
	if e.from == e.to && !e.fromGroup && !e.toGroup && p.beside(e.from, &p.routes[i]) {
		return
	}
	slices.Reverse(pts)
	if !e.fromGroup {
		pts = p.ended(i, e.from, pts, e.start != headNone)
	}
	slices.Reverse(pts)
	if !e.toGroup {
		pts = p.ended(i, e.to, pts, e.end != headNone)
	}
	p.routes[i].Points = pts
}

// ended ends a way, which leads to a node's box, at the node's outline. headed is
// whether it has a head there.
func (p *placedGraph) ended(edge, node int, pts []layout.Point, headed bool) []layout.Point {
	n, b, last := &p.nodes[node], p.nodeBoxes[node], len(pts)-1
	if len(n.notes) > 0 {
		// It must not cross the notes in the box.
		before, middle := pts[last-1], layout.Point{X: b.X + b.Width/2, Y: b.Y + b.Height/2}
		arrived := pts[last]
		switch {
		case n.downward && before.Y <= b.Y:
			pts[last] = layout.Point{X: middle.X, Y: b.Y}
		case n.downward && before.Y >= b.Y+b.Height:
			pts[last] = layout.Point{X: middle.X, Y: b.Y + b.Height}
		case !n.downward && before.X <= b.X:
			pts[last] = layout.Point{X: b.X, Y: middle.Y}
		case !n.downward && before.X >= b.X+b.Width:
			pts[last] = layout.Point{X: b.X + b.Width, Y: middle.Y}
		}
		if !p.clear(edge, pts[last-1:]) { // but the way to where it arrived is
			pts = append(pts[:last], arrived, pts[last])
			last++
		}
		hit := p.meet(node, pts[last], layout.Point{X: 2*pts[last].X - middle.X, Y: 2*pts[last].Y - middle.Y})
		switch size := distance(pts[last], hit); {
		case size >= flatEnd:
			return append(pts, hit)
		case size >= 1: // the notes stand out: it turns before its head
			ux, uy := unit(middle, pts[last])
			pts[last] = layout.Point{X: hit.X + float64(ux*flatEnd), Y: hit.Y + float64(uy*flatEnd)}
			return append(pts, hit)
		}
		pts[last] = hit
	} else {
		pts[last] = p.meet(node, pts[last], pts[last-1])
	}
	if p.wide {
		if bent := p.straightened(node, pts); p.clear(edge, bent[max(0, len(bent)-3):]) {
			return bent
		}
		return pts
	}
	// A short last piece would turn just before the head.
	if last > 1 && distance(pts[last-1], pts[last]) < 18 {
		if short := append(slices.Clone(pts[:last-1]), pts[last]); p.clear(edge, short[last-2:]) {
			pts = short
		}
	}
	if headed {
		if flat := p.flattened(node, pts); p.clear(edge, flat[max(0, len(flat)-3):]) {
			return flat
		}
	}
	return pts
}

// straightened makes a way end at a right angle to the side of a box: signs of
// classes and entities are read so.
func (p *placedGraph) straightened(node int, pts []layout.Point) []layout.Point {
	const stub = 20.0
	b, at := p.nodeBoxes[node], pts[len(pts)-1]
	before := at
	switch {
	case math.Abs(at.Y-b.Y) < 1:
		before.Y -= stub
	case math.Abs(at.Y-b.Y-b.Height) < 1:
		before.Y += stub
	case math.Abs(at.X-b.X) < 1:
		before.X -= stub
	case math.Abs(at.X-b.X-b.Width) < 1:
		before.X += stub
	default:
		return pts
	}
	return append(slices.Clone(pts[:len(pts)-1]), before, at)
}

// meet is where a line that comes from a place before, and is at the border of a
// node's box at at, meets its outline.
func (p *placedGraph) meet(node int, at, before layout.Point) layout.Point {
	f := &p.figures[node]
	b := p.nodeBoxes[node]
	x, y := b.X+b.Width/2, b.Y+b.Height/2
	outline := f.outline.points()
	if f.open {
		frame := box(-b.Width/2, -b.Height/2, b.Width/2, b.Height/2)
		outline = frame.points()
	}
	// On, in the direction in which it comes, or else to the middle.
	dx, dy := at.X-before.X, at.Y-before.Y
	if size := math.Sqrt(float64(dx*dx) + float64(dy*dy)); size > 0 {
		k := (b.Width + b.Height) / size
		if hit, ok := cut(outline, x, y, at, layout.Point{X: at.X + float64(dx*k), Y: at.Y + float64(dy*k)}); ok {
			return hit
		}
	}
	if hit, ok := cut(outline, x, y, at, layout.Point{X: x, Y: y}); ok {
		return hit
	}
	return at
}
