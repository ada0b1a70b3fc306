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
		if !c.room(place{doc: root.doc, v: m.val}) {
			break
		}
		at, ok := c.r.follow(place{doc: root.doc, v: m.val})
		if !ok || wanted != nil && len(wanted.items) > 0 && !slices.ContainsFunc(wanted.items, func(w *value) bool {
			return w.str() == m.key || strings.HasSuffix(w.get("$ref").str(), "/"+m.key)
		}) {
			continue
		}
		sv := c.server(at.v)
		if sv.URL == "" {
			sv.URL = c.first(at.v, "protocol") + "://" + c.first(at.v, "host") + c.first(at.v, "pathname")
		} else if p := c.first(at.v, "protocol"); p != "" && !strings.Contains(sv.URL, "://") {
			sv.URL = p + "://" + sv.URL
		}
		out.Servers = append(out.Servers, sv)
		if out.Security == nil {
			out.Security = c.asyncSecurity(root, at)
		}
	}
	c.each(o.op.get("parameters"), func(name string, at place) {
		p := Param{Name: name, In: "path", Required: true, Description: c.first(at.v, "description")}
		if schema := at.get("schema"); schema.v != nil {
			p.Schema = c.schema(schema, 0)
		} else { // AsyncAPI 3 has the schema's words in the parameter
			p.Schema = c.inline(at, 0, nil)
			p.Schema.Description, p.Schema.Types = "", []string{"string"}
		}
		out.Params = append(out.Params, p)
	})
	for _, d := range [...]struct{ name, action string }{{"publish", "receive"}, {"subscribe", "send"}} {
		op, ok := c.r.follow(o.op.get(d.name))
		if !ok || op.v == nil {
			continue
		}
		out.Channel.Operations = append(out.Channel.Operations, ChannelOperation{
			Action: d.action, Summary: c.first(op.v, "summary"), Description: c.first(op.v, "description"), Messages: c.messages(op.get("message")),
		})
	}
	c.asyncOperations(s, root, o)
}

// operationsOf returns the operations of AsyncAPI 3 that name the channel at.
func (s *Spec) operationsOf(r *Reader, root place, at *value) []place {
	if s.byChannel == nil {
		s.byChannel = map[*value][]place{}
		for _, m := range root.v.get("operations").fields() {
			op, ok := r.follow(place{doc: root.doc, v: m.val})
			if !ok {
				continue
			}
			if at, ok := r.follow(op.get("channel")); ok {
				s.byChannel[at.v] = append(s.byChannel[at.v], op)
			}
		}
	}
	return s.byChannel[at]
}

// asyncOperations reads the operations of AsyncAPI 3, which name their channel.
func (c *slicer) asyncOperations(s *Spec, root place, o *Operation) {
	for _, op := range s.operationsOf(c.r, root, o.op.v) {
		if !c.room(op) {
			break
		}
		read := func(list place) []Message {
			var out []Message
			for _, v := range list.v.list() {
				if c.full() {
					break
				}
				out = append(out, c.messages(place{doc: list.doc, v: v})...)
			}
			return out
		}
		x := ChannelOperation{
			Action: c.first(op.v, "action"), Summary: c.first(op.v, "title", "summary"), Description: c.first(op.v, "description"),
			Messages: read(op.get("messages")),
		}
		if op.v.get("messages") == nil { // all of the channel's
			for _, m := range o.op.v.get("messages").fields() {
				if c.full() {
					break
				}
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
			if c.full() {
				break
			}
			x.Messages = append(x.Messages, c.named(place{doc: o.op.doc, v: m.val}, m.key)...)
		}
		if x.Messages != nil {
			c.slice.Channel.Operations = append(c.slice.Channel.Operations, x)
		}
	}
}

func (c *slicer) messages(p place) []Message {
	if list := p.v.get("oneOf").list(); list != nil {
		var out []Message
		for _, v := range list {
			if !c.room(place{doc: p.doc, v: v}) {
				break
			}
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
	if !c.room(p) {
		return nil
	}
	p, ok := c.r.follow(p)
	if !ok || p.v == nil {
		return nil
	}
	m := Message{
		Name: c.first(p.v, "name", "messageId"), Title: c.first(p.v, "title", "summary"), Description: c.first(p.v, "description"), Type: c.first(p.v, "contentType"),
	}
	if m.Name == "" {
		m.Name = c.words(name)
	}
	inside := func(at place) place {
		if at.v.get("schemaFormat") != nil && at.v.get("schema") != nil {
			return at.get("schema")
		}
		return at
	}
	schema := func(at place) *Schema {
		if at.v == nil {
			return nil
		}
		return c.schema(inside(at), 0)
	}
	m.Headers, m.Payload = schema(p.get("headers")), schema(p.get("payload"))
	for _, e := range p.v.get("examples").list() {
		if !c.room(place{doc: p.doc, v: e}) {
			break
		}
		name := c.first(e, "summary", "name")
		if raw := c.value(e.get("payload"), inside(p.get("payload")), maxExample); raw != nil && !c.hidden.in(name) {
			m.Examples = append(m.Examples, Example{Name: name, Value: raw})
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
		if !c.room(place{doc: list.doc, v: v}) {
			break
		}
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
