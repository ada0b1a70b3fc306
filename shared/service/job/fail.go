package job

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// mapThreshold is the workflow's error for a shard that failed, without its cause.
// Shards record all causes except temporary ones, and the workflow reports those that
// end the process: if nothing is recorded, another export may succeed.
const mapThreshold = "States.ExceedToleratedFailureThreshold"

// Fail marks an export as failed. A cause that a step recorded takes precedence over
// the one that the workflow names. It is not an error if the job is already final.
func (k *Keeper) Fail(ctx context.Context, in FailInput) error {
	code := in.Error.Error
	switch code {
	case mapThreshold:
		code = admin.CodeTemporary
	case "Runtime.ExitError", "Runtime.OutOfMemory": // what Lambda says of a process that ended, twice by then
		code = admin.CodeProcessEnded
	}
	message := messages[code]
	for _, outage := range store.OutageMessages() {
		if code == admin.CodeTemporary && strings.Contains(in.Error.Cause, outage) {
			message = outage
		}
	}
	if message == "" {
		code, message = admin.CodeInternal, endMessage(in.Error, "export", "")
		if message == "" {
			message = messages[code]
			k.opt.Log.WarnContext(ctx, "the workflow failed with an error that has no code of ours", "job", in.JobID, "error", in.Error.Error, "cause", in.Error.Cause)
		}
	}
	if over, err := recorded(ctx, k.opt.Admin.FailExport(ctx, in.JobID, code, message)); over || err != nil {
		return err
	}
	k.countFault(ctx, in.JobID)
	k.clear(ctx, in.JobID)
	return nil
}

// endMessage returns the message for an execution of a workflow whose error has no code of
// ours: an event of its end may name only its state. what is what it did.
func endMessage(e ErrorNames, what, otherwise string) string {
	switch e.Error {
	case "States.Timeout", string(store.TimedOut):
		return "the " + what + " took too long"
	case string(store.Aborted):
		return "the workflow of the " + what + " was stopped"
	}
	return otherwise
}

// recorded interprets the result of marking a job as failed: over is set if the job
// was final before, which is not an error.
func recorded(ctx context.Context, answer error) (over bool, err error) {
	switch {
	case admin.CodeOf(answer) == admin.CodeJobNotActive:
		return true, nil
	case answer != nil && ctx.Err() != nil:
		return false, ctx.Err()
	case answer != nil:
		return false, Coded(answer)
	}
	return false, nil
}

// agentMessages are the messages of failed rounds whose error is not one of ours.
var agentMessages = map[string]string{
	admin.CodeTemporary: "the agent kept failing with a temporary error; send a message to try again",
	admin.CodeInternal:  "the agent failed with an internal error",
}

// FailAgent marks a round of an agent job as failed, with the message of the step's
// error if that has a code of ours. It is not an error if the round is already over.
func (k *Keeper) FailAgent(ctx context.Context, in AgentFailInput) error {
	code := in.Error.Error
	var cause struct {
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}
	_ = json.Unmarshal([]byte(in.Error.Cause), &cause) // a cause that is not JSON has no message
	message := agentMessages[code]
	switch {
	case message != "":
	case slices.Contains(admin.Codes(), code) && cause.Type == code:
		message = cause.Message
	default:
		k.opt.Log.WarnContext(ctx, "the workflow failed with an error that has no code of ours", "job", in.Job, "round", in.Round, "error", code, "cause", in.Error.Cause)
		code, message = admin.CodeInternal, endMessage(in.Error, "agent", agentMessages[admin.CodeInternal])
	}
	if over, err := recorded(ctx, k.opt.Admin.FailAgent(ctx, in.AgentRef, code, message)); over || err != nil {
		return err
	}
	if code == admin.CodeInternal || code == admin.CodeTemporary {
		k.opt.Annotate(ctx, slog.Int("agentFaults", 1))
	}
	return nil
}

// Ended fails the job of an execution that did not succeed, as an event reports it.
func (k *Keeper) Ended(ctx context.Context, e store.Execution) error {
	names := ErrorNames{Error: cmp.Or(e.Error, string(e.State)), Cause: e.Cause}
	if e.Workflow != store.WorkflowAgent {
		return k.Fail(ctx, FailInput{JobID: e.Name, Error: names})
	}
	var ref admin.AgentRef
	if err := json.Unmarshal([]byte(e.Input), &ref); err != nil {
		return admin.Errorf(admin.CodeInternal, "the input of an agent's execution can't be read").Wrap(err)
	}
	return k.FailAgent(ctx, AgentFailInput{AgentRef: ref, Error: names})
}

// countFault annotates "exportFaults" for a job that failed by no fault of its site.
// A fault that can't be looked up is not counted.
func (k *Keeper) countFault(ctx context.Context, jobID string) {
	j, err := k.opt.Admin.FindExport(ctx, jobID)
	if err != nil || j.Failure == nil {
		return
	}
	switch j.Failure.Code {
	case admin.CodeInternal, admin.CodeTemporary, admin.CodeRendererChanged:
		k.opt.Annotate(ctx, slog.Int("exportFaults", 1))
	}
}
