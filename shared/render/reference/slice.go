package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// maxSliceBytes bounds the values and texts of one slice.
const maxSliceBytes = 4 << 20

// Slice is what one page shows of a specification, and all it shows: the
// specification is not read again.
type Slice struct {
	// File is the specification, Line where the operation stands in it.
	File string
	Line int
	Key  Key
	// Title and Description are the author's; Description and all others are
	// Markdown.
	Title       string `json:",omitempty"`
	Description string `json:",omitempty"`
	// Preface is MDX that the author puts before all else.
	Preface    string `json:",omitempty"`
	Deprecated bool   `json:",omitempty"`

	Servers []Server `json:",omitempty"`
	// Security lists the ways to be let in, each of which is enough; an empty
	// way means that none is needed.
	Security  []Requirement `json:",omitempty"`
	Params    []Param       `json:",omitempty"`
	Body      *Body         `json:",omitempty"`
	Responses []Response    `json:",omitempty"`
	Callbacks []Callback    `json:",omitempty"`
	Samples   []Sample      `json:",omitempty"`
	// Channel is set for pages about a channel.
	Channel *Channel `json:",omitempty"`
	// Schema is what a page about a schema shows.
	Schema *Schema `json:",omitempty"`
	// Schemas are those with names, by file and pointer.
	Schemas map[string]*Schema `json:",omitempty"`
	// Cut reports that the specification says more than the slice has room for.
	Cut bool `json:",omitempty"`
	// Steps is how many steps the page may take to show the slice, if fewer
	// than a page may take at most.
	Steps int `json:",omitempty"`

	made int // values that were looked at for the examples of the page
}

// Encode writes a slice as JSON, from which it can be read again. Signs of HTML
// are left as they are: examples stay as their author wrote them.
func (s *Slice) Encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Server is an address that calls go to, with {variables}.
type Server struct {
	URL         string
	Description string     `json:",omitempty"`
	Variables   []Variable `json:",omitempty"`
	// What follows is AsyncAPI's: Protocol has the protocol's version behind it.
	Protocol string `json:",omitempty"`
	Title    string `json:",omitempty"`
	Summary  string `json:",omitempty"`
	About
}

// tells reports whether a server of AsyncAPI says more than its address.
func (s *Server) tells() bool {
	return s.Protocol != "" && (strings.Contains(s.Protocol, " ") || s.Title+s.Summary+s.Description != "" || len(s.Tags)+len(s.Bindings) > 0 || s.Docs != nil)
}

// Variable is a part of a server's address.
type Variable struct {
	Name, Default string
	Description   string   `json:",omitempty"`
	Enum          []string `json:",omitempty"`
}

// Requirement is one way to be let in: all of its schemes together.
type Requirement []Scheme

// Scheme is a way to identify the caller.
type Scheme struct {
	Name string
	// Type is OpenAPI's: apiKey, http, oauth2, openIdConnect, mutualTLS.
	Type        string
	Description string `json:",omitempty"`
	// In and Field say where a key stands; HTTP is "basic", "bearer", …
	In     string   `json:",omitempty"`
	Field  string   `json:",omitempty"`
	HTTP   string   `json:",omitempty"`
	Format string   `json:",omitempty"`
	URL    string   `json:",omitempty"` // of openIdConnect
	Value  string   `json:",omitempty"` // what the playground's form begins with
	Scopes []string `json:",omitempty"`
	Flows  []Flow   `json:",omitempty"`
}

// Flow is one of OAuth's flows.
type Flow struct {
	Name                   string
	AuthorizeURL, TokenURL string  `json:",omitempty"`
	RefreshURL             string  `json:",omitempty"`
	Scopes                 []Scope `json:",omitempty"`
}

// Scope is a right that a caller can be given.
type Scope struct{ Name, Description string }

// Param is a parameter of a call.
type Param struct {
	Name string
	// In is "path", "query", "header" or "cookie".
	In          string
	Description string `json:",omitempty"`
	Required    bool   `json:",omitempty"`
	Deprecated  bool   `json:",omitempty"`
	// Style is OpenAPI's, or "json" for a value that is sent as JSON, because
	// the parameter has content in place of a schema.
	Style    string            `json:",omitempty"`
	Explode  bool              `json:",omitempty"`
	Schema   *Schema           `json:",omitempty"`
	Examples []json.RawMessage `json:",omitempty"`
	Labels
}

// Body is what a call sends.
type Body struct {
	Description string  `json:",omitempty"`
	Required    bool    `json:",omitempty"`
	Media       []Media `json:",omitempty"`
}

// Media is content of one type.
type Media struct {
	Type     string
	Schema   *Schema   `json:",omitempty"`
	Examples []Example `json:",omitempty"`
	// Parts say how fields of a form are sent.
	Parts []Part `json:",omitempty"`
}

// Part is how one field of a form is sent.
type Part struct {
	Name string
	// Type is a content type, or several after commas; "" where the author
	// names none.
	Type string `json:",omitempty"`
	// Style and Explode are OpenAPI's, Style "" where the author says neither.
	Style   string `json:",omitempty"`
	Explode bool   `json:",omitempty"`
	// Headers are those of the part.
	Headers []Param `json:",omitempty"`
}

