package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// smallExport are steps that work as those of the export do: each writes
// objects that are a function of its input, and a record if absent.
func smallExport(s store.Store, o store.Objects) storetest.Tasks {
	key := func(name string) store.Key { return store.Key{PK: "job", SK: name} }
	mark := func(ctx context.Context, name string) error {
		err := s.Write(ctx, []store.Record{{Key: key(name), Value: []byte(`true`)}}, nil)
		var conflict *store.ConflictError
		if errors.As(err, &conflict) {
			return nil // a run before this one was here
		}
		return err
	}
	return storetest.Tasks{
		job.TaskPlan: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			if _, err := o.Put(ctx, "site", strings.NewReader("site"), store.PutOptions{}); err != nil {
				return nil, err
			}
			return json.RawMessage(`{"jobId":"exp_1","renderer":"r","shards":[1,2]}`), mark(ctx, "planned")
		},
		job.TaskRender: func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			var in struct {
				Shard int `json:"shard"`
			}
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, err
			}
			name := fmt.Sprintf("unit/%d", in.Shard)
			if _, err := o.Put(ctx, name, strings.NewReader(strings.Repeat(name, 100)), store.PutOptions{}); err != nil {
				return nil, err
			}
			return nil, mark(ctx, name)
		},
		job.TaskAssemble: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			units, err := o.List(ctx, "unit/", "", 0)
			if err != nil {
				return nil, err
			}
			var all []io.Reader
			for _, u := range units {
				r, err := o.Get(ctx, u.Key, 0, -1)
				if err != nil {
					return nil, err
				}
				defer func() { _ = r.Close() }()
				all = append(all, r)
			}
			if _, err := o.Put(ctx, "bundle", io.MultiReader(all...), store.PutOptions{}); err != nil {
				return nil, err
			}
			return json.RawMessage(`{"more":false}`), mark(ctx, "completed")
		},
		job.TaskFail: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return nil, mark(ctx, "failed")
		},
	}
}

// A process that dies at any call of a port, before, during or after it, and
// is started again, ends with the same execution, records and bytes.
func TestRestartAfterEachCall(t *testing.T) {
	outside.NoRace(t, "it makes one call after another")
	dir := t.TempDir()
	// life is one process: it lasts until the export is done or it has died.
	life := func(t *testing.T, dir string, c *storetest.Crash) {
		t.Helper()
		ctx, cancel := c.Context(t.Context())
		defer cancel()
		l, err := local.Open(t.Context(), local.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := l.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		tasks := smallExport(c.Store(l.Store()), c.Objects(l.Objects()))
		if err := l.Runner().Resume(ctx, tasks, local.RunnerOptions{
			RenderConcurrency: 1, // so that calls have an order
			Sleep:             func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		}); err != nil {
			t.Fatal(err)
		}
		r := c.Runner(l.Runner())
		if err := r.Start(ctx, store.WorkflowExport, "exp_1", []byte(`{"jobId":"exp_1"}`)); err != nil {
			if !c.Crashed() {
				t.Error(err)
			}
			return
		}
		for {
			e, err := l.Runner().Status(t.Context(), store.WorkflowExport, "exp_1")
			if err != nil {
				t.Error(err)
				return
			}
			if e.State != store.Running {
				return
			}
			select {
			case <-c.Dead():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
	result := func(t *testing.T, dir string) string {
		t.Helper()
		l, err := local.Open(t.Context(), local.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close(context.Background()) }()
		e, err := l.Runner().Status(t.Context(), store.WorkflowExport, "exp_1")
		if err != nil {
			t.Fatal(err)
		}
		all := []string{string(e.State)}
		page, err := l.Store().Query(t.Context(), store.Query{PK: "job"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			all = append(all, fmt.Sprint(r.Key.SK, " ", r.Revision))
		}
		objects, err := l.Objects().List(t.Context(), "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			all = append(all, o.Key+" "+o.SHA256)
		}
		return strings.Join(all, "\n")
	}
	whole := storetest.CrashAfter(0, storetest.Before)
	life(t, dir, whole)
	want := result(t, dir)
	if !strings.HasPrefix(want, "SUCCEEDED\ncompleted 1\nplanned 1\nunit/1 1\nunit/2 1\nbundle ") || whole.Calls() != 12 {
		t.Fatalf("%d calls; without a crash:\n%s", whole.Calls(), want)
	}
	for n := 1; n <= whole.Calls(); n++ {
		for _, moment := range storetest.Moments() {
			t.Run(fmt.Sprintf("%s %s", moment, whole.Log()[n-1]), func(t *testing.T) {
				dir := t.TempDir()
				c := storetest.CrashAfter(n, moment)
				life(t, dir, c)
				if !c.Crashed() {
					t.Error("the process has not died")
				}
				life(t, dir, storetest.CrashAfter(0, storetest.Before))
				if got := result(t, dir); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}
