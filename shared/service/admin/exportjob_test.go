package admin_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

func TestAnExportFromBeginningToEnd(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")

	_, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "docs.example.com"})
	want(t, err, admin.CodeNoSnapshot)
	snapshot := w.publish(x)
	j := w.start(x)
	if j.Version != snapshot.ID || j.Snapshot != snapshot.ID || len(w.runner.started) != 1 || w.runner.started[0] != j.ID {
		t.Errorf("started %v for %+v", w.runner.started, j)
	}

	type state struct {
		Status          admin.ExportStatus
		Progress, Pages int
	}
	expect := func(s state) {
		t.Helper()
		got, err := w.GetExport(w.ctx, x.caller, j.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, state{got.Status, got.Progress(), got.PageCount()}); d != "" {
			t.Error(d)
		}
		if got.UpdatedAt.Before(got.CreatedAt) {
			t.Errorf("updated %v before created %v", got.UpdatedAt, got.CreatedAt)
		}
	}
	must := func(err error) {
		t.Helper()
		want(t, err, "")
		w.Advance(time.Second)
	}
	expect(state{admin.ExportQueued, 0, 0})
	_, err = w.BundleLink(w.ctx, x.caller, j.ID, "")
	want(t, err, admin.CodeJobRunning)
	in, err := w.ExportInput(w.ctx, j.ID)
	must(err)
	if in.Snapshot.ID != snapshot.ID || in.Project.ID != x.project.ID || !in.Features.Search {
		t.Errorf("input is %+v", in)
	}
	must(w.BeginExport(w.ctx, j.ID, plan))
	must(w.BeginExport(w.ctx, j.ID, plan))
	want(t, w.BeginExport(w.ctx, j.ID, admin.ExportPlan{Renderer: "r2", Shards: 2, Pages: 10}), admin.CodeRendererChanged)
	expect(state{admin.ExportRunning, 0, 0})
	must(w.MarkShard(w.ctx, j.ID, 1, 4, 0))
	must(w.MarkShard(w.ctx, j.ID, 1, 4, 0)) // counts once
	expect(state{admin.ExportRunning, 39, 4})
	must(w.MarkShard(w.ctx, j.ID, 2, 6, 0))
	expect(state{admin.ExportRunning, 99, 10})
	for range 2 {
		must(w.CompleteExport(w.ctx, j.ID, bundleOf(j)))
	}
	expect(state{admin.ExportCompleted, 100, 10})

	// Final: nothing moves it.
	must(w.MarkShard(w.ctx, j.ID, 2, 6, 0))
	want(t, w.MarkShard(w.ctx, j.ID, 3, 6, 0), admin.CodeJobNotActive)
	want(t, w.BeginExport(w.ctx, j.ID, plan), admin.CodeJobNotActive)
	want(t, w.FailExport(w.ctx, j.ID, admin.CodeInternal, "late"), admin.CodeJobNotActive)
	want(t, w.RecordFailure(w.ctx, j.ID, admin.CodeInternal, "late"), admin.CodeJobNotActive)
	other := bundleOf(j)
	other.Size++
	want(t, w.CompleteExport(w.ctx, j.ID, other), admin.CodeJobNotActive)
	_, err = w.ExportInput(w.ctx, j.ID)
	want(t, err, admin.CodeJobNotActive)
	expect(state{admin.ExportCompleted, 100, 10})

	u, err := w.Usage(w.ctx, x.ID)
	if d := cmp.Diff([]admin.Usage{{Month: "2026-03", Exports: 1, Pages: 10, BundleBytes: 1000}}, u); d != "" || err != nil {
		t.Error(d, err)
	}

	months, err := w.RecentUsage(w.ctx, x.caller, 2)
	byProject := map[string]admin.ProjectUsage{x.project.ID: {Domain: x.project.Domain, Kind: x.project.Kind, Exports: 1, Pages: 10, BundleBytes: 1000}}
	if d := cmp.Diff([]admin.MonthUsage{{Usage: u[0], Projects: byProject}, {Usage: admin.Usage{Month: "2026-02"}}}, months); d != "" || err != nil {
		t.Error(d, err)
	}

	_, err = w.BundleLink(w.ctx, x.caller, j.ID, "")
	want(t, err, admin.CodeBundleGone)
	if _, err := w.objects.Put(w.ctx, bundleOf(j).Key, strings.NewReader("half a bundle"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = w.BundleLink(w.ctx, x.caller, j.ID, "")
	want(t, err, admin.CodeBundleGone) // of another size
	if _, err := w.objects.Put(w.ctx, bundleOf(j).Key, strings.NewReader("bundle"+strings.Repeat("x", 994)), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	l, err := w.BundleLink(w.ctx, x.caller, j.ID, "")
	if err != nil || !strings.HasPrefix(l.Link.URL, "http") || !l.Link.ExpiresAt.After(w.Time()) {
		t.Errorf("link is %+v, %v", l.Link, err)
	}
}

// TestAFailedExport: what it says, and that it frees its place.
func TestAFailedExport(t *testing.T) {
	long := strings.Repeat("ü", 1500)
	for _, c := range []struct {
		name     string
		recorded []string
		code     string
		message  string
		want     admin.Failure
	}{
		{"as the workflow says", nil, admin.CodeSiteTooLarge, "too many pages", admin.Failure{Code: admin.CodeSiteTooLarge, Message: "too many pages"}},
		{"as the first step said", []string{"docs.json:1:2: no", "docs.json:9:9: never"}, admin.CodeInternal, "a shard failed", admin.Failure{Code: admin.CodeInvalidSite, Message: "docs.json:1:2: no"}},
		{"without a word", nil, "", "", admin.Failure{Code: admin.CodeInternal, Message: "the export failed"}},
		{"with too many words", nil, admin.CodeInternal, long, admin.Failure{Code: admin.CodeInternal, Message: strings.Repeat("ü", 1000) + "…"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 1 })
			x := w.tenant("docs.example.com")
			w.publish(x)
			j := w.start(x)
			want(t, w.BeginExport(w.ctx, j.ID, plan), "")
			want(t, w.MarkShard(w.ctx, j.ID, 1, 5, 0), "")
			for _, message := range c.recorded {
				want(t, w.RecordFailure(w.ctx, j.ID, admin.CodeInvalidSite, message), "")
			}
			for range 2 {
				want(t, w.FailExport(w.ctx, j.ID, c.code, c.message), "")
			}
			want(t, w.FailExport(w.ctx, j.ID, "other", "other"), "")
			want(t, w.MarkShard(w.ctx, j.ID, 2, 5, 0), admin.CodeJobNotActive)
			want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), admin.CodeJobNotActive)
			got, err := w.GetExport(w.ctx, x.caller, j.ID)
			if err != nil || got.Status != admin.ExportFailed || got.Progress() != 49 || got.PageCount() != 5 {
				t.Errorf("job is %+v, %v", got, err)
			}
			if d := cmp.Diff(&c.want, got.Failure); d != "" {
				t.Error(d)
			}
			_, err = w.BundleLink(w.ctx, x.caller, j.ID, "")
			want(t, err, admin.CodeJobFailed)
			w.start(x)
		})
	}
}

