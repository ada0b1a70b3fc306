package diagram

import (
	"math"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// drawing is SVG as it grows.
type drawing struct{ b []byte }

func (d *drawing) raw(s string) { d.b = append(d.b, s...) }

// num adds a number with at most one digit after the point.
func (d *drawing) num(v float64) {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // no "-0"
	}
	d.b = strconv.AppendFloat(d.b, v, 'f', -1, 64)
}

func (d *drawing) attr(name string, v float64) {
	d.b = append(d.b, ' ')
	d.raw(name)
	d.raw(`="`)
	d.num(v)
	d.raw(`"`)
}

func (d *drawing) rect(class string, x, y, w, h, r float64) {
	d.raw(`<rect class="` + class + `"`)
	d.attr("x", x)
	d.attr("y", y)
	d.attr("width", w)
	d.attr("height", h)
	if r > 0 {
		d.attr("rx", r)
	}
	d.raw("/>")
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.raw(`<line class="` + class + `"`)
	d.attr("x1", x1)
	d.attr("y1", y1)
	d.attr("x2", x2)
	d.attr("y2", y2)
	d.raw("/>")
}

func (d *drawing) path(class string, closed bool, points ...float64) {
	d.raw(`<path class="` + class + `" d="`)
	for i := 0; i+1 < len(points); i += 2 {
		if i == 0 {
			d.raw("M")
		} else {
			d.raw("L")
		}
		d.num(points[i])
		d.raw(" ")
		d.num(points[i+1])
	}
	if closed {
		d.raw("Z")
	}
	d.raw(`"/>`)
}

// text draws lines below each other; y is the middle of the first.
func (d *drawing) text(class string, x, y float64, lines []string) {
	for i, l := range lines {
		if l == "" {
			continue
		}
		d.raw(`<text class="` + class + `"`)
		d.attr("x", x)
		d.attr("y", y+float64(i)*lineHeight+textSize*0.35)
		d.raw(">")
		d.b = html.AppendText(d.b, inXML(l))
		d.raw("</text>")
	}
}

// drawSequence returns the SVG of a sequence diagram, and its size.
func drawSequence(s *sequence) (svg []byte, width, height float64) {
	p := &placed{sequence: s}
	p.columns()
	n := len(p.actors)
	p.left, p.right = p.extent(p.items)
	for i := range n {
		p.left = min(p.left, p.x[i]-p.widths[i]/2)
		p.right = max(p.right, p.x[i]+p.widths[i]/2)
	}
	grouped := 0.0
	for _, a := range p.actors {
		if a.group >= 0 {
			grouped = 26
			p.left, p.right = min(p.left, p.x[0]-p.widths[0]/2-10), max(p.right, p.x[n-1]+p.widths[n-1]/2+10)
		}
	}
	headTop := seqMargin + grouped
	tall := headHeight
	for i, a := range p.actors {
		h := float64(len(p.heads[i]))*lineHeight + headHeight - lineHeight
		if a.sign >= signPerson {
			h += 26
		}
		tall = max(tall, h)
	}
	p.tall = tall
	p.current = headTop + tall + 14
	p.walk(p.items)
	for i := range p.bars {
		for len(p.bars[i]) > 0 {
			p.close(i, p.current)
		}
	}
	bottom := p.current + 10
	height = bottom + seqMargin
	mirrored := bottom-headTop > mirrorFrom && !p.plain
	if mirrored {
		height = bottom + tall + seqMargin + grouped/2
	}

	// Boxes and life lines lie under all else.
	var d drawing
	for g, box := range p.groups {
		l, r := math.Inf(1), math.Inf(-1)
		for i, a := range p.actors {
			if a.group == g {
				l, r = min(l, p.x[i]-p.widths[i]/2), max(r, p.x[i]+p.widths[i]/2)
			}
		}
		if l > r {
			continue
		}
		d.rect("bdy-d-group", l-10, seqMargin, r-l+20, height-2*seqMargin, 6)
		d.text("bdy-d-strong bdy-d-mid", (l+r)/2, seqMargin+14, []string{box.label})
	}
	for i := range n {
		from, to := headTop+tall, bottom
		if p.actors[i].late {
			from = p.born[i]
		}
		if p.dies[i] > 0 {
			to = p.dies[i]
		}
		d.line("bdy-d-life", p.x[i], from, p.x[i], to)
	}
	for _, b := range p.done {
		d.rect("bdy-d-active", p.x[b.actor]-activeWidth/2+float64(b.depth)*activeShift, b.from, activeWidth, max(b.to-b.from, 6), 1)
	}
	d.b = append(d.b, p.out.b...)
	for i := range n {
		if !p.actors[i].late {
			p.head(&d, i, headTop, tall)
		}
		if mirrored && p.dies[i] == 0 {
			p.head(&d, i, bottom, tall)
		}
	}

	p.left -= seqMargin
	width = p.right + seqMargin - p.left
	var out drawing
	out.raw(`<g transform="translate(`)
	out.num(-p.left)
	out.raw(` 0)">`)
	out.b = append(out.b, d.b...)
	out.raw("</g>")
	return out.b, width, height
}

