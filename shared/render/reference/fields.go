package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

func (b *builder) content(m *Media) []*mdx.Node {
	if m.Schema == nil {
		if !b.slice.isFileBody(m) {
			return nil
		}
		return b.value(&Schema{Format: "binary"}, "", 0)
	}
	return append(b.value(m.Schema, "", 0), b.parts(m.Parts)...)
}

// parts show how fields of a form are sent.
func (b *builder) parts(list []Part) []*mdx.Node {
	var out []*mdx.Node
	for _, p := range list {
		if b.full() {
			return append(out, b.more())
		}
		line := []*mdx.Node{b.codeSpan(p.Name), b.text(":")}
		if p.Type != "" {
			line = append(line, b.text(" "), b.codeSpan(p.Type))
		}
		if p.Style != "" {
			line = append(line, b.text(" "), b.codeSpan("style: "+p.Style), b.text(" "), b.codeSpan(fmt.Sprintf("explode: %t", p.Explode)))
		}
		out = append(out, b.paragraph(line...))
		for _, h := range p.Headers {
			out = append(out, b.header(h))
		}
	}
	return out
}

// header shows a header of an answer, or of a part of a form.
func (b *builder) header(h Param) *mdx.Node {
	x := cmp.Or(h.Schema, &Schema{})
	f := field{name: h.Name, required: h.Required, deprecated: h.Deprecated, description: h.Description, schema: x, examples: h.Examples, labels: h.Labels}
	place := b.place
	b.place = "header"
	defer func() { b.place = place }()
	return b.field(f, 0)
}

// value shows a schema that has no name where it stands: an object's fields,
// else one field.
func (b *builder) value(x *Schema, name string, depth int) []*mdx.Node {
	r := b.slice.resolve(x)
	plain := len(r.OneOf)+len(r.AnyOf) == 0 && !r.Nullable
	if plain && isObject(r) && len(r.Properties)+len(r.Patterns) > 0 {
		leave := b.enter(x)
		defer leave()
		var out []*mdx.Node
		if depth == 0 {
			out = append(out, b.prose(r.Description)...)
		}
		return slices.Concat(out, b.properties(r, depth), b.facts(r), b.showConditions(r, depth))
	}
	name = cmp.Or(name, b.kindName())
	return []*mdx.Node{b.field(field{name: name, schema: x}, depth)}
}

// kindName is what a value without a name is called.
func (b *builder) kindName() string {
	if b.kind == "ResponseField" {
		return "response"
	}
	return "body"
}

// nameOf is what readers know a schema by.
func (b *builder) nameOf(x *Schema) string {
	r := b.slice.resolve(x)
	switch {
	case r.Name != "":
		return r.Name
	case r.Title != "":
		return r.Title
	}
	return b.typeOf(x, 0)
}

func isObject(x *Schema) bool { return slices.Contains(x.Types, "object") }

// enter notes that a named schema's fields are being made; leave ends it.
func (b *builder) enter(x *Schema) (leave func()) {
	if x.Ref == "" {
		return func() {}
	}
	b.open = append(b.open, x.Ref)
	return func() { b.open = b.open[:len(b.open)-1] }
}

type field struct {
	name        string
	required    bool
	deprecated  bool
	description string
	schema      *Schema
	examples    []json.RawMessage
	note        string // how it is written, as code
	labels      Labels
}

