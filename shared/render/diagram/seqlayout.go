package diagram

import "math"

// Distances of a sequence diagram, in pixels.
const (
	seqMargin   = 10.0
	headPad     = 14.0  // within a participant's box, at the sides
	headHeight  = 38.0  // of a participant's box of one line
	columnGap   = 24.0  // between boxes
	columnMin   = 110.0 // between the middles of two participants
	labelLimit  = 270.0 // messages and notes are broken at it
	activeWidth = 10.0
	activeShift = 4.0 // of an active bar over another
	loopWidth   = 34.0
	loopHeight  = 22.0
	notePadX    = 10.0
	notePadY    = 7.0
	framePad    = 12.0
	frameTab    = 22.0
	mirrorFrom  = 460.0 // taller drawings name the participants below too
)

// placed is a sequence diagram with places.
type placed struct {
	*sequence
	x       []float64 // middles
	widths  []float64 // of the boxes
	heads   [][]string
	left    float64
	right   float64
	out     drawing
	bars    [][]bar // that are open, by actor
	done    []bar
	tall    float64   // the height of all names
	born    []float64 // where lines of actors begin and end, 0 for those of all
	dies    []float64
	current float64 // how far down it is
}

// bar is a time in which an actor is active.
type bar struct {
	actor, depth int
	from, to     float64
}

// columns finds the middles: every box, label and note gets its room.
func (p *placed) columns() {
	n := len(p.actors)
	p.x, p.widths, p.heads = make([]float64, n), make([]float64, n), make([][]string, n)
	p.bars, p.born, p.dies = make([][]bar, n), make([]float64, n), make([]float64, n)
	// need[i][j]: how far apart i and j must be, at least; i < j.
	need := make([][]float64, n)
	for i, a := range p.actors {
		need[i] = make([]float64, n)
		p.heads[i] = p.wrap(a.label, 170, strongWeight)
		p.widths[i] = max(p.widestOf(p.heads[i], strongWeight)+2*headPad, 64)
		if i > 0 {
			need[i-1][i] = max(columnMin, (p.widths[i-1]+p.widths[i])/2+columnGap)
			if a.group != p.actors[i-1].group {
				need[i-1][i] = max(need[i-1][i], (p.widths[i-1]+p.widths[i])/2+2*columnGap)
			}
		}
	}
	ask := func(i, j int, w float64) {
		if i >= 0 && j < n && i < j {
			need[i][j] = max(need[i][j], w)
		}
	}
	var walk func(items []item)
	walk = func(items []item) {
		for k := range items {
			it := &items[k]
			w := p.widestOf(p.wrap(it.text, labelLimit, plainWeight), plainWeight)
			switch it.kind {
			case message:
				if it.number != "" {
					w += 22
				}
				if it.creates {
					w += p.widths[it.to] / 2
				}
				if it.from == it.to {
					ask(it.from, it.from+1, loopWidth+w+24)
				} else {
					ask(min(it.from, it.to), max(it.from, it.to), w+34)
				}
			case note:
				w += 2 * notePadX
				switch {
				case it.place == leftOf:
					ask(it.from-1, it.from, w+24)
				case it.place == rightOf:
					ask(it.to, it.to+1, w+24)
				case it.from == it.to:
					ask(it.from-1, it.from, w/2+14)
					ask(it.from, it.from+1, w/2+14)
				}
			}
			for i := range it.parts {
				walk(it.parts[i].items)
			}
		}
	}
	walk(p.items)
	for j := range n {
		for i := range j {
			p.x[j] = max(p.x[j], p.x[i]+need[i][j])
		}
		p.x[j] = math.Ceil(p.x[j])
	}
}

// extent is how far to the left and right items reach.
func (p *placed) extent(items []item) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	reach := func(a, b float64) { left, right = min(left, a), max(right, b) }
	for k := range items {
		it := &items[k]
		switch it.kind {
		case message:
			w := p.widestOf(p.wrap(it.text, labelLimit, plainWeight), plainWeight)
			if it.from == it.to {
				reach(p.x[it.from]-14, p.x[it.from]+loopWidth+w+16)
			} else {
				reach(min(p.x[it.from], p.x[it.to])-14, max(p.x[it.from], p.x[it.to])+14)
			}
		case note:
			x, w := p.notePlace(it)
			reach(x, x+w)
		case frame:
			l, r := p.frameExtent(it)
			reach(l, r)
		}
	}
	return left, right
}

// frameExtent is where a frame's sides are.
func (p *placed) frameExtent(it *item) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for i := range it.parts {
		l, r := p.extent(it.parts[i].items)
		left, right = min(left, l), max(right, r)
	}
	if left > right {
		left, right = p.x[0]-14, p.x[len(p.x)-1]+14
	}
	left, right = left-framePad, right+framePad
	// Labels are broken at the frame's width, but no narrower than this.
	for i := range it.parts {
		lines := p.wrap(it.parts[i].label, p.partLimit(&it.parts[i], right-left), plainWeight)
		right = max(right, left+p.widestOf(lines, plainWeight)+p.partTab(&it.parts[i])+18)
	}
	return left, right
}

// partTab is the width of the word at a part's corner.
func (p *placed) partTab(pt *part) float64 {
	if pt.word == "else" || pt.word == "and" || pt.word == "option" {
		return 0
	}
	return p.width(pt.word, strongWeight) + 18
}

// partLimit is the width at which the label of a part is broken.
func (p *placed) partLimit(pt *part, frame float64) float64 {
	return max(frame-p.partTab(pt)-18, 140)
}

// notePlace is a note's left side and its width.
func (p *placed) notePlace(it *item) (x, w float64) {
	limit := labelLimit
	span := p.x[it.to] - p.x[it.from]
	if it.place == over && span > 0 {
		limit = max(limit, span+20)
	}
	w = p.widestOf(p.wrap(it.text, limit, plainWeight), plainWeight) + 2*notePadX
	switch {
	case it.place == leftOf:
		return p.x[it.from] - 12 - w, w
	case it.place == rightOf:
		return p.x[it.to] + 12, w
	case span > 0:
		w = max(w, span+40)
		return (p.x[it.from]+p.x[it.to])/2 - w/2, w
	}
	w = max(w, 60)
	return p.x[it.from] - w/2, w
}

// noteLines are the lines of a note as notePlace counts them.
func (p *placed) noteLines(it *item) []string {
	limit := labelLimit
	if span := p.x[it.to] - p.x[it.from]; it.place == over && span > 0 {
		limit = max(limit, span+20)
	}
	return p.wrap(it.text, limit, plainWeight)
}
