package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// What was paid for is the job's usage, whether or not it became a turn.
func TestUsageIsWhatWasPaid(t *testing.T) {
	paid := model.Usage{Input: 100, CacheWrite: 10, CacheRead: 1000, Output: 5}
	for _, c := range []struct {
		name    string
		script  script
		lost    bool  // the first turn is not written
		answers int64 // paid for
		want    expected
	}{
		{name: "a refusal", script: steps(modeltest.Refusal("No.")), answers: 1, want: expected{code: model.CodeRefused}},
		{name: "a refusal after a turn", script: steps(mends, modeltest.Refusal("No.")), answers: 2, want: expected{code: model.CodeRefused, turns: 1}},
		{name: "streams that break", script: steps(mends.Cut(700).Costing(paid), mends.Cut(700)), answers: 2, want: expected{code: model.CodeUnavailable}},
		{name: "a stream that breaks", script: steps(mends.Cut(700), mends, finishes), answers: 3, want: expected{pulls: 1, turns: 2}},
		{name: "a stream that breaks, then too long", script: steps(lists, mends, finishes.Cut(700), modeltest.TooLong(), finishes), answers: 4, want: expected{pulls: 1, turns: 3}},
		{name: "a turn that is lost", script: steps(mends, mends, finishes), lost: true, answers: 3, want: expected{pulls: 1, turns: 2, body: []string{"3330 input"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.script {
				c.script[i] = c.script[i].Costing(paid)
			}
			w := newWorld(t, c.script...)
			j := w.ask("Mend the spelling of widget")
			s := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
				if c.lost && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, "turn#") {
					c.lost = false
					return errors.New("lost")
				}
				return do(ctx)
			})
			if err := w.workflow(w.ctx, w.stepsOn(w.service(s, w.objects), w.objects), j.Current()); err != nil {
				t.Log("the workflow ended with", err)
			}
			end := w.job(j.ID)
			w.end(end, c.want)
			n := c.answers
			want := admin.AgentUsage{Input: n * paid.Input, CacheWrite: n * paid.CacheWrite, CacheRead: n * paid.CacheRead, Output: end.Usage.Output, Cost: end.Usage.Cost}
			// Of a stream that breaks, the figure of what it wrote had not come yet.
			if end.Usage != want || want.Output < n || want.Cost < n*paid.Input*3 || end.RoundCost != end.Usage.Cost {
				t.Errorf("the usage is %+v, want %+v", end.Usage, want)
			}
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// What became no turn uses up the budget too.
func TestLostAnswersAreInTheBudget(t *testing.T) {
	w := newWorld(t, mends.Costing(model.Usage{Input: 1_600_000, Output: 1}), told("this is your last turn", finishes))
	j := w.ask("Mend the spelling of widget")
	lost := false
	s := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		if !lost && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, "turn#") {
			lost = true
			return errors.New("lost")
		}
		return do(ctx)
	})
	if err := w.workflow(w.ctx, w.stepsOn(w.service(s, w.objects), w.objects), j.Current()); err != nil {
		t.Error(err)
	}
	w.end(w.job(j.ID), expected{turns: 1, unfinished: true})
}
