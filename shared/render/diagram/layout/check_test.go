package layout

import (
	"fmt"
	"math"
)

// faults returns what is wrong with a layout: each thing that a reader would see.
func faults(g *Graph, l *Layout) (list []string) {
	bad := func(format string, a ...any) { list = append(list, fmt.Sprintf(format, a...)) }
	const eps = 0.2
	overlap := func(a, b Box) bool {
		return a.X+a.Width > b.X+eps && b.X+b.Width > a.X+eps && a.Y+a.Height > b.Y+eps && b.Y+b.Height > a.Y+eps
	}
	within := func(a, b Box) bool {
		return a.X >= b.X-eps && a.Y >= b.Y-eps && a.X+a.Width <= b.X+b.Width+eps && a.Y+a.Height <= b.Y+b.Height+eps
	}
	all := Box{0, 0, l.Width, l.Height}
	inCluster := func(c, holder int) bool { // c is holder or in it
		for ; c >= 0; c = g.Clusters[c].Parent {
			if c == holder {
				return true
			}
		}
		return false
	}
	title := func(c int) Box {
		b := l.Clusters[c]
		return Box{b.X + b.Width/2 - g.Clusters[c].TitleWidth/2, b.Y, g.Clusters[c].TitleWidth, g.Clusters[c].TitleHeight}
	}
	for i, b := range l.Nodes {
		if !(math.Abs(b.Width-g.Nodes[i].Width) < 1e-9) || !(math.Abs(b.Height-g.Nodes[i].Height) < 1e-9) {
			bad("node %d has another size", i)
		}
		if !within(b, all) {
			bad("node %d out of the drawing", i)
		}
		for j := range i {
			if overlap(b, l.Nodes[j]) {
				bad("nodes %d and %d overlap", j, i)
			}
		}
		for c, cb := range l.Clusters {
			in := inCluster(g.Nodes[i].Parent, c)
			if in && !within(b, cb) {
				bad("node %d outside its cluster %d", i, c)
			}
			if !in && overlap(b, cb) {
				bad("node %d in the foreign cluster %d", i, c)
			}
			if overlap(b, title(c)) {
				bad("node %d on the title of %d", i, c)
			}
		}
	}
	for i, b := range l.Clusters {
		if !within(b, all) {
			bad("cluster %d out of the drawing", i)
		}
		if !within(title(i), b) {
			bad("title %d out of its box", i)
		}
		for j, o := range l.Clusters {
			switch {
			case i == j:
			case inCluster(i, j):
				if !within(b, o) {
					bad("cluster %d outside %d", i, j)
				}
				if overlap(b, title(j)) {
					bad("cluster %d on the title of %d", i, j)
				}
			case !inCluster(j, i) && j < i && overlap(b, o):
				bad("clusters %d and %d overlap", j, i)
			}
		}
	}
	var labels []Box
	for i, e := range g.Edges {
		p := l.Routes[i].Label
		lb := Box{p.X - e.LabelWidth/2, p.Y - e.LabelHeight/2, e.LabelWidth, e.LabelHeight}
		labels = append(labels, lb)
		if e.LabelWidth > 0 {
			if !within(lb, all) {
				bad("label %d out of the drawing", i)
			}
			for n, b := range l.Nodes {
				if overlap(lb, b) {
					bad("label %d on node %d", i, n)
				}
			}
			for c := range l.Clusters {
				if overlap(lb, title(c)) {
					bad("label %d on the title of %d", i, c)
				}
				if !ends(g, e, c) && overlap(lb, l.Clusters[c]) {
					bad("label %d in the foreign cluster %d", i, c)
				}
			}
			for j := range i {
				if g.Edges[j].LabelWidth > 0 && overlap(lb, labels[j]) {
					bad("labels %d and %d overlap", j, i)
				}
			}
		}
		list = append(list, routeFaults(g, l, i, title)...)
	}
	return list
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

func routeFaults(g *Graph, l *Layout, i int, title func(int) Box) (list []string) {
	bad := func(format string, a ...any) { list = append(list, fmt.Sprintf(format, a...)) }
	e, p := g.Edges[i], l.Routes[i].Points
	if len(p) < 2 {
		return []string{fmt.Sprintf("edge %d has %d points", i, len(p))}
	}
	end := func(k int, cluster bool) Box {
		if cluster {
			return l.Clusters[k]
		}
		return l.Nodes[k]
	}
	onBorder := func(q Point, b Box) bool {
		const eps = 0.3
		in := q.X >= b.X-eps && q.X <= b.X+b.Width+eps && q.Y >= b.Y-eps && q.Y <= b.Y+b.Height+eps
		deep := q.X > b.X+eps && q.X < b.X+b.Width-eps && q.Y > b.Y+eps && q.Y < b.Y+b.Height-eps
		return in && !deep
	}
	if !onBorder(p[0], end(e.From, e.FromCluster)) {
		bad("edge %d starts at %v, not at %v", i, p[0], end(e.From, e.FromCluster))
	}
	if !onBorder(p[len(p)-1], end(e.To, e.ToCluster)) {
		bad("edge %d ends at %v, not at %v", i, p[len(p)-1], end(e.To, e.ToCluster))
	}
	for k := 1; k < len(p); k++ {
		for n, b := range l.Nodes {
			if cuts(p[k-1], p[k], b) {
				bad("edge %d runs through node %d", i, n)
			}
		}
		for j, o := range g.Edges {
			q := l.Routes[j].Label
			if j != i && o.LabelWidth > 0 && cuts(p[k-1], p[k], Box{q.X - o.LabelWidth/2, q.Y - o.LabelHeight/2, o.LabelWidth, o.LabelHeight}) {
				bad("edge %d runs through the label of %d", i, j)
			}
		}
		for c := range l.Clusters {
			if cuts(p[k-1], p[k], title(c)) {
				bad("edge %d runs through the title of %d", i, c)
			}
		}
	}
	return list
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
