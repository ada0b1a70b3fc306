package asl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/statemachine"
)

// codedError is how steps report their errors.
type codedError struct{ code, message string }

func (e *codedError) Error() string       { return e.code + ": " + e.message + " (secret)" }
func (e *codedError) Code() string        { return e.code }
func (e *codedError) SafeMessage() string { return e.message }

// scriptTasks are the functions that definitions in testdata call. Each call
// is noted. They are told what to do by their name:
//
//	echo           gives its input
//	nothing        gives no output
//	fail:NAME:N    fails N times with the error NAME, then gives its input; without N, always
//	panic, plain   panics; fails with an error that has no code
//	size:N         gives a JSON string of N bytes
//	bad            gives what is not JSON
//	hang           waits for the end of its context
func scriptTasks(resources []string, note func(string)) map[string]asl.Task {
	tasks := map[string]asl.Task{}
	for _, resource := range resources {
		part := strings.Split(resource, ":")
		var calls atomic.Int64
		tasks[resource] = func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			note(resource + " " + string(input))
			n := calls.Add(1)
			switch part[0] {
			case "echo":
				return input, nil
			case "nothing":
				return nil, nil
			case "fail":
				if len(part) == 3 {
					var times int64
					if _, err := fmt.Sscan(part[2], &times); err != nil || n > times {
						return input, err
					}
				}
				return nil, fmt.Errorf("wrapped: %w", &codedError{part[1], "it broke"})
			case "panic":
				panic("boom")
			case "plain":
				return nil, errors.New("some error")
			case "size":
				var size int
				_, err := fmt.Sscan(part[1], &size)
				return json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`), err
			case "bad":
				return json.RawMessage(`{"a":`), nil
			case "hang":
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("a task without meaning: %s", resource)
		}
	}
	return tasks
}

// TestRun executes testdata/run/*.txtar: a definition ("machine"), an input,
// the calls of tasks in their order with the waits between them, and the
// output or the error. Time passes only in waits and time-outs.
func TestRun(t *testing.T) {
	for _, file := range glob(t, "testdata/run/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			in := archive(t, file)
			m, err := asl.Load(in["machine"])
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				var (
					mu    sync.Mutex
					calls []string
				)
				begin := time.Now()
				last := begin
				note := func(s string) {
					mu.Lock()
					defer mu.Unlock()
					if d := time.Since(last); d > 0 {
						calls = append(calls, "after "+d.String())
					}
					last = time.Now()
					calls = append(calls, s)
				}
				out, err := m.Run(t.Context(), "test", in["input"], asl.Options{
					Tasks:  scriptTasks(m.Resources(), note),
					Jitter: func() float64 { return 0.5 },
				})
				got := map[string]string{"calls": strings.Join(calls, "\n")}
				var failed *asl.Error
				switch {
				case err == nil:
					got["output"] = string(out)
				case errors.As(err, &failed):
					got["error"] = failed.Name + "\n" + failed.Cause
					if failed.TimedOut {
						got["error"] += "\ntimed out"
					}
				default:
					t.Fatal(err)
				}
				want := map[string]string{}
				for name, data := range in {
					if name != "machine" && name != "input" {
						want[name] = strings.TrimSpace(string(data))
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestLoadRefuses holds testdata/refused.txtar: definitions, each with the
// place and the reason of its refusal.
func TestLoadRefuses(t *testing.T) {
	a, err := txtar.ParseFile("testdata/refused.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Files)%2 != 0 || len(a.Files) < 60 {
		t.Fatalf("%d files", len(a.Files))
	}
	for i := 0; i < len(a.Files); i += 2 {
		t.Run(a.Files[i].Name, func(t *testing.T) {
			_, err := asl.Load(a.Files[i].Data)
			var refused *asl.LoadError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v, want a *LoadError", err)
			}
			if got, want := refused.Path+": "+refused.Message, strings.TrimSpace(string(a.Files[i+1].Data)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestExportWorkflowLoads(t *testing.T) {
	if diff := cmp.Diff([]string{"plan", "render", "fail", "assemble"}, loadExport(t, 3).Resources()); diff != "" {
		t.Error(diff)
	}
}

func loadExport(t testing.TB, concurrency int) *asl.Machine {
	t.Helper()
	def, err := statemachine.Fill(statemachine.Export(), map[string]string{
		statemachine.PlanFunction: "plan", statemachine.RenderFunction: "render",
		statemachine.AssembleFunction: "assemble", statemachine.FailFunction: "fail",
		statemachine.RenderConcurrency: fmt.Sprint(concurrency),
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := asl.Load(def)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// exportTasks are steps that work, and note their inputs.
func exportTasks(shards int, note func(string)) map[string]asl.Task {
	step := func(name string, out func() json.RawMessage) asl.Task {
		return func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
			note(name + " " + string(in))
			return out(), nil
		}
	}
	return map[string]asl.Task{
		"plan": step("plan", func() json.RawMessage {
			list := make([]int, shards)
			for i := range list {
				list[i] = i + 1
			}
			b, _ := json.Marshal(map[string]any{"jobId": "exp_1", "renderer": "r1", "shards": list})
			return b
		}),
		"render":   step("render", func() json.RawMessage { return nil }),
		"assemble": step("assemble", func() json.RawMessage { return json.RawMessage(`{"more":false}`) }),
		"fail":     step("fail", func() json.RawMessage { return nil }),
	}
}

func TestExportWorkflowRuns(t *testing.T) {
	var (
		mu    sync.Mutex
		calls []string
	)
	note := func(s string) { mu.Lock(); calls = append(calls, s); mu.Unlock() }
	if _, err := loadExport(t, 1).Run(t.Context(), "exp_1", json.RawMessage(`{"jobId":"exp_1"}`), asl.Options{Tasks: exportTasks(3, note)}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`plan {"jobId":"exp_1"}`,
		`render {"jobId":"exp_1","renderer":"r1","shard":1}`,
		`render {"jobId":"exp_1","renderer":"r1","shard":2}`,
		`render {"jobId":"exp_1","renderer":"r1","shard":3}`,
		`assemble {"jobId":"exp_1","renderer":"r1"}`,
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
}

// A bundle that takes several calls of Assemble gets them.
func TestExportWorkflowAssemblesOn(t *testing.T) {
	tasks := exportTasks(1, func(string) {})
	calls := 0
	tasks["assemble"] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		calls++
		return json.Marshal(map[string]bool{"more": calls < 3})
	}
	if _, err := loadExport(t, 1).Run(t.Context(), "exp_1", json.RawMessage(`{"jobId":"exp_1"}`), asl.Options{Tasks: tasks}); err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// The most shards there may be fit through the workflow's states.
func TestExportWorkflowTakes2000Shards(t *testing.T) {
	var renders atomic.Int64
	note := func(s string) {
		if strings.HasPrefix(s, "render ") {
			renders.Add(1)
		}
	}
	if _, err := loadExport(t, 40).Run(t.Context(), "exp_1", json.RawMessage(`{"jobId":"exp_1"}`), asl.Options{Tasks: exportTasks(2000, note)}); err != nil {
		t.Fatal(err)
	}
	if n := renders.Load(); n != 2000 {
		t.Errorf("%d shards rendered", n)
	}
}

func TestExportWorkflowFails(t *testing.T) {
	for _, c := range []struct {
		step string
		err  error
		want string // what Fail gets
		name string // what the execution ends with
	}{
		{"plan", &codedError{"invalid_site", `docs.json:1:2: "x"`},
			`{"error":{"Cause":"{\"errorMessage\":\"docs.json:1:2: \\\"x\\\"\",\"errorType\":\"invalid_site\"}","Error":"invalid_site"},"jobId":"exp_1"}`, "invalid_site"},
		{"render", &codedError{"renderer_changed", "changed"},
			`{"error":{"Cause":"The specified tolerated failure threshold was exceeded","Error":"States.ExceedToleratedFailureThreshold"},"jobId":"exp_1"}`, "States.ExceedToleratedFailureThreshold"},
		{"assemble", errors.New("disk on fire"),
			`{"error":{"Cause":"{\"errorMessage\":\"disk on fire\",\"errorType\":\"internal\"}","Error":"internal"},"jobId":"exp_1"}`, "internal"},
	} {
		t.Run(c.step, func(t *testing.T) {
			var got []string
			tasks := exportTasks(3, func(s string) {
				if rest, ok := strings.CutPrefix(s, "fail "); ok {
					got = append(got, rest)
				}
			})
			tasks[c.step] = func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, c.err }
			_, err := loadExport(t, 1).Run(t.Context(), "exp_1", json.RawMessage(`{"jobId":"exp_1"}`), asl.Options{
				Tasks: tasks,
				Sleep: func(context.Context, time.Duration) error { return nil },
			})
			var failed *asl.Error
			if !errors.As(err, &failed) || failed.Name != c.name {
				t.Errorf("the execution ends with %v, want %s", err, c.name)
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("Fail gets: %s", diff)
			}
		})
	}
}

// A Fail step that itself fails does not hide the first error.
func TestExportWorkflowKeepsTheFirstError(t *testing.T) {
	tasks := exportTasks(1, func(string) {})
	tasks["plan"] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return nil, &codedError{"invalid_site", "no docs.json"}
	}
	fails := 0
	tasks["fail"] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		fails++
		return nil, &codedError{"temporary", "later"}
	}
	_, err := loadExport(t, 1).Run(t.Context(), "exp_1", json.RawMessage(`{"jobId":"exp_1"}`), asl.Options{
		Tasks: tasks, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	var failed *asl.Error
	if !errors.As(err, &failed) || failed.Name != "invalid_site" || fails != 9 {
		t.Errorf("got %v after %d tries of Fail", err, fails)
	}
}

func TestMapRunsAtMostSoManyAtOnce(t *testing.T) {
	for _, width := range []int{1, 3, 40} {
		var now, most atomic.Int64
		tasks := exportTasks(200, func(string) {})
		tasks["render"] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return nil, nil
		}
		synctest.Test(t, func(t *testing.T) { // time stands while any child is at work
			if _, err := loadExport(t, width).Run(t.Context(), "x", json.RawMessage(`{"jobId":"x"}`), asl.Options{Tasks: tasks}); err != nil {
				t.Fatal(err)
			}
		})
		if most.Load() != int64(width) {
			t.Errorf("width %d: %d at once", width, most.Load())
		}
	}
}

func TestFailedChildEndsTheOthers(t *testing.T) {
	var ended atomic.Int64
	tasks := exportTasks(4, func(string) {})
	started := make(chan struct{}, 4)
	tasks["render"] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
		if strings.Contains(string(in), `"shard":3`) {
			for range 2 {
				<-started
			}
			return nil, &codedError{"renderer_changed", ""}
		}
		started <- struct{}{}
		<-ctx.Done()
		ended.Add(1)
		return nil, ctx.Err()
	}
	_, err := loadExport(t, 3).Run(t.Context(), "x", json.RawMessage(`{"jobId":"x"}`), asl.Options{Tasks: tasks})
	var failed *asl.Error
	if !errors.As(err, &failed) || failed.Name != "States.ExceedToleratedFailureThreshold" {
		t.Errorf("got %v", err)
	}
	if ended.Load() != 2 {
		t.Errorf("%d children were ended; item 4 must not have begun", ended.Load())
	}
}

func TestEndedContextEndsTheExecution(t *testing.T) {
	why := errors.New("stopped by hand")
	for _, step := range []string{"plan", "render", "assemble"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		failCalled := false
		tasks := exportTasks(3, func(s string) { failCalled = failCalled || strings.HasPrefix(s, "fail") })
		tasks[step] = func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			cancel(why)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		_, err := loadExport(t, 1).Run(ctx, "x", json.RawMessage(`{"jobId":"x"}`), asl.Options{Tasks: tasks})
		if !errors.Is(err, why) || failCalled {
			t.Errorf("in %s: got %v, Fail called: %v", step, err, failCalled)
		}
	}
}

// A task that does not hear that its time is up can't hold up the execution.
func TestDeafTask(t *testing.T) {
	m, err := asl.Load([]byte(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "deaf", "TimeoutSeconds": 5, "End": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := m.Run(t.Context(), "x", json.RawMessage(`{}`), asl.Options{
			Grace: 3 * time.Second,
			Tasks: map[string]asl.Task{"deaf": func(context.Context, json.RawMessage) (json.RawMessage, error) {
				time.Sleep(time.Hour)
				return nil, nil
			}},
		})
		var failed *asl.Error
		if !errors.As(err, &failed) || failed.Name != "States.Timeout" || failed.TimedOut {
			t.Errorf("got %v", err)
		}
		if d := time.Since(begin); d != 8*time.Second {
			t.Errorf("took %v", d)
		}
		time.Sleep(time.Hour) // until the task is done, too
	})
}

func TestRunNeedsAllTasks(t *testing.T) {
	if _, err := loadExport(t, 1).Run(t.Context(), "x", json.RawMessage(`{}`), asl.Options{}); err == nil {
		t.Error("no error")
	}
}

// FuzzLoad holds that no definition breaks the loader, and that what it takes
// can run: to an end, an error, or the end of its context.
func FuzzLoad(f *testing.F) {
	for _, file := range glob(f, "testdata/run/*.txtar") {
		f.Add([]byte(archive(f, file)["machine"]))
	}
	a, err := txtar.ParseFile("testdata/refused.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i := 0; i < len(a.Files); i += 2 {
		f.Add(a.Files[i].Data)
	}
	f.Fuzz(func(t *testing.T, def []byte) {
		m, err := asl.Load(def)
		if err != nil {
			var refused *asl.LoadError
			if !errors.As(err, &refused) || refused.Path == "" || refused.Message == "" {
				t.Errorf("got %v", err)
			}
			return
		}
		tasks := map[string]asl.Task{}
		calls := 0
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		for _, r := range m.Resources() {
			tasks[r] = func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
				mu.Lock()
				defer mu.Unlock()
				if calls++; calls > 20 {
					cancel()
				}
				if calls%2 == 0 {
					return nil, &codedError{"temporary", ""}
				}
				return in, nil
			}
		}
		_, err = m.Run(ctx, "fuzz", json.RawMessage(`{"jobId":"x","shards":[1,2]}`), asl.Options{
			Tasks: tasks, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		var failed *asl.Error
		if err != nil && !errors.As(err, &failed) && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	slices.Sort(files)
	return files
}

func archive(t testing.TB, file string) map[string][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range txtar.Parse(b).Files {
		files[f.Name] = f.Data
	}
	return files
}
