package component

import (
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/mdx"
)

func inlineComponents() []*Component {
	return []*Component{
		{
			Name: "Icon", Doc: "An icon in the text.",
			Attrs: []AttrSpec{
				{"icon", "icon", "", "The icon's name, or a picture's address."},
				{"name", "icon", "", "Same as icon."},
				{"iconLibrary", "string", "", "The library that the name is looked for in."},
				{"color", "string", "", "Its colour."},
				{"size", "number", "", "Its width and height in pixels."},
				{"className", "string", "", "Classes of the site's own styles."},
			},
			HTML:     iconHTML,
			Markdown: func(*Markdown, *Element) {},
			Text:     func(*Text, *Element) {},
		},
		{
			Name: "Tooltip", Doc: "Words that explain themselves when pointed at.",
			Attrs: []AttrSpec{
				{"tip", "nodes", "", "The explanation."},
				{"headline", "string", "", "A title above the explanation."},
				{"cta", "string", "", "Words of a link below it."},
				{"href", "address", "", "Where that link leads."},
			},
			ID: func(e *Element) (string, string) {
				t := NewText(e.services)
				t.Children(e)
				return "tip-", t.String()
			},
			HTML: tooltipHTML,
			// In Markdown and text the words stand alone, as in print.
			Markdown: func(m *Markdown, e *Element) { m.Write(m.MarkdownInline(e.Children())) },
			Text:     func(t *Text, e *Element) { t.Nodes(e.Children()) },
		},
		{
			Name: "Badge", Doc: "A small label.",
			Attrs: []AttrSpec{
				{"color", "string", "gray", "gray, red, orange, yellow, green, blue, purple, white or surface."},
				{"size", "string", "md", "xs, sm, md or lg."},
				{"shape", "string", "rounded", "rounded or pill."},
				{"icon", "icon", "", "An icon before the words."},
				{"stroke", "boolean", "false", "An outline in place of a filled label."},
				{"disabled", "boolean", "false", "Looks inactive."},
			},
			HTML:     badgeHTML,
			Markdown: func(m *Markdown, e *Element) { m.Write(m.MarkdownInline(e.Children())) },
			Text:     func(t *Text, e *Element) { t.Nodes(e.Children()) },
		},
	}
}

func iconHTML(w *Writer, e *Element) {
	name := e.String("icon")
	if name == "" {
		name = e.String("name")
	}
	if name == "" {
		return
	}
	class := "icon-inline"
	if c := e.String("className"); c != "" {
		class += " " + c
	}
	w.Raw(`<span`).Attr("class", class)
	var style []string
	if c := Color(e.String("color")); c != "" {
		style = append(style, "color:"+c)
	}
	if size, ok := e.Number("size"); ok && size > 0 && size < 1000 {
		style = append(style, "font-size:"+strconv.FormatFloat(size, 'f', -1, 64)+"px")
	}
	w.AttrIf("style", strings.Join(style, ";"))
	w.Raw(">")
	if isAddress(name) {
		w.Raw(`<img class="icon" alt=""`).Attr("src", w.Asset(e, name)).Raw(` loading="lazy">`)
	} else if svg, ok := w.Services.Icon(e, name); ok {
		w.Raw(svg)
	}
	w.Raw("</span>")
}

func tooltipHTML(w *Writer, e *Element) {
	id := w.Services.ID(e)
	w.Raw(`<span class="tooltip" tabindex="0"`).AttrIf("aria-describedby", id).Raw(">").Children(e)
	w.Raw(`<span class="tooltip-tip" role="tooltip"`).AttrIf("id", id).Raw(">")
	if h := e.String("headline"); h != "" {
		w.Raw(`<strong class="tooltip-headline">`).Text(h).Raw("</strong> ")
	}
	w.Title(e, "tip")
	if href := e.String("href"); href != "" {
		cta := e.String("cta")
		if cta == "" {
			cta = href
		}
		w.Raw(` <a`).Attr("href", w.Link(e, href)).Raw(">").Text(cta).Raw("</a>")
	}
	w.Raw("</span></span>")
}

func badgeHTML(w *Writer, e *Element) {
	w.Raw(`<span class="badge`)
	color := e.String("color")
	style := ""
	switch {
	case className(color):
		w.Raw(" badge-").Raw(color)
	default:
		style = Color(color)
	}
	if s := e.String("size"); className(s) {
		w.Raw(" badge-").Raw(s)
	}
	if e.String("shape") == "pill" {
		w.Raw(" badge-pill")
	}
	if e.Bool("stroke") {
		w.Raw(" badge-stroke")
	}
	if e.Bool("disabled") {
		w.Raw(" badge-disabled")
	}
	w.Raw(`"`)
	if style != "" {
		w.Attr("style", "--fg:"+style)
	}
	w.Raw(">")
	if icon := e.String("icon"); icon != "" {
		if svg, ok := w.Services.Icon(e, icon); ok {
			w.Raw(svg)
		}
	}
	w.Nodes(phrasing(e.Children())).Raw("</span>")
}

// className tells whether s may follow a class prefix: letters and hyphens.
func className(s string) bool {
	if s == "" || len(s) > 24 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !('a' <= s[i] && s[i] <= 'z' || s[i] == '-') {
			return false
		}
	}
	return true
}

// phrasing replaces a sole paragraph by its content: what stands in a span.
func phrasing(nodes []*mdx.Node) []*mdx.Node {
	var only *mdx.Node
	for _, n := range nodes {
		if n.Kind == mdx.Text && strings.TrimSpace(n.Value) == "" {
			continue
		}
		if only != nil {
			return nodes
		}
		only = n
	}
	if only != nil && only.Kind == mdx.Paragraph {
		return only.Children
	}
	return nodes
}
