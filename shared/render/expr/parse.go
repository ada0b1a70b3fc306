package expr

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Expr is an expression that was read.
type Expr struct{ e node }

// Parse reads a source that is one expression. An error is an Unsupported.
func Parse(src *Source) (Expr, error) {
	p := newParser(src.Text)
	p.src = src
	e, err := p.whole()
	return Expr{e}, err
}

// Literal returns the value of a source that is a literal, with nothing in it
// that has to be evaluated: string, float64, bool, nil (null and undefined),
// []any or Object. It reports false for everything else, such as names, calls
// and sums.
func Literal(text string) (any, bool) {
	p := newParser(text)
	if p.space(); p.i >= len(p.s) {
		return nil, false
	}
	e, err := p.expression()
	p.space()
	if err != nil || p.i < len(p.s) || !isValue(e) {
		return nil, false
	}
	return e, true
}

// maxNesting bounds how deep a source may nest, in calls of enter.
const maxNesting = 400

// parser reads a source without tokens: every method begins where the last
// one ended.
type parser struct {
	src    *Source
	s      string
	i      int
	depth  int
	budget int
	// line is the end of the last white space that a line ended in: a statement
	// may end there without a semicolon, whoever passed over it.
	line int
}

func newParser(text string) parser {
	return parser{s: text, line: -1, budget: 64*len(text) + 10_000}
}

func (p *parser) whole() (node, error) {
	p.space()
	if p.i >= len(p.s) {
		return nil, nil
	}
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	for p.sign(";") {
	}
	if p.i < len(p.s) {
		return nil, p.unexpected()
	}
	return e, nil
}

func (p *parser) unexpected() error {
	rest := p.s[min(p.i, len(p.s)):]
	if len(rest) > 12 {
		cut := 12
		for cut > 0 && !utf8.RuneStart(rest[cut]) {
			cut--
		}
		rest = rest[:cut]
	}
	if rest == "" {
		return unsupported("it ends too early")
	}
	return unsupported("it has an unexpected %q", strings.TrimSpace(rest))
}

