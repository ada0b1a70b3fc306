package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Every step may be repeated, also behind the job's end.
func TestStepsRepeat(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(20))
	want := w.exported(t, nil)

	ctx := context.Background()
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 2 })
	var plan job.PlanOutput
	for range 2 {
		p, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
		if err != nil {
			t.Fatal(err)
		}
		plan = p
	}
	for range 2 {
		for _, n := range plan.Shards {
			if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: n}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if _, err := s.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(w.bundle(t, exp.ID), want) {
		t.Error("other bytes")
	}
	done, err := w.admin.FindExport(ctx, exp.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, end, err := bundle.Unpack(ctx, bytes.NewReader(want), t.TempDir(), bundle.Limits{})
	if err != nil || done.Bundle.End != end.Offset {
		t.Errorf("the bundle's end begins at %d, the record says %d (%v)", end.Offset, done.Bundle.End, err)
	}
	list, err := w.objects.List(ctx, job.Prefix(exp.ID), "", 0)
	if err != nil || len(list) != 2 || list[0].Key != job.BundleKey(exp.ID) || list[1].Key != admin.FindingsKey(exp.ID) {
		t.Errorf("the job leaves %v (%v)", list, err)
	}

	// What comes late changes nothing.
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1}); admin.CodeOf(err) != admin.CodeJobNotActive {
		t.Errorf("a late shard: %v", err)
	}
	if err := w.keeper().Fail(ctx, job.FailInput{JobID: exp.ID, Error: job.ErrorNames{Error: "States.Timeout"}}); err != nil {
		t.Errorf("a late failure: %v", err)
	}
	if p, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID}); err != nil || len(p.Shards) != 0 {
		t.Errorf("a late plan: %v, %v", p, err)
	}
	if !bytes.Equal(w.bundle(t, exp.ID), want) {
		t.Error("other bytes after late steps")
	}
}

// An event of an execution's end names its state where the States Language
// would name an error. A job says what either means.
func TestFailSaysHowTheExecutionEnded(t *testing.T) {
	for named, want := range map[string]admin.Failure{
		"States.Timeout": {Code: admin.CodeInternal, Message: "the export took too long"},
		"TIMED_OUT":      {Code: admin.CodeInternal, Message: "the export took too long"},
		"ABORTED":        {Code: admin.CodeInternal, Message: "the workflow of the export was stopped"},
		"FAILED":         {Code: admin.CodeInternal, Message: "the export failed with an internal error"},
		// A shard that met a passing fault too often records nothing.
		"Runtime.OutOfMemory":                    {Code: admin.CodeProcessEnded, Message: job.Message(admin.CodeProcessEnded)},
		"States.ExceedToleratedFailureThreshold": {Code: admin.CodeTemporary, Message: "the export kept failing with a temporary error; start another one"},
	} {
		t.Run(named, func(t *testing.T) {
			w := newWorld(t)
			w.publish(t, sampleSite(1))
			exp := w.start(t)
			if err := w.keeper().Fail(t.Context(), job.FailInput{JobID: exp.ID, Error: job.ErrorNames{Error: named}}); err != nil {
				t.Fatal(err)
			}
			j, err := w.admin.FindExport(t.Context(), exp.ID)
			if err != nil || j.Status != admin.ExportFailed || *j.Failure != want {
				t.Errorf("the job is %s with %+v (%v)", j.Status, j.Failure, err)
			}
		})
	}
}

// What operators are alarmed of are our faults, not the mistakes of a site.
func TestFaultsAreCounted(t *testing.T) {
	for code, counted := range map[string]bool{
		admin.CodeInternal: true, admin.CodeTemporary: true, "States.Timeout": true,
		admin.CodeInvalidSite: false, admin.CodeSiteTooLarge: false,
	} {
		w := newWorld(t)
		w.publish(t, sampleSite(1))
		exp := w.start(t)
		var notes []string
		keeper := job.NewKeeper(job.Options{Admin: w.admin, Objects: w.objects, Annotate: func(_ context.Context, attrs ...slog.Attr) {
			for _, a := range attrs {
				notes = append(notes, a.String())
			}
		}})
		if err := keeper.Fail(t.Context(), job.FailInput{JobID: exp.ID, Error: job.ErrorNames{Error: code}}); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(notes, "exportFaults=1") != counted {
			t.Errorf("%s: annotated %v", code, notes)
		}
	}
}

