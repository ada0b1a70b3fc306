package expr

import "strings"

// arrow reads an arrow function, if there is one.
func (p *parser) arrow() (node, bool, error) {
	start := p.i
	var params []param
	switch c := p.peek(); {
	case c == '(':
		p.i++
		var ok bool
		if params, ok = p.params(); !ok {
			p.i = start
			return nil, false, nil
		}
	default:
		w := p.peekWord()
		if reserved(w) {
			return nil, false, nil
		}
		p.i += len(w)
		params = []param{{name: w, kind: 'n'}}
	}
	p.space()
	if !strings.HasPrefix(p.s[p.i:], "=>") {
		p.i = start
		return nil, false, nil
	}
	p.i += 2
	f := function{params: params}
	var err error
	if p.space(); p.peek() == '{' {
		f.block, err = p.body()
	} else {
		f.body, err = p.expression()
	}
	return f, true, err
}

// functionExpr reads function name(…) {…}.
func (p *parser) functionExpr() (f function, name string, err error) {
	p.word()
	if p.sign("*") {
		return f, "", unsupported("it has a generator")
	}
	name = p.word()
	if err := p.need("("); err != nil {
		return f, name, err
	}
	var ok bool
	if f.params, ok = p.params(); !ok {
		return f, name, p.unexpected()
	}
	if p.space(); p.peek() != '{' {
		return f, name, p.unexpected()
	}
	f.block, err = p.body()
	return f, name, err
}

// async reads an asynchronous function, which nobody may call.
func (p *parser) async() (node, error) {
	p.word()
	p.space()
	if p.peekWord() == "function" {
		_, _, err := p.functionExpr()
		return fails{unsupported("it is asynchronous")}, err
	}
	_, ok, err := p.arrow()
	if !ok && err == nil {
		err = p.unexpected()
	}
	return fails{unsupported("it is asynchronous")}, err
}

// body reads the body of a function. One that can't be read is passed over:
// that matters only when the function is called.
func (p *parser) body() ([]stmt, error) {
	start := p.i
	block, err := p.block()
	if err == nil {
		return block, nil
	}
	p.i = start
	if p.budget < 0 || !p.skip() {
		return nil, err
	}
	return []stmt{fails{err}}, nil
}

// skip passes over a block in braces; it reports false when it does not end.
func (p *parser) skip() bool {
	j := Scanner{Text: p.s, At: p.i}
	ok := j.block()
	p.budget -= j.At - p.i
	p.i = j.At
	return ok
}

// params reads parameters up to the closing parenthesis; ok is false where
// something else stands.
func (p *parser) params() (out []param, ok bool) {
	if p.enter() != nil {
		return nil, false
	}
	defer p.leave()
	for {
		if p.sign(")") {
			return out, true
		}
		q, ok := p.param()
		if !ok {
			return nil, false
		}
		out = append(out, q)
		if !p.sign(",") {
			return out, p.sign(")")
		}
	}
}

// param reads a parameter or a declaration's target, with its default.
func (p *parser) param() (q param, ok bool) {
	if p.enter() != nil {
		return q, false
	}
	defer p.leave()
	q.rest = p.sign("...")
	p.space()
	switch p.peek() {
	case '{':
		q.kind = 'o'
		p.i++
		for !p.sign("}") {
			if p.sign("...") {
				w := p.word()
				if reserved(w) {
					return q, false
				}
				q.object = append(q.object, paramMember{into: param{name: w, kind: 'n', rest: true}})
			} else {
				m, shorthand, err := p.key()
				if err != nil || m.computed != nil {
					return q, false
				}
				into := param{name: m.key, kind: 'n'}
				switch {
				case p.sign(":"):
					if into, ok = p.param(); !ok {
						return q, false
					}
				case !shorthand || reserved(m.key):
					return q, false
				case !p.fallback(&into):
					return q, false
				}
				q.object = append(q.object, paramMember{m.key, into})
			}
			if !p.sign(",") {
				if !p.sign("}") {
					return q, false
				}
				break
			}
		}
	case '[':
		q.kind = 'l'
		p.i++
		for !p.sign("]") {
			if p.peek() == ',' {
				p.i++
				q.list = append(q.list, nil)
				continue
			}
			item, ok := p.param()
			if !ok {
				return q, false
			}
			q.list = append(q.list, &item)
			if !p.sign(",") {
				if !p.sign("]") {
					return q, false
				}
				break
			}
		}
	default:
		if q.name = p.word(); reserved(q.name) {
			return q, false
		}
		q.kind = 'n'
	}
	return q, p.fallback(&q)
}

