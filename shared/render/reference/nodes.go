package reference

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Limits of what one page shows.
const (
	// maxFields is how many fields a page has; each has some hundred bytes of
	// HTML and its place in the page's ids.
	maxFields = 1500
	// maxAlternatives is how many alternatives a page has, of all its lists of
	// oneOf and anyOf together: each may have further ones.
	maxAlternatives = 500
	// maxTold is how many bytes of descriptions a page has, and maxCode how many
	// of examples.
	maxTold = 2 << 20
	maxCode = 2 << 20
	// maxFieldDepth is how deep fields lie in each other.
	maxFieldDepth = 8
	// maxShownEnum is how many of an enum's values are listed.
	maxShownEnum = 100
)

// Content is a page's part that comes from a specification, as nodes of a page.
type Content struct {
	// Head stands before what the page's author wrote: method and path, and
	// the description.
	Head []*mdx.Node
	// Body follows it: parameters, body, answers.
	Body []*mdx.Node
	// Beside are the examples, which stand in the column beside the text.
	Beside []*mdx.Node
	// Cut means that not all fields are shown.
	Cut bool
}

// Content makes the page's nodes. They hold literals only.
func (s *Slice) Content(o Options) Content {
	b := &builder{slice: s, opt: o, lang: words.In(o.Lang), pos: mdx.Pos{Line: max(s.Line, 1), Column: 1}, cut: s.Cut}
	s.made = 0
	var c Content
	c.Head = b.head()
	switch s.Key.Kind {
	case KindSchema:
		b.kind = "ResponseField"
		c.Body = b.schema(s.Schema)
		if !o.Without["ResponseExample"] {
			c.Beside = append(c.Beside, b.examples("ResponseExample", []code{{"json", nameOf(s.Schema.Ref), indented(s.example(s.Schema, answered, false))}}))
		}
	case KindChannel:
		c.Body = b.channel()
	default:
		c.Body = b.operation()
		if !o.Without["RequestExample"] {
			c.Beside = append(c.Beside, b.requests()...)
		}
		if answers := b.answers(); len(answers) > 0 && !o.Without["ResponseExample"] {
			name := "ResponseExample"
			if s.Key.Kind == KindWebhook {
				name = "RequestExample"
			}
			c.Beside = append(c.Beside, b.examples(name, answers))
		}
	}
	if s.Cut { // by its specification: nobody knows what comes here
		c.Body = append(c.Body, b.more())
	}
	c.Cut = b.cut || s.made > maxMade
	return c
}

// builder makes the nodes of one page.
type builder struct {
	slice *Slice
	opt   Options
	lang  words.Language
	pos   mdx.Pos
	// kind is the component of fields: "ParamField" or "ResponseField"; place
	// the attribute that names a ParamField's; side who sends them.
	kind  string
	place string
	side  side
	// count counts fields, options alternatives.
	count, options int
	told           int // bytes of descriptions
	coded          int // bytes of examples
	steps          int // nodes, and schemas that were looked at for them
	cut            bool
	open           []string // references whose fields are being made
}

func (b *builder) element(name string, attrs []mdx.Attr, children ...*mdx.Node) *mdx.Node {
	b.spend(1 + len(attrs))
	for i := range attrs {
		attrs[i].Pos = b.pos
	}
	return &mdx.Node{Kind: mdx.Element, Name: name, Attrs: attrs, Children: children, Pos: b.pos, End: b.pos}
}

func attr(name, value string) mdx.Attr {
	return mdx.Attr{Kind: mdx.AttrString, Name: name, Value: value}
}

func flag(name string) mdx.Attr { return mdx.Attr{Kind: mdx.AttrBool, Name: name} }

func (b *builder) text(s string) *mdx.Node {
	b.spend(1)
	return &mdx.Node{Kind: mdx.Text, Value: s, Pos: b.pos}
}

func (b *builder) codeSpan(s string) *mdx.Node {
	b.spend(1)
	return &mdx.Node{Kind: mdx.InlineCode, Value: s, Pos: b.pos}
}

func (b *builder) paragraph(children ...*mdx.Node) *mdx.Node {
	b.spend(1)
	return &mdx.Node{Kind: mdx.Paragraph, Children: children, Pos: b.pos}
}

func (b *builder) strong(s string) *mdx.Node {
	return &mdx.Node{Kind: mdx.Strong, Children: []*mdx.Node{b.text(s)}, Pos: b.pos}
}

