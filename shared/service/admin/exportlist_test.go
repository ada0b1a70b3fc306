package admin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// withoutRows is a store as an earlier release has left it: the rows of lists are
// not written.
type withoutRows struct{ store.Store }

func (s withoutRows) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	var kept []store.Record
	for _, p := range puts {
		if len(p.Key.PK) < 8 || p.Key.PK[:8] != "exports#" {
			kept = append(kept, p)
		}
	}
	return s.Store.Write(ctx, kept, deletes)
}

func TestExportsOfEarlierReleasesAreListed(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("docs.example.com"), w.tenant("late.example.com")
	w.publish(x)
	w.publish(y)
	old := admin.New(admin.Options{Store: withoutRows{w.store}, Objects: w.objects, Runner: w.runner, Now: w.Time})
	for range 2 {
		if _, err := old.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "docs.example.com"}); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Second)
	}
	if _, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "docs.example.com"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 3, 3} {
		for _, domain := range []string{"", "docs.example.com"} {
			jobs, next, err := w.ListExports(w.ctx, x.caller, admin.ExportList{Domain: domain})
			if err != nil || len(jobs) != want || next != "" {
				t.Errorf("%d jobs, want %d: %q %v", len(jobs), want, next, err)
			}
		}
		added := map[int]int{1: 2, 3: 0}[want]
		if n, err := w.Backfill(w.ctx, false); n != added || err != nil {
			t.Errorf("%d were added, want %d: %v", n, added, err)
		}
	}
	if n, err := admin.New(admin.Options{Store: brokenScan{w.store}}).Backfill(w.ctx, false); n != 0 || err != nil {
		t.Errorf("a second backfill read all records: %d %v", n, err)
	}
	// The earlier release made another one: it was updated too late, or came back.
	if _, err := old.StartExport(w.ctx, y.caller, admin.StartExport{Domain: "late.example.com"}); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Backfill(w.ctx, true); n != 1 || err != nil {
		t.Errorf("asked again, it added %d: %v", n, err)
	}
}

type brokenScan struct{ store.Store }

func (brokenScan) Scan(context.Context, func(store.Record) error) error {
	return errors.New("it is not to be read again")
}

// TestCancelIsTheEndOnce: the place in the organisation is free once.
func TestCancelIsTheEndOnce(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	for range 5 { // more than may run at once
		j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "docs.example.com"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := w.CancelExport(w.ctx, x.caller, j.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, err := w.Account(w.ctx, x.caller)
	if err != nil || a.RunningExports != 0 {
		t.Errorf("%d exports run: %v", a.RunningExports, err)
	}
	if usage, err := w.Usage(w.ctx, x.ID); err != nil || len(usage) != 0 {
		t.Errorf("of exports that rendered nothing, %v is metered: %v", usage, err)
	}
}

// TestASnapshotThatIsRestoredStays: one that its retention would let go.
func TestASnapshotThatIsRestoredStays(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	first := w.publish(x).ID
	second := w.publish(x).ID
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Retention: admin.Retention{SnapshotDays: 1}}); err != nil {
		t.Fatal(err)
	}
	w.Advance(48 * time.Hour)
	if _, err := w.RestoreSnapshot(w.ctx, x.caller, admin.RestoreSnapshot{Domain: "docs.example.com", SnapshotID: first, Base: second}); err != nil {
		t.Fatal(err)
	}
	if n, err := w.ExpireSnapshots(w.ctx, x.ID); err != nil || n != 1 {
		t.Errorf("%d snapshots went: %v", n, err)
	}
	if p, err := w.LatestSnapshot(w.ctx, x.caller, "docs.example.com"); err != nil || p.ID != first {
		t.Errorf("the newest is %s: %v", p.ID, err)
	}
}

// counted counts the queries of a store.
type counted struct {
	store.Store
	queries int
}

func (s *counted) Query(ctx context.Context, q store.Query) (store.Page, error) {
	s.queries++
	return s.Store.Query(ctx, q)
}

