package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Fault is what happens at a call of a port, to the call or to the function that
// makes it.
type Fault int

const (
	// KilledBefore ends the function's process; the call has no effect.
	KilledBefore Fault = iota
	// KilledAfter ends the function's process once the call has its effect.
	KilledAfter
	// Throttled refuses the call, for longer than a port tries.
	Throttled
	// AnswerLost is a call that has its effect and whose caller is told that it
	// may have failed.
	AnswerLost
	// Duplicated begins a second invocation with the same input: from here on the
	// two make their calls in turn.
	Duplicated
	// Late leaves the invocation without an answer. It goes on with the call once
	// the next invocation has ended, and reaches its end before anything else
	// begins.
	Late
	// Last is Late, but goes on when Release is called.
	Last
)

func (f Fault) String() string {
	return [...]string{"killed before", "killed after", "throttled", "answer lost", "duplicated", "late", "last"}[f]
}

// AllFaults are all of them, for tests that try each.
func AllFaults() []Fault {
	return []Fault{KilledBefore, KilledAfter, Throttled, AnswerLost, Duplicated, Late, Last}
}

// Names of errors that callers of functions learn from Lambda, not from the
// function.
const (
	ErrorKilled     = "Runtime.ExitError"
	ErrorUnanswered = "Lambda.Unknown"
)

// lambdaError is an error under such a name.
type lambdaError string

var _ store.Coded = lambdaError("")

func (e lambdaError) Error() string       { return "the function: " + string(e) }
func (e lambdaError) Code() string        { return string(e) }
func (e lambdaError) SafeMessage() string { return e.Error() }

// throttledError is what a port returns when its backend has no time for it.
type throttledError struct{ call string }

var _ store.Coded = throttledError{}

func (e throttledError) Error() string       { return "throttled: " + e.call }
func (e throttledError) Code() string        { return "temporary" }
func (e throttledError) SafeMessage() string { return "a service is busy; try again" }

// errKilled is what the calls of a process that was killed return.
var errKilled = errors.New("the function's process was killed")

// Faults are ports that fail as planned while functions work with them. All
// calls must be made below Invoke. A test learns of the calls from a run without
// faults, then plans one, or several:
//
//	sound := storetest.NewFaults(nil)
//	run(sound)
//	for _, call := range sound.Log() {
//		run(storetest.NewFaults(map[string]storetest.Fault{call: storetest.Late}))
//	}
type Faults struct {
	// Rename, if not nil, returns the name that a call has in the plan and in
	// Log: without what differs from run to run. Set it before the first call.
	Rename func(name string) string

	mu   sync.Mutex
	plan map[string]Fault
	seen map[string]int
	log  []string
	hit  []string
	late []*invocation
	last []*invocation
}

// NewFaults plans faults by the names of calls, as Log lists them.
func NewFaults(plan map[string]Fault) *Faults {
	return &Faults{plan: plan, seen: make(map[string]int)}
}

// Log lists the calls in the order they began: each name with how often it was
// called by then, such as "Store.Get pk sk 2".
func (f *Faults) Log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.log...)
}

// Hit lists the planned faults that were met.
func (f *Faults) Hit() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.hit...)
}

// Store wraps a store.
func (f *Faults) Store(s store.Store) store.Store { return AroundStore(s, f.around) }

// Objects wraps objects.
func (f *Faults) Objects(o store.Objects) store.Objects { return AroundObjects(o, f.around) }

// Runner wraps a runner's Start, Status and Stop.
func (f *Faults) Runner(r store.Runner) store.Runner { return AroundRunner(r, f.around) }

// Transport wraps what carries requests to servers, such as a forge or a model.
func (f *Faults) Transport(t http.RoundTripper) http.RoundTripper {
	return AroundTransport(t, f.around)
}

// invocation is one run of a function, in a process of its own.
type invocation struct {
	fn      func(context.Context) error
	cancel  context.CancelCauseFunc
	immune  bool          // no further fault happens to it
	held    chan struct{} // closed: it has no answer, and waits for release
	release chan struct{}
	done    chan struct{}
	err     error

	mu     sync.Mutex
	killed bool
	turns  *turns
	place  int // in turns
	twin   *invocation
}

type invocationKey struct{}