// field makes a field's element, and what lies below it.
func (b *builder) field(f field, depth int) *mdx.Node {
	x := b.slice.resolve(f.schema)
	var attrs []mdx.Attr
	if b.kind == "ParamField" {
		attrs = append(attrs, attr(b.place, f.name))
	} else {
		attrs = append(attrs, attr("name", f.name))
	}
	attrs = append(attrs, attr("type", b.typeOf(f.schema, 0)))
	if f.required {
		attrs = append(attrs, flag("required"))
	}
	if f.deprecated || x.Deprecated {
		attrs = append(attrs, flag("deprecated"))
	}
	if x.Default != nil {
		attrs = append(attrs, attr("default", short(x.Default)))
	}
	examples := orElse(f.examples, x.Examples)
	if e := first(examples); e != nil && e[0] != '{' && e[0] != '[' {
		attrs = append(attrs, attr("placeholder", short(e)))
	}
	var rights []string
	if x.ReadOnly {
		rights = append(rights, "read-only")
	}
	if x.WriteOnly {
		rights = append(rights, "write-only")
	}
	labels := f.labels.with(x.Labels)
	attrs = texts(attrs, "pre", labels.Before)
	attrs = texts(attrs, "post", append(rights, labels.After...))
	description := cmp.Or(f.description, x.Description)
	children := b.prose(description)
	if f.note != "" {
		children = append(children, b.paragraph(b.codeSpan(f.note)))
	}
	children = append(children, b.facts(x)...)
	children = append(children, b.inner(f.schema, depth)...)
	return b.element(b.kind, attrs, children...)
}

// texts adds an attribute that is a list of texts, unless it is empty.
func texts(attrs []mdx.Attr, name string, list []string) []mdx.Attr {
	literal, err := json.Marshal(list)
	if err != nil || len(list) == 0 {
		return attrs
	}
	return append(attrs, mdx.Attr{Kind: mdx.AttrExpr, Name: name, Value: string(literal)})
}

// short is a value on one line.
func short(raw json.RawMessage) string {
	s := scalarText(raw)
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}

// choice is one of the values that a value may have. An empty text is shown as
// "", since nothing would be seen of it.
func choice(raw json.RawMessage) string {
	if s := short(raw); s != "" {
		return s
	}
	return `""`
}

// facts are a schema's constraints and values.
func (b *builder) facts(x *Schema) []*mdx.Node {
	var out []*mdx.Node
	if len(x.EnumText) > 0 {
		list := &mdx.Node{Kind: mdx.List, Pos: b.pos}
		for i, e := range x.Enum {
			if i == maxShownEnum {
				break
			}
			item := &mdx.Node{Kind: mdx.ListItem, Pos: b.pos, Children: []*mdx.Node{b.paragraph(b.codeSpan(choice(e)))}}
			if t := x.EnumText[i]; t != "" {
				item.Children[0].Children = append(item.Children[0].Children, b.text(" "+t))
			}
			list.Children = append(list.Children, item)
		}
		out = append(out, b.paragraph(b.text(b.lang.Say(words.Options)+":")), list)
	} else if len(x.Enum) > 0 {
		values := make([]string, len(x.Enum))
		for i, e := range x.Enum {
			values[i] = choice(e)
		}
		out = append(out, b.listed(b.lang.Say(words.Options), values))
	}
	if x.Const != nil {
		out = append(out, b.listed(b.lang.Say(words.Options), []string{choice(x.Const)}))
	}
	var limits []*mdx.Node
	note := func(s string) {
		if limits != nil {
			limits = append(limits, b.text(" "))
		}
		limits = append(limits, b.codeSpan(s))
	}
	for _, l := range x.Limits {
		note(l.Name + ": " + l.Value)
	}
	if x.Unique {
		note("uniqueItems: true")
	}
	if x.Discriminator != "" {
		note("discriminator: " + x.Discriminator)
	}
	if limits != nil {
		out = append(out, b.paragraph(limits...))
	}
	if x.Not != nil {
		if not := b.holds(x.Not, true); not != nil {
			out = append(out, b.paragraph(append([]*mdx.Node{b.text(b.lang.Say(words.Forbidden) + ": ")}, not...)...))
		}
	}
	if len(x.Required) > 0 {
		out = append(out, b.listed(capital(b.lang.Say(words.Required)), x.Required))
	}
	return out
}