// TestACursorLeadsToSomething: a list has a cursor where another page has entries, and
// only there, whatever lies between them that the list does not show.
func TestACursorLeadsToSomething(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.create(x, "") // an upload that was never published is the oldest
	w.publish(x)
	w.publish(x)
	newest := w.publish(x)
	for range 3 {
		w.Advance(time.Second)
		w.create(x, newest.ID)
	}
	for i := range 3 {
		w.Advance(time.Second)
		j := w.start(x)
		if i == 1 {
			want(t, w.FailExport(w.ctx, j.ID, admin.CodeInvalidSite, "no"), "")
		}
	}
	var revoked []string
	for i := range 4 {
		p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: fmt.Sprintf("d%d.example.com", i), Repository: "https://git.example.com/docs"})
		want(t, err, "")
		revoked = append(revoked, p.ID)
	}
	for _, id := range revoked {
		_, err := w.RevokeProject(w.ctx, id)
		want(t, err, "")
	}
	for _, c := range []struct {
		name string
		all  int
		page func(cursor string, limit int) (int, string, error)
	}{
		{"snapshots", 3, func(cursor string, limit int) (int, string, error) {
			l, err := w.ListSnapshots(w.ctx, x.caller, "docs.example.com", cursor, limit)
			return len(l.Snapshots), l.Next, err
		}},
		{"exports", 3, func(cursor string, limit int) (int, string, error) {
			l, next, err := w.ListExports(w.ctx, x.caller, admin.ExportList{Cursor: cursor, Limit: limit})
			return len(l), next, err
		}},
		{"failed exports", 1, func(cursor string, limit int) (int, string, error) {
			l, next, err := w.ListExports(w.ctx, x.caller, admin.ExportList{Status: admin.ExportFailed, Cursor: cursor, Limit: limit})
			return len(l), next, err
		}},
		{"projects", 1, func(cursor string, limit int) (int, string, error) {
			l, next, err := w.OwnProjects(w.ctx, x.caller, cursor, limit)
			return len(l), next, err
		}},
	} {
		for limit := 1; limit <= 4; limit++ {
			seen, cursor := 0, ""
			for {
				n, next, err := c.page(cursor, limit)
				want(t, err, "")
				seen += n
				if n == 0 || next != "" && n != limit {
					t.Errorf("%s, %d a page: a page has %d, its cursor is %q", c.name, limit, n, next)
				}
				if cursor = next; next == "" {
					break
				}
			}
			if seen != c.all {
				t.Errorf("%s, %d a page: %d in all, want %d", c.name, limit, seen, c.all)
			}
		}
	}
}

// TestASmallPageOfAFilteredList: rows are read by the page also where it is to have
// one job, and none is lost or repeated for it.
func TestASmallPageOfAFilteredList(t *testing.T) {
	var records *counted
	w := newWorld(t, func(o *admin.Options) {
		records = &counted{Store: o.Store}
		o.Store = records
	})
	x := w.tenant("docs.example.com")
	w.publish(x)
	var failed []string
	for i := range 30 {
		w.Advance(time.Second)
		j := w.start(x)
		if i%15 == 0 {
			want(t, w.FailExport(w.ctx, j.ID, admin.CodeInvalidSite, "no"), "")
			failed = append([]string{j.ID}, failed...)
			continue
		}
		want(t, w.BeginExport(w.ctx, j.ID, plan), "")
		want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
	}
	records.queries = 0
	var got []string
	for in := (admin.ExportList{Status: admin.ExportFailed, Limit: 1}); ; {
		jobs, next, err := w.ListExports(w.ctx, x.caller, in)
		want(t, err, "")
		for _, j := range jobs {
			got = append(got, j.ID)
		}
		if in.Cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(got, failed) || records.queries > 3 {
		t.Errorf("%d queries found %v, want %v", records.queries, got, failed)
	}
}

// TestNewestCompleted: it is a project's own, and no export that has not ended.
func TestNewestCompleted(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	newest := func(p admin.Project, want string) {
		t.Helper()
		if j, err := w.NewestCompleted(w.ctx, p); err != nil || j.ID != want {
			t.Errorf("the newest is %q (%v), want %q", j.ID, err, want)
		}
	}
	newest(x.project, "")
	first := w.deploy(x)
	newest(x.project, first.ID)
	w.startLive(x)
	newest(x.project, first.ID)
	// Another project of the organisation gets the domain.
	if _, err := w.RevokeProject(w.ctx, x.project.ID); err != nil {
		t.Fatal(err)
	}
	p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: x.project.Domain, Repository: x.project.Repository})
	if err != nil {
		t.Fatal(err)
	}
	newest(p, "")
}