func TestAQueuedExportMayFailButNotComplete(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.start(x)
	want(t, w.MarkShard(w.ctx, j.ID, 1, 5, 0), admin.CodeJobNotActive)
	want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), admin.CodeJobNotActive)
	want(t, w.FailExport(w.ctx, j.ID, admin.CodeInternal, "gone"), "")
	want(t, w.BeginExport(w.ctx, j.ID, plan), admin.CodeJobNotActive)
	for _, id := range []string{"exp_none", "", "../x", strings.Repeat("x", 5000)} {
		want(t, w.BeginExport(w.ctx, id, plan), admin.CodeJobNotActive)
		want(t, w.FailExport(w.ctx, id, "x", "x"), admin.CodeJobNotActive)
		want(t, w.MarkShard(w.ctx, id, 1, 1, 0), admin.CodeJobNotActive)
	}
}

func TestAnEmptySiteHasProgressToo(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.start(x)
	want(t, w.BeginExport(w.ctx, j.ID, admin.ExportPlan{Renderer: "r1"}), "")
	got, err := w.GetExport(w.ctx, x.caller, j.ID)
	if err != nil || got.Progress() != 0 {
		t.Errorf("progress is %d, %v", got.Progress(), err)
	}
	b := bundleOf(j)
	b.Pages = 0
	want(t, w.CompleteExport(w.ctx, j.ID, b), "")
}

