package reference

import (
	"cmp"
	"slices"
)

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
		at := place{doc: p.doc, v: x}
		if !c.room(at) {
			break
		}
		part, ok := c.r.follow(at)
		if !ok || slices.Contains(joining, part.v) || depth > maxSchemaDepth {
			continue
		}
		s.add(c.inline(part, depth+1, joining))
	}
}

// add takes over from o what s does not say itself.
func (s *Schema) add(o *Schema) {
	s.Types = orElse(s.Types, o.Types)
	s.Format, s.Title, s.Description = cmp.Or(s.Format, o.Format), cmp.Or(s.Title, o.Title), cmp.Or(s.Description, o.Description)
	s.Nullable = s.Nullable || o.Nullable
	s.Deprecated, s.ReadOnly, s.WriteOnly = s.Deprecated || o.Deprecated, s.ReadOnly || o.ReadOnly, s.WriteOnly || o.WriteOnly
	s.Labels = s.with(o.Labels)
	s.Unique, s.Closed = s.Unique || o.Unique, s.Closed || o.Closed
	if s.Enum == nil {
		s.Enum, s.EnumText = o.Enum, o.EnumText
	}
	s.Const, s.Default, s.Examples = orElse(s.Const, o.Const), orElse(s.Default, o.Default), orElse(s.Examples, o.Examples)
	for _, l := range o.Limits {
		if !slices.ContainsFunc(s.Limits, func(have Limit) bool { return have.Name == l.Name }) {
			s.Limits = append(s.Limits, l)
		}
	}
	s.Properties, s.Patterns = joinProperties(s.Properties, o.Properties), joinProperties(s.Patterns, o.Patterns)
	s.required = append(s.required, o.required[:min(len(o.required), maxRequired-len(s.required))]...)
	s.Additional, s.Items, s.Tuple = cmp.Or(s.Additional, o.Additional), cmp.Or(s.Items, o.Items), orElse(s.Tuple, o.Tuple)
	s.Not, s.XML = cmp.Or(s.Not, o.Not), cmp.Or(s.XML, o.XML)
	s.Conditions = append(slices.Clip(s.Conditions), o.Conditions...)
	if s.OneOf == nil && s.AnyOf == nil { // and what distinguishes them
		s.OneOf, s.AnyOf, s.Discriminator, s.Mapping = o.OneOf, o.AnyOf, o.Discriminator, o.Mapping
		if s.OneOf == nil && s.AnyOf == nil {
			s.Discriminator = ""
		}
	}
}

// orElse returns list, or instead if list is empty.
func orElse[S ~[]E, E any](list, instead S) S {
	if len(list) == 0 {
		return instead
	}
	return list
}

// joinProperties adds to have the properties of more that it lacks. Of a name
// that both have, one that says nothing of its value takes the other's schema
// and adds to it what it does say, such as a description.
func joinProperties(have, more []Property) []Property {
	find := func(name string) int { return slices.IndexFunc(have, func(h Property) bool { return h.Name == name }) }
	if len(more) > 32 {
		at := make(map[string]int, len(have)+len(more))
		for i := len(have) - 1; i >= 0; i-- {
			at[have[i].Name] = i
		}
		find = func(name string) int {
			i, known := at[name]
			if !known {
				i, at[name] = -1, len(have) // where it is put now
			}
			return i
		}
	}
	for _, p := range more {
		i := find(p.Name)
		if i < 0 {
			have = append(have, p)
			continue
		}
		have[i].Required = have[i].Required || p.Required
		if h := have[i].Schema; h.Ref == "" && len(h.Types) == 0 && len(h.Properties) == 0 && h.OneOf == nil && h.AnyOf == nil {
			merged := *p.Schema
			merged.Description = cmp.Or(h.Description, merged.Description)
			merged.Labels = h.with(merged.Labels)
			merged.Default, merged.Const = orElse(h.Default, merged.Default), orElse(h.Const, merged.Const)
			if h.Enum != nil {
				merged.Enum, merged.EnumText = h.Enum, h.EnumText
			}
			have[i].Schema = &merged
		}
	}
	return have
}
