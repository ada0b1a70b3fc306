package component

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/mdx"
)

// Writer is the HTML that a component appends to. Its methods return the
// Writer so that a tag reads as one line.
type Writer struct {
	// B holds the HTML so far.
	B []byte
	Services
}

// Raw appends HTML as it is.
func (w *Writer) Raw(html string) *Writer {
	w.B = append(w.B, html...)
	return w
}

// Text appends text, escaped.
func (w *Writer) Text(s string) *Writer {
	w.B = AppendText(w.B, s)
	return w
}

// Attr appends an attribute with a space before it.
func (w *Writer) Attr(name, value string) *Writer {
	w.B = AppendAttr(w.B, name, value)
	return w
}

// AttrIf appends the attribute unless its value is empty.
func (w *Writer) AttrIf(name, value string) *Writer {
	if value != "" {
		w.B = AppendAttr(w.B, name, value)
	}
	return w
}

// ID appends the element's id attribute, if the page gave it one.
func (w *Writer) ID(e *Element) *Writer {
	return w.AttrIf("id", w.Services.ID(e))
}

// Children appends the element's content.
func (w *Writer) Children(e *Element) *Writer { return w.Nodes(e.Node.Children) }

// Nodes appends nodes.
func (w *Writer) Nodes(nodes []*mdx.Node) *Writer {
	w.B = w.Services.AppendHTML(w.B, nodes)
	return w
}

// Title appends what an attribute holds: nodes given as JSX, or text, in
// which `code` between backticks is set as code.
func (w *Writer) Title(e *Element, name string) *Writer {
	if nodes := e.Slot(name); nodes != nil {
		return w.Nodes(nodes)
	}
	return w.Phrase(e.Display(name))
}

// Phrase appends text in which `code` between backticks is set as code.
func (w *Writer) Phrase(s string) *Writer {
	for {
		start := strings.IndexByte(s, '`')
		if start < 0 {
			return w.Text(s)
		}
		length := strings.IndexByte(s[start+1:], '`')
		if length <= 0 {
			return w.Text(s)
		}
		w.Text(s[:start]).Raw("<code>").Text(s[start+1 : start+1+length]).Raw("</code>")
		s = s[start+length+2:]
	}
}

// Icon appends the icon that an attribute names: a picture where it is an
// address, nodes where it is JSX, else a drawing from the icon library.
// class is set on a span around it.
func (w *Writer) Icon(e *Element, attr, class string) *Writer {
	if nodes := e.Slot(attr); nodes != nil {
		return w.Raw(`<span`).Attr("class", class).Raw(` aria-hidden="true">`).Nodes(nodes).Raw("</span>")
	}
	name := strings.TrimSpace(e.String(attr))
	if name == "" {
		return w
	}
	if isAddress(name) {
		return w.Raw(`<span`).Attr("class", class).Raw(`><img class="icon" alt=""`).
			Attr("src", w.Asset(e, name)).Raw(` loading="lazy"></span>`)
	}
	svg, ok := w.Services.Icon(e, name)
	if !ok {
		return w
	}
	w.Raw(`<span`).Attr("class", class)
	if color := Color(e.String("color")); color != "" {
		w.Attr("style", "color:"+color)
	}
	return w.Raw(">").Raw(svg).Raw("</span>")
}

// isAddress tells an icon's address from its name.
func isAddress(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.Contains(s, "://") || strings.HasPrefix(s, "data:image/") ||
		strings.HasSuffix(s, ".svg") || strings.HasSuffix(s, ".png")
}

// Color returns a colour that can stand in a style: a name, a hexadecimal
// colour (also written without its #) or a function such as rgb(). Anything
// else, which could carry more declarations, gives "".
func Color(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 64 {
		return ""
	}
	hex, letters, depth := true, true, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		digit := '0' <= c && c <= '9'
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		hex = hex && (digit || letter && c|0x20 <= 'f' || c == '#' && i == 0)
		letters = letters && letter
		switch {
		case digit, letter, c == '#' && i == 0, c == '-':
		case c == '(' && depth == 0 && i > 0:
			depth = 1
		case c == ')' && depth == 1 && i == len(s)-1:
			depth = 2
		case depth == 1 && strings.IndexByte(" ,.%/", c) >= 0:
		default:
			return ""
		}
	}
	digits := strings.TrimPrefix(s, "#")
	isHex := hex && (len(digits) == 3 || len(digits) == 4 || len(digits) == 6 || len(digits) == 8)
	switch {
	case isHex && s[0] == '#', letters && !isHex, depth == 2:
		return s
	case isHex:
		return "#" + s
	case strings.HasPrefix(s, "--"):
		return "var(" + s + ")"
	}
	return ""
}

// AppendText appends s as HTML text.
func AppendText(b []byte, s string) []byte {
	last := 0
	for i := 0; i < len(s); i++ {
		var esc string
		switch s[i] {
		case '&':
			esc = "&amp;"
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case 0:
			esc = "\uFFFD"
		default:
			continue
		}
		b = append(b, s[last:i]...)
		b = append(b, esc...)
		last = i + 1
	}
	return append(b, s[last:]...)
}

// AppendAttr appends ` name="value"`, the value escaped.
func AppendAttr(b []byte, name, value string) []byte {
	b = append(b, ' ')
	b = append(b, name...)
	b = append(b, '=', '"')
	b = AppendAttrValue(b, value)
	return append(b, '"')
}

// AppendAttrValue appends s as it stands between the quotes of an attribute.
func AppendAttrValue(b []byte, s string) []byte {
	last := 0
	for i := 0; i < len(s); i++ {
		var esc string
		switch s[i] {
		case '&':
			esc = "&amp;"
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case '"':
			esc = "&#34;"
		case '\n':
			esc = "&#10;"
		case 0:
			esc = "\uFFFD"
		default:
			continue
		}
		b = append(b, s[last:i]...)
		b = append(b, esc...)
		last = i + 1
	}
	return append(b, s[last:]...)
}
