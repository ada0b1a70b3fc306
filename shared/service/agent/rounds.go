package agent

import (
	"context"
	"errors"
	"log/slog"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Rounds reads and writes the stored rounds of jobs, for all steps. All fields are
// required.
type Rounds struct {
	Admin   *admin.Service
	Objects store.Objects
	// Log receives what callers must not see.
	Log *slog.Logger
}

// Step runs one step of a phase and returns its error with a code. An error that no
// retry can cure fails the job at once, with its own message: the workflow passes on
// the code, and many messages share one. The error of a step is dropped if another
// start of it has ended the phase.
func (s Rounds) Step(ctx context.Context, ref admin.AgentRef, phase admin.AgentPhase, fn func(context.Context, admin.AgentRef) (job.AgentOutput, error)) (job.AgentOutput, error) {
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
	if t, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err); ok && t.Temporary() {
		// The workflow tries again, and fails the job with this code at last.
		if nerr := s.Admin.AgentNote(ctx, ref, admin.AgentEvent{Kind: admin.AgentEventNote, Text: coded.SafeMessage() + "; trying again"}); nerr != nil {
			s.Log.WarnContext(ctx, "a note of an agent job was not kept", "job", ref.Job, "error", nerr)
		}
		return out, err
	}
	switch coded.Code() {
	case admin.CodeTemporary, admin.CodeInternal, admin.CodeJobNotActive, admin.CodeSuperseded:
		return out, err
	}
	end := admin.AgentEnd{Code: coded.Code(), Message: coded.SafeMessage()}
	if refusal, ok := errors.AsType[*refusal](err); ok {
		end.Refused, end.Seen = refusal.first, refusal.last
	}
	ferr := s.Admin.FailAgentIn(ctx, ref, phase, end)
	switch admin.CodeOf(ferr) {
	case "", admin.CodeJobNotActive:
		return out, err
	case admin.CodeSuperseded:
		return out, nil
	}
	return out, ferr
}

// refusal is the error of a model that refused a request: that one is not made again in
// later rounds. first and last are the numbers of its messages.
type refusal struct {
	error
	first, last int
}

func (r *refusal) Unwrap() error { return r.error }

// ErrCancelled returns the error of a cancelled round.
func ErrCancelled() error {
	return admin.Errorf(admin.CodeCancelled, "the job was cancelled")
}