func (b *builder) heading(level int, children ...*mdx.Node) *mdx.Node {
	return &mdx.Node{Kind: mdx.Heading, Level: level, Children: children, Pos: b.pos}
}

// prose are a description's nodes. What many fields refer to is described with
// each of them, as far as the page has room.
func (b *builder) prose(s string) []*mdx.Node {
	return demote(b.markdown(s))
}

// markdown makes a description's nodes. What they hold counts, not the source:
// references of Markdown repeat addresses.
func (b *builder) markdown(s string) []*mdx.Node {
	if s == "" {
		return nil
	}
	if b.told+len(s) > maxTold || b.full() {
		b.cut = true
		return nil
	}
	list, cut := markdown(s, b.pos)
	held := 0
	for _, n := range list {
		mdx.Walk(n, func(n *mdx.Node) bool {
			held += n.Size()
			return b.spend(1)
		})
	}
	b.told += max(held, len(s))
	b.cut = b.cut || cut
	b.spend(held / bytesPerStep)
	return list
}

// head shows what the page is about.
func (b *builder) head() []*mdx.Node {
	s := b.slice
	var out []*mdx.Node
	switch s.Key.Kind {
	case KindOperation, KindWebhook:
		attrs := []mdx.Attr{attr("method", s.Key.Method), attr("path", s.Key.Path)}
		if s.Key.Kind == KindWebhook {
			attrs = []mdx.Attr{attr("method", "WEBHOOK"), attr("path", s.Key.Path)}
		} else if len(s.Servers) > 0 {
			attrs = append(attrs, attr("server", s.Servers[0].Address()))
			if b.opt.FullURL {
				attrs = append(attrs, flag("full"))
			}
		}
		if s.Deprecated {
			attrs = append(attrs, flag("deprecated"))
		}
		out = append(out, b.element(endpointName, attrs))
		if b.opt.Playground && s.Key.Kind == KindOperation {
			out = append(out, b.element(playgroundName, []mdx.Attr{attr("model", b.model())}))
		}
	case KindChannel:
		address := s.Channel.Address
		if address == "" {
			out = append(out, b.paragraph(b.text(b.lang.Say(words.UnknownAddress)+" "), b.codeSpan(s.Key.Path)))
			break
		}
		if len(s.Servers) > 0 {
			address = strings.TrimLeft(address, "/")
		}
		attrs := []mdx.Attr{attr("method", "CHANNEL"), attr("path", address), flag("full")}
		if len(s.Servers) > 0 {
			attrs = append(attrs, attr("server", strings.TrimRight(s.Servers[0].Address(), "/")+"/"))
		}
		out = append(out, b.element(endpointName, attrs))
	}
	return append(out, lower(b.markdown(s.Description))...)
}

// operation shows a call from its servers to its callbacks.
func (b *builder) operation() []*mdx.Node {
	s := b.slice
	var out []*mdx.Node
	out = append(out, b.servers()...)
	out = append(out, b.authorization()...)
	b.kind, b.side = "ParamField", sent
	if s.Key.Kind == KindWebhook {
		b.side = answered
	}
	out = append(out, b.params(s.Params)...)
	if s.Body != nil {
		b.place = "body"
		out = append(out, b.media(2, b.lang.Say(words.Body), s.Body.Description, s.Body.Media)...)
	}
	out = append(out, b.responses()...)
	return append(out, b.callbacks()...)
}

// schema shows a schema that has a page of its own.
func (b *builder) schema(x *Schema) []*mdx.Node {
	r := b.slice.resolve(x)
	leave := b.enter(x)
	defer leave()
	bare := *r
	bare.Properties, bare.Patterns, bare.Additional = nil, nil, nil
	return slices.Concat([]*mdx.Node{b.paragraph(b.codeSpan(b.typeOf(x, 0)))}, b.facts(r), b.properties(r, 0), b.inner(&bare, 0))
}

// requests are samples of the call. Of several content types each has its own,
// and readers pick the type.
func (b *builder) requests() []*mdx.Node {
	s := b.slice
	var types []*Media
	if s.Key.Kind == KindOperation {
		types = s.bodies()
	}
	if len(types) == 0 {
		types = []*Media{nil}
	}
	var tabs []*mdx.Node
	for i, m := range types {
		if b.full() {
			tabs = append(tabs, b.more())
			break
		}
		samples := s.samples(b.opt, m, i == 0)
		if len(samples) == 0 {
			continue
		}
		box := b.examples("RequestExample", samples)
		if len(types) == 1 || b.opt.NoSamples {
			return []*mdx.Node{box}
		}
		tabs = append(tabs, b.element("Tab", []mdx.Attr{attr("title", m.Type)}, box))
	}
	if tabs == nil {
		return nil
	}
	return []*mdx.Node{b.element("Panel", nil, b.element(typesName, nil, tabs...))}
}

