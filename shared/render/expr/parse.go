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
	e := p.whole()
	return Expr{e}, p.err
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
	e := p.expression()
	p.space()
	if p.err != nil || p.i < len(p.s) || !isValue(e) {
		return nil, false
	}
	return e, true
}

// maxNesting bounds how deep a source may nest, in calls of enter.
const maxNesting = 400

// parser reads a source without tokens: every method begins where the last
// one ended. The first error stays, and the source ends where it was found.
type parser struct {
	src    *Source
	s      string
	i      int
	depth  int
	budget int
	err    error // an Unsupported
	// line is the end of the last white space that a line ended in: a statement
	// may end there without a semicolon, whoever passed over it.
	line int
}

func newParser(text string) parser {
	return parser{s: text, line: -1, budget: 64*len(text) + 10_000}
}

func (p *parser) whole() node {
	p.space()
	if p.i >= len(p.s) {
		return nil
	}
	e := p.expression()
	for p.sign(";") {
	}
	if p.i < len(p.s) {
		return p.unexpected()
	}
	if p.err != nil {
		return nil
	}
	return e
}

// fail ends the source with an error, unless it has one.
func (p *parser) fail(format string, args ...any) node {
	if p.err == nil {
		p.err = unsupported(format, args...)
	}
	p.i = len(p.s)
	return nil
}

// back returns to a place before the error, which then was a wrong guess.
func (p *parser) back(to int) { p.i, p.err = to, nil }

func (p *parser) unexpected() node {
	rest := p.s[min(p.i, len(p.s)):]
	if len(rest) > 12 {
		cut := 12
		for cut > 0 && !utf8.RuneStart(rest[cut]) {
			cut--
		}
		rest = rest[:cut]
	}
	if rest == "" {
		return p.fail("it ends too early")
	}
	return p.fail("it has an unexpected %q", strings.TrimSpace(rest))
}

