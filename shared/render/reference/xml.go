package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// XML says how a value stands in XML, as OpenAPI's object of that name does.
type XML struct {
	Name      string `json:",omitempty"`
	Prefix    string `json:",omitempty"`
	Namespace string `json:",omitempty"`
	// Attribute marks a property that is an attribute of its parent, Wrapped a
	// list with an element around its items.
	Attribute bool `json:",omitempty"`
	Wrapped   bool `json:",omitempty"`
}

// readXML reads a schema's "xml"; nil if it has none.
func (c *slicer) readXML(v *value) *XML {
	if v == nil || v.kind != objectValue {
		return nil
	}
	kind := v.first("nodeType") // of OpenAPI 3.2
	return &XML{
		Name: c.first(v, "name"), Prefix: c.first(v, "prefix"), Namespace: c.first(v, "namespace"),
		Attribute: v.get("attribute").isTrue() || kind == "attribute", Wrapped: v.get("wrapped").isTrue() || kind == "element",
	}
}

// xml writes a value of a schema as XML. The value is JSON, an author's example
// or a made-up one.
func (s *Slice) xml(x *Schema, raw json.RawMessage) string {
	v, err := parseJSON(raw)
	if err != nil {
		return exampleText("", raw)
	}
	w := xmlWriter{slice: s}
	w.b.WriteString(xml.Header)
	name := cmp.Or(s.resolve(x).Name, "root")
	w.value(name, x, v, 0)
	return strings.TrimRight(w.b.String(), "\n")
}

// maxXMLDepth is how deep elements lie in each other.
const maxXMLDepth = maxSchemaDepth

// xmlWriter writes one example. It stops where that would become too long.
type xmlWriter struct {
	slice *Slice
	b     bytes.Buffer
}

func (w *xmlWriter) full(depth int) bool { return depth > maxXMLDepth || w.b.Len() > 4*maxExample }

// value writes an element, or the items of a list one by one.
func (w *xmlWriter) value(name string, x *Schema, v *value, depth int) {
	r := w.slice.resolve(x)
	if w.full(depth) {
		return
	}
	if v.kind != listValue {
		w.element(tagOf(name, r.XML), r, v, depth)
		return
	}
	if r.XML != nil && r.XML.Wrapped {
		tag := tagOf(name, r.XML)
		w.open(tag, r.XML, nil, depth)
		w.b.WriteString(">\n")
		if r.XML.Name != "" {
			name = r.XML.Name // of the items too, unless they have one
		}
		for _, item := range v.items {
			w.value(name, r.Items, item, depth+1)
		}
		w.close(tag, depth)
		return
	}
	for _, item := range v.items {
		w.value(name, r.Items, item, depth)
	}
}

// element writes an object with its attributes, or a value that holds no other.
func (w *xmlWriter) element(tag string, r *Schema, v *value, depth int) {
	if v.kind != objectValue {
		w.open(tag, r.XML, nil, depth)
		w.b.WriteString(">")
		w.text(v)
		w.b.WriteString("</" + tag + ">\n")
		return
	}
	properties := map[string]*Schema{}
	for _, p := range r.Properties {
		properties[p.Name] = p.Schema
	}
	for _, list := range [...][]*Schema{r.OneOf, r.AnyOf} {
		if len(list) > 0 { // the first alternative, as in examples
			for _, p := range w.slice.resolve(list[0]).Properties {
				properties[p.Name] = cmp.Or(properties[p.Name], p.Schema)
			}
		}
	}
	var attributes, inside []member
	for _, m := range v.members {
		if a := w.slice.resolve(properties[m.key]); a.XML != nil && a.XML.Attribute && m.val.kind < listValue {
			m.key = tagOf(m.key, a.XML)
			attributes = append(attributes, m)
		} else {
			inside = append(inside, m)
		}
	}
	w.open(tag, r.XML, attributes, depth)
	if len(inside) == 0 {
		w.b.WriteString("/>\n")
		return
	}
	w.b.WriteString(">\n")
	for _, m := range inside {
		w.value(m.key, properties[m.key], m.val, depth+1)
	}
	w.close(tag, depth)
}

// open begins an element's first tag, and leaves it open.
func (w *xmlWriter) open(tag string, x *XML, attributes []member, depth int) {
	w.b.WriteString(strings.Repeat("  ", depth) + "<" + tag)
	if x != nil && x.Namespace != "" {
		name := "xmlns"
		if x.Prefix != "" {
			name += ":" + xmlName(x.Prefix)
		}
		w.attribute(name, &value{kind: stringValue, text: x.Namespace})
	}
	for _, a := range attributes {
		w.attribute(a.key, a.val)
	}
}

func (w *xmlWriter) attribute(name string, v *value) {
	w.b.WriteString(" " + name + `="`)
	w.text(v)
	w.b.WriteString(`"`)
}

func (w *xmlWriter) close(tag string, depth int) {
	w.b.WriteString(strings.Repeat("  ", depth) + "</" + tag + ">\n")
}

// text writes a scalar; null is nothing.
func (w *xmlWriter) text(v *value) {
	if xml.EscapeText(&w.b, []byte(v.str())) != nil { // a buffer takes all
		return
	}
}

// tagOf is the name of an element or attribute.
func tagOf(name string, x *XML) string {
	if x == nil {
		return xmlName(name)
	}
	if x.Name != "" {
		name = x.Name
	}
	if x.Prefix != "" {
		return xmlName(x.Prefix) + ":" + xmlName(name)
	}
	return xmlName(name)
}

var notInName = lazy.Regexp(`[^\p{L}\p{N}_.-]`)

// xmlName makes a name that XML allows.
func xmlName(s string) string {
	s = notInName().ReplaceAllString(s, "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '.' {
		s = "_" + s
	}
	return s
}
