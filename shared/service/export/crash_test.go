package export

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Wherever the process ends, before, during or after a call of a port, the next
// one completes the job with the same bytes. make test-all has all three at each call,
// other runs one.
func TestPowerCutAtEveryCall(t *testing.T) {
	outside.Long(t, "hundreds of exports")
	before := t.TempDir()
	w := openWorld(t, before)
	w.publish(t, sampleSite(9))
	job := w.start(t)
	w.close(t)

	// begin opens a copy of the installation as it was before the export.
	begin := func(t *testing.T) *world {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
			t.Fatal(err)
		}
		return openWorld(t, dir)
	}
	run := func(ctx context.Context, w *world, c *storetest.Crash) error {
		o := c.Objects(w.objects)
		steps := New(Options{
			Admin: w.service(c.Store(w.store), o, c.Runner(w.runner)), Objects: o, Renderer: "test", Shards: 2, Concurrency: 1,
		})
		return workflow(ctx, steps, job.ID)
	}

	never := storetest.CrashAfter(0, storetest.Before)
	w = begin(t)
	if err := run(context.Background(), w, never); err != nil {
		t.Fatal(err)
	}
	want := w.bundle(t, job.ID)
	w.close(t)
	if never.Calls() < 40 {
		t.Fatalf("an export makes only %d calls: %q", never.Calls(), never.Log())
	}
	t.Logf("%d calls, each with %d kinds of power cut", never.Calls(), len(storetest.Moments()))

	for n := 1; n <= never.Calls(); n++ {
		for m, moment := range storetest.Moments() {
			if !outside.Full() && m != n%len(storetest.Moments()) {
				continue
			}
			t.Run(fmt.Sprintf("%s call %d", moment, n), func(t *testing.T) {
				t.Parallel()
				w := begin(t)
				c := storetest.CrashAfter(n, moment)
				ctx, cancel := c.Context(context.Background())
				err := run(ctx, w, c)
				cancel()
				if c.Crashed() && err == nil && !done(t, w, job.ID) {
					t.Errorf("the dead process says that all is well; its last call was %q", last(c.Log()))
				}
				if err := workflow(context.Background(), w.steps(func(o *Options) { o.Shards = 2 }), job.ID); err != nil {
					t.Fatalf("the next process, after %q: %v", last(c.Log()), err)
				}
				if got := w.bundle(t, job.ID); !bytes.Equal(got, want) {
					t.Errorf("other bytes after %q", last(c.Log()))
				}
			})
		}
	}
}

func done(t *testing.T, w *world, job string) bool {
	t.Helper()
	j, err := w.admin.FindExport(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return j.Status == admin.ExportCompleted
}

func last(log []string) string {
	if len(log) == 0 {
		return ""
	}
	return log[len(log)-1]
}
