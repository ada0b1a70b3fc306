package asl

import (
	stdjson "encoding/json"
	"fmt"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/json"
)

// choice is one rule of a Choice state: where its condition holds, next is next.
type choice struct {
	condition
	next string
}

// condition holds of an input or not. It fails where its variable is not there,
// as at AWS.
type condition func(s *state, input any) (bool, *Error)

// choices reads the fields of a Choice state, which has neither End nor a Retry
// or Catch.
func (l *loader) choices(s *state, o *object) {
	s.next = o.text("Default", false)
	v := o.Take("Choices")
	if v == nil || len(v.Items) == 0 {
		o.wrong("Choices", "must be a list, and not empty")
		return
	}
	for i, item := range v.Items {
		rule := l.object(fmt.Sprintf("%s[%d]", o.at("Choices"), i), item)
		rule.text("Comment", false)
		s.choices = append(s.choices, choice{next: rule.text("Next", true), condition: l.condition(rule)})
		rule.done()
	}
}

// condition reads a comparison, or a combination of others.
func (l *loader) condition(o *object) condition {
	for name, all := range map[string]bool{"And": true, "Or": false} {
		if v := o.Take(name); v != nil {
			if len(v.Items) == 0 {
				o.wrong(name, "must be a list, and not empty")
			}
			var parts []condition
			for i, item := range v.Items {
				parts = append(parts, l.inside(fmt.Sprintf("%s[%d]", o.at(name), i), item))
			}
			return combined(parts, all)
		}
	}
	if v := o.Take("Not"); v != nil {
		inner := l.inside(o.at("Not"), v)
		return func(s *state, input any) (bool, *Error) {
			holds, failed := inner(s, input)
			return !holds, failed
		}
	}
	return o.comparison()
}

// inside reads a condition within another one, which leads nowhere itself.
func (l *loader) inside(path string, v *json.Value) condition {
	o := l.object(path, v)
	c := l.condition(o)
	o.done()
	return c
}

// combined holds where all of its parts do, or one. Those after the one that
// decides are not looked at.
func combined(parts []condition, all bool) condition {
	return func(s *state, input any) (bool, *Error) {
		for _, part := range parts {
			if holds, failed := part(s, input); failed != nil || holds != all {
				return holds, failed
			}
		}
		return all, nil
	}
}

// comparison reads Variable and the one comparison that is known of it. A
// variable of another type is not equal.
func (o *object) comparison() condition {
	if o.Take("Variable") == nil {
		o.wrong("Variable", "missing")
	}
	p := o.inputPath("Variable", "$")
	found := 0
	var equal func(v any) bool
	var present *bool
	for name, kind := range map[string]json.Kind{
		"StringEquals": json.String, "NumericEquals": json.Number, "BooleanEquals": json.Bool, "IsPresent": json.Bool,
	} {
		want := o.Take(name)
		if want == nil {
			continue
		}
		found++
		if want.Kind != kind {
			o.wrong(name, "must be of the type that it compares")
		}
		yes := want.Text == "true"
		switch name {
		case "StringEquals":
			equal = func(v any) bool { text, ok := v.(string); return ok && text == want.Text }
		case "NumericEquals":
			equal = func(v any) bool { n, ok := v.(stdjson.Number); return ok && sameNumber(n.String(), want.Text) }
		case "BooleanEquals":
			equal = func(v any) bool { is, ok := v.(bool); return ok && is == yes }
		case "IsPresent":
			present = &yes
		}
	}
	if found != 1 {
		o.fail(o.where, "exactly one of StringEquals, NumericEquals, BooleanEquals and IsPresent is known here")
	}
	return func(s *state, input any) (bool, *Error) {
		v, there := p.get(scope{input: input})
		switch {
		case present != nil:
			return there == *present, nil
		case !there:
			return false, runtimeError(s, "Invalid path '%s': The choice state's condition path references an invalid value.", p.text)
		}
		return equal(v), nil
	}
}

func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && x == y
}

// choose returns the next state of the first rule that holds, or the default.
func (s *state) choose(input any) (string, *Error) {
	for _, c := range s.choices {
		if holds, failed := c.condition(s, input); failed != nil || holds {
			return c.next, failed
		}
	}
	if s.next == "" {
		return "", &Error{Name: errorNoChoice, Cause: fmt.Sprintf("no rule of the state %q holds, and it has no default", s.name)}
	}
	return s.next, nil
}
