package reference

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Channel is what a page about a channel of AsyncAPI shows.
type Channel struct {
	// Address may hold {parameters}; it is empty where it is not known.
	Address    string
	Operations []ChannelOperation `json:",omitempty"`
	About
}

// ChannelOperation is one direction of a channel.
type ChannelOperation struct {
	// Action is "send" or "receive", seen from the application that the
	// specification describes: AsyncAPI 2's publish is receive. It is empty for the
	// messages of a channel that no operation on it has; Unused are those that answer
	// no other operation either.
	Action string
	Unused bool `json:",omitempty"`
	// Name is the operation's name in the specification, if it has no title.
	Name        string    `json:",omitempty"`
	Title       string    `json:",omitempty"`
	Summary     string    `json:",omitempty"`
	Description string    `json:",omitempty"`
	Messages    []Message `json:",omitempty"`
	// Security has the operation's own requirements, besides the server's.
	Security []Requirement `json:",omitempty"`
	Reply    *Reply        `json:",omitempty"`
	About
}

// Reply says how an operation is answered.
type Reply struct {
	// Channel is the address or name of the channel of the answer; Address says where
	// a message holds it, as an expression.
	Channel     string    `json:",omitempty"`
	Address     string    `json:",omitempty"`
	Description string    `json:",omitempty"`
	Messages    []Message `json:",omitempty"`
}

// Message is a message on a channel.
type Message struct {
	Name        string
	Title       string  `json:",omitempty"`
	Summary     string  `json:",omitempty"`
	Description string  `json:",omitempty"`
	Type        string  `json:",omitempty"` // the content type
	Headers     *Schema `json:",omitempty"`
	Payload     *Schema `json:",omitempty"`
	// Source is the payload's schema as its author wrote it, in a language that is not
	// read; Format names the language.
	Source string `json:",omitempty"`
	Format string `json:",omitempty"`
	// Correlation says where the message holds what relates it to others.
	Correlation *Correlation     `json:",omitempty"`
	Examples    []MessageExample `json:",omitempty"`
	About
}

// Correlation is the place of an identifier in a message, as an expression.
type Correlation struct{ Location, Description string }

// MessageExample is a message by the author.
type MessageExample struct {
	Example
	Summary string          `json:",omitempty"`
	Headers json.RawMessage `json:",omitempty"`
}

// About has the fields that servers, channels, operations and messages share.
type About struct {
	Tags     []Tag         `json:",omitempty"`
	Docs     *ExternalDocs `json:",omitempty"`
	Bindings []Binding     `json:",omitempty"`
}

// Tag is a word that things share.
type Tag struct{ Name, Description string }

// ExternalDocs are docs elsewhere.
type ExternalDocs struct{ URL, Description string }

// Binding has the settings of one protocol.
type Binding struct {
	Protocol string
	// Facts are values by their names; those in objects have dots in their names.
	Facts []Limit `json:",omitempty"`
	// Schemas are values that a schema describes.
	Schemas []Property `json:",omitempty"`
}

