package expr

import "strings"

// Eval returns the value of an expression. That of a literal is there even if
// the Machine has no steps left.
func (m *Machine) Eval(e Expr, sc *Scope) (any, error) {
	if isValue(e.e) {
		return e.e, nil
	}
	return m.eval(e.e, sc)
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
func (m *Machine) Value(a Attr, sc *Scope) (any, error) { return m.eval(a.value, sc) }

// Children evaluates an element's children one by one: texts are strings,
// expressions have their values, or an error that says why they have none.
func (m *Machine) Children(e *Element, sc *Scope, each func(v any, err error)) {
	for _, c := range e.children {
		each(m.eval(c, sc))
	}
}

// Call calls a function.
func (m *Machine) Call(f *Function, args ...any) (any, error) {
	if m.depth++; m.depth > maxDepth {
		m.depth--
		return nil, unsupported("its calls nest too deeply")
	}
	defer func() { m.depth-- }()
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
		if err := m.bind(p, v, sc); err != nil {
			return nil, err
		}
	}
	if f.block == nil {
		return m.eval(f.body, sc)
	}
	v, _, err := m.run(f.block, sc)
	return v, err
}

// run executes statements up to a return.
func (m *Machine) run(block []stmt, sc *Scope) (v any, returned bool, err error) {
	for _, s := range block {
		if err := m.charge(1); err != nil {
			return nil, false, err
		}
		switch s := s.(type) {
		case declare:
			for _, d := range s.targets {
				var v any
				if d.value != nil {
					if v, err = m.eval(d.value, sc); err != nil {
						return nil, false, err
					}
				}
				if err := m.bind(d.into, v, sc); err != nil {
					return nil, false, err
				}
			}
		case returns:
			v, err := m.eval(s.value, sc)
			return v, true, err
		case fails:
			return nil, false, s.err
		case blockOf:
			if v, returned, err := m.run(s.body, NewScope(sc)); returned || err != nil {
				return v, returned, err
			}
		case branch:
			test, err := m.eval(s.test, sc)
			if err != nil {
				return nil, false, err
			}
			body := s.other
			if Truthy(test) {
				body = s.then
			}
			if v, returned, err := m.run(body, NewScope(sc)); returned || err != nil {
				return v, returned, err
			}
		}
	}
	return nil, false, nil
}

// bind gives a value to a name, or destructures it.
func (m *Machine) bind(p param, v any, sc *Scope) error {
	if err := m.charge(1); err != nil {
		return err
	}
	var err error
	if v == nil && p.fallback != nil {
		if v, err = m.eval(p.fallback, sc); err != nil {
			return err
		}
	}
	switch p.kind {
	case 'o':
		if v == nil {
			return unsupported("cannot destructure null or undefined")
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
			part, err := m.get(v, q.key)
			if err != nil {
				return err
			}
			if err := m.bind(q.into, part, sc); err != nil {
				return err
			}
		}
	case 'l':
		items, ok := v.([]any)
		if !ok {
			return unsupported("cannot destructure a value that is not a list")
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
			if err := m.bind(*q, part, sc); err != nil {
				return err
			}
		}
	default:
		sc.Set(p.name, v)
	}
	return nil
}

func (m *Machine) eval(e node, sc *Scope) (any, error) {
	if err := m.charge(1); err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case nil, string, float64, bool, []any, Object:
		return e, nil
	case fails:
		return nil, e.err
	case name:
		v, ok := sc.Lookup(e.name)
		if ok {
			return m.Force(v)
		}
		if v, ok := global(e.name); ok {
			return v, nil
		}
		return nil, unsupported("%s is not defined", e.name)
	case template:
		return m.template(e, sc)
	case list:
		return m.list(e.items, sc)
	case object:
		return m.object(e, sc)
	case function:
		return &Function{params: e.params, body: e.body, block: e.block, scope: sc}, nil
	case *Element:
		if m.depth++; m.depth > maxDepth {
			m.depth--
			return nil, unsupported("it is nested too deeply")
		}
		defer func() { m.depth-- }()
		return m.Host.Element(m, e, sc)
	case dot:
		of, ok, err := m.owner(e.of, e.optional, sc)
		if !ok {
			return nil, err
		}
		return m.get(of, e.name)
	case index:
		of, ok, err := m.owner(e.of, e.optional, sc)
		if !ok {
			return nil, err
		}
		at, err := m.eval(e.at, sc)
		if err != nil {
			return nil, err
		}
		return m.at(of, at)
	case call:
		return m.call(e, sc)
	case unary:
		return m.unary(e, sc)
	case binary:
		return m.binary(e, sc)
	case ternary:
		test, err := m.eval(e.test, sc)
		if err != nil {
			return nil, err
		}
		if Truthy(test) {
			return m.eval(e.then, sc)
		}
		return m.eval(e.other, sc)
	}
	return nil, unsupported("it is not understood")
}

