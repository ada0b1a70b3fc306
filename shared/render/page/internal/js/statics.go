package js

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Namespace is one of the language's own functions or objects, such as Object
// or Number.
type Namespace string

// global gives what a name means that no scope has.
func global(name string) (any, bool) {
	switch name {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "Object", "Array", "Math", "JSON", "String", "Number", "Boolean", "parseInt", "parseFloat", "encodeURIComponent", "React":
		return Namespace(name), true
	}
	return nil, false
}

// staticValue gives a constant such as Math.PI, or a function as a value.
func (m *Machine) staticValue(name string) (any, error) {
	switch name {
	case "Math.PI":
		return math.Pi, nil
	case "React.Fragment":
		return Namespace(name), nil
	}
	space, member, _ := strings.Cut(name, ".")
	if space == "React" {
		return nil, unsupported("it uses React.%s", member)
	}
	return Namespace(name), nil
}

// static calls one of the language's functions.
func (m *Machine) static(name string, args []any) (any, error) {
	first := arg(args, 0)
	switch name {
	case "String":
		if s, ok := text(first); ok {
			return s, nil
		}
	case "Boolean":
		return Truthy(first), nil
	case "Number":
		if n, ok := number(first); ok {
			return n, nil
		}
	case "parseInt", "Number.parseInt":
		s, _ := text(first)
		s = strings.TrimSpace(s)
		end := 0
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
			end++
		}
		n, err := strconv.ParseFloat(s[:end], 64)
		if err != nil {
			n = math.NaN()
		}
		return n, nil
	case "parseFloat", "Number.parseFloat":
		s, _ := text(first)
		if n, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			return n, nil
		}
	case "encodeURIComponent":
		if s, ok := text(first); ok {
			return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), nil
		}
	case "Array.isArray":
		_, ok := first.([]any)
		return ok, nil
	case "Array.of":
		return append([]any{}, args...), nil
	case "Array", "Array.from":
		return m.newList(name, args)
	case "Object.keys", "Object.values", "Object.entries":
		var members mdx.Object
		switch v := first.(type) {
		case mdx.Object:
			members = v
		case []any:
			for i, x := range v {
				members = append(members, mdx.Member{Key: strconv.Itoa(i), Value: x})
			}
		default:
			return nil, unsupported("it calls %s() of what is no object", name)
		}
		out := make([]any, 0, len(members))
		for _, x := range members {
			v, err := m.Force(x.Value)
			if err != nil {
				return nil, err
			}
			switch name {
			case "Object.keys":
				out = append(out, x.Key)
			case "Object.values":
				out = append(out, v)
			default:
				out = append(out, []any{x.Key, v})
			}
		}
		return out, m.charge(len(out))
	case "Object.fromEntries":
		l, ok := first.([]any)
		if !ok || len(l) > 2000 {
			break
		}
		out := mdx.Object{}
		for _, x := range l {
			pair, ok := x.([]any)
			if !ok || len(pair) < 2 {
				return nil, unsupported("it calls Object.fromEntries() of what is no list of pairs")
			}
			key, _ := text(pair[0])
			out = set(out, key, pair[1])
		}
		return out, m.charge(len(l))
	case "Object.assign":
		out := mdx.Object{}
		for _, a := range args {
			o, ok := a.(mdx.Object)
			if !ok || len(out)+len(o) > 2000 {
				return nil, unsupported("it calls Object.assign() of what is no object")
			}
			for _, x := range o {
				out = set(out, x.Key, x.Value)
			}
		}
		return out, m.charge(len(out))
	case "JSON.stringify":
		indent := ""
		if n, ok := arg(args, 2).(float64); ok {
			indent = strings.Repeat(" ", int(max(0, min(n, 10))))
		}
		var b strings.Builder
		if appendJSON(&b, first, indent, "\n") && arg(args, 1) == nil {
			return b.String(), m.grown(b.Len())
		}
	case "Math.max", "Math.min", "Math.round", "Math.floor", "Math.ceil", "Math.abs", "Math.trunc", "Math.sqrt", "Math.pow", "Math.sign":
		return calculate(name, args)
	}
	return nil, unsupported("it calls %s()", name)
}

