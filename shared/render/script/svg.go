package script

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// elements and attributes that a drawing may have. Everything else is left
// out: no style, no link, no script, nothing from another place.
var (
	elements = map[string]bool{
		"g": true, "defs": true, "marker": true, "rect": true, "line": true, "polyline": true, "polygon": true,
		"path": true, "circle": true, "ellipse": true, "text": true, "tspan": true,
	}
	attributes = map[string]bool{
		"x": true, "y": true, "x1": true, "y1": true, "x2": true, "y2": true, "cx": true, "cy": true, "r": true, "rx": true, "ry": true,
		"width": true, "height": true, "dx": true, "dy": true, "d": true, "points": true, "transform": true,
		"markerWidth": true, "markerHeight": true, "refX": true, "refY": true, "orient": true, "markerUnits": true, "viewBox": true,
		"font-size": true, "font-weight": true, "font-style": true, "text-anchor": true, "text-decoration": true,
		"stroke-width": true, "stroke-dasharray": true, "stroke-linejoin": true, "stroke-linecap": true,
	}
	number = regexp.MustCompile(`-?\d+\.\d+`)
	// safeValue is what the value of one of these may consist of.
	safeValue = regexp.MustCompile(`^[\w\s.,()%#+-]*$`)
	ownColor  = regexp.MustCompile(`^(?:#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,25}|(?:rgb|hsl)a?\([\d\s.,%/]+\))$`)
	markerRef = regexp.MustCompile(`^url\(#([\w-]+)\)$`)
	idValue   = regexp.MustCompile(`^[\w-]+$`)
)

// colors are the library's names for colours, as classes of ours: fill and
// stroke.
var colors = map[string]string{
	"var(--_text)": "text", "var(--_text-sec)": "muted", "var(--_text-muted)": "muted", "var(--_text-faint)": "muted",
	"var(--_line)": "line", "var(--_arrow)": "line", "var(--_node-fill)": "node", "var(--_node-stroke)": "edge",
	"var(--_group-fill)": "group", "var(--_group-hdr)": "tab", "var(--_inner-stroke)": "soft", "var(--_key-badge)": "tab",
	"var(--d-note)": "note", "var(--d-note-edge)": "note",
	"var(--bg)": "bg", "var(--d-bg)": "bg", "var(--fg)": "text",
}

// maxDepth bounds elements within each other; groups within groups are few.
const maxDepth = 64

