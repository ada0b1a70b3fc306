package merge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
)

// Place is a value of a JSON document that both sides changed in different ways.
type Place struct {
	// Path is its path in the document, such as navigation.groups[1].icon.
	Path string
	// Lost is our text of it, "" if we removed it. The merged document does not have it.
	Lost string
}

// depth is how deep values may be nested, as in a site's configuration.
const depth = 100

// JSON is Text for configurations of sites: it matches members of objects by name, and
// entries of lists by their page, title or address. So two pages that were added at the
// same place are both in the list. The result has the formatting of theirs. ok is false
// if one of the texts is not JSON, or has a name twice.
func JSON(base, ours, theirs []byte) (merged []byte, places []Place, ok bool) {
	if merged, conflicts := Text(base, ours, theirs); len(conflicts) == 0 {
		if _, err := json.Parse(merged, json.Options{Depth: depth}); err == nil {
			return merged, nil, true
		}
	}
	var roots [3]*json.Value
	for i, src := range [][]byte{base, ours, theirs} {
		root, err := json.Parse(src, json.Options{Depth: depth})
		if err != nil {
			return nil, nil, false
		}
		roots[i] = root
	}
	m := &merger{ours: ours, theirs: theirs, unit: unit(theirs, roots[2]), newline: "\n"}
	if bytes.Contains(theirs, []byte("\r\n")) {
		m.newline = "\r\n"
	}
	n := m.merge(roots[0], roots[1], roots[2])
	var b bytes.Buffer
	b.Write(theirs[:roots[2].Offset])
	m.write(&b, n, "")
	b.Write(theirs[roots[2].End:])
	return b.Bytes(), m.places, true
}

// merger merges one document.
type merger struct {
	ours, theirs []byte
	unit         string // one step of indentation
	newline      string // the end of a line
	places       []Place
}

// node is a value of the merged document: one of a source as it is, or like, a container
// of theirs, with other entries.
type node struct {
	src     []byte
	v       *json.Value
	like    *json.Value
	entries []entry
}

// entry is an item, or a member with its name as it is written, up to its value.
type entry struct {
	key, name string
	v         *json.Value
	node      node
}

func (m *merger) our(v *json.Value) node   { return node{src: m.ours, v: v} }
func (m *merger) their(v *json.Value) node { return node{src: m.theirs, v: v} }

// merge merges values; base is nil if both sides added one.
func (m *merger) merge(base, ours, theirs *json.Value) node {
	switch {
	case same(ours, theirs), base != nil && same(base, ours):
		return m.their(theirs)
	case base != nil && same(base, theirs):
		return m.our(ours)
	case ours.Kind != theirs.Kind || ours.Kind != json.Array && ours.Kind != json.Object || base != nil && base.Kind != ours.Kind:
		m.conflict(theirs, ours)
		return m.their(theirs)
	}
	var old []entry
	if base != nil {
		old = entries(nil, base)
	}
	our, their := entries(m.ours, ours), entries(m.theirs, theirs)
	n := node{like: theirs}
	for _, key := range order(ours.Kind == json.Array, old, our, their) {
		b, o, t := find(old, key), find(our, key), find(their, key)
		switch {
		case o != nil && t != nil:
			e := *t
			e.node = m.merge(value(b), o.v, t.v)
			n.entries = append(n.entries, e)
		case t != nil && (b == nil || !same(b.v, t.v)):
			if b != nil { // we removed what they changed
				m.conflict(t.v, nil)
			}
			e := *t
			e.node = m.their(t.v)
			n.entries = append(n.entries, e)
		case o != nil && b == nil:
			e := *o
			e.node = m.our(o.v)
			n.entries = append(n.entries, e)
		case o != nil && !same(b.v, o.v): // they removed what we changed
			m.conflict(theirs, o.v)
		}
	}
	return n
}

func value(e *entry) *json.Value {
	if e == nil {
		return nil
	}
	return e.v
}

// conflict records a place at which the merged document has theirs and lacks ours.
func (m *merger) conflict(theirs, ours *json.Value) {
	p := Place{Path: theirs.Path()}
	if ours != nil {
		p.Lost = string(m.ours[ours.Offset:ours.End])
	}
	m.places = append(m.places, p)
}

