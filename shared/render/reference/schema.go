package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Schema is what a page shows of a schema. allOf is joined already; what a
// name refers to is in Slice.Schemas.
type Schema struct {
	// Ref, if set, names a schema of the slice. Description and Deprecated may
	// stand beside it and win; nothing else does.
	Ref string `json:",omitempty"`
	// Name is what the schema is called where it has a name of its own.
	Name string `json:",omitempty"`
	// Types are JSON Schema's, "null" left out: Nullable says that.
	Types       []string `json:",omitempty"`
	Format      string   `json:",omitempty"`
	Title       string   `json:",omitempty"`
	Description string   `json:",omitempty"`
	Nullable    bool     `json:",omitempty"`
	Deprecated  bool     `json:",omitempty"`
	ReadOnly    bool     `json:",omitempty"`
	WriteOnly   bool     `json:",omitempty"`
	// Enum and the values below are JSON.
	Enum     []json.RawMessage `json:",omitempty"`
	EnumText []string          `json:",omitempty"` // what each means, or nothing
	Const    json.RawMessage   `json:",omitempty"`
	Default  json.RawMessage   `json:",omitempty"`
	Examples []json.RawMessage `json:",omitempty"`
	// Limits are constraints by their JSON Schema name, in a fixed order.
	Limits []Limit `json:",omitempty"`
	// Unique asks that items differ.
	Unique bool `json:",omitempty"`

	Properties []Property `json:",omitempty"`
	// Patterns are properties by pattern of name; Additional all others.
	Patterns   []Property `json:",omitempty"`
	Additional *Schema    `json:",omitempty"`
	// Closed objects have no other properties.
	Closed bool      `json:",omitempty"`
	Items  *Schema   `json:",omitempty"`
	Tuple  []*Schema `json:",omitempty"`

	OneOf []*Schema `json:",omitempty"`
	AnyOf []*Schema `json:",omitempty"`
	Not   *Schema   `json:",omitempty"`
	// Conditions say what else is asked for where something holds.
	Conditions []Condition `json:",omitempty"`
	// Required are names of properties that must be there, in a schema that
	// does not say what they are.
	Required []string `json:",omitempty"`
	// Discriminator is the property that distinguishes the alternatives, Mapping
	// its value for each of OneOf or AnyOf, "" where none is known.
	Discriminator string   `json:",omitempty"`
	Mapping       []string `json:",omitempty"`
	// Never is the schema that nothing satisfies.
	Never bool `json:",omitempty"`
	// XML says how the value stands in XML.
	XML *XML `json:",omitempty"`
	Labels

	// required are the names of properties that must be there; a part of allOf
	// may require what another part has.
	required []string
}

// Labels are words that a field shows before and after its name.
type Labels struct {
	Before []string `json:",omitempty"`
	After  []string `json:",omitempty"`
}

// with returns the labels of l and those of more, as many as a field shows.
func (l Labels) with(more Labels) Labels {
	join := func(a, b []string) []string {
		for _, s := range b {
			if r := []rune(s); len(r) > maxLabel {
				s = string(r[:maxLabel]) + "…"
			}
			if len(a) < maxLabels && !slices.Contains(a, s) {
				a = append(slices.Clip(a), s)
			}
		}
		return a
	}
	return Labels{join(l.Before, more.Before), join(l.After, more.After)}
}

// Property is a property of an object.
type Property struct {
	Name     string
	Required bool `json:",omitempty"`
	Schema   *Schema
}

// Limit is a constraint: its name and its value as JSON.
type Limit struct{ Name, Value string }

var limitNames = [...]string{
	"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties", "maxProperties",
	"contentEncoding", "contentMediaType",
}

