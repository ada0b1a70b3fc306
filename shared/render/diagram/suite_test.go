package diagram

import (
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// texts are the texts of a drawing, sorted: the lines of a label, a word apart.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var out []string
	dec := xml.NewDecoder(strings.NewReader("<svg>" + unmarked.Replace(string(svg)) + "</svg>"))
	text := ""
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if tok.Name.Local == "text" {
				text = ""
			}
		case xml.CharData:
			text += string(tok)
		case xml.EndElement:
			if tok.Name.Local == "text" {
				out = append(out, strings.Fields(text)...)
			}
		}
	}
	slices.Sort(out)
	return out
}

// made is a flowchart or a state diagram made of numbers, and the words that it
// shows.
func made(r *rand.Rand, n int) (source string, words []string) {
	vocabulary := strings.Fields("gate way store Ärger 日本語 שלום illicit WWW user_id a b longer-word-than-most x")
	say := func(most int) string {
		var out []string
		for range 1 + r.IntN(most) {
			out = append(out, vocabulary[r.IntN(len(vocabulary))])
		}
		words = append(words, out...)
		return strings.Join(out, " ")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "flowchart %s\n", []string{"TD", "LR", "BT", "RL"}[r.IntN(4)])
	groups := 0
	if n > 5 {
		groups = r.IntN(1 + n/6)
	}
	node := func(i int) {
		// The last of the forms has no room for a label of its own.
		form := brackets[r.IntN(len(brackets))]
		fmt.Fprintf(&b, "n%d%s\"%s\"%s\n", i, form.open, say(6), form.close)
	}
	for g := range groups {
		fmt.Fprintf(&b, "subgraph g%d [\"%s\"]\n", g, say(3))
		if r.IntN(3) == 0 {
			b.WriteString("direction LR\n")
		}
		for i := range n {
			if i%(2*groups) == g {
				node(i)
			}
		}
		b.WriteString("end\n")
	}
	for i := range n {
		if groups == 0 || i%(2*groups) >= groups {
			node(i)
		}
	}
	for range n + r.IntN(n) {
		from, to := fmt.Sprintf("n%d", r.IntN(n)), fmt.Sprintf("n%d", r.IntN(n))
		if groups > 0 && r.IntN(12) == 0 {
			to = fmt.Sprintf("g%d", r.IntN(groups))
		}
		label := ""
		if r.IntN(3) == 0 {
			label = "|" + say(2) + "|"
		}
		fmt.Fprintf(&b, "%s %s%s %s\n", from, []string{"-->", "---", "-.->", "==>", "<-->", "--o", "--x", "---->"}[r.IntN(8)], label, to)
	}
	slices.Sort(words)
	return b.String(), words
}

// TestMade draws graphs of 2 to 120 nodes. Every word of them is there, and
// nothing lies on anything else.
func TestMade(t *testing.T) {
	sizes := []int{2, 3, 4, 5, 7, 10, 14, 20, 30, 45}
	rounds := 6
	if testing.Short() {
		rounds = 2
	} else {
		sizes = append(sizes, 80, 120)
	}
	for _, n := range sizes {
		for k := range rounds {
			r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
			text, words := made(r, n)
			src := parseSource(text)
			g, err := readFlow(&src)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			g.settle()
			p, err := place(g)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			p.draw()
			if diff := cmp.Diff(words, texts(t, p.out.b)); diff != "" {
				t.Errorf("%d nodes, round %d: texts (-source +drawing):\n%s", n, k, diff)
			}
			for _, fault := range faults(p) {
				t.Errorf("%d nodes, round %d: %s", n, k, fault)
			}
			if t.Failed() {
				t.Fatal(text)
			}
		}
	}
}

// faults are what a reader would stumble over.
func faults(p *placedGraph) []string {
	var out []string
	report := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	apart := func(a, b layout.Box) bool {
		const tolerance = 0.5
		return a.X+a.Width <= b.X+tolerance || b.X+b.Width <= a.X+tolerance || a.Y+a.Height <= b.Y+tolerance || b.Y+b.Height <= a.Y+tolerance
	}
	for i := range p.nodes {
		if b := p.nodeBoxes[i]; b.X < 0 || b.Y < 0 || b.X+b.Width > p.width || b.Y+b.Height > p.height {
			report("%s leaves the drawing", p.nodes[i].id)
		}
		for j := range i {
			if !p.nodes[i].gone && !p.nodes[j].gone && !apart(p.nodeBoxes[i], p.nodeBoxes[j]) {
				report("%s lies on %s", p.nodes[i].id, p.nodes[j].id)
			}
		}
		for g := range p.groups {
			c, b := &p.groups[g], p.groupBoxes[g]
			if c.bare || c.label.empty() || p.nodes[i].gone {
				continue
			}
			title := layout.Box{X: b.X + (b.Width-c.label.width)/2, Y: b.Y + titlePad, Width: c.label.width, Height: c.label.height}
			if !apart(title, p.nodeBoxes[i]) {
				report("%s lies on the title of %s", p.nodes[i].id, c.id)
			}
		}
	}
	for i := range p.edges {
		edgeFaults(p, i, apart, report)
	}
	return out
}

