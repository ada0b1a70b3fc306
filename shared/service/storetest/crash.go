package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

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
func (c *Crash) Store(s store.Store) store.Store { return &crashStore{c, s} }

// Objects wraps objects.
func (c *Crash) Objects(o store.Objects) store.Objects { return &crashObjects{c, o} }

// Runner wraps a runner's Start, Status and Stop. What runs executions must
// run under Context.
func (c *Crash) Runner(r store.Runner) store.Runner { return &crashRunner{c, r} }

// enter counts a call and reports whether it is the one that dies.
func (c *Crash) enter(format string, args ...any) (last bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false, ErrCrashed
	}
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
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

// do runs one call: its result is lost when the process died meanwhile. The
// call itself runs to its end, as a request that is on its way does.
func do[T any](ctx context.Context, c *Crash, fn func(context.Context) (T, error), format string, args ...any) (T, error) {
	var none T
	last, err := c.enter(format, args...)
	if err != nil {
		return none, err
	}
	if last && c.moment == During {
		return none, c.crash()
	}
	v, err := fn(ctx)
	if last {
		return none, c.crash()
	}
	if c.Crashed() {
		return none, ErrCrashed
	}
	return v, err
}

type nothing struct{}

// just makes a function without result one that do takes.
func just(fn func(context.Context) error) func(context.Context) (nothing, error) {
	return func(ctx context.Context) (nothing, error) { return nothing{}, fn(ctx) }
}

type crashStore struct {
	c *Crash
	s store.Store
}

func (w *crashStore) Get(ctx context.Context, key store.Key) (store.Record, error) {
	return do(ctx, w.c, func(ctx context.Context) (store.Record, error) { return w.s.Get(ctx, key) }, "Store.Get %s %s", key.PK, key.SK)
}

func (w *crashStore) Query(ctx context.Context, q store.Query) (store.Page, error) {
	return do(ctx, w.c, func(ctx context.Context) (store.Page, error) { return w.s.Query(ctx, q) }, "Store.Query %s %s", q.PK, q.Prefix)
}

func (w *crashStore) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	var keys []store.Key
	for _, p := range puts {
		keys = append(keys, p.Key)
	}
	for _, d := range deletes {
		keys = append(keys, d.Key)
	}
	_, err := do(ctx, w.c, just(func(ctx context.Context) error { return w.s.Write(ctx, puts, deletes) }), "Store.Write %v", keys)
	return err
}

type crashObjects struct {
	c *Crash
	o store.Objects
}

func (w *crashObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	last, err := w.c.enter("Objects.Put %s", key)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	if last && w.c.moment == During {
		// The backend gets half, then its reader dies with the process.
		all, err := io.ReadAll(r)
		if err == nil {
			_, err = w.o.Put(ctx, key, &dyingReader{c: w.c, rest: all[:len(all)/2]}, opt)
		}
		return store.ObjectInfo{}, errors.Join(w.c.crash(), err)
	}
	info, err := w.o.Put(ctx, key, &aliveReader{w.c, r}, opt)
	if last {
		return store.ObjectInfo{}, w.c.crash()
	}
	if w.c.Crashed() {
		return store.ObjectInfo{}, ErrCrashed
	}
	return info, err
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

func (w *crashObjects) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := do(ctx, w.c, func(ctx context.Context) (io.ReadCloser, error) { return w.o.Get(ctx, key, offset, length) },
		"Objects.Get %s", key)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&aliveReader{w.c, r}, r}, nil
}

func (w *crashObjects) Stat(ctx context.Context, key string) (store.ObjectInfo, error) {
	return do(ctx, w.c, func(ctx context.Context) (store.ObjectInfo, error) { return w.o.Stat(ctx, key) }, "Objects.Stat %s", key)
}

func (w *crashObjects) List(ctx context.Context, prefix, after string, limit int) ([]store.ObjectInfo, error) {
	return do(ctx, w.c, func(ctx context.Context) ([]store.ObjectInfo, error) { return w.o.List(ctx, prefix, after, limit) }, "Objects.List %s", prefix)
}

func (w *crashObjects) Delete(ctx context.Context, keys ...string) error {
	_, err := do(ctx, w.c, just(func(ctx context.Context) error { return w.o.Delete(ctx, keys...) }), "Objects.Delete %v", keys)
	return err
}

func (w *crashObjects) PresignGet(ctx context.Context, key, filename string, life time.Duration) (store.Link, error) {
	return do(ctx, w.c, func(ctx context.Context) (store.Link, error) { return w.o.PresignGet(ctx, key, filename, life) }, "Objects.PresignGet %s", key)
}

func (w *crashObjects) PresignPut(ctx context.Context, key string, size int64, sha256 string, life time.Duration) (store.Link, error) {
	return do(ctx, w.c, func(ctx context.Context) (store.Link, error) { return w.o.PresignPut(ctx, key, size, sha256, life) }, "Objects.PresignPut %s", key)
}

type crashRunner struct {
	c *Crash
	r store.Runner
}

func (w *crashRunner) Start(ctx context.Context, workflow, name string, input []byte) error {
	_, err := do(ctx, w.c, just(func(ctx context.Context) error { return w.r.Start(ctx, workflow, name, input) }), "Runner.Start %s", name)
	return err
}

func (w *crashRunner) Status(ctx context.Context, workflow, name string) (store.Execution, error) {
	return do(ctx, w.c, func(ctx context.Context) (store.Execution, error) { return w.r.Status(ctx, workflow, name) }, "Runner.Status %s", name)
}

func (w *crashRunner) Stop(ctx context.Context, workflow, name, reason string) error {
	_, err := do(ctx, w.c, just(func(ctx context.Context) error { return w.r.Stop(ctx, workflow, name, reason) }), "Runner.Stop %s", name)
	return err
}
