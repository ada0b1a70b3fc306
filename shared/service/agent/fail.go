package agent

import (
	"context"
	"errors"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// FailInput names the round to fail, and the error that the workflow caught.
type FailInput struct {
	admin.AgentRef
	Error job.ErrorNames `json:"error"`
}

// step runs one step and gives its error a code. An error that no retry heals
// fails the job at once, since only the step knows the sentence that callers
// read: what the workflow hands to Fail is the code alone.
func (s *Steps) step(ctx context.Context, ref admin.AgentRef, fn func(context.Context, admin.AgentRef) (Output, error)) (Output, error) {
	out, err := fn(ctx, ref)
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	if _, ok := errors.AsType[store.Coded](err); !ok {
		return out, admin.Errorf(admin.CodeTemporary, "the agent's storage did not answer as it should").Wrap(err)
	}
	coded, _ := errors.AsType[store.Coded](err)
	switch coded.Code() {
	case admin.CodeTemporary, admin.CodeInternal, admin.CodeJobNotActive:
		return out, err
	}
	if ferr := s.opt.Admin.FailAgent(ctx, ref, coded.Code(), coded.SafeMessage()); ferr != nil && admin.CodeOf(ferr) != admin.CodeJobNotActive {
		s.opt.Log.ErrorContext(ctx, "the failure of an agent job was not recorded", "job", ref.Job, "error", ferr)
	}
	return out, err
}

// Fail marks the job as failed. A job that is final, or in another round, stays
// as it is, and that is not an error.
func (s *Steps) Fail(ctx context.Context, in FailInput) error {
	code, message := in.Error.Error, ""
	switch code {
	case admin.CodeTemporary:
		message = "the agent kept meeting a temporary error; ask again"
	case "States.Timeout", string(store.TimedOut):
		code, message = admin.CodeInternal, "the agent took too long"
	case string(store.Aborted):
		code, message = admin.CodeInternal, "the workflow of the agent was stopped"
	case "Runtime.ExitError", "Runtime.OutOfMemory":
		code, message = admin.CodeRepositoryTooLarge, "the repository takes more memory than a step has"
	default:
		s.opt.Log.ErrorContext(ctx, "the agent's workflow failed", "job", in.Job, "round", in.Round, "error", in.Error.Error, "cause", in.Error.Cause)
		code, message = admin.CodeInternal, admin.MessageInternal
	}
	err := s.opt.Admin.FailAgent(ctx, in.AgentRef, code, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	return err
}
