package page

import (
	"errors"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// scope is what expressions in one source may name.
type scope struct {
	// file is the source that expressions of this scope stand in; relative
	// imports are relative to it.
	file string
	// module are the source's import and export statements.
	module string
	// names holds what the source imports and exports, and beyond that the
	// properties that it was used with.
	names *expr.Scope
	// props are those properties, for what stands in code.
	props mdx.Object
}

// newScope makes the scope of a source that is used with properties.
func newScope(file string, props mdx.Object) *scope {
	sc := &scope{file: file, props: props}
	outer := expr.NewScope(nil)
	outer.Host = sc
	outer.Set("props", props)
	outer.Set("children", nil) // it may be asked for where there is none
	for _, p := range props {
		outer.Set(p.Key, p.Value)
	}
	sc.names = expr.NewScope(outer)
	return sc
}

// Values that names may have besides those of expr.
type (
	// nodes is content given as JSX. Its elements are resolved already.
	nodes []*mdx.Node
	// snippetValue is a source file that is used as an element.
	snippetValue struct{ path string }
)

// named finds what a path of names, such as Tree.File, stands for.
func (s *resolver) named(path string, names *expr.Scope) (v any, found bool, err error) {
	first, rest, more := strings.Cut(path, ".")
	if v, found = names.Lookup(first); !found {
		return nil, false, nil
	}
	if v, err = s.machine().Force(v); err != nil {
		return nil, true, err
	}
	for more {
		first, rest, more = strings.Cut(rest, ".")
		members, ok := v.(mdx.Object)
		if !ok {
			return nil, false, nil
		}
		v, _ = members.Get(first)
	}
	return v, true, nil
}

// machine evaluates the page's expressions.
func (s *resolver) machine() *expr.Machine {
	if s.js == nil {
		s.js = &expr.Machine{Host: s}
	}
	return s.js
}

// evaluate returns the value of an expression. The error says what of it needs
// JavaScript.
func (s *resolver) evaluate(source string, sc *scope, pos mdx.Pos) (any, error) {
	e, err := expr.Parse(&expr.Source{Text: source, Origin: pos})
	if err != nil {
		return nil, err
	}
	return s.machine().Eval(e, sc.names)
}

// reasonOf is what an error says of the JavaScript that was met.
func reasonOf(err error) string {
	if u, ok := errors.AsType[*expr.Unsupported](err); ok {
		return u.Reason
	}
	return "it has a value that can't be shown"
}

// placeOf returns the place of an offset in a source.
func placeOf(src *expr.Source, offset int) mdx.Pos {
	pos, _ := src.Origin.(mdx.Pos)
	before := src.Text[:min(offset, len(src.Text))]
	if lines := strings.Count(before, "\n"); lines > 0 {
		pos.Line += lines
		pos.Column = len(before) - strings.LastIndexByte(before, '\n')
	} else {
		pos.Column += len(before)
	}
	pos.Offset += len(before)
	return pos
}
