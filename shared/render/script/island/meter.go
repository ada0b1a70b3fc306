package island

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// Limits of what a script makes while it is shown. They are counted, so that
// they decide the same on every machine.
const (
	// maxSteps bounds calls and turns of loops: some tenths of a second's work.
	maxSteps = 1_000_000
	// maxMade is the bytes of all texts, lists and objects, about as the engine
	// keeps them. What is dropped again counts too.
	maxMade = 768 << 20
	// maxText is the UTF-16 units of one text.
	maxText = 16 << 20
	// maxBits is the size of one integer.
	maxBits = 1 << 18
	// bigText is the UTF-16 units above which a text's pieces are charged before
	// they are made.
	bigText = 1 << 20
	// costPiece is the bytes of a piece of a text in a list.
	costPiece = 64
	// costTaken is for an item or a member that is taken one by one: its
	// bytes, and the time that this takes the engine, so that the count ends a
	// script long before the guard on its time.
	costTaken = 256
)

var (
	errSteps = errors.New("it does more work than a page may")
	errMade  = fmt.Errorf("it makes more than %d MiB of texts, lists and objects", maxMade>>20)
	errText  = fmt.Errorf("it makes a text of more than %d MiB", maxText>>20)
	errBits  = fmt.Errorf("it makes an integer of more than %d bits", maxBits)
)

// work returns the number of steps so far.
func (m *meter) work() int {
	if m.expressions == nil {
		return m.steps
	}
	return m.steps + m.expressions.tries/triesOfStep
}

// stopped is the panic that ends a script at a limit. No script can catch it.
type stopped struct {
	reason error
	frames []frame
}

// meter counts what a script does and makes.
type meter struct {
	vm      *goja.Runtime
	scripts scripts
	steps   int
	made    int64 // bytes
	// integer and wide are the engine's types of integers of any length, and of
	// texts that take two bytes for each unit.
	integer, wide reflect.Type
	// values is what iterates over arrays.
	values goja.Value
	// replacer makes a function of what a replacement says.
	replacer goja.Callable
	// joining are the lists whose texts are being made, outermost first.
	joining []*goja.Object
	// expressions are the script's regular expressions.
	expressions *expressions
	// bound are functions that hold arguments, with how many.
	bound map[*goja.Object]int
}

// scripts are small scripts of ours, compiled once.
type scripts map[string]*goja.Program

// eval runs a script of ours.
func (m *meter) eval(script string) (goja.Value, error) {
	program := m.scripts[script]
	if program == nil {
		var err error
		if program, err = goja.Compile("", script, false); err != nil {
			return nil, err
		}
		m.scripts[script] = program
	}
	return m.vm.RunProgram(program)
}

func newMeter(vm *goja.Runtime, compiled scripts) *meter {
	var wide goja.StringBuilder
	wide.WriteRune('é')
	return &meter{
		vm: vm, scripts: compiled, bound: map[*goja.Object]int{},
		integer: reflect.TypeOf(vm.ToValue(new(big.Int))), wide: reflect.TypeOf(wide.String()),
	}
}

// stop ends the script.
func (m *meter) stop(reason error) {
	panic(&stopped{reason, framesOf(m.vm.CaptureCallStack(0, nil))})
}

// charge counts n bytes.
func (m *meter) charge(n int64) {
	if m.made += min(max(n, 0), maxMade+1); m.made > maxMade {
		m.stop(errMade)
	}
}

// chargeEach counts size bytes for each of n.
func (m *meter) chargeEach(n, size int64) { m.charge(min(n, math.MaxInt64/1024) * size) }

// step counts a step that makes n bytes.
func (m *meter) step(n int64) {
	if m.steps++; m.steps >= maxSteps {
		m.stop(errSteps)
	}
	m.charge(n)
}

// units bounds the UTF-16 units of a text before it is made.
func (m *meter) units(n int64) {
	if n > maxText {
		m.stop(errText)
	}
}

// size charges what was made: a text, an integer or a list.
func (m *meter) size(v goja.Value) goja.Value {
	switch t := v.(type) {
	case goja.String:
		n := int64(t.Length())
		m.units(n)
		if m.isWide(v) {
			n *= 2
		}
		m.charge(n + costSlot)
	case *goja.Object:
		if t.ClassName() == "Array" {
			m.charge(costList + costPiece*lengthOf(t))
		}
	default:
		if n := m.bits(v); n > 0 {
			m.charge(n/8 + costSlot)
		}
	}
	return v
}

// bits bounds and returns the size of an integer of any length, 0 for all else.
func (m *meter) bits(v goja.Value) int64 {
	if reflect.TypeOf(v) != m.integer {
		return 0
	}
	n := m.integerOf(v).BitLen()
	if n > maxBits {
		m.stop(errBits)
	}
	return int64(n)
}

func (m *meter) integerOf(v goja.Value) *big.Int {
	i, ok := reflect.ValueOf(v).Convert(reflect.TypeFor[*big.Int]()).Interface().(*big.Int)
	if !ok {
		return new(big.Int)
	}
	return i
}

// lengthOf is what an object has as its length, 0 for none.
func lengthOf(o *goja.Object) int64 {
	if n := o.Get("length"); n != nil {
		if _, symbol := n.(*goja.Symbol); !symbol {
			if f := n.ToFloat(); f > 0 {
				return int64(min(f, 1<<53))
			}
		}
	}
	return 0
}

