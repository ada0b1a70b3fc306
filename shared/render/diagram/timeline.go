package diagram

import (
	"errors"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits and sizes of a timeline.
const (
	maxPeriods = 100
	maxEvents  = 300

	periodWide  = 150.0
	periodGap   = 12.0
	periodPad   = 9.0
	periodTail  = 22.0 // of the line between a period and what happens in it
	periodTitle = 30.0 // the height of a section's title of one line
)

// period is a time, and what happens in it.
type period struct {
	label   label
	events  []label
	section int // -1 for none
}

type timeline struct {
	*source
	face
	down     bool
	sections []label
	periods  []period
}

var (
	eventSign    = lazy.Regexp(`\s*:(?:\s+|$)`)
	sectionWord  = lazy.Regexp(`^(?i:section)\s+(.+)$`)
	timelineWord = lazy.Regexp(`^(?i:title)\s+(.+)$`)
)

func timelineDiagram(src *source) (*Diagram, error) {
	t := &timeline{source: src, face: src.face, down: strings.HasSuffix(src.header, "TD")}
	events := 0
	for _, line := range src.lines {
		line = unended(line)
		if m := timelineWord().FindStringSubmatch(line); m != nil {
			src.title = spoken(m[1])
			continue
		}
		if m := sectionWord().FindStringSubmatch(line); m != nil {
			t.sections = append(t.sections, t.readLabel(strings.TrimSuffix(m[1], ":"), textSize, 2*periodWide, true))
			continue
		}
		parts := eventSign().Split(line, -1)
		if parts[0] != "" {
			t.periods = append(t.periods, period{label: t.readLabel(parts[0], textSize, periodWide-2*periodPad, false), section: len(t.sections) - 1})
		} else if len(t.periods) == 0 {
			return nil, errUnread{line}
		}
		p := &t.periods[len(t.periods)-1]
		for _, event := range parts[1:] {
			if event != "" {
				events++
				p.events = append(p.events, t.readLabel(event, linkSize, periodWide-2*periodPad, false))
			}
		}
		if len(t.periods) > maxPeriods || events > maxEvents {
			return nil, errLarge{"more than " + strconv.Itoa(maxPeriods) + " periods or " + strconv.Itoa(maxEvents) + " events"}
		}
	}
	if len(t.periods) == 0 {
		return nil, errors.New("there is nothing in it")
	}
	d := &Diagram{Lines: t.lines()}
	if t.down {
		d.fill(t.drawDown())
	} else {
		d.fill(t.draw())
	}
	return d, nil
}

// lines says the timeline in words: sections, periods, events.
func (t *timeline) lines() []Line {
	var out []Line
	section := -1
	for i := range t.periods {
		p := &t.periods[i]
		for ; section < p.section; section++ {
			out = append(out, Line{0, t.sections[section+1].String()})
		}
		depth := 0
		if p.section >= 0 {
			depth = 1
		}
		out = append(out, Line{depth, p.label.String()})
		for j := range p.events {
			out = append(out, Line{depth + 1, p.events[j].String()})
		}
	}
	for ; section+1 < len(t.sections); section++ {
		out = append(out, Line{0, t.sections[section+1].String()})
	}
	return out
}

// hue is the colour of a period: its section's, or its own where there are none.
func (t *timeline) hue(i int) string {
	h := t.periods[i].section
	if len(t.sections) == 0 {
		h = i
	}
	return "bdy-d-hue-" + strconv.Itoa(max(h, 0)%pieHues)
}

// box draws a box with a text in its middle.
func (d *drawing) box(class, word string, l *label, x, y, w, h float64) {
	d.rect(class, x, y, w, h, 5)
	d.label(l, x+w/2, y+h/2, 0, word, "")
}

// draw returns the SVG of a timeline from left to right, and its size.
func (t *timeline) draw() (svg []byte, width, height float64) {
	titles, tall := 0.0, 0.0
	for i := range t.periods {
		tall = max(tall, t.periods[i].label.height+2*periodPad)
	}
	// A section's title is as wide as its periods; one without any has a column.
	columns := make([]int, len(t.sections))
	for i := range t.periods {
		if s := t.periods[i].section; s >= 0 {
			columns[s]++
		}
	}
	wide := func(n int) float64 { return float64(float64(max(n, 1))*(periodWide+periodGap)) - periodGap }
	for s := range t.sections {
		t.sections[s] = t.readLabel(t.sections[s].String(), textSize, wide(columns[s])-2*periodPad, true)
		titles = max(titles, t.sections[s].height+2*periodPad)
	}
	var d drawing
	x, section := seqMargin, -1
	y := seqMargin
	if titles > 0 {
		y += titles + periodGap
	}
	height = y + tall
	openSection := func() {
		section++
		w := wide(columns[section])
		d.box("bdy-d-hue-"+strconv.Itoa(section%pieHues), "bdy-d-share", &t.sections[section], x, seqMargin, w, titles)
		if columns[section] == 0 {
			x += w + periodGap
		}
	}
	for i := range t.periods {
		p := &t.periods[i]
		for section < p.section {
			openSection()
		}
		class, word := t.hue(i)+" bdy-d-tone", "bdy-d-word"
		if len(t.sections) == 0 {
			class, word = t.hue(i), "bdy-d-share"
		}
		d.box(class, word, &p.label, x, y, periodWide, tall)
		at := y + tall
		for j := range p.events {
			h := p.events[j].height + 2*periodPad
			from := at
			if at += periodGap; j == 0 {
				at += periodTail - periodGap
			}
			d.line("bdy-d-line bdy-d-dashed", x+periodWide/2, from, x+periodWide/2, at)
			d.box("bdy-d-node", "bdy-d-member", &p.events[j], x, at, periodWide, h)
			at += h
		}
		height = max(height, at)
		x += periodWide + periodGap
	}
	for section+1 < len(t.sections) {
		openSection()
	}
	return d.b, x - periodGap + seqMargin, height + seqMargin
}

// drawDown returns the SVG of a timeline from the top down, and its size: events stand
// beside their period.
func (t *timeline) drawDown() (svg []byte, width, height float64) {
	const eventWide = 2 * periodWide
	var d drawing
	y, section := seqMargin, -1
	openSection := func() {
		section++
		l := t.readLabel(t.sections[section].String(), textSize, periodWide+periodTail+eventWide-2*periodPad, true)
		h := max(l.height+2*periodPad, periodTitle)
		d.box("bdy-d-hue-"+strconv.Itoa(section%pieHues), "bdy-d-share", &l, seqMargin, y, periodWide+periodTail+eventWide, h)
		y += h + periodGap
	}
	for i := range t.periods {
		p := &t.periods[i]
		for section < p.section {
			openSection()
		}
		events := -periodGap
		for j := range p.events {
			p.events[j] = t.readLabel(p.events[j].String(), linkSize, eventWide-2*periodPad, false)
			events += p.events[j].height + 2*periodPad + periodGap
		}
		h := p.label.height + 2*periodPad
		tall := max(h, events)
		class, word := t.hue(i)+" bdy-d-tone", "bdy-d-word"
		if len(t.sections) == 0 {
			class, word = t.hue(i), "bdy-d-share"
		}
		middle := y + tall/2
		at := y + (tall-events)/2
		for j := range p.events {
			h := p.events[j].height + 2*periodPad
			x := seqMargin + periodWide
			d.path("bdy-d-line bdy-d-dashed", false, x, middle, x+periodTail/2, middle, x+periodTail/2, at+h/2, x+periodTail, at+h/2)
			d.box("bdy-d-node", "bdy-d-member", &p.events[j], x+periodTail, at, eventWide, h)
			at += h + periodGap
		}
		d.box(class, word, &p.label, seqMargin, middle-h/2, periodWide, h)
		y += tall + periodGap
	}
	for section+1 < len(t.sections) {
		openSection()
	}
	return d.b, periodWide + periodTail + eventWide + 2*seqMargin, y - periodGap + seqMargin
}
