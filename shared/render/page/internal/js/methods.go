package js

import (
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// get gives a member by name.
func (m *Machine) get(of any, name string) (any, error) {
	switch of := of.(type) {
	case mdx.Object:
		return m.Force(member(of, name))
	case []any:
		if name == "length" {
			return float64(len(of)), nil
		}
	case string:
		if name == "length" {
			return float64(len(utf16.Encode([]rune(of)))), m.charge(len(of) / 64)
		}
	case Namespace:
		return m.staticValue(string(of) + "." + name)
	case nil:
		return nil, unsupported("it asks nothing for %s", name)
	}
	if of, ok := of.(interface{ Member(string) (any, bool) }); ok {
		if v, ok := of.Member(name); ok {
			return v, nil
		}
	}
	return nil, unsupported("it asks for %s of what has none", name)
}

// at gives a member by position or by a name that was computed.
func (m *Machine) at(of, at any) (any, error) {
	n, isNumber := at.(float64)
	switch of := of.(type) {
	case []any:
		if isNumber {
			if i := int(n); float64(i) == n && i >= 0 && i < len(of) {
				return of[i], nil
			}
			return nil, nil
		}
	case string:
		if isNumber {
			return m.method(of, "charAt", []any{n})
		}
	}
	key, ok := text(at)
	if !ok {
		return nil, unsupported("a key in it is no text")
	}
	return m.get(of, key)
}

// method calls a method of a value.
func (m *Machine) method(of any, name string, args []any) (any, error) {
	switch of := of.(type) {
	case string:
		if err := m.charge(1 + len(of)/64); err != nil {
			return nil, err
		}
		return m.textMethod(of, name, args)
	case []any:
		if err := m.charge(1 + len(of)); err != nil {
			return nil, err
		}
		return m.listMethod(of, name, args)
	case float64:
		switch name {
		case "toString", "toLocaleString":
			if len(args) == 0 && (name == "toString" || math.Abs(of) < 1000 && of == math.Trunc(of)) {
				return FormatNumber(of), nil
			}
		case "toFixed":
			digits, _ := number(arg(args, 0))
			if digits >= 0 && digits <= 20 && math.Abs(of) < 1e15 {
				return formatFixed(of, int(digits)), nil
			}
		}
	case bool:
		if name == "toString" {
			s, _ := text(of)
			return s, nil
		}
	case mdx.Object:
		if name == "hasOwnProperty" {
			key, _ := text(arg(args, 0))
			_, ok := of.Get(key)
			return ok, nil
		}
	}
	return nil, unsupported("it calls .%s()", name)
}

func arg(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return nil
}

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
		return int(max(0, min(n, float64(length))))
	}
	from, to = read(arg(args, 0), 0), read(arg(args, 1), length)
	return from, max(from, to)
}

func (m *Machine) textMethod(s, name string, args []any) (any, error) {
	first, isText := arg(args, 0).(string)
	switch name {
	case "toUpperCase":
		return strings.ToUpper(s), nil
	case "toLowerCase":
		return strings.ToLower(s), nil
	case "trim":
		return strings.TrimSpace(s), nil
	case "trimStart":
		return strings.TrimLeft(s, " \t\n\r"), nil
	case "trimEnd":
		return strings.TrimRight(s, " \t\n\r"), nil
	case "toString", "valueOf":
		return s, nil
	case "slice", "substring", "charAt", "at":
		u := utf16.Encode([]rune(s))
		from, to := 0, 0
		switch name {
		case "slice":
			from, to = span(args, len(u))
		case "substring":
			a, _ := number(arg(args, 0))
			b := float64(len(u))
			if len(args) > 1 {
				b, _ = number(args[1])
			}
			limit := func(v float64) int { return int(max(0, min(v, float64(len(u))))) }
			from, to = min(limit(a), limit(b)), max(limit(a), limit(b))
		default:
			n, _ := number(arg(args, 0))
			if n < 0 && name == "at" {
				n += float64(len(u))
			}
			if n < 0 || n >= float64(len(u)) {
				return "", nil
			}
			from = int(n)
			to = from + 1
		}
		return string(utf16.Decode(u[from:to])), nil
	case "concat":
		for _, a := range args {
			t, ok := text(a)
			if !ok {
				return nil, unsupported("it joins what is no text")
			}
			s += t
		}
		return s, m.grown(len(s))
	case "repeat":
		n, _ := number(arg(args, 0))
		if !(n >= 0 && n*float64(len(s)) <= maxText) {
			return nil, unsupported("a text in it is too long")
		}
		return strings.Repeat(s, int(n)), m.grown(int(n) * len(s))
	case "padStart", "padEnd":
		n, _ := number(arg(args, 0))
		fill := " "
		if f, ok := arg(args, 1).(string); ok {
			fill = f
		}
		missing := int(max(0, min(n, 1000))) - len([]rune(s))
		if missing <= 0 || fill == "" {
			return s, nil
		}
		pad := string([]rune(strings.Repeat(fill, missing))[:missing])
		if name == "padStart" {
			return pad + s, nil
		}
		return s + pad, nil
	case "split":
		if !isText && len(args) > 0 {
			break
		}
		if len(args) == 0 {
			return []any{s}, nil
		}
		parts := strings.Split(s, first)
		if len(parts) > maxList {
			return nil, unsupported("a list in it is too long")
		}
		out := make([]any, len(parts))
		for i, p := range parts {
			out[i] = p
		}
		return out, m.charge(len(parts))
	}
	if !isText {
		return nil, unsupported("it calls .%s()", name)
	}
	switch name {
	case "includes":
		return strings.Contains(s, first), nil
	case "startsWith":
		return strings.HasPrefix(s, first), nil
	case "endsWith":
		return strings.HasSuffix(s, first), nil
	case "indexOf", "lastIndexOf":
		i := strings.Index(s, first)
		if name == "lastIndexOf" {
			i = strings.LastIndex(s, first)
		}
		if i > 0 {
			i = len(utf16.Encode([]rune(s[:i])))
		}
		return float64(i), nil
	case "localeCompare":
		return float64(strings.Compare(strings.ToLower(s), strings.ToLower(first))), nil
	case "replace", "replaceAll":
		with, ok := arg(args, 1).(string)
		if !ok || strings.Contains(with, "$") {
			break
		}
		n := 1
		if name == "replaceAll" {
			n = -1
			if count := strings.Count(s, first); count*len(with) > maxText {
				return nil, unsupported("a text in it is too long")
			}
		}
		out := strings.Replace(s, first, with, n)
		return out, m.grown(len(out))
	}
	return nil, unsupported("it calls .%s()", name)
}