// Example is a value by the author.
type Example struct {
	Name        string          `json:",omitempty"`
	Description string          `json:",omitempty"`
	Value       json.RawMessage `json:",omitempty"`
	// URL is where the value is, of one that the specification does not hold.
	URL string `json:",omitempty"`
}

// Response is an answer.
type Response struct {
	// Status is a code, a range such as "4XX", or "default".
	Status      string
	Description string  `json:",omitempty"`
	Headers     []Param `json:",omitempty"`
	Media       []Media `json:",omitempty"`
	Links       []Link  `json:",omitempty"`
}

// Link says what can be called with what an answer holds.
type Link struct {
	Name, Operation string
	Description     string `json:",omitempty"`
	// Params say what of the answer is filled in, as expressions.
	Params []LinkParam `json:",omitempty"`
}

// LinkParam is a parameter of the call that a link leads to, or with the name ""
// its body.
type LinkParam struct{ Name, Value string }

// Callback is a call that the server makes.
type Callback struct {
	Name, Method, URL string
	Summary           string `json:",omitempty"`
	Description       string `json:",omitempty"`
	Body              *Body  `json:",omitempty"`
}

// Sample is code by the author.
type Sample struct{ Lang, Label, Source string }

// Slice cuts what a page about an operation shows.
func (r *Reader) Slice(s *Spec, o *Operation) *Slice {
	before := s.parts
	out, hidden := r.cut(s, o, hidden{})
	if hidden.any() {
		// What the page's schemas hide must not stand in its examples either,
		// and all of it is known only now.
		s.parts = before
		out, _ = r.cut(s, o, hidden.settle(out))
	}
	return out
}

// cut makes a slice without what is hidden, and returns what of the parts it
// has met must be.
func (r *Reader) cut(s *Spec, o *Operation, known hidden) (*Slice, hidden) {
	out := &Slice{
		File: s.File, Line: o.Line, Key: o.Key, Title: o.Name(),
		Deprecated: o.Deprecated, Schemas: map[string]*Schema{},
	}
	defer func() { // all files are read that the operation refers to
		if steps := r.share(len(s.Operations)); steps < maxSteps {
			out.Steps = steps
		}
	}()
	c := &slicer{r: r, slice: out, spent: &s.parts, limit: r.sliceBytes(s), have: map[string]bool{}, hidden: known}
	defer func() { s.bytes += c.bytes }()
	out.Description = c.words(o.Description)
	switch o.Key.Kind {
	case KindSchema:
		out.Schemas[o.op.id] = new(Schema)
		*out.Schemas[o.op.id] = *c.schema(o.op, 0)
		if target := out.Schemas[o.op.id]; target.Ref == "" {
			target.Name = o.Key.Path
		}
		out.Schema = &Schema{Ref: o.op.id}
		return out, c.hides()
	case KindChannel:
		c.channel(s, o)
		return out, c.hides()
	}
	root := place{doc: s.doc, v: s.doc.root}
	c.operation(root, o.item, o.op)
	out.Preface = o.preface
	return out, c.hides()
}

// hides returns what of the page's parts is hidden. A page that has not all its
// parts does not know all of it.
func (c *slicer) hides() hidden {
	c.hidden.blind = c.hidden.blind || (c.slice.Cut || c.full()) && c.hidden.any()
	return c.hidden
}

// operation fills the slice of an operation. item is the path's item that it
// stands in, root the specification.
func (c *slicer) operation(root, item, op place) {
	out := c.slice
	whole := root
	if out.Key.Kind == KindWebhook { // its receiver is neither of the API's servers nor lets callers in
		whole = place{doc: root.doc}
	}
	for _, from := range [...]place{op, item, whole} { // the closest list wins
		if list := from.v.get("servers").list(); len(list) > 0 {
			for _, s := range list {
				if !c.room(place{doc: from.doc, v: s}) {
					break
				}
				server := c.server(s)
				server.URL = fromFile(from.doc.file, server.URL)
				out.Servers = append(out.Servers, server)
			}
			break
		}
	}
	if address := fromFile(root.doc.file, "/"); len(out.Servers) == 0 && whole.v != nil && address != "/" {
		out.Servers = []Server{{URL: address}} // as OpenAPI has it without servers
	}
	c.hideParts(op.doc, op.v)
	c.hideParts(op.doc, op.v.get("parameters"))
	c.hideParts(item.doc, item.v.get("parameters"))
	security := op.get("security")
	if security.v == nil {
		security = whole.get("security")
	}
	out.Security = c.security(root, security.v)
	c.params(op)
	c.params(item)
	out.Body = c.body(op.get("requestBody"))
	c.each(op.get("responses"), func(status string, at place) {
		if !strings.HasPrefix(status, "x-") {
			out.Responses = append(out.Responses, c.response(status, at))
		}
	})
	c.each(op.get("callbacks"), c.callbacks)
	for _, name := range [...]string{"x-codeSamples", "x-code-samples"} {
		for _, v := range op.v.get(name).list() {
			if !c.room(place{doc: op.doc, v: v}) {
				break
			}
			if len(v.first("source")) > maxExample {
				continue
			}
			s := Sample{c.first(v, "lang"), c.first(v, "label"), c.first(v, "source")}
			if c.bytes += len(s.Source); s.Source != "" && c.bytes <= c.limit && !c.hidden.in(s.Source) {
				out.Samples = append(out.Samples, s)
			}
		}
	}
}

