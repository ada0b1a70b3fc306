package diagram

import (
	"math"
	"strconv"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Sizes of a graph of commits, in pixels. Along is the way that time goes, across
// is from branch to branch.
const (
	gitStep   = 46.0 // between commits
	gitLane   = 48.0 // between branches, at least
	gitFirst  = 34.0 // from a branch's name to the first commit
	gitDot    = 8.0  // a commit's radius
	gitMargin = 10.0
	gitBend   = 14.0 // of lines from branch to branch
	gitText   = 14.0 // from a commit's middle to its name
	tagHeight = 20.0
	tagPoint  = 7.0 // how far a tag's point stands out
	tagGap    = 4.0
	plateHigh = 24.0 // of a branch's name
	gitHues   = 8    // colours of an author's theme
)

// half is the cosine of half a right angle: names on lines that are drawn to the
// right lean by it.
const half = 0.7071

// placedGit is a graph of commits with places.
type placedGit struct {
	*gitGraph
	at     []layout.Point // of commits: X is along, Y across
	lanes  []float64      // across, by lane
	plates []float64      // widths of branches' names, by branch
	before []bool         // commits whose names stand before them: drawn downwards alone
	end    float64        // of the branches
	down   bool           // time goes down or up
	leans  bool           // names lean
	names  bool           // commits have names
	titled bool           // branches have lines and names
	out    drawing
	low    layout.Point // what is drawn reaches from here
	high   layout.Point // to here
}

// draw returns the SVG, and its size.
func (g *gitGraph) draw() (svg []byte, width, height float64) {
	p := &placedGit{
		gitGraph: g, at: make([]layout.Point, len(g.commits)), lanes: make([]float64, len(g.branches)),
		plates: make([]float64, len(g.branches)), before: make([]bool, len(g.commits)), down: g.direction != layout.Right,
		names: g.flag("showCommitLabel", true), titled: g.flag("showBranches", true),
		low: layout.Point{X: math.Inf(1), Y: math.Inf(1)}, high: layout.Point{X: math.Inf(-1), Y: math.Inf(-1)},
	}
	p.leans = g.flag("rotateCommitLabel", true) && !p.down
	for i := range g.branches {
		p.plates[i] = math.Ceil(p.width(g.branches[i].name, strongWeight)) + 20
	}
	p.sides()
	p.along()
	p.across()
	p.branchLines()
	for i := range g.commits {
		for k := range g.commits[i].parents {
			p.link(i, k)
		}
	}
	for i := range g.commits {
		p.commit(i)
	}
	for i := range g.commits {
		p.words(i)
	}
	p.branchNames()
	var out drawing
	out.raw(`<g transform="translate(`)
	out.num(gitMargin - p.low.X)
	out.raw(" ")
	out.num(gitMargin - p.low.Y)
	out.raw(`)">`)
	out.b = append(append(out.b, p.out.b...), "</g>"...)
	return out.b, p.high.X - p.low.X + 2*gitMargin, p.high.Y - p.low.Y + 2*gitMargin
}

// sides finds where names stand in drawings that go down: before the commits that
// lines leave or reach from the other side alone.
func (p *placedGit) sides() {
	var before, after [maxCommits]bool // lines are there
	for i := range p.commits {
		for k, parent := range p.commits[i].parents {
			// A branch leaves its parent's row, a merge arrives in the row of the merge.
			at, other := parent, i
			if k > 0 {
				at, other = i, parent
			}
			before[at] = before[at] || p.lane(other) < p.lane(at)
			after[at] = after[at] || p.lane(other) > p.lane(at)
		}
	}
	for i := range p.commits {
		p.before[i] = after[i] && !before[i]
	}
}

func (p *placedGit) lane(commit int) int { return p.branches[p.commits[commit].branch].lane }

// nameWidth is the width of a commit's name, 0 where none is drawn.
func (p *placedGit) nameWidth(i int) float64 {
	if !p.names || p.commits[i].label == "" {
		return 0
	}
	return math.Ceil(p.width(p.commits[i].label, plainWeight) * linkSize / textSize)
}

func (p *placedGit) tagWidth(tag string) float64 {
	return math.Ceil(p.width(tag, plainWeight)*linkSize/textSize) + 2*tagPoint + 8
}

// beside is the room that a commit's name and tags take at its side.
func (p *placedGit) beside(i int) float64 {
	room := p.nameWidth(i)
	if room > 0 {
		room += tagGap
	}
	for _, tag := range p.commits[i].tags {
		room += p.tagWidth(tag) + tagGap
	}
	if room > 0 {
		room += gitText
	}
	return room
}

// along finds the places along the time: one after another or, if the author wants
// them parallel, as near to their parents as can be.
func (p *placedGit) along() {
	parallel := p.flag("parallelCommits", false)
	column := make([]int, len(p.commits))
	columns := 0
	for i := range p.commits {
		column[i] = i
		if parallel {
			column[i] = 0
			for _, parent := range p.commits[i].parents {
				column[i] = max(column[i], column[parent]+1)
			}
		}
		columns = max(columns, column[i]+1)
	}
	in := make([][]int, columns)
	for i, c := range column {
		in[c] = append(in[c], i)
	}
	free := make([]float64, len(p.branches)) // where what stands at a branch ends
	at := gitFirst
	if p.down {
		at = gitFirst + plateHigh/2
	}
	for c, list := range in {
		if c > 0 {
			at += gitStep
		}
		if !p.down {
			for _, i := range list {
				at = max(at, free[p.lane(i)]+p.reach(i)+tagGap)
			}
		}
		for _, i := range list {
			p.at[i].X = at
			free[p.lane(i)] = at + p.reach(i)
		}
	}
	p.end = at + gitFirst
}

// reach is how far a commit's tags, and a name that does not lean, reach along.
func (p *placedGit) reach(i int) float64 {
	room := 0.0
	if !p.leans {
		room = p.nameWidth(i) / 2
	}
	for _, tag := range p.commits[i].tags {
		room = max(room, p.tagWidth(tag)/2)
	}
	return room
}

// across finds the places of the branches: names and tags have their room between.
func (p *placedGit) across() {
	n := len(p.branches)
	after, before := make([]float64, n), make([]float64, n)
	for i := range p.commits {
		lane := p.lane(i)
		switch {
		case p.down && p.before[i]:
			before[lane] = max(before[lane], p.beside(i))
		case p.down:
			after[lane] = max(after[lane], p.beside(i))
		default:
			before[lane] = max(before[lane], float64(len(p.commits[i].tags))*(tagHeight+tagGap))
			if w := p.nameWidth(i); w > 0 && p.leans {
				after[lane] = max(after[lane], float64(w*half)+gitText)
			} else if w > 0 {
				after[lane] = max(after[lane], gitText+lineHeight)
			}
		}
	}
	if p.down && p.titled {
		for i := range p.branches {
			lane := p.branches[i].lane
			after[lane], before[lane] = max(after[lane], p.plates[i]/2-6), max(before[lane], p.plates[i]/2-6)
		}
	}
	for lane := 1; lane < n; lane++ {
		room := after[lane-1] + before[lane]
		if p.down && !p.flag("parallelCommits", false) {
			// Two commits never stand side by side; names of branches do.
			room = max(after[lane-1], before[lane], room/2)
			for i := range p.branches {
				for j := range p.branches {
					if p.titled && p.branches[i].lane == lane-1 && p.branches[j].lane == lane {
						room = max(room, (p.plates[i]+p.plates[j])/2-12)
					}
				}
			}
		}
		p.lanes[lane] = p.lanes[lane-1] + max(gitLane, room+2*gitDot+8)
	}
	for i := range p.commits {
		p.at[i].Y = p.lanes[p.lane(i)]
	}
}

// on is a place of the drawing.
func (p *placedGit) on(along, across float64) layout.Point {
	switch p.direction {
	case layout.Down:
		return layout.Point{X: across, Y: along}
	case layout.Up:
		return layout.Point{X: across, Y: p.end - along}
	}
	return layout.Point{X: along, Y: across}
}

// reaches makes the drawing hold a box.
func (p *placedGit) reaches(x1, y1, x2, y2 float64) {
	p.low = layout.Point{X: min(p.low.X, x1), Y: min(p.low.Y, y1)}
	p.high = layout.Point{X: max(p.high.X, x2), Y: max(p.high.Y, y2)}
}

// fill is the author's colour of a branch, "" for none; hue is the class of the theme's.
func (p *placedGit) fill(branch int) string {
	return p.color("git" + strconv.Itoa(p.branches[branch].lane%gitHues))
}

func (p *placedGit) hue(branch int) string {
	return "bdy-d-hue-" + strconv.Itoa(p.branches[branch].lane%pieHues)
}

// branchLines draws the lines that branches stand on.
func (p *placedGit) branchLines() {
	for i := range p.branches {
		across := p.lanes[p.branches[i].lane]
		a, b := p.on(0, across), p.on(p.end, across)
		if p.titled {
			p.out.line("bdy-d-divider", a.X, a.Y, b.X, b.Y)
			p.reaches(min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X), max(a.Y, b.Y))
		}
	}
}

