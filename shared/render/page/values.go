package page

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// attrText returns an attribute's value if it is a text.
func attrText(a mdx.Attr) (string, bool) {
	v, _ := component.AttrValue(a)
	text, ok := v.(string)
	return text, ok
}

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

// excerpt shortens a source for a message.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return cutText(s, 60)
}

// cutText returns a text with no more than most bytes of it, in whole characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most] + "…"
}

func isHandler(name string) bool {
	return len(name) > 2 && strings.EqualFold(name[:2], "on") && isPath(name)
}

// display returns a value as JSX shows it in text; ok is false for what has no
// text.
func display(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return expr.FormatNumber(v), true
	case bool, nil:
		return "", true
	}
	return "", false
}

// isPath reports whether s is a name, or names with dots between them.
func isPath(s string) bool {
	start := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
		switch {
		case letter:
			start = false
		case '0' <= c && c <= '9':
			if start {
				return false
			}
		case c == '.':
			if start {
				return false
			}
			start = true
		default:
			return false
		}
	}
	return !start
}

// isCapital reports whether a name is that of a component, not of an HTML element.
func isCapital(name string) bool {
	return name != "" && (name[0] < 'a' || name[0] > 'z' || strings.IndexByte(name, '.') >= 0)
}

func handlerMessage(n *mdx.Node, name string) string {
	return name + " on <" + n.Name + "> needs JavaScript and is left out"
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHeadingTag(name string) bool {
	return len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6'
}

// isTag reports whether a name is that of an HTML or SVG element, by its form:
// a small letter, then letters, digits and hyphens.
func isTag(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for i := 1; i < len(name); i++ {
		c := name[i]
		if !isASCIILetter(c) && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// kebab turns strokeWidth into stroke-width.
func kebab(name string) string {
	b := make([]byte, 0, len(name)+4)
	for i := 0; i < len(name); i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			b = append(b, '-', c|0x20)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

func attrPos(n *mdx.Node, name string) mdx.Pos {
	if a, ok := n.Attr(name); ok && a.Pos.Line > 0 {
		return a.Pos
	}
	return n.Pos
}

// origin is what a policy names an absolute address by: its scheme and host, or
// the scheme alone where it has no host.
func origin(address string) string {
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return ""
	}
	scheme := strings.ToLower(u.Scheme)
	if u.Host == "" {
		return scheme + ":"
	}
	if strings.ContainsAny(u.Host, " ;,'\"") {
		return ""
	}
	return scheme + "://" + strings.ToLower(u.Host)
}

// put adds to a map that is made when something is put into it.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// joinClasses puts two lists of classes together.
func joinClasses(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
