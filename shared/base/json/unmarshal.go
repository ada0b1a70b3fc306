package json

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

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
	r := newReader(src, Options{})
	if err := r.exact(&Value{}, container(reflect.TypeOf(into)), open); err != nil {
		return err
	}
	if err := r.end(); err != nil {
		return err
	}
	return json.Unmarshal(src, into)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// container returns the struct, map, slice or array that t is or points at, nil
// for another type and for one that reads itself.
func container(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		if !reflect.PointerTo(t).Implements(unmarshaler) {
			return t
		}
	}
	return nil
}

// exact reads what follows, at v, and refuses what encoding/json would take for
// a field of t though it has another name, and, unless t is open, what no field
// is for. No tree is made: the text may be large, and not what it should be.
func (r *reader) exact(v *Value, t reflect.Type, open bool) error {
	next := r.dec.PeekKind()
	isList := t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array)
	if t == nil || next != '{' && next != '[' || isList != (next == '[') {
		if err := r.dec.SkipValue(); err != nil {
			return r.explain(v, err)
		}
		return nil
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.explain(v, err)
	}
	item := &Value{up: v}
	if isList {
		v.Kind = Array
		for elem := container(t.Elem()); r.dec.PeekKind() != ']'; item.at++ {
			if err := r.exact(item, elem, open); err != nil {
				return err
			}
		}
		_, err := r.dec.ReadToken()
		return err
	}
	var known map[string]reflect.Type
	var elem reflect.Type
	if t.Kind() == reflect.Struct {
		known = fieldsOf(t)
	} else {
		elem = container(t.Elem())
	}
	v.Kind, v.Members = Object, make([]Member, 1)
	for r.dec.PeekKind() != '}' {
		at := r.next(space + ",")
		token, err := r.dec.ReadToken()
		if err != nil {
			return r.explain(v, err)
		}
		name := token.String()
		v.Members[0].Name = name
		if known != nil {
			var ok bool
			if elem, ok = known[name]; !ok && (!open || folds(known, name)) {
				return r.fault(item, at, "is not a known field")
			}
		}
		if err := r.exact(item, elem, open); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
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

// fieldsOf returns the containers that a struct's fields are, by their names in
// JSON.
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
		known[cmp.Or(name, f.Name)] = container(f.Type)
	}
	fieldsOfTypes.Store(t, known)
	return known
}
