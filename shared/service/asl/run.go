package asl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// execution is one run of a machine.
type execution struct {
	opt Options
	log *slog.Logger
}

// errExecutionTimeout is the cause of a context that ended because the time
// of the whole execution was up.
var errExecutionTimeout = errors.New("the execution timed out")

// Run executes the machine on an input, and returns its output. It fails with
// an *Error, or with the cause of ctx when that ended first. The name is for
// the log.
func (m *Machine) Run(ctx context.Context, name string, input json.RawMessage, opt Options) (json.RawMessage, error) {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Sleep == nil {
		opt.Sleep = Sleep
	}
	if opt.Jitter == nil {
		opt.Jitter = rand.Float64
	}
	if opt.Wait == nil {
		opt.Wait = func(ctx context.Context, until time.Time) error { return opt.Sleep(ctx, time.Until(until)) }
	}
	opt.MaxStateBytes = cmp.Or(opt.MaxStateBytes, defaultMaxState)
	opt.Grace = cmp.Or(opt.Grace, defaultGrace)
	for _, r := range m.Resources() {
		if opt.Tasks[r] == nil {
			return nil, fmt.Errorf("state machine: no task for the resource %q", r)
		}
	}
	x := &execution{opt: opt, log: opt.Log.With("execution", name)}
	run := ctx
	if m.timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeoutCause(ctx, m.timeout, errExecutionTimeout)
		defer cancel()
	}
	in, err := decode(input)
	if err != nil {
		return nil, &Error{Name: ErrorRuntime, Cause: "the input is not JSON: " + err.Error()}
	}
	if len(input) > opt.MaxStateBytes {
		return nil, &Error{Name: errorDataLimit, Cause: fmt.Sprintf("the execution's input has %d bytes, at most %d", len(input), opt.MaxStateBytes)}
	}
	out, err := x.graph(run, &m.graph, in)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && errors.Is(context.Cause(run), errExecutionTimeout):
		return nil, &Error{Name: errorTimeout, Cause: fmt.Sprintf("the execution took longer than %v", m.timeout), TimedOut: true}
	case err != nil:
		return nil, err
	}
	return encode(out)
}

// graph runs states from the first one to an end. An error is an *Error, or
// that ctx has ended.
func (x *execution) graph(ctx context.Context, g *graph, input any) (any, error) {
	for name := g.start; ; {
		s := g.states[name]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x.log.Debug("state", "state", s.name)
		switch s.kind {
		case kindSucceed:
			return input, nil
		case kindFail:
			return nil, s.failure(input)
		case kindChoice:
			next, failed := s.choose(input)
			if failed != nil {
				return nil, failed
			}
			name = next
			continue
		case kindWait:
			if err := x.wait(ctx, s, input); err != nil {
				return nil, err
			}
			name = s.next
			continue
		}
		out, next, err := x.state(ctx, s, input)
		if err != nil {
			return nil, err
		}
		if next == "" {
			return out, nil
		}
		input, name = out, next
	}
}

// wait waits until the time that the state's input names, in the form of RFC 3339. A
// time in the past is no wait.
func (x *execution) wait(ctx context.Context, s *state, input any) error {
	v, _ := s.until.get(scope{input: input})
	text, _ := v.(string)
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return runtimeError(s, "the value at the path '%s' is not a timestamp", s.until.text)
	}
	return x.opt.Wait(ctx, until)
}

// failure is the error that a Fail state ends with.
func (s *state) failure(input any) *Error {
	e := &Error{Name: s.errorName, Cause: s.cause}
	for _, f := range []struct {
		p  *path
		to *string
	}{{s.errorNamePath, &e.Name}, {s.causePath, &e.Cause}} {
		if f.p == nil {
			continue
		}
		v, _ := f.p.get(scope{input: input})
		text, isString := v.(string)
		if !isString {
			return runtimeError(s, "the value at the path '%s' is not a string", f.p.text)
		}
		*f.to = text
	}
	return e
}

