package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestLiveInAnyOrder makes up to three operations on what is live at once, in any
// order of their calls of the stores, and checks after each call what always holds:
// the list in the documentation's page of decisions.
func TestLiveInAnyOrder(t *testing.T) {
	cases := 40
	if outside.Short(t) {
		cases = 5
	}
	t.Run("SQLite", func(t *testing.T) { inAnyOrder(t, cases, nil) })
	t.Run("DynamoDB", func(t *testing.T) {
		c := cloudtest.Dynoxide(t)
		// A table for all: each case sweeps the organisations of those before.
		inAnyOrder(t, cases/8, dynamo.New(c.Config, dynamo.Options{Table: c.Table(t)}))
	})
}

// inAnyOrder tries a number of cases on a store; nil for one in SQLite for each.
func inAnyOrder(t *testing.T, cases int, records store.Store) {
	dir, n := t.TempDir(), 0
	proptest.Check(t, func(t *rapid.T) {
		if n++; n > cases {
			return
		}
		clock := storetest.NewClock(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC))
		l := openLocal(t, filepath.Join(dir, strconv.Itoa(n)), clock)
		of := records
		if of == nil {
			of = l.Store()
		}
		newLiveModel(t, clock, of, l.Objects()).run()
	})
}

func openLocal(t *rapid.T, dir string, clock *storetest.Clock) *local.Local {
	l, err := local.Open(context.Background(), local.Options{Dir: dir, BaseURL: "http://127.0.0.1:1", Now: clock.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

// actor is an operation that stops before each call of a store.
type actor struct {
	name string
	mu   sync.Mutex    // it may make several calls at once
	at   chan struct{} // it stands before a call, or has ended
	step chan struct{} // it may make the call
	done bool
	err  error
}

func (a *actor) around(ctx context.Context, _ *storetest.Call, do func(context.Context) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at <- struct{}{}
	<-a.step
	return do(ctx)
}

// liveRecord has the fields of a project's record of live that the test reads.
type liveRecord struct {
	Move admin.LiveMove `json:"move"`
	Hold admin.Hold     `json:"hold"`
	// Pinned are the archives of the last moves.
	Pinned []struct {
		N       int    `json:"n"`
		Archive string `json:"archive"`
	} `json:"pinned"`
	EndedAt time.Time `json:"endedAt"`
}

// seen holds the state of a project after the call before.
type seen struct {
	live    liveRecord
	history []admin.LiveMove
	top     admin.ExportJob // of the moves by now, the one that is highest
}

// liveModel is a domain with a project, which may end and be followed by another.
type liveModel struct {
	t       *rapid.T
	ctx     context.Context
	clock   *storetest.Clock
	store   store.Store
	objects store.Objects
	*admin.Service

	domain   string
	made     int
	org      admin.Organisation
	projects []admin.Project
	jobs     []admin.ExportJob // of all projects
	ended    map[string]bool   // organisations that were ended, to the last step
	seen     map[string]*seen
}

func newLiveModel(t *rapid.T, clock *storetest.Clock, s store.Store, o store.Objects) *liveModel {
	m := &liveModel{t: t, ctx: context.Background(), clock: clock, store: s, objects: o, ended: map[string]bool{}, seen: map[string]*seen{}}
	m.Service = m.service(s, o)
	org := must[admin.Organisation](m, "organisation")(m.CreateOrganisation(m.ctx, admin.Organisation{Name: "Example", Plan: admin.PlanEnterprise}))
	m.domain = strings.ReplaceAll(org.ID, "_", "-") + ".example.com"
	m.org = org
	m.begin()
	return m
}

// must returns a value that can't fail.
func must[T any](m *liveModel, what string) func(T, error) T {
	return func(v T, err error) T {
		if err != nil {
			m.t.Fatalf("%s: %v", what, err)
		}
		return v
	}
}

func (m *liveModel) service(s store.Store, o store.Objects) *admin.Service {
	return admin.New(admin.Options{Store: s, Objects: o, Now: m.clock.Time, MaxRunning: 1000})
}

// begin makes a project with the domain.
func (m *liveModel) begin() {
	p := must[admin.Project](m, "project")(m.CreateProject(m.ctx, admin.Project{
		Organisation: m.org.ID, Domain: m.domain, Repository: "https://git.example.com/docs", Retention: admin.Retention{BundleDays: 1},
	}))
	m.projects, m.seen[p.ID] = append(m.projects, p), &seen{}
}

func (m *liveModel) project() admin.Project { return m.projects[len(m.projects)-1] }

// push publishes and starts an export; it reports false where the domain is lost.
func (m *liveModel) push(publish bool) bool {
	m.clock.Advance(time.Hour) // a sweep that ended half-way is over
	c := m.Operator(m.org.ID)
	newest, err := m.LatestSnapshot(m.ctx, c, m.domain)
	if code := admin.CodeOf(err); code == admin.CodeDomainNotFound {
		return false
	}
	if publish || newest.ID == "" {
		m.made++
		p := must[admin.PendingSnapshot](m, "snapshot")(m.CreateSnapshot(m.ctx, c, admin.CreateSnapshot{
			Domain: m.domain, Base: newest.ID, Manifest: admin.Blob{SHA256: fmt.Sprintf("%064x", m.made), Size: 10},
		}))
		must[admin.Snapshot](m, "publish")(m.Publish(m.ctx, c, admin.Publish{
			Domain: m.domain, SnapshotID: p.ID, Check: func(context.Context, admin.Snapshot) (admin.Contents, error) { return admin.Contents{}, nil },
		}))
	}
	m.clock.Advance(time.Second)
	j := must[admin.ExportJob](m, "export")(m.StartExport(m.ctx, c, admin.StartExport{Domain: m.domain, GoLive: rapid.IntRange(0, 9).Draw(m.t, "marked") > 0}))
	m.jobs = append(m.jobs, j)
	return true
}

// operation draws what is done next, beside others: a name for the log, and the doing.
func (m *liveModel) operation(others []string) (string, func(*admin.Service, store.Objects) error) {
	c := m.Operator(m.org.ID)
	set := func(in admin.SetLive) (string, func(*admin.Service, store.Objects) error) {
		in.Domain = m.domain
		return fmt.Sprintf("%s %s%s", in.Action, in.Job, in.From), func(s *admin.Service, _ store.Objects) error {
			_, err := s.SetLive(m.ctx, c, in)
			return err
		}
	}
	jobOf := func() admin.ExportJob { return rapid.SampledFrom(m.jobs).Draw(m.t, "job") }
	kind := rapid.IntRange(0, 99).Draw(m.t, "operation")
	if len(others) > 0 && others[len(others)-1] == "sweep" { // the two that meet most often
		kind = 40 + kind/4
	}
	if kind%3 == 0 && !m.seen[m.project().ID].live.Hold.At.IsZero() { // else little happens for long
		return set(admin.SetLive{Action: admin.ActRelease})
	}
	switch {
	case kind < 40:
		j := jobOf()
		if rapid.Bool().Draw(m.t, "last") {
			j = m.jobs[len(m.jobs)-1]
		}
		cut := rapid.IntRange(0, 9).Draw(m.t, "cut") == 0
		return "complete " + j.ID, func(s *admin.Service, o store.Objects) error { return m.complete(s, o, j, cut) }
	case kind < 55:
		return set(admin.SetLive{Action: admin.ActPromote, Job: jobOf().ID})
	case kind < 67:
		from := m.seen[m.project().ID].live.Move.Job
		if from == "" || rapid.IntRange(0, 3).Draw(m.t, "stale") == 0 {
			from = jobOf().ID
		}
		return set(admin.SetLive{Action: admin.ActRollback, From: from})
	case kind < 71:
		return set(admin.SetLive{Action: admin.ActHold})
	case kind < 80:
		return set(admin.SetLive{Action: admin.ActRelease})
	case kind < 94:
		m.clock.Advance(30 * time.Hour)
		return "sweep", func(s *admin.Service, o store.Objects) error {
			_ = job.NewKeeper(job.Options{Admin: s, Objects: o, Now: m.clock.Time}).Sweep(m.ctx) // another may be sweeping
			return nil
		}
	case kind < 96:
		p := m.project()
		return "end of " + p.ID, func(s *admin.Service, _ store.Objects) error { _, err := s.RevokeProject(m.ctx, p.ID); return err }
	case kind < 97:
		org := m.org.ID
		return "end of " + org, func(s *admin.Service, _ store.Objects) error {
			_, err := s.RevokeOrganisation(m.ctx, org)
			m.ended[org] = err == nil
			return err
		}
	case kind < 98:
		return "loss of the domain", func(*admin.Service, store.Objects) error {
			return m.store.Write(m.ctx, nil, []store.Delete{{Key: store.Key{PK: "domain#" + m.domain, SK: "domain"}}})
		}
	default:
		mode := rapid.SampledFrom([]admin.DeployMode{admin.DeployAuto, admin.DeployManual}).Draw(m.t, "deploy")
		p := m.project()
		return "deploy " + string(mode), func(s *admin.Service, _ store.Objects) error {
			_, err := s.ConfigureProject(m.ctx, p.ID, admin.Configuration{Kind: p.Kind, Retention: p.Retention, Deploy: mode})
			return err
		}
	}
}

// complete is the end of an export, as its steps make it. It never fails.
func (m *liveModel) complete(s *admin.Service, o store.Objects, j admin.ExportJob, cut bool) error {
	now, err := s.FindExport(m.ctx, j.ID)
	if err != nil || now.Status == admin.ExportCompleted {
		return err
	}
	b := admin.Bundle{Key: job.BundleKey(j.ID), Size: 6, SHA256: fmt.Sprintf("%064x", 1), Cut: cut}
	if _, err := o.Put(m.ctx, b.Key, strings.NewReader("bundle"), store.PutOptions{}); err != nil {
		return err
	}
	if err := s.BeginExport(m.ctx, j.ID, admin.ExportPlan{Renderer: "r"}); err != nil && admin.CodeOf(err) != admin.CodeJobNotActive {
		return err
	}
	if err := s.CompleteExport(m.ctx, j.ID, b); err != nil && admin.CodeOf(err) != admin.CodeJobNotActive {
		return err
	}
	if now, err = s.FindExport(m.ctx, j.ID); err == nil && now.Status != admin.ExportCompleted {
		err = fmt.Errorf("the job is %s after its completion", now.Status)
	}
	return err
}

func (m *liveModel) run() {
	m.push(true)
	for range rapid.SampledFrom([]int{0, 0, 4, 15}).Draw(m.t, "earlier versions") {
		m.push(true)
		if rapid.IntRange(0, 3).Draw(m.t, "left running") == 0 {
			continue
		}
		if err := m.complete(m.Service, m.objects, m.jobs[len(m.jobs)-1], false); err != nil {
			m.t.Fatal(err)
		}
		m.check("a version")
	}
	// Roll backs reach versions without pins. Some of those go, as in a sweep.
	for range rapid.SampledFrom([]int{0, 5, 7}).Draw(m.t, "rolled back") {
		was := m.seen[m.project().ID]
		in := admin.SetLive{Domain: m.domain, Action: admin.ActRollback, From: was.live.Move.Job}
		if _, err := m.SetLive(m.ctx, m.Operator(m.org.ID), in); err != nil {
			break // there is none before
		}
		m.check("a roll back")
		if back := was.live.Move.Back; back > 0 && rapid.Bool().Draw(m.t, "the next goes") {
			id := was.history[back-1].Job
			if free, err := m.LetArchiveGo(m.ctx, id); err != nil || free && m.objects.Delete(m.ctx, job.BundleKey(id)) != nil {
				m.t.Fatal(free, err)
			}
		}
	}
	for range rapid.IntRange(1, 25).Draw(m.t, "rounds") {
		if rapid.IntRange(0, 2).Draw(m.t, "push") > 0 && !m.push(rapid.IntRange(0, 3).Draw(m.t, "publish") > 0) {
			m.next()
		}
		var actors []*actor
		var names []string
		for range rapid.IntRange(1, 3).Draw(m.t, "at once") {
			name, do := m.operation(names)
			names = append(names, name)
			a := &actor{name: name, at: make(chan struct{}), step: make(chan struct{})}
			s := m.service(storetest.AroundStore(m.store, a.around), storetest.AroundObjects(m.objects, a.around))
			go func() {
				a.err = do(s, storetest.AroundObjects(m.objects, a.around))
				a.done = true
				a.at <- struct{}{}
			}()
			actors = append(actors, a)
		}
		for _, a := range actors {
			<-a.at
		}
		m.t.Logf("at once: %s", strings.Join(names, ", "))
		for {
			actors = slices.DeleteFunc(actors, func(a *actor) bool {
				if a.done {
					m.ends(a)
				}
				return a.done
			})
			if len(actors) == 0 {
				break
			}
			a := actors[rapid.IntRange(0, len(actors)-1).Draw(m.t, "next")]
			a.step <- struct{}{}
			<-a.at
			m.check("a call of " + a.name)
		}
	}
}

// next makes the domain another project's, of another organisation if that was ended.
func (m *liveModel) next() {
	if _, err := m.RevokeProject(m.ctx, m.project().ID); err != nil {
		m.t.Fatal(err)
	}
	if o := must[admin.Organisation](m, "organisation")(m.GetOrganisation(m.ctx, m.org.ID)); !o.RevokedAt.IsZero() {
		m.org = must[admin.Organisation](m, "organisation")(m.CreateOrganisation(m.ctx, admin.Organisation{Name: "Next", Plan: admin.PlanEnterprise}))
	}
	m.begin()
	m.push(true)
}

// ends checks how an operation ended: a refusal is one that callers may meet.
func (m *liveModel) ends(a *actor) {
	switch code := admin.CodeOf(a.err); {
	case strings.HasPrefix(a.name, "complete ") && a.err != nil, code == admin.CodeInternal, code == admin.CodeTemporary:
		m.t.Fatalf("%s: %v", a.name, a.err)
	}
}

// record reads a record as it is stored; it reports false where there is none.
func (m *liveModel) record(pk, sk string, into any) bool {
	rec, err := m.store.Get(m.ctx, store.Key{PK: pk, SK: sk})
	if errors.Is(err, store.ErrNotFound) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(rec.Value, into)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return true
}

// check holds all projects against what always holds.
func (m *liveModel) check(after string) {
	for _, p := range m.projects {
		m.checkProject(after, p.ID)
	}
	for _, j := range m.jobs {
		var a struct {
			State string
			Pins  int
		}
		m.record("archive#"+j.ID, "archive", &a)
		page := must[store.Page](m, "pins")(m.store.Query(m.ctx, store.Query{PK: "archive#" + j.ID, Prefix: "pin#"}))
		switch info, err := m.objects.Stat(m.ctx, job.BundleKey(j.ID)); {
		case a.Pins != len(page.Records), a.State == "gone" && a.Pins > 0:
			m.t.Fatalf("after %s: the archive of %s is %q with %d pins, and %d rows of them", after, j.ID, a.State, a.Pins, len(page.Records))
		case a.Pins > 0 && (err != nil || info.Size != 6):
			m.t.Fatalf("after %s: the archive of %s has a pin and is not there: %v", after, j.ID, err)
		}
	}
}

func (m *liveModel) checkProject(after, id string) {
	fail := func(form string, args ...any) {
		m.t.Helper()
		m.t.Fatalf("after %s: %s: %s", after, id, fmt.Sprintf(form, args...))
	}
	var now liveRecord
	var p admin.Project
	m.record("project#"+id, "live", &now)
	m.record("project#"+id, "project", &p)
	was := m.seen[id]
	if p.RevokedAt.IsZero() != now.EndedAt.IsZero() || m.ended[p.Organisation] && now.EndedAt.IsZero() {
		fail("the project ended at %v, its live at %v, its organisation: %v", p.RevokedAt, now.EndedAt, m.ended[p.Organisation])
	}
	if !was.live.EndedAt.IsZero() {
		if d := cmp.Diff(was.live, now); d != "" {
			fail("live changed after its end: %s", d)
		}
		return
	}
	if !now.EndedAt.IsZero() && len(now.Pinned) > 0 {
		fail("it has pins after its end: %v", now.Pinned)
	}
	if now.Move.N != was.live.Move.N {
		m.checkMove(fail, was, now)
	}
	for i, n := range now.Pinned {
		if n.N != now.Move.N-len(now.Pinned)+1+i || len(now.Pinned) < min(10, now.Move.N) {
			fail("after move %d, pins are of %v", now.Move.N, now.Pinned)
		}
		var none struct{}
		if !m.record("archive#"+n.Archive, fmt.Sprintf("pin#live#%s#%010d", id, n.N), &none) {
			fail("move %d has no pin", n.N)
		}
	}
	was.live = now
}

// checkMove checks a move that was just made.
func (m *liveModel) checkMove(fail func(string, ...any), was *seen, now liveRecord) {
	var history []admin.LiveMove
	page := must[store.Page](m, "history")(m.store.Query(m.ctx, store.Query{PK: "project#" + m.jobOf(now.Move.Job).Project, Prefix: "live#"}))
	for _, rec := range page.Records {
		var move admin.LiveMove
		if err := json.Unmarshal(rec.Value, &move); err != nil {
			m.t.Fatal(err)
		}
		history = append(history, move)
	}
	if d := cmp.Diff(append(slices.Clone(was.history), now.Move), history); d != "" {
		fail("the history is %s", d)
	}
	j := m.jobOf(now.Move.Job)
	if j.Status != admin.ExportCompleted || j.GoLive == nil {
		fail("live is %+v", j)
	}
	if now.Move.Cause == admin.LiveAutomatic {
		if !was.live.Hold.At.IsZero() || j.Bundle.Cut || was.top.ID != "" && !above(j, was.top) {
			fail("%s went live by itself, held %v, cut %v, the highest was %s", j.ID, was.live.Hold, j.Bundle.Cut, was.top.ID)
		}
	} else if now.Hold.At.IsZero() {
		fail("a %s does not hold", now.Move.Cause)
	}
	if now.Move.Cause == admin.LiveRollback {
		m.checkRollBack(fail, was, now.Move)
	}
	if was.top.ID == "" || above(j, was.top) {
		was.top = j
	}
	was.history = history
}

// checkRollBack holds a roll back against the moves before it: it goes to the nearest
// version whose archive is not gone, and names those between.
func (m *liveModel) checkRollBack(fail func(string, ...any), was *seen, move admin.LiveMove) {
	var skipped []admin.Skipped
	passed := map[string]bool{was.live.Move.Job: true}
	back := was.live.Move.Back
	for ; back > 0; back = was.history[back-1].Back {
		id := was.history[back-1].Job
		if id == move.Job {
			break
		}
		var a struct{ State string }
		if m.record("archive#"+id, "archive", &a); a.State != "gone" && !passed[id] {
			fail("the roll back passes %s, which is there", id)
		}
		if !passed[id] {
			skipped = append(skipped, admin.Skipped{Job: id, Reason: admin.SkipGone})
		}
		passed[id] = true
	}
	if d := cmp.Diff(skipped, move.Skipped); d != "" || back == 0 {
		fail("the roll back to %s, of move %d, steps over: %s", move.Job, back, d)
	}
}

// jobOf reads a job as it is now.
func (m *liveModel) jobOf(id string) admin.ExportJob {
	return must[admin.ExportJob](m, "job")(m.FindExport(m.ctx, id))
}

// above reports whether a job's place is above another's.
func above(j, other admin.ExportJob) bool {
	if j.GoLive.Change != other.GoLive.Change {
		return j.GoLive.Change > other.GoLive.Change
	}
	return j.CreatedAt.After(other.CreatedAt)
}

// TestRetentionOfTheOperator: bundles of a project without a retention of its own go
// by that of the operator, but for what has a pin. That of the project goes first.
func TestRetentionOfTheOperator(t *testing.T) {
	for name, c := range map[string]struct {
		operator, project int  // days
		lent              bool // the newest export has the archive of the one that is not live
		stays             bool // an export that is not live, after 40 days
	}{
		"nobody says anything":       {0, 0, false, true},
		"the operator":               {30, 0, false, false},
		"it is not over yet":         {60, 0, false, true},
		"the project":                {0, 30, false, false},
		"the project goes first":     {30, 60, false, true},
		"the newest has its archive": {30, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			clock := storetest.NewClock(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC))
			l, err := local.Open(ctx, local.Options{Dir: t.TempDir(), BaseURL: "http://127.0.0.1:1", Now: clock.Time})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close(context.WithoutCancel(ctx)) })
			s := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Now: clock.Time})
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			org, err := s.CreateOrganisation(ctx, admin.Organisation{Name: "Example", Plan: admin.PlanEnterprise})
			check(err)
			_, err = s.CreateProject(ctx, admin.Project{
				Organisation: org.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs", Retention: admin.Retention{BundleDays: c.project},
			})
			check(err)
			operator := s.Operator(org.ID)
			p, err := s.CreateSnapshot(ctx, operator, admin.CreateSnapshot{Domain: "docs.example.com", Manifest: admin.Blob{SHA256: fmt.Sprintf("%064x", 1), Size: 10}})
			check(err)
			_, err = s.Publish(ctx, operator, admin.Publish{
				Domain: "docs.example.com", SnapshotID: p.ID, Check: func(context.Context, admin.Snapshot) (admin.Contents, error) { return admin.Contents{}, nil },
			})
			check(err)
			exports := func(live bool, lender string) string {
				clock.Advance(time.Second)
				j, err := s.StartExport(ctx, operator, admin.StartExport{Domain: "docs.example.com", GoLive: live})
				check(err)
				of := lender
				if of == "" {
					of = j.ID
				}
				b := admin.Bundle{Key: job.BundleKey(of), Size: 6, SHA256: fmt.Sprintf("%064x", 1)}
				for _, key := range []string{b.Key, admin.FindingsKey(j.ID), admin.ChangesKey(j.ID)} {
					_, err = l.Objects().Put(ctx, key, strings.NewReader("bundle"), store.PutOptions{})
					check(err)
				}
				check(s.BeginExport(ctx, j.ID, admin.ExportPlan{Renderer: "r"}))
				check(s.CompleteExport(ctx, j.ID, b))
				return j.ID
			}
			live, other := exports(true, ""), exports(false, "")
			lender := ""
			if c.lent {
				lender = other
			}
			newest := exports(false, lender)
			clock.Advance(40 * 24 * time.Hour)
			// Of the snapshot there is a record alone, which the sweep complains about in the end.
			keeper := job.NewKeeper(job.Options{Admin: s, Objects: l.Objects(), Now: clock.Time, BundleDays: c.operator})
			_ = keeper.Sweep(ctx)
			for id, stays := range map[string]bool{live: true, other: c.stays, newest: true} {
				for _, key := range []string{job.BundleKey(id), admin.FindingsKey(id), admin.ChangesKey(id)} {
					if id == newest && lender != "" && key == job.BundleKey(id) {
						continue // it has none of its own
					}
					if _, err := l.Objects().Stat(ctx, key); (err == nil) != stays {
						t.Errorf("%s (live %t, newest %t): %v", key, id == live, id == newest, err)
					}
				}
			}
			// One that is missing although it should be there is a fault.
			check(l.Objects().Delete(ctx, job.BundleKey(other)))
			records := func(ctx context.Context, each func(store.Record) error) error {
				for _, id := range []string{live, other, newest} {
					page, err := l.Store().Query(ctx, store.Query{PK: "export#" + id, Limit: 100})
					if err != nil {
						return err
					}
					for _, rec := range page.Records {
						if err := each(rec); err != nil {
							return err
						}
					}
				}
				return nil
			}
			audit, err := job.NewKeeper(job.Options{Admin: s, Objects: l.Objects(), Now: clock.Time}).Audit(ctx, records, c.operator)
			check(err)
			faults := 0
			for _, f := range audit.Faults {
				if f.Object == job.BundleKey(other) && f.NeededBy == other {
					faults++
				}
			}
			if (faults == 1) != c.stays || (audit.Expired == 1) == c.stays {
				t.Errorf("the audit: %+v", audit)
			}
		})
	}
}