// newList makes Array(n) and Array.from(…).
func (m *Machine) newList(name string, args []any) (any, error) {
	var out []any
	length := arg(args, 0)
	if o, ok := length.(mdx.Object); ok && name == "Array.from" {
		length = member(o, "length")
	}
	switch v := length.(type) {
	case float64:
		if !(v >= 0 && v <= maxList) {
			return nil, unsupported("a list in it is too long")
		}
		out = make([]any, int(v))
	default:
		l, ok := iterate(v)
		if !ok || name == "Array" {
			return nil, unsupported("it calls %s()", name)
		}
		out = append(out, l...)
	}
	if err := m.charge(len(out)); err != nil {
		return nil, err
	}
	if fn := arg(args, 1); fn != nil && name == "Array.from" {
		for i := range out {
			var err error
			if out[i], err = m.callValue(fn, out[i], float64(i)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func calculate(name string, args []any) (any, error) {
	n := make([]float64, len(args))
	for i, a := range args {
		var ok bool
		if n[i], ok = number(a); !ok {
			return nil, unsupported("it counts with what is no number")
		}
	}
	switch name {
	case "Math.max", "Math.min":
		if len(n) == 0 {
			break
		}
		out := n[0]
		for _, x := range n[1:] {
			if name == "Math.max" {
				out = math.Max(out, x)
			} else {
				out = math.Min(out, x)
			}
		}
		return out, nil
	case "Math.pow":
		if len(n) == 2 {
			return math.Pow(n[0], n[1]), nil
		}
	}
	if len(n) == 0 {
		return nil, unsupported("it calls %s()", name)
	}
	switch x := n[0]; name {
	case "Math.round":
		return math.Floor(x + 0.5), nil
	case "Math.floor":
		return math.Floor(x), nil
	case "Math.ceil":
		return math.Ceil(x), nil
	case "Math.abs":
		return math.Abs(x), nil
	case "Math.trunc":
		return math.Trunc(x), nil
	case "Math.sqrt":
		return math.Sqrt(x), nil
	case "Math.sign":
		switch {
		case x > 0:
			return 1.0, nil
		case x < 0:
			return -1.0, nil
		}
		return x, nil
	}
	return nil, unsupported("it calls %s()", name)
}

// formatFixed writes a number with so many digits behind the point.
func formatFixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// appendJSON writes a value as JSON.stringify does; it reports false for what
// has no JSON.
func appendJSON(b *strings.Builder, v any, indent, newline string) bool {
	if b.Len() > maxText {
		return false
	}
	inner := ""
	if indent != "" {
		inner = newline + indent
	}
	separate := func(i int) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(inner)
	}
	closed := func(n int, end byte) bool {
		if n > 0 && indent != "" {
			b.WriteString(newline)
		}
		b.WriteByte(end)
		return true
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
		return true
	case string, bool:
		var quoted strings.Builder
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		if e.Encode(v) != nil {
			return false
		}
		b.WriteString(strings.TrimSuffix(quoted.String(), "\n"))
		return true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b.WriteString("null")
		} else {
			b.WriteString(FormatNumber(v))
		}
		return true
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			separate(i)
			if !appendJSON(b, x, indent, inner) {
				return false
			}
		}
		return closed(len(v), ']')
	case mdx.Object:
		b.WriteByte('{')
		for i, x := range v {
			separate(i)
			appendJSON(b, x.Key, "", "")
			b.WriteByte(':')
			if indent != "" {
				b.WriteByte(' ')
			}
			if !appendJSON(b, x.Value, indent, inner) {
				return false
			}
		}
		return closed(len(v), '}')
	}
	return false
}