// TestProgressNeverFalls reads a job while its shards are marked in any order,
// each several times.
func TestProgressNeverFalls(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.start(x)
	const shards = 40
	want(t, w.BeginExport(w.ctx, j.ID, admin.ExportPlan{Renderer: "r1", Shards: shards, Pages: shards * 7}), "")
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range shards {
				want(t, w.MarkShard(w.ctx, j.ID, (i*7+worker*13)%shards+1, 7, 0), "")
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	last := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := w.GetExport(w.ctx, x.caller, j.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Progress() < last {
			t.Fatalf("progress fell from %d to %d", last, got.Progress())
		}
		last = got.Progress()
	}
	got, err := w.GetExport(w.ctx, x.caller, j.ID)
	if err != nil || got.Progress() != 99 || got.PageCount() != shards*7 {
		t.Errorf("at the end: %d%%, %d pages, %v", got.Progress(), got.PageCount(), err)
	}
}

// TestRunningExportsAreLimited lets a crowd start exports: as many as the limit
// says are let in, however they race, and each end lets one more in.
func TestRunningExportsAreLimited(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	w.publish(x)
	w.publish(other)
	var mu sync.Mutex
	var jobs []admin.ExportJob
	crowd := func() {
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain})
				if err == nil {
					mu.Lock()
					jobs = append(jobs, j)
					mu.Unlock()
					return
				}
				want(t, err, admin.CodeTooManyExports)
				if e, _ := errors.AsType[*admin.Error](err); e == nil || e.RetryAfter <= 0 {
					t.Error("it is not said when to try again")
				}
			})
		}
		wg.Wait()
	}
	crowd()
	if len(jobs) != 3 {
		t.Fatalf("%d exports run, want 3", len(jobs))
	}
	w.start(other) // another organisation is not concerned
	var wg sync.WaitGroup
	for range 5 { // the same end five times frees one place
		wg.Go(func() { want(t, w.FailExport(w.ctx, jobs[0].ID, admin.CodeInternal, "x"), "") })
	}
	wg.Wait()
	want(t, w.BeginExport(w.ctx, jobs[1].ID, plan), "")
	for range 2 {
		want(t, w.CompleteExport(w.ctx, jobs[1].ID, bundleOf(jobs[1])), "")
	}
	crowd()
	if len(jobs) != 5 {
		t.Errorf("%d exports were let in, want 5", len(jobs))
	}
	var active []string
	err := w.ActiveExports(w.ctx, func(j admin.ExportJob) error { active = append(active, j.ID); return nil })
	if err != nil || len(active) != 4 {
		t.Errorf("active are %v, %v; want the three and the other organisation's", active, err)
	}
}

func TestAnExportStartsThoughTheRunnerDoesNot(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	w.runner.fail = errors.New("no connection")
	j := w.start(x)
	if got, err := w.GetExport(w.ctx, x.caller, j.ID); err != nil || got.Status != admin.ExportQueued {
		t.Errorf("job is %s, %v", got.Status, err)
	}
	w.runner.fail = nil
	err := w.ActiveExports(w.ctx, func(j admin.ExportJob) error { return w.Restart(w.ctx, j) })
	if err != nil || len(w.runner.started) != 1 || w.runner.started[0] != j.ID {
		t.Errorf("started %v, %v", w.runner.started, err)
	}
}

