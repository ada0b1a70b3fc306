package island

import (
	_ "embed" // for bounds.js
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

//go:embed bounds.js
var boundsScript string

// builtin is one of the engine's functions.
type builtin func(this goja.Value, args ...goja.Value) goja.Value

// wrapper does what a function of the engine does, within bounds.
type wrapper func(this goja.Value, args []goja.Value, do builtin) goja.Value

// must rethrows what a script threw.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// each wraps functions of an object; names are separated by spaces. Those that
// the engine doesn't have are left out.
func (m *meter) each(path, names string, w wrapper) error {
	v, err := m.eval(path)
	if err != nil {
		return err
	}
	o := v.ToObject(m.vm)
	for name := range strings.FieldsSeq(names) {
		bounded, err := m.wrap(o.Get(name), name, w)
		if err != nil {
			return err
		}
		if bounded == nil {
			continue
		}
		if err := o.DefineDataProperty(name, bounded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

// wrap makes the function that does what v does within bounds; nil if v is none.
func (m *meter) wrap(v goja.Value, name string, w wrapper) (goja.Value, error) {
	fn, ok := goja.AssertFunction(v)
	if !ok {
		return nil, nil
	}
	do := func(this goja.Value, args ...goja.Value) goja.Value { return must(fn(this, args...)) }
	bounded := m.vm.ToValue(func(c goja.FunctionCall) goja.Value { return w(c.This, c.Arguments, do) })
	return bounded, m.named(bounded, name, v.ToObject(m.vm).Get("length"))
}

func (m *meter) named(fn goja.Value, name string, length goja.Value) error {
	o := fn.ToObject(m.vm)
	if err := o.DefineDataProperty("name", m.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		return err
	}
	return o.DefineDataProperty("length", length, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// symbol wraps the function that an object has under a symbol.
func (m *meter) symbol(path string, symbol *goja.Symbol, w wrapper) error {
	v, err := m.eval(path)
	if err != nil {
		return err
	}
	o := v.ToObject(m.vm)
	bounded, err := m.wrap(o.GetSymbol(symbol), "["+symbol.String()+"]", w)
	if err != nil || bounded == nil {
		return err
	}
	return o.DefineDataPropertySymbol(symbol, bounded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// constructors stands before the engine's constructors: args may change their
// arguments.
func (m *meter) constructors(names string, args func(name string, args []goja.Value) []goja.Value) error {
	for name := range strings.FieldsSeq(names) {
		target, ok := m.vm.Get(name).(*goja.Object)
		if !ok {
			continue
		}
		var proxy *goja.Object
		call, _ := goja.AssertFunction(target)
		config := &goja.ProxyTrapConfig{Apply: func(_ *goja.Object, this goja.Value, list []goja.Value) goja.Value {
			return must(call(this, args(name, list)...))
		}}
		if make, ok := goja.AssertConstructor(target); ok {
			config.Construct = func(_ *goja.Object, list []goja.Value, as *goja.Object) *goja.Object {
				if as == proxy {
					as = target
				}
				return must(make(as, args(name, list)...))
			}
		}
		proxy = m.vm.ToValue(m.vm.NewProxy(target, config)).ToObject(m.vm)
		if err := m.vm.GlobalObject().DefineDataProperty(name, proxy, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
		// The engine's instanceof takes no proxy.
		is := m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			proto := c.This.ToObject(m.vm).Get("prototype")
			o, _ := c.Argument(0).(*goja.Object)
			for o != nil {
				if o = o.Prototype(); o != nil && o == proto {
					return m.vm.ToValue(true)
				}
			}
			return m.vm.ToValue(false)
		})
		if err := target.DefineDataPropertySymbol(goja.SymHasInstance, is, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			return err
		}
		if proto, ok := target.Get("prototype").(*goja.Object); ok {
			if err := proto.DefineDataProperty("constructor", proxy, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
				return err
			}
		}
	}
	return nil
}

// argument is one of a call's, undefined where it has none.
func argument(args []goja.Value, i int) goja.Value {
	if i < len(args) {
		return args[i]
	}
	return goja.Undefined()
}

// items is how many elements a list or text has.
func items(v goja.Value) int64 {
	switch v := v.(type) {
	case goja.String:
		return int64(v.Length())
	case *goja.Object:
		return lengthOf(v)
	}
	return 0
}

// bounds puts wrappers before the functions of the engine that make much of
// little.
func (m *meter) bounds() error {
	v, err := m.eval("Array.prototype[Symbol.iterator]")
	if err != nil {
		return err
	}
	m.values = v
	for _, step := range [...]func() error{m.texts, m.lists, m.objects, m.numbers, m.makers, m.regexps, m.code} {
		if err := step(); err != nil {
			return err
		}
	}
	// Lists that nobody changed are iterated over by what the engine has.
	_, err = m.eval(`(function (p, next) {
		Object.defineProperty(p, Symbol.iterator, { writable: false, configurable: false });
		Object.defineProperty(next, 'next', { writable: false, configurable: false });
	})(Array.prototype, Object.getPrototypeOf([][Symbol.iterator]()))`)
	return err
}

func (m *meter) texts() error {
	const proto = "String.prototype"
	v, err := m.eval(boundsScript)
	if err != nil {
		return err
	}
	substitutes, _ := goja.AssertFunction(v)
	if v, err = substitutes(nil, m.vm.ToValue(func(c goja.FunctionCall) goja.Value { return m.size(c.Argument(0)) })); err != nil {
		return err
	}
	m.replacer, _ = goja.AssertFunction(v)
	own := func(this goja.Value, do builtin) goja.String {
		if s, ok := this.(goja.String); ok {
			return s
		}
		if goja.IsUndefined(this) || goja.IsNull(this) {
			do(this) // throws
		}
		return m.text(this)
	}
	pad := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		s := own(this, do)
		n := m.vm.ToValue(argument(args, 0).ToInteger())
		m.units(n.ToInteger())
		if len(args) < 2 {
			return m.size(do(s, n))
		}
		return m.size(do(s, n, args[1]))
	}
	pieces := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		if n := items(this); n > bigText {
			m.charge(n * costPiece)
		}
		return m.size(do(this, args...))
	}
	part := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		v := do(this, args...)
		if m.isWide(v) { // else it is a part of the other's memory
			return m.size(v)
		}
		m.charge(costSlot)
		return v
	}
	return m.all(
		m.each(proto, "repeat", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			s, n := own(this, do), argument(args, 0).ToNumber()
			if f := n.ToFloat(); s.Length() > 0 && f > 0 && !math.IsInf(f, 1) {
				m.units(int64(min(f, maxText+1)) * int64(s.Length()))
			}
			return m.size(do(s, n))
		}),
		m.each(proto, "padStart padEnd", pad),
		m.each(proto, "concat", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			parts := []goja.String{own(this, do)}
			for _, a := range args {
				parts = append(parts, m.text(a))
			}
			return m.joined(parts, nil)
		}),
		m.each(proto, "split match matchAll normalize", pieces),
		m.each(proto, "toLowerCase toUpperCase toLocaleLowerCase toLocaleUpperCase", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			return m.size(do(this, args...))
		}),
		m.each(proto, "slice substring substr trim trimStart trimEnd trimLeft trimRight", part),
		m.each(proto, "replace replaceAll", m.replace),
		m.each("globalThis", "encodeURIComponent encodeURI escape decodeURIComponent decodeURI unescape", pieces),
		m.each("String", "raw", func(_ goja.Value, args []goja.Value, _ builtin) goja.Value {
			raw := argument(args, 0).ToObject(m.vm).Get("raw").ToObject(m.vm)
			var parts []goja.String
			var n int64
			for i, count := int64(0), lengthOf(raw); i < count; i++ {
				for j, v := range [...]goja.Value{raw.Get(strconv.FormatInt(i, 10)), argument(args, int(i)+1)} {
					if j == 0 || i+1 < count && int(i)+1 < len(args) {
						m.charge(costPiece)
						parts = append(parts, m.text(v))
						n += items(parts[len(parts)-1])
						m.units(n)
					}
				}
			}
			return m.joined(parts, nil)
		}),
	)
}

// isWide reports whether a value is a text with two bytes for each unit.
func (m *meter) isWide(v goja.Value) bool {
	return reflect.TypeOf(v) == m.wide
}

// replace bounds what replacements come to. Those that can't come to much are
// the engine's.
func (m *meter) replace(this goja.Value, args []goja.Value, do builtin) goja.Value {
	if goja.IsUndefined(this) || goja.IsNull(this) {
		return do(this, args...)
	}
	s, with := this, argument(args, 1)
	fn, ok := goja.AssertFunction(with)
	if !ok {
		if o, is := argument(args, 0).(*goja.Object); is && o.ClassName() != "RegExp" {
			return m.size(do(this, args...))
		}
		say := m.text(with)
		n, each := items(m.text(s)), items(say)
		each += n * int64(strings.Count(say.String(), "$"))
		if each == 0 || n+(n+1)*min(each, maxText) <= maxText {
			return m.size(do(s, argument(args, 0), say))
		}
		if fn, ok = goja.AssertFunction(must(m.replacer(goja.Undefined(), say))); !ok {
			return do(s, argument(args, 0), say)
		}
	}
	if n := items(s); n > bigText {
		m.charge(n * costPiece)
	}
	var total int64
	counting := m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		m.charge(costList) // what was found, and its parts
		said := m.text(must(fn(goja.Undefined(), c.Arguments...)))
		total += int64(said.Length())
		m.units(total)
		return said
	})
	return m.size(do(s, argument(args, 0), counting))
}

