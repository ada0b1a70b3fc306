package admin_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

func TestARepeatedStartIsOneJob(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	w.publish(x)
	w.publish(other)
	start := func(c tenant, key, label string) (admin.ExportJob, error) {
		return w.StartExport(w.ctx, c.caller, admin.StartExport{Domain: c.project.Domain, Version: label, IdempotencyKey: key})
	}
	first, err := start(x, "k1", "v1")
	want(t, err, "")
	want(t, w.BeginExport(w.ctx, first.ID, plan), "")
	again, err := start(x, "k1", "v1")
	want(t, err, "")
	if d := cmp.Diff(first, again); d != "" {
		t.Errorf("the answer differs:\n%s", d)
	}
	_, err = start(x, "k1", "v2")
	want(t, err, admin.CodeKeyReused)
	if second, err := start(x, "k2", "v1"); err != nil || second.ID == first.ID {
		t.Errorf("another key made %s, %v", second.ID, err)
	}
	if third, err := start(other, "k1", "v1"); err != nil || third.ID == first.ID {
		t.Errorf("another organisation's key made %s, %v", third.ID, err)
	}
	w.Advance(24*time.Hour - time.Second)
	again, err = start(x, "k1", "v1")
	if err != nil || again.ID != first.ID {
		t.Errorf("before a day is over: %s, %v", again.ID, err)
	}
	w.Advance(time.Second)
	again, err = start(x, "k1", "v2")
	if err != nil || again.ID == first.ID {
		t.Errorf("after a day: %s, %v", again.ID, err)
	}
}

// TestWithoutAKeyTwoStartsAreTwoJobs: so it was asked for.
func TestWithoutAKeyTwoStartsAreTwoJobs(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	if a, b := w.start(x), w.start(x); a.ID == b.ID {
		t.Error("they are one job")
	}
}

// TestACrowdWithOneKeyIsOneJob: all get that job, or are told that it is being
// made.
func TestACrowdWithOneKeyIsOneJob(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	for range 30 {
		wg.Go(func() {
			j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, IdempotencyKey: "k"})
			if err != nil {
				want(t, err, admin.CodeKeyRunning)
				return
			}
			mu.Lock()
			ids[j.ID]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(ids) != 1 {
		t.Errorf("jobs are %v, want one", ids)
	}
}

// TestRefusalsAreKeptUnlessTimeHeals: 429 and faults are not kept, others are.
func TestRefusalsAreKeptUnlessTimeHeals(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 1 })
	x := w.tenant("docs.example.com")
	w.publish(x)
	start := func(key, label string) error {
		_, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Version: label, IdempotencyKey: key})
		return err
	}
	j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Version: "v1"})
	want(t, err, "")
	want(t, start("busy", "v1"), admin.CodeTooManyExports)
	_, err = w.BundleLink(w.ctx, x.caller, j.ID, "bundle")
	want(t, err, admin.CodeJobRunning)
	want(t, w.BeginExport(w.ctx, j.ID, plan), "")
	want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
	_, err = w.BundleLink(w.ctx, x.caller, j.ID, "bundle")
	want(t, err, admin.CodeJobRunning) // as the first time
	_, err = w.BundleLink(w.ctx, x.caller, j.ID, "bundle 2")
	wantField(t, err, "Idempotency-Key")
	want(t, start("busy", "v1"), "") // not kept: it is let in now
}

// TestADomainThatComesLater: a key remembers no refusal that said that the domain, or
// what is published for it, is missing.
func TestADomainThatComesLater(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	start := func() error {
		_, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "later.example.com", IdempotencyKey: "k"})
		return err
	}
	want(t, start(), admin.CodeDomainNotFound)
	p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "later.example.com", Repository: "https://git.example.com/docs"})
	want(t, err, "")
	want(t, start(), admin.CodeNoSnapshot)
	x.project = p
	w.publish(x)
	want(t, start(), "")
}