// edgeFaults reports what is wrong with a link.
func edgeFaults(p *placedGraph, i int, apart func(a, b layout.Box) bool, report func(format string, args ...any)) {
	e, pts := &p.edges[i], p.routes[i].Points
	for k, end := range []struct {
		at    int
		group bool
		point layout.Point
	}{{e.from, e.fromGroup, pts[0]}, {e.to, e.toGroup, pts[len(pts)-1]}} {
		outline, b := []layout.Point(nil), layout.Box{}
		if end.group {
			b = p.groupBoxes[end.at]
			frame := box(-b.Width/2, -b.Height/2, b.Width/2, b.Height/2)
			outline = frame.points()
		} else {
			b = p.nodeBoxes[end.at]
			outline = p.figures[end.at].outline.points()
		}
		if far := off(outline, b.X+b.Width/2, b.Y+b.Height/2, end.point); far > 1 {
			report("the link %d ends (%d) %.1f pixels off its shape", i, k, far)
		}
	}
	if e.label.empty() {
		return
	}
	_, at := smooth(pts, p.routes[i].Label, &e.label)
	plate := layout.Box{X: at.X - e.label.width/2, Y: at.Y - e.label.height/2, Width: e.label.width, Height: e.label.height}
	for j := range p.nodes {
		if !p.nodes[j].gone && !apart(plate, p.nodeBoxes[j]) {
			report("the label %q lies on %s", e.label.String(), p.nodes[j].id)
		}
	}
	for j := range i {
		o := &p.edges[j]
		if o.label.empty() {
			continue
		}
		_, at := smooth(p.routes[j].Points, p.routes[j].Label, &o.label)
		if !apart(plate, layout.Box{X: at.X - o.label.width/2, Y: at.Y - o.label.height/2, Width: o.label.width, Height: o.label.height}) {
			report("the label %q lies on the label %q", e.label.String(), o.label.String())
		}
	}
}

// off is how far a place is from an outline around a middle.
func off(outline []layout.Point, x, y float64, at layout.Point) float64 {
	best := math.Inf(1)
	for i, a := range outline {
		b := outline[(i+1)%len(outline)]
		ax, ay, bx, by := a.X+x, a.Y+y, b.X+x, b.Y+y
		dx, dy := bx-ax, by-ay
		t := 0.0
		if size := dx*dx + dy*dy; size > 0 {
			t = max(0, min(1, ((at.X-ax)*dx+(at.Y-ay)*dy)/size))
		}
		best = min(best, math.Hypot(ax+t*dx-at.X, ay+t*dy-at.Y))
	}
	return best
}

// TestEnds: the ends of links at one side of a node are apart, also where notes
// beside the node leave one way to it; a loop keeps away from the notes.
func TestEnds(t *testing.T) {
	const text = "stateDiagram-v2\n  A --> F\n  A --> B\n  B --> F\n  B --> C\n  C --> F\n  F --> F: again\n  note right of F\n    one\n    two\n    three\n  end note\n"
	src := parseSource(text)
	g, err := readStates(&src)
	if err != nil {
		t.Fatal(err)
	}
	g.settle()
	p, err := place(g)
	if err != nil {
		t.Fatal(err)
	}
	f := slices.IndexFunc(p.nodes, func(n node) bool { return n.id == "F" })
	b := p.inner(f)
	var xs []float64
	for i := range p.edges {
		pts := p.routes[i].Points
		switch end := pts[len(pts)-1]; {
		case p.edges[i].from == f:
			for _, at := range pts {
				if at.X > b.X+0.5 {
					t.Errorf("the loop runs at %.1f, where the note is; the state begins at %.1f", at.X, b.X)
				}
			}
		case p.edges[i].to == f:
			if sideOf(b, end) != 0 {
				t.Errorf("the link %d ends at %v, not above %v", i, end, b)
			}
			xs = append(xs, end.X)
		}
	}
	slices.Sort(xs)
	if len(xs) != 3 || xs[1]-xs[0] < 10 || xs[2]-xs[1] < 10 {
		t.Errorf("the ends are at %.1f", xs)
	}
}

// TestGrounds: no ground of a label on a link lies on the label beside it.
func TestGrounds(t *testing.T) {
	d, err := New().Draw(t.Context(), "stateDiagram-v2\n  A --> B: first label\n  B --> A: second label\n")
	if err != nil {
		t.Fatal(err)
	}
	if svg := string(d.svg); strings.Count(svg, "<rect") != 2 || strings.LastIndex(svg, "<rect") > strings.Index(svg, "<text") {
		t.Error("a ground is drawn after a label:", svg)
	}
}
