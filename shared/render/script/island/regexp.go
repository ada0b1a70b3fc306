package island

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/bindery-docs/bindery/shared/render/script/island/internal/pattern"
)

const (
	// maxTries is the steps of all regular expressions of a script: some tenths of a
	// second's work.
	maxTries = 20_000_000
	// triesOfStep are the steps of a regular expression that count as one of a script
	// on its page, so that one that takes too long leaves time for others.
	triesOfStep = 200
	// maxPatterns bounds the expressions that are kept compiled.
	maxPatterns = 1000
)

var errTries = fmt.Errorf("its regular expression takes more than %d steps", maxTries)

// expressions are the regular expressions of a script. The engine's own matchers
// count no steps, and one of them knows no bound; these are ours.
type expressions struct {
	m       *meter
	matcher pattern.Matcher
	tries   int
	// programs are those that were compiled, by flags and source; objects are the
	// objects that hold them.
	programs map[string]*expression
	objects  map[*goja.Object]*expression
	// last is the text that was searched last, units are its.
	last  goja.String
	units []uint16
	// own are the functions that stand in the prototype, and the engine's.
	exec    goja.Value
	getters map[string]goja.Callable
}

// expression is a compiled regular expression with its flags.
type expression struct {
	program                 *pattern.Program
	global, sticky, unicode bool
}

// regexps puts the matcher that counts before the engine's.
func (m *meter) regexps() error {
	x := &expressions{m: m, programs: map[string]*expression{}, objects: map[*goja.Object]*expression{}, getters: map[string]goja.Callable{}}
	m.expressions = x
	for _, name := range [...]string{"source", "global", "ignoreCase", "multiline", "dotAll", "unicode", "sticky"} {
		v, err := m.eval("Object.getOwnPropertyDescriptor(RegExp.prototype, '" + name + "').get")
		if err != nil {
			return err
		}
		x.getters[name], _ = goja.AssertFunction(v)
	}
	const proto = "RegExp.prototype"
	err := m.all(
		m.each(proto, "exec", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			o, ok := this.(*goja.Object)
			if !ok || o.ClassName() != "RegExp" {
				return do(this, args...) // throws
			}
			return x.execute(o, m.text(argument(args, 0)))
		}),
		m.each(proto, "test", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			o, ok := this.(*goja.Object)
			if !ok {
				return do(this, args...) // throws
			}
			exec, ok := goja.AssertFunction(o.Get("exec"))
			if !ok {
				panic(m.vm.NewTypeError("exec is not a function"))
			}
			return m.vm.ToValue(!goja.IsNull(must(exec(o, m.text(argument(args, 0))))))
		}),
		m.each(proto, "compile", func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			if o, ok := this.(*goja.Object); ok {
				delete(x.objects, o)
			}
			return do(this, args...)
		}),
		m.symbol(proto, goja.SymSplit, func(this goja.Value, args []goja.Value, do builtin) goja.Value {
			if o, ok := this.(*goja.Object); ok && o.ClassName() == "RegExp" && o.Get("exec") == x.exec {
				return x.split(o, m.text(argument(args, 0)), argument(args, 1))
			}
			return do(this, args...)
		}),
	)
	if err != nil {
		return err
	}
	x.exec, err = m.eval(proto + ".exec")
	return err
}

// of returns what an object holds.
func (x *expressions) of(o *goja.Object) *expression {
	if e := x.objects[o]; e != nil {
		return e
	}
	source, _ := must(x.getters["source"](o)).(goja.String)
	flags := pattern.Flags{}
	e := &expression{}
	key := ""
	for _, f := range [...]struct {
		name string
		is   *bool
	}{
		{"global", &e.global}, {"sticky", &e.sticky}, {"unicode", &e.unicode},
		{"ignoreCase", &flags.IgnoreCase}, {"multiline", &flags.Multiline}, {"dotAll", &flags.DotAll},
	} {
		if *f.is = must(x.getters[f.name](o)).ToBoolean(); *f.is {
			key += f.name + " "
		}
	}
	flags.Unicode = e.unicode
	text := units(source)
	for _, u := range text {
		key += strconv.Itoa(int(u)) + " "
	}
	if known := x.programs[key]; known != nil {
		e = known
	} else {
		program, err := pattern.Compile(text, flags)
		if err != nil {
			message := strings.TrimPrefix(err.Error(), "pattern: ")
			if errors.Is(err, pattern.ErrUnsupported) {
				message = strings.TrimPrefix(message, "unsupported expression: ")
			}
			panic(x.m.vm.NewTypeError("the regular expression /" + source.String() + "/ can't be used at the export: " + message))
		}
		x.m.charge(int64(program.Size()))
		e.program = program
		if len(x.programs) >= maxPatterns {
			clear(x.programs)
		}
		x.programs[key] = e
	}
	if len(x.objects) >= maxPatterns {
		clear(x.objects)
	}
	x.objects[o] = e
	return e
}