// A finished shard is not rendered again: its objects stay those that were there.
func TestFinishedShardReturnsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(5))
	ctx := context.Background()
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 1 })
	plan, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	in := job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1}
	if err := s.Render(ctx, in); err != nil {
		t.Fatal(err)
	}
	if _, err := w.objects.Put(ctx, job.UnitsKey(exp.ID, 1), strings.NewReader("mark"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Render(ctx, in); err != nil {
		t.Fatal(err)
	}
	if info, err := w.objects.Stat(ctx, job.UnitsKey(exp.ID, 1)); err != nil || info.Size != 4 {
		t.Errorf("the shard was rendered again: %+v, %v", info, err)
	}
	// But one whose objects went is.
	if err := w.objects.Delete(ctx, job.UnitsKey(exp.ID, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Render(ctx, in); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer}); err != nil {
		t.Fatal(err)
	}
	w.bundle(t, exp.ID)
}

// An export shows the snapshot that it started with.
func TestPublishInTheMiddle(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(30))
	want := w.exported(t, nil)
	ctx := context.Background()
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 2 })
	plan, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1}); err != nil {
		t.Fatal(err)
	}
	w.publish(t, sampleSite(4))
	s = w.steps(nil) // a process that knows nothing of the one before
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(w.bundle(t, exp.ID), want) {
		t.Error("a publish in the middle changed the export")
	}
}

// A step ends with its context, marks nothing, and goes through the next time.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(300))
	exp := w.start(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	calls := &countingObjects{Objects: w.objects}
	s := w.steps(func(o *Options) { o.Objects, o.Shards, o.Concurrency = calls, 1, 2 })
	plan, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	calls.onPut = func(key string) {
		if strings.HasSuffix(key, ".gz") {
			cancel()
		}
	}
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if marked, err := w.admin.ShardMarked(context.Background(), exp.ID, 1); err != nil || marked {
		t.Errorf("the shard is marked (%v)", err)
	}
	if len(s.slots) != 0 {
		t.Errorf("%d slots are still held", len(s.slots))
	}
	calls.onPut = nil
	if err := workflow(context.Background(), s, exp.ID); err != nil {
		t.Fatal(err)
	}
	w.bundle(t, exp.ID)
}

// countingObjects tells of every Put.
type countingObjects struct {
	store.Objects
	onPut func(key string)
}

func (c *countingObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	if c.onPut != nil {
		c.onPut(key)
	}
	return c.Objects.Put(ctx, key, r, opt)
}

// Jobs that can't be done fail with a code and a message that says where.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   fstest.MapFS
		paths   []string
		breaks  func(t *testing.T, w *world, p admin.Snapshot)
		code    string
		message string
	}{
		{"broken JSON", fstest.MapFS{"docs.json": {Data: []byte("{\n  \"name\": \"x\",\n  oops\n}")}}, nil, nil, admin.CodeInvalidSite, "docs.json:3:3: "},
		{"no configuration", fstest.MapFS{"a.mdx": {Data: []byte("x")}}, nil, nil, admin.CodeInvalidSite, "docs.json: "},
		{"no pages", fstest.MapFS{"docs.json": {Data: []byte(`{"name":"x"}`)}, "a.png": {Data: []byte("x")}}, []string{"/a"}, nil, admin.CodeInvalidSite, "docs.json: the site has no pages"},
		{"paths that select no page", sampleSite(3), []string{"/nope", "nothing/here/"}, nil, admin.CodeInvalidPaths, `no page lies below "/nope", "/nothing/here"`},
		{"broken reference", fstest.MapFS{
			"docs.json": {Data: []byte(`{"name":"x","navigation":{"$ref":"./nav.json"}}`)},
			"nav.json":  {Data: []byte(`{"pages": [`)},
		}, nil, nil, admin.CodeInvalidSite, "nav.json:1:"},
		{"a pack is gone", sampleSite(3), nil, func(t *testing.T, w *world, p admin.Snapshot) {
			list, err := w.objects.List(context.Background(), admin.PackPrefix(p.Organisation), "", 0)
			if err != nil || len(list) == 0 {
				t.Fatal(err)
			}
			for _, o := range list {
				if err := w.objects.Delete(context.Background(), o.Key); err != nil {
					t.Fatal(err)
				}
			}
		}, admin.CodeInconsistent, "gone"},
		{"a pack was changed", sampleSite(3), nil, func(t *testing.T, w *world, p admin.Snapshot) {
			list, err := w.objects.List(context.Background(), admin.PackPrefix(p.Organisation), "", 0)
			if err != nil || len(list) == 0 {
				t.Fatal(err)
			}
			for _, o := range list {
				if _, err := w.objects.Put(context.Background(), o.Key, bytes.NewReader(make([]byte, o.Size)), store.PutOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}, admin.CodeInconsistent, "manifest"},
		{"the pack of a picture was changed", withPicture(snapshot.LargeFile), nil, changePack(snapshot.LargeFile), admin.CodeInconsistent, "manifest"},
		{"the pack of a picture that is streamed was changed", withPicture(unitBytes + 1), nil, changePack(unitBytes + 1), admin.CodeInconsistent, "manifest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.publish(t, c.files)
			if c.breaks != nil {
				c.breaks(t, w, p)
			}
			job := w.start(t, c.paths...)
			if err := workflow(context.Background(), w.steps(nil), job.ID); err == nil {
				t.Error("the workflow succeeded")
			}
			j, err := w.admin.FindExport(context.Background(), job.ID)
			if err != nil {
				t.Fatal(err)
			}
			if j.Status != admin.ExportFailed || j.Failure.Code != c.code || !strings.Contains(j.Failure.Message, c.message) {
				t.Errorf("the job is %s with %+v", j.Status, j.Failure)
			}
		})
	}
}

