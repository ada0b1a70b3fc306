package layout

import (
	"testing"

	"pgregory.net/rapid"
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
	rapid.Check(t, func(t *rapid.T) {
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
