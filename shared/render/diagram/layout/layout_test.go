package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
)

// anyGraph draws graphs as people write them, and odder ones.
func anyGraph(t *rapid.T) *Graph {
	g := &Graph{Direction: Direction(rapid.IntRange(0, 3).Draw(t, "direction"))}
	clusters := rapid.IntRange(0, 5).Draw(t, "clusters")
	for i := range clusters {
		c := Cluster{Parent: rapid.IntRange(-1, i-1).Draw(t, "parent")}
		if rapid.Bool().Draw(t, "titled") {
			c.TitleWidth, c.TitleHeight = float64(rapid.IntRange(1, 200).Draw(t, "tw")), 24
		}
		if rapid.IntRange(0, 3).Draw(t, "own") == 0 {
			c.HasDirection, c.Direction = true, Direction(rapid.IntRange(0, 3).Draw(t, "own direction"))
		}
		g.Clusters = append(g.Clusters, c)
	}
	nodes := rapid.IntRange(1, 14).Draw(t, "nodes")
	for range nodes {
		g.Nodes = append(g.Nodes, Node{
			Width:  float64(rapid.IntRange(8, 220).Draw(t, "w")),
			Height: float64(rapid.IntRange(8, 120).Draw(t, "h")) + 0.5,
			Parent: rapid.IntRange(-1, clusters-1).Draw(t, "in"),
		})
	}
	for range rapid.IntRange(0, 18).Draw(t, "edges") {
		e := Edge{MinLength: rapid.IntRange(0, 3).Draw(t, "length")}
		e.From, e.FromCluster = anyEnd(t, nodes, clusters)
		e.To, e.ToCluster = anyEnd(t, nodes, clusters)
		if rapid.Bool().Draw(t, "labelled") {
			e.LabelWidth, e.LabelHeight = float64(rapid.IntRange(5, 150).Draw(t, "lw")), float64(rapid.IntRange(5, 50).Draw(t, "lh"))
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

func anyEnd(t *rapid.T, nodes, clusters int) (int, bool) {
	if clusters > 0 && rapid.IntRange(0, 7).Draw(t, "whole") == 0 {
		return rapid.IntRange(0, clusters-1).Draw(t, "cluster"), true
	}
	return rapid.IntRange(0, nodes-1).Draw(t, "node"), false
}

// TestInvariants draws graphs of every kind: nothing overlaps, every edge ends at
// its boxes and none runs through a shape or a title.
func TestInvariants(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		l, err := Compute(g, 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		if bad := faults(g, l); len(bad) > 0 {
			t.Fatalf("%v\n%+v\n%+v", bad, *g, *l)
		}
	})
}

// TestSame lays the same graphs out twice and holds the sum of all coordinates
// against one from another architecture.
func TestSame(t *testing.T) {
	h := sha256.New()
	for seed := range uint64(30) {
		g := made(5+int(seed)*3, seed)
		g.Direction = Direction(seed % 4)
		l, err := Compute(g, 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Compute(g, 1<<24)
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Fatalf("graph %d: a second layout differs: %v", seed, err)
		}
		if bad := faults(g, l); len(bad) > 0 {
			t.Errorf("graph %d: %v", seed, bad)
		}
		fmt.Fprintf(h, "%v\n", *l)
	}
	const want = "4cce2a531d24df77"
	if got := hex.EncodeToString(h.Sum(nil))[:16]; got != want {
		t.Errorf("layouts have the digest %s, want %s: change it if they were to change", got, want)
	}
}

// TestSmall holds small drawings against what an author expects to see.
func TestSmall(t *testing.T) {
	box := func(parent int) Node { return Node{Width: 100, Height: 40, Parent: parent} }
	edge := func(a, b int) Edge { return Edge{From: a, To: b} }
	tests := []struct {
		name  string
		graph Graph
		nodes []Box
	}{
		{"nothing", Graph{}, nil},
		{"one", Graph{Nodes: []Node{box(-1)}}, []Box{{0, 0, 100, 40}}},
		{"two beside each other", Graph{Nodes: []Node{box(-1), box(-1)}}, []Box{{0, 0, 100, 40}, {150, 0, 100, 40}}},
		{"down", Graph{Nodes: []Node{box(-1), box(-1)}, Edges: []Edge{edge(0, 1)}}, []Box{{0, 0, 100, 40}, {0, 90, 100, 40}}},
		{"up", Graph{Direction: Up, Nodes: []Node{box(-1), box(-1)}, Edges: []Edge{edge(0, 1)}}, []Box{{0, 90, 100, 40}, {0, 0, 100, 40}}},
		{"right", Graph{Direction: Right, Nodes: []Node{box(-1), box(-1)}, Edges: []Edge{edge(0, 1)}}, []Box{{0, 0, 100, 40}, {150, 0, 100, 40}}},
		{"left", Graph{Direction: Left, Nodes: []Node{box(-1), box(-1)}, Edges: []Edge{edge(0, 1)}}, []Box{{150, 0, 100, 40}, {0, 0, 100, 40}}},
		{"longer", Graph{Nodes: []Node{box(-1), box(-1)}, Edges: []Edge{{From: 0, To: 1, MinLength: 2}}}, []Box{{0, 0, 100, 40}, {0, 140, 100, 40}}},
		{
			"children in source order", Graph{Nodes: []Node{box(-1), box(-1), box(-1)}, Edges: []Edge{edge(0, 1), edge(0, 2)}},
			[]Box{{75, 0, 100, 40}, {0, 90, 100, 40}, {150, 90, 100, 40}},
		},
		{
			"a diamond", Graph{Nodes: []Node{box(-1), box(-1), box(-1), box(-1)}, Edges: []Edge{edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3)}},
			[]Box{{75, 0, 100, 40}, {0, 90, 100, 40}, {150, 90, 100, 40}, {75, 180, 100, 40}},
		},
		{
			"a label takes room", Graph{Nodes: []Node{box(-1), box(-1)}, Edges: []Edge{{From: 0, To: 1, LabelWidth: 60, LabelHeight: 24}}},
			[]Box{{0, 0, 100, 40}, {0, 114, 100, 40}},
		},
		{
			"a cluster with its own direction",
			Graph{Nodes: []Node{box(0), box(0)}, Clusters: []Cluster{{Parent: -1, HasDirection: true, Direction: Right, TitleWidth: 50, TitleHeight: 20}}, Edges: []Edge{edge(0, 1)}},
			[]Box{{15, 35, 100, 40}, {165, 35, 100, 40}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := Compute(&test.graph, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(l.Nodes, test.nodes) {
				t.Errorf("nodes at %v, want %v", l.Nodes, test.nodes)
			}
			if bad := faults(&test.graph, l); len(bad) > 0 {
				t.Error(bad)
			}
		})
	}
}

// TestDirections draws every pair of directions of a cluster and what is around it,
// with edges that cross its border both ways and to it as a whole.
func TestDirections(t *testing.T) {
	for outer := Down; outer <= Left; outer++ {
		for inner := Down; inner <= Left; inner++ {
			g := &Graph{Direction: outer, Clusters: []Cluster{{Parent: -1, HasDirection: true, Direction: inner, TitleWidth: 90, TitleHeight: 24}}}
			for i := range 7 {
				n := Node{Width: 80, Height: 40, Parent: -1}
				if i >= 2 && i < 6 {
					n.Parent = 0
				}
				g.Nodes = append(g.Nodes, n)
			}
			for _, e := range [][2]int{{0, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 4}, {5, 6}, {3, 6}, {6, 2}, {1, 0}} {
				g.Edges = append(g.Edges, Edge{From: e[0], To: e[1], LabelWidth: 30, LabelHeight: 20})
			}
			g.Edges = append(g.Edges, Edge{From: 1, To: 0, ToCluster: true}, Edge{From: 0, FromCluster: true, To: 6},
				Edge{From: 0, FromCluster: true, ToCluster: true, To: 0, LabelWidth: 30, LabelHeight: 20})
			l, err := Compute(g, 1<<22)
			if err != nil {
				t.Fatal(err)
			}
			if bad := faults(g, l); len(bad) > 0 {
				t.Errorf("%d in %d: %v", inner, outer, bad)
			}
			a, b := l.Nodes[2], l.Nodes[3]
			along := [...]float64{Down: b.Y - a.Y, Up: a.Y - b.Y, Right: b.X - a.X, Left: a.X - b.X}[inner]
			if along < 40 {
				t.Errorf("%d in %d: the second node is at %v after %v", inner, outer, b, a)
			}
		}
	}
}

// TestStraightOut draws a cluster of nodes from left to right in a drawing downwards:
// edges reach its nodes straight through its border.
func TestStraightOut(t *testing.T) {
	g := &Graph{Clusters: []Cluster{{Parent: -1, HasDirection: true, Direction: Right, TitleWidth: 60, TitleHeight: 24}}}
	for i := range 6 {
		n := Node{Width: 80, Height: 40, Parent: -1}
		if i >= 1 && i < 5 {
			n.Parent = 0
		}
		g.Nodes = append(g.Nodes, n)
	}
	for _, e := range [][2]int{{1, 2}, {2, 3}, {3, 4}, {0, 1}, {0, 4}, {2, 5}} {
		g.Edges = append(g.Edges, Edge{From: e[0], To: e[1]})
	}
	l, err := Compute(g, 1<<22)
	if err != nil {
		t.Fatal(err)
	}
	if bad := faults(g, l); len(bad) > 0 {
		t.Error(bad)
	}
	for _, i := range []int{3, 4} {
		p, n := l.Routes[i].Points, l.Nodes[g.Edges[i].To]
		if a, b := p[len(p)-2], p[len(p)-1]; a.X != b.X || b.Y != n.Y {
			t.Errorf("edge %d comes from %v to %v at the node %v", i, a, b, n)
		}
	}
	if p, n := l.Routes[5].Points, l.Nodes[2]; p[0].X != p[1].X || p[0].Y != n.Y+n.Height {
		t.Errorf("edge 5 leads from %v to %v at the node %v", p[0], p[1], n)
	}
}

// TestStraightThrough: lines to and from several nodes of a cluster, which would all
// lead past its other nodes, don't keep each other from leading straight.
func TestStraightThrough(t *testing.T) {
	g := &Graph{Clusters: []Cluster{{Parent: -1, HasDirection: true, Direction: Right, TitleWidth: 40, TitleHeight: 24}}}
	for i := range 6 {
		n := Node{Width: 80, Height: 40, Parent: -1}
		if i < 3 {
			n.Parent = 0
		}
		g.Nodes = append(g.Nodes, n)
	}
	for _, e := range [][2]int{{3, 1}, {0, 1}, {1, 2}, {4, 2}, {1, 5}} {
		g.Edges = append(g.Edges, Edge{From: e[0], To: e[1]})
	}
	l, err := Compute(g, 1<<22)
	if err != nil {
		t.Fatal(err)
	}
	if bad := faults(g, l); len(bad) > 0 {
		t.Error(bad)
	}
	for _, i := range []int{3, 4} {
		if p := l.Routes[i].Points; p[0].X != p[len(p)-1].X {
			t.Errorf("edge %d makes a detour: %v", i, p)
		}
	}
}

// TestSourceOrder expects siblings in the order of the source where no edge says
// otherwise.
func TestSourceOrder(t *testing.T) {
	g := &Graph{Nodes: []Node{{Width: 40, Height: 40, Parent: -1}}}
	for i := 1; i < 8; i++ {
		g.Nodes = append(g.Nodes, Node{Width: 40, Height: 40, Parent: -1})
		g.Edges = append(g.Edges, Edge{From: (i - 1) / 2, To: i})
	}
	l, err := Compute(g, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]int{{1, 2}, {3, 4}, {4, 5}, {5, 6}} {
		if l.Nodes[p[0]].X >= l.Nodes[p[1]].X {
			t.Errorf("node %d at %v is not left of %d at %v", p[0], l.Nodes[p[0]], p[1], l.Nodes[p[1]])
		}
	}
}

// TestHostile lays out graphs that nobody writes: each ends in time, with a layout
// or with an error.
func TestHostile(t *testing.T) {
	complete := &Graph{}
	for i := range 150 {
		complete.Nodes = append(complete.Nodes, Node{Width: 10, Height: 10, Parent: -1})
		for j := range i {
			complete.Edges = append(complete.Edges, Edge{From: j, To: i})
		}
	}
	deep := &Graph{Nodes: []Node{{Parent: 9999}}}
	for i := range 10000 {
		deep.Clusters = append(deep.Clusters, Cluster{Parent: i - 1})
	}
	nested := &Graph{}
	for i := range maxDepth {
		nested.Clusters = append(nested.Clusters, Cluster{Parent: i - 1, HasDirection: true, Direction: Direction(i % 4), TitleWidth: 20, TitleHeight: 20})
		nested.Nodes = append(nested.Nodes, Node{Width: 20, Height: 20, Parent: i})
		nested.Edges = append(nested.Edges, Edge{From: 0, To: i}, Edge{From: i, To: 0, FromCluster: i%2 == 0})
	}
	parallel := &Graph{Nodes: make([]Node, 2)}
	for i := range parallel.Nodes {
		parallel.Nodes[i].Parent = -1
	}
	for range 10000 {
		parallel.Edges = append(parallel.Edges, Edge{From: 0, To: 1, LabelWidth: 10, LabelHeight: 10})
	}
	loops := &Graph{Nodes: []Node{{Parent: -1}}, Edges: make([]Edge, 10000)}
	wide := &Graph{Clusters: []Cluster{{Parent: -1, HasDirection: true, Direction: Right}}, Nodes: []Node{{Parent: -1}, {Parent: 0}, {Parent: 0}}}
	beside := &Graph{}
	for i := range 10000 {
		wide.Edges = append(wide.Edges, Edge{From: 0, To: 1 + i%2})
		beside.Clusters = append(beside.Clusters, Cluster{Parent: -1, TitleWidth: 10, TitleHeight: 10})
		beside.Nodes = append(beside.Nodes, Node{Width: 10, Height: 10, Parent: i})
		beside.Edges = append(beside.Edges, Edge{From: 0, To: i})
	}
	own := &Graph{Nodes: []Node{{Parent: 0}}, Clusters: []Cluster{{Parent: 1}, {Parent: 0}}}
	odd := &Graph{
		Nodes:       []Node{{Width: math.NaN(), Height: math.Inf(1), Parent: -1}, {Width: -5, Height: 1e300, Parent: -1}},
		Edges:       []Edge{{From: 0, To: 1, LabelWidth: math.Inf(-1), LabelHeight: math.NaN(), MinLength: -1 << 40}, {From: 1, To: 0, MinLength: 1 << 40}},
		NodeSpacing: math.Inf(1), RankSpacing: math.NaN(),
	}
	tests := []struct {
		name  string
		graph *Graph
		want  error
	}{
		{"every node joined with every other", complete, ErrBudget},
		{"10,000 clusters in each other", deep, ErrBudget},
		{"clusters as deep as they may be", nested, nil},
		{"10,000 parallel edges", parallel, nil},
		{"10,000 loops", loops, nil},
		{"10,000 edges into a turned cluster", wide, ErrBudget},
		{"10,000 clusters beside each other", beside, ErrBudget},
		{"a cluster in itself", own, ErrGraph},
		{"sizes that are not numbers", odd, nil},
		{"an edge to nowhere", &Graph{Edges: []Edge{{From: 0, To: 1}}}, ErrGraph},
		{"a node in no cluster", &Graph{Nodes: []Node{{Parent: 3}}}, ErrGraph},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := Compute(test.graph, 2_000_000)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if err == nil && len(l.Routes) != len(test.graph.Edges) {
				t.Errorf("%d routes", len(l.Routes))
			}
		})
	}
}

