package layout

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// made returns a graph like those that people write: mostly a tree, with some
// edges back and across, labels and clusters.
func made(nodes int, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 15))
	g := &Graph{}
	clusters := nodes / 15
	for i := range clusters {
		p := -1
		if i > 2 && r.IntN(3) == 0 {
			p = r.IntN(i)
		}
		g.Clusters = append(g.Clusters, Cluster{Parent: p, TitleWidth: float64(40 + r.IntN(80)), TitleHeight: 24})
	}
	for i := range nodes {
		p := -1
		if clusters > 0 && r.IntN(3) > 0 {
			p = i * clusters / nodes
		}
		g.Nodes = append(g.Nodes, Node{Width: float64(60 + r.IntN(140)), Height: float64(40 + 16*r.IntN(3)), Parent: p})
		if i == 0 {
			continue
		}
		g.Edges = append(g.Edges, Edge{From: max(0, i-1-r.IntN(6)), To: i})
		if r.IntN(4) == 0 {
			g.Edges = append(g.Edges, Edge{From: r.IntN(i + 1), To: max(0, i-r.IntN(8))})
		}
	}
	for i := range g.Edges {
		if r.IntN(3) == 0 {
			g.Edges[i].LabelWidth, g.Edges[i].LabelHeight = float64(20+r.IntN(80)), 24
		}
	}
	return g
}

// local returns a graph whose edges join what is near each other in the source.
func local(n int, clusters bool, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 16))
	g := &Graph{}
	for i := range n {
		p := -1
		if clusters && r.IntN(4) > 0 {
			p = i / 8
		}
		if clusters && i%8 == 0 {
			g.Clusters = append(g.Clusters, Cluster{Parent: -1, TitleWidth: float64(40 + r.IntN(80)), TitleHeight: 24})
		}
		g.Nodes = append(g.Nodes, Node{Width: float64(60 + r.IntN(140)), Height: 40, Parent: p})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: max(0, i-1-r.IntN(6)), To: i})
			if r.IntN(3) == 0 {
				g.Edges = append(g.Edges, Edge{From: max(0, i-1-r.IntN(12)), To: i, LabelWidth: 40, LabelHeight: 24})
			}
		}
	}
	return g
}

func BenchmarkCompute(b *testing.B) {
	for _, n := range []int{10, 30, 100, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := made(n, 1)
			steps := 0
			for b.Loop() {
				var err error
				if _, steps, err = compute(g, 1<<30); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(steps), "steps")
		})
	}
}
