package page

import (
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/component"
	"github.com/bindery-docs/bindery/shared/mdx"
)

// scope holds the values that expressions in one source may name. Values are
// those of mdx.EvalLiteral (string, float64, bool, nil, []any, mdx.Object) and
// the types below.
type scope struct {
	// file is the source that expressions of this scope stand in; relative
	// imports are relative to it.
	file   string
	values map[string]any
	// props are the properties that the source was used with; names that are
	// not in values are looked for here.
	props map[string]any
}

type (
	// nodes is content given as JSX. Its elements are resolved already.
	nodes []*mdx.Node
	// snippetValue is a source file that is used as an element.
	snippetValue struct{ path string }
	// functionValue is a constant function that returns JSX.
	functionValue struct {
		arrow arrow
		scope *scope
		// file and pos are where it was written.
		file string
		pos  mdx.Pos
	}
	// opaque is a name that is bound to something that only JavaScript could
	// make sense of.
	opaque struct{}
)

// lookup finds the value of a path of names such as props.title.
func (sc *scope) lookup(path string) (any, bool) {
	first, rest, more := strings.Cut(path, ".")
	var v any
	ok := false
	if sc.values != nil {
		v, ok = sc.values[first]
	}
	if !ok && first == "props" {
		if !more {
			return nil, false
		}
		first, rest, more = strings.Cut(rest, ".")
		// A property that was not given is undefined, and shows nothing.
		v, ok = sc.props[first], true
	} else if !ok && sc.props != nil {
		v, ok = sc.props[first]
		ok = ok || first == "children"
	}
	if !ok {
		return nil, false
	}
	for more {
		first, rest, more = strings.Cut(rest, ".")
		if v, ok = member(v, first); !ok {
			return nil, false
		}
	}
	return v, true
}

// evaluate gives the value of an expression where it can be told without
// running anything: a literal, a name, a member, a template of those, JSX.
func (s *state) evaluate(expr string, sc *scope, pos mdx.Pos, depth int) (any, bool) {
	expr = trimComments(expr)
	if depth > maxExpressionDepth {
		return nil, false
	}
	switch {
	case expr == "":
		return nil, true
	case expr[0] == '<':
		return s.jsx(expr, sc, pos)
	case expr[0] == '(' && closes(expr):
		return s.evaluate(expr[1:len(expr)-1], sc, pos, depth+1)
	}
	if isPath(expr) {
		if v, ok := sc.lookup(expr); ok {
			if _, no := v.(opaque); no {
				return nil, false
			}
			return v, true
		}
	}
	if v, ok := component.AttrValue(mdx.Attr{Kind: mdx.AttrExpr, Value: expr}); ok {
		return v, true
	}
	if expr[0] == '`' {
		return s.template(expr, sc, pos, depth)
	}
	return nil, false
}

// template evaluates a template literal whose substitutions have values.
func (s *state) template(expr string, sc *scope, pos mdx.Pos, depth int) (any, bool) {
	if len(expr) < 2 || expr[len(expr)-1] != '`' {
		return nil, false
	}
	body := expr[1 : len(expr)-1]
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '`':
			return nil, false
		case body[i] == '\\' && i+1 < len(body):
			i++
			switch body[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '`', '\\', '$', '{', '}', '\'', '"':
				b.WriteByte(body[i])
			default:
				return nil, false
			}
		case strings.HasPrefix(body[i:], "${"):
			end := strings.IndexByte(body[i:], '}')
			if end < 0 {
				return nil, false
			}
			v, ok := s.evaluate(body[i+2:i+end], sc, pos, depth+1)
			if !ok {
				return nil, false
			}
			text, ok := display(v)
			if !ok {
				return nil, false
			}
			b.WriteString(text)
			i += end
		default:
			b.WriteByte(body[i])
		}
	}
	return b.String(), true
}

// jsx reads an element that stands where a value is expected.
func (s *state) jsx(expr string, sc *scope, pos mdx.Pos) (any, bool) {
	file, err := mdx.Parse(sc.file, []byte(expr))
	if err != nil {
		return nil, false
	}
	mdx.Unravel(file.Root)
	mdx.Walk(file.Root, func(n *mdx.Node) bool {
		n.Pos, n.End = pos, pos
		for i := range n.Attrs {
			n.Attrs[i].Pos = pos
		}
		return true
	})
	list := file.Root.Children
	if len(list) == 1 && list[0].Kind == mdx.Paragraph {
		list = list[0].Children
	}
	return nodes(soleParagraph(s.expand(list, sc))), true
}

