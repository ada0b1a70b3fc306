package page

import (
	"encoding/json"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

func attrValue(a mdx.Attr) (any, bool) { return component.AttrValue(a) }

// maxLiteral bounds, in bytes, the source of a literal: what a page can hold at
// most. A value that holds the same list many times is much longer as source.
const maxLiteral = maxNodes * bytesPerNode

// literalSource writes a value as the source of a literal.
func literalSource(v any) (string, bool) {
	b, ok := appendLiteral(nil, v)
	return string(b), ok
}

func appendLiteral(b []byte, v any) (_ []byte, ok bool) {
	if len(b) > maxLiteral {
		return b, false
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case string, bool, float64:
		src, err := json.Marshal(v)
		return append(b, src...), err == nil
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendLiteral(b, x); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	}
	members, ok := v.(mdx.Object)
	if !ok {
		return b, false
	}
	b = append(b, '{')
	for i, m := range members {
		name, err := json.Marshal(m.Key)
		if err != nil {
			return b, false
		}
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendLiteral(append(append(b, name...), ':'), m.Value); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}
