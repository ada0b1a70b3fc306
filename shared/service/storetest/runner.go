package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Tasks are the steps of the workflows, by their names in package job, which also
// says what each takes and returns.
type Tasks = map[string]func(ctx context.Context, input json.RawMessage) (json.RawMessage, error)

// Runner runs the contract of store.Runner, with the workflows on steps of the
// suite's own. open returns a running runner with these steps
// until the test ends.
func Runner(t *testing.T, open func(t *testing.T, tasks Tasks) store.Runner) {
	for _, c := range []struct {
		name string
		run  func(*runnerSuite, *testing.T)
	}{
		{"an execution runs all steps and succeeds", (*runnerSuite).succeeds},
		{"an execution without shards goes on", (*runnerSuite).noShards},
		{"an execution starts once by one name", (*runnerSuite).startTwice},
		{"an error of a step fails the execution under its name", (*runnerSuite).fails},
		{"an error of a shard fails the execution", (*runnerSuite).shardFails},
		{"a temporary error is tried again", (*runnerSuite).retries},
		{"a running execution is stopped", (*runnerSuite).stops},
		{"stopping what does not run is not an error", (*runnerSuite).stopNothing},
		{"the state of an unknown execution is ErrNotFound", (*runnerSuite).unknown},
		{"a round works as often as it asks for it", (*runnerSuite).round},
		{"a round goes back to Prepare", (*runnerSuite).roundFetches},
		{"a round waits until the time that it asks for", (*runnerSuite).roundWaits},
		{"an error of a round's step fails its execution", (*runnerSuite).roundFails},
		{"executions of two workflows may have one name", (*runnerSuite).apart},
		{"a workflow that nobody knows is refused", (*runnerSuite).unknownWorkflow},
		{"input that is too large, no JSON, or under a bad name", (*runnerSuite).badInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &runnerSuite{ctx: testContext(t), calls: map[string][]string{}, hanging: make(chan string, 100)}
			s.Runner = open(t, s.tasks())
			c.run(s, t)
		})
	}
}

// runnerSuite has steps that do what the job's name says: "…-invalid" can't be
// planned, "…-shard" has a shard that fails, "…-flaky" needs a second try,
// "…-none" has no shards, "…-busy" waits once, "…-fetches" asks once for Prepare, "…-hang" does not end by itself, all
// others work.
type runnerSuite struct {
	store.Runner
	ctx     context.Context
	hanging chan string // jobs that have begun to hang

	mu           sync.Mutex
	calls        map[string][]string // by job
	until, woken time.Time           // of the job "…-busy"
}

// stepError is a step's error with a code.
type stepError struct{ code, message string }

func (e *stepError) Error() string       { return e.code + ": " + e.message }
func (e *stepError) Code() string        { return e.code }
func (e *stepError) SafeMessage() string { return e.message }

// stepInput is what one of the steps gets.
type stepInput struct {
	job.RenderInput
	Project string `json:"projectId"`
	Round   int    `json:"round"`
	Error   *job.ErrorNames
}

// output is what a step of a round returns.
func (in stepInput) output(next string) any {
	var out job.AgentOutput
	out.Project, out.Job, out.Round, out.Next = in.Project, in.JobID, in.Round, next
	return out
}

