package agent

import (
	"context"
	"errors"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// watchEvery is how often the job is read while a model answers.
const watchEvery = 5 * time.Second

// watched returns a context in which to ask the model. It ends when nobody wants
// the answer any more: after a cancel, when a newer start has the lease, or when
// the round is over. unwanted then returns why, else nil. The caller calls end,
// which waits for the last read.
func (s *Steps) watched(parent context.Context, lease admin.AgentLease) (ctx context.Context, unwanted func() error, end func()) {
	ctx, stop := context.WithCancelCause(parent)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for s.opt.Sleep(ctx, watchEvery) == nil {
			err := s.opt.Admin.CheckAgentLease(ctx, lease)
			switch admin.CodeOf(err) {
			case admin.CodeCancelled, admin.CodeSuperseded, admin.CodeJobNotActive:
				stop(err)
				return
			}
		}
	}()
	unwanted = func() error {
		if cause, ok := errors.AsType[store.Coded](context.Cause(ctx)); ok && parent.Err() == nil {
			return cause
		}
		return nil
	}
	return ctx, unwanted, func() { stop(nil); <-looked }
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
