package export

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// noPuts are objects that none can be added to.
type noPuts struct {
	store.Objects
	err error
}

func (o noPuts) Put(context.Context, string, io.Reader, store.PutOptions) (store.ObjectInfo, error) {
	return store.ObjectInfo{}, o.err
}

func (w *world) findings(t *testing.T, id string) string {
	t.Helper()
	body, err := w.objects.Get(context.Background(), admin.FindingsKey(id), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a completed export found is what its bundle says.
func TestFindingsAreTheReport(t *testing.T) {
	w := newWorld(t)
	site := sampleSite(5)
	site["p1.mdx"] = &fstest.MapFile{Data: []byte("---\ntitle: One\n---\n\n[Away](/nowhere) and {broken\n")}
	w.publish(t, site)
	exp := w.start(t)
	if err := workflow(context.Background(), w.steps(nil), exp.ID); err != nil {
		t.Fatal(err)
	}
	want := unpacked(t, w.bundle(t, exp.ID))[bundle.DiagnosticsPath]
	if got := w.findings(t, exp.ID); got != want || want == "" {
		t.Errorf("kept are\n%s\nin the bundle are\n%s", got, want)
	}
}

// What was found until an export failed, or was cancelled, stays with it after all
// sweeps, and nothing else does.
func TestFindingsOfAFailedExportStay(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	site := sampleSite(20)
	for name, f := range site {
		if strings.HasSuffix(name, ".mdx") {
			f.Data = append(f.Data, "\n[Away](/nowhere)\n"...)
		}
	}
	w.publish(t, site)
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 2 })
	plan, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.admin.CancelExport(ctx, w.caller, exp.ID, ""); err != nil {
		t.Fatal(err)
	}
	// The first to end it can't write; the parts stay for the next.
	away := errors.New("away")
	broken := job.NewKeeper(job.Options{Admin: w.admin, Objects: noPuts{w.objects, away}, Runner: w.runner, Now: func() time.Time { return w.now }})
	if err := broken.Fail(ctx, job.FailInput{JobID: exp.ID}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // an event may come twice
		if err := w.keeper().Fail(ctx, job.FailInput{JobID: exp.ID}); err != nil {
			t.Fatal(err)
		}
	}
	found := w.findings(t, exp.ID)
	if !strings.Contains(found, `"code":"link-missing","file":"guides/part-00/page-000.mdx","line":16`) {
		t.Errorf("found is\n%s", found)
	}
	w.now = w.now.Add(30 * 24 * time.Hour)
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	list, err := w.objects.List(ctx, job.Prefix(exp.ID), "", 0)
	if err != nil || len(list) != 1 || w.findings(t, exp.ID) != found {
		t.Errorf("the job leaves %v (%v)", list, err)
	}

	// A site without pages says why.
	w.publish(t, fstest.MapFS{"docs.json": &fstest.MapFile{Data: []byte(`{"name":"N","theme":"mint","colors":{"primary":"#000000"},"navigation":{"pages":["missing"]}}`)}})
	exp = w.start(t)
	if err := workflow(ctx, w.steps(nil), exp.ID); err == nil {
		t.Fatal("a site without pages was exported")
	}
	if found := w.findings(t, exp.ID); !strings.Contains(found, "missing") {
		t.Errorf("found is %q", found)
	}
}
