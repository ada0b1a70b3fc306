package reference

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
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

// example returns a value of a schema, as JSON: the author's example where there
// is one, else one that is made up of types and formats, always the same.
func (s *Slice) example(x *Schema, to side, required bool) json.RawMessage {
	m := maker{slice: s, side: to, required: required}
	raw, _ := m.value(x, 0)
	return raw
}

// value returns a value of a schema, and false for what can't be shown: the
// inside of a circle.
func (m *maker) value(x *Schema, depth int) (json.RawMessage, bool) {
	if x == nil {
		return json.RawMessage(`null`), true
	}
	m.count++
	m.slice.made++
	if depth > maxMadeDepth || m.count > maxMadeValues || m.bytes > maxExample || m.slice.made > maxMade {
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
	if x.Never {
		return nil, false
	}
	if raw := m.given(x); raw != nil {
		return raw, true
	}
	if raw, ok := m.alternative(x, depth); ok {
		return raw, true
	}
	return m.typed(x, depth)
}

// given returns the author's value, nil if there is none.
func (m *maker) given(x *Schema) json.RawMessage {
	for _, given := range [...]json.RawMessage{first(x.Examples), x.Const, x.Default, x.someValue()} {
		if given == nil {
			continue
		}
		m.bytes += len(given)
		given = m.oneSide(given, x)
		if len(x.Types) == 1 && x.Types[0] == "string" && given[0] != '"' && given[0] != '{' && given[0] != '[' && given[0] != 'n' {
			return appendJSONString(nil, string(given)) // YAML took a text for a number
		}
		return given
	}
	return nil
}

// oneSide returns the author's value without the members that only the other side
// sends.
func (m *maker) oneSide(given json.RawMessage, x *Schema) json.RawMessage {
	if given[0] != '{' && given[0] != '[' {
		return given
	}
	v, err := parseJSON(given)
	if err != nil || !m.strip(v, x, 0) {
		return given
	}
	out, err := v.json(maxExample)
	if err != nil {
		return given
	}
	return out
}

// strip removes members of the other side from a value and reports whether there were
// any.
func (m *maker) strip(v *value, x *Schema, depth int) (stripped bool) {
	if x = m.slice.resolve(x); x == nil || depth > maxMadeDepth {
		return false
	}
	m.slice.made++
	for _, item := range v.list() {
		if x.Items == nil || m.slice.made > maxMade {
			break
		}
		stripped = m.strip(item, x.Items, depth+1) || stripped
	}
	if v.kind != objectValue || len(x.Properties) == 0 {
		return stripped
	}
	schemas := make(map[string]*Schema, len(x.Properties))
	for _, p := range x.Properties {
		schemas[p.Name] = p.Schema
	}
	m.slice.made += len(x.Properties)
	kept := v.members[:0]
	for _, member := range v.members {
		s := schemas[member.key]
		if r := m.slice.resolve(s); r != nil && (m.side == sent && r.ReadOnly || m.side == answered && r.WriteOnly) {
			stripped = true
			continue
		}
		if s != nil && m.slice.made <= maxMade {
			stripped = m.strip(member.val, s, depth+1) || stripped
		}
		kept = append(kept, member)
	}
	v.members = kept
	return stripped
}

// alternative returns a value of the first of oneOf or anyOf that has one, with
// the properties that stand beside the alternatives.
func (m *maker) alternative(x *Schema, depth int) (json.RawMessage, bool) {
	alternatives := orElse(x.OneOf, x.AnyOf)
	for i, a := range alternatives {
		raw, ok := json.RawMessage(nil), false
		if len(x.Properties) > 0 {
			raw, ok = m.object(x, m.slice.resolve(a), depth)
		} else {
			raw, ok = m.value(a, depth+1)
		}
		if ok {
			return m.named(raw, x, i), true
		}
	}
	return nil, false
}

// typed makes up a value of the first type.
func (m *maker) typed(x *Schema, depth int) (json.RawMessage, bool) {
	kind := ""
	if len(x.Types) > 0 {
		kind = x.Types[0]
	}
	switch kind {
	case "object":
		return m.object(x, nil, depth)
	case "array":
		return m.array(x, depth), true
	case "integer", "number":
		return json.RawMessage(number(x)), true
	case "boolean":
		return json.RawMessage(`true`), true
	case "string":
		return appendJSONString(nil, text(x)), true
	}
	return json.RawMessage(`null`), true
}

// array makes a list with one value of each schema of items.
func (m *maker) array(x *Schema, depth int) json.RawMessage {
	items := x.Tuple
	if items == nil && x.Items != nil {
		items = []*Schema{x.Items}
	}
	b := []byte{'['}
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
	return append(b, ']')
}

// named puts the discriminator's value into a made-up object of an alternative.
func (m *maker) named(raw json.RawMessage, x *Schema, alternative int) json.RawMessage {
	if x.Discriminator == "" || alternative >= len(x.Mapping) || x.Mapping[alternative] == "" {
		return raw
	}
	list := orElse(x.OneOf, x.AnyOf)
	a := m.slice.resolve(list[alternative])
	m.slice.made += len(a.Properties) + len(x.Properties) + len(raw)/16
	for _, p := range slices.Concat(a.Properties, x.Properties) {
		if p.Name != x.Discriminator {
			continue
		}
		if s := m.slice.resolve(p.Schema); a.Examples != nil || s.Examples != nil || s.Const != nil || s.Default != nil || s.Enum != nil {
			return raw // the author's
		}
		v, err := parseJSON(raw)
		if err != nil || v.get(p.Name) == nil {
			return raw
		}
		first, _, _ := strings.Cut(x.Mapping[alternative], ", ")
		*v.get(p.Name) = value{kind: stringValue, text: first}
		if named, err := v.json(2 * maxExample); err == nil {
			return named
		}
		return raw
	}
	return raw
}

// object makes an object with the properties of x and, if not nil, of more.
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
	m.slice.made += len(list)
	if more != nil {
		m.slice.made += len(more.Properties)
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

func number(x *Schema) string {
	whole := x.Types[0] == "integer"
	n, step := 1.5, 0.0
	if whole {
		n = 1
	}
	low, high, above, below := math.Inf(-1), math.Inf(1), false, false
	for _, l := range x.Limits {
		v, err := strconv.ParseFloat(l.Value, 64)
		if err != nil {
			continue
		}
		switch l.Name {
		case "minimum", "exclusiveMinimum":
			if v >= low {
				low, above = v, l.Name != "minimum"
			}
			if l.Name == "minimum" && json.Valid([]byte(l.Value)) && n < v {
				n = v
			}
		case "maximum", "exclusiveMaximum":
			if v <= high {
				high, below = v, l.Name != "maximum"
			}
		case "multipleOf":
			step = math.Abs(v)
		}
	}
	fits := func(n float64) bool {
		return (n > low || n == low && !above) && (n < high || n == high && !below) && (step == 0 || math.Mod(n, step) == 0)
	}
	for _, try := range [...]float64{n, high, low, 1, 0, low + 1, high - 1, (low + high) / 2, step, math.Ceil(low/step) * step, (math.Floor(low/step) + 1) * step} {
		if !math.IsInf(try, 0) && !math.IsNaN(try) && (!whole || try == math.Trunc(try)) && fits(try) {
			return strconv.FormatFloat(try, 'f', -1, 64)
		}
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// formats are examples of texts by the format.
var formats = map[string]string{
	"date-time": "2024-01-15T09:30:00Z", "date": "2024-01-15", "time": "09:30:00Z", "duration": "P1D",
	"email": "user@example.com", "idn-email": "user@example.com", "hostname": "example.com", "idn-hostname": "example.com",
	"uri": "https://example.com", "url": "https://example.com", "iri": "https://example.com", "uri-reference": "https://example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "3c90c3cc-0d44-4b50-8888-8dd25736052a",
	"byte": "aGVsbG8=", "binary": "<file>", "password": "********",
}

func text(x *Schema) string {
	if example := formats[x.Format]; example != "" {
		return example
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
