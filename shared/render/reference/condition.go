package reference

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Condition has the demands of a schema that hold under a condition: if, then and else,
// and those that depend on a property.
type Condition struct {
	// If is the condition. A property that must only be there is one of its Required.
	If *Schema
	// Then and Else are the demands, nil for none. Their Required are also names
	// that stand in their properties.
	Then *Schema `json:",omitempty"`
	Else *Schema `json:",omitempty"`
}

// conditions reads if, then and else, dependentRequired, dependentSchemas and
// dependencies, which was both before JSON Schema 2019-09.
func (c *slicer) conditions(p place, depth int) []Condition {
	var out []Condition
	part := func(name string) *Schema {
		x := p.v.get(name)
		if x == nil || x.kind != objectValue && !x.isFalse() {
			return nil
		}
		return c.asked(place{doc: p.doc, v: x}, depth)
	}
	if when := part("if"); when != nil {
		out = append(out, Condition{If: when, Then: part("then"), Else: part("else")})
	}
	for _, name := range [...]string{"dependentRequired", "dependentSchemas", "dependencies"} {
		for _, m := range p.v.get(name).fields() {
			at := place{doc: p.doc, v: m.val}
			if !c.room(at) {
				break
			}
			x := Condition{If: &Schema{Required: []string{c.words(m.key)}}}
			switch m.val.kind {
			case listValue:
				x.Then = &Schema{Required: c.texts(m.val, maxRequired)}
			case objectValue:
				x.Then = c.asked(at, depth)
			}
			out = append(out, x)
		}
	}
	for i := range out {
		out[i].If, out[i].Then, out[i].Else = c.visible(out[i].If), c.visible(out[i].Then), c.visible(out[i].Else)
	}
	return slices.DeleteFunc(out, func(x Condition) bool {
		return x.If.saysNothing() || (x.Then == nil || x.Then.saysNothing()) && (x.Else == nil || x.Else.saysNothing())
	})
}

// asked converts a part of a condition. All names that it requires are known, those too
// that the schema around it describes.
func (c *slicer) asked(p place, depth int) *Schema {
	x := c.schema(p, depth+1)
	at, ok := c.r.follow(p)
	if !ok || at.v.get("required") == nil {
		return x
	}
	whole := *c.slice.resolve(x)
	whole.Required = c.texts(at.v.get("required"), maxRequired)
	return &whole
}

// visible returns a schema without the properties that are hidden.
func (c *slicer) visible(x *Schema) *Schema {
	if x == nil || len(c.hidden.names) == 0 && !c.hidden.blind {
		return x
	}
	whole := *c.slice.resolve(x)
	whole.Properties = slices.DeleteFunc(slices.Clone(whole.Properties), func(p Property) bool { return c.hidden.blind || c.hidden.names[p.Name] })
	whole.Required = c.hidden.strip(slices.Clone(whole.Required))
	if len(x.Properties) > 0 && len(whole.Properties) == 0 {
		whole.Types = nil // which they implied
	}
	return &whole
}

// saysNothing reports whether all values satisfy a schema, as far as it is known.
func (x *Schema) saysNothing() bool {
	return x.Ref == "" && !x.Never && len(x.Types)+len(x.Properties)+len(x.Patterns)+len(x.Required)+len(x.Enum)+len(x.Limits)+len(x.OneOf)+len(x.AnyOf)+len(x.Conditions)+len(x.Tuple) == 0 &&
		x.Const == nil && x.Not == nil && x.Items == nil && x.Additional == nil && !x.Closed
}

// showConditions shows what depends on what.
func (b *builder) showConditions(x *Schema, depth int) []*mdx.Node {
	var out []*mdx.Node
	for _, y := range x.Conditions {
		if b.options++; b.options > maxAlternatives || b.full() {
			return append(out, b.more())
		}
		line := append([]*mdx.Node{b.strong(b.lang.Say(words.If)), b.text(" ")}, b.holds(y.If, false)...)
		out = append(out, b.paragraph(line...))
		for _, part := range [...]struct {
			word words.Phrase
			x    *Schema
		}{{words.Then, y.Then}, {words.Otherwise, y.Else}} {
			if part.x != nil && !part.x.saysNothing() {
				out = append(out, b.asked(b.lang.Say(part.word), part.x, depth)...)
			}
		}
	}
	return out
}

