package script

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// Limits of the engine.
const (
	// maxCalls is the deepest chain of calls; the library needs some hundreds.
	maxCalls = 4000
	// guard ends what no other bound foresaw. The clock must not decide about what
	// the bounds let through, or a loaded machine would make another bundle.
	guard = 10 * time.Minute
)

// Engine runs the libraries. One serves a process: their programs are compiled once.
// Until something needs JavaScript it costs nothing. It is safe for concurrent
// use.
type Engine struct {
	utilities program
	formulas  *formulas
	starts    atomic.Int64
}

// New makes an Engine.
func New() *Engine { return &Engine{utilities: program{name: "utilities"}, formulas: newFormulas()} }

// Starts counts the machines that were started; sites without utility classes and
// formulas start none.
func (e *Engine) Starts() int64 { return e.starts.Load() }

// machine is one JavaScript engine. One goroutine uses it at a time.
type machine struct {
	vm   *goja.Runtime
	seed uint64
}

// newMachine starts an engine that has no clock, no randomness and no way out.
func (e *Engine) newMachine() *machine {
	e.starts.Add(1)
	m := &machine{vm: goja.New()}
	m.vm.SetMaxCallStackSize(maxCalls)
	m.vm.SetFieldNameMapper(goja.TagFieldNameMapper("json", true))
	m.vm.SetTimeSource(func() time.Time { return time.Unix(0, 0).UTC() })
	m.vm.SetRandSource(func() float64 {
		// The same numbers for each sheet (Knuth's linear congruences).
		m.seed = m.seed*6364136223846793005 + 1442695040888963407
		return float64(m.seed>>11) / (1 << 53)
	})
	return m
}

// errStopped is the reason of machines that ran too long.
var errStopped = errors.New("it takes too long")

// run calls fn, which uses the machine, and stops it at the context's end.
func (m *machine) run(ctx context.Context, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	m.seed = 1
	timer := time.AfterFunc(guard, func() { m.vm.Interrupt(errStopped) })
	stop := context.AfterFunc(ctx, func() { m.vm.Interrupt(ctx.Err()) })
	err = fn()
	if !timer.Stop() || !stop() {
		// An interrupt may still come, whatever fn said.
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			err = errStopped
		}
	}
	return err
}