// lists bounds the functions of arrays.
func (m *meter) lists() error {
	const proto = "Array.prototype"
	copied := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		m.chargeEach(items(this)+int64(len(args)), 2*costPiece)
		return do(this, args...)
	}
	part := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		m.chargeEach(m.strange(this), costPiece)
		v := m.size(do(this, args...))
		m.chargeEach(items(v), costPiece) // copied one by one
		return v
	}
	return m.all(
		m.each(proto, "map fill sort toSorted toReversed toSpliced with", copied),
		m.each(proto, "slice splice filter", part),
		m.each(proto, "reverse copyWithin push unshift", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			m.chargeEach(m.strange(this)+int64(len(args)), costPiece)
			return do(this, args...)
		}),
		m.each(proto, "concat", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			for _, v := range append([]goja.Value{this}, args...) {
				if _, text := v.(goja.String); !text {
					m.chargeEach(items(v), 2*costPiece)
				}
			}
			return do(this, args...)
		}),
		m.each(proto, "join", m.join("toString")),
		m.each(proto, "toLocaleString", m.join("toLocaleString")),
		m.each(proto, "flat", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			depth := int64(1)
			if d := argument(args, 0); !goja.IsUndefined(d) {
				depth = d.ToInteger()
			}
			m.within(this, depth)
			return do(this, args...)
		}),
		m.each(proto, "flatMap", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			fn, ok := goja.AssertFunction(argument(args, 0))
			if !ok {
				return do(this, args...)
			}
			return do(this, m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
				v := must(fn(c.This, c.Arguments...))
				m.charge(costPiece)
				m.within(v, 0)
				return v
			}), argument(args, 1))
		}),
		m.each("Array", "from", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			v := argument(args, 0)
			if goja.IsUndefined(v) || goja.IsNull(v) {
				return do(this, args...)
			}
			o := v.ToObject(m.vm)
			if i := o.GetSymbol(goja.SymIterator); i != nil && !goja.IsUndefined(i) && !goja.IsNull(i) {
				args = append([]goja.Value{m.list(v)}, args[1:]...)
			} else {
				m.chargeEach(lengthOf(o), 2*costPiece)
			}
			return do(this, args...)
		}),
		m.each("Object.getPrototypeOf(Int8Array.prototype)", "join toLocaleString", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			// A number has at most 25 units.
			m.units(items(this) * (25 + max(items(argument(args, 0)), 1)))
			return m.size(do(this, args...))
		}),
	)
}