// TestGrowth doubles graphs: the steps are at most three times as many.
func TestGrowth(t *testing.T) {
	steps := func(n int, clusters bool) int {
		sum := 0
		for seed := range uint64(5) {
			g := local(n, clusters, seed)
			_, s, err := compute(g, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			sum += s
		}
		return sum
	}
	for _, clusters := range []bool{false, true} {
		// Smaller ones are done early, as soon as nothing crosses.
		for n := 40; n <= 640; n *= 2 {
			if a, b := steps(n, clusters), steps(2*n, clusters); b > 3*a {
				t.Errorf("%d nodes cost %d steps, %d cost %d (clusters: %t)", n, a, 2*n, b, clusters)
			}
		}
	}
}

// FuzzCompute reads a graph from bytes: no panic, and either a layout without
// faults or an error.
func FuzzCompute(f *testing.F) {
	f.Add([]byte{0, 3, 1, 0, 0, 1, 1, 2, 0x81, 2})
	f.Add([]byte("flowchart TD; a --> b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := fromBytes(data)
		l, err := Compute(g, 5_000_000)
		if errors.Is(err, ErrBudget) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if bad := faults(g, l); len(bad) > 0 {
			t.Errorf("%v\n%+v", bad, *g)
		}
	})
}

// fromBytes makes a graph of what a fuzzer has found.
func fromBytes(data []byte) *Graph {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	g := &Graph{Direction: Direction(next() % 4)}
	nodes, clusters := 1+next()%30, next()%8
	for i := range clusters {
		b := next()
		g.Clusters = append(g.Clusters, Cluster{Parent: b%(i+1) - 1, HasDirection: b&64 != 0, Direction: Direction(b >> 4 % 4), TitleWidth: float64(next()), TitleHeight: float64(b >> 3)})
	}
	for range nodes {
		b := next()
		g.Nodes = append(g.Nodes, Node{Width: float64(1 + b*2), Height: float64(1 + next()), Parent: b%(clusters+1) - 1})
	}
	for len(data) > 0 && len(g.Edges) < 100 {
		a, b, c := next(), next(), next()
		e := Edge{From: a % nodes, To: b % nodes, LabelWidth: float64(c), LabelHeight: float64(c % 40), MinLength: c % 3}
		if clusters > 0 && a&128 != 0 {
			e.From, e.FromCluster = a%clusters, true
		}
		if clusters > 0 && b&128 != 0 {
			e.To, e.ToCluster = b%clusters, true
		}
		if e.LabelHeight == 0 {
			e.LabelWidth = 0
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}
