package component

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/words"
)

func fieldComponents() []*Component {
	facts := []AttrSpec{
		{"type", "string", "", "Its type, as any text."},
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
			Name: "ParamField", Doc: "A parameter of a call.", Block: true,
			Attrs: slices.Concat([]AttrSpec{
				{"path", "string", "", "The name of a parameter in the path."},
				{"query", "string", "", "The name of a parameter in the query."},
				{"header", "string", "", "The name of a header."},
				{"cookie", "string", "", "The name of a cookie."},
				{"body", "string", "", "The name of a field of the body."},
				{"name", "string", "", "A name, where no place is given."},
			}, facts),
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
			Name: "ResponseField", Doc: "A field of an answer.", Block: true,
			Attrs:    slices.Concat([]AttrSpec{{"name", "string", "", "The field's name."}}, facts),
			ID:       func(e *Element) (string, string) { return "response-", e.String("name") },
			HTML:     func(w *Writer, e *Element) { fieldHTML(w, e, e.String("name"), "") },
			Markdown: func(m *Markdown, e *Element) { fieldMarkdown(m, e, e.String("name"), "") },
			Text:     func(t *Text, e *Element) { fieldText(t, e, e.String("name")) },
		},
	}
}

// paramName finds a parameter's name and the place that names it.
func paramName(e *Element) (name, place string) {
	for _, place := range []string{"path", "query", "header", "cookie", "body"} {
		if name := e.String(place); name != "" {
			return name, place
		}
	}
	return e.String("name"), ""
}

func fieldHTML(w *Writer, e *Element, name, place string) {
	w.open("div", e, "field bdy-field").Raw(`><div class="bdy-field-head">`)
	labels(w, e, "pre")
	if id := w.ID(e); id != "" && name != "" {
		w.Raw(`<a class="bdy-field-name"`).Attr("href", "#"+FragmentEscape(id)).Raw(`><code>`).Text(name).Raw("</code></a>")
	} else if name != "" {
		w.Raw(`<span class="bdy-field-name"><code>`).Text(name).Raw("</code></span>")
	}
	labels(w, e, "post")
	if t := e.String("type"); t != "" {
		w.Raw(` <span class="bdy-field-type">`).Text(t).Raw("</span>")
	}
	// "body" is what a parameter is by default: the word adds nothing.
	if place != "" && place != "body" {
		w.Raw(` <span class="bdy-field-place">`).Text(place).Raw("</span>")
	}
	for _, f := range fieldFlags() {
		if e.Bool(f.name) {
			w.Raw(` <span class="bdy-field-`).Raw(f.name).Raw(`">`).Raw(w.say(f.word)).Raw("</span>")
		}
	}
	for _, f := range fieldValues() {
		if v := e.Display(f.name); v != "" {
			w.Raw(` <span class="bdy-field-value">`).Raw(w.say(f.word)).Raw(`: <code>`).Text(v).Raw("</code></span>")
		}
	}
	w.Raw(`</div><div class="bdy-field-body">`).Children(e).Raw("</div></div>")
}

func labels(w *Writer, e *Element, attr string) {
	for _, s := range e.Strings(attr) {
		w.Raw(` <span class="bdy-field-label">`).Text(s).Raw("</span> ")
	}
}

// fieldWord is an attribute and the word that shows it.
type fieldWord struct {
	name string
	word words.Phrase
}

func fieldFlags() []fieldWord {
	return []fieldWord{{"required", words.Required}, {"optional", words.Optional}, {"deprecated", words.Deprecated}}
}

func fieldValues() []fieldWord {
	return []fieldWord{{"default", words.Default}, {"placeholder", words.Example}}
}

func fieldFacts(m *Markdown, e *Element, place string) []string {
	facts := slices.Concat(e.Strings("pre"), e.Strings("post"))
	if t := e.String("type"); t != "" {
		facts = append(facts, t)
	}
	if place != "" && place != "body" {
		facts = append(facts, "in "+place)
	}
	for _, f := range fieldFlags() {
		if e.Bool(f.name) {
			facts = append(facts, m.say(f.word))
		}
	}
	for _, f := range fieldValues() {
		if v := e.Display(f.name); v != "" {
			facts = append(facts, m.say(f.word)+" "+v)
		}
	}
	return facts
}

func fieldMarkdown(m *Markdown, e *Element, name, place string) {
	line := ""
	if name != "" {
		line = CodeSpan(name)
	}
	if facts := fieldFacts(m, e, place); len(facts) > 0 {
		line += " (" + escapeText(strings.Join(facts, ", ")) + ")"
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
