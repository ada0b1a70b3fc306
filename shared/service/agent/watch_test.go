package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
)

// An answer that nobody wants any more is not waited for: of a job that was
// cancelled, or by a start that was overtaken.
func TestAnAnswerNobodyWants(t *testing.T) {
	cancel := func(w *world, j admin.AgentJob) { w.cancel(j) }
	overtake := func(w *world, j admin.AgentJob) {
		if _, err := w.admin.LeaseAgentWork(w.ctx, j.Current()); err != nil {
			w.t.Error(err)
		}
	}
	for _, c := range []struct {
		name  string
		slow  modeltest.Step
		while func(w *world, j admin.AgentJob)
		after script
		want  expected
	}{
		{"cancelled in a stream that stalls", mends.Stalling(700), cancel, nil, expected{code: admin.CodeCancelled}},
		{"cancelled in a stream that drips", mends.Dripping(1, time.Hour), cancel, nil, expected{code: admin.CodeCancelled}},
		{"cancelled before the stream", mends.Stalling(0), cancel, nil, expected{code: admin.CodeCancelled}},
		{"overtaken", mends.Stalling(700), overtake, steps(mends, finishes), expected{pulls: 1, turns: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			j := w.ask("Mend the spelling of widget")
			look := make(chan struct{})
			w.sleep = func(ctx context.Context, _ time.Duration) error {
				select {
				case <-look:
				case <-ctx.Done():
				}
				return ctx.Err()
			}
			w.model.Add(c.slow.When(func(model.Request) error {
				c.while(w, j)
				close(look)
				return nil
			}))
			w.model.Add(c.after...)
			if err := w.workflow(w.ctx, w.stepsOn(w.admin, w.objects), j.Current()); (err != nil) != (c.want.code != "") {
				t.Error(err)
			}
			w.end(w.job(j.ID), c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}
