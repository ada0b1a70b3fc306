package reference

import (
	"encoding/json"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// responses shows the answers, one below the other.
func (b *builder) responses() []*mdx.Node {
	if len(b.slice.Responses) == 0 {
		return nil
	}
	out := []*mdx.Node{b.heading(2, b.text(b.lang.Say(words.Responses)))}
	b.kind, b.side = "ResponseField", answered
	if b.slice.Key.Kind == KindWebhook {
		b.side = sent
	}
	for _, r := range b.slice.Responses {
		if b.full() {
			return append(out, b.more())
		}
		out = append(out, b.heading(3, b.text(r.Status)))
		out = append(out, b.prose(r.Description)...)
		if len(r.Headers) > 0 {
			out = append(out, b.paragraph(b.strong(b.lang.Say(words.Headers))))
			for _, h := range r.Headers {
				if b.full() {
					out = append(out, b.more())
					break
				}
				out = append(out, b.header(h))
			}
		}
		out = append(out, b.media(3, "", "", r.Media)...)
		out = append(out, b.links(r.Links)...)
	}
	return out
}

// links shows what can be called with what an answer holds.
func (b *builder) links(list []Link) []*mdx.Node {
	if len(list) == 0 {
		return nil
	}
	out := []*mdx.Node{b.paragraph(b.strong(b.lang.Say(words.CallLinks)))}
	for _, l := range list {
		if b.full() {
			return append(out, b.more())
		}
		out = append(out, b.paragraph(b.codeSpan(l.Name), b.text(" → "), b.codeSpan(l.Operation)))
		out = append(out, b.prose(l.Description)...)
		for _, p := range l.Params {
			if b.full() {
				break
			}
			if p.Name == "" {
				p.Name = b.lang.Say(words.Body)
			}
			out = append(out, b.paragraph(b.codeSpan(p.Name), b.text(" = "), b.codeSpan(p.Value)))
		}
	}
	return out
}

// callbacks shows the calls that the server makes.
func (b *builder) callbacks() []*mdx.Node {
	if len(b.slice.Callbacks) == 0 {
		return nil
	}
	out := []*mdx.Node{b.heading(2, b.text(b.lang.Say(words.Callbacks)))}
	b.kind, b.place, b.side = "ParamField", "body", answered
	for _, c := range b.slice.Callbacks {
		if b.full() {
			return append(out, b.more())
		}
		name := c.Name
		if c.Summary != "" {
			name = c.Summary
		}
		out = append(out, b.heading(3, b.text(name)), b.element(endpointName, []mdx.Attr{attr("method", c.Method), attr("path", c.URL)}))
		out = append(out, b.prose(c.Description)...)
		if c.Body != nil {
			out = append(out, b.media(4, b.lang.Say(words.Body), c.Body.Description, c.Body.Media)...)
		}
	}
	return out
}

// answers are the examples of answers, and of what a webhook brings.
func (b *builder) answers() []code {
	var out []code
	size := b.coded
	put := func(c code) {
		size += len(c.source)
		out = append(out, c)
	}
	add := func(title string, list []Media) {
		if len(list) == 0 {
			return
		}
		first := preferred(list)
		for i := range list {
			if size > maxCode || len(out) > maxFields {
				b.cut = true
				return
			}
			m, title := &list[i], title
			if m != first { // JSON is named by the status alone
				title = strings.TrimSpace(title + " " + m.Type)
			}
			for _, e := range m.Examples {
				label := title
				if e.Name != "" && len(m.Examples) > 1 {
					label = strings.TrimSpace(title + " " + e.Name)
				}
				if e.Value == nil { // it is elsewhere
					put(code{"text", label, e.URL})
					continue
				}
				put(code{langOf(m.Type), label, b.slice.mediaText(m, e.Value)})
			}
			if len(m.Examples) == 0 && m.Schema != nil && (m == first && isJSON(m.Type) || isXML(m.Type)) {
				put(code{langOf(m.Type), title, b.slice.mediaText(m, b.slice.example(m.Schema, answered, false))})
			}
		}
	}
	if b.slice.Key.Kind == KindWebhook {
		if b.slice.Body != nil {
			add("", b.slice.Body.Media)
		}
		return out
	}
	for _, r := range b.slice.Responses {
		add(r.Status, r.Media)
	}
	return out
}

// exampleText is an example as it is sent: JSON, or the text that it says.
func exampleText(mediaType string, raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '"' {
		text := scalarText(raw)
		if !isJSON(mediaType) {
			return text
		}
		if json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{") { // JSON that was written as a text
			return indented(json.RawMessage(text))
		}
	}
	return indented(raw)
}

func langOf(mediaType string) string {
	switch {
	case isJSON(mediaType):
		return "json"
	case strings.Contains(mediaType, "xml"):
		return "xml"
	case strings.Contains(mediaType, "html"):
		return "html"
	}
	return "text"
}

// examples is a box of code beside the text.
func (b *builder) examples(name string, list []code) *mdx.Node {
	var children []*mdx.Node
	for _, c := range list {
		children = append(children, b.code(c))
	}
	return b.element(name, nil, children...)
}

// code is a block of code; past what a page has room for, an empty one.
func (b *builder) code(c code) *mdx.Node {
	if b.coded += len(c.source); b.coded > maxCode || c.source == "" && b.slice.made > maxMade {
		b.cut, c.source = true, "…"
	}
	// The words after a fence can also be features of a block: those that
	// could be are left to readers as they are, without braces and quotes.
	title := strings.Join(strings.Fields(strings.NewReplacer("{", "", "}", "", `"`, "", "'", "", "`", "", "=", " ").Replace(c.title)), " ")
	return &mdx.Node{Kind: mdx.CodeBlock, Name: c.lang, Meta: title, Value: c.source, Pos: b.pos, End: b.pos}
}
