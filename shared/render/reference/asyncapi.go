package reference

import (
	"slices"
	"strings"
)

// Channel is what a page about a channel of AsyncAPI shows.
type Channel struct {
	// Address may hold {parameters}.
	Address    string
	Operations []ChannelOperation `json:",omitempty"`
}

// ChannelOperation is one direction of a channel.
type ChannelOperation struct {
	// Action is "send" or "receive", seen from the application that the
	// specification describes: AsyncAPI 2's publish is receive.
	Action      string
	Summary     string    `json:",omitempty"`
	Description string    `json:",omitempty"`
	Messages    []Message `json:",omitempty"`
	// Reply are the messages that answer.
	Reply []Message `json:",omitempty"`
}

// Message is a message on a channel.
type Message struct {
	Name        string
	Title       string    `json:",omitempty"`
	Description string    `json:",omitempty"`
	Type        string    `json:",omitempty"` // the content type
	Headers     *Schema   `json:",omitempty"`
	Payload     *Schema   `json:",omitempty"`
	Examples    []Example `json:",omitempty"`
}

// channels reads the channels of an AsyncAPI document.
func (r *Reader) channels(s *Spec, root place) {
	channels := root.get("channels")
	s.barItems(channels, KindChannel)
	for _, m := range channels.v.fields() {
		if strings.HasPrefix(m.key, "x-") {
			continue
		}
		at, ok := r.follow(place{doc: channels.doc, v: m.val})
		if !ok {
			if only, out := r.barredAt(place{doc: channels.doc, v: m.val}, true); out {
				s.barItem(m.key, KindChannel, only)
			}
			continue
		}
		o := Operation{
			Key: Key{Kind: KindChannel, Path: m.key}, Summary: at.v.first("title", "summary"), Description: at.v.first("description"),
			Deprecated: at.v.get("deprecated").isTrue(), Hidden: at.v.get("x-hidden").isTrue(), Excluded: at.v.get("x-excluded").isTrue(),
			Line: int(m.line), op: at,
		}
		if t := at.v.get("tags").list(); len(t) > 0 {
			if tag, ok := r.follow(place{doc: at.doc, v: t[0]}); ok {
				o.Group = tag.v.first("name")
			}
		}
		s.add(o)
	}
}

// channel cuts what a page about a channel shows.
func (c *slicer) channel(s *Spec, o *Operation) {
	out, root := c.slice, place{doc: s.doc, v: s.doc.root}
	out.Channel = &Channel{Address: o.Key.Path}
	if a := o.op.v.first("address"); a != "" {
		out.Channel.Address = a
	}
	wanted := o.op.v.get("servers")
	for _, m := range root.v.get("servers").fields() {
		at, ok := c.r.follow(place{doc: root.doc, v: m.val})
		if !ok || wanted != nil && len(wanted.items) > 0 && !slices.ContainsFunc(wanted.items, func(w *value) bool {
			return w.str() == m.key || strings.HasSuffix(w.get("$ref").str(), "/"+m.key)
		}) {
			continue
		}
		sv := c.server(at.v)
		if sv.URL == "" {
			sv.URL = at.v.first("protocol") + "://" + at.v.first("host") + at.v.first("pathname")
		} else if p := at.v.first("protocol"); p != "" && !strings.Contains(sv.URL, "://") {
			sv.URL = p + "://" + sv.URL
		}
		out.Servers = append(out.Servers, sv)
		if out.Security == nil {
			out.Security = c.asyncSecurity(root, at)
		}
	}
	for _, m := range o.op.v.get("parameters").fields() {
		at, ok := c.r.follow(place{doc: o.op.doc, v: m.val})
		if !ok {
			continue
		}
		p := Param{Name: m.key, In: "path", Required: true, Description: c.words(at.v.first("description"))}
		if schema := at.get("schema"); schema.v != nil {
			p.Schema = c.schema(schema, 0)
		} else { // AsyncAPI 3 has the schema's words in the parameter
			p.Schema = c.inline(at, 0, nil)
			p.Schema.Description, p.Schema.Types = "", []string{"string"}
		}
		out.Params = append(out.Params, p)
	}
	for _, d := range [...]struct{ name, action string }{{"publish", "receive"}, {"subscribe", "send"}} {
		op, ok := c.r.follow(o.op.get(d.name))
		if !ok || op.v == nil {
			continue
		}
		out.Channel.Operations = append(out.Channel.Operations, ChannelOperation{
			Action: d.action, Summary: op.v.first("summary"), Description: c.words(op.v.first("description")), Messages: c.messages(op.get("message")),
		})
	}
	c.asyncOperations(root, o)
}