// within charges a list with those in it, down to a depth.
func (m *meter) within(v goja.Value, depth int64) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return
	}
	n := lengthOf(o)
	m.charge(costList)
	m.chargeEach(n, costTaken)
	for i := int64(0); depth > 0 && i < n; i++ {
		m.within(o.Get(strconv.FormatInt(i, 10)), depth-1)
	}
}

// strange is the length of what is not an array: an array's elements were charged.
func (m *meter) strange(v goja.Value) int64 {
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Array" {
		return 0
	}
	return items(v)
}

// join makes the text of a list; each element says itself by a method.
func (m *meter) join(method string) wrapper {
	return func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		o, ok := this.(*goja.Object)
		if !ok {
			return m.size(do(this, args...))
		}
		for _, outer := range m.joining {
			if outer == o { // it holds itself
				return m.vm.ToValue("")
			}
		}
		m.joining = append(m.joining, o)
		defer func() { m.joining = m.joining[:len(m.joining)-1] }()
		n := lengthOf(o)
		var between goja.String
		if between, ok = m.vm.ToValue(",").(goja.String); ok && method == "toString" && !goja.IsUndefined(argument(args, 0)) {
			between = m.text(args[0])
		}
		m.units((n - 1) * min(items(between), maxText))
		m.charge(costList)
		m.chargeEach(n, costPiece)
		parts, total := make([]goja.String, 0, min(n, 1<<16)), int64(0)
		empty := m.string(m.vm.ToValue(""))
		for i := range n {
			v, part := o.Get(strconv.FormatInt(i, 10)), empty
			if v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
				if method == "toLocaleString" {
					fn, ok := goja.AssertFunction(v.ToObject(m.vm).Get(method))
					if !ok {
						panic(m.vm.NewTypeError("Property 'toLocaleString' of object is not a function"))
					}
					v = must(fn(v))
				}
				part = m.text(v)
			}
			total += int64(part.Length())
			m.units(total)
			parts = append(parts, part)
		}
		return m.joined(parts, between)
	}
}

