package reference

import (
	"cmp"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// channel shows what a channel is for, and its messages.
func (b *builder) channel() []*mdx.Node {
	x := b.slice.Channel
	out := b.about(x.About)
	b.kind, b.place, b.side = "ParamField", "path", sent
	out = append(out, b.servers()...)
	out = append(out, b.authorization()...)
	out = append(out, b.params(b.slice.Params)...)
	for _, op := range x.Operations {
		if b.full() {
			return append(out, b.more())
		}
		title := words.Messages
		switch {
		case op.Action == "send":
			title = words.Send
		case op.Action == "receive":
			title = words.Receive
		case op.Unused:
			title = words.UnusedMessages
		}
		out = append(out, b.heading(2, b.text(b.lang.Say(title))))
		out = append(out, b.channelOperation(op)...)
	}
	return out
}

func (b *builder) channelOperation(op ChannelOperation) []*mdx.Node {
	var out []*mdx.Node
	if name := cmp.Or(op.Title, op.Name); name != "" && !strings.EqualFold(name, op.Action) {
		out = append(out, b.paragraph(b.strong(name)))
	}
	out = append(out, b.prose(op.Summary)...)
	out = append(out, b.prose(op.Description)...)
	out = append(out, b.about(op.About)...)
	b.kind, b.place = "ParamField", "path"
	if list := b.ways(op.Security); list != nil {
		out = append(append(out, b.paragraph(b.strong(b.lang.Say(words.Authorization)))), list...)
	}
	out = append(out, b.messages(op.Messages)...)
	if r := op.Reply; r != nil {
		line := []*mdx.Node{b.strong(b.lang.Say(words.Reply))}
		for _, to := range [...]string{r.Channel, r.Address} {
			if to != "" {
				line = append(line, b.text(" → "), b.codeSpan(to))
			}
		}
		out = append(append(out, b.paragraph(line...)), b.prose(r.Description)...)
		out = append(out, b.messages(r.Messages)...)
	}
	return out
}

func (b *builder) messages(list []Message) []*mdx.Node {
	var out []*mdx.Node
	for _, m := range list {
		if b.full() {
			return append(out, b.more())
		}
		out = append(out, b.message(m)...)
	}
	return out
}

func (b *builder) message(m Message) []*mdx.Node {
	title, summary := cmp.Or(m.Title, m.Name), m.Summary
	if title == "" {
		title, summary = summary, ""
	}
	out := append([]*mdx.Node{b.heading(3, b.text(title))}, b.prose(summary)...)
	out = append(out, b.prose(m.Description)...)
	var line []*mdx.Node
	for _, code := range [...]string{m.Name, m.Type, m.Format} {
		if code == "" || code == title {
			continue
		}
		if line != nil {
			line = append(line, b.text(" "))
		}
		line = append(line, b.codeSpan(code))
	}
	if line != nil {
		out = append(out, b.paragraph(line...))
	}
	out = append(out, b.about(m.About)...)
	if m.Correlation != nil {
		out = append(out, b.paragraph(b.codeSpan("correlationId: "+m.Correlation.Location)))
		out = append(out, b.prose(m.Correlation.Description)...)
	}
	b.kind, b.side = "ResponseField", answered
	if m.Headers != nil {
		out = append(append(out, b.paragraph(b.strong(b.lang.Say(words.Headers)))), b.value(m.Headers, "headers", 0)...)
	}
	if m.Payload != nil || m.Source != "" {
		out = append(out, b.paragraph(b.strong(b.lang.Say(words.Payload))))
	}
	if m.Payload != nil {
		out = append(out, b.value(m.Payload, "payload", 0)...)
	}
	if m.Source != "" {
		lang := "text"
		if strings.Contains(m.Format, "protobuf") {
			lang = "protobuf"
		}
		out = append(out, b.code(code{lang, "", m.Source}))
	}
	media := &Media{Type: cmp.Or(m.Type, "application/json"), Schema: m.Payload}
	lang := langOf(media.Type)
	if !isXML(media.Type) { // Avro and the like are shown as JSON
		media.Type, lang = "application/json", "json"
	}
	examples := m.Examples
	if len(examples) == 0 && m.Payload != nil && b.coded <= maxCode {
		examples = []MessageExample{{Example: Example{Value: b.slice.example(m.Payload, answered, false)}}}
	}
	for _, e := range examples {
		out = append(out, b.prose(e.Summary)...)
		if e.Headers != nil {
			out = append(out, b.code(code{"json", strings.TrimSpace(e.Name + " " + b.lang.Say(words.Headers)), exampleText("application/json", e.Headers)}))
		}
		if e.Value != nil {
			out = append(out, b.code(code{lang, e.Name, b.slice.mediaText(media, e.Value)}))
		}
	}
	return out
}

// about shows tags, docs elsewhere and what single protocols ask for.
func (b *builder) about(a About) []*mdx.Node {
	var out []*mdx.Node
	if len(a.Tags) > 0 {
		names, told := []string{}, []*mdx.Node(nil)
		for _, t := range a.Tags {
			names = append(names, t.Name)
			if t.Description != "" && len(names) <= maxShownEnum {
				told = append(told, b.paragraph(b.codeSpan(t.Name), b.text(" "+t.Description)))
			}
		}
		if len(told) < len(names) {
			out = append(out, b.listed(b.lang.Say(words.Tags), names))
		}
		out = append(out, told...)
	}
	if a.Docs != nil {
		link := &mdx.Node{Kind: mdx.Link, URL: a.Docs.URL, Children: []*mdx.Node{b.text(cmp.Or(a.Docs.Description, a.Docs.URL))}, Pos: b.pos}
		out = append(out, b.paragraph(link))
	}
	kind, side := b.kind, b.side
	defer func() { b.kind, b.side = kind, side }()
	for _, binding := range a.Bindings {
		if b.full() {
			return append(out, b.more())
		}
		line := []*mdx.Node{b.strong(binding.Protocol)}
		for _, f := range binding.Facts {
			line = append(line, b.text(" "), b.codeSpan(f.Name+": "+f.Value))
		}
		out = append(out, b.paragraph(line...))
		b.kind, b.side = "ResponseField", answered
		for _, p := range binding.Schemas {
			out = append(out, b.field(field{name: p.Name, schema: p.Schema}, 0))
		}
	}
	return out
}