// TestVersions: in a domain one label means one snapshot, paths and settings; of
// groups see TestGroupsOfAnExport.
func TestVersions(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	first := w.publish(x)
	w.publish(other)
	start := func(c tenant, label string, paths ...string) (admin.ExportJob, error) {
		return w.StartExport(w.ctx, c.caller, admin.StartExport{Domain: c.project.Domain, Version: label, Paths: paths})
	}
	ok := func(j admin.ExportJob, err error) admin.ExportJob {
		t.Helper()
		want(t, err, "")
		return j
	}
	taken := func(_ admin.ExportJob, err error) {
		t.Helper()
		want(t, err, admin.CodeVersionTaken)
	}
	fail := func(j admin.ExportJob) { want(t, w.FailExport(w.ctx, j.ID, admin.CodeInvalidSite, "no"), "") }

	a := ok(start(x, "v1"))
	b := ok(start(x, "v1"))
	ok(start(other, "v1", "guides")) // another domain's labels are its own
	taken(start(x, "v1", "guides"))
	c := ok(start(x, "v2", "guides/", "/api", "guides"))
	ok(start(x, "v2", "api", "/guides/")) // the same paths, otherwise written
	if d := cmp.Diff([]string{"api", "guides"}, c.Paths); d != "" {
		t.Error(d)
	}

	// Without a label: the snapshot's id, with a digest of what is not default.
	plain, part := ok(start(x, "")), ok(start(x, "", "guides"))
	if plain.Version != first.ID || !strings.HasPrefix(part.Version, first.ID+"-") {
		t.Errorf("versions are %s and %s", plain.Version, part.Version)
	}
	if again := ok(start(x, "", "/guides/")); again.Version != part.Version {
		t.Errorf("versions of the same paths are %s and %s", part.Version, again.Version)
	}

	// A label of which every job failed means nothing; one completed keeps it.
	w.publish(x)
	taken(start(x, "v1"))
	fail(a)
	taken(start(x, "v1"))
	fail(b)
	d := ok(start(x, "v1"))
	want(t, w.BeginExport(w.ctx, d.ID, plan), "")
	want(t, w.CompleteExport(w.ctx, d.ID, bundleOf(d)), "")
	ok(start(x, "v1"))
	taken(start(x, "v1", "api"))

	// Other settings are other content, and exports keep those they began with.
	settings := admin.Settings{CanonicalHTML: true}
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: x.project.Kind, Settings: settings}); err != nil {
		t.Fatal(err)
	}
	taken(start(x, "v1"))
	in, err := w.ExportInput(w.ctx, plain.ID)
	if err != nil || in.Project.Settings != (admin.Settings{}) {
		t.Errorf("settings are %+v, %v", in.Project.Settings, err)
	}
	if e := ok(start(x, "")); !strings.HasPrefix(e.Version, e.Snapshot+"-") || e.Settings != settings {
		t.Errorf("version is %s", e.Version)
	}

	// So is another kind.
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindAirGapped}); err != nil {
		t.Fatal(err)
	}
	taken(start(x, "v1"))
	if in, err = w.ExportInput(w.ctx, plain.ID); err != nil || in.Project.Kind != admin.KindCloud {
		t.Errorf("the kind is %s, %v", in.Project.Kind, err)
	}
	if e := ok(start(x, "")); !strings.HasPrefix(e.Version, e.Snapshot+"-") || e.Kind != admin.KindAirGapped {
		t.Errorf("version of a %s site is %s", e.Kind, e.Version)
	}
}

// TestGroupsOfAnExport: groups are part of what a version means, in whatever order
// they are written, and a request without any means what it did before there were
// groups.
func TestGroupsOfAnExport(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x := w.tenant("docs.example.com")
	snapshot := w.publish(x)
	start := func(key, label string, groups ...string) (admin.ExportJob, error) {
		return w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Version: label, Groups: groups, IdempotencyKey: key})
	}
	ok := func(j admin.ExportJob, err error) admin.ExportJob {
		t.Helper()
		want(t, err, "")
		return j
	}
	plain, staff, both := ok(start("", "")), ok(start("", "", "staff")), ok(start("", "", "staff", "board", "staff"))
	if plain.Version != snapshot.ID || staff.Version == plain.Version || both.Version == staff.Version {
		t.Errorf("versions are %s, %s and %s", plain.Version, staff.Version, both.Version)
	}
	if again := ok(start("", "", "board", "staff")); again.Version != both.Version || !slices.Equal(again.Groups, []string{"board", "staff"}) {
		t.Errorf("version is %s of %q, want %s", again.Version, again.Groups, both.Version)
	}
	if input, err := w.ExportInput(w.ctx, both.ID); err != nil || !slices.Equal(input.Job.Groups, []string{"board", "staff"}) {
		t.Errorf("the steps get %q, %v", input.Job.Groups, err)
	}
	ok(start("", "v1", "staff"))
	_, err := start("", "v1")
	want(t, err, admin.CodeVersionTaken)
	_, err = start("", "v1", "board")
	want(t, err, admin.CodeVersionTaken)

	first := ok(start("k", "", "staff"))
	if again := ok(start("k", "", "staff", "staff")); again.ID != first.ID {
		t.Errorf("a repeated request made %s", again.ID)
	}
	_, err = start("k", "")
	want(t, err, admin.CodeKeyReused)
}

