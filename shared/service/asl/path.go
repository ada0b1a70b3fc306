package asl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
)

// path is a reference path into the state's input, or to the item of a map.
type path struct {
	text   string
	item   bool // $$.Map.Item.Value
	fields []string
}

const itemPath = "$$.Map.Item.Value"

var pathForm = regexp.MustCompile(`^\$(\.[A-Za-z_][A-Za-z0-9_-]*)*$`)

func parsePath(s string) (path, error) {
	if s == itemPath {
		return path{text: s, item: true}, nil
	}
	if !pathForm.MatchString(s) {
		return path{}, fmt.Errorf("path %q: known are $, $.name.name and %s", s, itemPath)
	}
	return path{text: s, fields: strings.Split(s, ".")[1:]}, nil
}

// scope is what paths see.
type scope struct {
	input any
	item  any
	inMap bool
}

// get follows a path; ok is false where nothing is there.
func (p path) get(in scope) (v any, ok bool) {
	if p.item {
		return in.item, in.inMap
	}
	v = in.input
	for _, f := range p.fields {
		m, isObject := v.(map[string]any)
		if !isObject {
			return nil, false
		}
		if v, ok = m[f]; !ok {
			return nil, false
		}
	}
	return v, true
}

// template is a payload template: a JSON document in which the value of a
// name that ends in ".$" is a path, replaced by what is there.
type template struct {
	literal any
	fields  map[string]*template
	list    []*template
	path    *path
	name    string // of the field, for messages
}

// parseTemplate compiles a JSON document.
func parseTemplate(v *basejson.Value) (*template, error) {
	switch v.Kind {
	case basejson.Object:
		t := &template{fields: make(map[string]*template, len(v.Members))}
		for _, m := range v.Members {
			plain, isPath := strings.CutSuffix(m.Name, ".$")
			if isPath && slices.ContainsFunc(v.Members, func(m basejson.Member) bool { return m.Name == plain }) {
				return nil, fmt.Errorf("field %q excludes %q", m.Name, plain)
			}
			if !isPath {
				sub, err := parseTemplate(m.Value)
				if err != nil {
					return nil, err
				}
				t.fields[m.Name] = sub
				continue
			}
			if m.Value.Kind != basejson.String {
				return nil, fmt.Errorf("field %q: a path is a string", m.Name)
			}
			p, err := parsePath(m.Value.Text)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", m.Name, err)
			}
			t.fields[plain] = &template{path: &p, name: m.Name}
		}
		return t, nil
	case basejson.Array:
		t := &template{list: make([]*template, len(v.Items))}
		for i, item := range v.Items {
			sub, err := parseTemplate(item)
			if err != nil {
				return nil, err
			}
			t.list[i] = sub
		}
		return t, nil
	case basejson.String:
		return &template{literal: v.Text}, nil
	case basejson.Number:
		return &template{literal: json.Number(v.Text)}, nil
	case basejson.Bool:
		return &template{literal: v.Text == "true"}, nil
	}
	return &template{}, nil
}

// usesItem reports whether the template asks for the item of a map.
func (t *template) usesItem() bool {
	if t == nil {
		return false
	}
	if t.path != nil {
		return t.path.item
	}
	for _, f := range t.fields {
		if f.usesItem() {
			return true
		}
	}
	return slices.ContainsFunc(t.list, (*template).usesItem)
}

// fill makes the document.
func (t *template) fill(in scope) (any, error) {
	switch {
	case t.path != nil:
		v, ok := t.path.get(in)
		if !ok {
			return nil, fmt.Errorf("the JSONPath '%s' specified for the field '%s' could not be found in the input", t.path.text, t.name)
		}
		return v, nil
	case t.fields != nil:
		m := make(map[string]any, len(t.fields))
		for name, f := range t.fields {
			v, err := f.fill(in)
			if err != nil {
				return nil, err
			}
			m[name] = v
		}
		return m, nil
	case t.list != nil:
		l := make([]any, len(t.list))
		for i, e := range t.list {
			v, err := e.fill(in)
			if err != nil {
				return nil, err
			}
			l[i] = v
		}
		return l, nil
	default:
		return t.literal, nil
	}
}

// resultPath says where a result goes: nowhere (null), in place of the input
// ($), or into it.
type resultPath struct {
	discard bool
	fields  []string
}

// put combines a state's input and result. The input is not changed.
func (r resultPath) put(input, result any) (any, error) {
	if r.discard {
		return input, nil
	}
	return putAt(input, r.fields, result)
}

func putAt(v any, fields []string, result any) (any, error) {
	if len(fields) == 0 {
		return result, nil
	}
	old, isObject := v.(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("no place for %q: not an object", fields[0])
	}
	m := maps.Clone(old)
	below, there := old[fields[0]]
	if !there && len(fields) > 1 {
		below = map[string]any{}
	}
	sub, err := putAt(below, fields[1:], result)
	if err != nil {
		return nil, err
	}
	m[fields[0]] = sub
	return m, nil
}

// decode reads exactly one JSON document, with numbers as they are written.
func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON document")
	}
	return v, nil
}

// encode writes a document as short as it gets, without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