// Limits of a slice.
const (
	// maxSchemaDepth is how deep nameless schemas lie in each other.
	maxSchemaDepth = 60
	// maxExample is how large an example may be, in bytes of JSON.
	maxExample = 64 << 10
	// maxScalar is how large a default or an enum's value may be.
	maxScalar = 4 << 10
	// maxEnum is how many values of an enum are shown.
	maxEnum = 500
	// maxMapped is how long a list of a discriminator's values may become.
	maxMapped = 200
	// maxTypes is how many types a value may have.
	maxTypes = 20
	// maxLabels is how many labels a field has before its name, and after it.
	maxLabels = 10
	// maxLabel is how many characters a label has: many fields may share it.
	maxLabel = 60
	// maxRequired is how many required properties are known of an object.
	maxRequired = maxParts
)

type slicer struct {
	r     *Reader
	slice *Slice
	count int  // parts of the slice
	spent *int // parts of the specification's slices
	bytes int
	limit int             // of bytes
	have  map[string]bool // parameters, by place and name
	// hidden has what of the page's parts is for other readers.
	hidden hidden
	looked map[*value]bool // for hidden
	// async2 is set for AsyncAPI 2; contentType is that of messages that name none.
	async2      bool
	contentType string
	shown       map[*value]bool // messages of the page
	// active are the nameless schemas in work: one that holds itself gets a
	// name when it is met again.
	active map[*value]*Schema
}

// schema converts a schema. It never returns nil.
func (c *slicer) schema(p place, depth int) *Schema {
	if p.v == nil || depth > maxSchemaDepth || !c.room(p) {
		return &Schema{}
	}
	if ref := p.v.get("$ref"); ref != nil && ref.kind == stringValue {
		if c.bars(p, "") {
			return &Schema{}
		}
		target, ok := c.r.follow(p)
		if !ok {
			return &Schema{Name: c.words(nameOf(ref.text)), Description: c.first(p.v, "description")}
		}
		if _, done := c.slice.Schemas[target.id]; !done {
			s := new(Schema)
			c.slice.Schemas[target.id] = s // so that a circle ends here
			*s = *c.inline(target, depth+1, nil)
			s.Name = c.words(nameOf(target.id))
		}
		s := &Schema{Ref: c.words(target.id), Description: c.first(p.v, "description"), Deprecated: p.v.get("deprecated").isTrue()}
		s.Nullable, s.Labels = p.v.get("nullable").isTrue(), c.pills(p.v)
		return s
	}
	if part := alone(p.v); part != nil { // {"allOf": [{"$ref": …}]}: a reference with words of its own
		s := c.schema(place{doc: p.doc, v: part}, depth+1)
		s.Description, s.Deprecated = c.first(p.v, "description"), p.v.get("deprecated").isTrue()
		s.Nullable, s.Labels = s.Nullable || p.v.get("nullable").isTrue(), c.pills(p.v).with(s.Labels)
		return s
	}
	if s, again := c.active[p.v]; again {
		id := fmt.Sprintf("%s#%d/%s", p.doc.file, p.line(), p.v.first("title"))
		c.slice.Schemas[id] = s
		return &Schema{Ref: id}
	}
	if c.active == nil {
		c.active = map[*value]*Schema{}
	}
	s := new(Schema)
	c.active[p.v] = s
	*s = *c.inline(p, depth, nil)
	delete(c.active, p.v)
	return s
}

// inline converts a schema that is not a reference. joining are the schemas whose
// allOf is being joined, for circles.
func (c *slicer) inline(p place, depth int, joining []*value) *Schema {
	v := p.v
	s := &Schema{}
	switch {
	case v.isFalse():
		s.Never = true
		return s
	case v == nil || v.kind != objectValue || depth > maxSchemaDepth:
		return s
	}
	c.hide(p)
	c.labels(s, v)
	c.setTypes(s, v)
	c.values(s, p)
	c.limits(s, v)
	s.required = c.hidden.strip(c.texts(v.get("required"), maxRequired))
	c.parts(s, p, depth)
	c.join(s, p, depth, append(slices.Clip(joining), v))
	required := make(map[string]bool, len(s.required))
	for _, name := range s.required {
		required[name] = true
	}
	for i := range s.Properties {
		s.Properties[i].Required = s.Properties[i].Required || required[s.Properties[i].Name]
	}
	if len(s.Properties) == 0 {
		s.Required = s.required
	}
	if d := v.get("discriminator"); d != nil {
		if len(joining) == 0 && p.doc.left(v.get("oneOf")) == nil && p.doc.left(v.get("anyOf")) == nil {
			c.derive(s, p, d, depth)
		}
		c.discriminate(s, p, d)
	}
	if only := s.only(); only != nil {
		return only
	}
	s.inferTypes()
	return s
}

