package component

import (
	"slices"
	"strings"
)

// badgeColors are the colours that badges know by name.
const badgeColors = " gray red orange yellow green blue purple white surface white-destructive surface-destructive "

func badgeComponents() []*Component {
	return []*Component{{
		Name: "Badge", Doc: "A small label.",
		Attrs: slices.Concat(
			[]AttrSpec{
				{"color", "color", "gray", "gray, red, orange, yellow, green, blue, purple, white, surface, white-destructive, surface-destructive, or any colour."},
				{"size", "string", "md", "xs, sm, md or lg."},
				{"shape", "string", "rounded", "rounded or pill."},
				{"stroke", "boolean", "false", "An outline in place of a filled label."},
				{"disabled", "boolean", "false", "Looks inactive."},
			},
			iconAttrs("An icon before the words.")),
		HTML:     badgeHTML,
		Markdown: func(m *Markdown, e *Element) { m.Write(m.Phrase(Phrasing(e.Node.Children))) },
		Text:     func(t *Text, e *Element) { t.Nodes(e.Node.Children) },
	}}
}

func badgeHTML(w *Writer, e *Element) {
	classes, named, sized := []string{"bdy-badge"}, "", ""
	color := strings.ToLower(strings.TrimSpace(e.String("color")))
	if strings.Contains(badgeColors, " "+color+" ") && color != "" {
		classes, named = append(classes, "bdy-badge-"+color), color
	} else if c := w.colorClass(e, "color", "--fg"); c != "" {
		classes = append(classes, "bdy-tinted", c)
	}
	switch size := e.String("size"); size {
	case "xs", "sm", "lg":
		classes, sized = append(classes, "bdy-badge-"+size), size
	}
	if e.String("shape") == "pill" {
		classes = append(classes, "bdy-badge-pill")
	}
	for _, flag := range []string{"stroke", "disabled"} {
		if e.Bool(flag) {
			classes = append(classes, "bdy-badge-"+flag)
		}
	}
	w.open("span", e, classes...).Raw(" data-badge").AttrIf("data-color", named).AttrIf("data-size", sized).Raw(">").icon(e, "icon", "bdy-badge-icon").Nodes(Phrasing(e.Node.Children)).Raw("</span>")
}
