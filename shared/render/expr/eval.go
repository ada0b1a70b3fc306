package expr

import "strings"

// Eval returns the value of an expression. That of a literal is there even if
// the Machine has no steps left.
func (m *Machine) Eval(e Expr, sc *Scope) (any, error) {
	if isValue(e.e) {
		return e.e, nil
	}
	return m.guarded(func() any { return m.eval(e.e, sc) })
}

// guarded returns what a function of the evaluation returns, or the error that
// it failed with.
func (m *Machine) guarded(of func() any) (v any, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			v, err = nil, p.error
		default:
			panic(p)
		}
	}()
	return of(), nil
}

// failure is the panic with which an evaluation ends at an error. It never
// leaves the package: guarded makes an error of it again.
type failure struct{ error }

func fail(format string, args ...any) { panic(failure{unsupported(format, args...)}) }

// done returns a value, or ends the evaluation at the error beside it.
func done[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

// Force returns the value of a constant, which is evaluated when it is first
// asked for. Other values are returned as they are.
func (m *Machine) Force(v any) (any, error) {
	if o, ok := v.(Opaque); ok {
		return nil, &Unsupported{o.Reason}
	}
	l, ok := v.(*Lazy)
	if !ok {
		return v, nil
	}
	if l.done {
		return l.value, l.err
	}
	if l.busy {
		return nil, unsupported("a constant refers to itself")
	}
	l.busy = true
	defer func() { l.busy = false }()
	e, err := Parse(l.Source)
	if err == nil {
		l.value, err = m.Eval(e, l.Scope)
	}
	l.err, l.done = err, true
	return l.value, l.err
}

// Value returns the value of an attribute.
func (m *Machine) Value(a Attr, sc *Scope) (any, error) { return m.Eval(Expr{a.value}, sc) }

// Children evaluates an element's children one by one: texts are strings,
// expressions have their values, or an error that says why they have none.
func (m *Machine) Children(e *Element, sc *Scope, each func(c Child, v any, err error)) {
	for _, c := range e.children {
		v, err := m.guarded(func() any { return m.eval(c.of, sc) })
		each(c, v, err)
	}
}

// Call calls a function.
func (m *Machine) Call(f *Function, args ...any) (any, error) {
	return m.guarded(func() any { return m.apply(f, args) })
}

func (m *Machine) apply(f *Function, args []any) any {
	m.depth++
	defer func() { m.depth-- }()
	if m.depth > maxDepth {
		fail("its calls nest too deeply")
	}
	sc := NewScope(f.scope)
	for i, p := range f.params {
		var v any
		switch {
		case p.rest:
			rest := []any{}
			if i < len(args) {
				rest = append(rest, args[i:]...)
			}
			v = rest
		case i < len(args):
			v = args[i]
		}
		m.bind(p, v, sc)
	}
	if f.block == nil {
		return m.eval(f.body, sc)
	}
	v, _ := m.run(f.block, sc)
	return v
}

// run executes statements up to a return.
func (m *Machine) run(block []stmt, sc *Scope) (v any, returned bool) {
	for _, s := range block {
		m.charge(1)
		switch s := s.(type) {
		case declare:
			for _, d := range s.targets {
				var v any
				if d.value != nil {
					v = m.eval(d.value, sc)
				}
				m.bind(d.into, v, sc)
			}
		case returns:
			return m.eval(s.value, sc), true
		case fails:
			panic(failure{s.err})
		case blockOf:
			v, returned = m.run(s.body, NewScope(sc))
		case branch:
			body := s.other
			if truthy(m.eval(s.test, sc)) {
				body = s.then
			}
			v, returned = m.run(body, NewScope(sc))
		}
		if returned {
			return v, true
		}
	}
	return nil, false
}

// bind gives a value to a name, or destructures it.
func (m *Machine) bind(p param, v any, sc *Scope) {
	m.charge(1)
	if v == nil && p.fallback != nil {
		v = m.eval(p.fallback, sc)
	}
	switch p.kind {
	case 'o':
		if v == nil {
			fail("cannot destructure null or undefined")
		}
		taken := map[string]bool{}
		for _, q := range p.object {
			if q.into.rest {
				var rest Object
				o, _ := v.(Object)
				for _, x := range o {
					if !taken[x.Key] {
						rest = append(rest, x)
					}
				}
				sc.Set(q.into.name, rest)
				continue
			}
			taken[q.key] = true
			m.bind(q.into, m.get(v, q.key), sc)
		}
	case 'l':
		items, ok := v.([]any)
		if !ok {
			fail("cannot destructure a value that is not a list")
		}
		for i, q := range p.list {
			if q == nil {
				continue
			}
			var part any
			if q.rest {
				part = append([]any{}, items[min(i, len(items)):]...)
			} else if i < len(items) {
				part = items[i]
			}
			m.bind(*q, part, sc)
		}
	default:
		sc.Set(p.name, v)
	}
}

func (m *Machine) eval(e node, sc *Scope) any {
	m.charge(1)
	switch e := e.(type) {
	case nil, string, float64, bool, []any, Object:
		return e
	case fails:
		panic(failure{e.err})
	case name:
		if v, ok := sc.Lookup(e.name); ok {
			return done(m.Force(v))
		}
		v, ok := global(e.name)
		if !ok {
			fail("%s is not defined", e.name)
		}
		return v
	case template:
		return m.template(e, sc)
	case list:
		return m.list(e.items, sc)
	case object:
		return m.object(e, sc)
	case function:
		return &Function{params: e.params, body: e.body, block: e.block, scope: sc}
	case *Element:
		m.depth++
		defer func() { m.depth-- }()
		if m.depth > maxDepth {
			fail("it is nested too deeply")
		}
		return done(m.Host.Element(m, e, sc))
	case dot:
		of, ok := m.owner(e.of, e.optional, sc)
		if !ok {
			return nil
		}
		return m.get(of, e.name)
	case index:
		of, ok := m.owner(e.of, e.optional, sc)
		if !ok {
			return nil
		}
		return m.at(of, m.eval(e.at, sc))
	case call:
		return m.call(e, sc)
	case unary:
		return m.unary(e, sc)
	case binary:
		return m.binary(e, sc)
	case ternary:
		if truthy(m.eval(e.test, sc)) {
			return m.eval(e.then, sc)
		}
		return m.eval(e.other, sc)
	}
	fail("it is not understood")
	return nil
}

// template puts the values of a template's expressions between its texts.
func (m *Machine) template(e template, sc *Scope) string {
	var b strings.Builder
	for i, t := range e.texts {
		b.WriteString(t)
		if i == len(e.parts) {
			break
		}
		s, ok := m.text(m.eval(e.parts[i], sc))
		if !ok {
			fail("a template in it has a value that is not text")
		}
		b.WriteString(s)
		m.grown(b.Len())
	}
	return b.String()
}

// owner evaluates that of which a member is asked for; ok is false where the
// chain ends with nothing.
func (m *Machine) owner(e node, optional bool, sc *Scope) (of any, ok bool) {
	of = m.eval(e, sc)
	return of, of != nil || !optional && !isOptional(e)
}

// isOptional reports whether a chain of members asks with ?. anywhere: then the
// whole chain ends where there is nothing.
func isOptional(e node) bool {
	switch x := e.(type) {
	case dot:
		return x.optional || isOptional(x.of)
	case index:
		return x.optional || isOptional(x.of)
	case call:
		return x.optional || isOptional(x.of)
	}
	return false
}

// list evaluates items, spreads among them.
func (m *Machine) list(items []node, sc *Scope) []any {
	out := make([]any, 0, len(items))
	for _, item := range items {
		sp, isSpread := item.(spread)
		if isSpread {
			item = sp.of
		}
		v := m.eval(item, sc)
		if !isSpread {
			out = append(out, v)
		} else {
			part, ok := iterate(v)
			if !ok {
				fail("it spreads a value that is not a list")
			}
			out = append(out, part...)
			m.charge(len(part))
		}
		if len(out) > maxList {
			fail("a list in it is too long")
		}
	}
	return out
}

func (m *Machine) object(e object, sc *Scope) Object {
	out := make(Object, 0, len(e.members))
	for _, member := range e.members {
		if sp, ok := member.value.(spread); ok {
			v := m.eval(sp.of, sc)
			o, ok := v.(Object)
			if !ok && v != nil && v != false {
				fail("it spreads a value that is not an object")
			}
			for _, x := range o {
				if out = set(out, x.Key, x.Value); len(out) > maxMembers {
					fail("an object in it is too large")
				}
			}
			m.charge(len(o))
			continue
		}
		key := member.key
		if member.computed != nil {
			var ok bool
			if key, ok = m.text(m.eval(member.computed, sc)); !ok {
				fail("a key in it is not text")
			}
		}
		if out = set(out, key, m.eval(member.value, sc)); len(out) > maxMembers {
			fail("an object in it is too large")
		}
	}
	return out
}

// set puts a member into an object that is still being made; a later one of
// the same name takes the earlier one's place.
func set(o Object, key string, v any) Object {
	for i := range o {
		if o[i].Key == key {
			o[i].Value = v
			return o
		}
	}
	return append(o, Member{Key: key, Value: v})
}

func (m *Machine) call(e call, sc *Scope) any {
	if d, ok := e.of.(dot); ok {
		of, ok := m.owner(d.of, d.optional || e.optional, sc)
		if !ok {
			return nil
		}
		if o, ok := of.(Object); ok {
			member, _ := o.Get(d.name)
			if f, ok := member.(*Function); ok {
				return m.apply(f, m.list(e.args, sc))
			}
		}
		list := m.list(e.args, sc)
		if space, ok := of.(Namespace); ok {
			return m.static(string(space)+"."+d.name, list)
		}
		return m.method(of, d.name, list)
	}
	if n, ok := e.of.(name); ok {
		if _, known := sc.Lookup(n.name); !known {
			if _, known := global(n.name); !known {
				fail("it calls %s", n.name)
			}
		}
	}
	f := m.eval(e.of, sc)
	if f == nil && e.optional {
		return nil
	}
	return m.callValue(f, m.list(e.args, sc)...)
}

// callValue calls a function of the source or one of the language's.
func (m *Machine) callValue(f any, args ...any) any {
	switch f := f.(type) {
	case *Function:
		return m.apply(f, args)
	case Namespace:
		return m.static(string(f), args)
	}
	fail("it calls a value that is not a function")
	return nil
}
