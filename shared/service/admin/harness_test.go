package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// world is a service on storage of its own, with a clock that only tests move.
type world struct {
	*admin.Service
	t       *testing.T
	ctx     context.Context
	store   store.Store
	objects store.Objects
	runner  *runner
	dir     string       // where storage keeps its files
	created atomic.Int64 // snapshots

	*storetest.Clock
}

// begin is the time at which every world begins.
var begin = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, change ...func(*admin.Options)) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), runner: &runner{}, dir: t.TempDir(), Clock: storetest.NewClock(begin)}
	l, err := local.Open(t.Context(), local.Options{Dir: w.dir, BaseURL: "http://127.0.0.1:1", Now: w.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	w.store, w.objects = l.Store(), l.Objects()
	o := admin.Options{Store: w.store, Objects: w.objects, Runner: w.runner, Now: w.Time, MaxRunning: 3, AgentReady: ready}
	for _, c := range change {
		c(&o)
	}
	w.Service = admin.New(o)
	return w
}

// runner remembers what was started.
type runner struct {
	mu      sync.Mutex
	fail    error
	started []string
}

func (r *runner) Start(_ context.Context, _, name string, _ []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.started = append(r.started, name)
	return nil
}

func (r *runner) Status(context.Context, string, string) (store.Execution, error) {
	return store.Execution{}, store.ErrNotFound
}

func (r *runner) Stop(context.Context, string, string, string) error { return nil }

// tenant is an organisation with one site and one key.
type tenant struct {
	admin.Organisation
	project admin.Project
	key     admin.Key
	secret  string
	caller  admin.Caller
}

func (w *world) tenant(domain string) tenant {
	w.t.Helper()
	var x tenant
	var err error
	if x.Organisation, err = w.CreateOrganisation(w.ctx, admin.Organisation{Name: domain, Plan: admin.PlanEnterprise}); err != nil {
		w.t.Fatal(err)
	}
	x.project, err = w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: domain, Repository: "https://git.example.com/docs"})
	if err != nil {
		w.t.Fatal(err)
	}
	if x.key, x.secret, err = w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "pipeline"}); err != nil {
		w.t.Fatal(err)
	}
	x.caller, err = w.Authenticate(w.ctx, "Bearer "+x.secret, netip.MustParseAddr("192.0.2.1"), admin.ScopeRead)
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

// digest is a made-up SHA-256.
func digest(c string) string { return strings.Repeat(c, 64) }

// create begins a snapshot of its own that is based on another, or on none.
func (w *world) create(x tenant, base string) admin.PendingSnapshot {
	w.t.Helper()
	return w.createOf(x, base, fmt.Sprintf("%064x", w.created.Add(1)))
}

// createOf is create for a manifest of a digest.
func (w *world) createOf(x tenant, base, manifest string) admin.PendingSnapshot {
	w.t.Helper()
	p, err := w.CreateSnapshot(w.ctx, x.caller, admin.CreateSnapshot{
		Domain: x.project.Domain, Base: base, Manifest: admin.Blob{SHA256: manifest, Size: 10},
		Packs: []admin.Blob{{SHA256: digest("b"), Size: 20}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// approve is the check of a snapshot that finds nothing wrong.
func approve(context.Context, admin.Snapshot) (admin.Contents, error) {
	return admin.Contents{Files: 2, Bytes: 20}, nil
}

// publish publishes a new snapshot on top of the newest.
func (w *world) publish(x tenant) admin.Snapshot {
	w.t.Helper()
	newest, err := w.LatestSnapshot(w.ctx, x.caller, x.project.Domain)
	if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
		w.t.Fatal(err)
	}
	w.Advance(time.Second)
	p, err := w.Publish(w.ctx, x.caller, admin.Publish{
		Domain: x.project.Domain, SnapshotID: w.create(x, newest.ID).ID, Check: approve,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// start starts an export of the whole site.
func (w *world) start(x tenant) admin.ExportJob {
	w.t.Helper()
	j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// want checks the code of an error; "" wants none.
func want(t *testing.T, err error, code string) {
	t.Helper()
	if got := admin.CodeOf(err); got != code {
		t.Errorf("code %q, want %q (%v)", got, code, err)
	}
}

// wantField checks that an error is about a field.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	e, ok := errors.AsType[*admin.Error](err)
	if !ok || e.Code() != admin.CodeInvalid || e.Field != field || !strings.HasPrefix(e.SafeMessage(), field+": ") {
		t.Errorf("error %v, want one about %s", err, field)
	}
}

// plan is the plan of an export of ten pages in two shards.
var plan = admin.ExportPlan{Renderer: "r1", Shards: 2, Pages: 10}

func bundleOf(j admin.ExportJob) admin.Bundle {
	return admin.Bundle{Key: "exports/" + j.ID + "/bundle.tar.gz", Size: 1000, SHA256: digest("c"), Pages: 10}
}

// ready is the answer of an installation with a forge and two models.
func ready(_ context.Context, _ admin.Project, model string) (string, error) {
	switch model {
	case "", "best":
		return "best", nil
	case "fast":
		return model, nil
	}
	return "", admin.Errorf(admin.CodeModelMissing, "there is no model %q", model)
}
