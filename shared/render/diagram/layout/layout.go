package layout

import "errors"

// Direction is where the ranks of a drawing lead.
type Direction uint8

// The directions, as seen on the page.
const (
	Down Direction = iota
	Up
	Right
	Left
)

// horizontal reports whether ranks are columns.
func (d Direction) horizontal() bool { return d == Right || d == Left }

// Point is a place in the drawing, in pixels from its top left.
type Point struct{ X, Y float64 }

// Node is one shape to place.
type Node struct {
	Width, Height float64 // box of the shape, in pixels
	Parent        int     // index of the cluster in Graph.Clusters that holds it, or -1
}

// Cluster is a box around nodes and other clusters.
type Cluster struct {
	Parent       int       // enclosing cluster or -1
	Direction    Direction // own direction
	HasDirection bool      // else the enclosing one's
	// TitleWidth and TitleHeight are room for the title: it stands in the middle
	// of the box's upper edge, TitleHeight high. 0 without a title.
	TitleWidth, TitleHeight float64
}

// Edge joins two nodes or clusters.
type Edge struct {
	From, To                int  // nodes; with FromCluster/ToCluster true: clusters
	FromCluster, ToCluster  bool // the end is the box of a cluster as a whole
	LabelWidth, LabelHeight float64
	MinLength               int // ranks it spans at least, 1 when 0
}

// Graph is what Compute places. The order of nodes, clusters and edges decides
// between drawings that are equally good.
type Graph struct {
	Direction                Direction
	Nodes                    []Node
	Clusters                 []Cluster
	Edges                    []Edge
	NodeSpacing, RankSpacing float64 // 50 and 50 when 0
	// LoopReach is how far a loop stands out from its node, LoopHeight how far its
	// ends are apart: 20 and 20 when 0.
	LoopReach, LoopHeight float64
}

// Route is the way of an edge. Its first and its last segment lead towards the
// middle of the shape that they end at, unless that would cut another shape.
type Route struct {
	// Points leads from the border of From's box to the border of To's box.
	Points []Point
	// Label is the centre of the label, on the route or, at a self loop, beside it.
	Label Point
}

// Box is a rectangle by its top left corner.
type Box struct{ X, Y, Width, Height float64 }

// Layout is a graph with places. All coordinates are at least 0.
type Layout struct {
	Width, Height float64
	Nodes         []Box
	Clusters      []Box
	Routes        []Route
}

var (
	// ErrBudget is returned for a graph that costs more steps than are allowed, or
	// whose clusters nest deeper than any author's.
	ErrBudget = errors.New("layout: the graph is too costly to lay out")
	// ErrGraph is returned for a graph with an index out of range, or with a cluster
	// that lies in itself.
	ErrGraph = errors.New("layout: an index leads nowhere")
)

const (
	// maxDepth bounds how deep clusters nest, and with it every recursion.
	maxDepth = 64
	// maxLength bounds Edge.MinLength: every rank of an edge is a place in a row.
	maxLength = 64
	// maxSize bounds boxes and spacings, in pixels, so that no sum overflows.
	maxSize = 1 << 16
	// unit is how many parts a pixel has inside: integers are the same on every
	// machine, while a fused multiplication and addition is not.
	unit = 16
)

// Compute places the graph. It counts its work in steps of about ten
// nanoseconds and returns ErrBudget after maxSteps of them.
func Compute(g *Graph, maxSteps int) (*Layout, error) {
	l, _, err := compute(g, maxSteps)
	return l, err
}

// compute is Compute that also returns how many steps it took.
func compute(g *Graph, maxSteps int) (l *Layout, steps int, err error) {
	b := &budget{left: maxSteps}
	defer func() {
		steps = maxSteps - b.left
		if r := recover(); r != nil {
			if r != ErrBudget {
				panic(r)
			}
			l, err = nil, ErrBudget
		}
	}()
	if err := check(g); err != nil {
		return nil, 0, err
	}
	free := make([]bool, len(g.Clusters))
	for l == nil {
		l = newBuilder(g, b, free).layout()
	}
	return l, 0, nil
}

// budget is what is left of the steps.
type budget struct{ left int }

// spend takes n steps; it panics with ErrBudget, which compute recovers, when
// there are none left.
func (b *budget) spend(n int) {
	b.left -= n
	if b.left < 0 {
		panic(ErrBudget)
	}
}

// check returns an error for indices that lead nowhere and clusters that are too
// deep.
func check(g *Graph) error {
	parent := func(p int) bool { return p >= -1 && p < len(g.Clusters) }
	for _, n := range g.Nodes {
		if !parent(n.Parent) {
			return ErrGraph
		}
	}
	depth := make([]int, len(g.Clusters)) // 0 unknown
	var path []int
	for i := range g.Clusters {
		path = path[:0]
		c := i
		for c != -1 && depth[c] == 0 {
			if !parent(g.Clusters[c].Parent) || len(path) > len(g.Clusters) {
				return ErrGraph
			}
			path = append(path, c)
			c = g.Clusters[c].Parent
		}
		d := 0
		if c != -1 {
			d = depth[c]
		}
		for k := len(path) - 1; k >= 0; k-- {
			d++
			depth[path[k]] = d
		}
		if d > maxDepth {
			return ErrBudget
		}
	}
	end := func(i int, cluster bool) bool {
		if cluster {
			return i >= 0 && i < len(g.Clusters)
		}
		return i >= 0 && i < len(g.Nodes)
	}
	for _, e := range g.Edges {
		if !end(e.From, e.FromCluster) || !end(e.To, e.ToCluster) {
			return ErrGraph
		}
	}
	return nil
}

// units converts pixels to an even number of units that holds them, so that a
// middle is a whole number.
func units(px float64) int {
	if !(px > 0) { // also NaN
		return 0
	}
	if px > maxSize {
		px = maxSize
	}
	n := int(px * unit)
	if float64(n) < px*unit {
		n++
	}
	return n + n&1
}

// pixels converts back.
func pixels(n int) float64 { return float64(n) / unit }
