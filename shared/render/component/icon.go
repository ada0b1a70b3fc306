package component

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// maxIconSize bounds the size of an icon, in pixels.
const maxIconSize = 1000

func iconComponents() []*Component {
	return []*Component{{
		Name: "Icon", Doc: "An icon in the text.",
		Attrs: slices.Concat(
			iconAttrs("The icon's name, or a picture's address."),
			[]AttrSpec{
				{"name", "icon", "", "Same as icon."},
				{"src", "address", "", "The picture's address; same as icon."},
				{"color", "color", "", "Its colour; else that of the text."},
				{"size", "number", "", "Its width and height in pixels; else those of a letter."},
			}),
		HTML: iconHTML,
		Markdown: func(m *Markdown, e *Element) {
			if _, sign := iconMeaning(iconName(e)); sign != "" {
				m.Write(sign)
			}
		},
		Text: func(t *Text, e *Element) {
			if _, sign := iconMeaning(iconName(e)); sign != "" {
				t.Add(sign)
			}
		},
	}}
}

func iconName(e *Element) string {
	return cmp.Or(strings.TrimSpace(e.String("icon")), strings.TrimSpace(e.String("name")), strings.TrimSpace(e.String("src")))
}

// iconMeaning returns the label and the sign of the few icons that authors use
// as words: a table of features says "yes" and "no" with them. All others are
// decoration.
func iconMeaning(name string) (label words.Phrase, sign string) {
	switch strings.ToLower(name) {
	case "check", "circle-check", "check-circle", "square-check", "circle-check-big":
		return words.Yes, "✓"
	case "x", "xmark", "circle-x", "circle-xmark", "times", "square-x":
		return words.No, "✗"
	}
	return "", ""
}

func iconHTML(w *Writer, e *Element) {
	if nodes := e.slot("icon"); nodes != nil {
		w.open("span", e, "bdy-icon-inline").Raw(` aria-hidden="true">`).Nodes(nodes).Raw("</span>")
		return
	}
	name := iconName(e)
	if name == "" {
		return
	}
	var style []string
	if c := css.Color(e.String("color")); c != "" {
		style = append(style, "color:"+c)
	}
	if size, ok := e.Number("size"); ok && size > 0 && size <= maxIconSize {
		style = append(style, "font-size:"+strconv.FormatFloat(size, 'f', -1, 64)+"px")
	}
	class := ""
	if len(style) > 0 {
		class = w.Style(e, strings.Join(style, ";"))
	}
	w.open("span", e, "bdy-icon-inline", class)
	if label, sign := iconMeaning(name); sign != "" {
		w.Raw(` role="img"`).Attr("aria-label", w.say(label))
	}
	w.Raw(">")
	if isAddress(name) {
		w.Raw(`<img class="icon bdy-icon" alt=""`).AttrIf("src", w.Asset(e, name)).Raw(` loading="lazy">`)
	} else if svg, ok := w.Icon(e, name); ok {
		w.Raw(svg)
	}
	w.Raw("</span>")
}