func (m *Machine) listMethod(l []any, name string, args []any) (any, error) {
	fn := arg(args, 0)
	each := func(i int) (any, error) { return m.callValue(fn, l[i], float64(i), l) }
	switch name {
	case "map", "flatMap":
		out := make([]any, 0, len(l))
		for i := range l {
			v, err := each(i)
			if err != nil {
				return nil, err
			}
			if part, ok := v.([]any); ok && name == "flatMap" {
				out = append(out, part...)
			} else {
				out = append(out, v)
			}
			if len(out) > maxList {
				return nil, unsupported("a list in it is too long")
			}
		}
		return out, nil
	case "filter", "find", "findIndex", "findLast", "some", "every":
		out := []any{}
		for k := range l {
			i := k
			if name == "findLast" {
				i = len(l) - 1 - k
			}
			v, err := each(i)
			if err != nil {
				return nil, err
			}
			yes := Truthy(v)
			switch {
			case name == "every" && !yes:
				return false, nil
			case !yes:
			case name == "filter":
				out = append(out, l[i])
			case name == "some":
				return true, nil
			case name == "find", name == "findLast":
				return l[i], nil
			case name == "findIndex":
				return float64(i), nil
			}
		}
		switch name {
		case "filter":
			return out, nil
		case "findIndex":
			return -1.0, nil
		case "some":
			return false, nil
		case "every":
			return true, nil
		}
		return nil, nil
	case "reduce":
		var acc any
		start := 0
		if len(args) > 1 {
			acc = args[1]
		} else if len(l) > 0 {
			acc, start = l[0], 1
		} else {
			return nil, unsupported("it reduces nothing")
		}
		for i := start; i < len(l); i++ {
			var err error
			if acc, err = m.callValue(fn, acc, l[i], float64(i), l); err != nil {
				return nil, err
			}
		}
		return acc, nil
	case "join":
		sep := ","
		if s, ok := fn.(string); ok {
			sep = s
		}
		var b strings.Builder
		for i, x := range l {
			if i > 0 {
				b.WriteString(sep)
			}
			s, ok := text(x)
			if !ok {
				return nil, unsupported("it joins what is no text")
			}
			b.WriteString(s)
			if err := m.grown(b.Len()); err != nil {
				return nil, err
			}
		}
		return b.String(), nil
	case "slice":
		from, to := span(args, len(l))
		return append([]any{}, l[from:to]...), nil
	case "concat":
		out := append([]any{}, l...)
		for _, a := range args {
			if part, ok := a.([]any); ok {
				out = append(out, part...)
			} else {
				out = append(out, a)
			}
		}
		if len(out) > maxList {
			return nil, unsupported("a list in it is too long")
		}
		return out, m.charge(len(out))
	case "flat":
		out := []any{}
		for _, x := range l {
			if part, ok := x.([]any); ok {
				out = append(out, part...)
			} else {
				out = append(out, x)
			}
		}
		if len(out) > maxList {
			return nil, unsupported("a list in it is too long")
		}
		return out, m.charge(len(out))
	case "includes", "indexOf":
		for i, x := range l {
			if same, err := m.equal(x, fn, false); err != nil {
				return nil, err
			} else if same {
				if name == "includes" {
					return true, nil
				}
				return float64(i), nil
			}
		}
		if name == "includes" {
			return false, nil
		}
		return -1.0, nil
	case "reverse", "toReversed":
		out := append([]any{}, l...)
		slices.Reverse(out)
		return out, nil
	case "sort", "toSorted":
		return m.sorted(l, fn)
	case "at":
		n, _ := number(fn)
		if n < 0 {
			n += float64(len(l))
		}
		return m.at(l, n)
	case "keys", "entries", "values":
		out := make([]any, len(l))
		for i, x := range l {
			switch name {
			case "keys":
				out[i] = float64(i)
			case "entries":
				out[i] = []any{float64(i), x}
			default:
				out[i] = x
			}
		}
		return out, nil
	}
	return nil, unsupported("it calls .%s()", name)
}

// sorted gives a list in order; without a function, in that of its texts.
func (m *Machine) sorted(l []any, by any) (any, error) {
	out := append([]any{}, l...)
	var failed error
	slices.SortStableFunc(out, func(a, b any) int {
		if failed != nil {
			return 0
		}
		if by == nil {
			s, ok := text(a)
			t, ok2 := text(b)
			if !ok || !ok2 {
				failed = unsupported("it sorts what is no text")
			}
			return strings.Compare(s, t)
		}
		v, err := m.callValue(by, a, b)
		if err != nil {
			failed = err
			return 0
		}
		n, _ := number(v)
		switch {
		case n < 0:
			return -1
		case n > 0:
			return 1
		}
		return 0
	})
	return out, failed
}

// iterate gives the items of what can be spread.
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
