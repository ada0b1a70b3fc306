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

// mapThreshold is how a workflow names that a shard failed, and no more. Shards
// record all causes but those that may pass, and the workflow reports those that
// end the process; so where nothing is recorded, another export may do better.
const mapThreshold = "States.ExceedToleratedFailureThreshold"

// Fail marks an export as failed. The cause that a step recorded goes before the
// one that the workflow names. A job that is already final stays as it is, and
// that is not an error.
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
		code, message = admin.CodeInternal, messages[admin.CodeInternal]
		// An event of an execution's end may name its state alone.
		switch in.Error.Error {
		case "States.Timeout", string(store.TimedOut):
			message = "the export took too long"
		case string(store.Aborted): // of a cancelled export, too, which is final by now
			message = "the workflow of the export was stopped"
		default:
			k.opt.Log.WarnContext(ctx, "the workflow failed with an error that has no code of ours", "job", in.JobID, "error", in.Error.Error, "cause", in.Error.Cause)
		}
	}
	err := k.opt.Admin.FailExport(ctx, in.JobID, code, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return Coded(err)
	}
	k.countFault(ctx, in.JobID)
	k.clear(ctx, in.JobID)
	return nil
}

// agentMessages are what a failed round says where the error itself is not one of
// ours.
var agentMessages = map[string]string{
	admin.CodeTemporary: "the agent kept failing with a temporary error; send a message to try again",
	admin.CodeInternal:  "the agent failed with an internal error",
}

// FailAgent marks a round of an agent job as failed, with the message of the
// step's error where that has a code of ours. A round that is already over stays
// as it is, and that is not an error.
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
		code, message = admin.CodeInternal, agentMessages[admin.CodeInternal]
		switch in.Error.Error {
		case "States.Timeout", string(store.TimedOut):
			message = "the agent took too long"
		case string(store.Aborted):
			message = "the workflow of the agent was stopped"
		}
	}
	err := k.opt.Admin.FailAgent(ctx, in.AgentRef, code, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return Coded(err)
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

// countFault annotates "exportFaults" where a job failed by no fault of its site.
// A fault that can't be looked up is not counted: the job has failed all the same.
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