// list makes an array of what can be iterated over, so that what the engine does
// with it is bounded. Arrays that nobody changed stay.
func (m *meter) list(v goja.Value) goja.Value {
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Array" {
		if own := o.GetSymbol(goja.SymIterator); own != nil && own.SameAs(m.values) {
			m.chargeEach(lengthOf(o), costTaken)
			return v
		}
	}
	var list []any
	m.vm.ForOf(v, func(item goja.Value) bool {
		m.charge(costList) // what the iterator said is an object, too
		list = append(list, item)
		return true
	})
	return m.vm.NewArray(list...)
}

// text is what a template says for a value.
func (m *meter) text(v goja.Value) goja.String {
	if _, ok := v.(*goja.Symbol); ok {
		panic(m.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	if m.bits(v) > 0 {
		m.charge(m.bits(v) / 3)
	}
	s := m.string(v)
	m.units(int64(s.Length()))
	return s
}

// string is a value as a text: ToString of an integer is the integer.
func (m *meter) string(v goja.Value) goja.String {
	t := v.ToString()
	if s, ok := t.(goja.String); ok {
		return s
	}
	s, _ := m.vm.ToValue(t.String()).(goja.String) // texts are
	return s
}

// joined are texts in one, with what stands between them.
func (m *meter) joined(parts []goja.String, between goja.String) goja.Value {
	var n int64
	for i, p := range parts {
		n += int64(p.Length())
		if i > 0 && between != nil {
			n += int64(between.Length())
		}
		m.units(n)
	}
	var b goja.StringBuilder
	b.Grow(int(n))
	for i, p := range parts {
		if i > 0 && between != nil {
			b.WriteString(between)
		}
		b.WriteString(p)
	}
	return m.size(b.String())
}

// key charges the gap that a list gets when it is written to far after its end.
func (m *meter) key(list, key goja.Value) {
	const slots = 4096 // the engine keeps longer gaps as such
	n, ok := key.Export().(int64)
	if o, is := list.(*goja.Object); ok && is && n > 8 && o.ClassName() == "Array" {
		if gap := n - lengthOf(o); gap > 0 {
			m.chargeEach(min(gap, slots), costSlot)
		}
	}
}

// install adds to the runtime what counted scripts call, and bounds its own
// functions.
func (m *meter) install() error {
	global := m.vm.GlobalObject()
	var faults []error
	set := func(name unistring.String, fn func(goja.FunctionCall) goja.Value) {
		faults = append(faults, global.DefineDataProperty(name.String(), m.vm.ToValue(fn), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	}
	set(nameStep, func(c goja.FunctionCall) goja.Value {
		m.step(c.Argument(0).ToInteger())
		return goja.Undefined()
	})
	set(nameTurn, func(c goja.FunctionCall) goja.Value {
		m.charge(c.Argument(0).ToInteger())
		return goja.Undefined()
	})
	set(nameMade, func(c goja.FunctionCall) goja.Value {
		v := c.Argument(0)
		if _, ok := v.(*goja.Object); ok {
			return v
		}
		return m.size(v)
	})
	set(nameList, func(c goja.FunctionCall) goja.Value { return m.list(c.Argument(0)) })
	set(nameKey, func(c goja.FunctionCall) goja.Value {
		m.key(c.Argument(0), c.Argument(1))
		return c.Argument(1)
	})
	set(nameText, func(c goja.FunctionCall) goja.Value { return m.text(c.Argument(0)) })
	set(nameJoined, func(c goja.FunctionCall) goja.Value {
		parts := make([]goja.String, len(c.Arguments))
		for i, a := range c.Arguments {
			parts[i] = m.text(a)
		}
		return m.joined(parts, nil)
	})
	power := func(x, y goja.Value) {
		if n, e := m.bits(x), m.bits(y); n > 1 && e > 0 {
			if i := m.integerOf(y); i.Sign() > 0 && (e > 32 || n*i.Int64() > maxBits) {
				m.stop(errBits)
			}
		}
	}
	shift := func(sign int) func(x, y goja.Value) {
		return func(x, y goja.Value) {
			if n, e := m.bits(x), m.bits(y); n > 0 && e > 0 {
				if i := m.integerOf(y); i.Sign() == sign && (e > 32 || n+new(big.Int).Abs(i).Int64() > maxBits) {
					m.stop(errBits)
				}
			}
		}
	}
	for _, o := range [...]struct {
		name  unistring.String
		text  string
		check func(x, y goja.Value)
	}{{namePower, "**", power}, {nameLeft, "<<", shift(1)}, {nameRight, ">>", shift(-1)}} {
		// As the operator does, number makes both numbers before it begins.
		v, err := m.eval("(function (check, size) { return function (x, y) { x = - -x; y = - -y; check(x, y); return size(x " + o.text + " y) } })")
		if err != nil {
			return err
		}
		make, ok := goja.AssertFunction(v)
		if !ok {
			return errors.New("an operator is not a function")
		}
		fn, err := make(nil, m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			o.check(c.Argument(0), c.Argument(1))
			return goja.Undefined()
		}), m.vm.ToValue(func(c goja.FunctionCall) goja.Value { return m.size(c.Argument(0)) }))
		if err != nil {
			return err
		}
		faults = append(faults, global.DefineDataProperty(o.name.String(), fn, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	}
	faults = append(faults, m.bounds())
	return errors.Join(faults...)
}
