package mdx

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object is the value of an object literal: its members in the order in which
// they are written.
type Object []Member

// Member is one member of an Object.
type Member struct {
	Key   string
	Value any
}

// Get returns the value of a key, that of the last member if it stands twice.
func (o Object) Get(key string) (any, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Key == key {
			return o[i].Value, true
		}
	}
	return nil, false
}

// EvalLiteral returns the value of a JavaScript literal: string, float64, bool,
// nil (null and undefined), []any or Object. Templates without substitutions,
// signs in front of numbers, parentheses, comments and trailing commas are
// understood. It reports false for everything else, such as names and calls.
func EvalLiteral(expr string) (any, bool) {
	l := literal{s: expr}
	v, ok := l.value(0)
	l.space()
	return v, ok && l.i == len(expr)
}

type literal struct {
	s string
	i int
}

// maxLiteralDepth bounds how deep literals may nest.
const maxLiteralDepth = 200

func (l *literal) space() {
	e := esmReader{s: l.s, i: l.i}
	e.space()
	l.i = e.i
}

func (l *literal) peek() byte {
	if l.i < len(l.s) {
		return l.s[l.i]
	}
	return 0
}

func (l *literal) value(depth int) (any, bool) {
	if depth > maxLiteralDepth {
		return nil, false
	}
	l.space()
	switch c := l.peek(); {
	case c == '"' || c == '\'':
		return boxed(l.str())
	case c == '`':
		return boxed(l.template())
	case c == '[':
		return l.array(depth)
	case c == '{':
		return l.object(depth)
	case c == '(':
		l.i++
		v, ok := l.value(depth + 1)
		l.space()
		if !ok || l.peek() != ')' {
			return nil, false
		}
		l.i++
		return v, true
	case c == '-' || c == '+':
		l.i++
		l.space()
		n, ok := l.number()
		if c == '-' {
			n = -n
		}
		return n, ok
	case isDigit(c) || c == '.':
		return boxed(l.number())
	}
	e := esmReader{s: l.s, i: l.i}
	word := e.word()
	l.i = e.i
	switch word {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null", "undefined":
		return nil, true
	case "Infinity":
		return math.Inf(1), true
	}
	return nil, false
}

// boxed turns a typed result into a value.
func boxed[T any](v T, ok bool) (any, bool) {
	if !ok {
		return nil, false
	}
	return v, true
}

func (l *literal) array(depth int) (any, bool) {
	out := []any{}
	for l.i++; ; {
		l.space()
		if l.peek() == ']' {
			l.i++
			return out, true
		}
		v, ok := l.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		l.space()
		switch l.peek() {
		case ',':
			l.i++
		case ']':
		default:
			return nil, false
		}
	}
}

func (l *literal) object(depth int) (any, bool) {
	out := Object{}
	for l.i++; ; {
		l.space()
		c := l.peek()
		if c == '}' {
			l.i++
			return out, true
		}
		var key string
		ok := true
		switch {
		case c == '"' || c == '\'':
			key, ok = l.str()
		case isDigit(c):
			var n float64
			n, ok = l.number()
			key = strconv.FormatFloat(n, 'f', -1, 64)
		default:
			e := esmReader{s: l.s, i: l.i}
			key = e.word()
			ok = key != ""
			l.i = e.i
		}
		if l.space(); !ok || l.peek() != ':' {
			return nil, false
		}
		l.i++
		v, ok := l.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, Member{key, v})
		l.space()
		switch l.peek() {
		case ',':
			l.i++
		case '}':
		default:
			return nil, false
		}
	}
}

func (l *literal) number() (float64, bool) {
	start := l.i
	for l.i < len(l.s) {
		c := l.s[l.i]
		if isAlnum(c) || c == '.' || c == '_' {
			l.i++
			continue
		}
		if (c == '-' || c == '+') && l.i > start && l.s[l.i-1]|0x20 == 'e' && !strings.HasPrefix(l.s[start:], "0x") {
			l.i++
			continue
		}
		break
	}
	text := l.s[start:l.i]
	if len(text) > 2 && text[0] == '0' && strings.IndexByte("xXoObB", text[1]) >= 0 {
		n, err := strconv.ParseInt(text, 0, 64)
		return float64(n), err == nil
	}
	if text == "" || !isDigit(text[0]) && text[0] != '.' || strings.ContainsAny(text, "xXpPiInN") {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return n, err == nil
}

// str reads a string in quotes.
func (l *literal) str() (string, bool) {
	quote := l.s[l.i]
	start := l.i + 1
	for k := start; k < len(l.s); k++ {
		switch l.s[k] {
		case quote:
			l.i = k + 1
			return l.s[start:k], true
		case '\n':
			return "", false
		case '\\':
			l.i = start
			return l.escaped(quote)
		}
	}
	return "", false
}

// template reads a template without substitutions.
func (l *literal) template() (string, bool) {
	l.i++
	return l.escaped('`')
}

// escaped reads up to the quote and resolves escapes.
func (l *literal) escaped(quote byte) (string, bool) {
	var b strings.Builder
	for l.i < len(l.s) {
		c := l.s[l.i]
		switch {
		case c == quote:
			l.i++
			return b.String(), true
		case c == '\n' && quote != '`', c == '$' && quote == '`' && strings.HasPrefix(l.s[l.i:], "${"):
			return "", false
		case c != '\\':
			b.WriteByte(c)
			l.i++
			continue
		}
		l.i++
		if l.i >= len(l.s) {
			return "", false
		}
		e := l.s[l.i]
		l.i++
		switch e {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'v':
			b.WriteByte('\v')
		case '0':
			b.WriteByte(0)
		case '\n':
		case 'x':
			if !l.hex(&b, 2) {
				return "", false
			}
		case 'u':
			if l.peek() == '{' {
				end := strings.IndexByte(l.s[l.i:], '}')
				if end < 0 {
					return "", false
				}
				n, err := strconv.ParseUint(l.s[l.i+1:l.i+end], 16, 32)
				if err != nil || n > utf8.MaxRune {
					return "", false
				}
				b.WriteRune(rune(n))
				l.i += end + 1
			} else if !l.hex(&b, 4) {
				return "", false
			}
		default:
			b.WriteByte(e)
		}
	}
	return "", false
}

// hex reads a code unit of n digits, and the second half of a pair.
func (l *literal) hex(b *strings.Builder, n int) bool {
	read := func() (rune, bool) {
		if l.i+n > len(l.s) {
			return 0, false
		}
		v, err := strconv.ParseUint(l.s[l.i:l.i+n], 16, 32)
		if err != nil {
			return 0, false
		}
		l.i += n
		return rune(v), true
	}
	r, ok := read()
	if !ok {
		return false
	}
	if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(l.s[l.i:], `\u`) {
		mark := l.i
		l.i += 2
		if low, ok := read(); ok && low >= 0xdc00 && low < 0xe000 {
			r = 0x10000 + (r-0xd800)<<10 + low - 0xdc00
		} else {
			l.i = mark
		}
	}
	b.WriteRune(r)
	return true
}
