package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

func (m *Machine) get(of any, name string) any {
	switch of := of.(type) {
	case Object:
		v, _ := of.Get(name)
		return done(m.Force(v))
	case []any:
		if name == "length" {
			return float64(len(of))
		}
	case string:
		if name == "length" {
			m.charge(len(of) / 64)
			return float64(len(units(of)))
		}
	case Namespace:
		return staticValue(string(of) + "." + name)
	case nil:
		fail("it reads %s of null or undefined", name)
	}
	if of, ok := of.(interface{ Member(string) (any, bool) }); ok {
		if v, ok := of.Member(name); ok {
			return v
		}
	}
	fail("it reads %s of a value that has no such member", name)
	return nil
}

// at returns a member by position or by a name that was computed.
func (m *Machine) at(of, at any) any {
	if n, ok := at.(float64); ok {
		switch of := of.(type) {
		case []any:
			if i := int(n); float64(i) == n && i >= 0 && i < len(of) {
				return of[i]
			}
			return nil
		case string:
			return m.method(of, "charAt", []any{n})
		}
	}
	key, ok := m.text(at)
	if !ok {
		fail("a key in it is not text")
	}
	return m.get(of, key)
}

func (m *Machine) method(of any, name string, args []any) any {
	switch of := of.(type) {
	case string:
		m.charge(1 + len(of)/64)
		if call, ok := textMethods[name]; ok {
			if v, ok := call(m, of, args); ok {
				return v
			}
		} else if call, ok := textTests[name]; ok {
			if with, isText := arg(args, 0).(string); isText {
				return call(of, with)
			}
		}
	case []any:
		m.charge(1 + len(of))
		if call, ok := listMethods[name]; ok {
			return call(m, of, args)
		} else if call, ok := searches[name]; ok {
			return m.search(of, arg(args, 0), call)
		}
	case float64:
		digits, _ := number(arg(args, 0))
		switch {
		case name == "toString" && len(args) == 0,
			name == "toLocaleString" && len(args) == 0 && math.Abs(of) < 1000 && of == math.Trunc(of):
			return FormatNumber(of)
		case name == "toFixed" && digits >= 0 && digits <= 20 && math.Abs(of) < 1e15:
			return strconv.FormatFloat(of, 'f', int(digits), 64)
		}
	case bool:
		if name == "toString" {
			return strconv.FormatBool(of)
		}
	case Object:
		if name == "hasOwnProperty" {
			key, _ := m.text(arg(args, 0))
			_, ok := of.Get(key)
			return ok
		}
	}
	fail("it calls .%s()", name)
	return nil
}

