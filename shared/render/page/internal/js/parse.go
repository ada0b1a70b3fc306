package js

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Expr is an expression that was read.
type Expr struct{ e expr }

// Parse reads a source that is one expression.
func Parse(src *Source) (Expr, error) {
	p := &parser{src: src, s: src.Text, budget: 64*len(src.Text) + 10_000}
	e, err := p.whole()
	return Expr{e}, err
}

// parser reads a source without tokens: every method begins where the last
// one ended.
type parser struct {
	src    *Source
	s      string
	i      int
	depth  int
	budget int
	// line is the end of the last white space that a line ended in: a statement
	// may end there without a semicolon, whoever skipped it.
	line int
}

func (p *parser) whole() (expr, error) {
	p.space()
	if p.i >= len(p.s) {
		return literal{nil}, nil
	}
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	p.space()
	for p.i < len(p.s) && p.s[p.i] == ';' {
		p.i++
		p.space()
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
	return unsupported("it has %q", strings.TrimSpace(rest))
}

// enter counts nesting and work.
func (p *parser) enter() error {
	p.depth++
	if p.budget--; p.depth > maxDepth || p.budget < 0 {
		return unsupported("it is nested too deep")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// space skips white space and comments, and reports whether a line ended.
func (p *parser) space() (newline bool) {
	defer func() {
		if newline {
			p.line = p.i
		}
	}()
	for p.i < len(p.s) {
		p.budget--
		switch c := p.s[p.i]; {
		case c == '\n':
			newline = true
			p.i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			p.i++
		case c == '/' && strings.HasPrefix(p.s[p.i:], "//"):
			if k := strings.IndexByte(p.s[p.i:], '\n'); k >= 0 {
				p.i += k
			} else {
				p.i = len(p.s)
			}
		case c == '/' && strings.HasPrefix(p.s[p.i:], "/*"):
			k := strings.Index(p.s[p.i+2:], "*/")
			if k < 0 {
				p.i = len(p.s)
				return newline
			}
			newline = newline || strings.Contains(p.s[p.i:p.i+k], "\n")
			p.i += k + 4
		default:
			if r, size := utf8.DecodeRuneInString(p.s[p.i:]); r >= utf8.RuneSelf && (unicode.IsSpace(r) || r == 0xfeff) {
				p.i += size
				continue
			}
			return newline
		}
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
	if strings.HasPrefix(p.s[p.i:], sign) {
		p.i += len(sign)
		return true
	}
	return false
}

func (p *parser) need(sign string) error {
	if !p.sign(sign) {
		return p.unexpected()
	}
	return nil
}

func isStart(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }
func isPart(r rune) bool {
	return isStart(r) || unicode.IsDigit(r) || r == 0x200c || r == 0x200d || unicode.Is(unicode.Mn, r)
}

// peekWord gives the name that is next, without taking it.
func (p *parser) peekWord() string {
	for k, r := range p.s[p.i:] {
		if k == 0 && !isStart(r) || !isPart(r) {
			return p.s[p.i : p.i+k]
		}
	}
	return p.s[p.i:]
}

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
func (p *parser) expression() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.space()
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

// operators lists binary operators by how tight they bind.
func operators(level int) []string {
	switch level {
	case 0:
		return []string{"??", "||"}
	case 1:
		return []string{"&&"}
	case 2:
		return []string{"===", "!==", "==", "!="}
	case 3:
		return []string{"<=", ">=", "<", ">"}
	case 4:
		return []string{"+", "-"}
	case 5:
		return []string{"**", "*", "/", "%"}
	}
	return nil
}

func (p *parser) operator(level int) string {
	p.space()
	rest := p.s[p.i:]
	for _, op := range operators(level) {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		after := byte(0)
		if len(rest) > len(op) {
			after = rest[len(op)]
		}
		switch op {
		case "+", "-":
			if after == op[0] {
				return "" // ++ and --: whoever reads on finds them
			}
			fallthrough
		case "*", "/", "%", "**", "&&", "||", "??":
			if after == '=' {
				return ""
			}
		case "<", ">":
			if after == op[0] {
				return ""
			}
		}
		p.i += len(op)
		return op
	}
	return ""
}

func (p *parser) binary(level int) (expr, error) {
	if level > 5 {
		return p.unary()
	}
	l, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		op := p.operator(level)
		if op == "" {
			return l, nil
		}
		if n > 2000 {
			return nil, unsupported("it is too long")
		}
		r, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		l = binary{op, l, r}
	}
}

func (p *parser) unary() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.space()
	switch c := p.peek(); c {
	case '!', '-', '+':
		if c != '!' && strings.HasPrefix(p.s[p.i+1:], string(c)) {
			return nil, unsupported("it counts with %c%c", c, c)
		}
		p.i++
		of, err := p.unary()
		return unary{string(c), of}, err
	}
	if p.keyword("typeof") {
		of, err := p.unary()
		return unary{"typeof", of}, err
	}
	return p.postfix()
}

// postfix reads what stands behind a value: members and calls.
func (p *parser) postfix() (expr, error) {
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
			return nil, unsupported("it counts with %s", p.s[p.i:p.i+2])
		default:
			if newline {
				p.i = mark
			}
			return e, nil
		}
	}
}