// labels are the members that tell the entries of a list apart, as the navigation, the
// redirects and the lists of links have them.
var labels = []string{"group", "tab", "anchor", "dropdown", "version", "language", "product", "item", "source", "name", "title", "label", "href"}

// entries returns the entries of a container, each with a key of its own. src may be nil
// where no name is needed.
func entries(src []byte, v *json.Value) []entry {
	var list []entry
	for _, member := range v.Members {
		e := entry{key: member.Name, v: member.Value}
		if src != nil {
			e.name = string(src[member.Offset:member.Value.Offset])
		}
		list = append(list, e)
	}
	times := map[string]int{}
	for _, item := range v.Items {
		key := item.Kind.String() + " " + item.Text
		for _, label := range slices.Backward(labels) {
			for _, member := range item.Members {
				if member.Name == label && member.Value.Kind == json.String {
					key = label + " " + member.Value.Text
				}
			}
		}
		if times[key]++; times[key] > 1 {
			key = fmt.Sprintf("%d %s", times[key], key)
		}
		list = append(list, entry{key: key, v: item})
	}
	return list
}

func find(list []entry, key string) *entry {
	if i := slices.IndexFunc(list, func(e entry) bool { return e.key == key }); i >= 0 {
		return &list[i]
	}
	return nil
}

// order returns the keys of both sides. Their order is that of theirs, unless we alone
// moved entries of a list. An entry that the other side added follows the same entry as
// there.
func order(list bool, base, ours, theirs []entry) []string {
	first, second := keys(theirs), keys(ours)
	if list {
		common := func(in []entry) (out []string) {
			for _, e := range in {
				if find(base, e.key) != nil && find(ours, e.key) != nil && find(theirs, e.key) != nil {
					out = append(out, e.key)
				}
			}
			return out
		}
		if old := common(base); slices.Equal(common(theirs), old) && !slices.Equal(common(ours), old) {
			first, second = second, first
		}
	}
	out := slices.Clone(first)
	for i, key := range second {
		if slices.Contains(out, key) {
			continue
		}
		at := 0
		for k := i - 1; k >= 0 && at == 0; k-- {
			at = slices.Index(out, second[k]) + 1
		}
		out = slices.Insert(out, at, key)
	}
	return out
}

func keys(list []entry) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.key
	}
	return out
}

// same reports whether two values mean the same: the order of members doesn't matter.
func same(a, b *json.Value) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, x := range a.Members {
		i := slices.IndexFunc(b.Members, func(y json.Member) bool { return x.Name == y.Name })
		if i < 0 || !same(x.Value, b.Members[i].Value) {
			return false
		}
	}
	return true
}

// unit returns one step of a document's indentation.
func unit(src []byte, root *json.Value) string {
	if len(root.Members) > 0 {
		if in := indentAt(src, root.Members[0].Offset); in != "" {
			return in
		}
	}
	return "  "
}

// indentAt returns the white space at the beginning of the line of an offset.
func indentAt(src []byte, at int) string {
	line := src[bytes.LastIndexByte(src[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// write writes a value; indent is that of its first line.
func (m *merger) write(b *bytes.Buffer, n node, indent string) {
	if n.like == nil {
		was := indentAt(n.src, n.v.Offset)
		for i, line := range strings.Split(string(n.src[n.v.Offset:n.v.End]), "\n") {
			if i > 0 {
				if rest, ok := strings.CutPrefix(line, was); ok {
					line = indent + rest
				}
				b.WriteByte('\n')
			}
			b.WriteString(line)
		}
		return
	}
	text := m.theirs[n.like.Offset:n.like.End]
	inner, space, between, end := indent, "", ", ", ""
	switch {
	case bytes.Contains(text, []byte("\n")) || len(bytes.TrimSpace(text[1:len(text)-1])) == 0:
		inner = indent + m.unit
		space, between, end = m.newline+inner, ","+m.newline+inner, m.newline+indent
	case text[1] == ' ':
		space, end = " ", " "
	}
	b.WriteByte(text[0])
	for _, e := range n.entries {
		b.WriteString(space + e.name)
		m.write(b, e.node, inner)
		space = between
	}
	if len(n.entries) > 0 {
		b.WriteString(end)
	}
	b.WriteByte(text[len(text)-1])
}