// labels reads what describes a schema and no value of it.
func (c *slicer) labels(s *Schema, v *value) {
	s.Format, s.Title, s.Description = c.first(v, "format"), c.first(v, "title"), c.first(v, "description")
	s.Nullable, s.Deprecated = v.get("nullable").isTrue(), v.get("deprecated").isTrue()
	s.ReadOnly, s.WriteOnly = v.get("readOnly").isTrue(), v.get("writeOnly").isTrue()
	s.Unique, s.XML = v.get("uniqueItems").isTrue(), c.readXML(v.get("xml"))
	s.Labels = c.pills(v)
}

// pills reads the labels of a schema or a parameter: what the members say that
// the site's author wants to see, and what the extension x-mint says.
func (c *slicer) pills(v *value) Labels {
	var own Labels
	for _, name := range c.r.labels {
		switch x := v.get(name); {
		case x.isTrue():
			own.After = append(own.After, name)
		case x != nil && (x.kind == numberValue || x.kind == stringValue && x.text != ""):
			own.After = append(own.After, c.words(x.text))
		}
	}
	x := v.get(restriction)
	return Labels{}.with(own).with(Labels{c.texts(x.get("pre"), maxLabels), c.texts(x.get("post"), maxLabels)})
}

// Label names the members of schemas whose values fields show beside their
// names. It is called before the first slice is cut.
func (r *Reader) Label(members []string) { r.labels = members[:min(len(members), maxLabels)] }

// setTypes reads the types: "null" beside others makes the schema nullable.
func (c *slicer) setTypes(s *Schema, v *value) {
	for _, t := range c.texts(v.get("type"), 2*maxTypes) {
		if t == "null" {
			s.Nullable = true
		} else if len(s.Types) < maxTypes && !slices.Contains(s.Types, t) {
			s.Types = append(s.Types, t)
		}
	}
	if len(s.Types) == 0 && s.Nullable && v.get("type") != nil && v.get("nullable") == nil {
		s.Types, s.Nullable = []string{"null"}, false
	}
}

// inferTypes sets the type that the other members imply where none is named.
func (s *Schema) inferTypes() {
	switch {
	case len(s.Types) > 0:
	case len(s.Properties)+len(s.Patterns) > 0 || s.Additional != nil:
		s.Types = []string{"object"}
	case s.Items != nil || s.Tuple != nil:
		s.Types = []string{"array"}
	}
}

func (c *slicer) limits(s *Schema, v *value) {
	for _, name := range limitNames {
		x := v.get(name)
		if x == nil || x.kind > stringValue || x.isFalse() || x.isTrue() { // 3.0's exclusive bounds are booleans
			continue
		}
		label := name
		if (name == "minimum" && v.get("exclusiveMinimum").isTrue()) || (name == "maximum" && v.get("exclusiveMaximum").isTrue()) {
			label = "exclusive" + strings.ToUpper(name[:1]) + name[1:]
		}
		if text := c.words(x.literal()); text != "" {
			s.Limits = append(s.Limits, Limit{label, text})
		}
	}
}

