package reference

import "slices"

// maxTyped is how many values of an example are compared with its schema. The others
// stay as they are.
const maxTyped = 20_000

// typed returns a value as its schema has it: a number or a boolean is the text that
// its author wrote where the schema says string. YAML takes 02142, a postal code, for
// a number. The value itself stays as it is; parts that don't change are shared.
func (c *slicer) typed(v *value, schema place) *value {
	left := maxTyped
	return c.typedPart(v, []place{schema}, 0, &left)
}

// typedPart is typed for a part that all of these schemas describe.
func (c *slicer) typedPart(v *value, schemas []place, depth int, left *int) *value {
	if *left--; v == nil || *left < 0 || depth > maxSchemaDepth {
		return v
	}
	schemas = c.allOf(schemas)
	if len(schemas) == 0 {
		return v
	}
	switch v.kind {
	case numberValue, boolValue:
		if c.sayString(schemas) {
			return &value{kind: stringValue, line: v.line, text: v.text}
		}
	case listValue:
		out := v
		for i, item := range v.items {
			if *left <= 0 {
				break
			}
			if now := c.typedPart(item, members(schemas, "items"), depth+1, left); now != item {
				if out == v {
					out = &value{kind: listValue, line: v.line, items: slices.Clone(v.items)}
				}
				out.items[i] = now
			}
		}
		return out
	case objectValue:
		out := v
		for i, m := range v.members {
			if *left <= 0 {
				break
			}
			parts := members(members(schemas, "properties"), m.key)
			if len(parts) == 0 {
				parts = members(schemas, "additionalProperties")
			}
			if now := c.typedPart(m.val, parts, depth+1, left); now != m.val {
				if out == v {
					out = &value{kind: objectValue, line: v.line, members: slices.Clone(v.members)}
				}
				out.members[i].val = now
			}
		}
		return out
	}
	return v
}

// allOf returns schemas with those that their references and allOf lead to.
func (c *slicer) allOf(schemas []place) []place {
	const most = 100
	out := slices.Clone(schemas[:min(len(schemas), most)])
	for i := 0; i < len(out); i++ {
		p := out[i]
		if p.v == nil || p.v.kind != objectValue {
			continue
		}
		if ref := p.v.get("$ref"); ref != nil && ref.kind == stringValue && len(out) < most {
			if to, problem := c.r.resolve(p.doc, ref.text); problem == "" {
				out = append(out, to)
			}
		}
		for _, part := range p.v.get("allOf").list() {
			if len(out) == most {
				break
			}
			out = append(out, place{doc: p.doc, v: part})
		}
	}
	return out
}

// members returns the named members of schemas.
func members(schemas []place, name string) []place {
	var out []place
	for _, p := range schemas {
		if at := p.get(name); at.v != nil && at.v.kind == objectValue {
			out = append(out, at)
		}
	}
	return out
}

// sayString reports whether the schemas allow texts and neither numbers nor booleans.
func (c *slicer) sayString(schemas []place) bool {
	says := false
	for _, p := range schemas {
		types := p.v.get("type").texts()
		for _, name := range [...]string{"anyOf", "oneOf"} {
			for _, a := range p.v.get(name).list() {
				for _, part := range c.allOf([]place{{doc: p.doc, v: a}}) {
					types = append(types, part.v.get("type").texts()...)
				}
			}
		}
		for _, t := range types {
			switch t {
			case "string":
				says = true
			case "number", "integer", "boolean":
				return false
			}
		}
	}
	return says
}