// capital is a word as it begins a line.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// inner shows what a field's value is made of, below it.
func (b *builder) inner(x *Schema, depth int) []*mdx.Node {
	r := b.slice.resolve(x)
	if !b.deep(r) {
		return nil
	}
	if x.Ref != "" && slices.Contains(b.open, x.Ref) {
		return []*mdx.Node{b.paragraph(b.text(b.lang.Say(words.Recursive)+" "), b.codeSpan(b.nameOf(x)))}
	}
	if depth >= maxFieldDepth || b.count >= maxFields {
		b.cut = true
		if r.Name == "" {
			return nil
		}
		return []*mdx.Node{b.paragraph(b.text("… "), b.codeSpan(r.Name))}
	}
	leave := b.enter(x)
	defer leave()
	var out []*mdx.Node
	if fields := b.properties(r, depth+1); fields != nil {
		out = append(out, b.expandable("", fields))
	}
	for i, t := range r.Tuple {
		if b.count++; b.count > maxFields || b.full() {
			out = append(out, b.more())
			break
		}
		out = append(out, b.field(field{name: fmt.Sprintf("[%d]", i), schema: t}, depth+1))
	}
	if r.Items != nil {
		item := b.slice.resolve(r.Items)
		if b.deep(item) {
			out = append(out, b.inner(r.Items, depth)...)
		}
		if !isObject(item) || item.Description != "" && item.Name == "" {
			out = append(slices.Concat(b.prose(item.Description), b.facts(item)), out...)
		}
	}
	return append(append(out, b.alternatives(r, depth)...), b.showConditions(r, depth)...)
}

// deep reports whether a schema needs more than a line.
func (b *builder) deep(x *Schema) bool {
	if len(x.Properties)+len(x.Patterns)+len(x.Tuple)+len(x.Conditions) > 0 || x.Additional != nil && b.described(x.Additional) {
		return true
	}
	if x.Items != nil && b.described(x.Items) {
		return true
	}
	return slices.ContainsFunc(x.OneOf, b.described) || slices.ContainsFunc(x.AnyOf, b.described)
}

// described reports whether a schema says more than its type.
func (b *builder) described(x *Schema) bool { return b.describedAt(x, 0) }

func (b *builder) describedAt(x *Schema, depth int) bool {
	if !b.spend(1) {
		return false
	}
	r := b.slice.resolve(x)
	return len(r.Properties)+len(r.Patterns)+len(r.Tuple)+len(r.OneOf)+len(r.AnyOf)+len(r.Enum)+len(r.Limits)+len(r.Conditions)+len(r.Required) > 0 ||
		r.Description != "" || r.Title != "" || r.Const != nil || r.Not != nil || r.Additional != nil || r.Items != nil && depth < maxFieldDepth && b.describedAt(r.Items, depth+1)
}

// properties makes an object's fields.
func (b *builder) properties(x *Schema, depth int) []*mdx.Node {
	var out []*mdx.Node
	ended := false
	add := func(name string, required bool, s *Schema) {
		r := b.slice.resolve(s)
		if b.side == sent && r.ReadOnly || b.side == answered && r.WriteOnly {
			return
		}
		if b.count++; b.count > maxFields || b.full() {
			if !ended {
				ended, out = true, append(out, b.more())
			}
			return
		}
		out = append(out, b.field(field{name: name, required: required, schema: s}, depth))
	}
	for _, p := range x.Properties {
		add(p.Name, p.Required, p.Schema)
	}
	for _, p := range x.Patterns {
		add("/"+p.Name+"/", false, p.Schema)
	}
	if x.Additional != nil && (b.described(x.Additional) || len(x.Properties) > 0 && len(b.slice.resolve(x.Additional).Types) > 0) {
		add("{key}", false, x.Additional)
	}
	return out
}

func (b *builder) expandable(title string, children []*mdx.Node) *mdx.Node {
	var attrs []mdx.Attr
	if title != "" {
		attrs = append(attrs, attr("title", title))
	}
	if b.opt.Open {
		attrs = append(attrs, flag("defaultOpen"))
	}
	return b.element("Expandable", attrs, children...)
}