// channels reads the channels of an AsyncAPI document.
func (r *Reader) channels(s *Spec, root place) {
	channels := root.get("channels")
	s.barItems(channels, KindChannel)
	r.unusedMessages(s, root)
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
		if summary := at.v.first("summary"); summary != "" && summary != o.Summary {
			o.Description = strings.TrimSpace(summary + "\n\n" + o.Description)
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
	c.async2 = strings.HasPrefix(s.Version, "2")
	c.contentType = root.v.first("defaultContentType")
	out.Channel = &Channel{Address: c.words(s.addressOf(o.op.v, o.Key.Path)), About: c.about(layers{o.op})}
	c.asyncServers(root, o)
	c.each(o.op.get("parameters"), func(name string, at place) {
		p := Param{Name: name, In: "path", Required: true, Description: c.first(at.v, "description")}
		if schema := at.get("schema"); schema.v != nil {
			p.Schema = c.schema(schema, 0)
		} else { // AsyncAPI 3 has the schema's words in the parameter
			p.Schema = c.inline(at, 0, nil)
			p.Schema.Description, p.Schema.Types = "", []string{"string"}
		}
		if location := c.first(at.v, "location"); location != "" {
			whole := *c.slice.resolve(p.Schema)
			whole.Limits = append(slices.Clip(whole.Limits), Limit{"location", location})
			p.Schema = &whole
		}
		out.Params = append(out.Params, p)
	})
	for _, d := range [...]struct{ name, action string }{{"publish", "receive"}, {"subscribe", "send"}} {
		op, ok := c.r.follow(o.op.get(d.name))
		if !ok || op.v == nil {
			continue
		}
		x, l := c.asyncOperation(root, op, op.v.first("operationId"))
		x.Action, x.Messages = d.action, c.messages(l.get("message"))
		out.Channel.Operations = append(out.Channel.Operations, x)
	}
	c.asyncOperations(s, root, o)
}

// addressOf is a channel's address: in AsyncAPI 2 its key. In 3 it is unknown where the
// author names none.
func (s *Spec) addressOf(channel *value, key string) string {
	if strings.HasPrefix(s.Version, "2") {
		return key
	}
	return channel.first("address")
}

// asyncServers reads the servers of a channel, and the ways into any of them.
func (c *slicer) asyncServers(root place, o *Operation) {
	out, wanted := c.slice, o.op.v.get("servers")
	known := map[string]bool{}
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
		sv.Protocol = c.first(at.v, "protocol")
		if sv.URL == "" {
			sv.URL = sv.Protocol + "://" + c.first(at.v, "host") + c.first(at.v, "pathname")
		} else if sv.Protocol != "" && !strings.Contains(sv.URL, "://") {
			sv.URL = sv.Protocol + "://" + sv.URL
		}
		if version := c.first(at.v, "protocolVersion"); version != "" {
			sv.Protocol += " " + version
		}
		sv.Title, sv.Summary, sv.About = c.first(at.v, "title"), c.first(at.v, "summary"), c.about(layers{at})
		out.Servers = append(out.Servers, sv)
		for _, way := range c.asyncSecurity(root, at.get("security")) {
			var key strings.Builder
			for _, s := range way {
				key.WriteString(s.Name + "\x00" + s.Type + "\x00" + strings.Join(s.Scopes, " ") + "\x00")
			}
			if !known[key.String()] {
				known[key.String()] = true
				out.Security = append(out.Security, way)
			}
		}
	}
}

// layers are an object of AsyncAPI and its traits: of what several say, the first says it.
type layers []place

// layers reads the traits of an operation or a message. In AsyncAPI 3 what the object
// itself says wins, in 2 what its traits say; of the traits the last wins.
func (c *slicer) layers(p place) layers {
	var traits layers
	for _, v := range p.v.get("traits").list() {
		at := place{doc: p.doc, v: v}
		if v.kind == listValue && len(v.items) > 0 { // of AsyncAPI 1: a trait and its parameters
			at.v = v.items[0]
		}
		if !c.room(at) {
			break
		}
		if at, ok := c.r.follow(at); ok && at.v != nil {
			traits = append(traits, at)
		}
	}
	slices.Reverse(traits)
	if c.async2 {
		return append(traits, p)
	}
	return append(layers{p}, traits...)
}

// get returns the member of the first layer that has it.
func (l layers) get(key string) place {
	for _, p := range l {
		if at := p.get(key); at.v != nil {
			return at
		}
	}
	return place{doc: l[0].doc}
}

// layered takes the text of the first layer that has the member.
func (c *slicer) layered(l layers, key string) string { return c.words(l.get(key).v.str()) }