// servers lists the addresses, where there is a choice or something to fill in.
func (b *builder) servers() []*mdx.Node {
	list := b.slice.Servers
	if len(list) == 0 || len(list) == 1 && len(list[0].Variables) == 0 && !list[0].tells() {
		return nil
	}
	out := []*mdx.Node{b.heading(2, b.text(b.lang.Say(words.Servers)))}
	for _, s := range list {
		if b.full() {
			return append(out, b.more())
		}
		line := []*mdx.Node{b.codeSpan(s.URL)}
		if _, version, _ := strings.Cut(s.Protocol, " "); version != "" {
			line = append(line, b.text(" "), b.codeSpan(s.Protocol))
		}
		if s.Title != "" {
			line = append(line, b.text(" "), b.strong(s.Title))
		}
		out = append(append(out, b.paragraph(line...)), b.prose(s.Summary)...)
		out = append(append(out, b.prose(s.Description)...), b.about(s.About)...)
		for _, v := range s.Variables {
			if b.full() {
				break
			}
			attrs := []mdx.Attr{attr("name", v.Name), attr("type", "string")}
			if v.Default != "" {
				attrs = append(attrs, attr("default", v.Default))
			}
			children := b.prose(v.Description)
			if len(v.Enum) > 0 {
				children = append(children, b.listed(b.lang.Say(words.Options), v.Enum))
			}
			out = append(out, b.element("ParamField", attrs, children...))
		}
	}
	return out
}

// listed is a word and the values after it.
func (b *builder) listed(word string, values []string) *mdx.Node {
	line := []*mdx.Node{b.text(word + ": ")}
	for i, v := range values {
		if i > 0 {
			line = append(line, b.text(", "))
		}
		if i == maxShownEnum {
			line = append(line, b.text("…"))
			break
		}
		line = append(line, b.codeSpan(v))
	}
	return b.paragraph(line...)
}

// authorization shows the ways to be let in.
func (b *builder) authorization() []*mdx.Node {
	out := b.ways(b.slice.Security)
	if out == nil {
		return nil
	}
	return append([]*mdx.Node{b.heading(2, b.text(b.lang.Say(words.Authorization)))}, out...)
}

// ways shows ways to be let in, each of which is enough; nil where none is needed.
func (b *builder) ways(list []Requirement) []*mdx.Node {
	var out []*mdx.Node
	ways := 0
	for _, way := range list {
		if b.full() {
			return append(out, b.more())
		}
		if len(out) > 0 || ways > 0 {
			out = append(out, b.paragraph(&mdx.Node{Kind: mdx.Emphasis, Children: []*mdx.Node{b.text(b.lang.Say(words.Or))}, Pos: b.pos}))
		}
		ways++
		if len(way) == 0 {
			out = append(out, b.paragraph(b.text(b.lang.Say(words.NoAuthorization))))
		}
		for i, s := range way {
			if i > 0 {
				out = append(out, b.paragraph(&mdx.Node{Kind: mdx.Emphasis, Children: []*mdx.Node{b.text(b.lang.Say(words.And))}, Pos: b.pos}))
			}
			out = append(out, b.scheme(s))
		}
	}
	if ways == 0 || ways == 1 && len(list[0]) == 0 {
		return nil
	}
	return out
}

