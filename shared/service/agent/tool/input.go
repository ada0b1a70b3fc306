package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	placed "github.com/bindery-docs/bindery/shared/base/json"
)

// definition is a tool.
type definition struct {
	name, about string
	params      []param
	call        func(s *Set, ctx context.Context, a args) (Result, error)
}

// kind is what a parameter may be.
type kind uint8

const (
	text kind = iota
	number
	yesNo
	texts   // a list of texts
	objects // a list of objects, whose fields param.fields describes
)

// param is one field of a tool's input.
type param struct {
	name     string
	kind     kind
	about    string
	required bool
	// values are all that a text, or a text of a list, may be.
	values []string
	// least and most bound a number.
	least, most int
	fields      []param
}

// schemaOf returns a strict JSON schema of an input.
func schemaOf(params []param) json.RawMessage {
	b, err := json.Marshal(schema(params))
	if err != nil {
		panic(err) // the tables are ours
	}
	return b
}

// schema is a JSON schema. A struct keeps its fields' order, so that the same
// definitions are the same bytes: a model's provider keeps what it has read.
type schemaNode struct {
	Type        string                `json:"type"`
	Description string                `json:"description,omitempty"`
	Enum        []string              `json:"enum,omitempty"`
	Minimum     *int                  `json:"minimum,omitempty"`
	Maximum     *int                  `json:"maximum,omitempty"`
	Items       *schemaNode           `json:"items,omitempty"`
	Properties  map[string]schemaNode `json:"properties,omitempty"`
	Required    []string              `json:"required,omitempty"`
	Additional  *bool                 `json:"additionalProperties,omitempty"`
}

func schema(params []param) schemaNode {
	closed := false
	n := schemaNode{Type: "object", Properties: map[string]schemaNode{}, Additional: &closed}
	for _, p := range params {
		f := schemaNode{Description: p.about}
		switch p.kind {
		case text:
			f.Type, f.Enum = "string", p.values
		case number:
			f.Type, f.Minimum, f.Maximum = "integer", &p.least, &p.most
		case yesNo:
			f.Type = "boolean"
		case texts:
			f.Type, f.Items = "array", &schemaNode{Type: "string", Enum: p.values}
		case objects:
			inner := schema(p.fields)
			f.Type, f.Items = "array", &inner
		}
		n.Properties[p.name] = f
		if p.required {
			n.Required = append(n.Required, p.name)
		}
	}
	return n
}

// args is an input that is what its tool's parameters say.
type args map[string]*placed.Value

// maxItems bounds the lists in an input.
const maxItems = 1000

// decode reads an input strictly. A null field counts as missing.
func decode(params []param, input []byte) (args, error) {
	if len(strings.TrimSpace(string(input))) == 0 {
		input = []byte("{}")
	}
	v, err := placed.Parse(input, placed.Options{Depth: 8, Values: 8 * maxItems})
	if e, ok := errors.AsType[*placed.Error](err); ok {
		return nil, fmt.Errorf("line %d, column %d: %w", e.Line, e.Column, e)
	}
	return fields(params, v)
}

func fields(params []param, v *placed.Value) (args, error) {
	if v.Kind != placed.Object {
		return nil, fmt.Errorf("%sexpected an object, found %s", prefix(v), v.Kind)
	}
	a, f := args{}, v.Fields()
	for _, p := range params {
		m := f.Take(p.name)
		if m == nil || m.Kind == placed.Null {
			if p.required {
				return nil, fmt.Errorf("%sthe field %q is missing", prefix(v), p.name)
			}
			continue
		}
		if err := p.fits(m); err != nil {
			return nil, err
		}
		a[p.name] = m
	}
	if name, ok := f.Unknown(); ok {
		var known []string
		for _, p := range params {
			known = append(known, p.name)
		}
		return nil, fmt.Errorf("%.120s: is not a known field; there are: %s", placed.Join(v.Path(), name), strings.Join(known, ", "))
	}
	return a, nil
}

func prefix(v *placed.Value) string {
	if p := v.Path(); p != "" {
		return p + ": "
	}
	return ""
}

// fits returns an error unless a value is valid for the parameter.
func (p param) fits(v *placed.Value) error {
	wrong := func(want string) error { return fmt.Errorf("%s: expected %s, found %s", v.Path(), want, v.Kind) }
	among := func(v *placed.Value) error {
		if len(p.values) > 0 && !slices.Contains(p.values, v.Text) {
			return fmt.Errorf("%s: expected one of %s, found %.80q", v.Path(), strings.Join(p.values, ", "), v.Text)
		}
		return nil
	}
	switch p.kind {
	case text:
		if v.Kind != placed.String {
			return wrong("a string")
		}
		return among(v)
	case number:
		n, err := strconv.Atoi(v.Text)
		if v.Kind != placed.Number {
			return wrong("a whole number")
		}
		if err != nil || n < p.least || n > p.most {
			return fmt.Errorf("%s: expected a whole number from %d to %d, found %.40s", v.Path(), p.least, p.most, v.Text)
		}
	case yesNo:
		if v.Kind != placed.Bool {
			return wrong("true or false")
		}
	case texts, objects:
		if v.Kind != placed.Array {
			return wrong("a list")
		}
		if len(v.Items) > maxItems {
			return fmt.Errorf("%s: has %d items; at most %d are read", v.Path(), len(v.Items), maxItems)
		}
		for _, item := range v.Items {
			if p.kind == objects {
				if _, err := fields(p.fields, item); err != nil {
					return err
				}
				continue
			}
			if item.Kind != placed.String {
				return fmt.Errorf("%s: expected a string, found %s", item.Path(), item.Kind)
			}
			if err := among(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// text returns a string of the input, "" if it is missing.
func (a args) text(name string) string {
	if v := a[name]; v != nil {
		return v.Text
	}
	return ""
}

// number returns a number of the input, or a default if it is missing.
func (a args) number(name string, missing int) int {
	if v := a[name]; v != nil {
		n, _ := strconv.Atoi(v.Text)
		return n
	}
	return missing
}

func (a args) yes(name string) bool { return a.text(name) == "true" }

func (a args) texts(name string) []string {
	var all []string
	if v := a[name]; v != nil {
		for _, item := range v.Items {
			all = append(all, item.Text)
		}
	}
	return all
}

// path returns a path of the input relative to the site's folder, without leading and
// trailing slashes, which models add; "" is the folder itself.
func (a args) path(name string) (string, error) {
	p := a.text(name)
	if isOutside(p) {
		return "", errOutside(p)
	}
	return cleanPath(name, p)
}

// cleanPath returns a path without leading and trailing slashes. name is the field that
// has it.
func cleanPath(name, p string) (string, error) {
	clean := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/"), "/")
	if clean == "" || clean == "." {
		return "", nil
	}
	if strings.Contains(clean, `\`) || path.Clean(clean) != clean || clean == ".." || strings.HasPrefix(clean, "../") || strings.HasPrefix(clean, "/") {
		return "", fmt.Errorf("%s: %.200q is not a path of the site's folder, such as guides/start.mdx", name, p)
	}
	return clean, nil
}
