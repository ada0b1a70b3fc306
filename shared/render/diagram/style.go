package diagram

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// look holds the colours and lines that an author sets; "" is the theme's.
type look struct {
	fill, stroke, color, width, dash string
	bold, italic                     bool
}

var (
	lengthValue = lazy.Regexp(`^(\d{1,2}(?:\.\d{1,2})?)(?:px)?$`)
	dashValue   = lazy.Regexp(`^\d{1,3}(?:px)?(?:[ ,]+\d{1,3}(?:px)?){0,7}$`)
)

// readLook adds to a look what a list "fill:#f9f,stroke-width:4px" says. What
// is not known, or no value of its kind, is left out.
func readLook(l look, s string) look {
	depth, start := 0, 0
	s = strings.TrimSuffix(strings.TrimSpace(s), ";")
	for i := 0; i <= len(s); i++ {
		if i < len(s) {
			switch s[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth > 0 || s[i] != ',' && s[i] != ';' {
				continue
			}
			// A comma may have been escaped, in dashes: "5\,5".
			if i > 0 && s[i-1] == '\\' {
				continue
			}
		}
		name, value, _ := strings.Cut(s[start:i], ":")
		start = i + 1
		l.set(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(value, "\\", "")), "!important")))
	}
	return l
}

func (l *look) set(name, value string) {
	switch name {
	case "fill", "background", "background-color":
		if ownColor().MatchString(value) {
			l.fill = value
		}
	case "stroke", "border-color":
		if ownColor().MatchString(value) {
			l.stroke = value
		}
	case "color":
		if ownColor().MatchString(value) {
			l.color = value
		}
	case "stroke-width", "border-width":
		if m := lengthValue().FindStringSubmatch(value); m != nil {
			l.width = m[1]
		}
	case "stroke-dasharray":
		if dashValue().MatchString(value) {
			l.dash = strings.ReplaceAll(value, "px", "")
		}
	case "font-weight":
		l.bold = value == "bold" || value == "bolder" || len(value) == 3 && value >= "600"
	case "font-style":
		l.italic = value == "italic"
	}
}

// over returns l with what top says instead.
func (l look) over(top look) look {
	pick := func(at *string, value string) {
		if value != "" {
			*at = value
		}
	}
	pick(&l.fill, top.fill)
	pick(&l.stroke, top.stroke)
	pick(&l.color, top.color)
	pick(&l.width, top.width)
	pick(&l.dash, top.dash)
	l.bold = l.bold || top.bold
	l.italic = l.italic || top.italic
	return l
}

// looked is the look of something with classes and a look of its own. The class
// "default" is everybody's.
func (g *graph) looked(classes []string, own look) look {
	l := g.classes["default"]
	for _, c := range classes {
		l = l.over(g.classes[c])
	}
	return l.over(own)
}

// define reads "a,b fill:#fff".
func (g *graph) define(rest string) bool {
	names, list, ok := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok {
		return false
	}
	for name := range strings.SplitSeq(names, ",") {
		g.classes[name] = readLook(g.classes[name], list)
	}
	return true
}

// paint adds classes and attributes of a filled shape: the theme's colours where
// the author has none.
func (d *drawing) paint(l look, fill, stroke string) {
	classes := ""
	add := func(own, attr, class string) {
		switch {
		case own != "":
			d.raw(" " + attr + `="` + own + `"`)
		case class == "":
		case classes == "":
			classes = class
		default:
			classes += " " + class
		}
	}
	add(l.fill, "fill", fill)
	add(l.stroke, "stroke", stroke)
	if classes != "" {
		d.raw(` class="` + classes + `"`)
	}
	if l.width != "" {
		d.raw(` stroke-width="` + l.width + `"`)
	}
	if l.dash != "" {
		d.raw(` stroke-dasharray="` + l.dash + `"`)
	}
}
