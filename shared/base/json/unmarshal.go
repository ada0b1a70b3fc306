package json

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// maxDepth is more than any Go value of ours is deep.
const maxDepth = 100

// Unmarshal reads src into a Go value as encoding/json does, but strictly: a
// member must have exactly the name of a field, and may not stand twice. It
// returns an *Error that names the member, or what encoding/json returns for
// values of another type.
func Unmarshal(src []byte, into any) error { return unmarshal(src, into, false) }

// UnmarshalKnown is Unmarshal, but passes over members that no field is for, as
// a later version of the writer may add some. One whose name differs from a
// field's only by case is refused all the same.
func UnmarshalKnown(src []byte, into any) error { return unmarshal(src, into, true) }

func unmarshal(src []byte, into any, open bool) error {
	v, err := Parse(src, Options{Depth: maxDepth})
	if err != nil {
		return err
	}
	if e := v.exact(reflect.TypeOf(into), open); e != nil {
		return e
	}
	return json.Unmarshal(src, into)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// exact returns what encoding/json would take for a field of t though it has
// another name, and, unless t is open, what no field is for.
func (v *Value) exact(t reflect.Type, open bool) *Error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil // reads itself
	}
	switch kind := t.Kind(); {
	case v.Kind == Object && kind == reflect.Struct:
		known := fieldsOf(t)
		for _, m := range v.Members {
			field, ok := known[m.Name]
			if !ok && open && !folds(known, m.Name) {
				continue
			}
			if !ok {
				return m.Value.fault("is not a known field")
			}
			if e := m.Value.exact(field, open); e != nil {
				return e
			}
		}
	case v.Kind == Object && kind == reflect.Map:
		for _, m := range v.Members {
			if e := m.Value.exact(t.Elem(), open); e != nil {
				return e
			}
		}
	case v.Kind == Array && (kind == reflect.Slice || kind == reflect.Array):
		for _, item := range v.Items {
			if e := item.exact(t.Elem(), open); e != nil {
				return e
			}
		}
	}
	return nil
}

func (v *Value) fault(message string) *Error {
	return &Error{Path: v.Path(), Pointer: v.Pointer(), Offset: v.Offset, Line: v.Line, Column: v.Column, Message: message}
}

func folds(known map[string]reflect.Type, name string) bool {
	for k := range known {
		if strings.EqualFold(k, name) {
			return true
		}
	}
	return false
}

var fieldsOfTypes sync.Map // reflect.Type → map[string]reflect.Type

// fieldsOf returns the types of a struct's fields by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := fieldsOfTypes.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	known := make(map[string]reflect.Type)
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		known[name] = f.Type
	}
	fieldsOfTypes.Store(t, known)
	return known
}