// head draws a participant's name, in a box or under a person.
func (p *placed) head(d *drawing, i int, top, tall float64) {
	x, lines := p.x[i], p.heads[i]
	h := float64(len(lines)) * lineHeight
	sign, w := p.actors[i].sign, p.widths[i]
	if sign >= signPerson {
		d.rect("bdy-d-cover", x-w/2, top, w, tall, 0)
		d.actorSign(sign, x, top)
		d.text("bdy-d-strong bdy-d-mid", x, top+tall-h-1+lineHeight/2, lines)
		return
	}
	switch sign {
	case signStack:
		d.rect("bdy-d-node", x-w/2+stacked, top, w-stacked, tall-stacked, 2)
		d.rect("bdy-d-node", x-w/2, top+stacked, w-stacked, tall-stacked, 2)
	case signQueue:
		shape := shapePipe.figure(w, tall)
		d.raw(`<path class="bdy-d-node"`)
		d.trace(&shape.outline, x, top+tall/2)
		d.raw("/>")
		for _, inner := range shape.inner {
			d.raw(`<path class="bdy-d-none bdy-d-s-edge"`)
			d.trace(&inner, x, top+tall/2)
			d.raw("/>")
		}
	default:
		d.rect("bdy-d-node", x-w/2, top, w, tall, 5)
	}
	d.text("bdy-d-strong bdy-d-mid", x, top+tall/2-h/2+lineHeight/2, lines)
}

// actorSign draws the figure of a participant: 24 pixels high, below top.
func (d *drawing) actorSign(sign actorSign, x, top float64) {
	const figure = "bdy-d-figure"
	circle := func(cx, cy, r float64) {
		d.raw(`<circle class="` + figure + `"`)
		d.attr("cx", cx)
		d.attr("cy", cy)
		d.attr("r", r)
		d.raw("/>")
	}
	c := top + 10
	switch sign {
	case signPerson:
		circle(x, c, 6)
		d.path(figure, false, x-11, c+23, x-11, c+19, x-6, c+11, x+6, c+11, x+11, c+19, x+11, c+23)
	case signBoundary:
		d.path(figure, false, x-14, c-5, x-14, c+15)
		d.path(figure, false, x-14, c+5, x-6, c+5)
		circle(x+4, c+5, 10)
	case signControl:
		circle(x, c+6, 10)
		d.path(figure, false, x+4, c-8, x, c-4, x+4, c)
	case signEntity:
		circle(x, c+4, 10)
		d.path(figure, false, x-10, c+17, x+10, c+17)
	case signDatabase:
		shape := shapeCylinder.figure(28, 28)
		for _, part := range append([]pen{shape.outline}, shape.inner...) {
			d.raw(`<path class="` + figure + `"`)
			d.trace(&part, x, c+6)
			d.raw("/>")
		}
	}
}

// walk draws items from the current place down.
func (p *placed) walk(items []item) {
	for k := range items {
		it := &items[k]
		switch it.kind {
		case message:
			p.message(it)
		case note:
			p.note(it)
		case frame:
			p.frame(it)
		case begin:
			p.open(it.from, p.current)
		case end:
			p.close(it.from, p.current)
		}
	}
}

func (p *placed) open(actor int, y float64) {
	p.bars[actor] = append(p.bars[actor], bar{actor: actor, depth: len(p.bars[actor]), from: y})
}

func (p *placed) close(actor int, y float64) {
	if n := len(p.bars[actor]); n > 0 {
		b := p.bars[actor][n-1]
		b.to = y
		p.bars[actor] = p.bars[actor][:n-1]
		p.done = append(p.done, b)
	}
}

