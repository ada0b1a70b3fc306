package script

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/base/memo"
)

// Limits of a formula. They are counted, so that a formula is drawn the same on
// every machine or on none.
const (
	// MaxFormula is the longest formula, in bytes.
	MaxFormula = 4 << 10
	// A formula may take formulaSteps, and stepsPerByte for each of its bytes, but at
	// most maxFormulaSteps: functions that are called, and turns of loops. Real ones take 20 to
	// 50 for each byte, those of chemistry 200. A step takes about two microseconds.
	formulaSteps    = 10_000
	stepsPerByte    = 200
	maxFormulaSteps = 160_000
	// maxFormulaBytes bounds the MathML of a formula, in UTF-16 units.
	maxFormulaBytes = 256 << 10
	// maxFormulaDepth bounds the elements of MathML that are in each other.
	maxFormulaDepth = 200
	// formulaCalls is the deepest chain of calls.
	formulaCalls = 2500
	// formulaCacheBytes bounds the memory of drawn formulas, about.
	formulaCacheBytes = 32 << 20
	// formulaBytes is the memory of a drawn formula without its text.
	formulaBytes = 200
)

// Formula is a drawn formula. It is immutable.
type Formula struct {
	// parts are pieces of MathML and declarations of CSS in turns, a piece first and
	// last. A piece before declarations ends where a class attribute needs their
	// class.
	parts []string
}

// Append appends the formula as MathML, a math element with the formula's TeX in it. class
// gives the class for declarations of CSS, "" for none.
func (f *Formula) Append(b []byte, class func(declarations string) string) []byte {
	for i, part := range f.parts {
		if i%2 == 1 {
			part = class(part)
		}
		b = append(b, part...)
	}
	return b
}

// TeXError is the error about a formula that can't be drawn. It says why, for
// authors.
type TeXError struct {
	Message string
	// Limit is set where a bound ended its work.
	Limit bool
}

func (e *TeXError) Error() string { return e.Message }

// drawn is a formula in the cache.
type drawn struct {
	formula *Formula
	err     error
}

// formulas draws formulas.
type formulas struct {
	program program
	cache   *memo.Cache[drawn]
	// slots holds one for each formula that is drawn now.
	slots chan struct{}
	mu    sync.Mutex
	// idle are the machines that are started and draw nothing.
	idle []*formulaMachine
}

type formulaMachine struct {
	*machine
	draw goja.Callable
}

func newFormulas() *formulas {
	f := &formulas{program: program{name: "formulas"}, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	f.cache = memo.New(formulaCacheBytes, func(d drawn) int {
		n := formulaBytes
		if d.formula != nil {
			for _, part := range d.formula.parts {
				n += len(part) + 16
			}
		}
		return n
	})
	return f
}

// Formula draws TeX as MathML, in a line or, with display, as a block. What it
// makes depends on its arguments alone: no formula knows of another one. A *TeXError
// is the author's.
func (e *Engine) Formula(ctx context.Context, tex string, display bool) (*Formula, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(tex) > MaxFormula {
		return nil, &TeXError{Message: fmt.Sprintf("it has more than %d bytes", MaxFormula)}
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%t %s", display, tex))
	// Others may wait for it, so its work does not end with this context: its steps
	// bound it.
	d := e.formulas.cache.Get(key, func() drawn {
		f, err := e.drawFormula(tex, display)
		return drawn{f, err}
	})
	return d.formula, d.err
}

func (e *Engine) drawFormula(tex string, display bool) (*Formula, error) {
	f := e.formulas
	f.slots <- struct{}{}
	defer func() { <-f.slots }()
	m, err := e.formulaMachine()
	if err != nil {
		return nil, err
	}
	var made struct {
		Parts []string `json:"parts"`
		Limit string   `json:"limit"`
		Error string   `json:"error"`
	}
	err = m.run(context.Background(), func() error {
		v, err := m.draw(goja.Undefined(), m.vm.ToValue(tex), m.vm.ToValue(display), m.vm.ToValue(min(formulaSteps+stepsPerByte*len(tex), maxFormulaSteps)),
			m.vm.ToValue(maxFormulaBytes), m.vm.ToValue(maxFormulaDepth))
		if err != nil {
			return err
		}
		return m.vm.ExportTo(v, &made)
	})
	if err != nil {
		if _, deep := errors.AsType[*goja.StackOverflowError](err); deep {
			return nil, &TeXError{"it is nested too deep", true}
		}
		return nil, fmt.Errorf("draw a formula: %w", err)
	}
	f.put(m)
	switch {
	case made.Limit != "":
		return nil, &TeXError{made.Limit, true}
	case made.Error != "":
		// Where in the formula it is wrong is told with the formula itself.
		message, _, _ := strings.Cut(made.Error, " at position ")
		message, _, _ = strings.Cut(message, " at end of input")
		return nil, &TeXError{Message: strings.Join(strings.Fields(message), " ")}
	}
	annotated(made.Parts, tex)
	return &Formula{made.Parts}, nil
}

// annotated adds the TeX to the parts of a formula, for those who copy it.
func annotated(parts []string, tex string) {
	const end = "</math>"
	open := strings.IndexByte(parts[0], '>') + 1
	parts[0] = parts[0][:open] + "<semantics>" + parts[0][open:]
	last := strings.TrimSuffix(parts[len(parts)-1], end)
	b := append([]byte(last), `<annotation encoding="application/x-tex">`...)
	parts[len(parts)-1] = string(append(html.AppendText(b, tex), "</annotation></semantics>"+end...))
}

// put takes a machine back that is as it was before it drew.
func (f *formulas) put(m *formulaMachine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = append(f.idle, m)
}

func (f *formulas) take() *formulaMachine {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) == 0 {
		return nil
	}
	m := f.idle[len(f.idle)-1]
	f.idle = f.idle[:len(f.idle)-1]
	return m
}

// formulaMachine returns a machine that draws nothing else meanwhile.
func (e *Engine) formulaMachine() (*formulaMachine, error) {
	if m := e.formulas.take(); m != nil {
		return m, nil
	}
	code, err := e.formulas.program.compiled()
	if err != nil {
		return nil, err
	}
	m := e.newMachine()
	m.vm.SetMaxCallStackSize(formulaCalls)
	if _, err := m.vm.RunProgram(code); err != nil {
		return nil, fmt.Errorf("start the program of formulas: %w", err)
	}
	draw, ok := goja.AssertFunction(m.vm.Get("formula"))
	if !ok {
		return nil, errors.New("the program of formulas has no entry")
	}
	return &formulaMachine{m, draw}, nil
}
