package page

import (
	"encoding/json"
	"slices"

	"github.com/bindery-docs/bindery/shared/component"
	"github.com/bindery-docs/bindery/shared/mdx"
)

// namedValue is one member of an object.
type namedValue struct {
	name  string
	value any
}

func attrValue(a mdx.Attr) (any, bool) { return component.AttrValue(a) }

// membersOf lists the members of an object, in the order they were written
// where there is one.
func membersOf(v any) ([]namedValue, bool) {
	switch v := v.(type) {
	case mdx.Object:
		list := make([]namedValue, len(v))
		for i, m := range v {
			list[i] = namedValue{m.Key, m.Value}
		}
		return list, true
	case propsValue:
		list := make([]namedValue, 0, len(v))
		for name, value := range v {
			list = append(list, namedValue{name, value})
		}
		slices.SortFunc(list, func(a, b namedValue) int {
			if a.name < b.name {
				return -1
			}
			return 1
		})
		return list, true
	}
	return nil, false
}

// member gives one member of an object.
func member(v any, name string) (any, bool) {
	switch v := v.(type) {
	case propsValue:
		return v[name], true
	case mdx.Object:
		value, _ := v.Get(name)
		return value, true
	}
	return nil, false
}

// literalSource writes a value as the source of a literal.
func literalSource(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case string, bool, float64:
		src, err := json.Marshal(v)
		return string(src), err == nil
	case []any:
		out := "["
		for i, x := range v {
			src, ok := literalSource(x)
			if !ok {
				return "", false
			}
			if i > 0 {
				out += ","
			}
			out += src
		}
		return out + "]", true
	}
	members, ok := membersOf(v)
	if !ok {
		return "", false
	}
	out := "{"
	for i, m := range members {
		src, ok := literalSource(m.value)
		if !ok {
			return "", false
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return "", false
		}
		if i > 0 {
			out += ","
		}
		out += string(name) + ":" + src
	}
	return out + "}", true
}