// params adds the parameters that an operation or its path's item lists, except
// those that the slice has already.
func (c *slicer) params(from place) {
	for _, v := range from.v.get("parameters").list() {
		at := place{doc: from.doc, v: v}
		if !c.room(at) {
			break
		}
		p, ok := c.r.follow(at)
		if !ok {
			continue
		}
		param := c.param(p)
		if at := param.In + " " + param.Name; param.Name != "" && param.In != "" && !c.have[at] {
			c.have[at] = true
			c.slice.Params = append(c.slice.Params, param)
		}
	}
}

// callbacks adds the calls of a callback: p lists them by address.
func (c *slicer) callbacks(name string, p place) {
	c.each(p, func(address string, call place) {
		if strings.HasPrefix(address, "x-") {
			return
		}
		for _, method := range methods {
			v := call.get(method)
			if v.v == nil || !c.room(v) {
				continue
			}
			c.slice.Callbacks = append(c.slice.Callbacks, Callback{
				Name: c.words(name), Method: strings.ToUpper(method), URL: c.words(address),
				Summary: c.first(v.v, "summary"), Description: c.first(v.v, "description"), Body: c.body(v.get("requestBody")),
			})
		}
	})
}

func (c *slicer) server(v *value) Server {
	s := Server{URL: c.first(v, "url"), Description: c.first(v, "description")}
	for _, m := range v.get("variables").fields() {
		if c.bytes >= c.limit {
			break
		}
		s.Variables = append(s.Variables, Variable{Name: c.words(m.key), Default: c.first(m.val, "default"), Description: c.first(m.val, "description"), Enum: c.texts(m.val.get("enum"), maxParts)})
	}
	return s
}

// security resolves requirements by the names of their schemes.
func (c *slicer) security(root place, v *value) []Requirement {
	var out []Requirement
	for _, way := range v.list() {
		if !c.room(place{doc: root.doc, v: way}) {
			break
		}
		req := Requirement{}
		for _, m := range way.fields() {
			if !c.room(place{doc: root.doc, v: m.val}) {
				break
			}
			p, ok := c.r.follow(place{doc: root.doc, v: root.v.get("components").get("securitySchemes").get(m.key)})
			if !ok || p.v == nil {
				c.r.report(mdx.Warning, "api-security", root.doc.file, m.line, "there is no security scheme %q", m.key)
				continue
			}
			s := c.scheme(m.key, p.v)
			s.Scopes = c.texts(m.val, maxParts)
			req = append(req, s)
		}
		out = append(out, req)
	}
	return out
}

func (c *slicer) scheme(name string, v *value) Scheme {
	s := Scheme{
		Name: c.words(name), Type: c.first(v, "type"), Description: c.first(v, "description"), In: c.first(v, "in"), Field: c.first(v, "name"),
		HTTP: strings.ToLower(c.first(v, "scheme")), Format: c.first(v, "bearerFormat"), URL: c.first(v, "openIdConnectUrl"),
		Value: c.first(v, "x-default"),
	}
	for _, f := range v.get("flows").fields() {
		if c.bytes >= c.limit {
			break
		}
		flow := Flow{Name: c.words(f.key), AuthorizeURL: c.first(f.val, "authorizationUrl"), TokenURL: c.first(f.val, "tokenUrl"), RefreshURL: c.first(f.val, "refreshUrl")}
		scopes := cmp.Or(f.val.get("scopes"), f.val.get("availableScopes"))
		for _, m := range scopes.fields() {
			if c.bytes >= c.limit {
				break
			}
			flow.Scopes = append(flow.Scopes, Scope{c.words(m.key), c.words(m.val.str())})
		}
		if !strings.HasPrefix(f.key, "x-") {
			s.Flows = append(s.Flows, flow)
		}
	}
	return s
}

// resolve follows a schema's Ref: it returns what that names, with what
// stands beside the reference.
func (s *Slice) resolve(x *Schema) *Schema {
	if x == nil {
		return &Schema{}
	}
	for range maxHops {
		if x.Ref == "" {
			return x
		}
		target := s.Schemas[x.Ref]
		if target == nil {
			return &Schema{Name: nameOf(x.Ref)}
		}
		labelled := x.Before != nil || x.After != nil
		if x.Description != "" || x.Deprecated || x.Nullable || labelled {
			merged := *target
			if x.Description != "" {
				merged.Description = x.Description
			}
			merged.Deprecated = merged.Deprecated || x.Deprecated
			merged.Nullable, merged.Labels = merged.Nullable || x.Nullable, x.Labels.with(merged.Labels)
			target = &merged
		}
		x = target
	}
	return &Schema{}
}
