package reference

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden is what of a page's parts is for other readers, and so must not stand
// in examples, samples and lists of names either. The zero value hides nothing.
type hidden struct {
	// names are those of properties and parameters; some are those of
	// alternatives that are left out, which the others may have too.
	names, some map[string]bool
	// values are those of enums.
	values map[string]bool
	// blind means that not all of it is known: no example can be trusted.
	blind bool
}

// maxHidden is how much is known of what is hidden on a page: each text of the
// page is looked through for it.
const maxHidden = 500

func (h *hidden) any() bool { return h.blind || len(h.names)+len(h.some)+len(h.values) > 0 }

// add puts a text into a set of h, which is made when it is first needed.
func (h *hidden) add(m *map[string]bool, s string) {
	if s == "" {
		return
	}
	if len(*m) >= maxHidden && !(*m)[s] {
		h.blind = true
		return
	}
	if *m == nil {
		*m = map[string]bool{}
	}
	(*m)[s] = true
}

// value hides a value of an enum.
func (h *hidden) value(text string) { h.add(&h.values, text) }

// settle returns what is to be hidden on a page whose slice is known: names that
// alternatives have which are left out, but no other part.
func (h hidden) settle(s *Slice) hidden {
	open := map[string]bool{}
	seen := map[*Schema]bool{}
	var walk func(x *Schema)
	walk = func(x *Schema) {
		if x == nil || seen[x] {
			return
		}
		seen[x] = true
		for _, p := range slices.Concat(x.Properties, x.Patterns) {
			open[p.Name] = true
			walk(p.Schema)
		}
		for _, y := range slices.Concat(x.OneOf, x.AnyOf, x.Tuple, []*Schema{x.Additional, x.Items, x.Not}) {
			walk(y)
		}
		for _, y := range x.Conditions {
			walk(y.If)
			walk(y.Then)
			walk(y.Else)
		}
	}
	media := func(list []Media) {
		for _, m := range list {
			walk(m.Schema)
		}
	}
	walk(s.Schema)
	for _, x := range s.Schemas {
		walk(x)
	}
	for _, p := range s.Params {
		open[p.Name] = true
		walk(p.Schema)
	}
	if s.Body != nil {
		media(s.Body.Media)
	}
	for _, m := range s.messages() {
		walk(m.Headers)
		walk(m.Payload)
	}
	for _, r := range s.Responses {
		media(r.Media)
	}
	for name := range h.some {
		if !open[name] {
			h.add(&h.names, name)
		}
	}
	return h
}

// in reports whether a text has something that is hidden, as a word, or may have.
func (h *hidden) in(text string) bool {
	if h.blind {
		return true
	}
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for _, names := range [...]map[string]bool{h.names, h.values} {
		for name := range names {
			for at := 0; ; at++ {
				i := strings.Index(text[at:], name)
				if i < 0 {
					break
				}
				at += i
				before, _ := utf8.DecodeLastRuneInString(text[:at])
				after, _ := utf8.DecodeRuneInString(text[at+len(name):])
				if !part(before) && !part(after) {
					return true
				}
			}
		}
	}
	return false
}

// strip takes hidden names out of a list.
func (h *hidden) strip(list []string) []string {
	if h.blind {
		return nil
	}
	return slices.DeleteFunc(list, func(s string) bool { return h.names[s] })
}

// json returns an example without what is hidden, nil where that is all of it.
func (h *hidden) json(raw json.RawMessage) json.RawMessage {
	if !h.any() || raw == nil {
		return raw
	}
	v, err := parseJSON(raw)
	if err != nil || h.blind || h.hides(v) {
		return nil
	}
	out, err := v.json(maxExample)
	if err != nil {
		return nil
	}
	return out
}

// hides reports whether a value must not be shown, after it took out of it the
// parts that must not.
func (h *hidden) hides(v *value) bool {
	switch v.kind {
	case stringValue:
		// It may be the example in another form, such as XML.
		return h.values[v.text] || strings.ContainsAny(v.text, "{<=\n") && h.in(v.text)
	case listValue:
		v.items = slices.DeleteFunc(v.items, h.hides)
	case objectValue:
		v.members = slices.DeleteFunc(v.members, func(m member) bool { return h.names[m.key] || h.hides(m.val) })
	default:
		return h.values[v.text]
	}
	return false
}

// hide notes what is left out of a schema.
func (c *slicer) hide(p place) {
	if p.doc == nil || len(p.doc.barred) == 0 {
		return
	}
	for _, b := range p.doc.left(p.v.get("properties")) {
		if c.hidden.blind {
			return
		}
		c.bar(place{doc: p.doc, v: b.val}, b.key)
	}
	c.hideParts(p.doc, p.v)
	for _, list := range [...]string{"patternProperties", "oneOf", "anyOf", "allOf", "prefixItems"} {
		c.hideParts(p.doc, p.v.get(list))
	}
}

// hideParts notes what is left out of a value.
func (c *slicer) hideParts(d *document, v *value) {
	for _, b := range d.left(v) {
		if c.hidden.blind {
			return
		}
		c.bar(place{doc: d, v: b.val}, "")
	}
}

// bars reports whether a part is for other readers by the word of another file,
// and notes it.
func (c *slicer) bars(p place, name string) bool {
	if ref := p.v.find("$ref").str(); ref == "" || ref[0] == '#' {
		return false
	}
	_, out := c.r.barredAt(p, true)
	if out {
		c.bar(p, name)
	}
	return out
}

// bar notes a part that is left out, by its name if that is a property's, and the
// names that stand in it.
func (c *slicer) bar(p place, name string) {
	c.hidden.add(&c.hidden.names, name)
	if c.looked == nil {
		c.looked = map[*value]bool{}
	}
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || v.kind < listValue || c.looked[v] || c.hidden.blind {
			return
		}
		if len(c.looked) == maxParts {
			c.hidden.blind = true
			return
		}
		c.looked[v] = true
		if v.get("in") != nil { // a parameter
			c.hidden.add(&c.hidden.names, v.get("name").str())
		}
		for _, m := range v.get("properties").fields() {
			c.hidden.add(&c.hidden.some, m.key)
		}
		for _, i := range v.items {
			walk(i)
		}
		for _, m := range v.members {
			walk(m.val)
		}
		if ref := v.find("$ref").str(); ref != "" && ref[0] == '#' {
			if next, problem := c.r.resolve(p.doc, ref); problem == "" || problem == restrictedPart {
				walk(next.v)
			}
		}
	}
	walk(p.v)
}
