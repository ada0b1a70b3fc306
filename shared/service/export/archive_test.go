package export

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// noise is a file that does not compress.
func noise(n int) *fstest.MapFile {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(data)
	return &fstest.MapFile{Data: data}
}

// partsOf are the names of the calls in a log that write a bundle's parts.
func partsOf(log []string) (n int) {
	for _, call := range log {
		if strings.HasPrefix(call, "Objects.UploadPart") {
			n++
		}
	}
	return n
}

// However many calls of Assemble a bundle takes, and however small its parts are,
// its bytes are the same.
func TestBundleInParts(t *testing.T) {
	outside.Long(t, "writes a bundle of several parts")
	w := newWorld(t)
	w.publish(t, sampleSite(9))
	want := w.exported(t, nil)
	for _, c := range []struct {
		part  int64
		calls int
	}{
		{int64(len(want)), 0}, {int64(len(want)) - 1, 0}, {20_000, 0}, {20_000, 1}, {7_001, 2}, {1000, 13},
	} {
		never := storetest.CrashAfter(0, storetest.Before)
		got := w.exported(t, func(o *Options) {
			o.Objects, o.PartBytes, o.PartsACall = never.Objects(w.objects), c.part, c.calls
		})
		if !bytes.Equal(got, want) {
			t.Errorf("other bytes in parts of %d, %d a call", c.part, c.calls)
		}
		if parts := partsOf(never.Log()); parts != int((int64(len(want))+c.part-1)/c.part) && c.part < int64(len(want)) {
			t.Errorf("%d bytes were written in %d parts of %d", len(want), parts, c.part)
		}
		left, err := filepath.Glob(filepath.Join(w.dir, "objects", "tmp", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left over: %v (%v)", left, err)
		}
	}
}

// Each call of Assemble is paid for, so each is noted.
func TestCallsOfAssembleAreNoted(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, sampleSite(9))
	exp := w.start(t)
	if err := workflow(t.Context(), w.steps(func(o *Options) { o.PartBytes, o.PartsACall = 20_000, 1 }), exp.ID); err != nil {
		t.Fatal(err)
	}
	times, err := w.admin.StepTimes(t.Context(), exp.ID)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, s := range times {
		if s.Step == "assemble" {
			calls++
		}
	}
	if size := len(w.bundle(t, exp.ID)); calls != size/20_000+1 {
		t.Errorf("%d calls are noted for a bundle of %d bytes", calls, size)
	}
}

// Wherever Assemble is killed, the next call goes on with what is stored and makes
// the same bytes.
func TestAssembleGoesOn(t *testing.T) {
	outside.Long(t, "stops the writing of a bundle at each call")
	const part = 40_000
	killAssemble(t, part, sampleSite(9), func(_ *testing.T, w *world) store.Objects { return w.objects }, func(string) bool { return true })
}

// The same on S3, whose parts have 5 MiB at least. Kills are at the calls that
// write the bundle.
func TestAssembleGoesOnInS3(t *testing.T) {
	outside.Long(t, "writes a bundle of three parts to a local cloud a few dozen times")
	c := cloudtest.MiniStack(t)
	site := sampleSite(3)
	site["images/noise.png"] = noise(12 << 20)
	killAssemble(t, 5<<20, site, func(t *testing.T, w *world) store.Objects {
		sources, exports := c.Buckets(t)
		s3 := s3store.New(c.Config, s3store.Options{Sources: sources, Exports: exports})
		for _, prefix := range []string{"exports/", "orgs/"} {
			list, err := w.objects.List(t.Context(), prefix, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range list {
				body, err := w.objects.Get(t.Context(), o.Key, 0, -1)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s3.Put(t.Context(), o.Key, body, store.PutOptions{}); err != nil {
					t.Fatal(err)
				}
				_ = body.Close()
			}
		}
		return s3
	}, writesParts)
}

// writesParts reports whether a call is about a bundle's parts.
func writesParts(call string) bool {
	return strings.Contains(call, "Upload") || strings.Contains(call, "assembly")
}

// killAssemble renders a site, and ends the process at each call of Assemble that
// at picks, or with BINDERY_FULL unset at every third of these and at those that end
// an upload. objects returns where a rendered job's objects are; the records are
// embedded ones.
func killAssemble(t *testing.T, part int64, site fstest.MapFS, objects func(*testing.T, *world) store.Objects, at func(call string) bool) {
	before := t.TempDir()
	w := openWorld(t, before)
	w.publish(t, site)
	want := w.exported(t, nil)
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 2 })
	plan, err := s.Plan(t.Context(), admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range plan.Shards {
		if err := s.Render(t.Context(), job.RenderInput{JobID: exp.ID, Renderer: "test", Shard: n}); err != nil {
			t.Fatal(err)
		}
	}
	w.close(t)
	begin := func(t *testing.T) *world {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
			t.Fatal(err)
		}
		w := openWorld(t, dir)
		w.objects = objects(t, w)
		w.admin = w.service(w.store, w.objects, w.runner)
		return w
	}
	assemble := func(ctx context.Context, w *world, c *storetest.Crash) error {
		o := c.Objects(w.objects)
		steps := New(Options{Admin: w.service(c.Store(w.store), o, c.Runner(w.runner)), Objects: o, Renderer: "test", PartBytes: part, Concurrency: 1})
		for {
			out, err := steps.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: "test"})
			if !out.More || err != nil {
				return err
			}
		}
	}
	never := storetest.CrashAfter(0, storetest.Before)
	w = begin(t)
	if err := assemble(t.Context(), w, never); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(w.bundle(t, exp.ID), want) {
		t.Fatal("other bytes in parts")
	}
	all := partsOf(never.Log())
	if all < 3 {
		t.Fatalf("the bundle has only %d parts", all)
	}
	wentOn, picked := false, 0
	for n, call := range never.Log() {
		if !at(call) {
			continue
		}
		if picked++; !outside.Full() && picked%3 != 0 && !strings.Contains(call, "CompleteUpload") {
			continue
		}
		for _, moment := range storetest.Moments() {
			t.Run(fmt.Sprintf("%s call %d", moment, n+1), func(t *testing.T) {
				w := begin(t)
				c := storetest.CrashAfter(n+1, moment)
				ctx, cancel := c.Context(t.Context())
				_ = assemble(ctx, w, c)
				cancel()
				next := storetest.CrashAfter(0, storetest.Before)
				for try := 0; ; try++ { // as the workflow tries a step again
					err := assemble(t.Context(), w, next)
					if err == nil {
						break
					}
					if admin.CodeOf(err) != admin.CodeTemporary || try == 3 {
						t.Fatalf("the next process, after %q: %v", last(c.Log()), err)
					}
				}
				if !bytes.Equal(w.bundle(t, exp.ID), want) {
					t.Errorf("other bytes after %q", last(c.Log()))
				}
				wentOn = wentOn || strings.Contains(call, "CompleteUpload") && partsOf(next.Log()) == 0 && partsOf(c.Log()) == all
			})
		}
	}
	if !wentOn {
		t.Error("no process went on where another one ended")
	}
}

