package page

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// maxStyles bounds the rules that one page may bring to the site's style sheet.
const maxStyles = 500

// styleClass gives the class that stands for an element's style attribute, ""
// when it has none or nothing of it may stand in a style sheet. A page holds no
// style attribute, because a strict content security policy refuses them: the
// declarations go to Result.Styles, from where they reach the site's style
// sheet.
func (s *state) styleClass(n *mdx.Node) string {
	if _, ok := n.Attr("style"); !ok {
		return ""
	}
	return s.style(n, attrPos(n, "style"), s.styleSource(n))
}

// styleSource gives an element's style attribute as CSS, also when it was
// written as an object.
func (s *state) styleSource(n *mdx.Node) string {
	a, ok := n.Attr("style")
	if !ok {
		return ""
	}
	v, _ := attrValue(a)
	if css, ok := v.(string); ok {
		return css
	}
	return s.styleObject(v)
}

// style registers declarations and returns their class. What is not safe, or
// would do nothing, is left out and reported.
func (s *state) style(n *mdx.Node, pos mdx.Pos, css string) string {
	var b strings.Builder
	for _, d := range declarations(css) {
		name, value, ok := strings.Cut(d, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !strings.HasPrefix(name, "--") {
			name = strings.ToLower(name)
		}
		if ok && isProperty(name) {
			value, ok = s.styleValue(n, pos, value)
		} else {
			ok = false
		}
		if !ok {
			s.reportOnce(n, "style "+d, pos, "style-dropped", "this style is left out: "+excerpt(d))
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(value)
	}
	if b.Len() == 0 {
		return ""
	}
	rule := b.String()
	sum := sha256.Sum256([]byte(rule))
	class := "st-" + hex.EncodeToString(sum[:5])
	if s.result.Styles == nil {
		s.result.Styles = map[string]string{}
	}
	if _, known := s.result.Styles[class]; !known {
		if len(s.result.Styles) >= maxStyles {
			s.reportOnce(n, "styles", pos, "style-dropped", "the page has more than 500 different styles; the rest is left out")
			return ""
		}
		s.result.Styles[class] = rule
	}
	return class
}

// declarations splits CSS at the semicolons that stand in no string and no
// parentheses; comments are dropped.
func declarations(css string) []string {
	css = withoutComments(css)
	var out []string
	depth, start := 0, 0
	var quote byte
	add := func(d string) {
		if d = strings.TrimSpace(d); d != "" {
			out = append(out, d)
		}
	}
	for i := 0; i < len(css); i++ {
		switch c := css[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';' && depth <= 0:
			add(css[start:i])
			start = i + 1
		}
	}
	add(css[start:])
	return out
}

// withoutComments puts a space in the place of each comment of CSS.
func withoutComments(css string) string {
	before, rest, found := strings.Cut(css, "/*")
	if !found {
		return css
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		var closed bool
		if _, rest, closed = strings.Cut(rest, "*/"); !closed {
			return b.String()
		}
		b.WriteByte(' ')
		before, rest, found = strings.Cut(rest, "/*")
	}
	b.WriteString(before)
	return b.String()
}

// styleValue tells whether a value can stand in a rule without reaching out of
// it, and gives it with its addresses resolved. The rules are in a file of the
// bundle's folder "bindery", so addresses are relative to that.
func (s *state) styleValue(n *mdx.Node, pos mdx.Pos, value string) (string, bool) {
	if value == "" || len(value) > 2000 {
		return "", false
	}
	depth := 0
	var quote byte
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' || c == '{' || c == '}' || c == '<' || c == '@' || c < ' ' && c != '\n' && c != '\t' || c == 0x7f:
			return "", false
		case c == '\n' || c == '\t':
			if quote != 0 {
				return "", false
			}
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return "", false
			}
		case c == ';':
			if depth == 0 {
				return "", false
			}
		}
	}
	if quote != 0 || depth != 0 {
		return "", false
	}
	lower := strings.ToLower(value)
	for _, bad := range [...]string{"expression(", "javascript:", "vbscript:", "-moz-binding", "image-set(", "src("} {
		if strings.Contains(lower, bad) {
			return "", false
		}
	}
	value = strings.Join(strings.Fields(value), " ")
	if !strings.Contains(lower, "url(") {
		return value, !strings.Contains(value, ";")
	}
	var b strings.Builder
	for {
		i := strings.Index(strings.ToLower(value), "url(")
		if i < 0 {
			break
		}
		end := strings.IndexByte(value[i:], ')')
		if end < 0 {
			return "", false
		}
		address := s.styleAddress(n, pos, strings.Trim(value[i+4:i+end], ` "'`))
		if address == "" {
			return "", false
		}
		b.WriteString(value[:i])
		b.WriteString(`url("`)
		b.WriteString(strings.NewReplacer(`"`, "%22", "\\", "%5C", "(", "%28", ")", "%29", "\n", "").Replace(address))
		b.WriteString(`")`)
		value = value[i+end+1:]
	}
	if strings.Contains(value, ";") {
		return "", false
	}
	return b.String() + value, true
}

