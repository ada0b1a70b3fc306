package upkeep

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// FailInput tells of an error that the workflow caught.
type FailInput struct {
	JobID string     `json:"jobId"`
	Error ErrorNames `json:"error"`
}

// ErrorNames is an error in the words of the States Language.
type ErrorNames struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// messages are what a failed job says when the step itself left no cause.
var messages = map[string]string{
	admin.CodeInvalidSite:     "the site can't be exported as it is",
	admin.CodeRendererChanged: "the renderer was changed during the export; start another one",
	admin.CodeSiteTooLarge:    "the site is over a limit of exports",
	admin.CodeInconsistent:    "the snapshot's files are not what its manifest says",
	admin.CodeTemporary:       "the export met a passing fault again and again; start another one",
	admin.CodeInternal:        "the export met a fault of ours",
}

// mapThreshold is how a workflow names that a shard failed, and no more. Shards
// record all causes but those that may pass, and those that end the process;
// so where nothing is recorded, another export may do better.
const mapThreshold = "States.ExceedToleratedFailureThreshold"

// Message is what a job that failed with code says, "" for codes that are not
// ours.
func Message(code string) string { return messages[code] }

// Fail marks a job as failed. The cause that a step recorded goes before the
// one that the workflow names. A job that is final already stays as it is, and
// that is no error.
func (k *Keeper) Fail(ctx context.Context, in FailInput) error {
	code := in.Error.Error
	if code == mapThreshold {
		code = admin.CodeTemporary
	}
	message := messages[code]
	if message == "" {
		k.log.WarnContext(ctx, "the workflow failed with an error that has no code of ours", "job", in.JobID, "error", code, "cause", in.Error.Cause)
		code, message = admin.CodeInternal, messages[admin.CodeInternal]
		// An event of an execution's end may name its state alone.
		switch in.Error.Error {
		case "States.Timeout", string(store.TimedOut):
			message = "the export took too long"
		case string(store.Aborted):
			message = "the workflow of the export was stopped"
		}
	}
	err := k.admin.FailExport(ctx, in.JobID, code, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return Coded(err)
	}
	k.Clean(ctx, in.JobID, "")
	return nil
}

// FailTask is Fail as a workflow calls it: JSON in, JSON out.
func (k *Keeper) FailTask(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	var in FailInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, admin.Errorf(admin.CodeInternal, "a step got an input that it can't read").Wrap(err)
	}
	if err := k.Fail(ctx, in); err != nil {
		return nil, err
	}
	return json.RawMessage("{}"), nil
}

// Coded gives an error a code. What has none yet is what a port said, and a
// later call may not meet it.
func Coded(err error) error {
	if _, ok := errors.AsType[store.Coded](err); ok {
		return err
	}
	if errors.Is(err, store.ErrDigest) {
		return admin.Errorf(admin.CodeInconsistent, "%s", messages[admin.CodeInconsistent]).Wrap(err)
	}
	return admin.Errorf(admin.CodeTemporary, "the export's storage did not answer as it should").Wrap(err)
}
