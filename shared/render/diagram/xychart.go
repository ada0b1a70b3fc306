package diagram

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Limits and sizes of a chart with two axes.
const (
	maxSeries = 20
	maxValues = 300 // of a series

	chartWidth  = 560.0
	chartHeight = 320.0
	chartAxis   = 22.0 // the height of the words of an axis
	chartBars   = 0.7  // of a category's room
	nameLimit   = 150.0
)

type xySeries struct {
	name   string
	bar    bool
	values []float64
}

type xyChart struct {
	*source
	face
	lying        bool // values lead to the right
	xName, yName string
	names        []string // of the categories
	counted      bool     // and not the author's
	x, y         [2]float64
	xSet, ySet   bool
	series       []xySeries
}

var (
	xyWord   = lazy.Regexp(`^(?i:(title|x-axis|y-axis|bar|line))(?:\s+(.*)|(\[.*))$`)
	xyRange  = lazy.Regexp(`^(.*?)\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*-->\s*([+-]?(?:\d+\.?\d*|\.\d+))$`)
	xyList   = lazy.Regexp(`^(.*?)\s*\[([^\]]*)\]$`)
	xyNumber = lazy.Regexp(`^[+-]?(?:\d+\.?\d*|\.\d+)$`)
)

func xyDiagram(src *source) (*Diagram, error) {
	c := &xyChart{source: src, face: src.face}
	c.lying = strings.HasSuffix(strings.ToLower(src.header), "horizontal") || src.own("chartOrientation") == "horizontal"
	for _, line := range src.lines {
		for part := range splitQuoted(line, ';') {
			if part = strings.TrimSpace(part); part != "" && !c.line(part) {
				return nil, errUnread{line}
			}
		}
		if len(c.series) > maxSeries {
			return nil, errLarge{"more than " + strconv.Itoa(maxSeries) + " series"}
		}
	}
	if err := c.settle(); err != nil {
		return nil, err
	}
	d := &Diagram{Lines: c.lines()}
	d.fill(c.draw())
	return d, nil
}

// splitQuoted yields the parts between a sign that stands outside of quotes.
func splitQuoted(s string, sign byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '"':
				quoted = !quoted
			case s[i] == sign && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}

// line reads one line.
func (c *xyChart) line(line string) bool {
	m := xyWord().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	rest := strings.TrimSpace(m[2] + m[3])
	switch word := strings.ToLower(m[1]); word {
	case "title":
		c.title = plain(rest)
	case "x-axis", "y-axis":
		name, low, high, ranged := rest, 0.0, 0.0, false
		if m := xyRange().FindStringSubmatch(rest); m != nil {
			low, _ = strconv.ParseFloat(m[2], 64)
			high, _ = strconv.ParseFloat(m[3], 64)
			if name, ranged = m[1], low != high; !ranged || math.IsInf(low, 0) || math.IsInf(high, 0) {
				return false
			}
		}
		if word == "y-axis" {
			c.yName, c.ySet, c.y = plain(name), ranged, [2]float64{low, high}
			return true
		}
		c.xSet, c.x = ranged, [2]float64{low, high}
		if m := xyList().FindStringSubmatch(name); m != nil && !ranged {
			name = m[1]
			for part := range splitQuoted(m[2], ',') {
				if part = strings.TrimSpace(part); part == "" || len(c.names) > maxValues {
					return false
				}
				c.names = append(c.names, flat(plain(part)))
			}
		}
		c.xName = plain(name)
	default:
		m := xyList().FindStringSubmatch(rest)
		if m == nil {
			return false
		}
		s := xySeries{name: flat(plain(m[1])), bar: word == "bar"}
		for part := range strings.SplitSeq(m[2], ",") {
			part = strings.TrimSpace(part)
			v, err := strconv.ParseFloat(part, 64)
			if err != nil || !xyNumber().MatchString(part) || len(s.values) > maxValues {
				return false
			}
			s.values = append(s.values, v)
		}
		c.series = append(c.series, s)
	}
	return true
}