// edge is where an arrow meets an actor's line or bar, on the side of dir.
func (p *placed) edge(actor int, dir float64) float64 {
	n := len(p.bars[actor])
	if n == 0 {
		return p.x[actor]
	}
	if dir < 0 {
		return p.x[actor] - activeWidth/2
	}
	return p.x[actor] + activeWidth/2 + float64(n-1)*activeShift
}

func (p *placed) message(it *item) {
	// A label has the length of its arrow.
	lines := p.wrap(it.text, max(labelLimit, math.Abs(p.x[it.from]-p.x[it.to])-40), plainWeight)
	if it.text == "" {
		lines = nil
	}
	class := "bdy-d-line"
	if it.dashed {
		class += " bdy-d-dashed"
	}
	p.current += 8
	if it.from == it.to {
		p.selfMessage(it, class, lines)
		return
	}
	labelTop := p.current
	p.current += float64(len(lines))*lineHeight + 5
	if it.creates {
		p.current = max(p.current, labelTop+p.tall/2)
		labelTop = p.current - float64(len(lines))*lineHeight - 5
	}
	y := p.current
	dir := 1.0
	if it.to < it.from {
		dir = -1
	}
	x1 := p.edge(it.from, dir)
	if it.activate {
		p.open(it.to, y)
	}
	x2 := p.edge(it.to, -dir)
	if it.deactivate {
		p.close(it.from, y)
	}
	d := &p.out
	if it.creates {
		x2 = p.x[it.to] - dir*p.widths[it.to]/2
		p.head(d, it.to, y-p.tall/2, p.tall)
		p.born[it.to] = y + p.tall/2
	}
	mid := (x1 + x2) / 2
	d.text("bdy-d-label bdy-d-mid", mid, labelTop+lineHeight/2, lines)
	if it.central[0] {
		p.central(x1, y)
		x1 += dir * centralSize
	}
	if it.central[1] {
		p.central(x2, y)
		x2 -= dir * centralSize
	}
	a, b := x1, x2
	if it.head == filledHead {
		b -= dir * 7
	}
	if it.both {
		a += dir * 7
	}
	d.line(class, a, y, b, y)
	if it.reversed {
		p.arrow(it.head, x1, y, -dir)
	} else {
		p.arrow(it.head, x2, y, dir)
	}
	if it.both {
		p.arrow(it.head, x1, y, -dir)
	}
	p.numberAt(it, x1, y, dir)
	p.current += 10
	if it.creates {
		p.current += p.tall / 2
	}
	p.destroy(it, y)
}

// destroy ends the actor that ends with a message, at y.
func (p *placed) destroy(it *item, y float64) {
	i := it.destroys
	if i < 0 {
		return
	}
	for len(p.bars[i]) > 0 {
		p.close(i, y)
	}
	const r = 7.0
	p.out.path("bdy-d-line", false, p.x[i]-r, y-r, p.x[i]+r, y+r)
	p.out.path("bdy-d-line", false, p.x[i]-r, y+r, p.x[i]+r, y-r)
	p.dies[i] = y
	p.current += r
}

// selfMessage draws a loop at the actor's side with the label beside it.
func (p *placed) selfMessage(it *item, class string, lines []string) {
	d := &p.out
	h := float64(len(lines)) * lineHeight
	room := max(h, loopHeight)
	top := p.current + (room-loopHeight)/2
	x1 := p.edge(it.from, 1)
	if it.activate {
		p.open(it.to, top+loopHeight/2)
	}
	x2 := p.edge(it.to, 1)
	side := max(x1, x2) + loopWidth - 8
	tip := x2
	if it.head == filledHead {
		tip += 7
	}
	d.path(class, false, x1, top, side, top, side, top+loopHeight, tip, top+loopHeight)
	if it.reversed {
		p.arrow(it.head, x1, top, -1)
	} else {
		p.arrow(it.head, x2, top+loopHeight, -1)
	}
	for i, at := range [...]float64{top, top + loopHeight} {
		if it.central[i] {
			p.central([...]float64{x1, x2}[i], at)
		}
	}
	d.text("bdy-d-label", side+8, p.current+room/2-h/2+lineHeight/2, lines)
	p.numberAt(it, x1, top, 1)
	defer p.destroy(it, top+loopHeight)
	if it.deactivate {
		p.close(it.from, top+loopHeight)
	}
	p.current += room + 12
}

