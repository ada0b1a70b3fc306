package component

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

func colorComponents() []*Component {
	return []*Component{
		{
			Name: "Color", Doc: "Colours with their values.", Block: true,
			Attrs: []AttrSpec{{"variant", "string", "compact", "compact, or table for rows with titles."}},
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "bdy-colors", when(e.String("variant") == "table", "bdy-colors-table")).Raw(">").Nodes(e.Flat()).Raw("</div>")
			},
		},
		{
			Name: "Color.Row", Doc: "A row of colours.", Block: true,
			Attrs: []AttrSpec{{"title", "text", "", "The row's title."}},
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "bdy-color-row").Raw(`><p class="bdy-color-row-title">`).title(e, "title").
					Raw(`</p><div class="bdy-color-row-items">`).Nodes(e.Flat()).Raw("</div></div>")
			},
			Markdown: titledMarkdown,
		},
		{
			Name: "Color.Item", Doc: "One colour.", Block: true,
			Attrs: []AttrSpec{
				{"name", "string", "", "Its name."},
				{"value", "color", "", `Its value, or {{ light: "…", dark: "…" }}.`},
			},
			HTML: colorItemHTML,
			Markdown: func(m *Markdown, e *Element) {
				line := escapeText(e.String("name"))
				for _, v := range colorValues(e) {
					line += " " + CodeSpan(v.value)
				}
				m.Push("- ", "  ")
				m.Paragraph(strings.TrimSpace(line))
				m.Pop()
			},
			Text: func(t *Text, e *Element) {
				t.Break()
				t.Add(e.String("name"))
				for _, v := range colorValues(e) {
					t.Add(" " + v.value)
				}
				t.Break()
			},
		},
	}
}

func colorItemHTML(w *Writer, e *Element) {
	w.open("div", e, "bdy-color-item").Raw(">")
	values := colorValues(e)
	for _, v := range values {
		class := ""
		if c := css.Color(v.value); c != "" {
			class = w.Style(e, "background:"+c)
		}
		w.Raw(`<span`).Attr("class", join([]string{"bdy-color-swatch", v.class(), class})).Raw("></span>")
	}
	w.Raw(`<span class="bdy-color-name">`).Text(e.String("name")).Raw("</span>")
	for _, v := range values {
		w.Raw(" <code").AttrIf("class", v.class()).Raw(">").Text(v.value).Raw("</code>")
	}
	w.Raw("</div>")
}

// colorValue is a colour, in one appearance or in both.
type colorValue struct {
	// mode is "light", "dark" or "" for both.
	mode, value string
}

// class shows the colour in its appearance alone.
func (v colorValue) class() string {
	return when(v.mode != "", "only-"+v.mode)
}

// colorValues lists the values of a Color.Item: one, or those of an object
// such as {light: "…", dark: "…"}.
func colorValues(e *Element) []colorValue {
	v, _ := e.Value("value")
	switch v := v.(type) {
	case string:
		if v != "" {
			return []colorValue{{"", v}}
		}
	case mdx.Object:
		var values []colorValue
		for _, m := range v {
			if s, ok := m.Value.(string); ok && (m.Key == "light" || m.Key == "dark") {
				values = append(values, colorValue{m.Key, s})
			}
		}
		if len(values) == 1 {
			values[0].mode = ""
		}
		return values
	}
	return nil
}
