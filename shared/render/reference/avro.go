package reference

import (
	"fmt"
	"strings"
)

// avro converts a schema of Apache Avro (1.9) to what pages show. names are the ids of the
// types that have a name, by their full name; space is the namespace around p.
func (c *slicer) avro(p place, names map[string]string, space string, depth int) *Schema {
	v := p.v
	if v == nil || depth > maxSchemaDepth || !c.room(p) {
		return &Schema{}
	}
	switch v.kind {
	case stringValue:
		if s := avroType(v.text); s != nil {
			return s
		}
		for _, full := range [...]string{avroName(v.text, space), v.text} {
			if id, ok := names[full]; ok {
				return &Schema{Ref: id}
			}
		}
		return &Schema{Types: []string{c.words(v.text)}}
	case listValue:
		return c.avroUnion(p, names, space, depth)
	case objectValue:
	default:
		return &Schema{}
	}
	if v.get("$ref") != nil {
		target, ok := c.r.follow(p)
		if !ok {
			return &Schema{}
		}
		return c.avro(target, names, space, depth+1)
	}
	kind := v.get("type")
	if kind == nil || kind.kind != stringValue { // {"type": {"type": …}}
		s := *c.avro(place{doc: p.doc, v: kind}, names, space, depth+1)
		c.avroWords(&s, v)
		return &s
	}
	s := &Schema{}
	switch kind.text {
	case "record", "error", "enum", "fixed":
		return c.avroNamed(p, kind.text, names, space, depth)
	case "array":
		s.Types, s.Items = []string{"array"}, c.avro(p.get("items"), names, space, depth+1)
	case "map":
		s.Types, s.Additional = []string{"object"}, c.avro(p.get("values"), names, space, depth+1)
	default:
		*s = *c.avro(place{doc: p.doc, v: kind}, names, space, depth+1)
	}
	c.avroWords(s, v)
	return s
}

// avroWords adds what describes a type.
func (c *slicer) avroWords(s *Schema, v *value) {
	if doc := c.first(v, "doc"); doc != "" {
		s.Description = doc
	}
	if logical := c.first(v, "logicalType"); logical != "" {
		s.Format = logical
	}
	for _, name := range [...]string{"precision", "scale"} {
		if x := v.get(name); x != nil && x.kind == numberValue {
			s.Limits = append(s.Limits, Limit{name, c.words(x.literal())})
		}
	}
}

// avroNamed converts a type that has a name, which others may refer to.
func (c *slicer) avroNamed(p place, kind string, names map[string]string, space string, depth int) *Schema {
	name := c.first(p.v, "name")
	if own := c.first(p.v, "namespace"); own != "" {
		space = own
	}
	full := avroName(name, space)
	if i := strings.LastIndexByte(full, '.'); i >= 0 {
		space = full[:i]
	}
	id := fmt.Sprintf("%s#avro/%d/%s", p.doc.file, p.line(), full)
	if _, again := c.slice.Schemas[id]; again {
		names[full] = id
		return &Schema{Ref: id}
	}
	s := &Schema{Name: full[strings.LastIndexByte(full, '.')+1:]}
	c.slice.Schemas[id], names[full] = s, id
	c.avroWords(s, p.v)
	switch kind {
	case "enum":
		s.Types = []string{"string"}
		for i, x := range p.v.get("symbols").list() {
			if i == maxEnum {
				break
			}
			if raw := c.value(x, place{}, maxScalar); raw != nil {
				s.Enum = append(s.Enum, raw)
			}
		}
		s.Default = c.value(p.v.get("default"), place{}, maxScalar)
	case "fixed":
		s.Types, s.Format = []string{"string"}, "fixed"
		if size := p.v.get("size"); size != nil && size.kind == numberValue {
			s.Limits = append(s.Limits, Limit{"size", c.words(size.literal())})
		}
	default:
		s.Types = []string{"object"}
		fields := p.get("fields")
		for _, f := range fields.v.list() {
			at := place{doc: fields.doc, v: f}
			if !c.room(at) {
				break
			}
			if c.bars(at, f.first("name")) {
				continue
			}
			field := Property{Name: c.first(f, "name"), Required: f.get("default") == nil, Schema: c.avro(at.get("type"), names, space, depth+1)}
			x := *field.Schema
			if doc := c.first(f, "doc"); doc != "" {
				x.Description = doc
			}
			if value := c.value(f.get("default"), place{}, maxScalar); value != nil && string(value) != "null" {
				if whole := c.slice.resolve(&x); !isObject(whole) {
					x = *whole
				}
				if x.Ref == "" {
					x.Default = value
				}
			}
			field.Schema = &x
			s.Properties = append(s.Properties, field)
		}
	}
	return &Schema{Ref: id}
}

// avroUnion converts a union. One of null and one other type is a value that may be null.
func (c *slicer) avroUnion(p place, names map[string]string, space string, depth int) *Schema {
	s := &Schema{}
	for _, x := range p.v.list() {
		if x.str() == "null" {
			s.Nullable = true
			continue
		}
		if c.full() {
			break
		}
		s.OneOf = append(s.OneOf, c.avro(place{doc: p.doc, v: x}, names, space, depth+1))
	}
	if only := s.only(); only != nil {
		return only
	}
	if len(s.OneOf) == 0 && s.Nullable {
		return &Schema{Types: []string{"null"}}
	}
	return s
}

// avroName is a name with its namespace.
func avroName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

// avroType is one of Avro's primitive types as JSON Schema has it, nil for other names.
func avroType(name string) *Schema {
	kind, format := name, ""
	switch name {
	case "null", "boolean", "string":
	case "int":
		kind, format = "integer", "int32"
	case "long":
		kind, format = "integer", "int64"
	case "float", "double":
		kind, format = "number", name
	case "bytes":
		kind, format = "string", name
	default:
		return nil
	}
	return &Schema{Types: []string{kind}, Format: format}
}

// messages are those of a page about a channel.
func (s *Slice) messages() []Message {
	var out []Message
	if s.Channel == nil {
		return nil
	}
	for _, op := range s.Channel.Operations {
		out = append(out, op.Messages...)
		if op.Reply != nil {
			out = append(out, op.Reply.Messages...)
		}
	}
	return out
}