func (s *runnerSuite) tasks() Tasks {
	type input = stepInput
	step := func(name string, fn func(ctx context.Context, in input, nth int) (any, error)) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
			var in input
			if err := json.Unmarshal(raw, &in); err != nil {
				return nil, err
			}
			call := name
			if in.Shard != 0 {
				call = fmt.Sprintf("%s %d", name, in.Shard)
			}
			if in.Round != 0 {
				call += fmt.Sprintf(" %s/%d", in.Project, in.Round)
			}
			if in.Error != nil {
				call += " " + in.Error.Error
			}
			s.mu.Lock()
			nth := 1
			for _, c := range s.calls[in.JobID] {
				if c == call {
					nth++
				}
			}
			s.calls[in.JobID] = append(s.calls[in.JobID], call)
			s.mu.Unlock()
			out, err := fn(ctx, in, nth)
			if err != nil || out == nil {
				return nil, err
			}
			return json.Marshal(out)
		}
	}
	return Tasks{
		job.TaskPlan: step(job.TaskPlan, func(_ context.Context, in input, nth int) (any, error) {
			switch {
			case strings.HasSuffix(in.JobID, "-invalid"):
				return nil, &stepError{"invalid_site", "docs.json is missing"}
			case strings.HasSuffix(in.JobID, "-flaky") && nth == 1:
				return nil, &stepError{"temporary", "later"}
			}
			out := job.PlanOutput{JobID: in.JobID, Renderer: "r1", Shards: []int{1, 2, 3}}
			if strings.HasSuffix(in.JobID, "-none") {
				out.Shards = []int{}
			}
			return out, nil
		}),
		job.TaskRender: step(job.TaskRender, func(ctx context.Context, in input, _ int) (any, error) {
			if in.Renderer != "r1" {
				return nil, fmt.Errorf("renderer %q", in.Renderer)
			}
			if in.Shard != 2 {
				return nil, nil
			}
			switch {
			case strings.HasSuffix(in.JobID, "-shard"):
				return nil, &stepError{"renderer_changed", "another renderer"}
			case strings.HasSuffix(in.JobID, "-hang"):
				s.hanging <- in.JobID
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, nil
		}),
		job.TaskAssemble: step(job.TaskAssemble, func(_ context.Context, in input, _ int) (any, error) {
			if in.Renderer != "r1" {
				return nil, fmt.Errorf("renderer %q", in.Renderer)
			}
			return job.AssembleOutput{}, nil
		}),
		job.TaskFail:         step(job.TaskFail, func(context.Context, input, int) (any, error) { return nil, nil }),
		job.TaskAgentPrepare: step(job.TaskAgentPrepare, func(_ context.Context, in input, _ int) (any, error) { return in.output(job.NextWork), nil }),
		job.TaskAgentWork: step(job.TaskAgentWork, func(_ context.Context, in input, nth int) (any, error) {
			switch {
			case strings.HasSuffix(in.JobID, "-loop"):
				return nil, &stepError{"loop", "the same call again and again"}
			case strings.HasSuffix(in.JobID, "-busy") && nth == 1:
				s.mu.Lock()
				defer s.mu.Unlock()
				s.until = time.Now().Add(2 * time.Second).Truncate(time.Second)
				out := in.output(job.NextWait).(job.AgentOutput)
				out.WaitUntil = s.until
				return out, nil
			case strings.HasSuffix(in.JobID, "-fetches") && nth == 1:
				return in.output(job.NextPrepare), nil
			case strings.HasSuffix(in.JobID, "-busy"):
				s.mu.Lock()
				defer s.mu.Unlock()
				s.woken = time.Now()
				return in.output(job.NextPublish), nil
			case nth == 3:
				return in.output("rest"), nil // the Choice knows no such thing
			case nth%2 == 1:
				return in.output(job.NextWork), nil
			}
			return in.output(job.NextPublish), nil
		}),
		job.TaskAgentReview: step(job.TaskAgentReview, func(_ context.Context, in input, nth int) (any, error) {
			if strings.HasSuffix(in.JobID, "-late") && nth == 1 {
				return in.output(job.NextWork), nil
			}
			return in.output(job.NextPublish), nil
		}),
		job.TaskAgentPublish: step(job.TaskAgentPublish, func(_ context.Context, in input, nth int) (any, error) {
			switch {
			case strings.HasSuffix(in.JobID, "-unread"):
				return in.output(job.NextWork), nil
			case strings.HasSuffix(in.JobID, "-merged") && nth == 1:
				return in.output(job.NextReview), nil
			}
			return in.output(job.NextDone), nil
		}),
		job.TaskAgentFail: step(job.TaskAgentFail, func(context.Context, input, int) (any, error) { return nil, nil }),
	}
}

// start begins an execution and returns its name.
func (s *runnerSuite) start(t *testing.T, kind string) string {
	t.Helper()
	name := unique() + "-" + kind
	if err := s.Start(s.ctx, store.WorkflowExport, name, fmt.Appendf(nil, `{"jobId":%q}`, name)); err != nil {
		t.Fatal(err)
	}
	return name
}

// startRound begins an execution of the agent's workflow, and returns its name.
func (s *runnerSuite) startRound(t *testing.T, name string) string {
	t.Helper()
	if err := s.Start(s.ctx, store.WorkflowAgent, name, fmt.Appendf(nil, `{"projectId":"prj_1","jobId":%q,"round":2}`, name)); err != nil {
		t.Fatal(err)
	}
	return name
}

// ends waits for an execution's final state.
func (s *runnerSuite) ends(t *testing.T, name string, want store.ExecutionState) store.Execution {
	t.Helper()
	return s.endsOf(t, store.WorkflowExport, name, want)
}

func (s *runnerSuite) endsOf(t *testing.T, workflow, name string, want store.ExecutionState) store.Execution {
	t.Helper()
	var e store.Execution
	eventually(t, func() string {
		var err error
		if e, err = s.Status(s.ctx, workflow, name); err != nil {
			return err.Error()
		}
		if e.State != want {
			return fmt.Sprintf("got %+v, want %s", e, want)
		}
		return ""
	})
	if e.Workflow != workflow || e.Name != name || !strings.Contains(e.Input, fmt.Sprintf("%q", name)) || e.StartedAt.IsZero() || e.StoppedAt.Before(e.StartedAt) {
		t.Errorf("got %+v", e)
	}
	return e
}

