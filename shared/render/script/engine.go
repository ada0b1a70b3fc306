package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// Limits of the engine.
const (
	// machines is how many engines draw at the same time in a process: one
	// with the layout library loaded holds about 45 MB.
	machines = 2
	// maxCalls is the deepest chain of calls. Layouts of the largest diagrams
	// need some hundreds.
	maxCalls = 4000
	// guard ends what no other bound foresaw. The largest diagrams that the
	// bounds let through take some seconds of a processor, and minutes where
	// many share it; the clock must not decide about them, or a loaded machine
	// would make another bundle.
	guard = 10 * time.Minute
	// cacheBytes is what an Engine keeps of drawings.
	cacheBytes = 8 << 20
)

// Options are what an Engine works with.
type Options struct {
	// Log gets faults of libraries; nil discards it.
	Log *slog.Logger
}

// Engine runs the libraries. One serves a process: programs are compiled once
// and machines are kept. Until something is drawn that needs JavaScript it
// costs nothing. It is safe for concurrent use.
type Engine struct {
	log                   *slog.Logger
	graph, elk, utilities program
	slots                 chan struct{}
	idle                  chan *machine
	starts                atomic.Int64

	mu    sync.Mutex
	cache map[[32]byte]*Diagram
	bytes int
}

// New makes an Engine.
func New(o Options) *Engine {
	e := &Engine{
		log:   cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		graph: program{name: "graph"}, elk: program{name: "elk"}, utilities: program{name: "utilities"},
		slots: make(chan struct{}, machines), idle: make(chan *machine, machines),
		cache: make(map[[32]byte]*Diagram),
	}
	return e
}

// Starts counts the machines that were started; pages without diagrams start
// none.
func (e *Engine) Starts() int64 { return e.starts.Load() }

// machine is one JavaScript engine. One goroutine uses it at a time.
type machine struct {
	vm   *goja.Runtime
	seed uint64
	draw goja.Callable
}

// newMachine starts an engine that has no clock, no randomness and no way out.
func (e *Engine) newMachine() *machine {
	e.starts.Add(1)
	m := &machine{vm: goja.New()}
	m.vm.SetMaxCallStackSize(maxCalls)
	m.vm.SetFieldNameMapper(goja.TagFieldNameMapper("json", true))
	m.vm.SetTimeSource(func() time.Time { return time.Unix(0, 0).UTC() })
	m.vm.SetRandSource(func() float64 {
		// The same numbers for each drawing (Knuth's linear congruences).
		m.seed = m.seed*6364136223846793005 + 1442695040888963407
		return float64(m.seed>>11) / (1 << 53)
	})
	return m
}

// errStopped is the reason of machines that ran too long.
var errStopped = errors.New("it takes too long")

// run calls fn, which uses the machine, and stops it at the context's end. A
// machine that failed in another way than by an exception must not be used
// again; usable is false.
func (m *machine) run(ctx context.Context, fn func() error) (usable bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			usable, err = false, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	m.seed = 1
	timer := time.AfterFunc(guard, func() { m.vm.Interrupt(errStopped) })
	stop := context.AfterFunc(ctx, func() { m.vm.Interrupt(ctx.Err()) })
	err = fn()
	if !timer.Stop() || !stop() {
		// An interrupt may still come, whatever fn said.
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err == nil {
			err = errStopped
		}
		return false, err
	}
	var exception *goja.Exception
	return err == nil || errors.As(err, &exception), err
}

// drawer returns a machine that draws graphs; release puts it back.
func (e *Engine) drawer(ctx context.Context) (*machine, error) {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case m := <-e.idle:
		return m, nil
	default:
	}
	m, err := e.startDrawer()
	if err != nil {
		<-e.slots
		return nil, err
	}
	return m, nil
}

func (e *Engine) release(m *machine, usable bool) {
	if usable {
		e.idle <- m // there is room: no more machines than slots
	}
	<-e.slots
}

// startDrawer starts a machine with the library of graphs. The layout library
// has a page of code for each line of that one; it is run when it is called.
func (e *Engine) startDrawer() (*machine, error) {
	code, err := e.graph.compiled()
	if err != nil {
		return nil, err
	}
	m := e.newMachine()
	global := m.vm.GlobalObject()
	if err := errors.Join(
		// The layout library, which is compiled Java, looks for its globals here.
		global.Set("global", global),
		global.Set("setTimeout", func() int { return 0 }),
		global.Set("clearTimeout", func() {}),
		global.Set("console", map[string]func(){"log": quiet, "warn": quiet, "error": quiet}),
		global.Set("atob", atob),
		global.Set("loadELK", func() error {
			code, err := e.elk.compiled()
			if err == nil {
				_, err = m.vm.RunProgram(code)
			}
			return err
		}),
	); err != nil {
		return nil, err
	}
	if _, err := m.vm.RunProgram(code); err != nil {
		return nil, fmt.Errorf("start the drawing library: %w", err)
	}
	draw, ok := goja.AssertFunction(global.Get("draw"))
	if !ok {
		return nil, errors.New("the drawing library has no entry")
	}
	m.draw = draw
	return m, nil
}

// quiet is what libraries say to a console.
func quiet() {}