// settle finds the categories and what the values lie between.
func (c *xyChart) settle() error {
	most, bars := 0, false
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range c.series {
		n := len(s.values)
		if len(c.names) > 0 {
			n = min(n, len(c.names))
		}
		most, bars = max(most, n), bars || s.bar
		for _, v := range s.values[:n] {
			low, high = min(low, v), max(high, v)
		}
	}
	if most == 0 {
		return errors.New("there is nothing in it")
	}
	if len(c.names) == 0 {
		c.counted = true
		from, to := 1.0, float64(most)
		if c.xSet {
			from, to = c.x[0], c.x[1]
		}
		for i := range most {
			v := from
			if most > 1 {
				v += float64(to-from) * float64(i) / float64(most-1)
			}
			c.names = append(c.names, shortNumber(v))
		}
	}
	if !c.ySet {
		if bars { // which begin at nothing
			low, high = min(low, 0), max(high, 0)
		}
		if low == high {
			high = low + 1
		}
		step := niceStep(low, high)
		c.y = [2]float64{float64(math.Floor(low/step) * step), float64(math.Ceil(high/step) * step)}
	}
	return nil
}

// niceStep is a distance between at most nine lines of an axis.
func niceStep(low, high float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(math.Abs(high-low)/5)))
	for _, n := range []float64{1, 2, 5, 10} {
		if math.Abs(high-low)/(step*n) <= 8 {
			return step * n
		}
	}
	return step * 10
}