// isProperty tells the properties that an author may set, by the families that
// their names begin with.
func isProperty(name string) bool {
	if strings.HasPrefix(name, "--") {
		return len(name) > 2 && len(name) < 100 && isWord(name)
	}
	for _, prefix := range [...]string{"-webkit-", "-moz-", "-ms-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if !isWord(name) {
		return false
	}
	family, _, _ := strings.Cut(name, "-")
	switch family {
	case "accent", "align", "animation", "appearance", "aspect", "backdrop", "backface", "background", "block", "border", "bottom", "box",
		"break", "caption", "caret", "clear", "clip", "color", "column", "columns", "contain", "counter", "cursor", "direction",
		"display", "empty", "fill", "filter", "flex", "float", "font", "gap", "grid", "height", "hyphens", "inline", "inset",
		"isolation", "justify", "left", "letter", "line", "list", "margin", "max", "min", "mix", "object", "opacity", "order",
		"orphans", "outline", "overflow", "padding", "page", "perspective", "place", "pointer", "position", "quotes", "resize",
		"right", "rotate", "row", "scale", "scroll", "shape", "stroke", "tab", "table", "text", "top", "touch", "transform",
		"transition", "translate", "unicode", "user", "vertical", "visibility", "white", "widows", "width", "will", "word",
		"writing", "z", "zoom":
		return true
	}
	return false
}

// isWord tells names of ASCII letters, digits, hyphens and underscores.
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isASCIILetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// styleObject writes style={{…}} as CSS.
func (s *state) styleObject(v any) string {
	members, ok := v.(mdx.Object)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, m := range members {
		text, ok := display(m.Value)
		if !ok || text == "" {
			continue
		}
		if f, isNumber := m.Value.(float64); isNumber && f != 0 && !unitless(m.Key) {
			text += "px"
		}
		name := m.Key
		if !strings.HasPrefix(name, "--") {
			name = kebab(name)
			if strings.HasPrefix(name, "ms-") {
				name = "-" + name
			}
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(text)
	}
	return b.String()
}

// unitless tells the CSS properties whose numbers are not lengths.
func unitless(name string) bool {
	switch name {
	case "animationIterationCount", "aspectRatio", "columnCount", "columns", "fillOpacity", "flex", "flexGrow", "flexShrink",
		"fontWeight", "gridArea", "gridColumn", "gridColumnEnd", "gridColumnStart", "gridRow", "gridRowEnd", "gridRowStart",
		"lineClamp", "lineHeight", "opacity", "order", "orphans", "scale", "strokeOpacity", "strokeWidth", "tabSize", "widows",
		"zIndex", "zoom":
		return true
	}
	return strings.HasPrefix(name, "--")
}
