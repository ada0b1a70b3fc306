package layout

import "fmt"

// sight is a layout with what the checks ask of it.
type sight struct {
	g    *Graph
	l    *Layout
	list []string
}

func (s *sight) bad(format string, a ...any) { s.list = append(s.list, fmt.Sprintf(format, a...)) }

// faults returns what is wrong with a layout: each thing that a reader would see.
func faults(g *Graph, l *Layout) []string {
	s := &sight{g: g, l: l}
	for i := range l.Nodes {
		s.node(i)
	}
	for i := range l.Clusters {
		s.cluster(i)
	}
	for i := range g.Edges {
		s.label(i)
		s.route(i)
	}
	return s.list
}

const near = 0.2

func overlap(a, b Box) bool {
	return a.X+a.Width > b.X+near && b.X+b.Width > a.X+near && a.Y+a.Height > b.Y+near && b.Y+b.Height > a.Y+near
}

func within(a, b Box) bool {
	return a.X >= b.X-near && a.Y >= b.Y-near && a.X+a.Width <= b.X+b.Width+near && a.Y+a.Height <= b.Y+b.Height+near
}

func (s *sight) all() Box { return Box{0, 0, s.l.Width, s.l.Height} }

// holds reports whether a cluster is holder or in it.
func (s *sight) holds(c, holder int) bool {
	for ; c >= 0; c = s.g.Clusters[c].Parent {
		if c == holder {
			return true
		}
	}
	return false
}

func (s *sight) title(c int) Box {
	b, w := s.l.Clusters[c], s.g.Clusters[c].TitleWidth
	return Box{b.X + b.Width/2 - w/2, b.Y, w, s.g.Clusters[c].TitleHeight}
}

func (s *sight) labelBox(i int) Box {
	p, e := s.l.Routes[i].Label, s.g.Edges[i]
	return Box{p.X - e.LabelWidth/2, p.Y - e.LabelHeight/2, e.LabelWidth, e.LabelHeight}
}

func (s *sight) node(i int) {
	b, n := s.l.Nodes[i], s.g.Nodes[i]
	if b.Width != n.Width || b.Height != n.Height {
		s.bad("node %d has another size", i)
	}
	if !within(b, s.all()) {
		s.bad("node %d out of the drawing", i)
	}
	for j := range i {
		if overlap(b, s.l.Nodes[j]) {
			s.bad("nodes %d and %d overlap", j, i)
		}
	}
	for c, cb := range s.l.Clusters {
		in := s.holds(n.Parent, c)
		if in && !within(b, cb) {
			s.bad("node %d outside its cluster %d", i, c)
		}
		if !in && overlap(b, cb) {
			s.bad("node %d in the foreign cluster %d", i, c)
		}
		if overlap(b, s.title(c)) {
			s.bad("node %d on the title of %d", i, c)
		}
	}
}

func (s *sight) cluster(i int) {
	b := s.l.Clusters[i]
	if !within(b, s.all()) {
		s.bad("cluster %d out of the drawing", i)
	}
	if !within(s.title(i), b) {
		s.bad("title %d out of its box", i)
	}
	for j, o := range s.l.Clusters {
		switch {
		case i == j:
		case s.holds(i, j):
			if !within(b, o) {
				s.bad("cluster %d outside %d", i, j)
			}
			if overlap(b, s.title(j)) {
				s.bad("cluster %d on the title of %d", i, j)
			}
		case !s.holds(j, i) && j < i && overlap(b, o):
			s.bad("clusters %d and %d overlap", j, i)
		}
	}
}

func (s *sight) label(i int) {
	e, b := s.g.Edges[i], s.labelBox(i)
	if e.LabelWidth == 0 {
		return
	}
	if !within(b, s.all()) {
		s.bad("label %d out of the drawing", i)
	}
	for n, o := range s.l.Nodes {
		if overlap(b, o) {
			s.bad("label %d on node %d", i, n)
		}
	}
	for c := range s.l.Clusters {
		if overlap(b, s.title(c)) {
			s.bad("label %d on the title of %d", i, c)
		}
		if !ends(s.g, e, c) && overlap(b, s.l.Clusters[c]) {
			s.bad("label %d in the foreign cluster %d", i, c)
		}
	}
	for j := range i {
		if s.g.Edges[j].LabelWidth > 0 && overlap(b, s.labelBox(j)) {
			s.bad("labels %d and %d overlap", j, i)
		}
	}
}

// ends reports whether an edge has an end in a cluster or at it.
func ends(g *Graph, e Edge, c int) bool {
	in := func(i int, cluster bool) bool {
		if !cluster {
			i = g.Nodes[i].Parent
		}
		for ; i >= 0; i = g.Clusters[i].Parent {
			if i == c {
				return true
			}
		}
		return false
	}
	return in(e.From, e.FromCluster) || in(e.To, e.ToCluster)
}

func (s *sight) end(k int, cluster bool) Box {
	if cluster {
		return s.l.Clusters[k]
	}
	return s.l.Nodes[k]
}

// onBorder reports whether a point is on the border of a box.
func onBorder(q Point, b Box) bool {
	in := q.X >= b.X-near && q.X <= b.X+b.Width+near && q.Y >= b.Y-near && q.Y <= b.Y+b.Height+near
	deep := q.X > b.X+near && q.X < b.X+b.Width-near && q.Y > b.Y+near && q.Y < b.Y+b.Height-near
	return in && !deep
}

func (s *sight) route(i int) {
	e, p := s.g.Edges[i], s.l.Routes[i].Points
	if len(p) < 2 {
		s.bad("edge %d has %d points", i, len(p))
		return
	}
	if b := s.end(e.From, e.FromCluster); !onBorder(p[0], b) {
		s.bad("edge %d starts at %v, not at %v", i, p[0], b)
	}
	if b := s.end(e.To, e.ToCluster); !onBorder(p[len(p)-1], b) {
		s.bad("edge %d ends at %v, not at %v", i, p[len(p)-1], b)
	}
	for k := 1; k < len(p); k++ {
		for n, b := range s.l.Nodes {
			if cuts(p[k-1], p[k], b) {
				s.bad("edge %d runs through node %d", i, n)
			}
		}
		for j, o := range s.g.Edges {
			if j != i && o.LabelWidth > 0 && cuts(p[k-1], p[k], s.labelBox(j)) {
				s.bad("edge %d runs through the label of %d", i, j)
			}
		}
		for c := range s.l.Clusters {
			if cuts(p[k-1], p[k], s.title(c)) {
				s.bad("edge %d runs through the title of %d", i, c)
			}
		}
	}
}

// cuts reports whether a line runs through the inside of a box.
func cuts(a, b Point, o Box) bool {
	const eps = 0.3
	x0, x1, y0, y1 := o.X+eps, o.X+o.Width-eps, o.Y+eps, o.Y+o.Height-eps
	if x0 >= x1 || y0 >= y1 {
		return false
	}
	t0, t1 := 0.0, 1.0
	clip := func(p, q float64) bool { // p*t <= q
		switch {
		case p == 0:
			return q >= 0
		case p < 0:
			t0 = max(t0, q/p)
		default:
			t1 = min(t1, q/p)
		}
		return t0 < t1
	}
	dx, dy := b.X-a.X, b.Y-a.Y
	return clip(-dx, a.X-x0) && clip(dx, x1-a.X) && clip(-dy, a.Y-y0) && clip(dy, y1-a.Y) && t0 < t1
}
