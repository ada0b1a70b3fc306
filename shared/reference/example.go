package reference

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// side is who sends a value: fields that only answers have are left out of
// requests, and the other way round.
type side uint8

const (
	sent side = iota
	answered
)

// Limits of values that are made up.
const (
	maxMadeDepth  = 12
	maxMadeValues = 2000
)

// maker makes up values of schemas.
type maker struct {
	slice *Slice
	side  side
	// required leaves out what need not be there.
	required bool
	count    int
	bytes    int
	open     []string // references in work
}

// example gives a value of a schema, as JSON: the author's example where there
// is one, else one that is made up of types and formats, always the same.
func (s *Slice) example(x *Schema, to side, required bool) json.RawMessage {
	m := maker{slice: s, side: to, required: required}
	raw, _ := m.value(x, 0)
	return raw
}

// value gives ok as false for what can't be shown: the inside of a circle.
func (m *maker) value(x *Schema, depth int) (json.RawMessage, bool) {
	if x == nil {
		return json.RawMessage(`null`), true
	}
	if m.count++; depth > maxMadeDepth || m.count > maxMadeValues || m.bytes > maxExample {
		return nil, false
	}
	if x.Ref != "" {
		if slices.Contains(m.open, x.Ref) {
			return nil, false
		}
		m.open = append(m.open, x.Ref)
		defer func() { m.open = m.open[:len(m.open)-1] }()
		x = m.slice.resolve(x)
	}
	for _, given := range [...]json.RawMessage{first(x.Examples), x.Const, x.Default, first(x.Enum)} {
		if given != nil {
			m.bytes += len(given)
			if len(x.Types) == 1 && x.Types[0] == "string" && given[0] != '"' && given[0] != '{' && given[0] != '[' && given[0] != 'n' {
				return appendJSONString(nil, string(given)), true // YAML took a text for a number
			}
			return given, true
		}
	}
	alternatives := x.OneOf
	if alternatives == nil {
		alternatives = x.AnyOf
	}
	for _, a := range alternatives {
		if len(x.Properties) > 0 {
			return m.object(x, m.slice.resolve(a), depth)
		}
		if raw, ok := m.value(a, depth+1); ok {
			return raw, true
		}
	}
	kind := ""
	if len(x.Types) > 0 {
		kind = x.Types[0]
	}
	switch kind {
	case "object":
		return m.object(x, nil, depth)
	case "array":
		b := []byte{'['}
		items := x.Tuple
		if items == nil && x.Items != nil {
			items = []*Schema{x.Items}
		}
		for _, item := range items {
			raw, ok := m.value(item, depth+1)
			if !ok {
				continue
			}
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(b, raw...)
		}
		return append(b, ']'), true
	case "integer", "number":
		return json.RawMessage(number(x)), true
	case "boolean":
		return json.RawMessage(`true`), true
	case "null":
		return json.RawMessage(`null`), true
	case "string":
		return appendJSONString(nil, text(x)), true
	}
	return json.RawMessage(`null`), true
}

// object gives an object with the properties of x and, if not nil, of more.
func (m *maker) object(x, more *Schema, depth int) (json.RawMessage, bool) {
	b := []byte{'{'}
	add := func(name string, s *Schema) {
		raw, ok := m.value(s, depth+1)
		if !ok {
			return
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(appendJSONString(b, name), ':'), raw...)
	}
	list := x.Properties
	if more != nil {
		list = joinProperties(slices.Clone(list), more.Properties)
	}
	for _, p := range list {
		s := m.slice.resolve(p.Schema)
		if m.side == sent && s.ReadOnly || m.side == answered && s.WriteOnly || m.required && !p.Required {
			continue
		}
		add(p.Name, p.Schema)
	}
	if x.Additional != nil && len(list) == 0 && !m.required {
		add("key", x.Additional)
	}
	return append(b, '}'), true
}

func first(list []json.RawMessage) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// number gives a number within its bounds.
func number(x *Schema) string {
	n := "1"
	if x.Types[0] == "number" {
		n = "1.5"
	}
	for _, l := range x.Limits {
		if l.Name == "minimum" && json.Valid([]byte(l.Value)) {
			return l.Value
		}
		if l.Name == "maximum" && json.Valid([]byte(l.Value)) {
			n = l.Value
		}
	}
	return n
}

// text gives a text of a format.
func text(x *Schema) string {
	switch x.Format {
	case "date-time":
		return "2024-01-15T09:30:00Z"
	case "date":
		return "2024-01-15"
	case "time":
		return "09:30:00Z"
	case "duration":
		return "P1D"
	case "email", "idn-email":
		return "user@example.com"
	case "uri", "url", "iri", "uri-reference":
		return "https://example.com"
	case "hostname", "idn-hostname":
		return "example.com"
	case "ipv4":
		return "192.0.2.1"
	case "ipv6":
		return "2001:db8::1"
	case "uuid":
		return "3c90c3cc-0d44-4b50-8888-8dd25736052a"
	case "byte":
		return "aGVsbG8="
	case "binary":
		return "<file>"
	case "password":
		return "********"
	}
	if x.Title != "" && len(x.Title) < 40 {
		return "<" + strings.ToLower(x.Title) + ">"
	}
	return "<string>"
}

// indented is JSON on several lines, as readers want it, unless it nests so deep
// that it would be mostly space.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil || b.Len() > 40*len(raw)+1000 {
		return string(raw)
	}
	return b.String()
}