// enter counts nesting and work.
func (p *parser) enter() error {
	p.depth++
	if p.budget--; p.depth > maxNesting || p.budget < 0 {
		return unsupported("it is nested too deeply")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// space passes over white space and comments, and reports whether a line ended.
func (p *parser) space() (newline bool) {
	if p.i < len(p.s) && p.s[p.i] > '/' && p.s[p.i] < utf8.RuneSelf {
		return false
	}
	end, newline := spaceEnd(p.s, p.i)
	p.budget -= end - p.i
	if p.i = end; newline {
		p.line = end
	}
	return newline
}

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// sign takes a sign after white space, if it is next.
func (p *parser) sign(sign string) bool {
	p.space()
	if p.peek() != sign[0] || !strings.HasPrefix(p.s[p.i:], sign) {
		return false
	}
	p.i += len(sign)
	return true
}

func (p *parser) need(sign string) error {
	if !p.sign(sign) {
		return p.unexpected()
	}
	return nil
}

// peekWord returns the name that is next, without taking it.
func (p *parser) peekWord() string { return p.s[p.i:wordEnd(p.s, p.i)] }

func (p *parser) word() string {
	p.space()
	w := p.peekWord()
	p.i += len(w)
	return w
}

// keyword takes a word, if it is next.
func (p *parser) keyword(w string) bool {
	p.space()
	if p.peekWord() == w {
		p.i += len(w)
		return true
	}
	return false
}

// reserved are words that are no names of values.
func reserved(w string) bool {
	switch w {
	case "", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
		"export", "extends", "finally", "for", "function", "if", "import", "in", "instanceof", "let", "new", "return", "super",
		"switch", "this", "throw", "try", "typeof", "var", "void", "while", "with", "yield":
		return true
	}
	return false
}

// expression reads an expression without commas.
func (p *parser) expression() (node, error) {
	p.space()
	if c := p.peek(); c == '"' || c == '\'' || isDigit(c) {
		// Most are a string or a number and nothing more.
		start := p.i
		if e, err := p.literal(); err == nil {
			if p.space(); p.i >= len(p.s) || strings.IndexByte(",)]}", p.peek()) >= 0 {
				return e, nil
			}
		}
		p.i = start
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if e, ok, err := p.arrow(); ok || err != nil {
		return e, err
	}
	test, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.peek() == '=' && !strings.HasPrefix(p.s[p.i:], "==") {
		p.i++
		_, err := p.expression()
		return fails{unsupported("it assigns to a name")}, err
	}
	if p.peek() != '?' || strings.HasPrefix(p.s[p.i:], "??") {
		return test, nil
	}
	p.i++
	then, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.need(":"); err != nil {
		return nil, err
	}
	other, err := p.expression()
	return ternary{test, then, other}, err
}

// operator returns the binary operator that is next and how tight it binds,
// without taking it; "" for none.
func (p *parser) operator() (op string, level int) {
	p.space()
	c := p.peek()
	if c > '|' || strings.IndexByte("?|&=!<>+-*/%", c) < 0 {
		return "", 0
	}
	rest := p.s[p.i:]
	for _, o := range operators {
		if o.op[0] != c || !strings.HasPrefix(rest, o.op) {
			continue
		}
		after := byte(0)
		if len(rest) > len(o.op) {
			after = rest[len(o.op)]
		}
		// Shifts, ++ and --, and assignments such as +=: whoever reads on finds
		// them.
		if len(o.op) == 1 && after == c && c != '/' || after == '=' && strings.IndexByte("?|&+-*/%", c) >= 0 {
			return "", 0
		}
		return o.op, o.level
	}
	return "", 0
}

// operators are the binary operators, each before those that it begins with.
var operators = [...]struct {
	op    string
	level int
}{
	{"??", 0}, {"||", 0}, {"&&", 1}, {"===", 2}, {"!==", 2}, {"==", 2}, {"!=", 2},
	{"<=", 3}, {">=", 3}, {"<", 3}, {">", 3}, {"+", 4}, {"-", 4}, {"**", 5}, {"*", 5}, {"/", 5}, {"%", 5},
}

// binary reads operands and the operators between them that bind at least as
// tight as level.
func (p *parser) binary(level int) (node, error) {
	l, err := p.unary()
	for n := 0; err == nil; n++ {
		op, tight := p.operator()
		if op == "" || tight < level {
			return l, nil
		}
		if n > 2000 {
			return nil, unsupported("it is too long")
		}
		p.i += len(op)
		var r node
		if r, err = p.binary(tight + 1); err == nil {
			l = binary{op, l, r}
		}
	}
	return nil, err
}

func (p *parser) unary() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.space()
	switch c := p.peek(); c {
	case '!', '-', '+':
		if c != '!' && strings.HasPrefix(p.s[p.i+1:], string(c)) {
			return nil, unsupported("it uses %c%c", c, c)
		}
		p.i++
		of, err := p.unary()
		if n, ok := of.(float64); ok && c != '!' {
			if c == '-' {
				n = -n
			}
			return n, err
		}
		return unary{string(c), of}, err
	}
	if p.keyword("typeof") {
		of, err := p.unary()
		return unary{"typeof", of}, err
	}
	return p.postfix()
}

// postfix reads what stands after a value: members and calls.
func (p *parser) postfix() (node, error) {
	e, err := p.primary()
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		if n > 2000 {
			return nil, unsupported("it is too long")
		}
		mark := p.i
		newline := p.space()
		optional := false
		if strings.HasPrefix(p.s[p.i:], "?.") && (p.i+2 >= len(p.s) || p.s[p.i+2] < '0' || p.s[p.i+2] > '9') {
			p.i += 2
			optional = true
			p.space()
		}
		switch c := p.peek(); {
		case c == '(':
			args, err := p.arguments()
			if err != nil {
				return nil, err
			}
			e = call{e, args, optional}
		case c == '[':
			p.i++
			at, err := p.expression()
			if err != nil {
				return nil, err
			}
			if err := p.need("]"); err != nil {
				return nil, err
			}
			e = index{e, at, optional}
		case c == '.' && !optional:
			p.i++
			w := p.word()
			if w == "" {
				return nil, p.unexpected()
			}
			e = dot{e, w, false}
		case optional:
			w := p.word()
			if w == "" {
				return nil, p.unexpected()
			}
			e = dot{e, w, true}
		case c == '`':
			return nil, unsupported("it has a tagged template")
		case !newline && (strings.HasPrefix(p.s[p.i:], "++") || strings.HasPrefix(p.s[p.i:], "--")):
			return nil, unsupported("it uses %s", p.s[p.i:p.i+2])
		default:
			if newline {
				p.i = mark
			}
			return e, nil
		}
	}
}

func (p *parser) arguments() ([]node, error) {
	p.i++ // (
	return p.items(")")
}

// items reads expressions with commas between them up to a sign.
func (p *parser) items(end string) ([]node, error) {
	out := []node{}
	for {
		if p.sign(end) {
			return out, nil
		}
		if p.peek() == ',' && end == "]" {
			p.i++
			out = append(out, nil)
			continue
		}
		isSpread := p.sign("...")
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		if isSpread {
			e = spread{e}
		}
		out = append(out, e)
		if !p.sign(",") {
			if !p.sign(end) {
				return nil, p.unexpected()
			}
			return out, nil
		}
	}
}

func (p *parser) primary() (node, error) {
	p.space()
	switch c := p.peek(); {
	case c == '"' || c == '\'' || '0' <= c && c <= '9' || c == '.':
		return p.literal()
	case c == '`':
		return p.template()
	case c == '(':
		p.i++
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		return e, p.need(")")
	case c == '[':
		p.i++
		items, err := p.items("]")
		if slices.ContainsFunc(items, func(e node) bool { return !isValue(e) }) {
			return list{items}, err
		}
		return items, err
	case c == '{':
		return p.object()
	case c == '<':
		return p.element()
	case c == '/':
		return p.regexp()
	}
	w := p.peekWord()
	switch w {
	case "function":
		f, _, err := p.functionExpr()
		return f, err
	case "async":
		return p.async()
	case "new", "await", "delete", "void":
		p.i += len(w)
		_, err := p.unary()
		return fails{unsupported("it uses %s", w)}, err
	case "this":
		p.i += len(w)
		return fails{unsupported("it uses this")}, nil
	case "class", "yield", "import":
		return nil, unsupported("it uses %s", w)
	case "true", "false":
		p.i += len(w)
		return w == "true", nil
	case "null", "undefined":
		p.i += len(w)
		return nil, nil
	case "Infinity":
		p.i += len(w)
		return math.Inf(1), nil
	}
	if reserved(w) {
		return nil, p.unexpected()
	}
	p.i += len(w)
	return name{w}, nil
}

// regexp reads a regular expression, which nothing here can use.
func (p *parser) regexp() (node, error) {
	end, ok := regexpEnd(p.s, p.i)
	if p.i = end; !ok {
		return nil, unsupported("a regular expression in it does not end")
	}
	return fails{unsupported("it has a regular expression")}, nil
}

// literal reads a string or a number.
func (p *parser) literal() (node, error) {
	if c := p.s[p.i]; c == '"' || c == '\'' {
		text, end, ok := quoted(p.s, p.i+1, c)
		if !ok {
			if end >= len(p.s) || p.s[end] == '\n' {
				return nil, unsupported("a string in it does not end")
			}
			return nil, p.unexpected()
		}
		p.i = end + 1
		return text, nil
	}
	end := numberEnd(p.s, p.i)
	n, ok := parseNumber(p.s[p.i:end])
	if !ok {
		return nil, p.unexpected()
	}
	p.i = end
	return n, nil
}

// template reads `…${…}…`. One without expressions is a text.
func (p *parser) template() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var t template
	for {
		text, end, ok := quoted(p.s, p.i+1, '`')
		if p.i = end; !ok {
			if end >= len(p.s) {
				return nil, unsupported("a template in it does not end")
			}
			return nil, unsupported("a template in it has an escape that is not known")
		}
		if p.peek() == '`' {
			if p.i++; t.parts == nil {
				return text, nil
			}
			t.texts = append(t.texts, text)
			return t, nil
		}
		t.texts = append(t.texts, text)
		p.i += 2 // ${
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, e)
		if p.space(); p.peek() != '}' {
			return nil, p.unexpected()
		}
	}
}

