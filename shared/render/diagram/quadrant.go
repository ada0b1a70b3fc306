package diagram

import (
	"errors"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Limits and sizes of a quadrant chart.
const (
	maxPoints = 200

	quadrantSize = 440.0
	pointSize    = 5.0
)

// quadrantPoint is a point, at x and y between 0 and 1.
type quadrantPoint struct {
	label  label
	x, y   float64
	look   look
	radius float64
}

type quadrant struct {
	*source
	face
	names  [4]label  // from the right upper one against the clock
	x, y   [2]string // what is low, what is high
	points []quadrantPoint
}

var (
	quadrantWord  = lazy.Regexp(`^(?i:(title|x-axis|y-axis|quadrant-[1-4]|classDef))\s+(.+)$`)
	quadrantSpot  = lazy.Regexp(`^("[^"]*"|[^:\[]+?)(?::::([\w-]+))?\s*:\s*\[\s*(\d*\.?\d+)\s*,\s*(\d*\.?\d+)\s*\]\s*(.*)$`)
	quadrantClass = lazy.Regexp(`^([\w-]+)\s+(.+)$`)
)

func quadrantDiagram(src *source) (*Diagram, error) {
	q := &quadrant{source: src, face: src.face}
	classes := map[string]quadrantPoint{}
	named := make(map[int]string)
	for _, line := range src.lines {
		line = unended(line)
		if m := quadrantWord().FindStringSubmatch(line); m != nil && !quadrantSpot().MatchString(line) {
			rest := strings.TrimSpace(m[2])
			switch word := strings.ToLower(m[1]); word {
			case "title":
				src.title = spoken(unquoted(rest))
			case "x-axis", "y-axis":
				low, high, _ := strings.Cut(rest, "-->")
				ends := [2]string{plain(low), plain(high)}
				if word == "x-axis" {
					q.x = ends
				} else {
					q.y = ends
				}
			case "classdef":
				if m := quadrantClass().FindStringSubmatch(rest); m != nil {
					p := quadrantPoint{radius: pointSize}
					p.style(m[2])
					classes[m[1]] = p
				}
			default:
				q.names[word[len(word)-1]-'1'] = q.readLabel(rest, textSize, quadrantSize/2-24, true)
			}
			continue
		}
		m := quadrantSpot().FindStringSubmatch(line)
		if m == nil {
			return nil, errUnread{line}
		}
		x, err1 := strconv.ParseFloat(m[3], 64)
		y, err2 := strconv.ParseFloat(m[4], 64)
		if err1 != nil || err2 != nil || x > 1 || y > 1 {
			return nil, errUnread{line}
		}
		if len(q.points) == maxPoints {
			return nil, errLarge{"more than " + strconv.Itoa(maxPoints) + " points"}
		}
		p := quadrantPoint{label: q.readLabel(m[1], linkSize, linkLimit, false), x: x, y: y, radius: pointSize}
		named[len(q.points)] = m[2]
		p.style(m[5])
		q.points = append(q.points, p)
	}
	empty := len(q.points) == 0
	for i := range q.names {
		empty = empty && q.names[i].empty()
	}
	if empty {
		return nil, errors.New("there is nothing in it")
	}
	for i := range q.points {
		if class, ok := classes[named[i]]; ok {
			p := &q.points[i]
			p.look = class.look.over(p.look)
			if p.radius == pointSize {
				p.radius = class.radius
			}
		}
	}
	d := &Diagram{Lines: q.lines()}
	d.fill(q.draw())
	return d, nil
}

// style reads "radius: 12, color: #ff3300, stroke-color: #000".
func (p *quadrantPoint) style(list string) {
	for part := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(part, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch name {
		case "radius":
			if r, err := strconv.ParseFloat(value, 64); err == nil {
				p.radius = max(2, min(r, 40))
			}
		case "color":
			if ownColor().MatchString(value) {
				p.look.fill = value
			}
		case "stroke-color":
			if ownColor().MatchString(value) {
				p.look.stroke = value
			}
		}
	}
}

// lines says the chart in words: axes, quadrants, and in them points with their
// places.
func (q *quadrant) lines() []Line {
	var out []Line
	for i, axis := range [][2]string{q.x, q.y} {
		if axis[0]+axis[1] != "" {
			out = append(out, Line{0, strings.TrimSuffix([...]string{"x: ", "y: "}[i]+flat(axis[0])+" → "+flat(axis[1]), " → ")})
		}
	}
	for k := range q.names {
		depth := 0
		if s := q.names[k].String(); s != "" {
			out = append(out, Line{0, s})
			depth = 1
		}
		for i := range q.points {
			p := &q.points[i]
			if q.of(p) == k {
				out = append(out, Line{depth, p.label.String() + ": " + strconv.FormatFloat(p.x, 'f', -1, 64) + ", " + strconv.FormatFloat(p.y, 'f', -1, 64)})
			}
		}
	}
	return out
}

// of is the quadrant that a point lies in.
func (q *quadrant) of(p *quadrantPoint) int {
	switch {
	case p.x >= 0.5 && p.y >= 0.5:
		return 0
	case p.y >= 0.5:
		return 1
	case p.x < 0.5:
		return 2
	}
	return 3
}

// draw returns the chart's SVG, and its size.
func (q *quadrant) draw() (svg []byte, width, height float64) {
	const half = quadrantSize / 2
	left, top := seqMargin, seqMargin
	if q.y[0]+q.y[1] != "" {
		left += 24
	}
	var d drawing
	for k := range q.names {
		x, y := left, top
		if k == 0 || k == 3 {
			x += half
		}
		if k >= 2 {
			y += half
		}
		class := "bdy-d-field"
		if k%2 == 0 {
			class = "bdy-d-field bdy-d-odd"
		}
		d.rect(class, x, y, half, half, 0)
		at := y + half/2
		if len(q.points) > 0 {
			at = y + 12 + q.names[k].height/2
		}
		d.label(&q.names[k], x+half/2, at, 0, "bdy-d-strong", "")
	}
	height = top + quadrantSize + seqMargin
	width = left + quadrantSize + seqMargin
	for i, text := range q.x {
		if text == "" {
			continue
		}
		x, limit := left+half/2+float64(float64(i)*half), half-12
		if q.x[1] == "" {
			x, limit = left+half, quadrantSize
		}
		lines := q.wrap(text, limit, plainWeight)
		d.text("bdy-d-name bdy-d-mid", x, top+quadrantSize+14, lines)
		height = max(height, top+quadrantSize+14+float64(float64(len(lines))*lineHeight))
	}
	for i, text := range q.y {
		if text == "" {
			continue
		}
		y := top + half + half/2 - float64(float64(i)*half)
		if q.y[1] == "" {
			y = top + half
		}
		d.turned("bdy-d-name bdy-d-mid", seqMargin+8, y, flat(text))
	}
	// Names stand where nothing else is, if there is such a place.
	var taken []layout.Box
	at := func(p *quadrantPoint) (x, y float64) {
		return left + float64(p.x*quadrantSize), top + float64((1-p.y)*quadrantSize)
	}
	for k := range q.names {
		x, y := left+half/2, top+12
		if k == 0 || k == 3 {
			x += half
		}
		if k >= 2 {
			y += half
		}
		l := &q.names[k]
		taken = append(taken, layout.Box{X: x - l.width/2, Y: y, Width: l.width, Height: l.height})
	}
	for i := range q.points {
		p := &q.points[i]
		x, y := at(p)
		taken = append(taken, layout.Box{X: x - p.radius, Y: y - p.radius, Width: 2 * p.radius, Height: 2 * p.radius})
	}
	for i := range q.points {
		p := &q.points[i]
		x, y := at(p)
		w, h := p.label.width, p.label.height
		places := [...]layout.Box{
			{X: x + p.radius + 4, Y: y - h/2, Width: w, Height: h}, {X: x - w/2, Y: y + p.radius + 2, Width: w, Height: h},
			{X: x - w/2, Y: y - p.radius - 2 - h, Width: w, Height: h}, {X: x - p.radius - 4 - w, Y: y - h/2, Width: w, Height: h},
		}
		best := places[1]
		for _, b := range places {
			if b.X >= left && b.X+b.Width <= left+quadrantSize && b.Y >= top && b.Y+b.Height <= top+quadrantSize && free(b, taken) {
				best = b
				break
			}
		}
		taken = append(taken, best)
		d.raw("<circle")
		d.paint(p.look, "bdy-d-spot", "")
		d.attr("cx", x)
		d.attr("cy", y)
		d.attr("r", p.radius)
		d.raw("/>")
		d.label(&p.label, best.X+w/2, best.Y+h/2, 0, "bdy-d-member", "")
		width = max(width, best.X+w+seqMargin)
	}
	return d.b, width, height
}

// free reports whether a box lies on no other.
func free(b layout.Box, taken []layout.Box) bool {
	for _, t := range taken {
		if b.X < t.X+t.Width && t.X < b.X+b.Width && b.Y < t.Y+t.Height && t.Y < b.Y+b.Height {
			return false
		}
	}
	return true
}

// turned draws lines of text that lead upwards, around a middle.
func (d *drawing) turned(class string, x, y float64, lines ...string) {
	d.raw(`<g transform="translate(`)
	d.num(x)
	d.raw(" ")
	d.num(y)
	d.raw(`) rotate(-90)">`)
	d.text(class, 0, -float64(float64(len(lines)-1)*lineHeight/2), lines)
	d.raw("</g>")
}