func shortNumber(v float64) string {
	if v = math.Round(v*1e6) / 1e6; v == 0 {
		v = 0 // no "-0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// lines says the chart in words: the axes, then each category with its values.
func (c *xyChart) lines() []Line {
	var out []Line
	for i, name := range []string{c.xName, c.yName} {
		if name != "" {
			out = append(out, Line{Text: [...]string{"x: ", "y: "}[i] + flat(name)})
		}
	}
	for i, name := range c.names {
		var values []string
		for _, s := range c.series {
			if i >= len(s.values) {
				continue
			}
			v := shortNumber(s.values[i])
			if s.name != "" {
				v = s.name + " " + v
			}
			values = append(values, v)
		}
		if len(values) > 0 {
			out = append(out, Line{Text: name + ": " + strings.Join(values, ", ")})
		}
	}
	return out
}

// draw returns the chart's SVG, and its size. All is placed along the axis of
// categories and that of values; where these lead to the right, the two change
// their places.
func (c *xyChart) draw() (svg []byte, width, height float64) {
	var d drawing
	step := niceStep(c.y[0], c.y[1])
	var marks []float64
	low, high := min(c.y[0], c.y[1]), max(c.y[0], c.y[1])
	for v := float64(math.Ceil(low/step) * step); v <= high+step/1e6 && len(marks) < 20; v += step {
		marks = append(marks, v)
	}
	numbers := 0.0
	for _, v := range marks {
		numbers = max(numbers, c.width(shortNumber(v), plainWeight))
	}
	names, broken := 0.0, make([][]string, len(c.names))
	for i, n := range c.names {
		broken[i] = c.wrap(n, nameLimit, plainWeight)
		names = max(names, c.widestOf(broken[i], plainWeight))
	}
	left, top := seqMargin, seqMargin
	xName, yName := c.xName, c.yName
	side := numbers
	if c.lying {
		xName, yName, side = yName, xName, names
	}
	if yName != "" {
		left += 22
	}
	left += side + 8
	named := false
	for _, s := range c.series {
		named = named || s.name != ""
	}
	if named {
		top += c.legend(&d, left)
	}
	wide, tall := chartWidth, chartHeight
	upright, fits := c.upright(wide / float64(len(c.names)))
	if !c.lying && !fits && !c.counted { // all names have room
		lines := 0
		for _, l := range broken {
			lines = max(lines, len(l))
		}
		wide = max(wide, float64(float64(len(c.names)*lines)*lineHeight))
	}
	along, across := wide, tall
	if c.lying {
		tall = max(tall, float64(float64(len(c.names))*24))
		along, across = tall, wide
	}
	slot := along / float64(len(c.names))
	// on is the place of a category's middle, moved by some pixels, and of a value.
	on := func(i int, by, value float64) (x, y float64) {
		a := float64(slot*(float64(i)+0.5)) + by
		b := float64((value - c.y[0]) / (c.y[1] - c.y[0]) * across)
		b = max(0, min(b, across))
		if c.lying {
			return left + b, top + a
		}
		return left + a, top + tall - b
	}
	for _, v := range marks {
		x, y := on(0, 0, v)
		if c.lying {
			d.line("bdy-d-s-soft", x, top, x, top+tall)
			d.text("bdy-d-on bdy-d-mid", x, top+tall+chartAxis/2, []string{shortNumber(v)})
		} else {
			d.line("bdy-d-s-soft", left, y, left+wide, y)
			d.text("bdy-d-on bdy-d-end", left-6, y, []string{shortNumber(v)})
		}
	}
	foot := chartAxis
	each := 1
	for slot*float64(each) < lineHeight {
		each++
	}
	for i := 0; i < len(c.names) && !c.lying; i++ {
		x, _ := on(i, 0, 0)
		if fits {
			d.text("bdy-d-on bdy-d-mid", x, top+tall+chartAxis/2, upright[i])
			foot = max(foot, chartAxis+float64(float64(len(upright[i])-1)*lineHeight))
		} else if foot = names + 10; i%each == 0 {
			d.turned("bdy-d-on bdy-d-end", x, top+tall+6, broken[i]...)
		}
	}
	for i, lines := range broken {
		if c.lying {
			_, y := on(i, 0, 0)
			d.text("bdy-d-on bdy-d-end", left-6, y-float64(float64(len(lines)-1)*lineHeight/2), lines)
		}
	}
	c.plot(&d, slot, on)
	d.line("bdy-d-line", left, top, left, top+tall)
	d.line("bdy-d-line", left, top+tall, left+wide, top+tall)
	height = top + tall + foot
	if xName != "" {
		d.text("bdy-d-name bdy-d-mid", left+wide/2, height+8, []string{flat(xName)})
		height += 20
	}
	if yName != "" {
		d.turned("bdy-d-name bdy-d-mid", seqMargin+8, top+tall/2, flat(yName))
	}
	return d.b, left + wide + seqMargin + 8, height + seqMargin
}

// upright returns the names of categories as lines in a slot of this width; fits is
// false where they have no room and are turned.
func (c *xyChart) upright(slot float64) (lines [][]string, fits bool) {
	lines, fits = make([][]string, len(c.names)), true
	for i, n := range c.names {
		lines[i] = c.wrap(n, slot-6, plainWeight)
		fits = fits && len(lines[i]) <= 3 && c.widestOf(lines[i], plainWeight) <= slot-4
	}
	return lines, fits
}

// plot draws bars beside each other, and lines over them.
func (c *xyChart) plot(d *drawing, slot float64, on func(i int, by, value float64) (x, y float64)) {
	bars, bar := 0, 0
	for _, s := range c.series {
		if s.bar {
			bars++
		}
	}
	zero := max(min(c.y[0], c.y[1]), min(0, max(c.y[0], c.y[1])))
	for _, lines := range []bool{false, true} {
		for k, s := range c.series {
			if s.bar == lines {
				continue
			}
			hue := "bdy-d-hue-" + strconv.Itoa(k%pieHues)
			n := min(len(s.values), len(c.names))
			if s.bar {
				thick := slot * chartBars / float64(bars)
				by := float64(thick * (float64(bar) - float64(bars-1)/2))
				bar++
				for i, v := range s.values[:n] {
					x1, y1 := on(i, by-thick/2, zero)
					x2, y2 := on(i, by+thick/2, v)
					d.rect(hue, min(x1, x2), min(y1, y2), math.Abs(x2-x1), math.Abs(y2-y1), 0)
					switch mid := []string{shortNumber(v)}; {
					case !c.flag("showDataLabel", false):
					case c.lying:
						d.text("bdy-d-on", x2+4, (y1+y2)/2, mid)
					default:
						d.text("bdy-d-on bdy-d-mid", (x1+x2)/2, y2-8, mid)
					}
				}
				continue
			}
			p := &pen{}
			for i, v := range s.values[:n] {
				x, y := on(i, 0, v)
				if i == 0 {
					p.move(x, y)
				} else {
					p.to(x, y)
				}
			}
			d.raw(`<path class="bdy-d-curve ` + hue + `"`)
			d.trace(p, 0, 0)
			d.raw("/>")
			for i, v := range s.values[:n] {
				x, y := on(i, 0, v)
				d.raw(`<circle class="` + hue + `"`)
				d.attr("cx", x)
				d.attr("cy", y)
				d.attr("r", 3)
				d.raw("/>")
			}
		}
	}
}

// legend draws the names of the series above the chart, and returns its height.
func (c *xyChart) legend(d *drawing, left float64) float64 {
	x, y := left, seqMargin+6
	for k, s := range c.series {
		if s.name == "" {
			continue
		}
		w := c.width(s.name, plainWeight)
		if x > left && x+legendText+w > left+chartWidth {
			x, y = left, y+legendRow
		}
		d.rect("bdy-d-hue-"+strconv.Itoa(k%pieHues), x, y-swatch/2, swatch, swatch, 3)
		d.text("bdy-d-name", x+legendText, y, []string{s.name})
		x += legendText + w + 18
	}
	return y + legendRow - seqMargin - 4
}
