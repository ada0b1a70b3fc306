package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// One fault, at each call that any function of an export makes of a port: the
// job ends as it does without, with the same bytes, and is counted once.
//
// A third of the calls meet one of the faults each, both chosen by
// BINDERY_FAULTS_SEED; with BINDERY_FAULTS=n so many cases are run, with
// BINDERY_FAULTS=all everything.
func TestOneFaultAtEachCall(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			eachCall(t, s.run(t, nil), func(t *testing.T, plan map[string]storetest.Fault) { s.run(t, plan) })
		})
	}
}

// eachCall runs a test with a fault at each call that a run without any has made.
func eachCall(t *testing.T, sound []string, run func(*testing.T, map[string]storetest.Fault)) {
	t.Helper()
	faults := storetest.AllFaults()
	seed, most := schedule(t, len(sound)/3, len(sound)*len(faults))
	t.Logf("%d calls, each with %d faults: %d of %d cases, BINDERY_FAULTS_SEED=%d",
		len(sound), len(faults), most, len(sound)*len(faults), seed)
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(sound))
	for n := range most {
		// In each round every call has another fault, in an order of its own.
		round, i := n/len(sound), order[n%len(sound)]
		call, fault := sound[i], faults[rand.New(rand.NewPCG(seed, uint64(i))).Perm(len(faults))[round]]
		t.Run(fmt.Sprintf("%s at %s", fault, call), func(t *testing.T) {
			t.Parallel()
			run(t, map[string]storetest.Fault{call: fault})
		})
	}
}

// Several faults in one export: it ends as it does without, or its job fails,
// with nothing counted and nothing left.
func TestManyFaults(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			sound := s.run(t, nil)
			seed, most := schedule(t, 8, 1000)
			t.Logf("%d exports, BINDERY_FAULTS_SEED=%d", most, seed)
			for i := range most {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					t.Parallel()
					random := rand.New(rand.NewPCG(seed, uint64(i)))
					plan := make(map[string]storetest.Fault)
					for range 2 + random.IntN(6) {
						plan[sound[random.IntN(len(sound))]] = storetest.AllFaults()[random.IntN(len(storetest.AllFaults()))]
					}
					s.run(t, plan)
				})
			}
		})
	}
}

// schedule reads which part of all cases is run: its seed, and how many, by
// default some.
func schedule(t *testing.T, some, all int) (seed uint64, most int) {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("BINDERY_FAULTS_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	switch n, err := strconv.Atoi(os.Getenv("BINDERY_FAULTS")); {
	case os.Getenv("BINDERY_FAULTS") == "all":
		return seed, all
	case err == nil && n > 0:
		return seed, min(n, all)
	case os.Getenv("BINDERY_FAULTS") != "":
		t.Fatal("BINDERY_FAULTS is neither a number of cases nor all")
	case outside.Short(t):
		return seed, min(5, all)
	}
	return seed, min(some, all)
}

// scenario is an export from a caller's request to the link to its bundle, by
// functions that each have a process of their own, as in the cloud.
type scenario struct {
	name   string
	before string // an installation with a snapshot of the site
	once   sync.Once
	want   ending
	calls  []string
}

// ending is what an export leaves.
type ending struct {
	status admin.ExportStatus
	code   string // of the failure
	bundle string // its digest
	month  string
	usage  admin.ProjectUsage // of all projects
	failed string             // how the execution failed
}

func scenarios(t *testing.T) []*scenario {
	var list []*scenario
	for name, site := range map[string]fstest.MapFS{
		"a site":       sampleSite(4),
		"a broken one": {"docs.json": {Data: []byte(`{"name": "x", "navigation": 7`)}},
	} {
		s := &scenario{name: name, before: t.TempDir()}
		w := openWorld(t, s.before)
		w.publish(t, site)
		w.close(t)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *scenario) int { return cmp.Compare(a.name, b.name) })
	return list
}

// functions are those of one export in a world, and the ports that they call.
type functions struct {
	w       *world
	faults  *storetest.Faults
	objects store.Objects
	admin   *admin.Service // over the ports with faults
	keeper  *job.Keeper
	failed  string // how the execution failed
}

