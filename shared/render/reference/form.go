package reference

import (
	"encoding/json"
	"slices"
	"strings"
)

// entry is a property of a form's schema, as the form's field: one or several
// parts are made of it.
type entry struct {
	param Param
	// value is the author's, or made up: JSON.
	value json.RawMessage
	// file marks fields that take files, many of them those that take several.
	file, many bool
	// part is the content type that the author names for the field, or several
	// after commas.
	part string
}

type formField struct {
	name, value string
	file        bool
	// part is the part's content type, where the author names one.
	part string
}

// entries are the fields of a form. Lists are sent item by item and objects as
// JSON, unless the author says another style.
func (s *Slice) entries(m *Media, requiredOnly bool) []entry {
	x := s.resolve(m.Schema)
	properties := x.Properties
	if list := slices.Concat(x.OneOf, x.AnyOf); len(list) > 0 { // the first alternative, as in examples
		properties = joinProperties(slices.Clone(properties), s.resolve(list[0]).Properties)
	}
	given := map[string]json.RawMessage{} // by the author's example of the whole
	for _, e := range m.Examples {
		if e.Value != nil && json.Unmarshal(e.Value, &given) == nil {
			break
		}
	}
	left := maxExample // bytes of values
	var out []entry
	for _, p := range properties {
		field := s.resolve(p.Schema)
		if left <= 0 {
			break
		}
		if field.ReadOnly || requiredOnly && !p.Required {
			continue
		}
		e := entry{param: Param{Name: p.Name, Required: p.Required, Schema: p.Schema, Style: "form", Explode: true}}
		item := field
		if field.Items != nil {
			item, e.many = s.resolve(field.Items), true
		}
		if isObject(field) {
			e.param.Style = "json"
		}
		for _, part := range m.Parts {
			if part.Name != p.Name {
				continue
			}
			e.part = part.Type
			if part.Style != "" {
				e.param.Style, e.param.Explode = part.Style, part.Explode
			} else if isJSON(part.Type) {
				e.param.Style = "json" // lists too are one part then
			}
		}
		e.file = isFile(item) || len(item.Types) == 0 && e.part != "" && !isJSON(e.part) && !isXML(e.part) && !strings.HasPrefix(e.part, "text/")
		if e.value = given[p.Name]; e.value == nil && !e.file {
			e.value = s.example(p.Schema, sent, false)
		}
		left -= len(p.Name) + len(e.value)
		out = append(out, e)
	}
	return out
}

func (s *Slice) formFields(e entry) []formField {
	if e.file {
		return []formField{{name: e.param.Name, value: "file", file: true, part: single(e.part)}}
	}
	var out []formField
	for _, p := range s.pairs(e.param, scalarText(e.value), true) {
		out = append(out, formField{name: p.name, value: p.value, part: single(e.part)})
	}
	return out
}

// single is a content type that a part can have; "" for several, and for a range
// of them.
func single(mediaType string) string {
	if strings.ContainsAny(mediaType, ",*") {
		return ""
	}
	return mediaType
}
