package page

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// maxStyles bounds the rules that one page may bring to the site's style sheet.
const maxStyles = 500

// styleClass returns the class that stands for an element's style attribute, ""
// when it has none or nothing of it may stand in a style sheet. A page holds no
// style attribute, because a strict content security policy refuses them: the
// declarations go to Result.Styles, from where they reach the site's style
// sheet.
func (w *htmlWriter) styleClass(n *mdx.Node) string {
	if _, ok := n.Attr("style"); !ok {
		return ""
	}
	return w.style(n, attrPos(n, "style"), w.styleSource(n))
}

// style registers declarations and returns their class. What is not safe, or
// would do nothing, is left out and reported.
func (w *htmlWriter) style(n *mdx.Node, pos mdx.Pos, source string) string {
	var b strings.Builder
	for _, d := range css.Declarations(source) {
		value, ok := "", isProperty(d.Name)
		if ok {
			value, ok = css.SafeValue(d.Value, func(address string) string { return w.styleAddress(n, pos, address) })
		}
		if !ok {
			w.reportOnce(n, "style "+d.Text, pos, "style-dropped", "this style is left out: "+excerpt(d.Text))
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(d.Name)
		b.WriteByte(':')
		b.WriteString(value)
	}
	if b.Len() == 0 {
		return ""
	}
	rule := b.String()
	sum := sha256.Sum256([]byte(rule))
	class := "st-" + hex.EncodeToString(sum[:5])
	if _, known := w.result.Styles[class]; !known {
		if len(w.result.Styles) >= maxStyles {
			w.reportOnce(n, "styles", pos, "style-dropped", "the page has more than 500 different styles; the rest is left out")
			return ""
		}
		put(&w.result.Styles, class, rule)
	}
	return class
}

// isProperty reports whether an author may set a property, by the family that its
// name begins with.
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

// isWord reports whether s is a name of ASCII letters, digits, hyphens and
// underscores.
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isASCIILetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// Style implements component.HTML.
func (w *htmlWriter) Style(e *component.Element, css string) string {
	return w.style(e.Node, e.Node.Pos, css)
}

// StyleClass implements component.HTML.
func (w *htmlWriter) StyleClass(e *component.Element) string { return w.styleClass(e.Node) }
