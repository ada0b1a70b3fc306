package component

import "strings"

func fieldComponents() []*Component {
	common := []AttrSpec{
		{"name", "string", "", "The field's name."},
		{"type", "string", "", "Its type."},
		{"required", "boolean", "false", "Marks the field as required."},
		{"optional", "boolean", "false", "Marks the field as optional."},
		{"deprecated", "boolean", "false", "Marks the field as deprecated."},
		{"default", "string", "", "The value that holds when the field is missing."},
		{"placeholder", "string", "", "An example value."},
		{"pre", "list", "", "Labels before the name."},
		{"post", "list", "", "Labels after the name."},
	}
	return []*Component{
		{
			Name: "ParamField", Doc: "A parameter of an operation.", Block: true,
			Attrs: append([]AttrSpec{
				{"path", "string", "", "Name of a parameter in the path."},
				{"query", "string", "", "Name of a parameter in the query."},
				{"body", "string", "", "Name of a field of the body."},
				{"header", "string", "", "Name of a header."},
			}, common...),
			ID: func(e *Element) (string, string) {
				name, _ := paramName(e)
				return "param-", name
			},
			HTML: func(w *Writer, e *Element) {
				name, place := paramName(e)
				fieldHTML(w, e, name, place)
			},
			Markdown: func(m *Markdown, e *Element) {
				name, place := paramName(e)
				fieldMarkdown(m, e, name, place)
			},
			Text: func(t *Text, e *Element) {
				name, _ := paramName(e)
				fieldText(t, e, name)
			},
		},
		{
			Name: "ResponseField", Doc: "A field of a response.", Block: true, Attrs: common,
			ID:       func(e *Element) (string, string) { return "response-", e.String("name") },
			HTML:     func(w *Writer, e *Element) { fieldHTML(w, e, e.String("name"), "") },
			Markdown: func(m *Markdown, e *Element) { fieldMarkdown(m, e, e.String("name"), "") },
			Text:     func(t *Text, e *Element) { fieldText(t, e, e.String("name")) },
		},
	}
}

// paramName finds a parameter's name and the place that names it.
func paramName(e *Element) (name, place string) {
	for _, place := range []string{"path", "query", "header", "body"} {
		if name := e.String(place); name != "" {
			return name, place
		}
	}
	return e.String("name"), ""
}

func fieldHTML(w *Writer, e *Element, name, place string) {
	id := w.Services.ID(e)
	w.Raw(`<div class="field"`).AttrIf("id", id).Raw(`><div class="field-head">`)
	labels(w, e, "pre")
	if id != "" {
		w.Raw(`<a class="field-name"`).Attr("href", "#"+FragmentEscape(id)).Raw(`><code>`).Text(name).Raw("</code></a>")
	} else if name != "" {
		w.Raw(`<span class="field-name"><code>`).Text(name).Raw("</code></span>")
	}
	labels(w, e, "post")
	if t := e.String("type"); t != "" {
		w.Raw(` <span class="field-type">`).Text(t).Raw("</span>")
	}
	// "body" is what a parameter is by default: the word adds nothing.
	if place != "" && place != "body" {
		w.Raw(` <span class="field-place">`).Text(place).Raw("</span>")
	}
	if e.Bool("required") {
		w.Raw(` <span class="field-required">required</span>`)
	}
	if e.Bool("optional") {
		w.Raw(` <span class="field-optional">optional</span>`)
	}
	if e.Bool("deprecated") {
		w.Raw(` <span class="field-deprecated">deprecated</span>`)
	}
	if d := e.Display("default"); d != "" {
		w.Raw(` <span class="field-default">default: <code>`).Text(d).Raw("</code></span>")
	}
	w.Raw(`</div><div class="field-body">`).Children(e).Raw("</div></div>")
}

func labels(w *Writer, e *Element, attr string) {
	for _, s := range e.Strings(attr) {
		w.Raw(` <span class="field-label">`).Text(s).Raw("</span> ")
	}
}

func fieldFacts(e *Element, place string) []string {
	var facts []string
	if t := e.String("type"); t != "" {
		facts = append(facts, t)
	}
	if place != "" && place != "body" {
		facts = append(facts, "in "+place)
	}
	for _, flag := range []string{"required", "optional", "deprecated"} {
		if e.Bool(flag) {
			facts = append(facts, flag)
		}
	}
	if d := e.Display("default"); d != "" {
		facts = append(facts, "default "+d)
	}
	return facts
}

func fieldMarkdown(m *Markdown, e *Element, name, place string) {
	line := ""
	if name != "" {
		line = CodeSpan(name)
	}
	if facts := fieldFacts(e, place); len(facts) > 0 {
		line += " (" + escapePhrase(strings.Join(facts, ", ")) + ")"
	}
	m.Push("- ", "  ")
	m.Paragraph(strings.TrimSpace(line))
	m.Children(e)
	m.Pop()
}

func fieldText(t *Text, e *Element, name string) {
	t.Line(strings.TrimSpace(name + " " + e.String("type")))
	t.Children(e)
}

// FragmentEscape encodes an id for the fragment of an address. Letters of all
// scripts stay: browsers and readers understand them.
func FragmentEscape(id string) string {
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := 0; i < len(id); i++ {
		c := id[i]
		if isWordAt(id, i) || strings.IndexByte("-._~!$&'()*+,;=:@/?", c) >= 0 {
			if b != nil {
				b = append(b, c)
			}
			continue
		}
		if b == nil {
			b = append(make([]byte, 0, len(id)+8), id[:i]...)
		}
		b = append(b, '%', hex[c>>4], hex[c&15])
	}
	if b == nil {
		return id
	}
	return string(b)
}