// alternatives shows oneOf and anyOf, each under its name.
func (b *builder) alternatives(x *Schema, depth int) []*mdx.Node {
	list, word := x.OneOf, b.lang.Say(words.OneOf)
	if list == nil {
		list, word = x.AnyOf, b.lang.Say(words.AnyOf)
	}
	if len(list) == 0 {
		return nil
	}
	out := []*mdx.Node{b.paragraph(b.text(word))}
	for i, a := range list {
		if b.options++; b.options > maxAlternatives || b.full() {
			return append(out, b.more())
		}
		r := b.slice.resolve(a)
		title := fmt.Sprintf("%s %d", b.lang.Say(words.Option), i+1)
		switch {
		case r.Title != "":
			title += ": " + r.Title
		case r.Name != "":
			title += ": " + r.Name
		default:
			title += ": " + b.typeOf(a, 0)
		}
		if i < len(x.Mapping) && x.Mapping[i] != "" {
			title += " (" + x.Discriminator + " = " + x.Mapping[i] + ")"
		}
		title = phraseText(title)
		var children []*mdx.Node
		if a.Ref != "" && slices.Contains(b.open, a.Ref) {
			children = []*mdx.Node{b.paragraph(b.text(b.lang.Say(words.Recursive)+" "), b.codeSpan(b.nameOf(a)))}
		} else if depth < maxFieldDepth && b.count < maxFields {
			leave := b.enter(a)
			children = slices.Concat(b.prose(r.Description), b.facts(r), b.properties(r, depth+1))
			bare := *r
			bare.Properties, bare.Patterns, bare.Additional, bare.Ref = nil, nil, nil, ""
			children = append(children, b.inner(&bare, depth+1)...)
			leave()
		} else {
			b.cut = true
		}
		if len(children) == 0 {
			children = []*mdx.Node{b.paragraph(b.codeSpan(b.typeOf(a, 0)))}
		}
		out = append(out, b.expandable(title, children))
	}
	return out
}

// phraseText takes their meaning from the signs that titles of components
// understand.
func phraseText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "[", `\[`, "]", `\]`).Replace(s)
}

// typeOf is a schema's type in words.
func (b *builder) typeOf(x *Schema, depth int) string {
	b.spend(1)
	r := b.slice.resolve(x)
	if r.Never {
		return "never"
	}
	var parts []string
	for _, t := range r.Types {
		switch {
		case t == "array" && r.Items != nil && depth < 3:
			t = "array<" + b.typeOf(r.Items, depth+1) + ">"
		case r.Format != "" && t != "object":
			t += "<" + r.Format + ">"
		}
		if len(r.Enum) > 0 && len(r.Types) == 1 {
			t = "enum<" + t + ">"
		}
		parts = append(parts, t)
	}
	alternatives := r.OneOf
	if len(r.AnyOf) > 0 {
		alternatives = slices.Concat(r.OneOf[:min(len(r.OneOf), 7)], r.AnyOf[:min(len(r.AnyOf), 7)])
	}
	if len(parts) == 0 && depth < 3 {
		for i, a := range alternatives {
			if i == 6 {
				parts = append(parts, "…")
				break
			}
			if t := b.typeOf(a, depth+1); !slices.Contains(parts, t) {
				parts = append(parts, t)
			}
		}
	}
	if len(parts) == 0 {
		switch {
		case len(r.Enum) > 0 || r.Const != nil:
			if v := cmp.Or(string(r.Const), string(r.someValue())); v != "null" || !r.Nullable {
				parts = append(parts, typeOfJSON(json.RawMessage(v)))
			}
		case isFile(r):
			parts = append(parts, "file")
		default:
			parts = append(parts, "any")
		}
	}
	if r.Nullable && !slices.Contains(parts, "null") {
		parts = append(parts, "null")
	}
	return strings.Join(parts, " | ")
}

func typeOfJSON(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return "any"
	case raw[0] == '"':
		return "string"
	case raw[0] == '{':
		return "object"
	case raw[0] == '[':
		return "array"
	case raw[0] == 't' || raw[0] == 'f':
		return "boolean"
	case raw[0] == 'n':
		return "null"
	}
	return "number"
}