// branchNames draws the names of branches where they begin.
func (p *placedGit) branchNames() {
	if !p.titled {
		return
	}
	for i := range p.branches {
		w := p.plates[i]
		at := p.on(0, p.lanes[p.branches[i].lane])
		switch p.direction {
		case layout.Right:
			at.X -= w/2 + 2
		case layout.Up:
			at.Y += plateHigh/2 + 2
		default:
			at.Y -= plateHigh/2 + 2
		}
		p.out.raw("<rect")
		p.out.paint(look{fill: p.fill(i)}, p.hue(i), "")
		p.out.attr("x", at.X-w/2)
		p.out.attr("y", at.Y-plateHigh/2)
		p.out.attr("width", w)
		p.out.attr("height", plateHigh)
		p.out.raw(` rx="5"/>`)
		l := label{size: textSize, lines: [][]run{{{text: p.branches[i].name}}}}
		p.out.label(&l, at.X, at.Y, 0, "bdy-d-share", look{fill: p.fill(i)}.ink())
		p.reaches(at.X-w/2, at.Y-plateHigh/2, at.X+w/2, at.Y+plateHigh/2)
	}
}

// link draws the line from a commit's parent.
func (p *placedGit) link(i, k int) {
	c := &p.commits[i]
	from := c.parents[k]
	a, b := p.at[from], p.at[i]
	branch := c.branch
	if k > 0 {
		branch = p.commits[from].branch
	}
	pts := []layout.Point{a, b}
	switch {
	case a.Y == b.Y:
	case k == 0 && !p.taken(a.X, a.Y, a.X, b.Y) && !p.taken(a.X, b.Y, b.X, b.Y):
		pts = []layout.Point{a, {X: a.X, Y: b.Y}, b}
	case k > 0 && !p.taken(a.X, a.Y, b.X, a.Y) && !p.taken(b.X, a.Y, b.X, b.Y):
		pts = []layout.Point{a, {X: b.X, Y: a.Y}, b}
	default:
		// Between the branches, beside the commits.
		turn, channel := a.X+gitStep/2, b.Y+math.Copysign(gitLane*0.4, a.Y-b.Y)
		pts = []layout.Point{a, {X: turn, Y: a.Y}, {X: turn, Y: channel}, {X: b.X, Y: channel}, b}
		if b.X-turn < gitStep {
			pts = []layout.Point{a, {X: turn, Y: a.Y}, {X: turn, Y: b.Y}, b}
		}
	}
	for j := range pts {
		pts[j] = p.on(pts[j].X, pts[j].Y)
	}
	way, _ := smooth(pts, layout.Point{}, &label{}, gitBend)
	class := "bdy-d-track"
	if c.kind == commitPicked && k > 0 {
		class = "bdy-d-track bdy-d-dashed"
	}
	p.out.raw("<path")
	if own := p.fill(branch); own != "" {
		p.out.raw(` class="` + class + `"`)
		p.out.raw(` stroke="` + own + `"`)
	} else {
		p.out.raw(` class="` + p.hue(branch) + " " + class + `"`)
	}
	p.out.trace(&way, 0, 0)
	p.out.raw("/>")
}

