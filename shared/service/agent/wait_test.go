package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/job"
)

const newPage = "---\ntitle: New\ndescription: A new page\n---\n\nText.\n"

// lasting answers with one step for so long since the first request, then with another.
func lasting(w **world, d time.Duration, s, after modeltest.Step) modeltest.Step {
	var end time.Time
	return modeltest.Func(func(model.Request) modeltest.Step {
		if end.IsZero() {
			end = (*w).Time().Add(d)
		}
		if (*w).Time().Before(end) {
			return s
		}
		return after
	})
}

// TestOverloadIsWaitedOut: a server that can't answer for a while costs time, not work.
func TestOverloadIsWaitedOut(t *testing.T) {
	for name, test := range map[string]struct {
		answer modeltest.Step
		lasts  time.Duration
		most   int           // waits
		first  time.Duration // at least
	}{
		"20 minutes of overload":  {modeltest.Overloaded(), 20 * time.Minute, 7, 30 * time.Second},
		"5 hours of overload":     {modeltest.Overloaded(), 5 * time.Hour, 26, 30 * time.Second},
		"Retry-After of an hour":  {modeltest.RateLimited("3600"), time.Hour, 1, time.Hour},
		"a limit without a time":  {modeltest.RateLimited(""), 2 * time.Minute, 4, 30 * time.Second},
		"Retry-After of 90 s":     {modeltest.RateLimited("90"), time.Minute, 1, 90 * time.Second},
		"unavailable for an hour": {modeltest.Status(503, "", ""), time.Hour, 10, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			w = newWorld(t, write("guides/new.mdx", newPage), lasting(&w, test.lasts, test.answer, done("Add a page")))
			j := w.run(w.ask("Add a page"))
			if j.Status != admin.AgentCompleted || j.PRLink == "" || !j.RetryAt.IsZero() {
				t.Fatalf("got %+v, %v", j, j.Failure)
			}
			if len(w.waits) == 0 || len(w.waits) > test.most || w.waits[0] < test.first || w.waits[0] > test.first*9/8+time.Second {
				t.Errorf("waited %v", w.waits)
			}
			if longest := slices.Max(w.waits); longest > max(17*time.Minute, test.first*9/8+time.Second) {
				t.Errorf("waited %v", longest)
			}
		})
	}
}

// TestJobsDoNotAskAtOnce: jobs that wait for one server come back at different times.
func TestJobsDoNotAskAtOnce(t *testing.T) {
	first := map[time.Duration]bool{}
	for range 8 {
		var w *world
		w = newWorld(t, lasting(&w, time.Second, modeltest.RateLimited("3600"), done("Nothing")))
		w.run(w.ask("Add a page"))
		first[w.waits[0].Truncate(time.Minute)] = true
	}
	if len(first) < 2 {
		t.Errorf("eight jobs wait for %v", first)
	}
}

// TestNotWaitedFor: errors that pass no sooner for waiting end the round.
func TestNotWaitedFor(t *testing.T) {
	for name, s := range map[string]modeltest.Step{
		"a key that is wrong": modeltest.Status(401, "authentication_error", "invalid x-api-key").Forever(),
		"a request":           modeltest.Status(400, "invalid_request_error", "max_tokens").Forever(),
		"a server that fails": modeltest.Failing().Forever(),
		"too long a time":     modeltest.RateLimited("86400").Forever(),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, s)
			if j := w.run(w.ask("Add a page")); j.Status != admin.AgentFailed || len(w.waits) > 0 {
				t.Errorf("got %s %v after %v", j.Status, j.Failure, w.waits)
			}
		})
	}
}

// TestWaitingForEver ends with the time of the round, or with a fallback before.
func TestWaitingForEver(t *testing.T) {
	w := newWorld(t, modeltest.Overloaded().Forever())
	began := w.Time()
	j := w.run(w.ask("Add a page"))
	took := w.Time().Sub(began)
	if j.Status != admin.AgentFailed || j.Failure.Code != model.CodeUnavailable || took > job.AgentRound-15*time.Minute || took < 5*time.Hour {
		t.Errorf("%s %v after %v", j.Status, j.Failure, took)
	}

	w = newWorld(t, modeltest.Func(func(r model.Request) modeltest.Step {
		if r.Model == "spare-1" {
			return modeltest.Calls(call("write", args{"path": "guides/new.mdx", "content": newPage}), finish("Add a page"))
		}
		return modeltest.Overloaded()
	}))
	w.spare = true
	j = w.run(w.ask("Add a page"))
	if j.Status != admin.AgentCompleted || j.Fallback != "spare" || !strings.HasPrefix(j.Model, "spare") {
		t.Errorf("%s by %s %v", j.Status, j.Model, j.Failure)
	}
	// The next round begins with the model that was asked for.
	if j = w.message(j, "Once more"); j.Fallback != "" {
		t.Errorf("the next round asks %s", j.Fallback)
	}
}

