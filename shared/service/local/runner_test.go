package local_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// jobOf reads the job's id from a step's input.
func jobOf(input json.RawMessage) string {
	var in struct {
		JobID string `json:"jobId"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return err.Error()
	}
	return in.JobID
}

// hangingTasks plan until their context ends, and say which job has begun.
func hangingTasks(begun chan<- string) map[string]asl.Task {
	none := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	return map[string]asl.Task{
		job.TaskPlan: func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			if begun != nil {
				begun <- jobOf(input)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
		job.TaskRender: none, job.TaskFail: none,
		job.TaskAssemble: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"more":false}`), nil
		},
	}
}

// workingTasks do all there is to do, in one shard.
func workingTasks() map[string]asl.Task {
	tasks := hangingTasks(nil)
	tasks[job.TaskPlan] = func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
		return fmt.Appendf(nil, `{"jobId":%q,"renderer":"r","shards":[1]}`, jobOf(input)), nil
	}
	return tasks
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func start(t *testing.T, r store.Runner, name string) {
	t.Helper()
	if err := r.Start(t.Context(), store.WorkflowExport, name, fmt.Appendf(nil, `{"jobId":%q}`, name)); err != nil {
		t.Fatal(err)
	}
}

func resume(t *testing.T, l *local.Local, tasks map[string]asl.Task, opt local.RunnerOptions) {
	t.Helper()
	if err := l.Runner().Resume(t.Context(), tasks, opt); err != nil {
		t.Fatal(err)
	}
}

