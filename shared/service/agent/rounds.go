package agent

import (
	"context"
	"errors"
	"log/slog"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Rounds are the rounds of jobs as they are kept: what all steps have in common.
// All fields are required.
type Rounds struct {
	Admin   *admin.Service
	Objects store.Objects
	// Log gets what callers must not see.
	Log *slog.Logger
}

// Step runs one step and gives its error a code. An error that no retry heals
// fails the job at once: what the workflow hands on is the code, and not every
// code has one sentence.
func (s Rounds) Step(ctx context.Context, ref admin.AgentRef, fn func(context.Context, admin.AgentRef) (job.AgentOutput, error)) (job.AgentOutput, error) {
	out, err := fn(ctx, ref)
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	coded, ok := errors.AsType[store.Coded](err)
	if !ok {
		return out, admin.Errorf(admin.CodeTemporary, "the agent's storage did not answer as it should").Wrap(err)
	}
	s.Log.WarnContext(ctx, "a step of an agent failed", "job", ref.Job, "round", ref.Round, "error", err)
	switch coded.Code() {
	case admin.CodeTemporary, admin.CodeInternal, admin.CodeJobNotActive:
		return out, err
	}
	if ferr := s.Admin.FailAgent(ctx, ref, coded.Code(), coded.SafeMessage()); ferr != nil && admin.CodeOf(ferr) != admin.CodeJobNotActive {
		return out, ferr
	}
	return out, err
}

// ErrCancelled returns the error of a round whose end was asked for.
func ErrCancelled() error {
	return admin.Errorf(admin.CodeCancelled, "the job was cancelled")
}