// about reads what the layers say of tags, other docs and bindings.
func (c *slicer) about(l layers) About {
	var a About
	index := map[string]int{} // where a protocol's binding is
	have := map[string]bool{} // names of its values
	for _, p := range l {
		for _, v := range p.v.get("tags").list() {
			at := place{doc: p.doc, v: v}
			if !c.room(at) {
				break
			}
			if at, ok := c.r.follow(at); ok && at.v.first("name") != "" {
				a.Tags = append(a.Tags, Tag{c.first(at.v, "name"), c.first(at.v, "description")})
			}
		}
		if docs, ok := c.r.follow(p.get("externalDocs")); ok && a.Docs == nil && docs.v.first("url") != "" {
			a.Docs = &ExternalDocs{c.first(docs.v, "url"), c.first(docs.v, "description")}
		}
		bindings, ok := c.r.follow(p.get("bindings"))
		if !ok {
			continue
		}
		c.each(bindings, func(protocol string, at place) {
			i, known := index[protocol]
			if !known {
				i, index[protocol] = len(a.Bindings), len(a.Bindings)
				a.Bindings = append(a.Bindings, Binding{Protocol: protocol})
			}
			c.binding(&a.Bindings[i], have, "", at, 0)
		})
	}
	return a
}

// maxBindingDepth is how deep objects of a binding lie in each other.
const maxBindingDepth = 6

// binding adds what p says to a binding, under a name, unless a layer before has said it.
func (c *slicer) binding(b *Binding, have map[string]bool, name string, p place, depth int) {
	v := p.v
	if v == nil || depth > maxBindingDepth || len(name) > maxScalar {
		return
	}
	isSchema := v.kind == objectValue && name != "" && (v.get("properties") != nil || isTypeName(v.first("type")) || v.get("enum") != nil)
	if v.kind != objectValue || isSchema {
		key := b.Protocol + "\x00" + name
		if have[key] {
			return
		}
		have[key] = true
	}
	switch {
	case isSchema:
		b.Schemas = append(b.Schemas, Property{Name: c.words(name), Schema: c.schema(p, 0)})
	case v.kind == objectValue:
		c.each(p, func(key string, at place) {
			if name != "" {
				key = name + "." + key
			}
			c.binding(b, have, key, at, depth+1)
		})
	case v.kind == listValue:
		if raw := c.value(v, place{}, maxScalar); raw != nil {
			b.Facts = append(b.Facts, Limit{c.words(name), string(raw)})
		}
	default:
		b.Facts = append(b.Facts, Limit{c.words(name), c.words(v.literal())})
	}
}

// isTypeName reports whether a text is a type of JSON Schema.
func isTypeName(s string) bool {
	switch s {
	case "object", "array", "string", "integer", "number", "boolean", "null":
		return true
	}
	return false
}

// operationsOf returns the operations of AsyncAPI 3 that name the channel at.
func (s *Spec) operationsOf(r *Reader, root place, at *value) []asyncOperation {
	if s.byChannel == nil {
		s.byChannel, s.sent = map[*value][]asyncOperation{}, map[*value]bool{}
		done := map[*value]bool{}
		uses := func(list, channel place) { // messages, without which all of the channel's are meant
			all := channel.get("messages")
			if list.v != nil {
				all = list
			}
			if all.v == nil || done[all.v] {
				return
			}
			done[all.v] = true
			mark := func(v *value) {
				if m, ok := r.follow(place{doc: all.doc, v: v}); ok {
					s.sent[m.v] = true
				}
			}
			for _, v := range all.v.list() {
				mark(v)
			}
			for _, f := range all.v.fields() {
				mark(f.val)
			}
		}
		for _, m := range root.v.get("operations").fields() {
			op, ok := r.follow(place{doc: root.doc, v: m.val})
			if !ok {
				continue
			}
			if at, ok := r.follow(op.get("channel")); ok {
				s.byChannel[at.v] = append(s.byChannel[at.v], asyncOperation{m.key, op})
				uses(op.get("messages"), at)
			}
			if reply, ok := r.follow(op.get("reply")); ok && reply.v != nil {
				if at, ok := r.follow(reply.get("channel")); ok {
					uses(reply.get("messages"), at)
				}
			}
		}
	}
	return s.byChannel[at]
}

// asyncOperation is an operation of AsyncAPI 3 and its name.
type asyncOperation struct {
	name string
	at   place
}

