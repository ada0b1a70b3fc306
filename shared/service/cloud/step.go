package cloud

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// faultOfOurs is what a workflow learns of an error that nothing explains.
const faultOfOurs = "the step failed with an internal error"

// StepOptions go with Step.
type StepOptions struct {
	// Log gets what callers must not see; nil discards it.
	Log *slog.Logger
	// Metrics counts invocations; nil counts nothing.
	Metrics *Metrics
}

// Step runs one step of a workflow: it takes a state's input as JSON and returns
// its output.
//
// An error reaches the workflow under its code (store.Coded) with its safe
// message; all else that it knows goes to the log. An error without a code is
// "temporary" where the invocation's time ended, else "internal". A panic is
// "internal" too, is reported with its stack, and ends the process: what it
// left half-done must not meet the next invocation.
func Step(run func(ctx context.Context, input json.RawMessage) (json.RawMessage, error), o StepOptions) Handler {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &stepAdapter{run, o}
}

type stepAdapter struct {
	run func(ctx context.Context, input json.RawMessage) (json.RawMessage, error)
	StepOptions
}

// Invoke runs the step once.
func (a *stepAdapter) Invoke(ctx context.Context, payload []byte) (output []byte, err error) {
	began := time.Now()
	ctx = invocation(ctx)
	ctx, cancel := early(ctx)
	defer cancel()
	code := ""
	defer func() { a.Metrics.done(ctx, time.Since(began), code) }()
	defer func() {
		if v := recover(); v != nil {
			code = admin.CodeInternal
			a.Log.ErrorContext(ctx, "a step panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			fault := invokeError(admin.CodeInternal, faultOfOurs)
			fault.StackTrace, fault.ShouldExit = stack(), true
			output, err = nil, fault
		}
	}()
	var input job.RenderInput                   // no step's input has other names
	if json.Unmarshal(payload, &input) == nil { // the step itself judges its input
		Annotate(ctx, slog.String(noteJob, input.JobID))
		if input.Shard > 0 {
			Annotate(ctx, slog.Int("shard", input.Shard))
		}
	}
	out, err := a.run(ctx, payload)
	if err == nil {
		if len(out) == 0 {
			out = json.RawMessage("null")
		}
		return out, nil
	}
	var message string
	code, message = reported(err)
	a.Log.Log(ctx, levelOf(code), "the step failed", "code", code, "error", err)
	return nil, invokeError(code, message)
}

// reported is what a workflow learns of an error.
func reported(err error) (code, message string) {
	code = admin.CodeOf(err)
	if c, ok := errors.AsType[store.Coded](err); ok {
		return code, c.SafeMessage()
	}
	if code == admin.CodeTemporary {
		return code, "the step's time ended before it was done"
	}
	return code, faultOfOurs
}

func levelOf(code string) slog.Level {
	if code == admin.CodeInternal {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// invokeError is an error that the Lambda runtime reports under its own name:
// that of the first argument, not of a Go type.
func invokeError(code, message string) messages.InvokeResponse_Error {
	return messages.InvokeResponse_Error{Type: code, Message: message}
}

// stack is that of a panic, seen from the function deferred around it.
func stack() []*messages.InvokeResponse_Error_StackFrame {
	var pcs [32]uintptr
	n := runtime.Callers(3, pcs[:]) // leaves out runtime.Callers, stack and the deferred function
	frames := runtime.CallersFrames(pcs[:n])
	var list []*messages.InvokeResponse_Error_StackFrame
	for {
		f, more := frames.Next()
		if f.Function != "" {
			list = append(list, &messages.InvokeResponse_Error_StackFrame{
				Path: f.File, Line: int32(f.Line), Label: f.Function[strings.LastIndexByte(f.Function, '/')+1:],
			})
		}
		if !more {
			return list
		}
	}
}

// ExecutionEnded returns the Fail step as both a workflow and an event of
// EventBridge call it. An event about an execution that ended ("Step Functions
// Execution Status Change") becomes a job.FailInput, or a job.AgentFailInput where its
// input names a round; any other payload goes to fail as it is. An execution that ended without an error's name gets one:
// "States.Timeout" where its time was over, else its state.
func ExecutionEnded(fail func(context.Context, json.RawMessage) (json.RawMessage, error)) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
		input, err := failInput(payload)
		if err != nil {
			return nil, err
		}
		return fail(ctx, input)
	}
}

func failInput(payload json.RawMessage) (json.RawMessage, error) {
	var event struct {
		DetailType string `json:"detail-type"`
		Detail     struct {
			Name   string `json:"name"`
			Status string `json:"status"`
			Error  string `json:"error"`
			Cause  string `json:"cause"`
			Input  string `json:"input"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(payload, &event); err != nil || event.DetailType != "Step Functions Execution Status Change" {
		return payload, nil
	}
	d := event.Detail
	if d.Name == "" {
		return nil, errors.New("the event does not name its execution")
	}
	if d.Status == string(store.Succeeded) || d.Status == string(store.Running) {
		return nil, fmt.Errorf("the execution %s is %s: it did not fail", d.Name, d.Status)
	}
	if d.Error == "" && d.Status == string(store.TimedOut) {
		d.Error = "States.Timeout"
	}
	failed := job.ErrorNames{Error: cmp.Or(d.Error, d.Status), Cause: d.Cause}
	var ref admin.AgentRef
	if err := json.Unmarshal([]byte(d.Input), &ref); err == nil && ref.Round > 0 {
		return json.Marshal(job.AgentFailInput{AgentRef: ref, Error: failed})
	}
	return json.Marshal(job.FailInput{JobID: d.Name, Error: failed})
}