// called holds which steps were called, and how often; the shards' order is
// not theirs.
func (s *runnerSuite) called(t *testing.T, name string, want map[string]int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := map[string]int{}
	for _, c := range s.calls[name] {
		got[c]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got the calls %v, want %v", got, want)
	}
}

func (s *runnerSuite) succeeds(t *testing.T) {
	name := s.start(t, "ok")
	e := s.ends(t, name, store.Succeeded)
	if e.Error != "" || e.Cause != "" {
		t.Errorf("got %+v", e)
	}
	s.called(t, name, map[string]int{"plan": 1, "render 1": 1, "render 2": 1, "render 3": 1, "assemble": 1})
}

func (s *runnerSuite) noShards(t *testing.T) {
	name := s.start(t, "none")
	s.ends(t, name, store.Succeeded)
	s.called(t, name, map[string]int{"plan": 1, "assemble": 1})
}

func (s *runnerSuite) startTwice(t *testing.T) {
	name := unique() + "-hang"
	input := fmt.Appendf(nil, `{"jobId":%q}`, name)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := s.Start(s.ctx, store.WorkflowExport, name, input); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.waitHanging(t, name)
	if err := s.Start(s.ctx, store.WorkflowExport, name, input); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	if err := s.Stop(s.ctx, store.WorkflowExport, name, "test"); err != nil {
		t.Fatal(err)
	}
	s.ends(t, name, store.Aborted)
	if err := s.Start(s.ctx, store.WorkflowExport, name, input); err != nil {
		t.Errorf("when it has ended: %v", err)
	}
	s.ends(t, name, store.Aborted)
	s.mu.Lock()
	defer s.mu.Unlock()
	plans := 0
	for _, c := range s.calls[name] {
		if c == "plan" {
			plans++
		}
	}
	if plans != 1 {
		t.Errorf("planned %d times", plans)
	}
}

func (s *runnerSuite) fails(t *testing.T) {
	name := s.start(t, "invalid")
	e := s.ends(t, name, store.Failed)
	if e.Error != "invalid_site" || !strings.Contains(e.Cause, "docs.json is missing") {
		t.Errorf("got %+v", e)
	}
	s.called(t, name, map[string]int{"plan": 1, "fail invalid_site": 1})
}

func (s *runnerSuite) shardFails(t *testing.T) {
	name := s.start(t, "shard")
	const threshold = "States.ExceedToleratedFailureThreshold"
	if e := s.ends(t, name, store.Failed); e.Error != threshold {
		t.Errorf("got %+v", e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if calls := s.calls[name]; calls[len(calls)-1] != "fail "+threshold {
		t.Errorf("got the calls %v", calls)
	}
}

func (s *runnerSuite) retries(t *testing.T) {
	name := s.start(t, "flaky")
	s.ends(t, name, store.Succeeded)
	s.called(t, name, map[string]int{"plan": 2, "render 1": 1, "render 2": 1, "render 3": 1, "assemble": 1})
}

// waitHanging waits until a step of the job has begun to hang.
func (s *runnerSuite) waitHanging(t *testing.T, name string) {
	t.Helper()
	select {
	case got := <-s.hanging:
		if got != name {
			t.Fatalf("%s hangs, want %s", got, name)
		}
	case <-time.After(patience):
		t.Fatal("the execution has not come to its second shard")
	}
}

func (s *runnerSuite) stops(t *testing.T) {
	name := s.start(t, "hang")
	s.waitHanging(t, name)
	if e, err := s.Status(s.ctx, store.WorkflowExport, name); err != nil || e.State != store.Running || !e.StoppedAt.IsZero() {
		t.Errorf("got %+v, %v", e, err)
	}
	if err := s.Stop(s.ctx, store.WorkflowExport, name, "no longer wanted"); err != nil {
		t.Fatal(err)
	}
	e := s.ends(t, name, store.Aborted)
	if !strings.Contains(e.Cause, "no longer wanted") {
		t.Errorf("got %+v", e)
	}
	if err := s.Stop(s.ctx, store.WorkflowExport, name, "again"); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if e := s.ends(t, name, store.Aborted); strings.Contains(e.Cause, "again") {
		t.Errorf("a second stop changes what was: %+v", e)
	}
}

func (s *runnerSuite) stopNothing(t *testing.T) {
	if err := s.Stop(s.ctx, store.WorkflowExport, unique(), "why not"); err != nil {
		t.Errorf("what never was: %v", err)
	}
	name := s.start(t, "ok")
	s.ends(t, name, store.Succeeded)
	if err := s.Stop(s.ctx, store.WorkflowExport, name, "too late"); err != nil {
		t.Errorf("what has ended: %v", err)
	}
	s.ends(t, name, store.Succeeded)
}

func (s *runnerSuite) unknown(t *testing.T) {
	if e, err := s.Status(s.ctx, store.WorkflowExport, unique()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %+v, %v", e, err)
	}
}

func (s *runnerSuite) round(t *testing.T) {
	name := s.startRound(t, unique()+"-ok")
	s.endsOf(t, store.WorkflowAgent, name, store.Succeeded)
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 1, "agentwork prj_1/2": 2, "agentreview prj_1/2": 1, "agentpublish prj_1/2": 1})
	// Publish may ask for another Review.
	name = s.startRound(t, unique()+"-merged")
	s.endsOf(t, store.WorkflowAgent, name, store.Succeeded)
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 1, "agentwork prj_1/2": 2, "agentreview prj_1/2": 2, "agentpublish prj_1/2": 2})
}