// fallback reads "= default"; it reports false when that is wrong.
func (p *parser) fallback(q *param) bool {
	p.space()
	rest := p.s[p.i:]
	if !strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "=>") {
		return true
	}
	p.i++
	e, err := p.expression()
	q.fallback = e
	return err == nil
}

// block reads statements in braces.
func (p *parser) block() ([]stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.i++ // {
	out := []stmt{}
	for {
		p.space()
		switch p.peek() {
		case '}':
			p.i++
			return out, nil
		case 0:
			return nil, unsupported("it ends too early")
		}
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
}

func (p *parser) statement() (stmt, error) {
	p.space()
	switch c := p.peek(); c {
	case ';':
		p.i++
		return nil, nil
	case '{':
		body, err := p.block()
		return blockOf{body}, err
	}
	switch w := p.peekWord(); w {
	case "const", "let", "var":
		p.i += len(w)
		var d declare
		for {
			into, ok := p.param()
			if !ok {
				return nil, p.unexpected()
			}
			// What looked like a default is the value.
			d.targets = append(d.targets, declaration{into.withoutFallback(), into.fallback})
			if !p.sign(",") {
				return d, p.end()
			}
		}
	case "return":
		p.i += len(w)
		if newline := p.space(); newline || p.peek() == ';' || p.peek() == '}' {
			return returns{}, p.end()
		}
		e, err := p.expression()
		if err != nil {
			return nil, err
		}
		return returns{e}, p.end()
	case "if":
		p.i += len(w)
		if err := p.need("("); err != nil {
			return nil, err
		}
		var b branch
		var err error
		if b.test, err = p.expression(); err != nil {
			return nil, err
		}
		if err := p.need(")"); err != nil {
			return nil, err
		}
		if b.then, err = p.statements(); err != nil {
			return nil, err
		}
		if p.keyword("else") {
			b.other, err = p.statements()
		}
		return b, err
	case "function":
		f, name, err := p.functionExpr()
		return declare{[]declaration{{param{name: name, kind: 'n'}, f}}}, err
	case "for", "while", "do":
		return nil, unsupported("it has a loop")
	case "switch", "try", "throw", "class":
		return nil, unsupported("it uses %s", w)
	}
	e, err := p.expression()
	if err != nil {
		return nil, err
	}
	if f, ok := e.(fails); ok {
		return f, p.end()
	}
	if _, ok := e.(string); ok { // "use client"
		return nil, p.end()
	}
	return fails{unsupported("it does something besides returning a value")}, p.end()
}

// withoutFallback is the target of a declaration.
func (q param) withoutFallback() param {
	q.fallback = nil
	return q
}

// statements reads one statement as a list.
func (p *parser) statements() ([]stmt, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	s, err := p.statement()
	if b, ok := s.(blockOf); ok {
		return b.body, err
	}
	if s == nil {
		return nil, err
	}
	return []stmt{s}, err
}

// end reads the end of a statement.
func (p *parser) end() error {
	p.space()
	newline := p.line == p.i
	switch {
	case p.peek() == ';':
		p.i++
	case newline || p.peek() == '}' || p.i >= len(p.s):
	default:
		return p.unexpected()
	}
	return nil
}
