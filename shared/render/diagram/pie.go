package diagram

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Sizes of a pie chart, in pixels.
const (
	pieRadius = 100.0
	pieMargin = 8.0
	// legendGap is between the circle and the legend, legendText between a
	// row's beginning and its words, legendRow between two rows.
	legendGap  = 26.0
	legendText = 22.0
	legendRow  = 24.0
	// legendLimit is the width at which a name is broken.
	legendLimit = 240.0
	swatch      = 13.0
)

const (
	// maxSlices is more than a circle can show.
	maxSlices = 60
	// pieHues is how many colours there are before they come again: the classes
	// d-hue-0 and so on of diagram.css.
	pieHues = 10
	// pieColors is how many colours of slices an author's theme has.
	pieColors = 12
	// namedFrom is the share from which a slice has room for its percentage.
	namedFrom = 0.045
)

// slice is one part of a pie chart.
type slice struct {
	label string
	value float64
	share float64 // of the whole, 0 to 1
}

type pie struct {
	face
	settings
	title    string
	showData bool // the values stand after the names
	hole     float64
	slices   []slice
}

var (
	pieHeader = lazy.Regexp(`^(?i:pie)(?: +(showData)\b)?(?: +(.*))?$`)
	pieTitle  = lazy.Regexp(`^title(?:[ \t]+(.*))?$`)
	pieSlice  = lazy.Regexp(`^("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')[ \t]*:[ \t]*(-?\d+(?:\.\d+)?)[ \t]*(?:%%.*)?$`)
)

func pieDiagram(src *source) (*Diagram, error) {
	p, err := parsePie(src)
	if err != nil {
		return nil, err
	}
	if p.title != "" {
		src.title = p.title
	}
	d := &Diagram{Lines: p.lines()}
	d.fill(p.draw())
	return d, nil
}

// parsePie reads a pie chart by the rules of Mermaid: slices in the order of
// their names' first place, whose values are none below zero.
func parsePie(src *source) (*pie, error) {
	p := &pie{face: src.face, settings: src.settings}
	if h := src.number("donutHole", 0, 1, 0); h <= 0.9 { // else Mermaid draws none either
		p.hole = h
	}
	lines := src.lines
	if m := pieHeader().FindStringSubmatch(src.header); m != nil {
		p.showData = m[1] != ""
		if m[2] != "" {
			lines = append([]string{m[2]}, lines...)
		}
	}
	sum := 0.0
	seen := map[string]bool{}
	for i, line := range lines {
		if i == 0 && line == "showData" {
			p.showData = true
			continue
		}
		if m := pieTitle().FindStringSubmatch(line); m != nil {
			p.title = spoken(m[1])
			continue
		}
		m := pieSlice().FindStringSubmatch(line)
		if m == nil {
			return nil, errUnread{line}
		}
		value, err := strconv.ParseFloat(m[2], 64)
		if err != nil || value < 0 {
			return nil, errUnread{line}
		}
		label := plain(m[1][1 : len(m[1])-1])
		if seen[label] {
			continue
		}
		if len(p.slices) == maxSlices {
			return nil, errLarge{"more than " + strconv.Itoa(maxSlices) + " slices"}
		}
		seen[label] = true
		sum += value
		p.slices = append(p.slices, slice{label: label, value: value})
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, errors.New("there is nothing in it")
	}
	for i := range p.slices {
		p.slices[i].share = p.slices[i].value / sum
	}
	return p, nil
}

// percent is a share as readers see it.
func percent(share float64) string {
	if n := math.Round(share * 100); n > 0 || share == 0 {
		return strconv.FormatFloat(n, 'f', 0, 64) + "%"
	}
	return "<1%"
}

func (s *slice) number() string { return strconv.FormatFloat(s.value, 'f', -1, 64) }

// lines says the chart in words.
func (p *pie) lines() []Line {
	var out []Line
	for i := range p.slices {
		s := &p.slices[i]
		text := s.label + ": " + percent(s.share)
		if p.showData {
			text = s.label + ": " + s.number() + " (" + percent(s.share) + ")"
		}
		out = append(out, Line{Text: strings.Join(strings.Fields(text), " ")})
	}
	return out
}

// hue is the colour of slice i. Where colours come again, the last slice does
// not get that of the first, which is beside it.
func (p *pie) hue(i int) string {
	n := len(p.slices)
	h := i % pieHues
	if i > 0 && i == n-1 && h == 0 {
		h = pieHues / 2
	}
	return "bdy-d-hue-" + strconv.Itoa(h)
}

// fill is the author's colour of slice i, "" for none.
func (p *pie) fill(i int) string { return p.color("pie" + strconv.Itoa(i%pieColors+1)) }