// taken reports whether a commit lies between two places on a straight line.
func (p *placedGit) taken(x1, y1, x2, y2 float64) bool {
	const tolerance = gitDot
	for _, at := range p.at {
		if at.X > min(x1, x2)-tolerance && at.X < max(x1, x2)+tolerance && at.Y > min(y1, y2)-tolerance && at.Y < max(y1, y2)+tolerance &&
			math.Abs(at.X-x1)+math.Abs(at.Y-y1) > 1 && math.Abs(at.X-x2)+math.Abs(at.Y-y2) > 1 {
			return true
		}
	}
	return false
}

// commit draws a commit's sign.
func (p *placedGit) commit(i int) {
	c, d := &p.commits[i], &p.out
	at := p.on(p.at[i].X, p.at[i].Y)
	p.reaches(at.X-gitDot, at.Y-gitDot, at.X+gitDot, at.Y+gitDot)
	own := p.fill(c.branch)
	square := func(r float64, l look, class string) {
		t := box(-r, -r, r, r)
		d.raw("<path")
		d.paint(l, class, "")
		d.trace(&t, at.X, at.Y)
		d.raw("/>")
	}
	circle := func(x, y, r float64, l look, class string) {
		d.raw("<circle")
		d.paint(l, class, "")
		d.attr("cx", at.X+x)
		d.attr("cy", at.Y+y)
		d.attr("r", r)
		d.raw("/>")
	}
	strokes := func(points ...float64) {
		for k := 0; k+3 < len(points); k += 4 {
			d.line("bdy-d-mark", at.X+points[k], at.Y+points[k+1], at.X+points[k+2], at.Y+points[k+3])
		}
	}
	if c.kind == commitHighlight {
		square(gitDot+2, look{fill: own}, p.hue(c.branch))
		square(gitDot-3, look{}, "bdy-d-f-bg")
		return
	}
	circle(0, 0, gitDot, look{fill: own}, p.hue(c.branch))
	switch c.kind {
	case commitReverse:
		strokes(-4, -4, 4, 4, -4, 4, 4, -4)
	case commitMerge:
		circle(0, 0, gitDot-3, look{}, "bdy-d-f-bg")
	case commitPicked:
		circle(-3, 2.5, 2.2, look{}, "bdy-d-f-bg")
		circle(3, 2.5, 2.2, look{}, "bdy-d-f-bg")
		strokes(-2.7, 1.5, 0, -5, 2.7, 1.5, 0, -5)
	}
}

