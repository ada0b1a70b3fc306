package job_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

var beginning = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// executions is a Runner whose executions do what a test says.
type executions map[string]store.Execution

func (r executions) Start(_ context.Context, workflow, name string, _ []byte) error {
	r[workflow+" "+name] = store.Execution{State: store.Running, StartedAt: beginning}
	return nil
}

func (r executions) Status(_ context.Context, workflow, name string) (store.Execution, error) {
	e, ok := r[workflow+" "+name]
	if !ok {
		return e, store.ErrNotFound
	}
	return e, nil
}

func (r executions) Stop(_ context.Context, workflow, name, _ string) error {
	r[workflow+" "+name] = store.Execution{State: store.Aborted}
	return nil
}

// agents is a service with one agent job, and what looks after it.
func agents(t *testing.T) (*admin.Service, *job.Keeper, executions, admin.AgentJob, *time.Time) {
	t.Helper()
	now := beginning
	clock := func() time.Time { return now }
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	runner := executions{}
	s := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: runner, Now: clock,
		AgentReady: func(context.Context, admin.Project, string) (string, error) { return "best", nil }})
	o, err := s.CreateOrganisation(t.Context(), admin.Organisation{Name: "o", Plan: admin.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.CreateProject(t.Context(), admin.Project{Organisation: o.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.StartAgentJob(t.Context(), admin.Caller{OrganisationID: o.ID, Plan: o.Plan}, admin.StartAgentJob{Project: p.ID, Prompt: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return s, job.NewKeeper(job.Options{Admin: s, Objects: l.Objects(), Runner: runner, Now: clock, SweepEvery: -1}), runner, j, &now
}

// TestReconcileAgents: a round without an execution is started if it is queued,
// and failed if it is not; so is one whose execution ended or takes too long.
func TestReconcileAgents(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(r executions, name string, now time.Time)
		begun   bool
		status  admin.AgentStatus
		message string
	}{
		{"nothing is wrong", nil, true, admin.AgentActive, ""},
		{"not started", func(r executions, name string, _ time.Time) { delete(r, name) }, false, admin.AgentActive, ""},
		{"gone", func(r executions, name string, _ time.Time) { delete(r, name) }, true, admin.AgentFailed, "the workflow of the agent is gone"},
		{"ended lately", func(r executions, name string, now time.Time) {
			r[name] = store.Execution{State: store.Failed, StoppedAt: now.Add(-time.Minute)}
		}, true, admin.AgentActive, ""},
		{"ended", func(r executions, name string, now time.Time) {
			r[name] = store.Execution{State: store.Failed, StoppedAt: now.Add(-time.Hour)}
		}, true, admin.AgentFailed, "the workflow of the agent ended before it was done"},
		{"too long", func(r executions, name string, now time.Time) {
			r[name] = store.Execution{State: store.Running, StartedAt: now.Add(-8 * time.Hour)}
		}, true, admin.AgentFailed, "the agent took too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, keeper, runner, j, now := agents(t)
			name := store.WorkflowAgent + " " + j.ID + "-1"
			if runner[name] = (store.Execution{State: store.Running, StartedAt: *now}); c.begun {
				if _, err := s.AgentRound(t.Context(), j.Current()); err != nil {
					t.Fatal(err)
				}
			}
			if c.change != nil {
				c.change(runner, name, *now)
			}
			for range 2 {
				if err := keeper.Reconcile(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.FindAgentJob(t.Context(), j.Project, j.ID)
			if err != nil || got.Status != c.status || got.Failure != nil && (got.Failure.Code != admin.CodeInternal || got.Failure.Message != c.message) {
				t.Errorf("%+v, %v", got, err)
			}
			if state := runner[name].State; c.status == admin.AgentFailed && state != store.Aborted || c.status == admin.AgentActive && state == "" {
				t.Errorf("its execution is %q", state)
			}
		})
	}
}

// TestReconcileArchives: a job that is final for 90 days is archived.
func TestReconcileArchives(t *testing.T) {
	s, keeper, _, j, now := agents(t)
	if err := s.FailAgent(t.Context(), j.Current(), admin.CodeLoop, ""); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(91 * 24 * time.Hour)
	if err := keeper.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.FindAgentJob(t.Context(), j.Project, j.ID); err != nil || got.Status != admin.AgentArchived {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSweepOfAgents: what rounds keep stays until their job is archived. Objects of which
// no job is known go by their age.
func TestSweepOfAgents(t *testing.T) {
	s, _, runner, j, now := agents(t)
	objects, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Close(context.Background()) })
	keeper := job.NewKeeper(job.Options{Admin: s, Objects: objects.Objects(), Runner: runner, Now: func() time.Time { return *now }})
	caller := admin.Caller{OrganisationID: j.Organisation, Plan: admin.PlanPro}
	mine, stray, export := job.AgentObjects+j.ID+"/1/turn-a", job.AgentObjects+"agj_gone/1/turn-a", "orgs/x/packs/a"
	for _, key := range []string{mine, job.AgentObjects + j.ID + "/2/turn-b", job.AgentReviews + j.ID + "/1/a", stray, export} {
		if _, err := objects.Objects().Put(t.Context(), key, strings.NewReader("x"), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(left ...string) {
		t.Helper()
		if err := keeper.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := objects.Objects().List(t.Context(), "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, o := range list {
			keys = append(keys, o.Key)
		}
		if !slices.Equal(keys, left) {
			t.Errorf("%q are left, want %q", keys, left)
		}
	}
	all := []string{stray, mine, job.AgentObjects + j.ID + "/2/turn-b", job.AgentReviews + j.ID + "/1/a", export}
	slices.Sort(all)
	sweep(all...)
	if err := s.FailAgent(t.Context(), j.Current(), admin.CodeLoop, ""); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(15 * 24 * time.Hour)
	sweep(slices.DeleteFunc(slices.Clone(all), func(k string) bool { return k == stray })...)
	if _, err := s.ArchiveAgentJob(t.Context(), caller, j.Project, j.ID, ""); err != nil {
		t.Fatal(err)
	}
	sweep(export)
}

// TestPullsAreBounded: one call asks for so many pull requests, and for so long; the
// next one asks for the others. What is asked may take its time, but not forever.
func TestPullsAreBounded(t *testing.T) {
	s, _, runner, j, now := agents(t)
	caller := admin.Caller{OrganisationID: j.Organisation, Plan: admin.PlanPro}
	const jobs = 50
	for n := range jobs {
		if n > 0 {
			var err error
			if j, err = s.StartAgentJob(t.Context(), caller, admin.StartAgentJob{Project: j.Project, Prompt: "p"}); err != nil {
				t.Fatal(err)
			}
		}
		ref := j.Current()
		_, err := s.AgentRound(t.Context(), ref)
		if err == nil {
			_, err = s.BeginAgentRound(t.Context(), ref, admin.AgentBase{Commit: "c", Ref: "main"})
		}
		if err == nil {
			_, err = s.BeginAgentPublish(t.Context(), ref, 1)
		}
		if err == nil {
			_, _, err = s.CompleteAgent(t.Context(), ref, admin.AgentResult{PRLink: "https://git.example.com/docs/pull/1", PRNumber: 1, Branch: "b", Seen: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	*now = now.Add(31 * 24 * time.Hour)
	asked, slow := map[string]int{}, false
	keeper := job.NewKeeper(job.Options{Admin: s, Runner: runner, Now: func() time.Time { return *now }, SweepEvery: -1,
		Pull: func(ctx context.Context, ref admin.AgentRef) (job.PullOutput, error) {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("it may take forever")
			}
			if asked[ref.Job]++; slow {
				*now = now.Add(50 * time.Second)
			}
			return job.PullOutput{ClosedAt: beginning}, nil
		}})
	for _, want := range []int{20, 23, 43, jobs, jobs} {
		slow = want == 23
		if err := keeper.Reconcile(t.Context()); err != nil || len(asked) != want {
			t.Fatalf("%d of %d are asked for, want %d; %v", len(asked), jobs, want, err)
		}
	}
	for id, n := range asked {
		if got, err := s.FindAgentJob(t.Context(), j.Project, id); n != 1 || err != nil || got.Status != admin.AgentArchived {
			t.Errorf("asked %d times: %+v, %v", n, got, err)
		}
	}
}

// TestFailAgent: what a step says is shown where it is one of our errors, and
// nothing of others. The end of an execution names the round by its input.
func TestFailAgent(t *testing.T) {
	const input = `{"projectId":"PROJECT","jobId":"JOB","round":1}`
	for _, c := range []struct {
		name          string
		e             store.Execution
		code, message string
	}{
		{"of a step", store.Execution{Error: admin.CodeBudget, Cause: `{"errorMessage":"60 turns were not enough","errorType":"budget"}`}, admin.CodeBudget, "60 turns were not enough"},
		{"of another type", store.Execution{Error: admin.CodeBudget, Cause: `{"errorMessage":"secret","errorType":"other"}`}, admin.CodeInternal, "internal error"},
		{"temporary", store.Execution{Error: admin.CodeTemporary, Cause: "x"}, admin.CodeTemporary, "send a message"},
		{"a fault of ours", store.Execution{Error: "Runtime.ExitError", Cause: "secret"}, admin.CodeInternal, "internal error"},
		{"time", store.Execution{State: store.TimedOut}, admin.CodeInternal, "took too long"},
		{"stopped", store.Execution{State: store.Aborted, Cause: "secret"}, admin.CodeInternal, "was stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, keeper, _, j, _ := agents(t)
			c.e.Workflow, c.e.Name = store.WorkflowAgent, j.ID+"-1"
			c.e.Input = strings.NewReplacer("PROJECT", j.Project, "JOB", j.ID).Replace(input)
			for range 2 {
				if err := keeper.Ended(t.Context(), c.e); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.FindAgentJob(t.Context(), j.Project, j.ID)
			if err != nil || got.Failure == nil || got.Failure.Code != c.code || !strings.Contains(got.Failure.Message, c.message) || strings.Contains(got.Failure.Message, "secret") {
				t.Errorf("%+v, %v", got.Failure, err)
			}
		})
	}
}
