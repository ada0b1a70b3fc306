package reference

import "slices"

// alone is the only part of an allOf that is a reference, in a schema that says
// nothing else about its values.
func alone(v *value) *value {
	list := v.get("allOf").list()
	if len(list) != 1 || list[0].get("$ref") == nil {
		return nil
	}
	for _, m := range v.members {
		switch m.key {
		case "allOf", "description", "deprecated", "nullable", "title", "readOnly", "writeOnly", "example", "examples":
		default:
			return nil
		}
	}
	return list[0]
}

// join adds what the parts of allOf say. What the schema itself says wins, and
// of the parts the earlier.
func (c *slicer) join(s *Schema, p place, depth int, joining []*value) {
	for _, x := range p.v.get("allOf").list() {
		if c.full() {
			break
		}
		part, ok := c.r.follow(place{doc: p.doc, v: x})
		if !ok || slices.Contains(joining, part.v) || !c.room(part) || depth > maxSchemaDepth {
			continue
		}
		o := c.inline(part, depth+1, joining)
		if len(s.Types) == 0 {
			s.Types = o.Types
		}
		for _, f := range [...]struct{ to, from *string }{{&s.Format, &o.Format}, {&s.Title, &o.Title}, {&s.Description, &o.Description}} {
			if *f.to == "" {
				*f.to = *f.from
			}
		}
		s.Nullable = s.Nullable || o.Nullable
		s.Deprecated, s.ReadOnly, s.WriteOnly = s.Deprecated || o.Deprecated, s.ReadOnly || o.ReadOnly, s.WriteOnly || o.WriteOnly
		s.Unique, s.Closed = s.Unique || o.Unique, s.Closed || o.Closed
		if s.Enum == nil {
			s.Enum, s.EnumText = o.Enum, o.EnumText
		}
		if s.Const == nil {
			s.Const = o.Const
		}
		if s.Default == nil {
			s.Default = o.Default
		}
		if s.Examples == nil {
			s.Examples = o.Examples
		}
		for _, l := range o.Limits {
			if !slices.ContainsFunc(s.Limits, func(have Limit) bool { return have.Name == l.Name }) {
				s.Limits = append(s.Limits, l)
			}
		}
		s.Properties, s.required = joinProperties(s.Properties, o.Properties), append(slices.Clip(s.required), o.required...)
		s.required = s.required[:min(len(s.required), maxRequired)]
		s.Patterns = joinProperties(s.Patterns, o.Patterns)
		if s.Additional == nil {
			s.Additional = o.Additional
		}
		if s.Items == nil {
			s.Items = o.Items
		}
		if s.Tuple == nil {
			s.Tuple = o.Tuple
		}
		if s.Not == nil {
			s.Not = o.Not
		}
		if s.XML == nil {
			s.XML = o.XML
		}
		if s.OneOf == nil && s.AnyOf == nil { // and what tells them apart
			s.OneOf, s.AnyOf, s.Discriminator, s.Mapping = o.OneOf, o.AnyOf, o.Discriminator, o.Mapping
			if s.OneOf == nil && s.AnyOf == nil {
				s.Discriminator = ""
			}
		}
	}
}

func joinProperties(have, more []Property) []Property {
	for _, p := range more {
		i := slices.IndexFunc(have, func(h Property) bool { return h.Name == p.Name })
		if i < 0 {
			have = append(have, p)
			continue
		}
		have[i].Required = have[i].Required || p.Required
		if h := have[i].Schema; h.Ref == "" && len(h.Types) == 0 && len(h.Properties) == 0 && h.OneOf == nil && h.AnyOf == nil {
			merged := *p.Schema // the later only adds to it, such as a description
			if h.Description != "" {
				merged.Description = h.Description
			}
			if h.Default != nil {
				merged.Default = h.Default
			}
			if h.Enum != nil {
				merged.Enum, merged.EnumText = h.Enum, h.EnumText
			}
			if h.Const != nil {
				merged.Const = h.Const
			}
			have[i].Schema = &merged
		}
	}
	return have
}