// objects bounds functions of objects, JSON, and calls with lists.
func (m *meter) objects() error {
	calls := func(at int) wrapper {
		return func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			m.chargeEach(items(argument(args, at)), costTaken)
			return do(this, args...)
		}
	}
	keys := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		for _, a := range args {
			if s, ok := a.(goja.String); ok {
				m.charge(int64(s.Length()) * 2 * costPiece)
			}
		}
		return m.size(do(this, args...))
	}
	iterates := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		if len(args) == 0 {
			return do(this)
		}
		return do(this, append([]goja.Value{m.list(args[0])}, args[1:]...)...)
	}
	pair := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		for _, v := range append([]goja.Value{this}, args...) {
			if o, ok := v.(*goja.Object); ok {
				if n := o.Get("size"); n != nil {
					m.chargeEach(n.ToInteger(), 2*costPiece)
				}
			}
		}
		return do(this, args...)
	}
	return m.all(
		m.each("Object", "keys values getOwnPropertyNames getOwnPropertySymbols", keys),
		m.each("Object", "entries", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			v := keys(this, args, do)
			m.chargeEach(items(v), costList)
			return v
		}),
		m.each("Object", "assign getOwnPropertyDescriptors defineProperties", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			for _, a := range args {
				switch v := a.(type) {
				case goja.String:
					m.charge(int64(v.Length()) * 2 * costTaken)
				case *goja.Object:
					if _, proxy := v.Export().(goja.Proxy); !proxy {
						m.chargeEach(int64(len(v.Keys())), 2*costTaken)
					}
				}
			}
			return do(this, args...)
		}),
		m.each("Object", "fromEntries groupBy", iterates),
		m.each("Map", "groupBy", iterates),
		m.each("Promise", "all allSettled any race", iterates),
		m.each("Promise.prototype", "then", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			m.charge(costJob)
			return do(this, args...)
		}),
		m.each("Set.prototype", "union intersection difference symmetricDifference", pair),
		m.each("Reflect", "ownKeys", keys),
		m.each("Reflect", "apply", calls(2)),
		m.each("Reflect", "construct", calls(1)),
		m.each("Function.prototype", "apply", calls(1)),
		m.each("Function.prototype", "bind", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			const most = 1000 // arguments, and functions bound again
			o, _ := this.(*goja.Object)
			n := m.bound[o] + max(len(args), 1)
			if n > most {
				m.stop(errMade)
			}
			v := do(this, args...)
			if o, ok := v.(*goja.Object); ok && n > 1 {
				m.bound[o] = n
			}
			return v
		}),
		m.each("JSON", "parse", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			if len(args) > 0 {
				s := m.text(args[0])
				text := s.String()
				for _, c := range [...]struct {
					mark string
					cost int64
				}{{"[", costList}, {"{", costObject + costMember}, {",", costMember}} {
					m.chargeEach(int64(strings.Count(text, c.mark)), c.cost)
				}
				m.charge(2 * int64(s.Length()))
				args = append([]goja.Value{s}, args[1:]...)
			}
			return do(this, args...)
		}),
		m.each("JSON", "stringify", m.stringify),
	)
}

