package agent_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
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

	"github.com/bindery-docs/bindery/tests/outside"
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
		switch again := strings.Contains(r.Messages[0].Content[0].Text, "Asked before"); {
		case len(r.Messages) > 1:
			return finishes
		case again:
			return rename[0]
		}
		return mends
	}))
	return m
}

// new starts a job.
func (m *mortal) new() admin.AgentJob {
	m.Advance(time.Hour) // a project starts so many an hour
	m.ran++
	return m.ask("Mend the spelling of widget")
}

// run runs a job's round with faults and returns the job with the calls that were
// made and the faults that were met.
func (m *mortal) run(j admin.AgentJob, plan map[string]storetest.Fault) (end admin.AgentJob, calls, hit []string) {
	m.asked.Store(0)
	f := storetest.NewFaults(plan)
	f.Rename = func(name string) string {
		return varying.ReplaceAllString(name, "$1$2…")
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
		m.t.Errorf("the workflow ended with %v, after %q", err, f.Hit())
	}
	f.Release()
	return m.job(j.ID), f.Log(), f.Hit()
}

// varying are names that are not the same for each job: IDs and digests.
var varying = regexp.MustCompile(`((?:agj|prj|org)_|)[0-9a-z]{26,}|(/pulls/)[0-9]+`)

// reading are the calls of ports that change nothing.
var reading = regexp.MustCompile(`^(Store\.Get|Store\.Query|Objects\.Get)`)

// every returns which of the calls have a fault: each one with make agent-mutations, every
// usual one of them in make test, and every short one in short tests.
func every(t *testing.T, usual, short int) int {
	switch {
	case outside.Full():
		return 1
	case outside.Short(t):
		return short
	}
	return usual
}

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
	sound, calls, _ := m.run(m.new(), nil)
	m.whole(sound, 1, nil)
	if n := m.asked.Load(); n != 2 {
		t.Fatalf("the model was asked %d times", n)
	}
	// Each call has one of the faults; which, turns with the call. Of those that
	// only read, every fifth one is enough, and every other one in make test-all.
	faults, step, short := storetest.AllFaults(), 5, outside.Short(t)
	if outside.Full() {
		step = 2
	}
	if short {
		step = 11
	}
	for i, call := range calls {
		if i%step > 0 && (short || reading.MatchString(call)) {
			continue
		}
		if m.ran == 12 { // the more pull requests, the slower the fake's list of them
			m = newMortal(t)
		}
		fault := faults[i%len(faults)]
		j, _, hit := m.run(m.new(), map[string]storetest.Fault{call: fault})
		if len(hit) != 1 {
			t.Fatalf("%s at %s was not met: %q", fault, call, hit)
		}
		m.whole(j, 1, hit)
		if n := m.asked.Load(); n > 3 {
			t.Errorf("the model was asked %d times, after %q", n, hit)
		}
		if t.Failed() {
			return
		}
	}
}

// The same in a second round, at each call that changes something: every third of
// them, and all with make test-all.
func TestDeathInTheSecondRound(t *testing.T) {
	m := newMortal(t)
	second := func(plan map[string]storetest.Fault) (admin.AgentJob, []string, []string) {
		one, _, _ := m.run(m.new(), nil)
		m.whole(one, 1, nil)
		return m.run(m.message(one, "Call them gadgets"), plan)
	}
	sound, calls, _ := second(nil)
	m.whole(sound, 2, nil)
	calls = slices.DeleteFunc(calls, reading.MatchString)
	faults, step := storetest.AllFaults(), every(t, 3, 6)
	for i := 0; i < len(calls); i += step {
		if m.ran == 12 {
			m = newMortal(t)
		}
		j, _, hit := second(map[string]storetest.Fault{calls[i]: faults[(i+3)%len(faults)]})
		if len(hit) != 1 {
			t.Fatalf("%s was not met: %q", calls[i], hit)
		}
		m.whole(j, 2, hit)
		if n := m.asked.Load(); n > 3 {
			t.Errorf("the model was asked %d times, after %q", n, hit)
		}
		if t.Failed() {
			return
		}
	}
}