// withPicture is a site with a picture of some bytes.
func withPicture(size int) fstest.MapFS {
	site := sampleSite(3)
	site["large.png"] = &fstest.MapFile{Data: []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("x", size-8))}
	return site
}

// changePack puts other bytes of the same number into packs of a size.
func changePack(size int64) func(*testing.T, *world, admin.Snapshot) {
	return func(t *testing.T, w *world, p admin.Snapshot) {
		list, err := w.objects.List(context.Background(), admin.PackPrefix(p.Organisation), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for _, o := range list {
			if o.Size != size {
				continue
			}
			changed++
			if _, err := w.objects.Put(context.Background(), o.Key, bytes.NewReader(make([]byte, o.Size)), store.PutOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if changed != 1 {
			t.Fatalf("%d packs of %d bytes", changed, size)
		}
	}
}

// A job says what its operator has to mend, wherever that was met; a cause that
// no retry heals goes before it.
func TestOutageIsNamed(t *testing.T) {
	full := fmt.Errorf("put: %w", &store.Outage{Message: store.OutageFull, Err: syscall.ENOSPC})
	for name, where := range map[string]string{"plan": "/site.json", "render": "/1.gz", "assemble": "/bundle.tar.gz", "nowhere": "-"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.publish(t, sampleSite(3))
			exp := w.start(t)
			s := w.steps(func(o *Options) { o.Objects = &fullObjects{o.Objects, where, full} })
			err := workflow(context.Background(), s, exp.ID)
			j, found := w.admin.FindExport(context.Background(), exp.ID)
			switch {
			case found != nil:
				t.Fatal(found)
			case where == "-" && err != nil:
				t.Error(err)
			case where != "-" && (j.Status != admin.ExportFailed || j.Failure.Code != admin.CodeTemporary || j.Failure.Message != store.OutageFull):
				t.Errorf("the job is %s with %+v", j.Status, j.Failure)
			}
		})
	}
	w := newWorld(t)
	w.publish(t, sampleSite(3))
	ctx := context.Background()
	for _, causes := range [][]string{{admin.CodeTemporary, admin.CodeInvalidSite}, {admin.CodeInvalidSite, admin.CodeTemporary}} {
		exp := w.start(t)
		for _, code := range causes {
			if err := w.admin.RecordFailure(ctx, exp.ID, code, "by "+code); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.admin.FailExport(ctx, exp.ID, admin.CodeTemporary, "late"); err != nil {
			t.Fatal(err)
		}
		if j, err := w.admin.FindExport(ctx, exp.ID); err != nil || j.Failure.Message != "by "+admin.CodeInvalidSite {
			t.Errorf("%v: %+v, %v", causes, j.Failure, err)
		}
	}
}

// fullObjects has no room for what ends in a name.
type fullObjects struct {
	store.Objects
	where string
	err   error
}

func (f *fullObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	if strings.HasSuffix(key, f.where) {
		return store.ObjectInfo{}, f.err
	}
	return f.Objects.Put(ctx, key, r, opt)
}

// Steps of two renderers never meet in one bundle.
func TestRendererChanged(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(3))
	ctx := context.Background()
	exp := w.start(t)
	plan, err := w.steps(nil).Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	other := w.steps(func(o *Options) { o.Renderer = "other" })
	for name, err := range map[string]error{
		"plan":     second(other.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})),
		"render":   other.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1}),
		"forged":   other.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: "other", Shard: 1}),
		"assemble": second(other.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer})),
	} {
		if admin.CodeOf(err) != admin.CodeRendererChanged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A shard's own cause is what the job fails with, not the workflow's word that
// some shard failed.
func TestFailTellsTheCause(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(3))
	ctx := context.Background()
	exp := w.start(t)
	s := w.steps(nil)
	err := s.run(ctx, exp.ID, "render", 1, func() error { return admin.Errorf(admin.CodeSiteTooLarge, "too much of it") })
	if admin.CodeOf(err) != admin.CodeSiteTooLarge {
		t.Fatal(err)
	}
	if err := w.keeper().Fail(ctx, job.FailInput{JobID: exp.ID, Error: job.ErrorNames{Error: "States.ExceedToleratedFailureThreshold", Cause: "secret path"}}); err != nil {
		t.Fatal(err)
	}
	j, err := w.admin.FindExport(ctx, exp.ID)
	if err != nil || j.Failure == nil || *j.Failure != (admin.Failure{Code: admin.CodeSiteTooLarge, Message: "too much of it"}) {
		t.Errorf("%+v, %v", j.Failure, err)
	}
}