// TestWaitsAreBounded: a server that answers now and then can't make a round's
// history longer than the workflow's.
func TestWaitsAreBounded(t *testing.T) {
	n := 0
	w := newWorld(t, modeltest.Func(func(model.Request) modeltest.Step {
		if n++; n%5 > 0 { // both attempts, twice, before each answer
			return modeltest.Overloaded()
		}
		return modeltest.Calls(call("search", args{"text": strings.Repeat("x", 1+n)}))
	}))
	j := w.run(w.ask("Add a page"))
	if len(w.waits) != agent.MaxWaits || j.Failure == nil || j.Failure.Code != model.CodeUnavailable {
		t.Errorf("%d waits, %v", len(w.waits), j.Failure)
	}
}

// TestCancelledWhileItWaits: the round ends in the call that cancels it, and what wakes
// later changes nothing.
func TestCancelledWhileItWaits(t *testing.T) {
	w := newWorld(t, modeltest.Overloaded().Forever())
	asked := w.ask("Add a page")
	w.waiting = func() {
		if j := w.job(asked.ID); !j.Waiting(w.Time()) || j.Phase != admin.AgentWorking {
			t.Errorf("it waits until %v in %s", j.RetryAt, j.Phase)
		}
		w.cancel(asked)
		if j := w.job(asked.ID); j.Status != admin.AgentFailed || j.Failure.Code != admin.CodeCancelled {
			t.Errorf("it is %s, %v", j.Status, j.Failure)
		}
	}
	j := w.run(asked)
	if j.Failure.Code != admin.CodeCancelled || len(w.waits) != 1 {
		t.Errorf("%v after %v", j.Failure, w.waits)
	}
	// Its place is free again.
	w.ask("Something else")
}

// TestMessageWhileItWaits: the next round asks at once and goes on from what was done;
// the workflow that wakes later changes nothing.
func TestMessageWhileItWaits(t *testing.T) {
	asks := 0
	w := newWorld(t, write("guides/new.mdx", newPage), modeltest.Func(func(r model.Request) modeltest.Step {
		if asks++; asks <= 2 {
			return modeltest.Overloaded()
		}
		return told("guides/new.mdx", told("Try it with another one", done("Add a page")))
	}))
	asked := w.ask("Add a page")
	var second admin.AgentJob
	w.waiting = func() {
		j := w.message(asked, "Try it with another one")
		if j.Round != 2 || j.Queued || j.Phase != admin.AgentQueued || !j.RetryAt.IsZero() {
			t.Errorf("got %+v", j)
		}
		second = w.run(j)
	}
	j := w.run(asked)
	if second.Status != admin.AgentCompleted || second.PRLink == "" || second.Changes.Files != 1 || j.Status != admin.AgentCompleted || j.Round != 2 {
		t.Errorf("%s in round %d, %v, %+v", second.Status, second.Round, second.Failure, second.Changes)
	}
	if pulls := w.forge.Pulls(); len(pulls) != 1 {
		t.Errorf("%d pull requests", len(pulls))
	}
}

// TestMessageWhileTheModelFails: one that comes between an attempt and the wait is not
// left until the end of the wait.
func TestMessageWhileTheModelFails(t *testing.T) {
	var w *world
	var asked admin.AgentJob
	asks := 0
	w = newWorld(t, modeltest.Func(func(r model.Request) modeltest.Step {
		if asks++; asks == 2 {
			w.message(asked, "And this")
		}
		if asks <= 2 {
			return modeltest.Overloaded()
		}
		return told("And this", done("Nothing"))
	}))
	asked = w.ask("Add a page")
	j := w.run(asked)
	if j.Round != 2 || j.Phase != admin.AgentQueued || len(w.waits) > 0 {
		t.Fatalf("got %+v after %v", j, w.waits)
	}
	if j = w.run(j); j.Status != admin.AgentCompleted {
		t.Errorf("%s, %v", j.Status, j.Failure)
	}
}

// TestAWorkflowThatBeginsAgain goes on with its wait and does not ask before its end.
func TestAWorkflowThatBeginsAgain(t *testing.T) {
	var w *world
	var j admin.AgentJob
	w = newWorld(t, lasting(&w, 10*time.Minute, modeltest.RateLimited("600"), done("Nothing").When(func(model.Request) error {
		if at := w.job(j.ID).RetryAt; !at.IsZero() {
			return fmt.Errorf("the job says that it waits until %v while the model answers", at)
		}
		return nil
	})))
	j = w.ask("Add a page")
	w.waiting = func() {
		out, err := w.steps.Work(w.ctx, j.Current())
		if err != nil || out.Next != job.NextWait || !out.WaitUntil.Equal(w.job(j.ID).RetryAt) {
			t.Errorf("got %+v, %v", out, err)
		}
	}
	if j = w.run(j); j.Status != admin.AgentCompleted || len(w.waits) != 1 {
		t.Errorf("%s after %v", j.Status, w.waits)
	}
}