// draw returns the chart's SVG, and its size. Slices follow each other clockwise
// from the top. Each row of the legend has its share too: colours alone would
// say nothing to some readers.
func (p *pie) draw() (svg []byte, width, height float64) {
	names := make([][]string, len(p.slices))
	nameWidth, shareWidth, rows := 0.0, 0.0, 0.0
	shares := make([]string, len(p.slices))
	for i := range p.slices {
		s := &p.slices[i]
		names[i] = slices.DeleteFunc(p.wrap(s.label, legendLimit, plainWeight), func(l string) bool { return l == "" })
		shares[i] = percent(s.share)
		if p.showData {
			shares[i] = s.number() + " (" + shares[i] + ")"
		}
		nameWidth = max(nameWidth, p.widestOf(names[i], plainWeight))
		shareWidth = max(shareWidth, p.width(shares[i], plainWeight))
		rows += legendRow + float64(max(len(names[i])-1, 0))*lineHeight
	}
	height = max(2*pieRadius, rows) + 2*pieMargin
	cx, cy := pieMargin+pieRadius, height/2
	var d drawing
	from := 0.0
	for i := range p.slices {
		s := &p.slices[i]
		if s.share > 0 {
			d.raw("<path")
			d.paint(look{fill: p.fill(i)}, p.hue(i), "bdy-d-slice")
			p.slice(&d, cx, cy, from, from+s.share)
		}
		from += s.share
	}
	from = 0.0
	middle := pieRadius * 0.68
	if p.hole > 0 {
		middle = pieRadius * (1 + p.hole) / 2
	}
	for i := range p.slices {
		s := &p.slices[i]
		if s.share >= namedFrom {
			x, y := around(cx, cy, middle, from+s.share/2)
			if s.share > 0.999 && p.hole == 0 {
				x, y = cx, cy
			}
			l := label{face: p.face, size: textSize, lines: [][]run{{{text: percent(s.share)}}}}
			d.label(&l, x, y, 0, "bdy-d-share", look{fill: p.fill(i)}.ink())
		}
		from += s.share
	}
	left := cx + pieRadius + legendGap
	width = left + legendText + nameWidth + 14 + shareWidth + pieMargin
	y := cy - rows/2 + legendRow/2
	for i := range p.slices {
		d.raw("<rect")
		d.paint(look{fill: p.fill(i)}, p.hue(i), "")
		d.attr("x", left)
		d.attr("y", y-swatch/2)
		d.attr("width", swatch)
		d.attr("height", swatch)
		d.raw(` rx="3"/>`)
		d.text("bdy-d-name", left+legendText, y, names[i])
		d.text("bdy-d-value bdy-d-end", width-pieMargin, y, []string{shares[i]})
		y += legendRow + float64(max(len(names[i])-1, 0))*lineHeight
	}
	return d.b, width, height
}

// slice draws one slice between two parts of a turn; a whole turn is drawn as
// two halves, since an arc can't end where it begins.
func (p *pie) slice(d *drawing, cx, cy, from, to float64) {
	stops := []float64{from, to}
	whole := to-from > 0.999
	if whole {
		stops = []float64{from, from + 0.5, from + 1}
	}
	inner := pieRadius * p.hole
	d.raw(` d="M`)
	d.point(around(cx, cy, pieRadius, from))
	for i, stop := range stops[1:] {
		d.arc(pieRadius, stop-stops[i] > 0.5, true)
		d.point(around(cx, cy, pieRadius, stop))
	}
	switch {
	case inner > 0 && whole:
		d.raw("ZM")
		d.point(around(cx, cy, inner, to))
	case inner > 0:
		d.raw("L")
		d.point(around(cx, cy, inner, to))
	case !whole:
		d.raw("L")
		d.point(cx, cy)
	}
	if inner > 0 {
		for i := len(stops) - 2; i >= 0; i-- {
			d.arc(inner, stops[i+1]-stops[i] > 0.5, false)
			d.point(around(cx, cy, inner, stops[i]))
		}
	}
	d.raw(`Z"/>`)
}

// point adds a place in a path.
func (d *drawing) point(x, y float64) {
	d.num(x)
	d.raw(" ")
	d.num(y)
}

// arc begins an arc of a circle in a path: the longer way or the shorter one,
// clockwise or not.
func (d *drawing) arc(radius float64, long, clockwise bool) {
	d.raw("A")
	d.point(radius, radius)
	flag := func(b bool) {
		if b {
			d.raw("1 ")
		} else {
			d.raw("0 ")
		}
	}
	d.raw(" 0 ")
	flag(long)
	flag(clockwise)
}

// around is the place on a circle at a part of a turn, clockwise from the top.
// The conversions keep processors from joining two steps, which may round
// otherwise.
func around(cx, cy, radius, turn float64) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * turn)
	return cx + float64(radius*sin), cy - float64(radius*cos)
}