func (p *parser) arguments() ([]expr, error) {
	p.i++ // (
	return p.items(")")
}

// items reads expressions with commas between them up to a sign.
func (p *parser) items(end string) ([]expr, error) {
	var out []expr
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

func (p *parser) primary() (expr, error) {
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
		return list{items}, err
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
		return fails{unsupported("it has %s", w)}, err
	case "this":
		p.i += len(w)
		return fails{unsupported("it has this")}, nil
	case "class", "yield", "import":
		return nil, unsupported("it has %s", w)
	case "true", "false":
		p.i += len(w)
		return literal{w == "true"}, nil
	case "null", "undefined":
		p.i += len(w)
		return literal{nil}, nil
	}
	if reserved(w) {
		return nil, p.unexpected()
	}
	p.i += len(w)
	return name{w}, nil
}

// regexp reads a regular expression, which nothing here can use.
func (p *parser) regexp() (expr, error) {
	class := false
	for p.i++; p.i < len(p.s) && p.s[p.i] != '\n'; p.i++ {
		switch c := p.s[p.i]; {
		case c == '\\':
			p.i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			p.i++
			p.i += len(p.peekWord())
			return fails{unsupported("it has a regular expression")}, nil
		}
	}
	return nil, unsupported("a regular expression in it does not end")
}

// literal reads a string or a number.
func (p *parser) literal() (expr, error) {
	start := p.i
	if c := p.s[p.i]; c == '"' || c == '\'' {
		for p.i++; ; p.i++ {
			if p.i >= len(p.s) || p.s[p.i] == '\n' {
				return nil, unsupported("a string in it does not end")
			}
			if p.s[p.i] == '\\' {
				p.i++
			} else if p.s[p.i] == c {
				p.i++
				break
			}
		}
	} else {
		for p.i < len(p.s) {
			c := p.s[p.i]
			exponent := (c == '-' || c == '+') && p.s[p.i-1]|0x20 == 'e' && !strings.HasPrefix(p.s[start:], "0x")
			if !exponent && c != '.' && c != '_' && !isPart(rune(c)) {
				break
			}
			p.i++
		}
	}
	v, ok := mdx.EvalLiteral(p.s[start:min(p.i, len(p.s))])
	if !ok {
		p.i = start
		return nil, p.unexpected()
	}
	return literal{v}, nil
}

// template reads `…${…}…`.
func (p *parser) template() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var t template
	p.i++
	start := p.i
	text := func() error {
		// EvalLiteral knows the escapes.
		v, ok := mdx.EvalLiteral("`" + p.s[start:p.i] + "`")
		s, isText := v.(string)
		if !ok || !isText {
			return unsupported("a template in it has an escape that is not known")
		}
		t.texts = append(t.texts, s)
		return nil
	}
	for p.i < len(p.s) {
		switch {
		case p.s[p.i] == '\\':
			p.i += 2
		case p.s[p.i] == '`':
			err := text()
			p.i++
			return t, err
		case strings.HasPrefix(p.s[p.i:], "${"):
			if err := text(); err != nil {
				return nil, err
			}
			p.i += 2
			e, err := p.expression()
			if err != nil {
				return nil, err
			}
			if err := p.need("}"); err != nil {
				return nil, err
			}
			t.parts = append(t.parts, e)
			start = p.i
		default:
			p.i++
		}
	}
	return nil, unsupported("a template in it does not end")
}

func (p *parser) object() (expr, error) {
	var o object
	p.i++ // {
	for {
		if p.sign("}") {
			return o, nil
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
			return o, p.need("}")
		}
	}
}

// key reads the key of an object's member; shorthand tells that it may be its
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
		if err != nil {
			return m, false, err
		}
		m.key, _ = text(e.(literal).value)
		return m, false, nil
	}
	if m.key = p.word(); m.key == "" {
		return m, false, p.unexpected()
	}
	return m, true, nil
}