func (s *runnerSuite) roundFetches(t *testing.T) {
	name := s.startRound(t, unique()+"-fetches")
	s.endsOf(t, store.WorkflowAgent, name, store.Succeeded)
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 2, "agentwork prj_1/2": 2, "agentreview prj_1/2": 1, "agentpublish prj_1/2": 1})
}

func (s *runnerSuite) roundWaits(t *testing.T) {
	name := s.startRound(t, unique()+"-busy")
	s.endsOf(t, store.WorkflowAgent, name, store.Succeeded)
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 1, "agentwork prj_1/2": 2, "agentreview prj_1/2": 1, "agentpublish prj_1/2": 1})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until.IsZero() || s.woken.Before(s.until) {
		t.Errorf("called again at %v, asked for %v", s.woken, s.until)
	}
}

func (s *runnerSuite) roundFails(t *testing.T) {
	name := s.startRound(t, unique()+"-loop")
	if e := s.endsOf(t, store.WorkflowAgent, name, store.Failed); e.Error != "loop" {
		t.Errorf("got %+v", e)
	}
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 1, "agentwork prj_1/2": 1, "agentfail prj_1/2 loop": 1})
	// Publish may go back to Work; an answer that no rule knows fails.
	name = s.startRound(t, unique()+"-unread")
	if e := s.endsOf(t, store.WorkflowAgent, name, store.Failed); e.Error != "States.NoChoiceMatched" && e.Error != "States.Runtime" {
		t.Errorf("got %+v", e)
	}
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 1, "agentwork prj_1/2": 3, "agentreview prj_1/2": 1, "agentpublish prj_1/2": 1})
	// And so may Review.
	name = s.startRound(t, unique()+"-late")
	if e := s.endsOf(t, store.WorkflowAgent, name, store.Failed); e.Error != "States.NoChoiceMatched" && e.Error != "States.Runtime" {
		t.Errorf("got %+v", e)
	}
	s.called(t, name, map[string]int{"agentprepare prj_1/2": 1, "agentwork prj_1/2": 3, "agentreview prj_1/2": 1})
}

func (s *runnerSuite) apart(t *testing.T) {
	name := s.start(t, "invalid")
	s.startRound(t, name)
	s.ends(t, name, store.Failed)
	s.endsOf(t, store.WorkflowAgent, name, store.Succeeded)
	if err := s.Stop(s.ctx, store.WorkflowAgent, name, "too late"); err != nil {
		t.Error(err)
	}
}

func (s *runnerSuite) unknownWorkflow(t *testing.T) {
	const other = "other"
	if err := s.Start(s.ctx, other, unique(), []byte(`{}`)); err == nil {
		t.Error("started")
	}
	if _, err := s.Status(s.ctx, other, unique()); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("its state: %v", err)
	}
	if err := s.Stop(s.ctx, other, unique(), ""); err == nil {
		t.Error("stopped")
	}
}

func (s *runnerSuite) badInput(t *testing.T) {
	name := unique()
	large := fmt.Appendf(nil, `{"jobId":%q}`, strings.Repeat("x", store.MaxStateBytes))
	if err := s.Start(s.ctx, store.WorkflowExport, name, large); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("over the limit: got %v, want ErrTooLarge", err)
	}
	if err := s.Start(s.ctx, store.WorkflowExport, name, []byte(`{"jobId":`)); err == nil {
		t.Error("no JSON: no error")
	}
	for _, bad := range []string{"", "a b", "a/b", strings.Repeat("x", 81)} {
		if err := s.Start(s.ctx, store.WorkflowExport, bad, []byte(`{}`)); err == nil {
			t.Errorf("the name %.20q: no error", bad)
		}
	}
	if _, err := s.Status(s.ctx, store.WorkflowExport, name); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was refused is there: %v", err)
	}
}