func (b *builder) scheme(s Scheme) *mdx.Node {
	place, name := s.place(), s.Name
	value := ""
	if place == "header" || place == "query" || place == "cookie" {
		name, value = s.credential()
	} else {
		place = "name"
	}
	kind := s.Type
	if s.Type == "http" {
		kind = s.HTTP
	}
	if s.Format != "" {
		kind += " (" + s.Format + ")"
	}
	attrs := []mdx.Attr{attr(place, name), attr("type", kind), flag("required")}
	children := b.prose(s.Description)
	if value != "" {
		shown := value
		switch place {
		case "header":
			shown = name + ": " + value
		case "query":
			shown = "?" + url.QueryEscape(name) + "=" + value
		case "cookie":
			shown = "Cookie: " + name + "=" + value
		}
		if s.Type == "http" && s.HTTP == "basic" {
			shown = name + ": Basic base64(username:password)"
		}
		children = append(children, b.paragraph(b.codeSpan(shown)))
	}
	if s.URL != "" {
		children = append(children, b.paragraph(b.codeSpan(s.URL)))
	}
	if len(s.Scopes) > 0 {
		children = append(children, b.listed(b.lang.Say(words.Scopes), s.Scopes))
	}
	for _, f := range s.Flows {
		line := []*mdx.Node{b.strong(f.Name)}
		for _, u := range [...]struct{ name, address string }{{"authorizationUrl", f.AuthorizeURL}, {"tokenUrl", f.TokenURL}, {"refreshUrl", f.RefreshURL}} {
			if u.address != "" {
				line = append(line, b.text(" "), b.codeSpan(u.name+": "+u.address))
			}
		}
		children = append(children, b.paragraph(line...))
		for i, scope := range f.Scopes {
			if i == maxShownEnum {
				break
			}
			children = append(children, b.paragraph(b.codeSpan(scope.Name), b.text(" "+scope.Description)))
		}
	}
	return b.element("ParamField", attrs, children...)
}

// params shows parameters by place.
func (b *builder) params(list []Param) []*mdx.Node {
	var out []*mdx.Node
	for _, place := range [...]struct{ in, title string }{
		{"path", b.lang.Say(words.Path)}, {"query", b.lang.Say(words.Query)}, {"querystring", b.lang.Say(words.Query)}, {"header", b.lang.Say(words.Headers)}, {"cookie", b.lang.Say(words.Cookies)},
	} {
		var fields []*mdx.Node
		for _, p := range list {
			if p.In == place.in && b.full() {
				fields = append(fields, b.more())
				break
			}
			if p.In == place.in {
				fields = append(fields, b.param(p))
			}
		}
		if fields != nil {
			out = append(append(out, b.heading(2, b.text(place.title))), fields...)
		}
	}
	return out
}

func (b *builder) param(p Param) *mdx.Node {
	b.place = p.In
	if p.In == "querystring" {
		b.place = "query"
	}
	x := cmp.Or(p.Schema, &Schema{})
	f := field{name: p.Name, required: p.Required, deprecated: p.Deprecated, description: p.Description, schema: x, examples: p.Examples, labels: p.Labels}
	if t := b.slice.resolve(x).Types; len(t) > 0 && t[0] == "array" && p.In == "query" && !p.Explode && p.Style != "json" {
		f.note = p.Name + "=" + map[string]string{"spaceDelimited": "a%20b", "pipeDelimited": "a|b"}[p.Style]
		if strings.HasSuffix(f.note, "=") {
			f.note += "a,b"
		}
	}
	if p.Style == "deepObject" {
		f.note = p.Name + "[key]=value"
	}
	node := b.field(f, 0)
	b.place = "body"
	return node
}

// media shows content: one type in the heading, several as tabs.
func (b *builder) media(level int, title, description string, list []Media) []*mdx.Node {
	out := b.prose(description)
	if title != "" {
		out = append([]*mdx.Node{b.heading(level, b.text(title))}, out...)
	}
	switch len(list) {
	case 0:
		return out
	case 1:
		out = append(out, b.paragraph(b.codeSpan(list[0].Type)))
		return append(out, b.content(&list[0])...)
	}
	if same := list[0].Schema; same != nil && same.Ref != "" && !slices.ContainsFunc(list, func(m Media) bool {
		return m.Schema == nil || m.Schema.Ref != same.Ref || len(m.Parts) > 0
	}) {
		var types []*mdx.Node
		for i, m := range list {
			if i > 0 {
				types = append(types, b.text(", "))
			}
			types = append(types, b.codeSpan(m.Type))
		}
		return append(append(out, b.paragraph(types...)), b.content(&list[0])...)
	}
	var tabs []*mdx.Node
	for i := range list {
		if b.full() {
			break
		}
		tabs = append(tabs, b.element("Tab", []mdx.Attr{attr("title", list[i].Type)}, b.content(&list[i])...))
	}
	group := requestTypes
	if b.kind == "ResponseField" {
		group = answerTypes
	}
	out = append(out, b.element("Tabs", []mdx.Attr{attr("groupId", group)}, tabs...))
	if len(tabs) < len(list) {
		out = append(out, b.more())
	}
	return out
}
