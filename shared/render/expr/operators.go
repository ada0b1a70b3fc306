package expr

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Truthy reports whether a condition takes a value for true.
func Truthy(v any) bool {
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
	ok = m.appendText(&b, l) && m.grown(b.Len()) == nil
	return b.String(), ok
}

func (m *Machine) appendText(b *strings.Builder, l []any) bool {
	for i, x := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > maxText || m.charge(1) != nil {
			return false
		}
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

func (m *Machine) unary(e unary, sc *Scope) (any, error) {
	if e.op == "typeof" {
		if n, ok := e.of.(name); ok {
			_, local := sc.Lookup(n.name)
			if _, known := global(n.name); !local && !known {
				return "undefined", nil // typeof window
			}
		}
	}
	v, err := m.eval(e.of, sc)
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "!":
		return !Truthy(v), nil
	case "typeof":
		return typeOf(v), nil
	}
	n, ok := number(v)
	if !ok {
		return nil, unsupported("it calculates with a value that is not a number")
	}
	if e.op == "-" {
		n = -n
	}
	return n, nil
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

func (m *Machine) binary(e binary, sc *Scope) (any, error) {
	l, err := m.eval(e.l, sc)
	if err != nil {
		return nil, err
	}
	switch {
	case e.op == "&&" && !Truthy(l), e.op == "||" && Truthy(l), e.op == "??" && l != nil:
		return l, nil
	}
	r, err := m.eval(e.r, sc)
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "&&", "||", "??":
		return r, nil
	case "===", "==":
		return m.equal(l, r, e.op == "==")
	case "!==", "!=":
		same, err := m.equal(l, r, e.op == "!=")
		return !same, err
	case "+":
		_, lText := l.(string)
		_, rText := r.(string)
		if lText || rText {
			a, ok := m.text(l)
			b, ok2 := m.text(r)
			if !ok || !ok2 {
				return nil, unsupported("it joins a value that is not text")
			}
			if err := m.grown(len(a) + len(b)); err != nil {
				return nil, err
			}
			return a + b, nil
		}
	case "<", ">", "<=", ">=":
		a, aText := l.(string)
		b, bText := r.(string)
		if aText && bText {
			return compared(e.op, strings.Compare(a, b)), nil
		}
	}
	a, ok := number(l)
	b, ok2 := number(r)
	if !ok || !ok2 {
		return nil, unsupported("it calculates with a value that is not a number")
	}
	if of, ok := arithmetic[e.op]; ok {
		return of(a, b), nil
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		return false, nil
	}
	return compared(e.op, cmp.Compare(a, b)), nil
}

var arithmetic = map[string]func(a, b float64) float64{
	"+":  func(a, b float64) float64 { return a + b },
	"-":  func(a, b float64) float64 { return a - b },
	"*":  func(a, b float64) float64 { return a * b },
	"/":  func(a, b float64) float64 { return a / b },
	"%":  math.Mod,
	"**": math.Pow,
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
func (m *Machine) equal(l, r any, loose bool) (bool, error) {
	switch l := l.(type) {
	case nil:
		return r == nil, nil
	case string:
		switch r := r.(type) {
		case string:
			return l == r, m.charge(len(l) / 64)
		case float64:
			if n, _ := number(l); loose {
				return n == r, nil
			}
		}
		return false, nil
	case float64:
		switch r := r.(type) {
		case float64:
			return l == r, nil
		case string:
			if n, _ := number(r); loose {
				return l == n, nil
			}
		}
		return false, nil
	case bool:
		b, ok := r.(bool)
		return ok && l == b, nil
	}
	if r == nil {
		return false, nil
	}
	if f, ok := l.(*Function); ok {
		g, ok := r.(*Function)
		return ok && f == g, nil
	}
	return false, nil
}

// grown accounts for a text that was made.
func (m *Machine) grown(n int) error {
	if n > maxText {
		return unsupported("a string in it is too long")
	}
	return m.charge(n / 64)
}