// TestADeadRequestGivesWay: a request that died while it held its key blocks
// others only for as long as any request runs.
func TestADeadRequestGivesWay(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	p := w.create(x, "")
	publish := func(check func(context.Context, admin.Snapshot) (admin.Contents, error)) error {
		_, err := w.Publish(w.ctx, x.caller, admin.Publish{Domain: x.project.Domain, SnapshotID: p.ID, IdempotencyKey: "k", Check: check})
		return err
	}
	err := publish(func(context.Context, admin.Snapshot) (admin.Contents, error) {
		// While this one is at work, a second comes, and one after the lease.
		// The second learns how much of the lease is left.
		w.Advance(30 * time.Second)
		second := publish(approve)
		want(t, second, admin.CodeKeyRunning)
		if e, ok := errors.AsType[*admin.Error](second); !ok || e.RetryAfter != 90*time.Second {
			t.Errorf("%+v", second)
		}
		w.Advance(3 * time.Minute)
		want(t, publish(approve), "")
		return admin.Contents{}, errors.New("cut off")
	})
	want(t, err, admin.CodeInternal)
	want(t, publish(func(context.Context, admin.Snapshot) (admin.Contents, error) {
		t.Error("a replayed publish checks again")
		return admin.Contents{}, nil
	}), "")
}

// TestAnOvertakenStartEnds: one that is held up for longer than its lease, while
// another takes its key, learns that at its first write and tries no other.
func TestAnOvertakenStartEnds(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	in := admin.StartExport{Domain: x.project.Domain, IdempotencyKey: "k"}
	writes, overtaken := 0, false
	slow := admin.New(admin.Options{Runner: w.runner, Now: w.Time, Store: storetest.AroundStore(w.store,
		func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
			if strings.HasPrefix(call.Name, "Store.Get domain#") && !overtaken {
				overtaken = true
				w.Advance(3 * time.Minute)
				if _, err := w.StartExport(w.ctx, x.caller, in); err != nil {
					t.Error(err)
				}
			}
			if overtaken && strings.HasPrefix(call.Name, "Store.Write") {
				writes++
			}
			return do(ctx)
		})})
	_, err := slow.StartExport(w.ctx, x.caller, in)
	want(t, err, admin.CodeKeyRunning)
	if writes != 2 { // the job, and the key that it would free
		t.Errorf("the overtaken start wrote %d times", writes)
	}
	if n := len(w.runner.started); n != 1 {
		t.Errorf("%d exports were started", n)
	}
}

// TestARequestDiesWithItsProcess: where one process answers all requests, the
// next one takes none of its predecessor's for one that still runs.
func TestARequestDiesWithItsProcess(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	p := w.create(x, "")
	in := admin.Publish{Domain: x.project.Domain, SnapshotID: p.ID, IdempotencyKey: "k", Check: approve}
	first := in
	first.Check = func(context.Context, admin.Snapshot) (admin.Contents, error) {
		w.Advance(time.Second)
		next := admin.New(admin.Options{Store: w.store, Objects: w.objects, Runner: w.runner, Now: w.Time, Since: w.Time()})
		if _, err := next.Publish(w.ctx, x.caller, in); err != nil {
			t.Error(err)
		}
		return admin.Contents{}, errors.New("cut off")
	}
	_, err := w.Publish(w.ctx, x.caller, first)
	want(t, err, admin.CodeInternal)
}

func TestARepeatedCreateIsOneSnapshot(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	in := admin.CreateSnapshot{Domain: x.project.Domain, Manifest: admin.Blob{SHA256: digest("a"), Size: 1}, IdempotencyKey: "k"}
	first, err := w.CreateSnapshot(w.ctx, x.caller, in)
	want(t, err, "")
	again, err := w.CreateSnapshot(w.ctx, x.caller, in)
	want(t, err, "")
	if first.ID != again.ID || len(again.Uploads) != 1 {
		t.Errorf("%s, then %s with %d uploads", first.ID, again.ID, len(again.Uploads))
	}
	in.Manifest.Size = 2
	_, err = w.CreateSnapshot(w.ctx, x.caller, in)
	want(t, err, admin.CodeKeyReused)
}
