package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
)

// Limits of the class names of a site. Names past them have no rules and are
// told among the unknown ones.
const (
	// MaxClasses is how many names are given to the compiler; real sites have
	// some hundreds.
	MaxClasses = 5000
	// maxClass is the longest name, in bytes.
	maxClass = 200
)

// Utilities makes the style sheet of utility classes for a site's class names.
// The names may come in any order and more than once; the same set makes the
// same bytes. unknown are those that have no rule, sorted. Without a known
// name css is empty.
//
// The rules are in the cascade layer "utilities", above the layer "bindery" of
// the theme and below styles of the site's own, which are in none.
func (e *Engine) Utilities(ctx context.Context, names []string) (sheet []byte, unknown []string, err error) {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	var ask []string
	for _, n := range names {
		if n == "" || len(n) > maxClass || len(ask) >= MaxClasses || !closed(n) || strings.ContainsFunc(n, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd }) {
			unknown = append(unknown, n)
			continue
		}
		ask = append(ask, n)
	}
	if len(ask) == 0 {
		return nil, unknown, nil
	}
	var made struct {
		CSS     string   `json:"css"`
		Unknown []string `json:"unknown"`
	}
	m := e.newMachine()
	err = m.run(ctx, func() error {
		code, err := e.utilities.compiled()
		if err != nil {
			return err
		}
		if _, err := m.vm.RunProgram(code); err != nil {
			return err
		}
		fn, ok := goja.AssertFunction(m.vm.Get("utilities"))
		if !ok {
			return errors.New("the library has no entry")
		}
		v, err := fn(goja.Undefined(), m.vm.ToValue(m.vm.NewArray(anys(ask)...)))
		if err != nil {
			return err
		}
		// Nothing in it waits for anything, so the promise is settled.
		p, ok := v.Export().(*goja.Promise)
		if !ok || p.State() != goja.PromiseStateFulfilled {
			return fmt.Errorf("the library gave no style sheet: %v", v)
		}
		return m.vm.ExportTo(p.Result(), &made)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("make the styles of utility classes: %w", err)
	}
	unknown = append(unknown, made.Unknown...)
	slices.Sort(unknown)
	if len(made.Unknown) == len(ask) {
		return nil, unknown, nil
	}
	min := minify.New()
	min.AddFunc("text/css", css.Minify)
	if sheet, err = min.Bytes("text/css", []byte(made.CSS)); err != nil {
		return nil, nil, fmt.Errorf("minify the styles of utility classes: %w", err)
	}
	return sheet, unknown, nil
}

// closed reports whether all quotes and brackets in a name are closed: in a rule,
// another would take the rules after it for a part of its own.
func closed(name string) bool {
	var open []byte
	for i := 0; i < len(name); i++ {
		c := name[i]
		last := byte(0)
		if len(open) > 0 {
			last = open[len(open)-1]
		}
		switch {
		case c == '\\':
			if i++; i == len(name) {
				return false
			}
		case last == '"' || last == '\'':
			if c == last {
				open = open[:len(open)-1]
			}
		case c == '"', c == '\'', c == '(', c == '[', c == '{':
			open = append(open, c)
		case c == ')' || c == ']' || c == '}':
			if last != map[byte]byte{')': '(', ']': '[', '}': '{'}[c] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

func anys(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}