// words draws a commit's name and tags.
func (p *placedGit) words(i int) {
	c, d := &p.commits[i], &p.out
	at := p.on(p.at[i].X, p.at[i].Y)
	w := p.nameWidth(i)
	text := func(class string, x, y float64, lean bool) {
		d.raw(`<text class="` + class + `"`)
		d.attr("x", x)
		d.attr("y", y)
		if lean {
			d.raw(` transform="rotate(-45 `)
			d.num(x)
			d.raw(" ")
			d.num(y)
			d.raw(`)"`)
		}
		d.raw(">")
		d.run(run{text: inXML(c.label)})
		d.raw("</text>")
	}
	if p.down {
		sign := 1.0
		if p.before[i] {
			sign = -1
		}
		x := at.X + float64(sign*gitText)
		if w > 0 {
			class := "bdy-d-on bdy-d-label"
			if sign < 0 {
				class += " bdy-d-end"
			}
			text(class, x, at.Y+4.2, false)
			p.reaches(min(x, x+float64(sign*w)), at.Y-8, max(x, x+float64(sign*w)), at.Y+8)
			x += float64(sign * (w + tagGap))
		}
		for _, tag := range c.tags {
			tw := p.tagWidth(tag)
			p.tag(tag, x+float64(sign*tw/2), at.Y, tw)
			x += float64(sign * (tw + tagGap))
		}
		return
	}
	switch {
	case w > 0 && p.leans:
		// It ends below the commit.
		x, y := at.X-1, at.Y+gitDot+10
		text("bdy-d-on bdy-d-label bdy-d-end", x, y, true)
		p.reaches(x-float64((w+8)*half), y-8, x+8, y+float64((w+4)*half))
	case w > 0:
		text("bdy-d-on bdy-d-label bdy-d-mid", at.X, at.Y+gitText+10, false)
		p.reaches(at.X-w/2, at.Y, at.X+w/2, at.Y+gitText+16)
	}
	for k, tag := range c.tags {
		p.tag(tag, at.X, at.Y-gitDot-6-tagHeight/2-float64(k)*(tagHeight+tagGap), p.tagWidth(tag))
	}
}

// tag draws a tag around a middle.
func (p *placedGit) tag(text string, x, y, w float64) {
	d := &p.out
	h := tagHeight / 2
	d.path("bdy-d-tag", true, x-w/2, y, x-w/2+tagPoint, y-h, x+w/2, y-h, x+w/2, y+h, x-w/2+tagPoint, y+h)
	d.raw(`<circle class="bdy-d-f-muted"`)
	d.attr("cx", x-w/2+tagPoint+1)
	d.attr("cy", y)
	d.attr("r", 1.5)
	d.raw("/>")
	l := label{size: linkSize, lines: [][]run{{{text: text}}}}
	d.label(&l, x+tagPoint/2+1, y, 0, "bdy-d-member", "")
	p.reaches(x-w/2, y-h, x+w/2, y+h)
}