// parts converts the schemas that a schema holds, allOf's excepted.
func (c *slicer) parts(s *Schema, p place, depth int) {
	v := p.v
	s.Properties = c.properties(p, "properties", depth)
	s.Patterns = c.properties(p, "patternProperties", depth)
	for _, name := range [...]string{"additionalProperties", "unevaluatedProperties"} {
		switch x := v.get(name); {
		case x == nil:
		case x.isFalse():
			s.Closed = true
		case x.kind == objectValue && len(x.members) > 0:
			s.Additional = c.schema(place{doc: p.doc, v: x}, depth+1)
		case s.Additional == nil:
			s.Additional = &Schema{}
		}
	}
	if x := v.get("items"); x != nil && x.kind == objectValue {
		s.Items = c.schema(place{doc: p.doc, v: x}, depth+1)
	}
	for _, x := range v.get("prefixItems").list() {
		if c.full() {
			break
		}
		s.Tuple = append(s.Tuple, c.schema(place{doc: p.doc, v: x}, depth+1))
	}
	s.OneOf = c.alternatives(s, place{doc: p.doc, v: v.get("oneOf")}, depth)
	s.AnyOf = c.alternatives(s, place{doc: p.doc, v: v.get("anyOf")}, depth)
	if x := v.get("not"); x != nil && x.kind == objectValue {
		s.Not = c.visible(c.schema(place{doc: p.doc, v: x}, depth+1))
	}
	s.Conditions = c.conditions(p, depth)
}

// properties converts the schemas that the named member lists by name.
func (c *slicer) properties(p place, member string, depth int) []Property {
	var out []Property
	for _, m := range p.v.get(member).fields() {
		if c.bytes += len(m.key); c.full() {
			c.room(p)
			break
		}
		if c.bars(place{doc: p.doc, v: m.val}, m.key) {
			continue
		}
		out = append(out, Property{Name: m.key, Schema: c.schema(place{doc: p.doc, v: m.val}, depth+1)})
	}
	return out
}

// only returns the single alternative of a schema that says little else, with
// what it says: one, or one and null, leaves no choice to show. It returns
// nil for all other schemas.
func (s *Schema) only() *Schema {
	one := slices.Concat(s.OneOf, s.AnyOf)
	if len(one) != 1 || len(s.Types)+len(s.Properties) > 0 || s.Additional != nil {
		return nil
	}
	only := *one[0]
	if s.Description != "" {
		only.Description = s.Description
	}
	only.Nullable, only.Deprecated = only.Nullable || s.Nullable, only.Deprecated || s.Deprecated
	if s.Default != nil && only.Ref == "" {
		only.Default = s.Default
	}
	only.Labels = s.with(only.Labels)
	return &only
}

// someValue returns the first value of an enum that is not null, null if it has no other
// value, and nil without an enum.
func (s *Schema) someValue() json.RawMessage {
	for _, e := range s.Enum {
		if string(e) != "null" {
			return e
		}
	}
	return first(s.Enum)
}

// values reads enum, const, default and examples.
func (c *slicer) values(s *Schema, p place) {
	v := p.v
	some := false // values are left out: a list of descriptions is not theirs one by one
	for i, x := range v.get("enum").list() {
		if i == maxEnum {
			break
		}
		if x.kind == nullValue {
			s.Nullable = true
		}
		if c.r.barredEnum(v, x) {
			some = true
			c.hidden.value(x.str())
			continue
		}
		s.Enum = append(s.Enum, c.value(x, p, maxScalar))
	}
	for _, name := range [...]string{"x-enumDescriptions", "x-enum-descriptions"} {
		x := v.get(name)
		if x == nil || s.EnumText != nil || len(s.Enum) == 0 {
			continue
		}
		s.EnumText = make([]string, len(s.Enum))
		for i, e := range s.Enum {
			if x.kind == listValue && some {
				break
			} else if x.kind == listValue && i < len(x.items) {
				s.EnumText[i] = c.words(x.items[i].str())
			} else {
				s.EnumText[i] = c.first(x, scalarText(e))
			}
		}
	}
	s.Const, s.Default = c.value(v.get("const"), p, maxScalar), c.value(v.get("default"), p, maxScalar)
	if s.Default == nil {
		s.Default = c.value(v.get("x-default"), p, maxScalar)
	}
	if x := c.value(v.get("example"), p, maxExample); x != nil {
		s.Examples = append(s.Examples, x)
	}
	for _, x := range v.get("examples").list() {
		if len(s.Examples) < 4 {
			s.Examples = append(s.Examples, c.value(x, p, maxExample))
		}
	}
}