// arrow draws the head of an arrow that points in direction dir.
func (p *placed) arrow(head headKind, x, y, dir float64) {
	d := &p.out
	switch head {
	case filledHead:
		d.path("bdy-d-head", true, x, y, x-dir*9, y-4.5, x-dir*9, y+4.5)
	case openHead:
		d.path("bdy-d-line", false, x-dir*9, y-5, x, y, x-dir*9, y+5)
	case crossHead:
		d.path("bdy-d-line", false, x-dir*12, y-5, x-dir*2, y+5)
		d.path("bdy-d-line", false, x-dir*12, y+5, x-dir*2, y-5)
	case upperHead:
		d.path("bdy-d-head", true, x, y, x-dir*9, y-5, x-dir*9, y)
	case lowerHead:
		d.path("bdy-d-head", true, x, y, x-dir*9, y+5, x-dir*9, y)
	case upperStroke:
		d.path("bdy-d-line", false, x-dir*9, y-6, x, y)
	case lowerStroke:
		d.path("bdy-d-line", false, x-dir*9, y+6, x, y)
	}
}

// centralSize is the radius of a circle on a participant's line.
const centralSize = 4.5

// central draws a circle that a message begins or ends at.
func (p *placed) central(x, y float64) {
	d := &p.out
	d.raw(`<circle class="bdy-d-node"`)
	d.attr("cx", x)
	d.attr("cy", y)
	d.attr("r", centralSize)
	d.raw("/>")
}

// numberAt draws a message's number at its beginning, behind what else is there.
func (p *placed) numberAt(it *item, x, y, dir float64) {
	if it.number == "" {
		return
	}
	d := &p.out
	w := max(p.width(it.number, strongWeight)*0.85+6, 16)
	if it.reversed || it.central[0] {
		x += dir * (10 + w/2)
	}
	d.rect("bdy-d-number", x-w/2, y-8, w, 16, 8)
	d.text("bdy-d-count bdy-d-mid", x, y, []string{it.number})
}

func (p *placed) note(it *item) {
	lines := p.noteLines(it)
	x, w := p.notePlace(it)
	h := float64(len(lines))*lineHeight + 2*notePadY
	p.current += 6
	d := &p.out
	d.rect("bdy-d-note", x, p.current, w, h, 2)
	d.text("bdy-d-said bdy-d-mid", x+w/2, p.current+notePadY+lineHeight/2, lines)
	p.current += h + 8
}

// frame draws a frame around its parts.
func (p *placed) frame(it *item) {
	left, right := p.frameExtent(it)
	p.current += 8
	top := p.current
	// The frame lies under what it holds; its height is known at the end.
	inner := p.out
	p.out = drawing{}
	type divider struct{ y float64 }
	var dividers []divider
	var labels drawing
	for i := range it.parts {
		pt := &it.parts[i]
		tab := p.partTab(pt)
		if i > 0 {
			p.current += 4
			dividers = append(dividers, divider{p.current})
		}
		lines := p.wrap(pt.label, p.partLimit(pt, right-left), plainWeight)
		if pt.label == "" {
			lines = nil
		}
		height := frameTab
		switch {
		case it.word == "rect":
			height = 4
		case i == 0:
			labels.path("bdy-d-tab", true, left, p.current, left+tab, p.current, left+tab, p.current+frameTab-7, left+tab-7, p.current+frameTab, left, p.current+frameTab)
			labels.text("bdy-d-strong", left+8, p.current+frameTab/2, []string{pt.word})
		case len(lines) == 0 && pt.word != "else":
			lines = []string{pt.word}
		case len(lines) == 0:
			height = 6
		}
		labels.text("bdy-d-guard", left+tab+9, p.current+frameTab/2, lines)
		p.current += max(height, float64(len(lines))*lineHeight+5)
		p.walk(pt.items)
	}
	p.current += 8
	content := p.out
	p.out = inner
	d := &p.out
	class := "bdy-d-frame"
	if it.word == "rect" {
		class = "bdy-d-area"
	}
	d.rect(class, left, top, right-left, p.current-top, 3)
	if it.color != "" {
		// The author's colour, thin enough for texts of both modes.
		d.raw(`<rect class="bdy-d-tint" fill="` + it.color + `"`)
		d.attr("x", left)
		d.attr("y", top)
		d.attr("width", right-left)
		d.attr("height", p.current-top)
		d.attr("rx", 3)
		d.raw("/>")
	}
	for _, v := range dividers {
		d.line("bdy-d-divider", left, v.y, right, v.y)
	}
	d.b = append(d.b, labels.b...)
	d.b = append(d.b, content.b...)
	p.current += 8
}