func arg(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// units are a text's UTF-16 code units, which positions in it count.
func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// between cuts a number to what is between 0 and most; NaN is 0.
func between(n float64, most int) int { return int(max(0, min(n, float64(most)))) }

// span reads start and end as slice takes them.
func span(args []any, length int) (from, to int) {
	read := func(v any, missing int) int {
		if v == nil {
			return missing
		}
		n, _ := number(v)
		if n < 0 {
			n += float64(length)
		}
		return between(n, length)
	}
	from, to = read(arg(args, 0), 0), read(arg(args, 1), length)
	return from, max(from, to)
}

// The methods of a text that take another one.
var textTests = map[string]func(s, with string) any{
	"includes":      func(s, with string) any { return strings.Contains(s, with) },
	"startsWith":    func(s, with string) any { return strings.HasPrefix(s, with) },
	"endsWith":      func(s, with string) any { return strings.HasSuffix(s, with) },
	"indexOf":       func(s, with string) any { return unitIndex(s, strings.Index(s, with)) },
	"lastIndexOf":   func(s, with string) any { return unitIndex(s, strings.LastIndex(s, with)) },
	"localeCompare": func(s, with string) any { return float64(strings.Compare(strings.ToLower(s), strings.ToLower(with))) },
}

// unitIndex counts in UTF-16 code units where the byte i of a text is.
func unitIndex(s string, i int) float64 {
	if i > 0 {
		i = len(units(s[:i]))
	}
	return float64(i)
}

// textMethod is a method of a text. It reports false for arguments with which
// only an engine could call it.
type textMethod = func(m *Machine, s string, args []any) (any, bool)

// plain makes a method of what takes no arguments.
func plain(of func(string) string) textMethod {
	return func(_ *Machine, s string, _ []any) (any, bool) { return of(s), true }
}

var textMethods = map[string]textMethod{
	"toUpperCase": plain(strings.ToUpper),
	"toLowerCase": plain(strings.ToLower),
	"trim":        plain(strings.TrimSpace),
	"trimStart":   plain(func(s string) string { return strings.TrimLeft(s, " \t\n\r") }),
	"trimEnd":     plain(func(s string) string { return strings.TrimRight(s, " \t\n\r") }),
	"toString":    plain(func(s string) string { return s }),
	"valueOf":     plain(func(s string) string { return s }),
	"slice": func(_ *Machine, s string, args []any) (any, bool) {
		u := units(s)
		from, to := span(args, len(u))
		return string(utf16.Decode(u[from:to])), true
	},
	"substring": func(_ *Machine, s string, args []any) (any, bool) {
		u := units(s)
		first, _ := number(arg(args, 0))
		last := float64(len(u))
		if len(args) > 1 {
			last, _ = number(args[1])
		}
		from, to := between(first, len(u)), between(last, len(u))
		return string(utf16.Decode(u[min(from, to):max(from, to)])), true
	},
	"charAt": func(_ *Machine, s string, args []any) (any, bool) { return unitAt(s, args, false), true },
	"at":     func(_ *Machine, s string, args []any) (any, bool) { return unitAt(s, args, true), true },
	"concat": func(m *Machine, s string, args []any) (any, bool) {
		for _, a := range args {
			t, ok := m.text(a)
			if !ok {
				fail("it joins a value that is not text")
			}
			s += t
		}
		m.grown(len(s))
		return s, true
	},
	"repeat": func(m *Machine, s string, args []any) (any, bool) {
		n, _ := number(arg(args, 0))
		if !(n >= 0 && n*float64(len(s)) <= maxText) {
			fail("a string in it is too long")
		}
		m.grown(int(n) * len(s))
		return strings.Repeat(s, int(n)), true
	},
	"padStart": func(_ *Machine, s string, args []any) (any, bool) { return padding(s, args) + s, true },
	"padEnd":   func(_ *Machine, s string, args []any) (any, bool) { return s + padding(s, args), true },
	"split": func(m *Machine, s string, args []any) (any, bool) {
		if len(args) == 0 {
			return []any{s}, true
		}
		by, ok := args[0].(string)
		if !ok {
			return nil, false
		}
		parts := strings.Split(s, by)
		out := make([]any, len(parts))
		for i, p := range parts {
			out[i] = p
		}
		return m.made(out), true
	},
	"replace":    func(m *Machine, s string, args []any) (any, bool) { return m.replace(s, args, 1) },
	"replaceAll": func(m *Machine, s string, args []any) (any, bool) { return m.replace(s, args, -1) },
}

// unitAt returns the character at a position, which may count from the end.
func unitAt(s string, args []any, fromEnd bool) string {
	u := units(s)
	n, _ := number(arg(args, 0))
	if n < 0 && fromEnd {
		n += float64(len(u))
	}
	if n < 0 || n >= float64(len(u)) {
		return ""
	}
	i := int(n)
	return string(utf16.Decode(u[i : i+1]))
}

// padding is what a text needs to be as long as the first argument says.
func padding(s string, args []any) string {
	n, _ := number(arg(args, 0))
	fill := " "
	if f, ok := arg(args, 1).(string); ok {
		fill = f
	}
	missing := between(n, 1000) - len([]rune(s))
	if missing <= 0 || fill == "" {
		return ""
	}
	return string([]rune(strings.Repeat(fill, missing))[:missing])
}

// replace replaces one text by another, at most n times; -1 means all.
func (m *Machine) replace(s string, args []any, n int) (any, bool) {
	old, isText := arg(args, 0).(string)
	with, ok := arg(args, 1).(string)
	if !isText || !ok || strings.Contains(with, "$") {
		return nil, false
	}
	if n < 0 && strings.Count(s, old)*len(with) > maxText {
		fail("a string in it is too long")
	}
	out := strings.Replace(s, old, with, n)
	m.grown(len(out))
	return out, true
}

// made accounts for a list that was made.
func (m *Machine) made(l []any) []any {
	if len(l) > maxList {
		fail("a list in it is too long")
	}
	m.charge(len(l))
	return l
}

// searches are the methods of a list that ask a function about its items, one
// after the other. Each returns the answer as soon as an item decides it, and
// with i < 0 the one if none did.
var searches = map[string]func(i int, item any, yes bool) (answer any, decided bool){
	"find":      func(_ int, item any, yes bool) (any, bool) { return item, yes },
	"findIndex": func(i int, _ any, yes bool) (any, bool) { return float64(i), yes },
	"some":      func(i int, _ any, yes bool) (any, bool) { return i >= 0, yes },
	"every":     func(i int, _ any, yes bool) (any, bool) { return i < 0, !yes },
}

func (m *Machine) search(l []any, fn any, decide func(int, any, bool) (any, bool)) any {
	for i, x := range l {
		if answer, decided := decide(i, x, truthy(m.callValue(fn, x, float64(i), l))); decided {
			return answer
		}
	}
	answer, _ := decide(-1, nil, false)
	return answer
}

type listMethod = func(m *Machine, l []any, args []any) any

// listMethods is set in init: the methods call functions, and these may call
// methods.
var listMethods map[string]listMethod

func init() {
	listMethods = map[string]listMethod{
		"map":     func(m *Machine, l, args []any) any { return m.mapped(l, arg(args, 0), false) },
		"flatMap": func(m *Machine, l, args []any) any { return m.mapped(l, arg(args, 0), true) },
		"filter": func(m *Machine, l, args []any) any {
			out := []any{}
			for i, x := range l {
				if truthy(m.callValue(arg(args, 0), x, float64(i), l)) {
					out = append(out, x)
				}
			}
			return out
		},
		"findLast": func(m *Machine, l, args []any) any {
			for i := len(l) - 1; i >= 0; i-- {
				if truthy(m.callValue(arg(args, 0), l[i], float64(i), l)) {
					return l[i]
				}
			}
			return nil
		},
		"reduce": (*Machine).reduced,
		"join": func(m *Machine, l, args []any) any {
			sep := ","
			if s, ok := arg(args, 0).(string); ok {
				sep = s
			}
			return m.joined(l, sep)
		},
		"slice": func(_ *Machine, l, args []any) any {
			from, to := span(args, len(l))
			return append([]any{}, l[from:to]...)
		},
		"concat":     func(m *Machine, l, args []any) any { return m.made(appendFlat(append([]any{}, l...), args)) },
		"flat":       func(m *Machine, l, _ []any) any { return m.made(appendFlat([]any{}, l)) },
		"includes":   func(m *Machine, l, args []any) any { return m.index(l, arg(args, 0)) >= 0 },
		"indexOf":    func(m *Machine, l, args []any) any { return float64(m.index(l, arg(args, 0))) },
		"reverse":    reversed,
		"toReversed": reversed,
		"sort":       (*Machine).sorted,
		"toSorted":   (*Machine).sorted,
		"at": func(m *Machine, l, args []any) any {
			n, _ := number(arg(args, 0))
			if n < 0 {
				n += float64(len(l))
			}
			return m.at(l, n)
		},
		"keys": func(_ *Machine, l, _ []any) any {
			return each(l, func(i int, _ any) any { return float64(i) })
		},
		"values": func(_ *Machine, l, _ []any) any { return slices.Clone(l) },
		"entries": func(_ *Machine, l, _ []any) any {
			return each(l, func(i int, x any) any { return []any{float64(i), x} })
		},
	}
}

// each makes a list of what a function makes of the items of another.
func each(l []any, of func(i int, x any) any) []any {
	out := make([]any, len(l))
	for i, x := range l {
		out[i] = of(i, x)
	}
	return out
}

// appendFlat appends items, and of lists among them the items.
func appendFlat(out, items []any) []any {
	for _, x := range items {
		if part, ok := x.([]any); ok {
			out = append(out, part...)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// mapped returns what a function makes of each item; flat puts the items of
// lists in place of the lists.
func (m *Machine) mapped(l []any, fn any, flat bool) []any {
	out := make([]any, 0, len(l))
	for i, x := range l {
		v := m.callValue(fn, x, float64(i), l)
		if flat {
			out = appendFlat(out, []any{v})
		} else {
			out = append(out, v)
		}
		if len(out) > maxList {
			fail("a list in it is too long")
		}
	}
	return out
}

// reduced puts the items together with a function, one after the other.
func (m *Machine) reduced(l, args []any) any {
	var sum any
	start := 0
	switch {
	case len(args) > 1:
		sum = args[1]
	case len(l) > 0:
		sum, start = l[0], 1
	default:
		fail("it reduces an empty list")
	}
	for i := start; i < len(l); i++ {
		sum = m.callValue(arg(args, 0), sum, l[i], float64(i), l)
	}
	return sum
}

func (m *Machine) joined(l []any, sep string) string {
	var b strings.Builder
	for i, x := range l {
		if i > 0 {
			b.WriteString(sep)
		}
		s, ok := m.text(x)
		if !ok {
			fail("it joins a value that is not text")
		}
		b.WriteString(s)
		m.grown(b.Len())
	}
	return b.String()
}

// index returns the position of a value in a list, -1 for none.
func (m *Machine) index(l []any, v any) int {
	return slices.IndexFunc(l, func(x any) bool { return m.equal(x, v, false) })
}

func reversed(_ *Machine, l, _ []any) any {
	out := slices.Clone(l)
	slices.Reverse(out)
	return out
}

// sorted returns a list in order; without a function, in that of its texts.
func (m *Machine) sorted(l, args []any) any {
	out := slices.Clone(l)
	by := arg(args, 0)
	slices.SortStableFunc(out, func(a, b any) int {
		if by == nil {
			s, ok := m.text(a)
			t, ok2 := m.text(b)
			if !ok || !ok2 {
				fail("it sorts values that are not text")
			}
			return strings.Compare(s, t)
		}
		n, _ := number(m.callValue(by, a, b))
		switch {
		case n < 0:
			return -1
		case n > 0:
			return 1
		}
		return 0
	})
	return out
}

// iterate returns the items of what can be spread.
func iterate(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case string:
		out := make([]any, 0, len(v))
		for _, r := range v {
			out = append(out, string(r))
		}
		return out, true
	}
	return nil, false
}