// value returns a value of a schema as JSON, nil for none and for one that is too large.
func (c *slicer) value(v *value, schema place, limit int) json.RawMessage {
	if v == nil || c.r.tooLarge[v] {
		return nil
	}
	b, err := c.typed(v, schema).json(min(limit, c.limit-min(c.bytes, c.limit)))
	if err != nil {
		c.r.tooLarge[v] = limit == maxExample && c.bytes+limit <= c.limit
		if c.bytes+limit > c.limit && c.limit < maxSliceBytes {
			c.reportWhole()
		}
		return nil
	}
	c.bytes += len(b) // what is hidden took as long
	return c.hidden.json(b)
}

// alternatives converts oneOf or anyOf. One that is only null makes the schema
// nullable: so 3.1 writes what 3.0 calls nullable.
func (c *slicer) alternatives(s *Schema, p place, depth int) []*Schema {
	var out []*Schema
	for _, x := range p.v.list() {
		if c.full() {
			break
		}
		if t := c.texts(x.get("type"), 2); len(t) == 1 && t[0] == "null" && len(x.members) <= 2 {
			s.Nullable = true
			continue
		}
		if c.bars(place{doc: p.doc, v: x}, "") {
			continue
		}
		out = append(out, c.schema(place{doc: p.doc, v: x}, depth+1))
	}
	return out
}

// derive makes alternatives of the schemas that a mapping names, where the schema
// lists none: those have it as a part of their allOf.
func (c *slicer) derive(s *Schema, p place, d *value, depth int) {
	if len(s.OneOf)+len(s.AnyOf) > 0 {
		return
	}
	have := map[string]bool{}
	for _, m := range d.get("mapping").fields() {
		target := m.val.str()
		if c.full() || target == "" {
			break
		}
		at, problem := c.r.resolve(p.doc, "#/components/schemas/"+target) // a name, or else a reference
		if problem == "" {
			target = "#/components/schemas/" + target
		} else if strings.ContainsAny(target, "#/.") {
			at, problem = c.r.resolve(p.doc, target)
		}
		if problem != "" || at.v == p.v {
			continue
		}
		ref := &value{kind: objectValue, line: m.line, members: []member{{"$ref", m.line, &value{kind: stringValue, line: m.line, text: target}}}}
		x := c.schema(place{doc: p.doc, v: ref}, depth+1)
		if !have[x.Ref] {
			have[x.Ref] = true
			s.OneOf = append(s.OneOf, x)
		}
	}
}

// discriminate finds the value that selects each alternative.
func (c *slicer) discriminate(s *Schema, p place, d *value) {
	if d.kind == stringValue { // AsyncAPI
		s.Discriminator = c.words(d.text)
		return
	}
	s.Discriminator = c.first(d, "propertyName")
	list := orElse(s.OneOf, s.AnyOf)
	if len(list) == 0 {
		return
	}
	byName, mapped := map[string][]string{}, map[string]string{} // the references of a name, and what is mapped to each
	for _, a := range list {
		if name := nameOf(a.Ref); a.Ref != "" && !slices.Contains(byName[name], a.Ref) {
			byName[name] = append(byName[name], a.Ref)
		}
	}
	for _, m := range d.get("mapping").fields() {
		if !c.room(place{doc: p.doc, v: m.val}) {
			break
		}
		refs := byName[m.val.str()]
		if strings.ContainsAny(m.val.str(), "#/.") {
			if t, problem := c.r.resolve(p.doc, m.val.str()); problem == "" {
				refs = []string{t.id}
			}
		}
		for _, ref := range refs {
			switch had := len(mapped[ref]); {
			case had == 0:
				mapped[ref] = m.key
			case had < maxMapped:
				mapped[ref] += ", " + m.key
			}
		}
	}
	s.Mapping = make([]string, len(list))
	for i, a := range list {
		if a.Ref != "" {
			s.Mapping[i] = c.words(cmp.Or(mapped[a.Ref], nameOf(a.Ref)))
		}
	}
}

// scalarText is a JSON value as a reader sees it: a text without its quotes.
func scalarText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
