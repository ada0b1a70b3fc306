package page

import (
	"encoding/json"

	"github.com/bindery-docs/bindery/shared/component"
	"github.com/bindery-docs/bindery/shared/mdx"
)

func attrValue(a mdx.Attr) (any, bool) { return component.AttrValue(a) }

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
	members, ok := v.(mdx.Object)
	if !ok {
		return "", false
	}
	out := "{"
	for i, m := range members {
		src, ok := literalSource(m.Value)
		if !ok {
			return "", false
		}
		name, err := json.Marshal(m.Key)
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
