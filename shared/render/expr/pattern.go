package expr

import "strings"

// arrow reads an arrow function, if there is one.
func (p *parser) arrow() (node, bool) {
	start := p.i
	var params []param
	switch c := p.peek(); {
	case c == '(':
		p.i++
		var ok bool
		if params, ok = p.params(); !ok {
			p.back(start)
			return nil, false
		}
	default:
		w := p.peekWord()
		if reserved(w) {
			return nil, false
		}
		p.i += len(w)
		params = []param{{name: w, kind: 'n'}}
	}
	p.space()
	if !strings.HasPrefix(p.s[p.i:], "=>") {
		p.i = start
		return nil, false
	}
	p.i += 2
	f := function{params: params}
	if p.space(); p.peek() == '{' {
		f.block = p.body()
	} else {
		f.body = p.expression()
	}
	return f, true
}

func (p *parser) functionExpr() (f function, name string) {
	p.word()
	if p.sign("*") {
		p.fail("it has a generator")
	}
	name = p.word()
	p.need("(")
	var ok bool
	if f.params, ok = p.params(); !ok {
		p.unexpected()
	}
	if p.space(); p.peek() != '{' {
		p.unexpected()
		return f, name
	}
	f.block = p.body()
	return f, name
}

// async reads an asynchronous function, which nobody may call.
func (p *parser) async() node {
	p.word()
	p.space()
	if p.peekWord() == "function" {
		p.functionExpr()
	} else if _, ok := p.arrow(); !ok {
		p.unexpected()
	}
	return fails{unsupported("it is asynchronous")}
}

// body reads the body of a function. One that can't be read is passed over:
// that matters only when the function is called.
func (p *parser) body() []stmt {
	start := p.i
	block := p.block()
	err := p.err
	if err == nil {
		return block
	}
	if p.back(start); p.budget < 0 || !p.skip() {
		p.err = err
		return nil
	}
	return []stmt{fails{err}}
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
	if !p.enter() {
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
	if !p.enter() {
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
				m, shorthand := p.key()
				if p.err != nil || m.computed != nil {
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
	q.fallback = p.expression()
	return p.err == nil
}

func (p *parser) block() []stmt {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.i++ // {
	out := []stmt{}
	for {
		p.space()
		switch p.peek() {
		case '}':
			p.i++
			return out
		case 0:
			p.fail("it ends too early")
			return nil
		}
		if s := p.statement(); s != nil {
			out = append(out, s)
		}
	}
}

func (p *parser) statement() stmt {
	p.space()
	switch c := p.peek(); c {
	case ';':
		p.i++
		return nil
	case '{':
		return blockOf{p.block()}
	}
	switch w := p.peekWord(); w {
	case "const", "let", "var":
		p.i += len(w)
		var d declare
		for {
			into, ok := p.param()
			if !ok {
				return p.unexpected()
			}
			// What looked like a default is the value.
			d.targets = append(d.targets, declaration{into.withoutFallback(), into.fallback})
			if !p.sign(",") {
				p.end()
				return d
			}
		}
	case "return":
		p.i += len(w)
		var r returns
		if newline := p.space(); !newline && p.peek() != ';' && p.peek() != '}' {
			r.value = p.expression()
		}
		p.end()
		return r
	case "if":
		p.i += len(w)
		p.need("(")
		b := branch{test: p.expression()}
		p.need(")")
		b.then = p.statements()
		if p.keyword("else") {
			b.other = p.statements()
		}
		return b
	case "function":
		f, name := p.functionExpr()
		return declare{[]declaration{{param{name: name, kind: 'n'}, f}}}
	case "for", "while", "do":
		return p.fail("it has a loop")
	case "switch", "try", "throw", "class":
		return p.fail("it uses %s", w)
	}
	e := p.expression()
	p.end()
	switch e := e.(type) {
	case fails:
		return e
	case string: // "use client"
		return nil
	}
	return fails{unsupported("it does something besides returning a value")}
}

// withoutFallback is the target of a declaration.
func (q param) withoutFallback() param {
	q.fallback = nil
	return q
}

// statements reads one statement as a list.
func (p *parser) statements() []stmt {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	switch s := p.statement().(type) {
	case nil:
		return nil
	case blockOf:
		return s.body
	default:
		return []stmt{s}
	}
}

func (p *parser) end() {
	p.space()
	newline := p.line == p.i
	switch {
	case p.peek() == ';':
		p.i++
	case newline || p.peek() == '}' || p.i >= len(p.s):
	default:
		p.unexpected()
	}
}