// enter counts nesting and work; it reports false after an error.
func (p *parser) enter() bool {
	p.depth++
	if p.budget--; p.depth > maxNesting || p.budget < 0 {
		p.fail("it is nested too deeply")
	}
	return p.err == nil
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

func (p *parser) need(sign string) {
	if !p.sign(sign) {
		p.unexpected()
	}
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

// reserved reports whether a word cannot name a value.
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
func (p *parser) expression() node {
	p.space()
	if c := p.peek(); c == '"' || c == '\'' || isDigit(c) {
		// Most are a string or a number and nothing more.
		start := p.i
		e := p.literal()
		if p.space(); p.err == nil && (p.i >= len(p.s) || strings.IndexByte(",)]}", p.peek()) >= 0) {
			return e
		}
		p.back(start)
	}
	if !p.enter() {
		return nil
	}
	defer p.leave()
	if e, ok := p.arrow(); ok {
		return e
	}
	test := p.binary(0)
	p.space()
	if p.peek() == '=' && !strings.HasPrefix(p.s[p.i:], "==") {
		p.i++
		p.expression()
		return fails{unsupported("it assigns to a name")}
	}
	if p.peek() != '?' || strings.HasPrefix(p.s[p.i:], "??") {
		return test
	}
	p.i++
	then := p.expression()
	p.need(":")
	return ternary{test, then, p.expression()}
}

// operator returns the binary operator that is next and how tight it binds,
// without taking it, or "". Assignments such as +=, and ++ and --, are not binary
// operators.
func (p *parser) operator() (op string, level int) {
	p.space()
	c := p.peek()
	if c >= utf8.RuneSelf {
		return "", 0
	}
	for _, op := range punctuators[c] {
		if strings.HasPrefix(p.s[p.i:], op) {
			if level, ok := tightness(op); ok {
				return op, level
			}
			return "", 0
		}
	}
	if c == '/' && !strings.HasPrefix(p.s[p.i:], "/=") {
		return "/", levelTimes
	}
	return "", 0
}

// levelTimes is the precedence of *, / and %.
const levelTimes = 9

// tightness returns the precedence of a binary operator.
func tightness(op string) (level int, ok bool) {
	switch op {
	case "??", "||":
		return 0, true
	case "&&":
		return 1, true
	case "|":
		return 2, true
	case "^":
		return 3, true
	case "&":
		return 4, true
	case "===", "!==", "==", "!=":
		return 5, true
	case "<=", ">=", "<", ">":
		return 6, true
	case "<<", ">>", ">>>":
		return 7, true
	case "+", "-":
		return 8, true
	case "*", "%":
		return levelTimes, true
	case "**":
		return levelTimes + 1, true
	}
	return 0, false
}

// binary reads operands and the operators between them that bind at least as
// tight as level.
func (p *parser) binary(level int) node {
	l := p.unary()
	for n := 0; ; n++ {
		op, tight := p.operator()
		if op == "" || tight < level {
			return l
		}
		if n > 2000 {
			return p.fail("it is too long")
		}
		p.i += len(op)
		next := tight + 1
		if op == "**" { // 2 ** 3 ** 2 is 2 ** (3 ** 2)
			next = tight
		}
		l = binary{op, l, p.binary(next)}
	}
}

func (p *parser) unary() node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.space()
	switch c := p.peek(); c {
	case '!', '~', '-', '+':
		if (c == '-' || c == '+') && strings.HasPrefix(p.s[p.i+1:], string(c)) {
			return p.fail("it uses %c%c", c, c)
		}
		p.i++
		of := p.unary()
		if n, ok := of.(float64); ok && (c == '-' || c == '+') {
			if c == '-' {
				n = -n
			}
			return n
		}
		return unary{string(c), of}
	}
	if p.keyword("typeof") {
		return unary{"typeof", p.unary()}
	}
	return p.postfix()
}

// postfix reads what stands after a value: members and calls.
func (p *parser) postfix() node {
	e := p.primary()
	for n := 0; ; n++ {
		if n > 2000 {
			return p.fail("it is too long")
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
			p.i++
			e = call{e, p.items(")"), optional}
		case c == '[':
			p.i++
			e = index{e, p.expression(), optional}
			p.need("]")
		case c == '.' || optional:
			if !optional {
				p.i++
			}
			w := p.word()
			if w == "" {
				return p.unexpected()
			}
			e = dot{e, w, optional}
		case c == '`':
			return p.fail("it has a tagged template")
		case !newline && (strings.HasPrefix(p.s[p.i:], "++") || strings.HasPrefix(p.s[p.i:], "--")):
			return p.fail("it uses %s", p.s[p.i:p.i+2])
		default:
			if newline {
				p.i = mark
			}
			return e
		}
	}
}

// items reads expressions with commas between them up to a sign.
func (p *parser) items(end string) []node {
	out := []node{}
	for {
		if p.sign(end) {
			return out
		}
		if p.peek() == ',' && end == "]" {
			p.i++
			out = append(out, nil)
			continue
		}
		isSpread := p.sign("...")
		e := p.expression()
		if isSpread {
			e = spread{e}
		}
		out = append(out, e)
		if !p.sign(",") {
			p.need(end)
			return out
		}
	}
}

func (p *parser) primary() node {
	p.space()
	switch c := p.peek(); {
	case c == '"' || c == '\'' || '0' <= c && c <= '9' || c == '.':
		return p.literal()
	case c == '`':
		return p.template()
	case c == '(':
		p.i++
		e := p.expression()
		p.need(")")
		return e
	case c == '[':
		p.i++
		items := p.items("]")
		if slices.ContainsFunc(items, func(e node) bool { return !isValue(e) }) {
			return list{items}
		}
		return items
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
		f, _ := p.functionExpr()
		return f
	case "async":
		return p.async()
	case "new", "await", "delete", "void":
		p.i += len(w)
		p.unary()
		return fails{unsupported("it uses %s", w)}
	case "class", "yield", "import":
		return p.fail("it uses %s", w)
	}
	value, known := words[w]
	if !known && reserved(w) {
		return p.unexpected()
	}
	if p.i += len(w); known {
		return value
	}
	return name{w}
}

// words are the words that stand for values.
var words = map[string]node{
	"true": true, "false": false, "null": nil, "undefined": nil, "Infinity": math.Inf(1), "this": fails{unsupported("it uses this")},
}

// regexp reads a regular expression, which nothing here can use.
func (p *parser) regexp() node {
	end, ok := regexpEnd(p.s, p.i)
	if p.i = end; !ok {
		return p.fail("a regular expression in it does not end")
	}
	return fails{unsupported("it has a regular expression")}
}

func (p *parser) literal() node {
	if c := p.s[p.i]; c == '"' || c == '\'' {
		text, end, ok := quoted(p.s, p.i+1, c)
		if !ok {
			if end >= len(p.s) || p.s[end] == '\n' {
				return p.fail("a string in it does not end")
			}
			return p.unexpected()
		}
		p.i = end + 1
		return text
	}
	end := numberEnd(p.s, p.i)
	n, ok := parseNumber(p.s[p.i:end])
	if !ok {
		return p.unexpected()
	}
	p.i = end
	return n
}

// template reads `…${…}…`. One without expressions is a text.
func (p *parser) template() node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	var t template
	for {
		text, end, ok := quoted(p.s, p.i+1, '`')
		if p.i = end; !ok {
			if end >= len(p.s) {
				return p.fail("a template in it does not end")
			}
			return p.fail("a template in it has an escape that is not known")
		}
		if p.peek() == '`' {
			if p.i++; t.parts == nil {
				return text
			}
			t.texts = append(t.texts, text)
			return t
		}
		t.texts = append(t.texts, text)
		p.i += 2 // ${
		t.parts = append(t.parts, p.expression())
		if p.space(); p.peek() != '}' {
			return p.unexpected()
		}
	}
}

func (p *parser) object() node {
	var o object
	p.i++ // {
	for {
		if p.sign("}") {
			return o.folded()
		}
		if p.sign("...") {
			o.members = append(o.members, memberExpr{value: spread{p.expression()}})
		} else {
			m, shorthand := p.key()
			switch {
			case p.sign(":"):
				m.value = p.expression()
			case p.peek() == '(':
				return p.fail("it has a method")
			case shorthand && !reserved(m.key):
				m.value = name{m.key}
			default:
				return p.unexpected()
			}
			o.members = append(o.members, m)
		}
		if !p.sign(",") {
			p.need("}")
			return o.folded()
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
func (p *parser) key() (m memberExpr, shorthand bool) {
	p.space()
	switch c := p.peek(); {
	case c == '[':
		p.i++
		m.computed = p.expression()
		p.need("]")
		return m, false
	case c == '"' || c == '\'' || '0' <= c && c <= '9':
		m.key, _ = text(p.literal())
		return m, false
	}
	if m.key = p.word(); m.key == "" {
		p.unexpected()
	}
	return m, true
}