// asyncOperation reads what both versions say of an operation.
func (c *slicer) asyncOperation(root, op place, name string) (ChannelOperation, layers) {
	l := c.layers(op)
	x := ChannelOperation{
		Title: c.layered(l, "title"), Summary: c.layered(l, "summary"), Description: c.layered(l, "description"),
		Security: c.asyncSecurity(root, l.get("security")), About: c.about(l),
	}
	if x.Title == "" {
		x.Name = c.words(name)
	}
	return x, l
}

// asyncOperations reads the operations of AsyncAPI 3, which name their channel.
func (c *slicer) asyncOperations(s *Spec, root place, o *Operation) {
	for _, op := range s.operationsOf(c.r, root, o.op.v) {
		if !c.room(op.at) {
			break
		}
		x, _ := c.asyncOperation(root, op.at, op.name)
		x.Action, x.Messages = c.first(op.at.v, "action"), c.messagesOf(op.at.get("messages"), o.op)
		if reply, ok := c.r.follow(op.at.get("reply")); ok && reply.v != nil {
			x.Reply = c.reply(s, reply)
		}
		c.slice.Channel.Operations = append(c.slice.Channel.Operations, x)
	}
	// What no operation sends is shown too.
	rest, unused := ChannelOperation{}, ChannelOperation{Unused: true}
	for _, m := range o.op.v.get("messages").fields() {
		if c.full() {
			break
		}
		at := place{doc: o.op.doc, v: m.val}
		if target, ok := c.r.follow(at); ok && c.room(at) && !c.shown[target.v] {
			to := &rest
			if !s.sent[target.v] && len(c.slice.Channel.Operations) > 0 {
				to = &unused
			}
			to.Messages = append(to.Messages, c.named(at, m.key)...)
		}
	}
	for _, x := range [...]ChannelOperation{rest, unused} {
		if x.Messages != nil {
			c.slice.Channel.Operations = append(c.slice.Channel.Operations, x)
		}
	}
}

// messagesOf reads the messages that a list names, and without a list all of the channel.
func (c *slicer) messagesOf(list, channel place) []Message {
	var out []Message
	for _, v := range list.v.list() {
		if c.full() {
			break
		}
		out = append(out, c.messages(place{doc: list.doc, v: v})...)
	}
	if list.v != nil {
		return out
	}
	for _, m := range channel.v.get("messages").fields() {
		if c.full() {
			break
		}
		out = append(out, c.named(place{doc: channel.doc, v: m.val}, m.key)...)
	}
	return out
}

// reply reads how an operation is answered.
func (c *slicer) reply(s *Spec, p place) *Reply {
	r := &Reply{}
	if at, ok := c.r.follow(p.get("address")); ok {
		r.Address, r.Description = c.first(at.v, "location"), c.first(at.v, "description")
	}
	channel, ok := c.r.follow(p.get("channel"))
	if ok && channel.v != nil {
		r.Channel = c.words(cmp.Or(s.addressOf(channel.v, ""), nameOf(p.v.get("channel").get("$ref").str())))
	}
	r.Messages = c.messagesOf(p.get("messages"), channel)
	return r
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

// named reads a message. name is what it is called where it has no name of its own.
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
	if c.shown == nil {
		c.shown = map[*value]bool{}
	}
	c.shown[p.v] = true
	l := c.layers(p)
	m := Message{
		Name: cmp.Or(c.layered(l, "name"), c.layered(l, "messageId"), c.words(name)), Title: c.layered(l, "title"), Summary: c.layered(l, "summary"),
		Description: c.layered(l, "description"), Type: cmp.Or(c.layered(l, "contentType"), c.words(c.contentType)), About: c.about(l),
	}
	if at, ok := c.r.follow(l.get("correlationId")); ok && at.v != nil {
		m.Correlation = &Correlation{c.first(at.v, "location"), c.first(at.v, "description")}
	}
	for _, layer := range l {
		if at := layer.get("headers"); at.v != nil {
			m.Headers = c.joined(m.Headers, at)
		}
	}
	payload, format := c.asyncSchema(l.get("payload"), c.layered(l, "schemaFormat"))
	switch {
	case payload.v == nil:
	case strings.Contains(format, "avro"):
		m.Payload = c.avro(payload, map[string]string{}, "", 0)
	case payload.v.kind == stringValue:
		m.Source, m.Format = c.words(payload.v.text), format
	default:
		m.Payload = c.schema(payload, 0)
	}
	typed := payload // how its values are read
	if strings.Contains(format, "avro") {
		typed = place{}
	}
	examples := l.get("examples")
	for _, e := range examples.v.list() {
		at := place{doc: examples.doc, v: e}
		if !c.room(at) {
			break
		}
		at, ok := c.r.follow(at)
		if !ok {
			continue
		}
		x := MessageExample{Example: Example{Name: c.first(at.v, "name")}, Summary: c.first(at.v, "summary")}
		x.Value = c.value(at.v.get("payload"), typed, maxExample)
		x.Headers = c.value(at.v.get("headers"), l.get("headers"), maxExample)
		if (x.Value != nil || x.Headers != nil) && !c.hidden.in(x.Name) && !c.hidden.in(x.Summary) {
			m.Examples = append(m.Examples, x)
		}
	}
	return []Message{m}
}

