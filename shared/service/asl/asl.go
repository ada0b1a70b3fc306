// Package asl runs state machines written in Amazon States Language, as AWS
// Step Functions would, in this process. It knows exactly the states and
// fields that Bindery's workflows use (package statemachine), and its loader
// refuses everything else, so that nothing runs here which would mean
// something different in the cloud:
//
//	asl.go   the machine, its options and errors
//	load.go  JSON → Machine; every field is known or refused, with its path
//	path.go  reference paths, payload templates, result paths
//	run.go   executing: tasks, maps, retries, catches, limits
//	choice.go  rules of a Choice
//
// # What it knows
//
// States Task, Map (distributed mode), Choice, Wait, Succeed and Fail. Fields Parameters,
// ItemSelector, ItemsPath, ResultPath, Retry, Catch, TimeoutSeconds,
// MaxConcurrency, ToleratedFailurePercentage (only 0), Error, Cause,
// ErrorPath, CausePath, TimestampPath; Choices and Default with And, Or, Not, StringEquals,
// NumericEquals, BooleanEquals and IsPresent. Paths are "$", "$.a.b" and "$$.Map.Item.Value"; there
// are no intrinsic functions.
//
// # Error names
//
// A task's error is named by the Code method that it or an error it wraps has,
// else "internal"; a panic is "Runtime.Panic". The rest are AWS's own names:
// States.Timeout, States.DataLimitExceeded, States.Runtime,
// States.ExceedToleratedFailureThreshold, States.NoChoiceMatched. As at AWS, States.ALL matches all of
// them but States.Runtime, which nothing matches, and States.DataLimitExceeded.
package asl

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Error names of Amazon States Language that the interpreter reports or knows.
const (
	errorAll          = "States.ALL"
	errorTimeout      = "States.Timeout"
	ErrorRuntime      = "States.Runtime"
	errorDataLimit    = "States.DataLimitExceeded"
	errorMapThreshold = "States.ExceedToleratedFailureThreshold"
	errorNoChoice     = "States.NoChoiceMatched"
	errorTaskPanic    = "Runtime.Panic"
	errorTaskUnnamed  = "internal" // a task's error without a code
)

const (
	defaultMaxState    = 256 << 10 // Step Functions' quota for a payload
	defaultGrace       = 10 * time.Second
	unlimitedChildren  = 1000 // at once, where MaxConcurrency is 0
	defaultTaskTimeout = maxSeconds * time.Second
)

// Task is what a Task state calls: JSON in, JSON out. It must stop when its
// context ends. It may be called twice with one input, even at the same time:
// a call that was cut off by a time-out may still be running when the next
// begins.
type Task = func(ctx context.Context, input json.RawMessage) (json.RawMessage, error)

// Error is how an execution, or one state of it, fails.
type Error struct {
	// Name is what Retry and Catch go by.
	Name string
	// Cause is a text for people; that of a task's error is, as with Lambda, a
	// JSON document {"errorMessage", "errorType"}.
	Cause string
	// TimedOut says that the time of the whole execution was up: Step
	// Functions ends such an execution as TIMED_OUT, not as FAILED.
	TimedOut bool
	// Err is the error of the task, for the log, where there was one.
	Err error
}

func (e *Error) Error() string {
	if e.Cause == "" {
		return e.Name
	}
	return e.Name + ": " + e.Cause
}

// Unwrap returns the error of the task.
func (e *Error) Unwrap() error { return e.Err }

// Options are what an execution needs.
type Options struct {
	// Tasks are the functions, by Resource.
	Tasks map[string]Task
	// Log takes states as they begin, retries and failed children; default:
	// nowhere.
	Log *slog.Logger
	// Sleep waits before a retry, at most until ctx ends; default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Wait waits in a Wait state, at most until ctx ends; default: Sleep until then.
	Wait func(ctx context.Context, until time.Time) error
	// Jitter returns numbers in [0, 1) for JitterStrategy FULL; default: random.
	Jitter func() float64
	// MaxStateBytes limits the input and output of states; default 256 KiB.
	MaxStateBytes int
	// Grace is how long a task may go on when its context has ended, before
	// the execution continues without it; default 10 s.
	Grace time.Duration
}

// Machine is a loaded definition. It holds no state of executions and may run
// many at once.
type Machine struct {
	timeout time.Duration // 0: none
	graph
}

// Resources lists what the machine's tasks call, in order of their first
// appearance. An execution needs a function for each.
func (m *Machine) Resources() []string {
	var list []string
	m.walk(func(s *state) {
		if s.kind == kindTask && !slices.Contains(list, s.resource) {
			list = append(list, s.resource)
		}
	})
	return list
}

// graph is a set of states with a beginning: a machine, or what a map runs
// for each item.
type graph struct {
	start  string
	states map[string]*state
	order  []string // as written
}

// walk visits all states, those inside maps after the map.
func (g *graph) walk(fn func(*state)) {
	for _, name := range g.order {
		s := g.states[name]
		fn(s)
		if s.processor != nil {
			s.processor.walk(fn)
		}
	}
}

type kind string

const (
	kindTask    kind = "Task"
	kindMap     kind = "Map"
	kindChoice  kind = "Choice"
	kindWait    kind = "Wait"
	kindSucceed kind = "Succeed"
	kindFail    kind = "Fail"
)

// state is one state; which fields mean something depends on its kind.
type state struct {
	name string
	kind kind
	next string // empty: the end; of a Choice, none

	choices []choice
	until   path // of a Wait

	resource   string
	parameters *template // nil: the input as it is
	timeout    time.Duration

	items       path
	selector    *template // nil: the item as it is
	concurrency int       // 0: no limit
	processor   *graph

	result resultPath
	retry  []retrier
	catch  []catcher

	errorName, cause         string
	errorNamePath, causePath *path
}

type retrier struct {
	errors   []string
	interval time.Duration
	attempts int
	backoff  float64
	maxDelay time.Duration // 0: none
	jitter   bool
}

type catcher struct {
	errors []string
	result resultPath
	next   string
}

// matches reports whether one of the names of a Retry or Catch means this error.
func matches(names []string, err *Error) bool {
	if err.Name == ErrorRuntime {
		return false
	}
	return slices.Contains(names, err.Name) || err.Name != errorDataLimit && slices.Contains(names, errorAll)
}

// runtimeError is what the machine itself does wrong.
func runtimeError(s *state, format string, args ...any) *Error {
	return &Error{Name: ErrorRuntime, Cause: fmt.Sprintf("an error occurred while executing the state %q: ", s.name) + fmt.Sprintf(format, args...)}
}