// state runs a Task or a Map with its retries and catches, and returns which
// state is next.
func (x *execution) state(ctx context.Context, s *state, input any) (output any, next string, err error) {
	used := make([]int, len(s.retry)) // attempts of each retrier
	for {
		output, failed := x.attempt(ctx, s, input)
		// First of all, because a map whose context has ended has left items
		// out, and a task's error may be only that.
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if failed == nil {
			return output, s.next, nil
		}
		if i := s.retrier(failed); i >= 0 && used[i] < s.retry[i].attempts {
			d := s.retry[i].delay(used[i], x.opt.Jitter)
			used[i]++
			x.log.Warn("a state failed and is retried", "state", s.name, "error", failed.Name,
				"cause", failed.detail(), "attempt", used[i], "after", d)
			if err := x.opt.Sleep(ctx, d); err != nil {
				return nil, "", err
			}
			continue
		}
		for _, c := range s.catch {
			if !matches(c.errors, failed) {
				continue
			}
			x.log.Warn("a state failed", "state", s.name, "error", failed.Name, "cause", failed.detail(), "next", c.next)
			output, err := c.result.put(input, map[string]any{"Error": failed.Name, "Cause": failed.Cause})
			if err != nil {
				return nil, "", runtimeError(s, "%v", err)
			}
			if failed := x.checkSize(s, "the output of Catch", output); failed != nil {
				return nil, "", failed
			}
			return output, c.next, nil
		}
		x.log.Warn("a state failed", "state", s.name, "error", failed.Name, "cause", failed.detail())
		return nil, "", failed
	}
}

// detail is what the log says of an error: all that is known.
func (e *Error) detail() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Cause
}

// retrier finds the element of Retry for an error, -1 for none: the first one
// that matches decides, even when its attempts are used up.
func (s *state) retrier(failed *Error) int {
	for i, r := range s.retry {
		if matches(r.errors, failed) {
			return i
		}
	}
	return -1
}

// delay is how long to wait before the attempt after n retries.
func (r retrier) delay(n int, jitter func() float64) time.Duration {
	seconds := r.interval.Seconds() * math.Pow(r.backoff, float64(n))
	limit := float64(maxSeconds)
	if r.maxDelay > 0 {
		limit = r.maxDelay.Seconds()
	}
	seconds = min(seconds, limit)
	if r.jitter {
		seconds *= jitter()
	}
	return time.Duration(seconds * float64(time.Second))
}

// attempt does a state's work once and combines input and result.
func (x *execution) attempt(ctx context.Context, s *state, input any) (any, *Error) {
	var (
		result any
		failed *Error
	)
	if s.kind == kindTask {
		result, failed = x.task(ctx, s, input)
	} else {
		result, failed = x.eachItem(ctx, s, input)
	}
	if failed != nil {
		return nil, failed
	}
	output, err := s.result.put(input, result)
	if err != nil {
		return nil, runtimeError(s, "ResultPath: %v", err)
	}
	return output, x.checkSize(s, "the output", output)
}

// checkSize holds a payload to the limit.
func (x *execution) checkSize(s *state, what string, v any) *Error {
	b, err := encode(v)
	if err != nil {
		return runtimeError(s, "%s: %v", what, err)
	}
	return x.checkBytes(s, what, b)
}

func (x *execution) checkBytes(s *state, what string, b []byte) *Error {
	if len(b) > x.opt.MaxStateBytes {
		return &Error{Name: errorDataLimit, Cause: fmt.Sprintf("state %q: %s has %d bytes, at most %d", s.name, what, len(b), x.opt.MaxStateBytes)}
	}
	return nil
}

// task calls the function of a Task state.
func (x *execution) task(ctx context.Context, s *state, input any) (any, *Error) {
	if s.parameters != nil {
		var err error
		if input, err = s.parameters.fill(scope{input: input}); err != nil {
			return nil, runtimeError(s, "%v", err)
		}
	}
	payload, err := encode(input)
	if err != nil {
		return nil, runtimeError(s, "%v", err)
	}
	if failed := x.checkBytes(s, "the input", payload); failed != nil {
		return nil, failed
	}
	out, failed := x.call(ctx, s, payload)
	if failed != nil {
		return nil, failed
	}
	if len(out) == 0 {
		out = json.RawMessage("null") // the result of a function that returns nothing
	}
	if failed := x.checkBytes(s, "the result", out); failed != nil {
		return nil, failed
	}
	result, err := decode(out)
	if err != nil {
		return nil, runtimeError(s, "the result is not JSON: %v", err)
	}
	return result, nil
}

