package expr

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// Namespace is one of the language's own functions or objects, such as Object
// or Number.
type Namespace string

// global returns what a name means that no scope has.
func global(name string) (any, bool) {
	switch name {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "user": // the reader, where pages know who that is: a bundle's readers are nobody's
		return Object{}, true
	case "Object", "Array", "Math", "JSON", "String", "Number", "Boolean", "parseInt", "parseFloat", "encodeURIComponent", "React":
		return Namespace(name), true
	}
	return nil, false
}

// staticValue returns a constant such as Math.PI, or a function as a value.
func staticValue(name string) any {
	if name == "Math.PI" {
		return math.Pi
	}
	if member, ok := strings.CutPrefix(name, "React."); ok && member != "Fragment" {
		fail("it uses React.%s", member)
	}
	return Namespace(name)
}

// static calls one of the language's functions.
func (m *Machine) static(name string, args []any) any {
	if call, ok := statics[name]; ok {
		if v, ok := call(m, args); ok {
			return v
		}
	} else if call, ok := mathematics[name]; ok && len(args) > 0 {
		return calculate(call, args)
	}
	fail("it calls %s()", name)
	return nil
}

// static is a function of the language. It reports false for arguments with
// which only an engine could call it.
type static = func(m *Machine, args []any) (any, bool)

// statics is set in init: functions of the source may be among the arguments.
var statics map[string]static

func init() {
	statics = map[string]static{
		"String":            func(m *Machine, args []any) (any, bool) { return m.text(arg(args, 0)) },
		"Boolean":           func(_ *Machine, args []any) (any, bool) { return truthy(arg(args, 0)), true },
		"Number":            func(_ *Machine, args []any) (any, bool) { return number(arg(args, 0)) },
		"parseInt":          parseInt,
		"Number.parseInt":   parseInt,
		"parseFloat":        parseFloat,
		"Number.parseFloat": parseFloat,
		"encodeURIComponent": func(m *Machine, args []any) (any, bool) {
			s, ok := m.text(arg(args, 0))
			return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), ok
		},
		"Array.isArray": func(_ *Machine, args []any) (any, bool) {
			_, ok := arg(args, 0).([]any)
			return ok, true
		},
		"Array.of":   func(_ *Machine, args []any) (any, bool) { return append([]any{}, args...), true },
		"Array":      func(m *Machine, args []any) (any, bool) { return m.newList(arg(args, 0), nil, false) },
		"Array.from": func(m *Machine, args []any) (any, bool) { return m.newList(arg(args, 0), arg(args, 1), true) },
		"Object.keys": func(m *Machine, args []any) (any, bool) {
			return m.members(args, func(x Member) any { return x.Key })
		},
		"Object.values": func(m *Machine, args []any) (any, bool) {
			return m.members(args, func(x Member) any { return x.Value })
		},
		"Object.entries": func(m *Machine, args []any) (any, bool) {
			return m.members(args, func(x Member) any { return []any{x.Key, x.Value} })
		},
		"Object.fromEntries": fromEntries,
		"Object.assign":      assign,
		"JSON.stringify":     stringify,
	}
}

func parseInt(m *Machine, args []any) (any, bool) {
	s, _ := m.text(arg(args, 0))
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && (isDigit(s[end]) || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		n = math.NaN()
	}
	return n, true
}

func parseFloat(m *Machine, args []any) (any, bool) {
	s, _ := m.text(arg(args, 0))
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return n, err == nil
}

// members makes a list of what a function makes of each member of the first
// argument.
func (m *Machine) members(args []any, of func(Member) any) (any, bool) {
	var members Object
	switch v := arg(args, 0).(type) {
	case Object:
		members = v
	case []any:
		for i, x := range v {
			members = append(members, Member{strconv.Itoa(i), x})
		}
	default:
		fail("it lists the members of a value that is not an object")
	}
	out := make([]any, 0, len(members))
	for _, x := range members {
		out = append(out, of(Member{x.Key, done(m.Force(x.Value))}))
	}
	m.charge(len(out))
	return out, true
}

func fromEntries(m *Machine, args []any) (any, bool) {
	l, ok := arg(args, 0).([]any)
	if !ok || len(l) > maxMembers {
		return nil, false
	}
	out := Object{}
	for _, x := range l {
		pair, ok := x.([]any)
		if !ok || len(pair) < 2 {
			fail("it calls Object.fromEntries() on a value that is not a list of pairs")
		}
		key, _ := m.text(pair[0])
		out = set(out, key, pair[1])
	}
	m.charge(len(l))
	return out, true
}

func assign(m *Machine, args []any) (any, bool) {
	out := Object{}
	for _, a := range args {
		o, ok := a.(Object)
		if !ok || len(out)+len(o) > maxMembers {
			fail("it calls Object.assign() on a value that is not an object")
		}
		for _, x := range o {
			out = set(out, x.Key, x.Value)
		}
	}
	m.charge(len(out))
	return out, true
}

func stringify(m *Machine, args []any) (any, bool) {
	indent := ""
	if n, ok := arg(args, 2).(float64); ok {
		indent = strings.Repeat(" ", between(n, 10))
	}
	var b strings.Builder
	if arg(args, 1) != nil || !appendJSON(&b, arg(args, 0), indent, "\n") {
		return nil, false
	}
	m.grown(b.Len())
	return b.String(), true
}

// newList makes Array(n), or with from Array.from(…), which takes a function.
func (m *Machine) newList(of, fn any, from bool) (any, bool) {
	var out []any
	if o, ok := of.(Object); ok && from {
		of, _ = o.Get("length")
	}
	if n, ok := of.(float64); ok {
		if !(n >= 0 && n <= maxList) {
			fail("a list in it is too long")
		}
		out = make([]any, int(n))
	} else {
		l, ok := iterate(of)
		if !ok || !from {
			return nil, false
		}
		out = append(out, l...)
	}
	m.charge(len(out))
	if fn != nil {
		for i := range out {
			out[i] = m.callValue(fn, out[i], float64(i))
		}
	}
	return out, true
}

// mathematics are the functions of numbers. Each has at least one.
var mathematics = map[string]func(n []float64) float64{
	"Math.max":   func(n []float64) float64 { return fold(n, math.Max) },
	"Math.min":   func(n []float64) float64 { return fold(n, math.Min) },
	"Math.round": func(n []float64) float64 { return math.Floor(n[0] + 0.5) },
	"Math.floor": func(n []float64) float64 { return math.Floor(n[0]) },
	"Math.ceil":  func(n []float64) float64 { return math.Ceil(n[0]) },
	"Math.abs":   func(n []float64) float64 { return math.Abs(n[0]) },
	"Math.trunc": func(n []float64) float64 { return math.Trunc(n[0]) },
	"Math.sqrt":  func(n []float64) float64 { return math.Sqrt(n[0]) },
	"Math.pow": func(n []float64) float64 {
		if len(n) < 2 {
			return math.NaN()
		}
		return math.Pow(n[0], n[1])
	},
	"Math.sign": func(n []float64) float64 {
		if n[0] == 0 || math.IsNaN(n[0]) {
			return n[0]
		}
		return math.Copysign(1, n[0])
	},
}

func fold(n []float64, f func(a, b float64) float64) float64 {
	out := n[0]
	for _, x := range n[1:] {
		out = f(out, x)
	}
	return out
}

func calculate(call func([]float64) float64, args []any) float64 {
	n := make([]float64, len(args))
	for i, a := range args {
		n[i] = calculable(a)
	}
	return call(n)
}

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
	case Object:
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