func (p *parser) object() (node, error) {
	var o object
	p.i++ // {
	for {
		if p.sign("}") {
			return o.folded(), nil
		}
		if p.sign("...") {
			of, err := p.expression()
			if err != nil {
				return nil, err
			}
			o.members = append(o.members, memberExpr{value: spread{of}})
		} else {
			m, shorthand, err := p.key()
			if err != nil {
				return nil, err
			}
			switch {
			case p.sign(":"):
				if m.value, err = p.expression(); err != nil {
					return nil, err
				}
			case p.peek() == '(':
				return nil, unsupported("it has a method")
			case shorthand && !reserved(m.key):
				m.value = name{m.key}
			default:
				return nil, p.unexpected()
			}
			o.members = append(o.members, m)
		}
		if !p.sign(",") {
			return o.folded(), p.need("}")
		}
	}
}

// folded is the value of an object whose members are values already.
func (o object) folded() node {
	if slices.ContainsFunc(o.members, func(m memberExpr) bool { return m.computed != nil || !isValue(m.value) }) {
		return o
	}
	out := make(Object, 0, len(o.members))
	if len(o.members) <= 16 {
		for _, m := range o.members {
			out = set(out, m.key, m.value)
		}
		return out
	}
	index := make(map[string]int, len(o.members))
	for _, m := range o.members {
		at, again := index[m.key]
		if again {
			out[at].Value = m.value
			continue
		}
		index[m.key] = len(out)
		out = append(out, Member{m.key, m.value})
	}
	return out
}

// key reads the key of an object's member; shorthand means that it may be its
// own value.
func (p *parser) key() (m memberExpr, shorthand bool, err error) {
	p.space()
	switch c := p.peek(); {
	case c == '[':
		p.i++
		if m.computed, err = p.expression(); err != nil {
			return m, false, err
		}
		return m, false, p.need("]")
	case c == '"' || c == '\'' || '0' <= c && c <= '9':
		e, err := p.literal()
		m.key, _ = text(e)
		return m, false, err
	}
	if m.key = p.word(); m.key == "" {
		return m, false, p.unexpected()
	}
	return m, true, nil
}