// cleanSVG takes a library's SVG over: what may stand in a page, with colours
// as classes, so that pages may be light or dark, and ids that begin with a
// byte 0.
func cleanSVG(svg string) (*Diagram, error) {
	dec := xml.NewDecoder(strings.NewReader(svg))
	c := svgCleaner{d: &Diagram{}}
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read a drawing: %w", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			err = c.start(t)
		case xml.EndElement:
			err = c.end(t.Name.Local)
		case xml.CharData:
			if n := len(c.open); c.skip == 0 && n > 0 && (c.open[n-1] == "text" || c.open[n-1] == "tspan") {
				c.out.b = html.AppendText(c.out.b, inXML(decode(string(t))))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if len(c.open) > 0 || c.d.Width <= 0 || c.d.Height <= 0 {
		return nil, errors.New("read a drawing: it has no end or no size")
	}
	c.d.svg = c.out.b
	return c.d, nil
}

// svgCleaner is where cleanSVG stands in a drawing.
type svgCleaner struct {
	d    *Diagram
	out  drawing
	open []string // names of elements, the drawing's own first
	skip int      // elements that are open in one that is left out, it included
	fill string   // the author's own fill of the node that is open
	node int      // the depth at which it is open
}

func (c *svgCleaner) start(t xml.StartElement) error {
	name := t.Name.Local
	switch {
	case c.skip > 0 || len(c.open) > 0 && !elements[name]:
		c.skip++
		return nil
	case len(c.open) >= maxDepth:
		return errors.New("read a drawing: too deep")
	case len(c.open) > 0:
	case name != "svg" || c.d.Width > 0:
		return fmt.Errorf("read a drawing: <%s> outside", name)
	default:
		c.d.Width, c.d.Height = size(t, "width"), size(t, "height")
		c.open = append(c.open, name)
		return nil
	}
	if name == "g" && strings.HasPrefix(attr(t, "class"), "node") {
		c.fill, c.node = "", len(c.open)
	}
	if own := attr(t, "fill"); c.node > 0 && c.fill == "" && name != "text" && ownColor.MatchString(own) && own != "none" {
		c.fill = own
	}
	c.open = append(c.open, name)
	c.out.element(t, c.fill)
	return nil
}

func (c *svgCleaner) end(name string) error {
	if c.skip > 0 {
		c.skip--
		return nil
	}
	if len(c.open) == 0 || c.open[len(c.open)-1] != name {
		return fmt.Errorf("read a drawing: </%s> closes nothing", name)
	}
	c.open = c.open[:len(c.open)-1]
	if len(c.open) > 0 {
		c.out.raw("</" + name + ">")
	}
	if len(c.open) <= c.node {
		c.fill, c.node = "", 0
	}
	return nil
}

// element writes a start tag. fill is the author's colour that a text lies on.
func (d *drawing) element(t xml.StartElement, fill string) {
	name := t.Name.Local
	d.raw("<" + name)
	var classes []string
	if name == "text" && strings.Contains(attr(t, "class"), "mono") {
		classes = append(classes, "d-mono")
	}
	for _, a := range t.Attr {
		key, value := a.Name.Local, a.Value
		if a.Name.Space != "" {
			continue
		}
		switch {
		case key == "fill" || key == "stroke":
			c, ok := colors[value]
			switch {
			case ok && key == "fill" && c == "text" && fill != "":
				if over := textOver(fill); over != "" {
					d.raw(` fill="` + over + `"`)
				} else {
					classes = append(classes, "d-f-text")
				}
			case ok:
				classes = append(classes, "d-"+key[:1]+"-"+c)
			case ownColor.MatchString(value):
				d.raw(" " + key + `="` + value + `"`)
			}
		case key == "marker-end" || key == "marker-start":
			if m := markerRef.FindStringSubmatch(value); m != nil {
				d.raw(" " + key + `="url(#` + "\x00" + m[1] + `)"`)
			}
		case key == "id":
			if idValue.MatchString(value) {
				d.raw(` id="` + "\x00" + value + `"`)
			}
		case attributes[key] && safeValue.MatchString(value):
			d.raw(" " + key + `="` + number.ReplaceAllStringFunc(value, short) + `"`)
		}
	}
	if len(classes) > 0 {
		d.raw(` class="` + strings.Join(classes, " ") + `"`)
	}
	d.raw(">")
}

// short rounds a number to two digits after the point.
func short(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if v = math.Round(v*100) / 100; v == 0 {
		return "0" // and not "-0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// maxSize bounds a drawing's sides, in pixels.
const maxSize = 100_000

func size(t xml.StartElement, name string) int {
	v, err := strconv.ParseFloat(attr(t, name), 64)
	if err != nil || !(v > 0) || v > maxSize {
		return 0
	}
	return ceil(v)
}

func ceil(v float64) int { return int(math.Ceil(v)) }

// textOver is black or white, whichever is read better on a colour; "" where
// the colour's lightness is not known.
func textOver(color string) string {
	hex, ok := strings.CutPrefix(color, "#")
	if !ok {
		if hex, ok = namedColors[strings.ToLower(color)]; !ok {
			return ""
		}
	}
	if len(hex) == 3 || len(hex) == 4 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	if len(hex) < 6 {
		return ""
	}
	v, err := strconv.ParseUint(hex[:6], 16, 32)
	if err != nil {
		return ""
	}
	lin := func(c uint64) float64 {
		f := float64(c&0xff) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	// Relative luminance (WCAG 2.2); at 0.18 black and white are read equally.
	if 0.2126*lin(v>>16)+0.7152*lin(v>>8)+0.0722*lin(v) > 0.18 {
		return "#1b1d22"
	}
	return "#ffffff"
}

// namedColors are the names that diagrams use for fills.
var namedColors = map[string]string{
	"white": "ffffff", "black": "000000", "red": "ff0000", "green": "008000", "blue": "0000ff", "yellow": "ffff00",
	"orange": "ffa500", "purple": "800080", "pink": "ffc0cb", "gray": "808080", "grey": "808080", "lightgray": "d3d3d3",
	"lightgrey": "d3d3d3", "lightblue": "add8e6", "lightgreen": "90ee90", "lightyellow": "ffffe0", "cyan": "00ffff",
	"aqua": "00ffff", "teal": "008080", "navy": "000080", "maroon": "800000", "olive": "808000", "lime": "00ff00",
	"silver": "c0c0c0", "gold": "ffd700", "brown": "a52a2a", "magenta": "ff00ff", "fuchsia": "ff00ff", "violet": "ee82ee",
	"beige": "f5f5dc", "coral": "ff7f50", "salmon": "fa8072", "tomato": "ff6347", "skyblue": "87ceeb", "lavender": "e6e6fa",
}
