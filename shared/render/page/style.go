package page

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
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
			address := func(address string) string { return w.styleAddress(n, pos, address) }
			if isMask(d.Name) {
				address = func(address string) string { return w.maskAddress(n, pos, address) }
			}
			value, ok = css.SafeValue(d.Value, address)
		}
		if !ok && isMask(d.Name) && strings.Contains(strings.ToLower(d.Value), "url(") {
			// Without its mask the element would be a coloured square.
			d.Text += "; its element is not shown"
			if b.Len() > 0 {
				b.WriteByte(';')
			}
			b.WriteString("visibility:hidden")
		}
		if !ok {
			w.reportOnce(n, "style "+d.Text, pos, mdx.Warning, "style-dropped", "this style is left out: "+excerpt(d.Text))
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
	class := "bdy-st-" + hex.EncodeToString(sum[:5])
	if _, known := w.result.Styles[class]; !known {
		if len(w.result.Styles) >= maxStyles {
			w.reportOnce(n, "styles", pos, mdx.Warning, "style-dropped", "the page has more than 500 different styles; the rest is left out")
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
	case "mask", "accent", "align", "animation", "appearance", "aspect", "backdrop", "backface", "background", "block", "border", "bottom", "box",
		"break", "caption", "caret", "clear", "clip", "color", "column", "columns", "contain", "counter", "cursor", "direction",
		"display", "empty", "fill", "filter", "flex", "float", "font", "gap", "grid", "height", "hyphens", "inline", "inset",
		"isolation", "justify", "left", "letter", "line", "list", "margin", "math", "max", "min", "mix", "object", "opacity", "order",
		"orphans", "outline", "overflow", "padding", "page", "perspective", "place", "pointer", "position", "quotes", "resize",
		"right", "rotate", "row", "scale", "scroll", "shape", "stroke", "tab", "table", "text", "top", "touch", "transform",
		"transition", "translate", "unicode", "user", "vertical", "visibility", "white", "widows", "width", "will", "word",
		"writing", "z", "zoom":
		return true
	}
	return false
}

// isMask reports whether a property cuts an element to the shape of a picture.
func isMask(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "-webkit-"), "mask")
}

// maskAddress is styleAddress for the picture of a mask. Those of the hosts that the
// source language keeps its icons on are icons of ours, as addresses that hold them:
// so they are there without a network.
func (w *htmlWriter) maskAddress(n *mdx.Node, pos mdx.Pos, address string) string {
	name, library, style, ok := iconAddress(address)
	if !ok {
		return w.styleAddress(n, pos, address)
	}
	svg, ok := w.icon(n, name, library, style)
	drawing, is := strings.CutPrefix(svg, "<svg ")
	if !ok || !is || svg == component.IconBox {
		return ""
	}
	return "data:image/svg+xml," + url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg" `+drawing)
}

// iconAddress reads the address of an icon on the hosts that the source language
// keeps them on: its last parts are a style of Font Awesome, or another library, and
// the name.
func iconAddress(address string) (name, library, style string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host != "mintlify.b-cdn.net" && u.Host != "d3gk2c5xim1je2.cloudfront.net" {
		return "", "", "", false
	}
	folder, file := path.Split(u.Path)
	name, ok = strings.CutSuffix(file, ".svg")
	if !ok || !isWord(name) {
		return "", "", "", false
	}
	library = "fontawesome"
	for part := range strings.SplitSeq(folder, "/") {
		switch part {
		case "lucide", "tabler":
			library = part
		case "solid", "regular", "brands", "light", "thin", "duotone", "sharp-solid":
			style = part
		}
	}
	return name, library, style, true
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
