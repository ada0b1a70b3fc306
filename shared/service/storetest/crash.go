package storetest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// ErrCrashed is what every call of a port returns once the process is dead.
var ErrCrashed = errors.New("the process has crashed")

// Moment says when within a call the process dies.
type Moment int

const (
	// Before: the call has no effect.
	Before Moment = iota
	// During: a Put has read half of its bytes; other calls as Before.
	During
	// After: the call has its effect, but nobody learns of it.
	After
)

func (m Moment) String() string { return [...]string{"before", "during", "after"}[m] }

// Moments are all of them, for tests that try each.
func Moments() []Moment { return []Moment{Before, During, After} }

// Crash is a process that dies at a certain call of a port. Its Store, Objects
// and Runner wrap those of a backend and count calls together; at the n-th the
// process dies: that call and all others that have not returned return
// ErrCrashed, and so does every later one, without effect.
//
// A test learns how many calls there are from a run that never crashes, then
// crashes at each of them, and begins again over the same backend:
//
//	c := storetest.CrashAfter(0, storetest.Before) // never
//	run(ctx, c.Store(s), c.Objects(o), c.Runner(r))
//	for n := 1; n <= c.Calls(); n++ {
//		c := storetest.CrashAfter(n, storetest.After)
//		dying, cancel := c.Context(ctx)
//		run(dying, c.Store(s), c.Objects(o), c.Runner(r)) // dies
//		run(ctx, s, o, r)                                 // must get there
//	}
//
// All that works with the ports must run under Context, Runner.Resume too: as
// with kill -9, nothing may have an effect after the crash, such as a runner
// writing down that an execution failed.
type Crash struct {
	at     int
	moment Moment

	mu      sync.Mutex
	calls   []string
	cancels []context.CancelCauseFunc
	dead    chan struct{}
	done    bool
}

// CrashAfter makes a process that dies at the n-th call, counted from 1; with
// 0 it never does.
func CrashAfter(n int, moment Moment) *Crash {
	return &Crash{at: n, moment: moment, dead: make(chan struct{})}
}

// Calls returns the number of calls so far.
func (c *Crash) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// Log lists the calls in the order they began, such as "Store.Get pk sk" or
// "Objects.Put key". Calls after the crash are not in it.
func (c *Crash) Log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.calls...)
}

// Crashed reports whether the process is dead.
func (c *Crash) Crashed() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// Dead is closed when the process dies.
func (c *Crash) Dead() <-chan struct{} { return c.dead }

// Context returns a context that has ended, with ErrCrashed as its cause, before
// any caller learns that the process has died.
func (c *Crash) Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels = append(c.cancels, cancel)
	if c.done {
		cancel(ErrCrashed)
	}
	return ctx, func() { cancel(nil) }
}

// Store wraps a store.
func (c *Crash) Store(s store.Store) store.Store { return AroundStore(s, c.around) }

// Objects wraps objects.
func (c *Crash) Objects(o store.Objects) store.Objects { return AroundObjects(o, c.around) }

// Runner wraps a runner's Start, Status and Stop. What runs executions must
// run under Context.
func (c *Crash) Runner(r store.Runner) store.Runner { return AroundRunner(r, c.around) }

// around makes one call: its result is lost when the process died meanwhile. The
// call itself runs to its end, as a request that is on its way does, but for
// bytes: those of a dead process go nowhere, and none reach it.
func (c *Crash) around(ctx context.Context, call *Call, do func(context.Context) error) error {
	last, err := c.enter(call.Name)
	if err != nil {
		return err
	}
	half := last && c.moment == During
	switch {
	case half && call.Body == nil:
		return c.crash()
	case half:
		all, err := io.ReadAll(call.Body)
		if err != nil {
			return errors.Join(c.crash(), err)
		}
		// The backend gets half, then its reader dies with the process.
		call.Body = &dyingReader{c: c, rest: all[:len(all)/2]}
	case call.Body != nil:
		call.Body = &aliveReader{c, call.Body}
	}
	err = do(ctx)
	if last {
		return c.crash()
	}
	if c.Crashed() {
		return ErrCrashed
	}
	if call.Answer != nil {
		call.Answer = struct {
			io.Reader
			io.Closer
		}{&aliveReader{c, call.Answer}, call.Answer}
	}
	return err
}

// enter counts a call and reports whether it is the one that dies.
func (c *Crash) enter(name string) (last bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false, ErrCrashed
	}
	c.calls = append(c.calls, name)
	if len(c.calls) != c.at {
		return false, nil
	}
	if c.moment == Before {
		c.die()
		return false, ErrCrashed
	}
	return true, nil
}

// die ends the process; the caller holds c.mu.
func (c *Crash) die() {
	if c.done {
		return
	}
	c.done = true
	close(c.dead)
	for _, cancel := range c.cancels {
		cancel(ErrCrashed)
	}
}

func (c *Crash) crash() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.die()
	return ErrCrashed
}

// dyingReader returns what is left, then kills the process.
type dyingReader struct {
	c    *Crash
	rest []byte
}

func (d *dyingReader) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, d.c.crash()
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// aliveReader reads as long as the process lives: an upload from a dead one
// never becomes whole.
type aliveReader struct {
	c *Crash
	r io.Reader
}

func (a *aliveReader) Read(p []byte) (int, error) {
	if a.c.Crashed() {
		return 0, ErrCrashed
	}
	return a.r.Read(p)
}