// asyncSchema returns a schema and the format that its author names, if any. In AsyncAPI 2
// the message names it, in 3 it stands beside the schema.
func (c *slicer) asyncSchema(at place, format string) (place, string) {
	if at.v.get("schema") != nil {
		if target, ok := c.r.follow(at); ok && target.v.get("schemaFormat") != nil {
			at, format = target.get("schema"), c.first(target.v, "schemaFormat")
		}
	}
	return at, format
}

// joined is a schema with what another adds, as allOf has it.
func (c *slicer) joined(s *Schema, p place) *Schema {
	p, _ = c.asyncSchema(p, "")
	if s == nil {
		return c.schema(p, 0)
	}
	at, ok := c.r.follow(p)
	if !ok || !c.room(at) {
		return s
	}
	whole := *c.slice.resolve(s)
	whole.add(c.inline(at, 0, nil))
	whole.Name, whole.Ref = "", ""
	return &whole
}

// asyncSecurity reads the security of a server or an operation: names of schemes in
// AsyncAPI 2, the schemes themselves in 3, each of which is enough.
func (c *slicer) asyncSecurity(root, list place) []Requirement {
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
			s := c.scheme(nameOf(v.get("$ref").str()), p.v)
			s.Scopes = c.texts(p.v.get("scopes"), maxParts)
			out = append(out, Requirement{s})
		}
	}
	return out
}

// unusedMessages reports the messages of the components that no channel has: no page shows
// them.
func (r *Reader) unusedMessages(s *Spec, root place) {
	list := root.v.get("components").get("messages").fields()
	if len(list) == 0 {
		return
	}
	used := map[string]bool{}
	seen := map[*value]bool{} // aliases stand for the same part in many places
	var look func(v *value, depth int)
	look = func(v *value, depth int) {
		if v == nil || depth > maxSchemaDepth || seen[v] {
			return
		}
		seen[v] = true
		if ref := v.get("$ref").str(); ref != "" {
			used[ref[strings.LastIndexByte(ref, '#')+1:]] = true
		}
		for _, m := range v.fields() {
			look(m.val, depth+1)
		}
		for _, x := range v.list() {
			look(x, depth+1)
		}
	}
	for _, m := range root.v.fields() {
		if m.key == "channels" || m.key == "operations" {
			look(m.val, 0)
		}
	}
	for _, part := range [...]string{"channels", "operations", "replies", "operationTraits", "messages"} {
		look(root.v.get("components").get(part), 0)
	}
	for _, m := range list {
		if !used["/components/messages/"+pointerPart(m.key)] && !strings.HasPrefix(m.key, "x-") {
			r.report(mdx.Info, "api-message", root.doc.file, m.line, "no channel has the message %q: no page shows it", m.key)
		}
	}
}

// pointerPart is a name as JSON pointers have it (RFC 6901).
func pointerPart(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
