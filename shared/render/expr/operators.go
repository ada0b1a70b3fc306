package expr

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// truthy reports whether a condition takes a value for true.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	}
	return true
}

// text returns a simple value as a template shows it; nothing for null and
// undefined.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return FormatNumber(v), true
	}
	return "", false
}

// text returns a value as a template shows it, lists included. Lists that hold
// the same list many times may be much longer as text, so they cost steps.
func (m *Machine) text(v any) (string, bool) {
	l, ok := v.([]any)
	if !ok {
		return text(v)
	}
	var b strings.Builder
	ok = m.appendText(&b, l)
	m.grown(b.Len())
	return b.String(), ok
}

func (m *Machine) appendText(b *strings.Builder, l []any) bool {
	for i, x := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		m.grown(b.Len())
		m.charge(1)
		if inner, ok := x.([]any); ok {
			if !m.appendText(b, inner) {
				return false
			}
			continue
		}
		s, ok := text(x)
		if b.WriteString(s); !ok {
			return false
		}
	}
	return true
}

// FormatNumber writes a number as JavaScript does.
func FormatNumber(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v == 0:
		return "0"
	}
	if a := math.Abs(v); a >= 1e21 || a < 1e-6 {
		s := strconv.FormatFloat(v, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		sign := exponent[:1]
		return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// number returns a value as arithmetic takes it.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		return textNumber(v), true
	}
	return 0, false
}

func (m *Machine) unary(e unary, sc *Scope) any {
	if e.op == "typeof" {
		if n, ok := e.of.(name); ok {
			_, local := sc.Lookup(n.name)
			if _, known := global(n.name); !local && !known {
				return "undefined" // typeof window
			}
		}
	}
	v := m.eval(e.of, sc)
	switch e.op {
	case "!":
		return !truthy(v)
	case "typeof":
		return typeOf(v)
	case "-":
		return -calculable(v)
	case "~":
		return float64(^int32(bits(calculable(v))))
	}
	return calculable(v)
}

// calculable is number of what has to be one.
func calculable(v any) float64 {
	n, ok := number(v)
	if !ok {
		fail("it calculates with a value that is not a number")
	}
	return n
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "undefined"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case *Function, Namespace:
		return "function"
	}
	return "object"
}

func (m *Machine) binary(e binary, sc *Scope) any {
	l := m.eval(e.l, sc)
	switch {
	case e.op == "&&" && !truthy(l), e.op == "||" && truthy(l), e.op == "??" && l != nil:
		return l
	}
	r := m.eval(e.r, sc)
	switch e.op {
	case "&&", "||", "??":
		return r
	case "===", "==":
		return m.equal(l, r, e.op == "==")
	case "!==", "!=":
		return !m.equal(l, r, e.op == "!=")
	case "+":
		_, lText := l.(string)
		_, rText := r.(string)
		if lText || rText {
			a, ok := m.text(l)
			b, ok2 := m.text(r)
			if !ok || !ok2 {
				fail("it joins a value that is not text")
			}
			m.grown(len(a) + len(b))
			return a + b
		}
	case "<", ">", "<=", ">=":
		a, aText := l.(string)
		b, bText := r.(string)
		if aText && bText {
			return compared(e.op, strings.Compare(a, b))
		}
	}
	a, b := calculable(l), calculable(r)
	if of, ok := arithmetic[e.op]; ok {
		return of(a, b)
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		return false
	}
	return compared(e.op, cmp.Compare(a, b))
}

var arithmetic = map[string]func(a, b float64) float64{
	"+":   func(a, b float64) float64 { return a + b },
	"-":   func(a, b float64) float64 { return a - b },
	"*":   func(a, b float64) float64 { return a * b },
	"/":   func(a, b float64) float64 { return a / b },
	"%":   math.Mod,
	"**":  math.Pow,
	"&":   func(a, b float64) float64 { return float64(int32(bits(a) & bits(b))) },
	"|":   func(a, b float64) float64 { return float64(int32(bits(a) | bits(b))) },
	"^":   func(a, b float64) float64 { return float64(int32(bits(a) ^ bits(b))) },
	"<<":  func(a, b float64) float64 { return float64(int32(bits(a) << (bits(b) & 31))) },
	">>":  func(a, b float64) float64 { return float64(int32(bits(a)) >> (bits(b) & 31)) },
	">>>": func(a, b float64) float64 { return float64(bits(a) >> (bits(b) & 31)) },
}

// bits returns the 32 bits that operators such as & and << work on.
func bits(v float64) uint32 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	if v = math.Mod(math.Trunc(v), 1<<32); v < 0 {
		v += 1 << 32
	}
	return uint32(v)
}

// compared is the answer of a comparison whose operands are in such an order.
func compared(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case ">":
		return c > 0
	case "<=":
		return c <= 0
	}
	return c >= 0
}

// equal compares simple values; lists and objects are equal to nothing, as
// they have no identity here.
func (m *Machine) equal(l, r any, loose bool) bool {
	switch l := l.(type) {
	case nil:
		return r == nil
	case string:
		m.charge(len(l) / 64)
		if n, ok := r.(float64); ok {
			return loose && textNumber(l) == n
		}
		return l == r
	case float64:
		if s, ok := r.(string); ok {
			return loose && l == textNumber(s)
		}
		return l == r
	case bool, *Function:
		return l == r
	}
	return false
}

// grown accounts for a text that was made.
func (m *Machine) grown(n int) {
	if n > maxText {
		fail("a string in it is too long")
	}
	m.charge(n / 64)
}