// display gives a value as JSX shows it in text; ok is false for what has no
// text.
func display(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool, nil:
		return "", true
	}
	return "", false
}

// trimComments cuts white space and comments off both ends.
func trimComments(s string) string {
	for {
		s = strings.TrimSpace(s)
		switch {
		case strings.HasPrefix(s, "/*"):
			end := strings.Index(s[2:], "*/")
			if end < 0 {
				return ""
			}
			s = s[end+4:]
		case strings.HasPrefix(s, "//"):
			end := strings.IndexByte(s, '\n')
			if end < 0 {
				return ""
			}
			s = s[end+1:]
		case strings.HasSuffix(s, "*/"):
			start := strings.LastIndex(s, "/*")
			if start < 0 {
				return s
			}
			s = s[:start]
		default:
			return s
		}
	}
}

// closes tells whether the parenthesis that opens s is closed by its last
// byte. Quotes are respected.
func closes(s string) bool {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
			if depth == 0 {
				return i == len(s)-1
			}
		}
	}
	return false
}

// isPath tells whether s is a name, or names with dots between them.
func isPath(s string) bool {
	start := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
		switch {
		case letter:
			start = false
		case '0' <= c && c <= '9':
			if start {
				return false
			}
		case c == '.':
			if start {
				return false
			}
			start = true
		default:
			return false
		}
	}
	return !start
}

// arrow is a function that does nothing but return JSX or a value.
type arrow struct {
	// all is the name of a parameter that stands for all properties.
	all string
	// names are the properties taken apart in the parameter, with the source
	// of their defaults.
	names []arrowParam
	// body is the expression that is returned.
	body string
}

type arrowParam struct{ property, name, fallback string }

// parseArrow reads "(…) => expression" and "(…) => { return expression }".
func parseArrow(src string) (arrow, bool) {
	var a arrow
	params, body, ok := strings.Cut(src, "=>")
	if !ok {
		return a, false
	}
	params = strings.TrimSpace(params)
	if strings.HasPrefix(params, "(") {
		if !strings.HasSuffix(params, ")") {
			return a, false
		}
		params = strings.TrimSpace(params[1 : len(params)-1])
	}
	switch {
	case params == "":
	case strings.HasPrefix(params, "{"):
		params, ok = strings.CutSuffix(params[1:], "}")
		if !ok || strings.ContainsAny(params, "{}()[]`") {
			return a, false
		}
		for part := range strings.SplitSeq(params, ",") {
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			left, fallback, _ := strings.Cut(part, "=")
			property, name, renamed := strings.Cut(left, ":")
			property = strings.TrimSpace(property)
			if name = strings.TrimSpace(name); !renamed {
				name = property
			}
			if !isPath(property) || !isPath(name) {
				return a, false
			}
			a.names = append(a.names, arrowParam{property, name, strings.TrimSpace(fallback)})
		}
	case isPath(params):
		a.all = params
	default:
		return a, false
	}
	body = trimComments(strings.TrimSuffix(strings.TrimSpace(body), ";"))
	if strings.HasPrefix(body, "{") {
		body, ok = strings.CutSuffix(body[1:], "}")
		if !ok {
			return a, false
		}
		body, ok = strings.CutPrefix(trimComments(body), "return")
		if !ok || body == "" || strings.IndexByte(" (<\n\t\"'`", body[0]) < 0 {
			return a, false
		}
		body = trimComments(strings.TrimSuffix(strings.TrimSpace(body), ";"))
	}
	for strings.HasPrefix(body, "(") && closes(body) {
		body = trimComments(body[1 : len(body)-1])
	}
	a.body = body
	return a, body != ""
}

// call binds properties to an arrow's parameters.
func (s *state) bind(f *functionValue, props map[string]any) *scope {
	sc := &scope{file: f.file, values: make(map[string]any, len(f.scope.values)+len(f.arrow.names)+1)}
	for k, v := range f.scope.values {
		sc.values[k] = v
	}
	if f.arrow.all != "" {
		sc.values[f.arrow.all] = propsValue(props)
	}
	for _, p := range f.arrow.names {
		v, given := props[p.property]
		if !given && p.fallback != "" {
			v, _ = s.evaluate(p.fallback, f.scope, f.pos, 0)
		}
		sc.values[p.name] = v
	}
	return sc
}

// propsValue is all properties as one value.
type propsValue map[string]any