// units are a text's UTF-16 units.
func units(s goja.String) []uint16 {
	out := make([]uint16, s.Length())
	for i := range out {
		out[i] = s.CharAt(i)
	}
	return out
}

// text makes a text ready to be searched.
func (x *expressions) text(s goja.String) []uint16 {
	if x.last == nil || x.last.Length() != s.Length() || !x.last.SameAs(s) {
		x.last, x.units = s, units(s)
		x.count(s.Length() / 4)
	} else if x.m.isWide(s) {
		x.count(s.Length() / 16)
	}
	return x.units
}

// count counts steps.
func (x *expressions) count(n int) {
	if x.tries += n; x.tries > maxTries {
		x.m.stop(errTries)
	}
}

// find searches a text from a place on.
func (x *expressions) find(e *expression, s goja.String, at int, sticky bool) bool {
	outcome, steps := x.matcher.Find(e.program, x.text(s), at, sticky, maxTries-x.tries)
	if x.count(steps); outcome == pattern.OverBudget {
		x.tries = maxTries
		x.m.stop(errTries)
	}
	return outcome == pattern.Matched
}

// group is what a group of the last match holds.
func (x *expressions) group(s goja.String, i int) goja.Value {
	start, end := x.matcher.Group(i)
	if start < 0 {
		return goja.Undefined()
	}
	return s.Substring(start, end)
}

// execute is RegExpBuiltinExec of the standard.
func (x *expressions) execute(o *goja.Object, s goja.String) goja.Value {
	e := x.of(o)
	at := o.Get("lastIndex").ToInteger()
	set := func(n int) {
		if e.global || e.sticky {
			if err := o.Set("lastIndex", n); err != nil {
				panic(err)
			}
		}
	}
	if !e.global && !e.sticky {
		at = 0
	}
	if at > int64(s.Length()) || !x.find(e, s, int(max(at, 0)), e.sticky) {
		set(0)
		return goja.Null()
	}
	start, end := x.matcher.Group(0)
	set(end)
	x.m.charge(costList + costPiece*int64(e.program.Groups()+1))
	list := make([]any, e.program.Groups()+1)
	for i := range list {
		list[i] = x.group(s, i)
	}
	found := x.m.vm.NewArray(list...)
	groups := goja.Undefined()
	if names := e.program.Names(); len(names) > 0 {
		named := x.m.vm.CreateObject(nil)
		for _, n := range names {
			x.define(named, n.Name, list[n.Group])
		}
		groups = named
	}
	x.define(found, "index", start)
	x.define(found, "input", s)
	x.define(found, "groups", groups)
	return found
}

func (x *expressions) define(o *goja.Object, name string, v any) {
	if err := o.DefineDataProperty(name, x.m.vm.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
		panic(err)
	}
}

// split is RegExp.prototype[Symbol.split] for an object that nobody changed: it
// searches where the standard tries each place in turn.
func (x *expressions) split(o *goja.Object, s goja.String, most goja.Value) goja.Value {
	e, limit := x.of(o), int64(1)<<32-1
	if !goja.IsUndefined(most) {
		limit = int64(uint32(most.ToInteger()))
	}
	var list []any
	add := func(v goja.Value) bool {
		x.m.charge(costPiece)
		list = append(list, v)
		return int64(len(list)) < limit
	}
	size, from := s.Length(), 0
	switch {
	case limit == 0:
		return x.m.vm.NewArray()
	case size == 0 && x.find(e, s, 0, true):
		return x.m.vm.NewArray()
	}
	for at := 0; at < size && x.find(e, s, at, false); {
		start, end := x.matcher.Group(0)
		if start >= size {
			break
		}
		if end == from { // nothing, where the last one ended
			at = start + 1
			if e.unicode && start+1 < size && s.CharAt(start)&0xFC00 == 0xD800 && s.CharAt(start+1)&0xFC00 == 0xDC00 {
				at++
			}
			continue
		}
		if !add(s.Substring(from, start)) {
			return x.m.vm.NewArray(list...)
		}
		for i := range e.program.Groups() {
			if !add(x.group(s, i+1)) {
				return x.m.vm.NewArray(list...)
			}
		}
		from, at = end, end
	}
	add(s.Substring(from, size))
	return x.m.vm.NewArray(list...)
}