// withFaults makes functions of a world.
func withFaults(w *world, plan map[string]storetest.Fault) *functions {
	f := &functions{w: w, faults: storetest.NewFaults(plan)}
	var ids atomic.Int64
	f.objects = f.faults.Objects(w.objects)
	runner, now := f.faults.Runner(w.runner), func() time.Time { return w.now }
	f.admin = admin.New(admin.Options{
		Store: f.faults.Store(w.store), Objects: f.objects, Runner: runner, Now: now,
		NewID: func(prefix string) string { return fmt.Sprintf("%s_%026d", prefix, ids.Add(1)) },
	})
	f.keeper = job.NewKeeper(job.Options{Admin: f.admin, Objects: f.objects, Runner: runner, Now: now})
	return f
}

// run exports the site with faults, checks what it left, and returns the calls
// that were made.
func (s *scenario) run(t *testing.T, plan map[string]storetest.Fault) []string {
	if plan == nil {
		s.once.Do(func() {
			f := s.export(t, nil)
			s.want, s.calls = f.ending(t), f.faults.Log()
		})
		return s.calls
	}
	f := s.export(t, plan)
	got := f.ending(t)
	if got != s.want && (len(plan) == 1 || got.status != admin.ExportFailed || got.code == admin.CodeInternal || got.usage != admin.ProjectUsage{}) {
		t.Errorf("got %+v, want %+v, after %q", got, s.want, f.faults.Hit())
	}
	if len(f.faults.Hit()) == 0 {
		t.Errorf("no call of %v was made", plan)
	}
	return nil
}

func (s *scenario) export(t *testing.T, plan map[string]storetest.Fault) *functions {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(s.before)); err != nil {
		t.Fatal(err)
	}
	f := withFaults(openWorld(t, dir), plan)
	w, ctx := f.w, context.Background()
	j := call(t, f, func(ctx context.Context) (admin.ExportJob, error) {
		return f.admin.StartExport(ctx, w.caller, admin.StartExport{Domain: domain, IdempotencyKey: "start"})
	})
	f.scheduled(t)
	f.execute(ctx, t, j.ID)
	j = call(t, f, func(ctx context.Context) (admin.ExportJob, error) { return f.admin.GetExport(ctx, w.caller, j.ID) })
	if j.Status == admin.ExportCompleted {
		call(t, f, func(ctx context.Context) (admin.BundleLink, error) {
			return f.admin.BundleLink(ctx, w.caller, j.ID, "link")
		})
	}
	f.scheduled(t)
	f.faults.Release()
	return f
}

// call is a request of a client, which is made again where that may do better.
func call[T any](t *testing.T, f *functions, fn func(context.Context) (T, error)) T {
	t.Helper()
	for range 12 {
		v, err := invoke(context.Background(), f, fn)
		switch code := admin.CodeOf(err); {
		case err == nil:
			return v
		case code == admin.CodeKeyRunning: // as long as Retry-After says
			f.w.now = f.w.now.Add(2 * time.Minute)
		case code != admin.CodeTemporary && code != storetest.ErrorKilled && code != storetest.ErrorUnanswered:
			t.Fatalf("the client is told %v, after %q", err, f.faults.Hit())
		}
	}
	t.Fatalf("the client does not get through, after %q", f.faults.Hit())
	panic("unreachable")
}

// invoke runs a function with a result. Of two invocations at once the first one's
// counts, and what a late one says, nobody hears.
func invoke[T any](ctx context.Context, f *functions, fn func(context.Context) (T, error)) (T, error) {
	var began atomic.Int64
	answer := make(chan T, 1)
	err := f.faults.Invoke(ctx, func(ctx context.Context) error {
		first := began.Add(1) == 1
		v, err := fn(ctx)
		if first {
			answer <- v
		}
		return err
	})
	var v T
	if err == nil {
		v = <-answer
	}
	return v, err
}

// scheduled runs the reconciler as its schedule does, which repeats a failed
// invocation twice and comes again five minutes later.
func (f *functions) scheduled(t *testing.T) {
	t.Helper()
	for range 4 {
		for range 3 {
			if err := f.faults.Invoke(context.Background(), f.keeper.Reconcile); err == nil {
				return
			}
		}
		f.w.now = f.w.now.Add(5 * time.Minute)
	}
	t.Errorf("the reconciler does not get through, after %q", f.faults.Hit())
}