// until waits for an execution's state.
func until(t *testing.T, r store.Runner, name string, want store.ExecutionState) store.Execution {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		e, err := r.Status(t.Context(), store.WorkflowExport, name)
		if err != nil {
			t.Fatal(err)
		}
		if e.State == want {
			return e
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %+v, want %s", e, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// fast polls often, so that tests of several processes do not wait.
var fast = local.RunnerOptions{Poll: 10 * time.Millisecond}

func TestRestartBeginsAgain(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	begun := make(chan string, 10)
	resume(t, l, hangingTasks(begun), fast)
	start(t, l.Runner(), "exp_1")
	receive(t, begun)
	before, err := l.Runner().Status(t.Context(), store.WorkflowExport, "exp_1")
	if err != nil {
		t.Fatal(err)
	}
	shut(t, l) // drains

	l = open(t, dir)
	if e, err := l.Runner().Status(t.Context(), store.WorkflowExport, "exp_1"); err != nil || e != before || e.State != store.Running {
		t.Errorf("between two processes: %+v, %v", e, err)
	}
	resume(t, l, workingTasks(), fast)
	if e := until(t, l.Runner(), "exp_1", store.Succeeded); !e.StartedAt.Equal(before.StartedAt) {
		t.Errorf("started at %v, want %v", e.StartedAt, before.StartedAt)
	}
	shut(t, l)

	// What has ended does not begin again.
	l = open(t, dir)
	resume(t, l, hangingTasks(begun), fast)
	start(t, l.Runner(), "exp_1")
	start(t, l.Runner(), "exp_2")
	if got := receive(t, begun); got != "exp_2" {
		t.Errorf("%s begins", got)
	}
}

func TestOneProcessRunsExecutions(t *testing.T) {
	dir := t.TempDir()
	first, second := open(t, dir), open(t, dir)
	resume(t, first, workingTasks(), fast)
	if err := first.Runner().Resume(t.Context(), workingTasks(), fast); err == nil {
		t.Error("a second Resume: no error")
	}
	err := second.Runner().Resume(t.Context(), workingTasks(), fast)
	if !errors.Is(err, local.ErrLocked) {
		t.Fatalf("got %v, want ErrLocked", err)
	}
	if err := second.Lock(); !errors.Is(err, local.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	shut(t, first)
	resume(t, second, workingTasks(), fast)
}

func TestResumeNeedsAllTasks(t *testing.T) {
	tasks := workingTasks()
	delete(tasks, job.TaskFail)
	if err := open(t, t.TempDir()).Runner().Resume(t.Context(), tasks, fast); err == nil {
		t.Error("no error")
	}
}

// An operator command beside the server starts and stops what the server runs.
func TestOtherProcessStartsAndStops(t *testing.T) {
	dir := t.TempDir()
	server, command := open(t, dir), open(t, dir)
	begun := make(chan string, 10)
	told := make(chan store.Execution, 10)
	opt := fast
	opt.OnEnd = func(_ context.Context, e store.Execution) error { told <- e; return nil }
	resume(t, server, hangingTasks(begun), opt)
	start(t, command.Runner(), "exp_1")
	if got := receive(t, begun); got != "exp_1" {
		t.Errorf("%s begins", got)
	}
	if err := command.Runner().Stop(t.Context(), store.WorkflowExport, "exp_1", "by hand"); err != nil {
		t.Fatal(err)
	}
	if e := receive(t, told); e.Name != "exp_1" || e.State != store.Aborted || e.Cause != "by hand" {
		t.Errorf("told of %+v", e)
	}
}

func TestOnEnd(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	failing := workingTasks()
	failing[job.TaskPlan] = func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
		if jobOf(input) == "good" {
			return json.RawMessage(`{"jobId":"good","renderer":"r","shards":[]}`), nil
		}
		return json.RawMessage(`{}`), nil // no renderer: States.Runtime, which nothing catches
	}
	told := make(chan store.Execution, 100)
	calls := 0
	opt := fast
	opt.OnEnd = func(_ context.Context, e store.Execution) error {
		if calls++; calls < 3 {
			return errors.New("not now")
		}
		told <- e
		return nil
	}
	resume(t, l, failing, opt)
	start(t, l.Runner(), "good")
	until(t, l.Runner(), "good", store.Succeeded)
	start(t, l.Runner(), "bad")
	e := receive(t, told)
	if e.Name != "bad" || e.State != store.Failed || e.Error != "States.Runtime" || e.StoppedAt.IsZero() || calls != 3 {
		t.Errorf("told of %+v, after %d calls", e, calls)
	}
	// An end that nobody could be told of before the process ended is told of
	// by the next one; one that was told of is not.
	if err := l.Runner().Stop(t.Context(), store.WorkflowExport, "good", ""); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	l = open(t, dir)
	start(t, l.Runner(), "early")
	if err := l.Runner().Stop(t.Context(), store.WorkflowExport, "early", "before it ran"); err != nil {
		t.Fatal(err)
	}
	resume(t, l, failing, opt)
	if e := receive(t, told); e.Name != "early" || e.State != store.Aborted {
		t.Errorf("told of %+v", e)
	}
	start(t, l.Runner(), "bad2")
	if e := receive(t, told); e.Name != "bad2" {
		t.Errorf("told of %+v", e)
	}
}

// An end that OnEnd took while the process was ending is noted: the next
// process does not report it again.
func TestAnEndToldOfWhileClosingIsNotToldOfAgain(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	told := make(chan string, 10)
	opt := fast
	opt.OnEnd = func(ctx context.Context, e store.Execution) error {
		told <- e.Name
		<-ctx.Done()
		return nil
	}
	stopped := func(name string) {
		t.Helper()
		start(t, l.Runner(), name)
		if err := l.Runner().Stop(t.Context(), store.WorkflowExport, name, "by hand"); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, told); got != name {
			t.Errorf("told of %s, want %s", got, name)
		}
	}
	resume(t, l, hangingTasks(nil), opt)
	stopped("exp_1")
	shut(t, l)
	l = open(t, dir)
	resume(t, l, hangingTasks(nil), opt)
	stopped("exp_2")
}

// A note that can't be written is tried again without another call of OnEnd.
func TestAnEndIsToldOfOnceWhereTheNoteFails(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), "PRAGMA busy_timeout = 10000; "+statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER refuse BEFORE UPDATE OF told ON executions WHEN NEW.told = 1 AND OLD.state != 'RUNNING'
		BEGIN SELECT RAISE(ABORT, 'no'); END`)
	var logged lockedBuffer
	told := make(chan string, 100)
	opt := fast
	opt.Log = slog.New(slog.NewTextHandler(&logged, nil))
	opt.OnEnd = func(_ context.Context, e store.Execution) error { told <- e.Name; return nil }
	start(t, l.Runner(), "exp_1")
	if err := l.Runner().Stop(t.Context(), store.WorkflowExport, "exp_1", "by hand"); err != nil {
		t.Fatal(err)
	}
	resume(t, l, workingTasks(), opt)
	for end := time.Now().Add(5 * time.Minute); strings.Count(logged.String(), "could not note") < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the note was not tried three times:\n%s", logged.String())
		}
	}
	exec(`DROP TRIGGER refuse`)
	shut(t, l)
	if len(told) != 1 {
		t.Errorf("OnEnd was called %d times", len(told))
	}
}

// lockedBuffer is a buffer that a log writes while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// However often the loop looks while executions end, each runs once and is told
// of once.
func TestEachExecutionRunsAndIsToldOfOnce(t *testing.T) {
	const executions = 400
	l := open(t, t.TempDir())
	var mu sync.Mutex
	ran, told := map[string]int{}, map[string]int{}
	all := make(chan struct{})
	tasks := workingTasks()
	tasks[job.TaskPlan] = func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[jobOf(input)]++
		return json.RawMessage(`{}`), nil // no renderer: States.Runtime, which nothing catches
	}
	opt := local.RunnerOptions{Poll: 50 * time.Microsecond, OnEnd: func(_ context.Context, e store.Execution) error {
		mu.Lock()
		defer mu.Unlock()
		if told[e.Name]++; len(told) == executions && told[e.Name] == 1 {
			close(all)
		}
		return nil
	}}
	resume(t, l, tasks, opt)
	want := map[string]int{}
	for i := range executions {
		name := fmt.Sprintf("exp_%d", i)
		want[name] = 1
		start(t, l.Runner(), name)
	}
	receive(t, all)
	shut(t, l)
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
}

func TestOnlySoManyExecutionsAtOnce(t *testing.T) {
	l := open(t, t.TempDir())
	begun := make(chan string, 10)
	opt := fast
	opt.MaxExecutions = 2
	for i := range 4 {
		start(t, l.Runner(), fmt.Sprintf("exp_%d", i))
	}
	resume(t, l, hangingTasks(begun), opt)
	first := map[string]bool{receive(t, begun): true, receive(t, begun): true}
	if diff := cmp.Diff(map[string]bool{"exp_0": true, "exp_1": true}, first); diff != "" {
		t.Error(diff)
	}
	if err := l.Runner().Stop(t.Context(), store.WorkflowExport, "exp_0", ""); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, begun); got != "exp_2" {
		t.Errorf("%s begins third", got)
	}
	if len(begun) != 0 {
		t.Errorf("%s has begun, too", <-begun)
	}
}

// An execution in a Wait state gives its place to others.
func TestWaitingExecutionsTakeNoPlace(t *testing.T) {
	l := open(t, t.TempDir())
	begun := make(chan string, 10)
	opt := fast
	opt.MaxExecutions = 1
	tasks := hangingTasks(begun)
	step := func(next func(n int) job.AgentOutput) asl.Task {
		n := 0
		return func(context.Context, json.RawMessage) (json.RawMessage, error) {
			n++
			return json.Marshal(next(n))
		}
	}
	tasks[job.TaskAgentPrepare] = step(func(int) job.AgentOutput { return job.AgentOutput{Next: job.NextWork} })
	tasks[job.TaskAgentWork] = step(func(n int) job.AgentOutput {
		if n == 1 {
			begun <- "round waits"
			return job.AgentOutput{Next: job.NextWait, WaitUntil: time.Now().Add(2 * time.Second)}
		}
		begun <- "round goes on"
		return job.AgentOutput{Next: job.NextPublish}
	})
	tasks[job.TaskAgentReview] = step(func(int) job.AgentOutput { return job.AgentOutput{Next: job.NextPublish} })
	tasks[job.TaskAgentPublish] = step(func(int) job.AgentOutput { return job.AgentOutput{Next: job.NextDone} })
	tasks[job.TaskAgentFail] = step(func(int) job.AgentOutput { return job.AgentOutput{} })
	if err := l.Runner().Start(t.Context(), store.WorkflowAgent, "agj_1-1", []byte(`{"projectId":"prj_1","jobId":"agj_1","round":1}`)); err != nil {
		t.Fatal(err)
	}
	resume(t, l, tasks, opt)
	if got := receive(t, begun); got != "round waits" {
		t.Fatal(got)
	}
	start(t, l.Runner(), "exp_0")
	if got := receive(t, begun); got != "exp_0" {
		t.Fatalf("%s goes on while the round waits", got)
	}
	// The round needs a place to go on.
	time.Sleep(3 * time.Second)
	if len(begun) != 0 {
		t.Errorf("%s beside the export, in one place", <-begun)
	}
	if err := l.Runner().Stop(t.Context(), store.WorkflowExport, "exp_0", ""); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, begun); got != "round goes on" {
		t.Error(got)
	}
}

// A waiting execution that is stopped leaves no place behind for two others.
func TestStoppedWhileItWaits(t *testing.T) {
	l := open(t, t.TempDir())
	begun := make(chan string, 10)
	opt := fast
	opt.MaxExecutions = 1
	over := make(chan string, 10)
	opt.Over = func(e store.Execution) { over <- e.Name }
	tasks := hangingTasks(begun)
	waits := func(context.Context, json.RawMessage) (json.RawMessage, error) {
		begun <- "round waits"
		return json.Marshal(job.AgentOutput{Next: job.NextWait, WaitUntil: time.Now().Add(time.Hour)})
	}
	for _, name := range []string{job.TaskAgentPrepare, job.TaskAgentWork, job.TaskAgentReview, job.TaskAgentPublish, job.TaskAgentFail} {
		tasks[name] = waits
	}
	tasks[job.TaskAgentPrepare] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.Marshal(job.AgentOutput{Next: job.NextWork})
	}
	if err := l.Runner().Start(t.Context(), store.WorkflowAgent, "agj_1-1", []byte(`{"projectId":"prj_1","jobId":"agj_1","round":1}`)); err != nil {
		t.Fatal(err)
	}
	resume(t, l, tasks, opt)
	receive(t, begun)
	start(t, l.Runner(), "exp_0")
	if got := receive(t, begun); got != "exp_0" {
		t.Fatal(got)
	}
	for workflow, name := range map[string]string{store.WorkflowAgent: "agj_1-1", store.WorkflowExport: "exp_0"} {
		if err := l.Runner().Stop(t.Context(), workflow, name, ""); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, over); got != name {
			t.Fatalf("%s is over", got)
		}
	}
	start(t, l.Runner(), "exp_1")
	if got := receive(t, begun); got != "exp_1" {
		t.Fatal(got)
	}
	start(t, l.Runner(), "exp_2")
	time.Sleep(20 * opt.Poll)
	if len(begun) != 0 {
		t.Errorf("%s begins beside exp_1, in one place", <-begun)
	}
}

// One owner's executions never take all places, and of those who wait, the one
// with fewer running goes first, however late it came.
func TestExecutionsAreFairToOwners(t *testing.T) {
	l := open(t, t.TempDir())
	begun := make(chan string, 10)
	opt := fast
	opt.MaxExecutions = 3
	opt.Owner = func(_ context.Context, e store.Execution) string { return e.Name[:1] }
	over := make(chan string, 10)
	opt.Over = func(e store.Execution) { over <- e.Name }
	for _, name := range []string{"a0", "a1", "a2", "a3"} {
		start(t, l.Runner(), name)
	}
	resume(t, l, hangingTasks(begun), opt)
	first := map[string]bool{receive(t, begun): true, receive(t, begun): true}
	if diff := cmp.Diff(map[string]bool{"a0": true, "a1": true}, first); diff != "" {
		t.Error(diff)
	}
	start(t, l.Runner(), "b0")
	if got := receive(t, begun); got != "b0" {
		t.Errorf("%s begins third", got)
	}
	start(t, l.Runner(), "b1")
	if err := l.Runner().Stop(t.Context(), store.WorkflowExport, "a0", ""); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, over); got != "a0" {
		t.Errorf("%s is over", got)
	}
	if got := receive(t, begun); got != "a2" { // as old as b1's owner is busy
		t.Errorf("%s begins fourth", got)
	}
}

// Shards of one export run so many at once as the option says.
func TestRenderConcurrency(t *testing.T) {
	l := open(t, t.TempDir())
	tasks := workingTasks()
	tasks[job.TaskPlan] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"jobId":"x","renderer":"r","shards":[1,2,3,4,5,6,7,8,9]}`), nil
	}
	var (
		mu        sync.Mutex
		now, most int
	)
	gate, open3 := make(chan struct{}), sync.Once{}
	tasks[job.TaskRender] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		mu.Lock()
		now++
		most = max(most, now)
		if now == 3 { // as many as there may be are here: let all go on
			open3.Do(func() { close(gate) })
		}
		mu.Unlock()
		<-gate
		mu.Lock()
		now--
		mu.Unlock()
		return nil, nil
	}
	opt := fast
	opt.RenderConcurrency = 3
	resume(t, l, tasks, opt)
	start(t, l.Runner(), "x")
	until(t, l.Runner(), "x", store.Succeeded)
	if most != 3 {
		t.Errorf("%d at once", most)
	}
}

// A context that ends is like Close: nothing is decided.
func TestEndOfContextDrains(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan string, 10)
	if err := l.Runner().Resume(ctx, hangingTasks(begun), fast); err != nil {
		t.Fatal(err)
	}
	start(t, l.Runner(), "exp_1")
	receive(t, begun)
	cancel()
	shut(t, l)
	l = open(t, dir)
	if e, err := l.Runner().Status(t.Context(), store.WorkflowExport, "exp_1"); err != nil || e.State != store.Running {
		t.Errorf("got %+v, %v", e, err)
	}
}