// asked shows what a condition asks for, behind a word.
func (b *builder) asked(word string, x *Schema, depth int) []*mdx.Node {
	r := b.slice.resolve(x)
	line := []*mdx.Node{b.strong(word)}
	if r.Never {
		return []*mdx.Node{b.paragraph(append(line, b.text(" "+b.lang.Say(words.Forbidden)))...)}
	}
	if len(r.Required) > 0 {
		line = append(line, b.text(" "), b.text(b.lang.Say(words.Required)+": "))
		for i, name := range r.Required {
			if i > 0 {
				line = append(line, b.text(", "))
			}
			if i == maxShownEnum {
				line = append(line, b.text("…"))
				break
			}
			line = append(line, b.codeSpan(name))
		}
	}
	bare := *r
	bare.Required, bare.Ref = nil, ""
	out := append([]*mdx.Node{b.paragraph(line...)}, b.prose(r.Description)...)
	if len(r.Properties)+len(r.Types) == len(r.Properties)+1 && !isObject(r) {
		out = append(out, b.paragraph(b.codeSpan(b.typeOf(x, 0))))
	}
	out = append(out, b.facts(&bare)...)
	if x.Ref != "" && slices.Contains(b.open, x.Ref) {
		return append(out, b.paragraph(b.text(b.lang.Say(words.Recursive)+" "), b.codeSpan(b.nameOf(x))))
	}
	leave := b.enter(x)
	defer leave()
	return append(out, b.inner(&bare, depth+1)...)
}

// maxHolds is how many parts of a condition are shown.
const maxHolds = 30

// holds shows in a line what holds of a value: properties with their values, or that are
// there. A schema with a name is shown by its name; the outermost only if named says so.
func (b *builder) holds(x *Schema, named bool) []*mdx.Node {
	var out []*mdx.Node
	left := maxHolds
	and := func(word words.Phrase) {
		if out != nil {
			out = append(out, b.text(" "+b.lang.Say(word)+" "))
		}
	}
	var part func(x *Schema, name string, depth int, word words.Phrase)
	group := func(x *Schema, name string, depth int) []*mdx.Node {
		before := out
		out = nil
		part(x, name, depth, words.And)
		held := out
		out = before
		return held
	}
	part = func(x *Schema, name string, depth int, word words.Phrase) {
		if left--; left < 0 || depth > 8 || b.full() {
			if left == -1 {
				out = append(out, b.text(" …"))
			}
			return
		}
		b.spend(1)
		r := b.slice.resolve(x)
		before := len(out)
		say := func(text string) {
			and(word)
			out = append(out, b.codeSpan(text))
			word = words.And
		}
		path := func(key string) string {
			if name != "" {
				return name + "." + key
			}
			return key
		}
		subject := func(sign, text string) string {
			if name == "" {
				return text
			}
			return name + sign + text
		}
		switch {
		case x.Ref != "" && r.Name != "" && r.Const == nil && len(r.Enum) == 0 && (named || depth > 0):
			say(subject(": ", r.Name))
			return
		case r.Const != nil:
			say(subject(" = ", choice(r.Const)))
		case len(r.Enum) > 0:
			var values []string
			for i, e := range r.Enum {
				if i == maxHolds {
					values = append(values, "…")
					break
				}
				values = append(values, choice(e))
			}
			say(subject(" = ", strings.Join(values, " | ")))
		}
		for _, l := range r.Limits {
			say(subject(": ", l.Name+" "+l.Value))
		}
		for _, p := range r.Properties {
			part(p.Schema, path(p.Name), depth+1, word)
			word = words.And
		}
		for _, key := range r.Required {
			if !slices.ContainsFunc(r.Properties, func(p Property) bool { return p.Name == key }) {
				say(path(key))
				out = append(out, b.text(" "+b.lang.Say(words.IsSet)))
			}
		}
		if r.Items != nil {
			part(r.Items, name+"[]", depth+1, word)
		}
		for _, list := range [...][]*Schema{r.OneOf, r.AnyOf} {
			for _, a := range list {
				if held := group(a, name, depth+1); len(list) == 1 || len(held) <= 2 {
					and(word)
					out = append(out, held...)
				} else {
					and(word)
					out = append(append(append(out, b.text("(")), held...), b.text(")"))
				}
				word = words.Or
			}
			word = words.And
		}
		if r.Not != nil {
			held := group(r.Not, name, depth+1)
			and(word)
			out = append(append(append(out, b.text(b.lang.Say(words.Not)+" (")), held...), b.text(")"))
		}
		if len(out) == before {
			switch {
			case r.Name != "" && name == "":
				say(r.Name)
			case len(r.Types) > 0 && !(isObject(r) && name == ""):
				say(subject(": ", b.typeOf(x, 0)))
			case name != "":
				say(name)
			}
		}
	}
	part(x, "", 0, words.And)
	return out
}