// Invoke runs a function until it ends, or is left without an answer. It returns
// the function's own error, or one by Lambda's name for what happened to it.
func (f *Faults) Invoke(ctx context.Context, fn func(context.Context) error) error {
	inv := f.begin(ctx, fn, false, nil, 0)
	select {
	case <-inv.held:
		return lambdaError(ErrorUnanswered)
	case <-inv.done:
	}
	if inv.twin != nil {
		<-inv.twin.done
	}
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	finish(late)
	return inv.err
}

// Release lets those go on that wait for the last, and waits for their ends.
func (f *Faults) Release() {
	f.mu.Lock()
	last := append(f.late, f.last...)
	f.late, f.last = nil, nil
	f.mu.Unlock()
	finish(last)
}

func finish(list []*invocation) {
	for _, inv := range list {
		close(inv.release)
		<-inv.done
	}
}

func (f *Faults) begin(ctx context.Context, fn func(context.Context) error, immune bool, t *turns, place int) *invocation {
	inv := &invocation{
		fn: fn, immune: immune, held: make(chan struct{}), release: make(chan struct{}), done: make(chan struct{}), turns: t, place: place,
	}
	ctx, inv.cancel = context.WithCancelCause(context.WithValue(ctx, invocationKey{}, inv))
	go func() {
		defer close(inv.done)
		defer inv.cancel(nil)
		inv.err = fn(ctx)
		inv.mu.Lock()
		defer inv.mu.Unlock()
		if inv.killed {
			inv.err = lambdaError(ErrorKilled)
		}
		inv.turns.end(inv.place)
	}()
	return inv
}

// meet counts a call and returns the fault that is planned for it.
func (f *Faults) meet(inv *invocation, name string) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Rename != nil {
		name = f.Rename(name)
	}
	f.seen[name]++
	name = fmt.Sprintf("%s %d", name, f.seen[name])
	f.log = append(f.log, name)
	fault, planned := f.plan[name]
	if !planned || inv.immune {
		return 0, false
	}
	f.hit = append(f.hit, fault.String()+" at "+name)
	switch fault {
	case Late:
		f.late = append(f.late, inv)
	case Last:
		f.last = append(f.last, inv)
	case Duplicated:
	default:
		return fault, true
	}
	inv.immune = true
	return fault, true
}

// around makes a call, or not, as is planned.
func (f *Faults) around(ctx context.Context, call *Call, do func(context.Context) error) error {
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		return fmt.Errorf("%s is called by no function", call.Name)
	}
	if inv.isKilled() {
		return errKilled
	}
	fault, planned := f.meet(inv, call.Name)
	if planned {
		switch fault {
		case KilledBefore:
			return inv.kill()
		case Throttled:
			return throttledError{call.Name}
		case Late, Last:
			close(inv.held)
			<-inv.release
		case Duplicated:
			t := newTurns()
			inv.mu.Lock()
			inv.turns = t
			inv.twin = f.begin(context.WithoutCancel(ctx), inv.fn, true, t, 1)
			inv.mu.Unlock()
		}
	}
	inv.mu.Lock()
	t := inv.turns
	inv.mu.Unlock()
	t.wait(inv.place)
	if call.Body != nil { // its bytes may need other calls
		t.pass(inv.place)
	}
	err := do(ctx)
	if call.Body == nil {
		t.pass(inv.place)
	}
	switch {
	case planned && fault == KilledAfter:
		return inv.kill()
	case planned && fault == AnswerLost && err == nil:
		return throttledError{call.Name}
	case inv.isKilled():
		return errKilled
	}
	return err
}

func (inv *invocation) isKilled() bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.killed
}

func (inv *invocation) kill() error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.killed = true
	inv.cancel(errKilled)
	return errKilled
}

// turns let two make their calls in turn, as long as both live. A nil one lets
// its only one go on.
type turns struct {
	mu    sync.Mutex
	moved *sync.Cond
	turn  int
	ended [2]bool
}

func newTurns() *turns {
	t := &turns{}
	t.moved = sync.NewCond(&t.mu)
	return t
}

func (t *turns) wait(place int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.turn != place && !t.ended[1-place] {
		t.moved.Wait()
	}
}

func (t *turns) pass(place int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn = 1 - place
	t.moved.Broadcast()
}

func (t *turns) end(place int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[place] = true
	t.moved.Broadcast()
}