// template puts the values of a template's expressions between its texts.
func (m *Machine) template(e template, sc *Scope) (any, error) {
	var b strings.Builder
	for i, t := range e.texts {
		b.WriteString(t)
		if i == len(e.parts) {
			break
		}
		v, err := m.eval(e.parts[i], sc)
		if err != nil {
			return nil, err
		}
		s, ok := m.text(v)
		if !ok {
			return nil, unsupported("a template in it has a value that is not text")
		}
		b.WriteString(s)
		if err := m.grown(b.Len()); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}

// owner evaluates that of which a member is asked for; ok is false where the
// chain ends, with nothing or with an error.
func (m *Machine) owner(e node, optional bool, sc *Scope) (of any, ok bool, err error) {
	of, err = m.eval(e, sc)
	return of, err == nil && (of != nil || !optional && !isOptional(e)), err
}

// isOptional reports whether a chain of members asks with ?. anywhere: then the
// whole chain ends where there is nothing.
func isOptional(e node) bool {
	for {
		switch x := e.(type) {
		case dot:
			if x.optional {
				return true
			}
			e = x.of
		case index:
			if x.optional {
				return true
			}
			e = x.of
		case call:
			if x.optional {
				return true
			}
			e = x.of
		default:
			return false
		}
	}
}

// list evaluates items, spreads among them.
func (m *Machine) list(items []node, sc *Scope) ([]any, error) {
	out := make([]any, 0, len(items))
	for _, item := range items {
		sp, isSpread := item.(spread)
		if isSpread {
			item = sp.of
		}
		v, err := m.eval(item, sc)
		if err != nil {
			return nil, err
		}
		switch {
		case !isSpread:
			out = append(out, v)
		default:
			part, ok := iterate(v)
			if !ok {
				return nil, unsupported("it spreads a value that is not a list")
			}
			out = append(out, part...)
			if err := m.charge(len(part)); err != nil {
				return nil, err
			}
		}
		if len(out) > maxList {
			return nil, unsupported("a list in it is too long")
		}
	}
	return out, nil
}

func (m *Machine) object(e object, sc *Scope) (any, error) {
	out := make(Object, 0, len(e.members))
	for _, member := range e.members {
		if sp, ok := member.value.(spread); ok {
			v, err := m.eval(sp.of, sc)
			if err != nil {
				return nil, err
			}
			o, ok := v.(Object)
			if !ok && v != nil && v != false {
				return nil, unsupported("it spreads a value that is not an object")
			}
			for _, x := range o {
				if out = set(out, x.Key, x.Value); len(out) > maxMembers {
					return nil, unsupported("an object in it is too large")
				}
			}
			if err := m.charge(len(o)); err != nil {
				return nil, err
			}
			continue
		}
		key := member.key
		if member.computed != nil {
			k, err := m.eval(member.computed, sc)
			if err != nil {
				return nil, err
			}
			var ok bool
			if key, ok = m.text(k); !ok {
				return nil, unsupported("a key in it is not text")
			}
		}
		v, err := m.eval(member.value, sc)
		if err != nil {
			return nil, err
		}
		if out = set(out, key, v); len(out) > maxMembers {
			return nil, unsupported("an object in it is too large")
		}
	}
	return out, nil
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

func (m *Machine) call(e call, sc *Scope) (any, error) {
	args, err := func() ([]any, error) { return m.list(e.args, sc) }, error(nil)
	if d, ok := e.of.(dot); ok {
		of, ok, err := m.owner(d.of, d.optional || e.optional, sc)
		if !ok {
			return nil, err
		}
		if o, ok := of.(Object); ok {
			member, _ := o.Get(d.name)
			if f, ok := member.(*Function); ok {
				list, err := args()
				if err != nil {
					return nil, err
				}
				return m.Call(f, list...)
			}
		}
		list, err := args()
		if err != nil {
			return nil, err
		}
		if space, ok := of.(Namespace); ok {
			return m.static(string(space)+"."+d.name, list)
		}
		return m.method(of, d.name, list)
	}
	if n, ok := e.of.(name); ok {
		if _, known := sc.Lookup(n.name); !known {
			if _, known := global(n.name); !known {
				return nil, unsupported("it calls %s", n.name)
			}
		}
	}
	f, err := m.eval(e.of, sc)
	if err != nil || f == nil && e.optional {
		return nil, err
	}
	list, err := args()
	if err != nil {
		return nil, err
	}
	return m.callValue(f, list...)
}

// callValue calls a function of the source or one of the language's.
func (m *Machine) callValue(f any, args ...any) (any, error) {
	switch f := f.(type) {
	case *Function:
		return m.Call(f, args...)
	case Namespace:
		return m.static(string(f), args)
	}
	return nil, unsupported("it calls a value that is not a function")
}