// Who ends a job removes the parts of its bundle.
func TestAFailedJobLeavesNoParts(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(9))
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.PartBytes, o.PartsACall, o.Shards = 20_000, 1, 1 })
	plan, err := s.Plan(t.Context(), admin.WorkflowInput{JobID: exp.ID})
	if err == nil {
		err = s.Render(t.Context(), job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Assemble(t.Context(), job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer})
	if err != nil || !out.More {
		t.Fatalf("%+v, %v", out, err)
	}
	uploads := func() []string {
		list, err := filepath.Glob(filepath.Join(w.dir, "objects", "tmp", "upload-*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if n := len(uploads()); n != 1 {
		t.Fatalf("%d uploads are under way", n)
	}
	if err := w.keeper().Fail(t.Context(), job.FailInput{JobID: exp.ID, Error: job.ErrorNames{Error: "States.Timeout"}}); err != nil {
		t.Fatal(err)
	}
	if left := uploads(); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if _, err := s.Assemble(t.Context(), job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer}); admin.CodeOf(err) != admin.CodeJobNotActive {
		t.Errorf("a late call: %v", err)
	}
}

// An upload that was swept begins anew.
func TestAssembleBeginsAnewWhereItsPartsAreGone(t *testing.T) {
	outside.Long(t, "writes a bundle of several parts")
	w := newWorld(t)
	w.publish(t, sampleSite(9))
	want := w.exported(t, nil)
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.PartBytes, o.PartsACall, o.Shards = 20_000, 1, 1 })
	plan, err := s.Plan(t.Context(), admin.WorkflowInput{JobID: exp.ID})
	if err == nil {
		err = s.Render(t.Context(), job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	in := job.AssembleInput{JobID: exp.ID, Renderer: plan.Renderer}
	if out, err := s.Assemble(t.Context(), in); err != nil || !out.More {
		t.Fatalf("%+v, %v", out, err)
	}
	a, _, err := w.admin.Assembly(t.Context(), exp.ID)
	if err == nil {
		err = w.objects.AbortUpload(t.Context(), job.BundleKey(exp.ID), a.Upload)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Assemble(t.Context(), in); admin.CodeOf(err) != admin.CodeTemporary {
		t.Fatalf("parts that are gone: %v", err)
	}
	for more := true; more; {
		out, err := s.Assemble(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		more = out.More
	}
	if !bytes.Equal(w.bundle(t, exp.ID), want) {
		t.Error("other bytes")
	}
}

// A bundle that is too large, compressed, is known as early as can be: by Plan for
// files that do not compress, by the shards for all others.
func TestTooLargeABundleIsKnownEarly(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	for name, c := range map[string]struct {
		site  fstest.MapFS
		limit int64
		plans bool
	}{
		"pictures": {fstest.MapFS{"images/noise.png": noise(200_000)}, 190_000, false},
		"pages":    {fstest.MapFS{}, 20_000, true},
		// Text that compresses well may be much larger.
		"text": {fstest.MapFS{"notes.txt": {Data: bytes.Repeat([]byte("words "), 1<<20)}}, 2 << 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			site := sampleSite(9)
			for p, f := range c.site {
				site[p] = f
			}
			w.publish(t, site)
			exp := w.start(t)
			calls := storetest.CrashAfter(0, storetest.Before)
			err := workflowOf(t.Context(), w.steps(func(o *Options) {
				o.Objects, o.MaxBundleBytes, o.Shards = calls.Objects(w.objects), c.limit, 2
			}), exp.ID, 1)
			j, e := w.admin.FindExport(t.Context(), exp.ID)
			if e != nil {
				t.Fatal(e)
			}
			if name == "text" {
				if err != nil {
					t.Errorf("the job is %s: %+v", j.Status, j.Failure)
				}
				return
			}
			if j.Status != admin.ExportFailed || j.Failure.Code != admin.CodeSiteTooLarge {
				t.Errorf("the job is %s: %+v", j.Status, j.Failure)
			}
			if planned := j.Plan.Shards > 0; planned != c.plans {
				t.Errorf("planned: %v", planned)
			}
			for _, call := range calls.Log() {
				if call == "Objects.Put "+job.BundleKey(exp.ID) {
					t.Error("the bundle was begun")
				}
			}
		})
	}
}
