package job

import (
	"context"
	"log/slog"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// mapThreshold is how a workflow names that a shard failed, and no more. Shards
// record all causes but those that may pass, and the workflow reports those that
// end the process; so where nothing is recorded, another export may do better.
const mapThreshold = "States.ExceedToleratedFailureThreshold"

// Fail marks a job as failed. The cause that a step recorded goes before the
// one that the workflow names. A job that is final already stays as it is, and
// that is no error.
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
		k.opt.Log.WarnContext(ctx, "the workflow failed with an error that has no code of ours", "job", in.JobID, "error", code, "cause", in.Error.Cause)
		code, message = admin.CodeInternal, messages[admin.CodeInternal]
		// An event of an execution's end may name its state alone.
		switch in.Error.Error {
		case "States.Timeout", string(store.TimedOut):
			message = "the export took too long"
		case string(store.Aborted):
			message = "the workflow of the export was stopped"
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
	Clean(ctx, k.opt.Objects, k.opt.Log, in.JobID, "")
	return nil
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
