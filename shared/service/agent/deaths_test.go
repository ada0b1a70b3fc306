package agent_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// mortal is a world in which jobs run one after another with faults.
type mortal struct {
	*world
	asked atomic.Int64 // requests to the model
	ran   int          // jobs
}

// newMortal has a model that answers by what it has been told: two turns.
func newMortal(t *testing.T) *mortal {
	m := &mortal{world: newWorld(t)}
	m.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		m.asked.Add(1)
		if len(r.Messages) == 1 {
			return mends
		}
		return finishes
	}))
	return m
}

// run runs a job with faults and returns it with the calls that it made and the
// faults that it met.
func (m *mortal) run(plan map[string]storetest.Fault) (j admin.AgentJob, calls, hit []string) {
	m.mu.Lock()
	m.now = m.now.Add(time.Hour) // a project starts so many an hour
	m.mu.Unlock()
	m.asked.Store(0)
	m.ran++
	j = m.ask("Mend the spelling of widget")
	f := storetest.NewFaults(plan)
	f.Rename = func(name string) string {
		return varying.ReplaceAllString(name, "$1…")
	}
	o := f.Objects(m.objects)
	s := m.stepsOver(m.service(f.Store(m.store), o), o, f.Transport(http.DefaultTransport))
	tasks := m.tasks(s)
	for name, task := range tasks {
		if name != job.TaskAgentFail {
			tasks[name] = invoked(f, task)
		}
	}
	if err := m.execute(m.ctx, j.Current(), tasks); err != nil {
		m.t.Log("the workflow ended with", err)
	}
	f.Release()
	return m.job(j.ID), f.Log(), f.Hit()
}

// varying are names that are not the same for each job: IDs and digests.
var varying = regexp.MustCompile(`((?:agj|prj|org)_|)[0-9a-z]{26,}`)

// invoked is a task whose calls have faults. Of two invocations the first one's
// answer counts.
func invoked(f *storetest.Faults, task asl.Task) asl.Task {
	return func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
		var began atomic.Int64
		answer := make(chan json.RawMessage, 1)
		err := f.Invoke(ctx, func(ctx context.Context) error {
			first := began.Add(1) == 1
			out, err := task(ctx, in)
			if first {
				answer <- out
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return <-answer, nil
	}
}

// Whatever call a step dies at, or is doubled at, or is too late with: the job
// ends with one pull request, one commit, each turn once, and at most one answer
// of the model is paid twice.
func TestDeathAtEachCall(t *testing.T) {
	m := newMortal(t)
	sound, calls, _ := m.run(nil)
	m.whole(sound, nil)
	if n := m.asked.Load(); n != 2 {
		t.Fatalf("the model was asked %d times", n)
	}
	// Each call has one of the faults; which, turns with the call.
	faults, step := storetest.AllFaults(), 1
	if testing.Short() {
		step = 11
	}
	for i := 0; i < len(calls); i += step {
		if m.ran == 12 { // the more pull requests, the slower the fake's list of them
			m = newMortal(t)
		}
		fault := faults[i%len(faults)]
		j, _, hit := m.run(map[string]storetest.Fault{calls[i]: fault})
		if len(hit) != 1 {
			t.Fatalf("%s at %s was not met: %q", fault, calls[i], hit)
		}
		m.whole(j, hit)
		if n := m.asked.Load(); n > 3 {
			t.Errorf("the model was asked %d times, after %q", n, hit)
		}
		if t.Failed() {
			return
		}
	}
}

// whole checks that the last job has ended as it should.
func (m *mortal) whole(j admin.AgentJob, hit []string) {
	m.t.Helper()
	n := m.ran
	if j.Status != admin.AgentCompleted || j.Turns != 2 {
		m.t.Errorf("the job is %s after %d turns: %+v, after %q", j.Status, j.Turns, j.Failure, hit)
		return
	}
	pulls := m.forge.Pulls()
	if len(pulls) != n || pulls[n-1].URL != j.PRLink || pulls[n-1].Head != j.Branch {
		m.t.Errorf("%d pull requests, want %d, after %q", len(pulls), n, hit)
	}
	if commits := m.forge.Commits(j.Branch); len(commits) != 2 || j.Branch != "bindery/"+j.ID {
		m.t.Errorf("%d commits on %s, after %q", len(commits), j.Branch, hit)
	}
	turns := 0
	events, _, err := m.admin.AgentEvents(m.ctx, m.caller, j.Project, j.ID, "", 100)
	if err != nil {
		m.t.Error(err)
	}
	for _, e := range events {
		if e.Kind == admin.AgentEventTurn {
			turns++
		}
	}
	if turns != 2 {
		m.t.Errorf("%d turns are told of, after %q", turns, hit)
	}
}

// A start of Work that comes while the round is publishing does no harm.
func TestWorkWhilePublishing(t *testing.T) {
	w := newWorld(t, steps(mends, finishes)...)
	j := w.ask("Mend the spelling of widget")
	late := false
	s := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		if !late && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, "commit#") {
			late = true
			if out, err := w.steps.Work(ctx, j.Current()); err != nil || out.Next != job.NextPublish {
				t.Errorf("the late start returns %+v, %v", out, err)
			}
		}
		return do(ctx)
	})
	if err := w.workflow(w.ctx, w.stepsOn(w.service(s, w.objects), w.objects), j.Current()); err != nil || !late {
		t.Error(err, late)
	}
	w.end(w.job(j.ID), expected{pulls: 1, turns: 2})
}
