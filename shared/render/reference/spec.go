package reference

import (
	"cmp"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Spec is what the pages of a specification are made from: its operations in
// the order of the file.
type Spec struct {
	// File is the specification's path in the site.
	File string
	// Version is the version of OpenAPI or AsyncAPI that the file names, such as "3.1.0".
	Version string
	// Operations are the calls, webhooks and, of AsyncAPI, channels.
	Operations []Operation

	doc     *document
	byKey   map[string]int
	schemas *value
	// parts is how many all slices have that were cut.
	parts int
	// bytes is how many bytes of values and texts they have.
	bytes int
	// byChannel are the operations of AsyncAPI 3 by their channel.
	byChannel map[*value][]asyncOperation
	// sent are the messages that one of them, or an answer to one, names.
	sent map[*value]bool
	// restricted are the operations that are left out, by their folded keys.
	restricted map[string]Audience
}

// Operation is one thing that a page may be about.
type Operation struct {
	Key Key
	// ID, Summary and Description are the author's, each may be empty.
	ID, Summary, Description string
	// Group is the name of the operation's first tag, as readers see it.
	Group string
	// Folder is the part of the page's address that the group stands for, "" for
	// the group itself.
	Folder string
	// Title and SidebarTitle stand in place of the summary where the author
	// names a page apart; Href is its address, without slashes at its ends.
	Title, SidebarTitle, Href string
	// Head is what the author writes for the page's front matter, as JSON; nil
	// for nothing.
	Head       []byte
	Deprecated bool
	// Hidden operations have a page, but stand in no navigation; excluded
	// ones have none, unless a page asks for them.
	Hidden, Excluded bool
	// Line is where it begins.
	Line int

	preface  string // MDX that the author puts before all else
	item, op place
}

// Name is what a page about the operation is called.
func (o *Operation) Name() string {
	for _, s := range []string{o.Title, o.Summary} {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	if o.ID != "" {
		return spaced(o.ID)
	}
	if o.Key.Kind == KindOperation {
		return o.Key.Method + " " + o.Key.Path
	}
	return o.Key.Path
}

// spaced takes an identifier apart: "listUsers" is "List users".
func spaced(id string) string {
	id = camel().ReplaceAllString(id, "$1 $2")
	id = strings.Join(strings.FieldsFunc(id, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' }), " ")
	if id == "" {
		return ""
	}
	return strings.ToUpper(id[:1]) + strings.ToLower(id[1:])
}

var camel = lazy.Regexp(`([a-z0-9])([A-Z])`)

// Kind is what a page is about.
type Kind string

// Kinds of pages.
const (
	KindOperation Kind = "operation"
	KindWebhook   Kind = "webhook"
	KindSchema    Kind = "schema"
	KindChannel   Kind = "channel"
)

// Key names what a page is about within a specification.
type Key struct {
	Kind Kind
	// Method is upper case; only operations have one.
	Method string `json:",omitempty"`
	// Path is an operation's path, or the name of a webhook, schema or channel.
	Path string
}

// String is the key as authors write it.
func (k Key) String() string {
	switch k.Kind {
	case KindOperation:
		return k.Method + " " + k.Path
	case KindWebhook:
		return "webhook " + k.Path
	}
	return k.Path
}

// folded is the key as it is looked for: parameters by place, not by name,
// since authors name them as they like, and no slash at the end.
func (k Key) folded() string {
	name := k.Path
	if k.Kind == KindOperation {
		name = strings.TrimRight(parameter().ReplaceAllString(name, "{}"), "/")
	}
	return string(k.Kind) + " " + k.Method + " " + name
}

var parameter = lazy.Regexp(`\{[^{}/]*\}|:[A-Za-z_][A-Za-z0-9_]*`)

var methods = [...]string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// reference matches what a page or an entry of the navigation names:
// "GET /users", with a specification before it, or "webhook NAME".
var reference = lazy.Regexp(`(?i)^(?:(.*\S)\s+)?(GET|PUT|POST|DELETE|OPTIONS|HEAD|PATCH|TRACE|QUERY|WEBHOOK)\s+(\S.*)$`)

// ParseKey reads what a page's "openapi" names. file is the specification, ""
// where only the operation is named.
func ParseKey(text string) (file string, key Key, ok bool) {
	m := reference().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", Key{}, false
	}
	key = Key{Kind: KindOperation, Method: strings.ToUpper(m[2]), Path: strings.TrimSpace(m[3])}
	if key.Method == "WEBHOOK" {
		key = Key{Kind: KindWebhook, Path: key.Path}
	}
	return strings.Trim(m[1], `"'`), key, true
}

// ParseName reads what a page's "openapi-schema" or "asyncapi" names: a name,
// with a specification before it or not.
func ParseName(text string, kind Kind) (file string, key Key, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", Key{}, false
	}
	if before, name, two := strings.Cut(text, " "); two && specFile(before) {
		return before, Key{Kind: kind, Path: strings.TrimSpace(name)}, true
	}
	return "", Key{Kind: kind, Path: text}, true
}

// ParseFile reads what a page's "openapi" names where it is a specification and no
// operation.
func ParseFile(text string) (file string, ok bool) {
	file = strings.Trim(strings.TrimSpace(text), `"'`)
	return file, specFile(file)
}

func specFile(name string) bool {
	switch path.Ext(name) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return Remote(name)
}

// Spec reads a specification's operations. What is wrong is reported; a file
// that is not a specification is reported, and nil.
func (r *Reader) Spec(file string) *Spec {
	if s, ok := r.specs[file]; ok {
		return s
	}
	r.specs[file] = nil
	doc := r.open(file)
	if doc.root == nil {
		return nil
	}
	root := place{doc: doc, v: doc.root}
	r.tell(doc, doc.root.get(restriction), "mcp")
	s := &Spec{File: file, doc: doc, byKey: map[string]int{}, restricted: map[string]Audience{}}
	switch {
	case root.v.get("openapi") != nil:
		s.Version = root.v.first("openapi")
		if !strings.HasPrefix(s.Version, "3.") {
			r.report(mdx.Error, "api-version", file, root.v.get("openapi").line, "OpenAPI %s is not read: 3.0 and 3.1 are", s.Version)
			return nil
		}
		if doc.swagger {
			s.Version = "2.0"
			r.report(mdx.Notice, "api-converted", file, root.v.get("openapi").line, "Swagger 2.0 is shown as OpenAPI 3.0 says it")
		}
		s.schemas = root.v.get("components").get("schemas")
		r.operations(s, root)
	case root.v.get("asyncapi") != nil:
		s.Version = root.v.first("asyncapi")
		if !strings.HasPrefix(s.Version, "2.") && !strings.HasPrefix(s.Version, "3.") {
			r.report(mdx.Error, "api-version", file, root.v.get("asyncapi").line, "AsyncAPI %s is not read: 2 and 3 are", s.Version)
			return nil
		}
		s.schemas = root.v.get("components").get("schemas")
		r.channels(s, root)
	case root.v.get("swagger") != nil:
		r.report(mdx.Error, "api-version", file, root.v.get("swagger").line, "Swagger %s is not read: Swagger 2.0 and OpenAPI 3.0 and 3.1 are", root.v.first("swagger"))
		return nil
	default:
		r.report(mdx.Error, "api-unreadable", file, root.line(), "the file is not a specification: it has neither \"openapi\" nor \"asyncapi\"")
		return nil
	}
	r.specs[file] = s
	return s
}

// Find returns the operation with this key, nil if there is none. A schema's
// key is found by name; schemas are not among Operations.
func (s *Spec) Find(key Key) *Operation {
	if key.Kind == KindSchema {
		v := s.schemas.get(key.Path)
		if v == nil {
			return nil
		}
		return &Operation{
			Key: key, Title: v.first("title"), Description: v.first("description"), Line: int(v.line), Deprecated: v.get("deprecated").isTrue(),
			op: place{doc: s.doc, v: v, id: s.doc.file + "#/components/schemas/" + key.Path},
		}
	}
	if i, ok := s.byKey[string(key.Kind)+" "+key.Method+" "+key.Path]; ok {
		return &s.Operations[i]
	}
	if i, ok := s.byKey[key.folded()]; ok {
		return &s.Operations[i]
	}
	return nil
}

func (s *Spec) add(o Operation) {
	if len(s.Operations) >= maxOperations {
		return
	}
	s.Operations = append(s.Operations, o)
	for _, k := range [...]string{string(o.Key.Kind) + " " + o.Key.Method + " " + o.Key.Path, o.Key.folded()} {
		if _, taken := s.byKey[k]; !taken {
			s.byKey[k] = len(s.Operations) - 1
		}
	}
}

// maxOperations bounds the pages of one specification.
const maxOperations = 50_000

func (r *Reader) operations(s *Spec, root place) {
	tags := map[string]*value{}
	for _, t := range root.v.get("tags").list() {
		tags[t.first("name")] = t
	}
	made := map[*value]Operation{} // many paths may share one
	paths, webhooks := root.get("paths"), root.get("webhooks")
	if webhooks.v == nil {
		webhooks = root.get("x-webhooks")
	}
	for _, list := range []struct {
		in   place
		kind Kind
	}{{paths, KindOperation}, {webhooks, KindWebhook}} {
		s.barItems(list.in, list.kind)
		for _, m := range list.in.v.fields() {
			if strings.HasPrefix(m.key, "x-") {
				continue
			}
			at := place{doc: list.in.doc, v: m.val}
			item, ok := r.follow(at)
			if !ok {
				if only, out := r.barredAt(at, true); out {
					s.barItem(m.key, list.kind, only)
				}
				continue
			}
			for _, b := range item.doc.left(item.v) {
				s.bar(keyOf(m.key, b.key, list.kind), b.only)
			}
			for _, method := range methods {
				op := place{doc: item.doc, v: item.v.get(method)}
				if op.v == nil || op.v.kind != objectValue {
					continue
				}
				if only, out := r.barredAt(op, true); out { // by a word in another file
					s.bar(keyOf(m.key, method, list.kind), only)
					continue
				}
				o, again := made[op.v]
				if !again {
					o = r.operation(op, tags)
					made[op.v] = o
				}
				o.Key, o.item = keyOf(m.key, method, list.kind), item
				o.Excluded = o.Excluded || item.v.get("x-excluded").isTrue()
				o.Summary = cmp.Or(o.Summary, item.v.first("summary"))
				s.add(o)
				if list.kind == KindWebhook {
					break // a webhook is called in one way
				}
			}
		}
	}
}

// operation reads what an operation says itself. tags are those that the
// specification describes, by name.
func (r *Reader) operation(op place, tags map[string]*value) Operation {
	v := op.v
	o := Operation{
		ID: v.first("operationId"), Summary: v.first("summary"), Description: v.first("description"),
		Deprecated: v.get("deprecated").isTrue(), Line: int(v.line),
		Hidden: v.get("x-hidden").isTrue(), Excluded: v.get("x-excluded").isTrue(),
		op: op,
	}
	if t := v.get("tags").texts(); len(t) > 0 {
		o.Group = cmp.Or(tags[t[0]].first("x-displayName"), t[0])
		if g := tags[t[0]].first("x-group"); g != "" { // a label alone: addresses have the tag's name
			o.Group, o.Folder = g, t[0]
		}
	}
	if g := v.first("x-group"); g != "" {
		o.Group, o.Folder = g, ""
	}
	x := pageOf(v)
	metadata := x.get("metadata")
	o.Title, o.SidebarTitle = metadata.first("title"), metadata.first("sidebarTitle")
	o.Description = cmp.Or(metadata.first("description"), o.Description)
	o.Hidden = o.Hidden || metadata.get("hidden").isTrue()
	if head := metadata.fields(); len(head) > 0 {
		if raw, err := metadata.json(maxHead); err == nil {
			o.Head = raw
		}
	}
	o.preface = x.first("content")
	r.tell(op.doc, x, "mcp", "playground")
	href := strings.TrimSpace(x.first("href"))
	if strings.Contains(href, "://") || strings.HasPrefix(href, "//") {
		r.report(mdx.Notice, "api-extension", op.doc.file, x.get("href").line, "%q is not an address of this site: the page keeps its own", href)
		return o
	}
	href, _, _ = strings.Cut(href, "#")
	href, _, _ = strings.Cut(href, "?")
	o.Href = strings.Trim(path.Clean("/"+href), "/")
	return o
}

// tell reports those of the named parts of x, what an author says with the
// extension x-mint, that have no effect: each once.
func (r *Reader) tell(d *document, x *value, names ...string) {
	for _, name := range names {
		v := x.get(name)
		row := capability.Find(capability.Extension, restriction+"."+name)
		if v == nil || row == nil || r.told[row.Name] {
			continue
		}
		r.told[row.Name] = true
		r.report(mdx.Notice, row.Code, d.file, v.line, "%q has no effect: %s", row.Name, row.Rule)
	}
}

// maxHead bounds what an operation says for its page's front matter.
const maxHead = 16 << 10

// pageOf returns the extension with which authors say how an operation's page
// is, nil for none: "x-mint", or an object with "metadata" or "content",
// whatever host's name it has.
func pageOf(v *value) *value {
	if x := v.get(restriction); x != nil && x.kind == objectValue {
		return x
	}
	for _, m := range v.fields() {
		if strings.HasPrefix(m.key, "x-") && m.val.kind == objectValue &&
			(m.val.get("metadata") != nil || m.val.get("content") != nil && m.val.get("content").kind == stringValue) {
			return m.val
		}
	}
	return nil
}