// call runs the function, but no longer than its time, and a grace in which
// it may notice.
func (x *execution) call(ctx context.Context, s *state, payload json.RawMessage) (json.RawMessage, *Error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	type answer struct {
		out json.RawMessage
		err error
	}
	answers := make(chan answer, 1)
	task := x.opt.Tasks[s.resource]
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: &panicError{value: p, stack: debug.Stack()}}
			}
			answers <- a
		}()
		a.out, a.err = task(ctx, payload)
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		grace := time.NewTimer(x.opt.Grace)
		defer grace.Stop()
		select {
		case a = <-answers:
		case <-grace.C:
			x.log.Error("a task is still running after its timeout", "state", s.name)
		}
		// What it still says is late: at AWS nobody would have heard it.
		return nil, &Error{Name: errorTimeout, Cause: fmt.Sprintf("state %q took longer than %v", s.name, s.timeout), Err: a.err}
	}
	if a.err != nil {
		return nil, taskError(a.err)
	}
	return a.out, nil
}

// panicError is a task's panic, as an error.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// coded is an error that names itself for workflows and has a message that
// may be shown.
type coded interface {
	error
	Code() string
	SafeMessage() string
}

// taskError names a task's error as the Lambda adapter would, so that Fail
// reads the same here and there.
func taskError(err error) *Error {
	name, message := errorTaskUnnamed, err.Error()
	if p, ok := errors.AsType[*panicError](err); ok {
		name, message = errorTaskPanic, fmt.Sprintf("panic: %v", p.value)
	} else if c, ok := errors.AsType[coded](err); ok {
		name, message = c.Code(), c.SafeMessage()
		if name == "" || strings.HasPrefix(name, "States.") { // names that only the machine reports
			name = errorTaskUnnamed
		}
	}
	cause, _ := encode(struct { // strings always encode
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}{message, name})
	// Step Functions cuts long causes; 32,768 characters are its limit.
	return &Error{Name: name, Cause: truncate(string(cause), 32<<10), Err: err}
}

// truncate cuts a text at a byte limit, between characters.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// eachItem runs a Map: one child for each item, in order of the items, so many
// at once as the state allows. The first that fails ends all others.
func (x *execution) eachItem(ctx context.Context, s *state, input any) (any, *Error) {
	v, ok := s.items.get(scope{input: input})
	if !ok {
		return nil, runtimeError(s, "the JSONPath '%s' specified for the field 'ItemsPath' could not be found in the input", s.items.text)
	}
	items, isList := v.([]any)
	if !isList {
		return nil, runtimeError(s, "the value at the path '%s' is not a list", s.items.text)
	}
	// All inputs are made first: an error in one starts no child.
	inputs := make([]any, len(items))
	for i, item := range items {
		inputs[i] = item
		if s.selector != nil {
			var err error
			if inputs[i], err = s.selector.fill(scope{input: input, item: item, inMap: true}); err != nil {
				return nil, runtimeError(s, "%v", err)
			}
		}
		if failed := x.checkSize(s, fmt.Sprintf("the input of item %d", i), inputs[i]); failed != nil {
			return nil, failed
		}
	}
	outputs := make([]any, len(items))
	if failed := x.children(ctx, s, inputs, outputs); failed != nil {
		return nil, failed
	}
	return outputs, x.checkSize(s, "the results of all items together", outputs)
}

// children runs the processor of a map on all inputs.
func (x *execution) children(ctx context.Context, s *state, inputs, outputs []any) *Error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(s.concurrency, unlimitedChildren))
	for i, input := range inputs {
		group.Go(func() (err error) {
			outputs[i], err = x.graph(ctx, s.processor, input)
			child, failed := errors.AsType[*Error](err)
			if !failed { // done, or cancelled
				return nil
			}
			if ctx.Err() == nil {
				x.log.Warn("a child of a map failed", "state", s.name, "item", i, "error", child.Name, "cause", child.detail())
			}
			return child
		})
	}
	if err := group.Wait(); err != nil {
		return &Error{Name: errorMapThreshold, Cause: "The specified tolerated failure threshold was exceeded", Err: err}
	}
	return nil
}

// Sleep waits, at most until ctx ends: then it returns ctx.Err().
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