// asyncOperations reads the operations of AsyncAPI 3, which name their channel.
func (c *slicer) asyncOperations(root place, o *Operation) {
	for _, m := range root.v.get("operations").fields() {
		op, ok := c.r.follow(place{doc: root.doc, v: m.val})
		if !ok {
			continue
		}
		if at, ok := c.r.follow(op.get("channel")); !ok || at.v != o.op.v {
			continue
		}
		read := func(list place) []Message {
			var out []Message
			for _, v := range list.v.list() {
				out = append(out, c.messages(place{doc: list.doc, v: v})...)
			}
			return out
		}
		x := ChannelOperation{
			Action: op.v.first("action"), Summary: op.v.first("title", "summary"), Description: c.words(op.v.first("description")),
			Messages: read(op.get("messages")),
		}
		if op.v.get("messages") == nil { // all of the channel's
			for _, m := range o.op.v.get("messages").fields() {
				x.Messages = append(x.Messages, c.named(place{doc: o.op.doc, v: m.val}, m.key)...)
			}
		}
		if reply, ok := c.r.follow(op.get("reply")); ok {
			x.Reply = read(reply.get("messages"))
		}
		c.slice.Channel.Operations = append(c.slice.Channel.Operations, x)
	}
	if len(c.slice.Channel.Operations) == 0 {
		x := ChannelOperation{}
		for _, m := range o.op.v.get("messages").fields() {
			x.Messages = append(x.Messages, c.named(place{doc: o.op.doc, v: m.val}, m.key)...)
		}
		if x.Messages != nil {
			c.slice.Channel.Operations = append(c.slice.Channel.Operations, x)
		}
	}
}

// messages reads a message, or several by oneOf.
func (c *slicer) messages(p place) []Message {
	if list := p.v.get("oneOf").list(); list != nil {
		var out []Message
		for _, v := range list {
			out = append(out, c.messages(place{doc: p.doc, v: v})...)
		}
		return out
	}
	return c.named(p, "")
}

func (c *slicer) named(p place, name string) []Message {
	if ref := p.v.get("$ref").str(); ref != "" {
		name = nameOf(ref)
	}
	p, ok := c.r.follow(p)
	if !ok || p.v == nil || !c.room(p) {
		return nil
	}
	m := Message{
		Name: p.v.first("name", "messageId"), Title: p.v.first("title", "summary"), Description: c.words(p.v.first("description")), Type: p.v.first("contentType"),
	}
	if m.Name == "" {
		m.Name = name
	}
	schema := func(at place) *Schema {
		if at.v == nil {
			return nil
		}
		if at.v.get("schemaFormat") != nil && at.v.get("schema") != nil {
			at = at.get("schema")
		}
		return c.schema(at, 0)
	}
	m.Headers, m.Payload = schema(p.get("headers")), schema(p.get("payload"))
	for _, e := range p.v.get("examples").list() {
		if raw := c.json(e.get("payload"), maxExample); raw != nil {
			m.Examples = append(m.Examples, Example{Name: e.first("summary", "name"), Value: raw})
		}
	}
	return []Message{m}
}

// asyncSecurity reads a server's security: names of schemes in AsyncAPI 2, the
// schemes themselves in 3.
func (c *slicer) asyncSecurity(root, server place) []Requirement {
	list := server.get("security")
	var out []Requirement
	for _, v := range list.v.list() {
		if v.get("type") == nil && v.get("$ref") == nil {
			out = append(out, c.security(root, &value{kind: listValue, items: []*value{v}})...)
			continue
		}
		if p, ok := c.r.follow(place{doc: list.doc, v: v}); ok {
			name := nameOf(v.get("$ref").str())
			out = append(out, Requirement{c.scheme(name, p.v)})
		}
	}
	return out
}