func TestExportRequestsAreChecked(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	for _, c := range []struct {
		field string
		in    admin.StartExport
	}{
		{"domain", admin.StartExport{Domain: "Docs.example.com"}},
		{"version", admin.StartExport{Domain: "docs.example.com", Version: "-x"}},
		{"version", admin.StartExport{Domain: "docs.example.com", Version: "a/b"}},
		{"version", admin.StartExport{Domain: "docs.example.com", Version: strings.Repeat("x", 65)}},
		{"paths[0]", admin.StartExport{Domain: "docs.example.com", Paths: []string{""}}},
		{"paths[0]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"/"}}},
		{"paths[1]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"a", "a//b"}}},
		{"paths[1]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"a", "a?b"}}},
		{"paths[0]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"a/../b"}}},
		{"paths[1]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"a..b", "/.."}}},
		{"paths[1]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"a", "a\nb"}}},
		{"paths[1]", admin.StartExport{Domain: "docs.example.com", Paths: []string{"a", "a\xffb"}}},
		{"paths[0]", admin.StartExport{Domain: "docs.example.com", Paths: []string{strings.Repeat("x", 257)}}},
		{"paths", admin.StartExport{Domain: "docs.example.com", Paths: make([]string, 65)}},
		{"groups[0]", admin.StartExport{Domain: "docs.example.com", Groups: []string{""}}},
		{"groups[0]", admin.StartExport{Domain: "docs.example.com", Groups: []string{" a"}}},
		{"groups[1]", admin.StartExport{Domain: "docs.example.com", Groups: []string{"a", "a\nb"}}},
		{"groups[1]", admin.StartExport{Domain: "docs.example.com", Groups: []string{"a", "a\xffb"}}},
		{"groups[0]", admin.StartExport{Domain: "docs.example.com", Groups: []string{strings.Repeat("x", 129)}}},
		{"groups", admin.StartExport{Domain: "docs.example.com", Groups: make([]string, 33)}},
		{"Idempotency-Key", admin.StartExport{Domain: "docs.example.com", IdempotencyKey: "a b"}},
		{"Idempotency-Key", admin.StartExport{Domain: "docs.example.com", IdempotencyKey: strings.Repeat("x", 256)}},
	} {
		_, err := w.StartExport(w.ctx, x.caller, c.in)
		wantField(t, err, c.field)
	}
	if n := len(w.runner.started); n != 0 {
		t.Errorf("%d exports were started", n)
	}
}

// A start may name the snapshot that it is about.
func TestAnExportOfASnapshotThatIsTheNewestNoMore(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	first, second := w.publish(x), w.publish(x)
	_, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Newest: first.ID})
	want(t, err, admin.CodeOvertaken)
	j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Newest: second.ID})
	want(t, err, "")
	if j.Snapshot != second.ID || len(w.runner.started) != 1 {
		t.Errorf("started %v: %+v", w.runner.started, j)
	}
}

// TestACrowdGetsIn: as many starts at once as the limit allows all succeed,
// though each must write the organisation's counter.
func TestACrowdGetsIn(t *testing.T) {
	const crowd = 50
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = crowd })
	x := w.tenant("docs.example.com")
	w.publish(x)
	var wg sync.WaitGroup
	for range crowd {
		wg.Go(func() {
			_, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain})
			want(t, err, "")
		})
	}
	wg.Wait()
	_, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain})
	want(t, err, admin.CodeTooManyExports)
}