// What the workflow says of an error is for the log: callers read our words.
func TestFailHidesInternals(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(3))
	exp := w.start(t)
	if err := w.keeper().Fail(context.Background(), job.FailInput{JobID: exp.ID, Error: job.ErrorNames{Error: "Runtime.Panic", Cause: "secret path"}}); err != nil {
		t.Fatal(err)
	}
	j, err := w.admin.FindExport(context.Background(), exp.ID)
	if err != nil || j.Failure == nil || j.Failure.Code != admin.CodeInternal || strings.Contains(j.Failure.Message, "secret") {
		t.Errorf("%+v, %v", j.Failure, err)
	}
}

// A page on which the renderer fails becomes a notice; the others are rendered.
func TestPageThatFails(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(3))
	ctx := context.Background()
	job := w.start(t)
	s := w.steps(nil)
	if _, err := s.Plan(ctx, admin.WorkflowInput{JobID: job.ID}); err != nil {
		t.Fatal(err)
	}
	input, err := w.admin.ExportInput(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	src, err := s.open(ctx, input)
	if err != nil {
		t.Fatal(err)
	}
	src.pages = nil // calling it panics
	res, err := s.renderPage(ctx, src, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(res.HTML), "could not be rendered") || len(res.Diagnostics) != 1 || res.Diagnostics[0].Code != "page-failed" {
		t.Errorf("%+v", res)
	}
}

// With path prefixes only their pages are in the bundle; links to others go to
// the site's domain, and the navigation leaves them out.
func TestPaths(t *testing.T) {
	w := newWorld(t)
	w.publish(t, fstest.MapFS{
		"docs.json":     {Data: []byte(`{"name":"x","navigation":{"groups":[{"group":"G","pages":["a/one","b/two"]}]}}`)},
		"a/one.mdx":     {Data: []byte("[there](/b/two#place) and [here](/a/three)")},
		"a/three.mdx":   {Data: []byte("three")},
		"b/two.mdx":     {Data: []byte("two")},
		"apart/one.mdx": {Data: []byte("not below /a")},
	})
	files := unpacked(t, w.exported(t, nil, "/a"))
	page := files["a/one.html"]
	for _, must := range []string{`href="https://docs.example/b/two#place"`, `href="three.html"`} {
		if !strings.Contains(page, must) {
			t.Errorf("the page lacks %s", must)
		}
	}
	for _, not := range []string{"b/two.html", "apart/one.html"} {
		if _, ok := files[not]; ok || strings.Contains(page, not) {
			t.Errorf("%s is in the bundle, or linked to", not)
		}
	}
}

// fakeRunner says what a test wants of executions.
type fakeRunner struct {
	mu         sync.Mutex
	executions map[string]store.Execution
	stopped    []string
}

func (r *fakeRunner) Start(_ context.Context, _, name string, _ []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.executions[name]; !ok {
		r.executions[name] = store.Execution{Name: name, State: store.Running}
	}
	return nil
}

