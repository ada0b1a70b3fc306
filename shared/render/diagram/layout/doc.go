// Package layout places graphs in ranks: nodes with sizes, clusters around them,
// edges with labels, as the drawings of flowcharts and state diagrams need them.
//
//   - layout.go: the graph, its layout, Compute and its budget
//   - cluster.go: levels, clusters that stand as one box, and putting them together
//   - acyclic.go: turning edges round until none leads back
//   - rank.go: ranks by network simplex
//   - rows.go: components, rows and what has a place in them
//   - order.go: the order in a row, by medians and exchanges
//   - place.go: coordinates
//   - refine.go: shorter lines at the same order
//   - route.go: the ways of edges, loops, titles that edges pass
//   - ports.go: where edges cross the border of a cluster that stands as one box
//
// The method is that of Sugiyama, with ranks after Gansner, Koutsofios, North and
// Vo and coordinates after Brandes and Köpf.
//
// A cluster with a direction of its own, that no edge crosses or that an edge ends
// at as a whole is laid out first and then stands as one node; an edge that crosses
// its border is cut there, at a place that the inner layout chooses. All other
// clusters are laid out together with what is around them: their borders take part
// as items of the rows, as brackets around what they hold.
//
// What makes drawings valid is the rows: nodes, labels, borders and titles lie in
// rows, an edge leads straight down through a row at a place that is its own, and
// slants between rows alone. Inside, ranks always lead down, in whole sixteenths of
// a pixel; results are the same on every machine.
package layout