// stringify counts what JSON says before it says it.
func (m *meter) stringify(this goja.Value, args []goja.Value, do builtin) goja.Value {
	indent := int64(10)
	if v := argument(args, 2); goja.IsUndefined(v) || goja.IsNull(v) {
		indent = 0
	}
	var total int64
	var holders []*goja.Object
	own, _ := goja.AssertFunction(argument(args, 1))
	counting := m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		m.charge(costList)
		v := c.Argument(1)
		if own != nil {
			v = must(own(c.This, c.Arguments...))
		}
		if holder, ok := c.This.(*goja.Object); ok {
			for len(holders) > 0 && holders[len(holders)-1] != holder {
				holders = holders[:len(holders)-1]
			}
			if holder.ClassName() != "Array" { // where the keys are not said
				total += items(c.Argument(0))
			}
		}
		total += 4 + indent*int64(len(holders))
		if s, ok := v.(goja.String); ok {
			total += int64(s.Length())
		} else if o, ok := v.(*goja.Object); ok {
			holders = append(holders, o)
		}
		m.units(total)
		return v
	})
	if list, ok := argument(args, 1).(*goja.Object); ok && own == nil && list.ClassName() == "Array" {
		do(this, argument(args, 0), counting)
		return m.size(do(this, args...))
	}
	return m.size(do(this, argument(args, 0), counting, argument(args, 2)))
}

// numbers bounds integers of any length.
func (m *meter) numbers() error {
	narrow := func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		if n := argument(args, 0).ToInteger(); n > maxBits {
			m.stop(errBits)
		}
		return m.size(do(this, args...))
	}
	return m.all(
		m.constructors("BigInt", func(_ string, args []goja.Value) []goja.Value {
			if len(args) > 0 {
				if s, ok := args[0].(goja.String); ok && s.Length() > maxBits/3 {
					m.stop(errBits)
				} else if ok {
					m.charge(int64(s.Length()))
				}
			}
			return args
		}),
		m.each("BigInt", "asIntN asUintN", narrow),
		m.each("BigInt.prototype", "toString toLocaleString", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			return m.size(do(this, args...))
		}),
	)
}

func (m *meter) makers() error {
	typed := func(name string, args []goja.Value) []goja.Value {
		if len(args) == 0 {
			return args
		}
		o, ok := args[0].(*goja.Object)
		if !ok {
			size := int64(8)
			if name == "ArrayBuffer" || strings.Contains(name, "8") {
				size = 1
			}
			n := args[0].ToNumber()
			m.chargeEach(n.ToInteger(), size)
			return append([]goja.Value{n}, args[1:]...)
		}
		if _, buffer := o.Export().(goja.ArrayBuffer); buffer {
			return args
		}
		if i := o.GetSymbol(goja.SymIterator); i != nil && !goja.IsUndefined(i) && o.Get("BYTES_PER_ELEMENT") == nil {
			return append([]goja.Value{m.list(o)}, args[1:]...)
		}
		m.chargeEach(lengthOf(o), 8)
		return args
	}
	return m.all(
		m.constructors("ArrayBuffer Uint8Array Uint8ClampedArray Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array BigInt64Array BigUint64Array", typed),
		m.each("ArrayBuffer.prototype", "slice", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			if o, ok := this.(*goja.Object); ok {
				m.charge(o.Get("byteLength").ToInteger())
			}
			return do(this, args...)
		}),
		m.constructors("Set Map WeakSet WeakMap", func(_ string, args []goja.Value) []goja.Value {
			if v := argument(args, 0); !goja.IsUndefined(v) && !goja.IsNull(v) {
				args = append([]goja.Value{m.list(v)}, args[1:]...)
				m.chargeEach(items(args[0]), 2*costPiece)
			}
			return args
		}),
		m.constructors("RegExp", func(_ string, args []goja.Value) []goja.Value {
			if _, ok := argument(args, 0).(*goja.Object); len(args) > 0 && !ok && !goja.IsUndefined(args[0]) {
				s := m.text(args[0])
				m.charge(patternCost(s.String()))
				args = append([]goja.Value{s}, args[1:]...)
			}
			return args
		}),
	)
}