// The same where people push a conflict before Publish, which gives the round back: at
// each call that changes something, or some of them.
func TestDeathInAConflict(t *testing.T) {
	outside.NoRace(t, "it runs dozens of jobs")
	m := &mortal{world: newWorld(t)}
	m.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		last := r.Messages[len(r.Messages)-1].Content
		switch told := last[len(last)-1].Text; {
		case strings.Contains(told, "others changed the same lines"):
			return modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "builds widgets", "new": "builds gadgets"}))
		case len(r.Messages) > 1:
			return finishes
		case strings.Contains(told, "Asked before"):
			return rename[0]
		}
		return mends
	}))
	second := func(plan map[string]storetest.Fault) (j admin.AgentJob, calls, hit []string) {
		one, _, _ := m.run(m.new(), nil)
		m.at(job.TaskAgentPublish, func() {
			m.forge.Write(one.Branch, map[string]string{"index.mdx": strings.Replace(site()["index.mdx"], "makes", "builds", 1)})
		})
		return m.run(m.message(one, "Call them gadgets"), plan)
	}
	whole := func(j admin.AgentJob, hit []string) {
		t.Helper()
		commits := m.forge.Commits(j.Branch)
		if j.Status != admin.AgentCompleted || j.Turns != 6 || len(j.Returns) != 1 || len(commits) != 4 || len(m.forge.Pulls()) != m.ran ||
			!strings.Contains(m.forge.Files(j.Branch)["index.mdx"], "Acme builds gadgets.") {
			t.Errorf("the job is %s after %d turns and %d returns, %d commits: %+v, after %q", j.Status, j.Turns, len(j.Returns), len(commits), j.Failure, hit)
		}
	}
	sound, calls, _ := second(nil)
	whole(sound, nil)
	calls = slices.DeleteFunc(calls, reading.MatchString)
	faults, step := storetest.AllFaults(), every(t, 5, 9)
	for i := 0; i < len(calls) && !t.Failed(); i += step {
		j, _, hit := second(map[string]storetest.Fault{calls[i]: faults[(i+2)%len(faults)]})
		if len(hit) != 1 {
			t.Fatalf("%s was not met: %q", calls[i], hit)
		}
		whole(j, hit)
	}
}

// The same in a round that fetches a commit: at each call that changes something, or some
// of them. The model is told of the commit once.
func TestDeathInAFetch(t *testing.T) {
	outside.NoRace(t, "it runs dozens of jobs")
	m := &mortal{world: newWorld(t)}
	m.configure(admin.NewAgentSettings())
	m.forge.Tag("v1", "main", "")
	m.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		switch told := strings.Count(textsOf(r), "repo@v1 is fetched"); {
		case len(r.Messages) == 1:
			return fetches(args{"ref": "v1"})
		case told != 1:
			return done("The model was told " + strconv.Itoa(told) + " times")
		case len(r.Messages) == 3:
			return mends
		}
		return finishes
	}))
	whole := func(j admin.AgentJob, hit []string) {
		t.Helper()
		commits, pulls := m.forge.Commits(j.Branch), m.forge.Pulls()
		if j.Status != admin.AgentCompleted || j.Turns != 3 || len(j.Fetches) != 1 || j.Fetches[0].Commit == "" || len(commits) != 2 || len(pulls) != m.ran || pulls[m.ran-1].URL != j.PRLink {
			t.Errorf("the job is %s after %d turns, fetched %+v, %d commits: %+v, %s, after %q", j.Status, j.Turns, j.Fetches, len(commits), j.Failure, j.Summary, hit)
		}
	}
	sound, calls, _ := m.run(m.new(), nil)
	whole(sound, nil)
	calls = slices.DeleteFunc(calls, reading.MatchString)
	faults, step := storetest.AllFaults(), every(t, 5, 9)
	for i := 0; i < len(calls) && !t.Failed(); i += step {
		j, _, hit := m.run(m.new(), map[string]storetest.Fault{calls[i]: faults[(i+1)%len(faults)]})
		if len(hit) != 1 {
			t.Fatalf("%s was not met: %q", calls[i], hit)
		}
		whole(j, hit)
	}
}

// whole checks that the last job has ended its round as it should.
func (m *mortal) whole(j admin.AgentJob, round int, hit []string) {
	m.t.Helper()
	n := m.ran
	if j.Status != admin.AgentCompleted || j.Turns != 2*round || j.Round != round {
		m.t.Errorf("the job is %s after %d turns: %+v, after %q", j.Status, j.Turns, j.Failure, hit)
		return
	}
	pulls := m.forge.Pulls()
	if len(pulls) != n || pulls[n-1].URL != j.PRLink || pulls[n-1].Head != j.Branch {
		m.t.Errorf("%d pull requests, want %d, after %q", len(pulls), n, hit)
	}
	if commits := m.forge.Commits(j.Branch); len(commits) != 1+round || j.Branch != "bindery/"+j.ID {
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
	if turns != 2*round {
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

// Work ends with its segment and is called again, as often as the turns need it.
func TestSegments(t *testing.T) {
	w := newWorld(t)
	w.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		w.Advance(7 * time.Minute)
		if n := len(r.Messages) / 2; n < 4 {
			return reads(4)[n]
		} else if n == 4 {
			return mends
		}
		return finishes
	}))
	j := w.ask("Mend the spelling of widget")
	tasks := w.tasks(w.steps)
	var next []string
	work := tasks[job.TaskAgentWork]
	tasks[job.TaskAgentWork] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
		if len(in) > 300 {
			t.Errorf("the payload has %d bytes: %s", len(in), in)
		}
		raw, err := work(ctx, in)
		var out job.AgentOutput
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Error(err)
		}
		next = append(next, out.Next)
		return raw, err
	}
	if err := w.execute(w.ctx, j.Current(), tasks); err != nil {
		t.Error(err)
	}
	w.end(w.job(j.ID), expected{pulls: 1, turns: 6})
	// Of two turns each: the third begins after 14 minutes.
	if want := []string{job.NextWork, job.NextWork, job.NextPublish}; !slices.Equal(next, want) {
		t.Errorf("Work returned %q, want %q", next, want)
	}
}
