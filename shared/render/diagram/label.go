package diagram

import (
	"math"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// label is the text of a node, a link or a group, as lines of runs.
type label struct {
	face   face
	lines  [][]run
	size   float64 // of its letters, in pixels
	weight bool    // all of it is bolder
	width  float64
	height float64
}

// run is a piece of a line in one look.
type run struct {
	text  string
	style textStyle
}

type textStyle uint8

const (
	bold textStyle = 1 << iota
	italic
	mono
	underlined
	struck
)

// Widths at which labels are broken, in pixels. No word is: a longer one makes
// its label wider.
const (
	nodeLimit  = 240.0
	linkLimit  = 180.0
	titleLimit = 200.0 // of groups
)

// marks are the elements of HTML that change how a label looks. Others that
// labels have are dropped; anything else stays text.
var (
	tagMark   = lazy.Regexp(`(?i)<(/?)(a|b|strong|i|em|u|s|del|sub|sup|small|mark|code|span|p|div|br|font|big|center)(?:\s[^<>]*)?/?>`)
	tagStyles = map[string]textStyle{
		"b": bold, "strong": bold, "i": italic, "em": italic, "code": mono, "u": underlined, "s": struck, "del": struck,
	}
	strongMark = lazy.Regexp(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`)
	strongBars = lazy.Regexp(`(^|\s)__([^_\s](?:[^_]*[^_\s])?)__($|[\s.,:;!?])`)
	softMark   = lazy.Regexp(`(^|[^*])\*([^*\s](?:[^*]*[^*\s])?)\*`)
	softBars   = lazy.Regexp(`(^|[\s(])_([^_\s](?:[^_]*[^_\s])?)_($|[\s.,:;!?)])`)
	codeMark   = lazy.Regexp("`([^`\n]+)`")
)

// readLabel reads a label of a graph: it may be in quotes, and in backquotes
// within them, which makes it Markdown.
func (f face) readLabel(s string, size, limit float64, weight bool) label {
	s = unquoted(strings.TrimSpace(s))
	markdown := len(s) > 1 && s[0] == '`' && s[len(s)-1] == '`'
	if markdown {
		s = s[1 : len(s)-1]
	}
	if strings.Contains(s, "\\n") {
		s = strings.ReplaceAll(s, "\\n", "\n")
	}
	if strings.Contains(s, "fa") {
		s = awesome().ReplaceAllString(s, "")
	}
	if strings.Contains(s, "**") {
		s = strongMark().ReplaceAllString(s, "<b>$1</b>")
	}
	if markdown {
		s = strongBars().ReplaceAllString(s, "$1<b>$2</b>$3")
		s = softMark().ReplaceAllString(s, "$1<i>$2</i>")
		s = softBars().ReplaceAllString(s, "$1<i>$2</i>$3")
		s = codeMark().ReplaceAllString(s, "<code>$1</code>")
	}
	l := label{face: f, size: size, weight: weight}
	line := []run{}
	var style textStyle
	end := func() {
		l.lines = append(l.lines, l.broken(line, limit)...)
		line = nil
	}
	add := func(text string) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				end()
			}
			if part = inXML(decode(part)); part != "" {
				line = append(line, run{part, style})
			}
		}
	}
	at := 0
	for _, m := range tagMark().FindAllStringSubmatchIndex(s, -1) {
		add(s[at:m[0]])
		at = m[1]
		switch name := strings.ToLower(s[m[4]:m[5]]); {
		case name == "br" || (name == "p" || name == "div") && m[2] < m[3] && at < len(s):
			end()
		case m[2] < m[3]:
			style &^= tagStyles[name]
		default:
			style |= tagStyles[name]
		}
	}
	add(s[at:])
	end()
	l.trim()
	l.measure()
	return l
}

// unquoted returns s without quotes around it.
func unquoted(s string) string {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}

// broken breaks a line that is wider than limit between its words.
func (l *label) broken(line []run, limit float64) [][]run {
	var out [][]run
	var at []run
	width, space := 0.0, false
	for _, r := range line {
		for i, word := range strings.Split(r.text, " ") {
			space = space || i > 0
			if word == "" {
				continue
			}
			w := l.runWidth(word, r.style)
			gap := 0.0
			if space && len(at) > 0 {
				gap = l.runWidth(" ", r.style)
			}
			if gap > 0 && width+gap+w > limit {
				out = append(out, at)
				at, width, gap = nil, 0, 0
			}
			if gap > 0 {
				word = " " + word
			}
			if n := len(at); n > 0 && at[n-1].style == r.style {
				at[n-1].text += word
			} else {
				at = append(at, run{word, r.style})
			}
			width += gap + w
			space = false
		}
	}
	return append(out, at)
}

// trim drops empty lines around the label.
func (l *label) trim() {
	for len(l.lines) > 0 && len(l.lines[0]) == 0 {
		l.lines = l.lines[1:]
	}
	for len(l.lines) > 0 && len(l.lines[len(l.lines)-1]) == 0 {
		l.lines = l.lines[:len(l.lines)-1]
	}
}

func (l *label) runWidth(s string, style textStyle) float64 {
	weight := plainWeight
	switch {
	case style&bold != 0:
		weight = boldWeight
	case l.weight:
		weight = strongWeight
	case l.size == textSize:
		weight = wordWeight
	}
	if style&mono != 0 {
		w := 0.0
		for _, r := range s {
			// What is wider than any letter is so in this font, too.
			if wide := likely(r); wide > 1 {
				w += wide
			} else {
				w += monoWidth
			}
		}
		return w * l.size
	}
	return l.face.width(s, weight) * l.size / textSize
}

func (l *label) measure() {
	l.width = 0
	for _, line := range l.lines {
		w := 0.0
		for _, r := range line {
			w += l.runWidth(r.text, r.style)
		}
		l.width = max(l.width, w)
	}
	l.width = math.Ceil(l.width)
	l.height = l.lineHeight() * float64(len(l.lines))
}

func (l *label) lineHeight() float64 { return math.Round(l.size * lineHeight / textSize) }

func (l *label) empty() bool { return len(l.lines) == 0 }

// String returns the label as one line of plain text.
func (l *label) String() string {
	var b strings.Builder
	for i, line := range l.lines {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, r := range line {
			b.WriteString(r.text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// label draws a label around a middle, or from x on to the right or to the left
// by its anchor: 0, 1 or -1. class and fill are those of its text.
func (d *drawing) label(l *label, x, y float64, anchor int, class, fill string) {
	step := l.lineHeight()
	y += float64(l.size*0.35) - float64(step*float64(len(l.lines)-1)/2)
	for i, line := range l.lines {
		if len(line) == 0 {
			continue
		}
		d.raw(`<text class="` + class)
		switch anchor {
		case 0:
			d.raw(" bdy-d-mid")
		case -1:
			d.raw(" bdy-d-end")
		}
		d.raw(`"`)
		d.attr("x", x)
		d.attr("y", y+float64(step*float64(i)))
		if fill != "" {
			d.raw(` fill="` + fill + `"`)
		}
		d.raw(">")
		for _, r := range line {
			d.run(r)
		}
		d.raw("</text>")
	}
}

func (d *drawing) run(r run) {
	if r.style == 0 {
		d.b = html.AppendText(d.b, r.text)
		return
	}
	d.raw("<tspan")
	if r.style&bold != 0 {
		d.raw(` font-weight="700"`)
	}
	if r.style&italic != 0 {
		d.raw(` font-style="italic"`)
	}
	if r.style&mono != 0 {
		d.raw(` class="bdy-d-mono"`)
	}
	switch {
	case r.style&underlined != 0:
		d.raw(` text-decoration="underline"`)
	case r.style&struck != 0:
		d.raw(` text-decoration="line-through"`)
	}
	d.raw(">")
	d.b = html.AppendText(d.b, r.text)
	d.raw("</tspan>")
}

// resize changes the size of a label's letters.
func (l *label) resize(size float64) {
	l.size = size
	l.measure()
}

// restyle adds a style to all of a label.
func (l *label) restyle(style textStyle) {
	if style == 0 {
		return
	}
	for _, line := range l.lines {
		for i := range line {
			line[i].style |= style
		}
	}
	l.measure()
}
