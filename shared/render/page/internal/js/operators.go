package js

import (
	"math"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Truthy tells what a condition takes for true.
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

// text gives a value as a template shows it; nothing for null and undefined.
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
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			var ok bool
			if parts[i], ok = text(x); !ok {
				return "", false
			}
		}
		return strings.Join(parts, ","), true
	}
	return "", false
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

// number gives a value as arithmetic takes it.
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
		s := strings.TrimSpace(v)
		if s == "" {
			return 0, true
		}
		n, ok := mdx.EvalLiteral(s)
		f, isNumber := n.(float64)
		if !ok || !isNumber {
			return math.NaN(), true
		}
		return f, true
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
		switch v.(type) {
		case nil:
			return "undefined", nil
		case string:
			return "string", nil
		case bool:
			return "boolean", nil
		case float64:
			return "number", nil
		case *Function, Namespace:
			return "function", nil
		}
		return "object", nil
	}
	n, ok := number(v)
	if !ok {
		return nil, unsupported("it counts with what is no number")
	}
	if e.op == "-" {
		n = -n
	}
	return n, nil
}

func (m *Machine) binary(e binary, sc *Scope) (any, error) {
	l, err := m.eval(e.l, sc)
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "&&":
		if !Truthy(l) {
			return l, nil
		}
		return m.eval(e.r, sc)
	case "||":
		if Truthy(l) {
			return l, nil
		}
		return m.eval(e.r, sc)
	case "??":
		if l != nil {
			return l, nil
		}
		return m.eval(e.r, sc)
	}
	r, err := m.eval(e.r, sc)
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "===", "==":
		return m.equal(l, r, e.op == "==")
	case "!==", "!=":
		same, err := m.equal(l, r, e.op == "!=")
		return !same, err
	case "+":
		_, lText := l.(string)
		_, rText := r.(string)
		if lText || rText {
			a, ok := text(l)
			b, ok2 := text(r)
			if !ok || !ok2 {
				return nil, unsupported("it joins what is no text")
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
			return compare(e.op, strings.Compare(a, b)), nil
		}
	}
	a, ok := number(l)
	b, ok2 := number(r)
	if !ok || !ok2 {
		return nil, unsupported("it counts with what is no number")
	}
	switch e.op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	case "%":
		return math.Mod(a, b), nil
	case "**":
		return math.Pow(a, b), nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	case "<=":
		return a <= b, nil
	}
	return a >= b, nil
}

func compare(op string, c int) bool {
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
		return unsupported("a text in it is too long")
	}
	return m.charge(n / 64)
}