// execute runs the workflow of a job that was started, and calls what hears of
// executions that failed.
func (f *functions) execute(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	if e, err := f.w.runner.Status(ctx, store.WorkflowExport, id); err != nil || e.State != store.Running {
		t.Fatalf("the job was not started: %+v, %v, after %q", e, err, f.faults.Hit())
	}
	definition, err := job.Definition(job.ByName, 1)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := asl.Load(definition)
	if err != nil {
		t.Fatal(err)
	}
	tasks := make(map[string]asl.Task)
	for _, name := range []string{job.TaskPlan, job.TaskRender, job.TaskAssemble, job.TaskFail} {
		tasks[name] = func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			return invoke(ctx, f, func(ctx context.Context) (json.RawMessage, error) {
				if name == job.TaskFail {
					return job.Task(job.Silent(f.keeper.Fail))(ctx, input)
				}
				steps := New(Options{Admin: f.admin, Objects: f.objects, Renderer: "test", Shards: 2, Concurrency: 1})
				return steps.Tasks()[name](ctx, input)
			})
		}
	}
	input, err := json.Marshal(admin.WorkflowInput{JobID: id})
	if err != nil {
		t.Fatal(err)
	}
	_, err = machine.Run(ctx, id, input, asl.Options{
		Tasks: tasks, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	failed, ok := errors.AsType[*asl.Error](err)
	if !ok {
		return
	}
	f.failed = failed.Name
	for range 3 { // EventBridge
		if f.faults.Invoke(ctx, func(ctx context.Context) error {
			return f.keeper.Fail(ctx, job.FailInput{JobID: id, Error: job.ErrorNames{Error: failed.Name, Cause: failed.Cause}})
		}) == nil {
			return
		}
	}
	if err := f.w.runner.Stop(ctx, store.WorkflowExport, id, "the test ends it"); err != nil {
		t.Fatal(err)
	}
	f.w.now = f.w.now.Add(time.Hour)
}

// ending checks what is left when all is over and swept.
func (f *functions) ending(t *testing.T) ending {
	t.Helper()
	ctx, w := context.Background(), f.w
	after := fmt.Sprintf("after %q", f.faults.Hit())
	w.now = w.now.Add(9 * time.Hour)
	for range 2 { // the first may be the rest of a round that was begun
		if err := w.keeper().Sweep(ctx); err != nil {
			t.Errorf("sweep: %v, %s", err, after)
		}
	}
	if err := w.admin.ActiveExports(ctx, func(j admin.ExportJob) error {
		t.Errorf("the job %s is %s, %s", j.ID, j.Status, after)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	jobs := make(map[string]bool)
	for _, call := range f.faults.Log() {
		if name, ok := strings.CutPrefix(call, "Runner.Start "); ok {
			name, _, _ = strings.Cut(name, " ")
			jobs[name] = true
		}
	}
	if len(jobs) != 1 {
		t.Fatalf("there are jobs %v, %s", slices.Collect(maps.Keys(jobs)), after)
	}
	var id string
	for id = range jobs {
	}
	j, err := w.admin.FindExport(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	end := ending{status: j.Status, failed: f.failed}
	if j.Failure != nil {
		end.code = j.Failure.Code
	}
	objects, err := w.objects.List(ctx, job.AllObjects, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if (j.Status != admin.ExportCompleted || o.Key != job.BundleKey(id)) && o.Key != admin.FindingsKey(id) {
			t.Errorf("%s is left, %s", o.Key, after)
		}
	}
	if j.Status == admin.ExportCompleted {
		sum := sha256.Sum256(w.bundle(t, id))
		end.bundle = hex.EncodeToString(sum[:])
		if j.PageCount() != j.Plan.Pages || j.Progress() != 100 {
			t.Errorf("the job has %d of %d pages and is at %d%%, %s", j.PageCount(), j.Plan.Pages, j.Progress(), after)
		}
	}
	months, err := w.admin.Usage(ctx, w.caller.OrganisationID)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range months {
		end.month = u.Month
		end.usage.Exports += u.Exports
		end.usage.Reused += u.Reused
		end.usage.Pages += u.Pages
		end.usage.BundleBytes += u.BundleBytes
	}
	rec, err := w.store.Get(ctx, store.Key{PK: "org#" + w.caller.OrganisationID, SK: "running"})
	if err != nil || !strings.Contains(string(rec.Value), `"running":0`) {
		t.Errorf("the organisation's count of exports is %s, %v, %s", rec.Value, err, after)
	}
	return end
}