func (r *fakeRunner) Status(_ context.Context, _, name string) (store.Execution, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.executions[name]
	if !ok {
		return e, store.ErrNotFound
	}
	return e, nil
}

func (r *fakeRunner) Stop(_ context.Context, _, name, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = append(r.stopped, name)
	return nil
}

// No job stays queued or running for ever.
func TestReconcile(t *testing.T) {
	for _, c := range []struct {
		name      string
		execution *store.Execution // nil: there is none
		begun     bool             // the job is running
		status    admin.ExportStatus
		started   bool
		stopped   bool
	}{
		{"queued without execution", nil, false, admin.ExportQueued, true, false},
		{"running without execution", nil, true, admin.ExportFailed, false, true},
		{"running", &store.Execution{State: store.Running}, true, admin.ExportRunning, false, false},
		{"running for too long", &store.Execution{State: store.Running, StartedAt: time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)}, true, admin.ExportFailed, false, true},
		{"just failed", &store.Execution{State: store.Failed, StoppedAt: time.Date(2026, 5, 4, 3, 1, 30, 0, time.UTC)}, true, admin.ExportRunning, false, false},
		{"failed", &store.Execution{State: store.Failed, StoppedAt: time.Date(2026, 5, 4, 2, 0, 0, 0, time.UTC)}, true, admin.ExportFailed, false, true},
		{"aborted while queued", &store.Execution{State: store.Aborted, StoppedAt: time.Date(2026, 5, 4, 2, 0, 0, 0, time.UTC)}, false, admin.ExportFailed, false, true},
		{"succeeded without its job", &store.Execution{State: store.Succeeded, StoppedAt: time.Date(2026, 5, 4, 2, 0, 0, 0, time.UTC)}, true, admin.ExportFailed, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.publish(t, sampleSite(3))
			ctx := context.Background()
			exp := w.start(t)
			r := &fakeRunner{executions: map[string]store.Execution{}}
			w.admin = w.service(w.store, w.objects, r)
			if c.begun {
				if _, err := w.steps(nil).Plan(ctx, admin.WorkflowInput{JobID: exp.ID}); err != nil {
					t.Fatal(err)
				}
			}
			if c.execution != nil {
				e := *c.execution
				if e.StartedAt.IsZero() {
					e.StartedAt = w.now.Add(-2 * time.Hour)
				}
				r.executions[exp.ID] = e
			}
			keeper := job.NewKeeper(job.Options{Admin: w.admin, Objects: w.objects, Runner: r, Now: func() time.Time { return w.now }, SweepEvery: -1})
			if err := keeper.Reconcile(ctx); err != nil {
				t.Fatal(err)
			}
			j, err := w.admin.FindExport(ctx, exp.ID)
			if err != nil {
				t.Fatal(err)
			}
			_, there := r.executions[exp.ID]
			if j.Status != c.status || there != (c.started || c.execution != nil) || (len(r.stopped) == 1) != c.stopped {
				t.Errorf("status %s, execution %v, stopped %v", j.Status, there, r.stopped)
			}
		})
	}
}

// Packs go when nothing refers to them and they are old, never by age: a site
// that is published today has its files of last year.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	site := sampleSite(6)
	old := w.publish(t, site)
	ctx := context.Background()
	w.now = w.now.AddDate(1, 0, 0)
	site["guides/part-00/page-000.mdx"] = &fstest.MapFile{Data: []byte("---\ntitle: Page 0\n---\n\n## First heading\n\nNew words.\n")}
	w.publishOn(t, site, old)

	stray := []byte("a pack that nobody published")
	sum := sha256.Sum256(stray)
	key := admin.PackKey(w.caller.OrganisationID, hex.EncodeToString(sum[:]))
	if _, err := w.objects.Put(ctx, key, bytes.NewReader(stray), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	keeper := w.keeper()
	if err := keeper.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := w.objects.Stat(ctx, key); err != nil {
		t.Errorf("a young pack is gone: an upload may be under way (%v)", err)
	}
	w.now = w.now.AddDate(0, 0, 3)
	if err := keeper.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := w.objects.Stat(ctx, key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an old pack that nothing refers to is still there (%v)", err)
	}
	files := unpacked(t, w.exported(t, nil))
	if !strings.Contains(files["guides/part-00/page-000.html"], "New words") || !strings.Contains(files["guides/part-01/page-001.html"], "another") {
		t.Error("the bundle lacks a page of today or of last year")
	}
}
