package diagram

import (
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Limits of a graph. More is not readable, and what a reader's eye can't follow
// need not cost anybody time.
const (
	// maxGraph bounds nodes and links together.
	maxGraph = 600
	// maxGroups bounds groups, maxNested those within each other.
	maxGroups = 100
	maxNested = 20
	// maxSteps bounds the work of the layout; the largest graphs that maxGraph
	// lets through take a tenth of it.
	maxSteps = 50_000_000
)

// graph is what a diagram of boxes and lines says, before it has places.
type graph struct {
	face
	settings
	src       *source
	direction layout.Direction
	wrapping  float64 // the width at which labels of nodes are broken
	sharp     bool    // links turn without a curve
	nodes     []node
	groups    []group
	edges     []edge
	nodeIDs   map[string]int
	groupIDs  map[string]int
	classes   map[string]look
	// edgeLook is that of all links, by "linkStyle default".
	edgeLook look
	wide     bool // links have labels or signs at their ends, which need room
}

// node is a box of a graph.
type node struct {
	id    string
	name  string // for readers who can't see it, where the label is not it
	label label
	// labelled: the author gave the label, which may be empty.
	labelled bool
	shape    shape
	group    int // that it is in, -1 for none
	looks    []string
	look     look
	href     string
	tip      string
	parts    [][]label // of classes and entities, one below the other
	gone     bool      // it became a group
	width    float64
	height   float64
	// columns are the widths of an entity's columns.
	columns []float64
	// notes stand beside it. The box of the node then holds both, with the shape in
	// its middle, of the size inner.
	notes    []noteBeside
	innerW   float64
	innerH   float64
	downward bool // the links come from above and below
}

// noteBeside is a note about a node.
type noteBeside struct {
	label label
	left  bool // or above, where links come from the sides
}

// group is a box around nodes: a subgraph, a composite state, a namespace.
type group struct {
	id           string
	label        label
	parent       int // -1 for none
	direction    layout.Direction
	hasDirection bool
	looks        []string
	look         look
	bare         bool // nothing of it is drawn
	region       bool // a part of a state that is active at the same time as others
	nodes        int  // that are in it, groups too
}

// edge is a line between two boxes.
type edge struct {
	from, to           int
	fromGroup, toGroup bool
	label              label
	line               lineKind
	length             int // ranks that it spans at least
	start, end         headSign
	look               look
	startText, endText label // beside its ends
	sharp              bool  // it turns without a curve
	silent             bool  // it is not among the words of the drawing
}

type lineKind uint8

const (
	solid lineKind = iota
	dotted
	thick
	unseen
)

// headSign is what stands at the end of a line.
type headSign uint8

const (
	headNone headSign = iota
	headArrow
	headCircle
	headCross
	headTriangle // hollow: is a kind of
	headDiamond  // filled: is made of
	headHollow   // hollow diamond: has
	headOpen     // two strokes
	headLollipop
	headOne // of entities
	headZeroOne
	headMany
	headZeroMany
)

func newGraph(src *source) *graph {
	return &graph{
		face: src.face, settings: src.settings, src: src, nodeIDs: map[string]int{}, groupIDs: map[string]int{}, classes: map[string]look{},
		wrapping: src.number("wrappingWidth", 60, 600, nodeLimit), sharp: sharpCurves[src.own("curve")],
	}
}

// sharpCurves are the curves of links that have corners.
var sharpCurves = map[string]bool{"linear": true, "step": true, "stepBefore": true, "stepAfter": true}

// node finds a node by its id; the first mention makes it, in the group in.
func (g *graph) node(id string, in int) int {
	if i, ok := g.nodeIDs[id]; ok {
		return i
	}
	g.nodeIDs[id] = len(g.nodes)
	g.nodes = append(g.nodes, node{id: id, group: in})
	return len(g.nodes) - 1
}

// check returns why a graph is not drawn, nil if it is.
func (g *graph) check() error {
	if n := len(g.nodes) + len(g.edges); n > maxGraph {
		return errLarge{fmt.Sprintf("%d nodes and links, more than %d", n, maxGraph)}
	}
	if len(g.groups) > maxGroups {
		return errLarge{fmt.Sprintf("more than %d groups", maxGroups)}
	}
	for i := range g.groups {
		depth := 0
		for at := i; at >= 0; at = g.groups[at].parent {
			if depth++; depth > maxNested {
				return errLarge{"too many groups within each other"}
			}
		}
	}
	return nil
}

// settle makes groups of the nodes that name one, and nodes of the groups that
// hold nothing, which is what Mermaid does.
func (g *graph) settle() {
	for i := range g.nodes {
		if _, ok := g.groupIDs[g.nodes[i].id]; ok {
			g.nodes[i].gone = true
		} else if in := g.nodes[i].group; in >= 0 {
			g.groups[in].nodes++
		}
	}
	for i := range g.groups {
		if p := g.groups[i].parent; p >= 0 {
			g.groups[p].nodes++
		}
	}
	for i := range g.edges {
		e := &g.edges[i]
		e.from, e.fromGroup = g.end(e.from, e.fromGroup)
		e.to, e.toGroup = g.end(e.to, e.toGroup)
	}
	// A group that holds nothing becomes a node again. Groups come before those
	// within them.
	for i := len(g.groups) - 1; i >= 0; i-- {
		c := &g.groups[i]
		if c.nodes > 0 || c.bare || c.region {
			continue
		}
		if at, ok := g.nodeIDs[c.id]; ok {
			g.nodes[at].gone = true
		}
		g.nodes = append(g.nodes, node{id: c.id, label: c.label, group: c.parent, looks: c.looks, look: c.look})
		g.nodes[len(g.nodes)-1].label.weight = false
		g.nodes[len(g.nodes)-1].label.resize(textSize)
		for j := range g.edges {
			e := &g.edges[j]
			if e.fromGroup && e.from == i {
				e.from, e.fromGroup = len(g.nodes)-1, false
			}
			if e.toGroup && e.to == i {
				e.to, e.toGroup = len(g.nodes)-1, false
			}
		}
		c.bare = true // and empty: place leaves it out
	}
}

// end is where a link ends: at the group of that name, if there is one.
func (g *graph) end(i int, isGroup bool) (int, bool) {
	if isGroup || !g.nodes[i].gone {
		return i, isGroup
	}
	return g.groupIDs[g.nodes[i].id], true
}

// says is the name of a link's end for readers who can't see it.
func (g *graph) says(i int, isGroup bool) string {
	if isGroup {
		if s := g.groups[i].label.String(); s != "" {
			return s
		}
		return g.groups[i].id
	}
	n := &g.nodes[i]
	if n.name != "" {
		return n.name
	}
	if s := n.label.String(); s != "" {
		return s
	}
	return n.id
}

// lines says a graph in words: its links and notes, or if it has none, its
// labels.
func (g *graph) lines() []Line {
	var out []Line
	var notes []Line
	for i := range g.edges {
		e := &g.edges[i]
		from, to := g.says(e.from, e.fromGroup), g.says(e.to, e.toGroup)
		if e.silent {
			if !e.fromGroup && g.nodes[e.from].shape == shapeNote {
				from, to = to, from
			}
			notes = append(notes, Line{Text: "(" + from + ") " + to})
			continue
		}
		if e.line == unseen {
			continue
		}
		sign := " → "
		if e.start != headNone && e.end != headNone {
			sign = " ↔ "
		}
		text := from + sign + to
		if s := e.label.String(); s != "" {
			text += ": " + s
		}
		out = append(out, Line{Text: text})
	}
	for i := range g.nodes {
		for j := range g.nodes[i].notes {
			notes = append(notes, Line{Text: "(" + g.says(i, false) + ") " + g.nodes[i].notes[j].label.String()})
		}
	}
	out = append(g.members(), append(out, notes...)...)
	if len(out) > 0 {
		return out
	}
	for i := range g.groups {
		if s := g.groups[i].label.String(); s != "" && !g.groups[i].bare {
			out = append(out, Line{Text: s})
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if s := n.label.String(); s != "" && !n.gone {
			out = append(out, Line{Text: s})
		}
	}
	return out
}

// members are the classes, entities and states of several parts, with what is
// in them.
func (g *graph) members() []Line {
	var out []Line
	for i := range g.nodes {
		n := &g.nodes[i]
		if len(n.parts) == 0 {
			continue
		}
		var title []string
		for j := range n.parts[0] {
			title = append(title, n.parts[0][j].String())
		}
		out = append(out, Line{Text: strings.Join(title, " ")})
		for _, part := range n.parts[1:] {
			var cells []string
			for j := range part {
				if s := part[j].String(); s != "" && len(n.columns) > 0 {
					cells = append(cells, s)
				} else if s != "" {
					out = append(out, Line{Depth: 1, Text: s})
				}
			}
			if len(cells) > 0 {
				out = append(out, Line{Depth: 1, Text: strings.Join(cells, " ")})
			}
		}
	}
	return out
}
