package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// completed runs a job's workflow and returns the job and its bundle.
func (w *world) completed(t *testing.T, in admin.StartExport, change func(*Options)) (admin.ExportJob, []byte) {
	t.Helper()
	exp := w.startOf(t, in)
	if err := workflow(context.Background(), w.steps(change), exp.ID); err != nil {
		t.Fatal(err)
	}
	data := w.bundle(t, exp.ID)
	exp, err := w.admin.FindExport(context.Background(), exp.ID)
	if err != nil {
		t.Fatal(err)
	}
	return exp, data
}

// objectsOf are the names of a job's objects.
func (w *world) objectsOf(t *testing.T, id string) (names []string) {
	t.Helper()
	list, err := w.objects.List(context.Background(), job.Prefix(id), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		names = append(names, strings.TrimPrefix(o.Key, job.Prefix(id)))
	}
	return names
}

// The second export of the same gets a copy of the first one's bundle, which is its
// own: it stays when the first goes, and a third is made from it.
func TestTheSameExportRendersNothing(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	ctx := context.Background()
	w := newWorld(t)
	w.publish(t, sampleSite(9))
	first, want := w.completed(t, admin.StartExport{}, nil)
	second, got := w.completed(t, admin.StartExport{}, nil)
	if first.Reused != "" || second.Reused != first.ID || second.Plan.Shards != 0 || second.PageCount() != first.PageCount() || second.Progress() != 100 {
		t.Errorf("the first is %+v, the second %+v", first, second)
	}
	if !bytes.Equal(got, want) {
		t.Error("the bundles differ")
	}
	ours := []string{"bundle.tar.gz", "findings.jsonl"}
	if names := w.objectsOf(t, second.ID); !slices.Equal(names, ours) {
		t.Errorf("the second has the objects %v", names)
	}
	if list, _, err := w.admin.Findings(ctx, w.caller, admin.FindingList{Job: second.ID}); err != nil || len(list) == 0 {
		t.Errorf("%d findings, %v", len(list), err)
	}
	usage, err := w.admin.Usage(ctx, w.caller.OrganisationID)
	if err != nil || len(usage) != 1 || usage[0].Exports != 1 || usage[0].Reused != 1 || usage[0].Pages != int64(first.Bundle.Pages) || usage[0].BundleBytes != 2*first.Bundle.Size {
		t.Errorf("usage is %+v, %v", usage, err)
	}

	// Its retention begins with it.
	w.configure(t, func(c *admin.Configuration) { c.Retention.BundleDays = 10 })
	w.now = w.now.AddDate(0, 0, 6)
	third, _ := w.completed(t, admin.StartExport{}, nil)
	w.now = w.now.AddDate(0, 0, 6)
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if len(w.objectsOf(t, first.ID))+len(w.objectsOf(t, second.ID)) != 0 || !slices.Equal(w.objectsOf(t, third.ID), ours) {
		t.Errorf("after the sweep: %v, %v and %v", w.objectsOf(t, first.ID), w.objectsOf(t, second.ID), w.objectsOf(t, third.ID))
	}
	if fourth, got := w.completed(t, admin.StartExport{}, nil); third.Reused != second.ID || fourth.Reused != third.ID || !bytes.Equal(got, want) {
		t.Errorf("the third reused %s, the fourth %s", third.Reused, fourth.Reused)
	}

	// Nothing is left to copy.
	w.now = w.now.AddDate(0, 0, 12)
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	// The sweep leaves the newest one, which somebody removes.
	if all, err := w.objects.List(ctx, job.AllObjects, "", 1000); err == nil {
		for _, o := range all {
			if err := w.objects.Delete(ctx, o.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again, got := w.completed(t, admin.StartExport{}, nil); again.Reused != "" || again.Plan.Shards == 0 || !bytes.Equal(got, want) {
		t.Errorf("after all were swept: %+v", again)
	}
}

// A caller that has the bundle gets no copy: the job's bundle is the one that is
// stored, and nothing more is.
func TestWhoHasTheBundleGetsNoCopy(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	ctx := context.Background()
	w := newWorld(t)
	w.publish(t, sampleSite(5))
	first, _ := w.completed(t, admin.StartExport{}, nil)
	have := admin.StartExport{Have: first.Bundle.SHA256}
	second, _ := w.completed(t, have, nil)
	if second.Reused != first.ID || !second.Unchanged() || second.Bundle.Key != first.Bundle.Key || !slices.Equal(w.objectsOf(t, second.ID), []string{"findings.jsonl"}) {
		t.Errorf("the second is %+v, with %v", second, w.objectsOf(t, second.ID))
	}
	if _, err := w.admin.BundleLink(ctx, w.caller, second.ID, ""); err != nil {
		t.Error(err)
	}
	// It lends nothing: the next copy is from the first.
	if third, _ := w.completed(t, admin.StartExport{Have: strings.Repeat("0", 64)}, nil); third.Reused != first.ID || third.Unchanged() || third.Bundle.Key == first.Bundle.Key {
		t.Errorf("the third is %+v", third)
	}
	if usage, err := w.admin.Usage(ctx, w.caller.OrganisationID); err != nil || usage[0].Reused != 2 || usage[0].BundleBytes != 2*first.Bundle.Size {
		t.Errorf("usage is %+v, %v", usage, err)
	}
	// Rendered anew, it is the same, and the caller learns so.
	w.publish(t, sampleSite(4))
	if other, _ := w.completed(t, have, nil); other.Reused != "" || other.Unchanged() {
		t.Errorf("of other pages: %+v", other)
	}
	have.Fresh = true
	w.publish(t, sampleSite(5))
	if fresh, _ := w.completed(t, have, nil); fresh.Reused != "" {
		t.Errorf("fresh: %+v", fresh)
	}
}

// What is not rendered as before is rendered.
func TestWhatIsNotReused(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	ctx := context.Background()
	for _, c := range []struct {
		name   string
		in     admin.StartExport
		change func(t *testing.T, w *world)
		steps  func(*Options)
	}{
		{name: "fresh", in: admin.StartExport{Fresh: true}},
		{name: "paths", in: admin.StartExport{Paths: []string{"guides"}}},
		{name: "groups", in: admin.StartExport{Groups: []string{"staff"}}},
		{name: "version", in: admin.StartExport{Version: "v1"}},
		{name: "renderer", steps: func(o *Options) { o.Renderer = "another" }},
		{name: "files", change: func(t *testing.T, w *world) { w.publish(t, sampleSite(6)) }},
		{name: "settings", change: func(t *testing.T, w *world) {
			w.configure(t, func(c *admin.Configuration) { c.Settings.CanonicalHTML = true })
		}},
		{name: "the bundle is gone", change: func(t *testing.T, w *world) { w.removeAll(t, "bundle.tar.gz") }},
		{name: "the bundle lost its end", change: func(t *testing.T, w *world) { w.cutAll(t, "bundle.tar.gz") }},
		{name: "the findings are gone", change: func(t *testing.T, w *world) { w.removeAll(t, "findings.jsonl") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(t, sampleSite(5))
			first, _ := w.completed(t, admin.StartExport{}, nil)
			if c.change != nil {
				c.change(t, w)
			}
			second, _ := w.completed(t, c.in, c.steps)
			if second.Reused != "" || second.Plan.Shards == 0 {
				t.Errorf("the second is %+v, the first %+v", second, first)
			}
			// What was rendered is the next one's source.
			c.in.Fresh = false
			if third, _ := w.completed(t, c.in, c.steps); third.Reused != second.ID {
				t.Errorf("the third reused %q, not %q", third.Reused, second.ID)
			}
		})
	}
	t.Run("failed and cancelled jobs", func(t *testing.T) {
		w := newWorld(t)
		w.publish(t, sampleSite(5))
		for range 2 {
			exp := w.startOf(t, admin.StartExport{})
			if out, err := w.steps(nil).Plan(ctx, admin.WorkflowInput{JobID: exp.ID}); err != nil || len(out.Shards) == 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			if _, err := w.objects.Put(ctx, job.BundleKey(exp.ID), strings.NewReader("half"), store.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := w.admin.FailExport(ctx, exp.ID, admin.CodeCancelled, ""); err != nil {
				t.Fatal(err)
			}
		}
		if exp, _ := w.completed(t, admin.StartExport{}, nil); exp.Reused != "" {
			t.Errorf("it reused %s", exp.Reused)
		}
	})
	t.Run("a page that failed", func(t *testing.T) {
		w := newWorld(t)
		site := sampleSite(3)
		site["hidden.mdx"].Data = bytes.Repeat([]byte("x "), MaxPageBytes/2+10)
		w.publish(t, site)
		for range 2 {
			if exp, _ := w.completed(t, admin.StartExport{}, nil); exp.Reused != "" || !exp.Bundle.Cut {
				t.Errorf("it is %+v, of %+v", exp, exp.Bundle)
			}
		}
	})
}

// configure changes the project.
func (w *world) configure(t *testing.T, change func(*admin.Configuration)) {
	t.Helper()
	projects, err := w.admin.ListProjects(context.Background(), w.caller.OrganisationID)
	if err == nil {
		p := projects[0]
		c := admin.Configuration{Kind: p.Kind, Settings: p.Settings, Retention: p.Retention, Agent: p.Agent}
		change(&c)
		_, err = w.admin.ConfigureProject(context.Background(), projects[0].ID, c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cutAll takes the second half of an object of every job away, by its name.
func (w *world) cutAll(t *testing.T, name string) {
	t.Helper()
	list, err := w.objects.List(context.Background(), job.AllObjects, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if !strings.HasSuffix(o.Key, "/"+name) {
			continue
		}
		half, err := w.objects.Get(context.Background(), o.Key, 0, o.Size/2)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(half)
		_ = half.Close()
		if err == nil {
			_, err = w.objects.Put(context.Background(), o.Key, bytes.NewReader(data), store.PutOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// removeAll removes an object of every job, by its name.
func (w *world) removeAll(t *testing.T, name string) {
	t.Helper()
	list, err := w.objects.List(context.Background(), job.AllObjects, "", 0)
	for _, o := range list {
		if err == nil && strings.HasSuffix(o.Key, "/"+name) {
			err = w.objects.Delete(context.Background(), o.Key)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever becomes of the steps of a job that would reuse a bundle, and whenever
// the bundle goes meanwhile, the job has the same bytes in the end.
func TestReuseOverFaults(t *testing.T) {
	outside.Long(t, "an export for each call and fault")
	begin := func(t *testing.T) (w *world, want []byte, id string) {
		w = newWorld(t)
		w.publish(t, sampleSite(3))
		_, want = w.completed(t, admin.StartExport{}, nil)
		return w, want, w.startOf(t, admin.StartExport{}).ID
	}
	over := func(w *world, c storetest.Around, id string) error {
		o := storetest.AroundObjects(w.objects, c)
		steps := New(Options{Admin: w.service(storetest.AroundStore(w.store, c), o, w.runner), Objects: o, Renderer: "test", Shards: 1, Concurrency: 1})
		return workflow(context.Background(), steps, id)
	}
	calls := 0
	w, _, id := begin(t)
	if err := over(w, func(ctx context.Context, _ *storetest.Call, do func(context.Context) error) error {
		calls++
		return do(ctx)
	}, id); err != nil {
		t.Fatal(err)
	}
	if j, err := w.admin.FindExport(context.Background(), id); err != nil || j.Reused == "" {
		t.Fatalf("%+v, %v", j, err)
	}
	for n := 1; n <= calls; n++ {
		for _, what := range []string{"dies before", "dies after", "bundle goes before", "bundle goes after"} {
			t.Run(fmt.Sprintf("%s call %d", what, n), func(t *testing.T) {
				t.Parallel()
				w, want, id := begin(t)
				at, dead := 0, false
				err := over(w, func(ctx context.Context, _ *storetest.Call, do func(context.Context) error) error {
					if at++; dead {
						return storetest.ErrCrashed
					}
					if dead = at == n && what == "dies before"; dead {
						return storetest.ErrCrashed
					}
					if at == n && what == "bundle goes before" {
						w.removeLenders(t, id)
					}
					err := do(ctx)
					if dead = at == n && what == "dies after"; dead {
						return storetest.ErrCrashed
					}
					if at == n && what == "bundle goes after" {
						w.removeLenders(t, id)
					}
					return err
				}, id)
				if !dead && err != nil {
					t.Error(err)
				}
				if err := workflow(context.Background(), w.steps(func(o *Options) { o.Shards = 1 }), id); err != nil && !done(t, w, id) {
					t.Fatal(err)
				}
				if got := w.bundle(t, id); !bytes.Equal(got, want) {
					t.Error("other bytes")
				}
			})
		}
	}
}

// removeLenders removes the bundles of all jobs but one.
func (w *world) removeLenders(t *testing.T, id string) {
	t.Helper()
	list, err := w.objects.List(context.Background(), job.AllObjects, "", 0)
	for _, o := range list {
		if err == nil && strings.HasSuffix(o.Key, "/bundle.tar.gz") && o.Key != job.BundleKey(id) {
			err = w.objects.Delete(context.Background(), o.Key)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