// patternCost is about the bytes that a regular expression takes, whose counted
// repetitions are written out.
func patternCost(pattern string) int64 {
	const each, most = 100, maxMade + 1
	sums := []int64{0}
	last := int64(0)
	for i := 0; i < len(pattern); i++ {
		top := len(sums) - 1
		switch c := pattern[i]; c {
		case '\\':
			i++
			last = 1
		case '(':
			sums = append(sums, 0)
			continue
		case ')':
			if top > 0 {
				last = sums[top] + 1
				sums = sums[:top]
			}
		case '{':
			var least, limit int64
			n, _ := fmt.Sscanf(pattern[i:], "{%d,%d}", &least, &limit)
			if n == 0 {
				last = 1
				break
			}
			last *= min(max(least, limit, 1)-1, most)
		default:
			last = 1
		}
		last = min(last, most)
		sums[len(sums)-1] = min(sums[len(sums)-1]+last, most)
	}
	total := int64(0)
	for _, s := range sums {
		total = min(total+s, most)
	}
	return total * each
}

// code counts what texts say that are made to code.
func (m *meter) code() error {
	run := func(text string) (goja.Value, bool) {
		m.chargeEach(int64(len(text)), 10*costPiece)
		program, err := counted("text.js", text, nameStep)
		if err != nil {
			return nil, false
		}
		return must(m.vm.RunProgram(program)), true
	}
	faults := []error{m.each("globalThis", "eval", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
		if s, ok := argument(args, 0).(goja.String); ok {
			if v, ok := run(s.String()); ok {
				return v
			}
		}
		return do(this, args...)
	})}
	for _, kind := range [...]string{"function", "function*", "async function"} {
		v, err := m.eval("Object.getPrototypeOf(" + kind + "(){})")
		if err != nil {
			continue // the engine doesn't have it
		}
		proto := v.ToObject(m.vm)
		target := proto.Get("constructor").ToObject(m.vm)
		plain, ok := goja.AssertFunction(target)
		if !ok {
			continue
		}
		make := func(args []goja.Value) goja.Value {
			texts := []string{}
			for _, a := range args {
				texts = append(texts, m.text(a).String())
			}
			n := max(len(texts)-1, 0)
			if v, ok := run("(" + kind + " anonymous(" + strings.Join(texts[:n], ",") + "\n) {\n" + strings.Join(texts[n:], "") + "\n})"); ok {
				return v
			}
			return must(plain(goja.Undefined(), args...)) // says what is wrong
		}
		proxy := m.vm.ToValue(m.vm.NewProxy(target, &goja.ProxyTrapConfig{
			Apply:     func(_ *goja.Object, _ goja.Value, args []goja.Value) goja.Value { return make(args) },
			Construct: func(_ *goja.Object, args []goja.Value, _ *goja.Object) *goja.Object { return make(args).ToObject(m.vm) },
		}))
		faults = append(faults, proto.DefineDataProperty("constructor", proxy, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		if kind == "function" {
			faults = append(faults, m.vm.GlobalObject().DefineDataProperty("Function", proxy, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
	}
	return m.all(faults...)
}

// all is the first of errors.
func (m *meter) all(faults ...error) error {
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
