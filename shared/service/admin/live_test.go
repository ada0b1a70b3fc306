package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// largest notes the number of records of the largest transaction.
type largest struct {
	store.Store
	records int
}

func (l *largest) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	l.records = max(l.records, len(puts)+len(deletes))
	return l.Store.Write(ctx, puts, deletes)
}

// TestTransactionsOfLiveHaveRoom: with ten pins, and as many endpoints as an organisation
// may have, each of which hears all events and waits for none, the largest transactions
// have fewer than the 100 records that DynamoDB takes. An event is four records for such an
// endpoint, and a completion with a move has two events.
func TestTransactionsOfLiveHaveRoom(t *testing.T) {
	fetched := plan
	fetched.Remote = digest("a") // the version gets another name, which is one record more
	set := func(w *world, s *admin.Service, x tenant, in admin.SetLive) error {
		in.Domain, in.IdempotencyKey = x.project.Domain, "k"
		_, err := s.SetLive(w.ctx, w.deployer(x), in)
		return err
	}
	for _, c := range []struct {
		name string
		// do is done with the job that is live, and one that is about to be.
		do      func(w *world, s *admin.Service, x tenant, live, next admin.ExportJob) error
		records int
	}{
		{"a completion", func(w *world, s *admin.Service, _ tenant, _, next admin.ExportJob) error {
			want(w.t, w.BeginExport(w.ctx, next.ID, plan), "")
			return s.CompleteExport(w.ctx, next.ID, bundleOf(next))
		}, 91},
		{"a completion with the bundle of another export", func(w *world, s *admin.Service, _ tenant, live, next admin.ExportJob) error {
			reused, err := s.ReuseExport(w.ctx, next.ID, fetched, live.ID, bundleOf(live))
			if !reused {
				w.t.Error("nothing was reused")
			}
			return err
		}, 92},
		{"a roll back", func(w *world, s *admin.Service, x tenant, live, _ admin.ExportJob) error {
			return set(w, s, x, admin.SetLive{Action: admin.ActRollback, From: live.ID})
		}, 48},
		{"a promote", func(w *world, s *admin.Service, x tenant, live, _ admin.ExportJob) error {
			moves, _, err := w.LiveHistory(w.ctx, x.caller, x.project.Domain, "", 2)
			want(w.t, err, "")
			return set(w, s, x, admin.SetLive{Action: admin.ActPromote, Job: moves[1].Job})
		}, 48},
		{"the end of the project", func(w *world, s *admin.Service, x tenant, _, _ admin.ExportJob) error {
			_, err := s.RevokeProject(w.ctx, x.project.ID)
			return err
		}, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			var live admin.ExportJob
			for range 12 {
				live = w.deploy(x)
			}
			w.publish(x)
			next := w.startLive(x)
			for n := range admin.MaxWebhooks {
				_, err := w.CreateWebhook(w.ctx, w.Operator(x.ID), admin.CreateWebhook{URL: fmt.Sprintf("https://hooks.example.com/%d", n), Events: admin.WebhookEvents()})
				want(t, err, "")
			}
			l := &largest{Store: w.store}
			before := w.live(x)
			want(t, c.do(w, admin.New(admin.Options{Store: l, Objects: w.objects, Runner: w.runner, Now: w.Time}), x, live, next), "")
			if l.records != c.records || l.records > store.MaxTransaction || w.live(x) == before {
				t.Errorf("%d records, want %d; %s is live", l.records, c.records, w.live(x))
			}
		})
	}
}

// deployer is a caller of a tenant with all scopes that go together.
func (w *world) deployer(x tenant) admin.Caller {
	c := x.caller
	c.Scopes = []admin.Scope{admin.ScopeRead, admin.ScopeWrite, admin.ScopeDeploy}
	return c
}

// startLive starts an export that may go live.
func (w *world) startLive(x tenant) admin.ExportJob {
	w.t.Helper()
	w.Advance(time.Second)
	j, err := w.StartExport(w.ctx, w.deployer(x), admin.StartExport{Domain: x.project.Domain, GoLive: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// complete runs an export to its end, with a bundle that is there.
func (w *world) complete(j admin.ExportJob, change ...func(*admin.Bundle)) {
	w.t.Helper()
	b := bundleOf(j)
	for _, c := range change {
		c(&b)
	}
	if _, err := w.objects.Put(w.ctx, b.Key, strings.NewReader(strings.Repeat("x", int(b.Size))), store.PutOptions{}); err != nil {
		w.t.Fatal(err)
	}
	want(w.t, w.BeginExport(w.ctx, j.ID, plan), "")
	want(w.t, w.CompleteExport(w.ctx, j.ID, b), "")
}

// deploy publishes, exports and completes: a push.
func (w *world) deploy(x tenant) admin.ExportJob {
	w.t.Helper()
	w.publish(x)
	j := w.startLive(x)
	w.complete(j)
	return j
}

// live returns the live job with its cause, and whether that is held.
func (w *world) live(x tenant) string {
	w.t.Helper()
	l, err := w.Live(w.ctx, x.caller, x.project.Domain)
	if err != nil {
		return admin.CodeOf(err)
	}
	text := "nothing"
	if l.Move.Job != "" {
		text = fmt.Sprintf("%s %s", l.Move.Job, l.Move.Cause)
	}
	if !l.Hold.At.IsZero() {
		text += " held"
	}
	return text
}

func (w *world) wantLive(x tenant, text string) {
	w.t.Helper()
	if got := w.live(x); got != text {
		w.t.Errorf("live is %q, want %q", got, text)
	}
}

// set changes what is live.
func (w *world) set(x tenant, action admin.LiveAction, job ...string) error {
	w.Advance(time.Second)
	in := admin.SetLive{Domain: x.project.Domain, Action: action}
	switch {
	case len(job) == 0:
	case action == admin.ActPromote:
		in.Job = job[0]
	default:
		in.From = job[0]
	}
	_, err := w.SetLive(w.ctx, w.deployer(x), in)
	return err
}

func TestWhatMayGoLive(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x := w.tenant("docs.example.com")
	w.publish(x)
	of := func(change func(*admin.Caller)) admin.Caller {
		c := w.deployer(x)
		change(&c)
		return c
	}
	start := admin.StartExport{Domain: "docs.example.com", GoLive: true}
	for _, c := range []struct {
		name   string
		caller admin.Caller
		in     admin.StartExport
		code   string
	}{
		{"a key with the scope", w.deployer(x), start, ""},
		{"a key without it", x.caller, start, admin.CodeScope},
		{"a member", of(func(c *admin.Caller) {
			*c = admin.Caller{OrganisationID: x.ID, Plan: c.Plan, Person: "psn_1", Role: admin.RoleMember}
		}), start, ""},
		{"a viewer", of(func(c *admin.Caller) {
			*c = admin.Caller{OrganisationID: x.ID, Plan: c.Plan, Person: "psn_1", Role: admin.RoleViewer}
		}), start, admin.CodeRole},
		{"an operator", w.Operator(x.ID), start, ""},
		{"the Pro plan", of(func(c *admin.Caller) { c.Plan = admin.PlanPro }), start, admin.CodePlan},
		{"some paths", w.deployer(x), admin.StartExport{Domain: "docs.example.com", GoLive: true, Paths: []string{"guides"}}, admin.CodeInvalid},
		{"a group of readers", w.deployer(x), admin.StartExport{Domain: "docs.example.com", GoLive: true, Groups: []string{"staff"}}, admin.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, err := w.StartExport(w.ctx, c.caller, c.in)
			want(t, err, c.code)
			if err == nil && (j.GoLive == nil || j.GoLive.Change < 1 || j.GoLive.By.ID == "") {
				t.Errorf("the job has %+v", j.GoLive)
			}
		})
	}
	if j := w.start(x); j.GoLive != nil {
		t.Errorf("an export that did not ask has %+v", j.GoLive)
	}
}

// TestAnExportGoesLive: which completed jobs move the site by themselves.
func TestAnExportGoesLive(t *testing.T) {
	cut := func(b *admin.Bundle) { b.Cut = true }
	for _, c := range []struct {
		name   string
		before func(w *world, x tenant, first admin.ExportJob)
		finish func(w *world, j admin.ExportJob)
		moves  bool
	}{
		{"a newer snapshot", nil, nil, true},
		{"while live is held", func(w *world, x tenant, _ admin.ExportJob) { want(w.t, w.set(x, admin.ActHold), "") }, nil, false},
		{"once it is released", func(w *world, x tenant, _ admin.ExportJob) {
			want(w.t, w.set(x, admin.ActHold), "")
			want(w.t, w.set(x, admin.ActRelease), "")
		}, nil, true},
		{"with manual deploys", func(w *world, x tenant, _ admin.ExportJob) {
			w.configure(x, func(c *admin.Configuration) { c.Deploy = admin.DeployManual })
		}, nil, false},
		{"of another kind than the project's", func(w *world, x tenant, _ admin.ExportJob) {
			w.configure(x, func(c *admin.Configuration) { c.Kind = admin.KindAirGapped })
		}, nil, false},
		{"that was cut short", nil, func(w *world, j admin.ExportJob) { w.complete(j, cut) }, false},
		{"on a lower plan", func(w *world, x tenant, _ admin.ExportJob) {
			_, err := w.SetPlan(w.ctx, x.ID, admin.PlanPro)
			want(w.t, err, "")
		}, nil, false},
		{"that failed", nil, func(w *world, j admin.ExportJob) { want(w.t, w.FailExport(w.ctx, j.ID, admin.CodeInternal, "no"), "") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			w.wantLive(x, "nothing")
			first := w.deploy(x)
			w.wantLive(x, first.ID+" automatic")
			w.publish(x)
			j := w.startLive(x)
			if c.before != nil {
				c.before(w, x, first)
			}
			if c.finish == nil {
				c.finish = func(w *world, j admin.ExportJob) { w.complete(j) }
			}
			c.finish(w, j)
			l, err := w.Live(w.ctx, x.caller, x.project.Domain)
			if moved := l.Move.Job == j.ID; err != nil || moved != c.moves {
				t.Errorf("live is %+v, %v", l.Move, err)
			}
		})
	}
}

// configure changes a project's configuration.
func (w *world) configure(x tenant, change func(*admin.Configuration)) {
	w.t.Helper()
	p, err := w.GetProject(w.ctx, x.project.ID)
	want(w.t, err, "")
	c := admin.Configuration{Kind: p.Kind, Settings: p.Settings, Retention: p.Retention, Agent: p.Agent, Deploy: p.Deploy}
	change(&c)
	_, err = w.ConfigureProject(w.ctx, x.project.ID, c)
	want(w.t, err, "")
}

// TestLateExportsDoNotGoBack: the order in which exports end says nothing.
func TestLateExportsDoNotGoBack(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	one := w.publish(x)
	a := w.startLive(x)
	w.publish(x)
	b := w.startLive(x)
	w.complete(b)
	w.complete(a)
	w.wantLive(x, b.ID+" automatic")

	// A restored snapshot is a newer change.
	newest, err := w.LatestSnapshot(w.ctx, x.caller, x.project.Domain)
	want(t, err, "")
	_, err = w.RestoreSnapshot(w.ctx, x.caller, admin.RestoreSnapshot{Domain: x.project.Domain, SnapshotID: one.ID, Base: newest.ID})
	want(t, err, "")
	c := w.startLive(x)
	w.complete(c)
	w.wantLive(x, c.ID+" automatic")

	// Of two exports of one change, as after other settings, the later one stays.
	d, e := w.startLive(x), w.startLive(x)
	w.complete(e)
	w.complete(d)
	w.wantLive(x, e.ID+" automatic")

	// After a roll back, an export that is older than what was rolled back stays out.
	f := w.startLive(x)
	g := w.deploy(x)
	want(t, w.set(x, admin.ActRollback, g.ID), "")
	want(t, w.set(x, admin.ActRelease), "")
	w.complete(f)
	w.wantLive(x, e.ID+" rollback")
	h := w.deploy(x)
	w.wantLive(x, h.ID+" automatic")
}

// A promote with from replaces that job alone.
func TestAPromoteOfWhatItsCallerSaw(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	first, second := w.deploy(x), w.deploy(x)
	promote := func(from string) error {
		_, err := w.SetLive(w.ctx, w.deployer(x), admin.SetLive{Domain: x.project.Domain, Action: admin.ActPromote, Job: first.ID, From: from})
		return err
	}
	want(t, promote(first.ID), admin.CodeLiveMoved)
	want(t, promote("exp_none"), admin.CodeLiveMoved)
	w.wantLive(x, second.ID+" automatic")
	for range 2 { // the second time, it was done
		want(t, promote(second.ID), "")
		w.wantLive(x, first.ID+" promote held")
	}
}

func TestPromoteRollBackHoldRelease(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	want(t, w.set(x, admin.ActRollback, "exp_none"), admin.CodeNotLive)
	a, b, c := w.deploy(x), w.deploy(x), w.deploy(x)
	w.wantLive(x, c.ID+" automatic")

	for range 2 { // the second time, nothing is left to do
		want(t, w.set(x, admin.ActRollback, c.ID), "")
		w.wantLive(x, b.ID+" rollback held")
	}
	want(t, w.set(x, admin.ActRollback, a.ID), admin.CodeLiveMoved)
	want(t, w.set(x, admin.ActRollback, b.ID), "")
	w.wantLive(x, a.ID+" rollback held")
	want(t, w.set(x, admin.ActRollback, a.ID), admin.CodeNotLive)

	d := w.deploy(x)
	w.wantLive(x, a.ID+" rollback held")
	for range 2 {
		want(t, w.set(x, admin.ActPromote, d.ID), "")
		w.wantLive(x, d.ID+" promote held")
	}
	for range 2 {
		want(t, w.set(x, admin.ActRelease), "")
		w.wantLive(x, d.ID+" promote")
	}
	want(t, w.set(x, admin.ActPromote, d.ID), "") // it is live: this holds it
	w.wantLive(x, d.ID+" promote held")
	want(t, w.set(x, admin.ActRelease), "")
	for range 2 {
		want(t, w.set(x, admin.ActHold), "")
		w.wantLive(x, d.ID+" promote held")
	}

	var got []string
	var cursor string
	for {
		page, next, err := w.LiveHistory(w.ctx, x.caller, x.project.Domain, cursor, 2)
		want(t, err, "")
		for _, m := range page {
			got = append(got, fmt.Sprintf("%d %s %s from %s", m.N, m.Cause, m.Job, m.From))
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if d := cmp.Diff([]string{
		"6 promote " + d.ID + " from " + a.ID, "5 rollback " + a.ID + " from " + b.ID, "4 rollback " + b.ID + " from " + c.ID,
		"3 automatic " + c.ID + " from " + b.ID, "2 automatic " + b.ID + " from " + a.ID, "1 automatic " + a.ID + " from ",
	}, got); d != "" {
		t.Error(d)
	}

	entries, _, err := w.Audit(w.ctx, w.Operator(x.ID), admin.AuditList{Action: "site"})
	want(t, err, "")
	var actions []string
	for _, e := range slices.Backward(entries) {
		actions = append(actions, strings.TrimPrefix(e.Action, "site."))
		if e.ActorKind != admin.ActorKey || e.Actor != x.key.ID || e.Target != x.project.Domain {
			t.Errorf("%s is by %s %s on %s", e.Action, e.ActorKind, e.Actor, e.Target)
		}
	}
	if got := strings.Join(actions, " "); got != "automatic automatic automatic rollback rollback promote released held released held" {
		t.Errorf("the audit log has %s", got)
	}
}

// TestRollBackStepsOver: a version that can't be live any more is not the end of a roll
// back, and the move says what was stepped over.
func TestRollBackStepsOver(t *testing.T) {
	ofKind := func(w *world, x tenant, kind admin.Kind) {
		w.configure(x, func(c *admin.Configuration) { c.Kind = kind })
	}
	loses := func(w *world, j admin.ExportJob) { want(w.t, w.objects.Delete(w.ctx, bundleOf(j).Key), "") }
	for name, c := range map[string]struct {
		// make returns jobs. The last one is live, and those between the two can't be.
		make    func(w *world, x tenant) []admin.ExportJob
		skipped []admin.SkipReason // the latest first
		none    bool               // the first one can't be live either
	}{
		"the bundle was removed": {func(w *world, x tenant) []admin.ExportJob {
			a, b, c := w.deploy(x), w.deploy(x), w.deploy(x)
			loses(w, b)
			return []admin.ExportJob{a, b, c}
		}, []admin.SkipReason{admin.SkipGone}, false},
		"the ledger let it go": {func(w *world, x tenant) []admin.ExportJob {
			var all []admin.ExportJob
			for range 3 {
				all = append(all, w.deploy(x))
			}
			for range 11 { // none of the three has a pin after that
				all = append(all, w.deploy(x))
			}
			if free, err := w.LetArchiveGo(w.ctx, all[1].ID); !free || err != nil {
				w.t.Fatal(free, err)
			}
			for at := len(all) - 1; at > 2; at-- {
				want(w.t, w.set(x, admin.ActRollback, all[at].ID), "")
			}
			return all[:3]
		}, []admin.SkipReason{admin.SkipGone}, false},
		"it is damaged": {func(w *world, x tenant) []admin.ExportJob {
			a, b, c := w.deploy(x), w.deploy(x), w.deploy(x)
			_, err := w.objects.Put(w.ctx, bundleOf(b).Key, strings.NewReader("cut"), store.PutOptions{})
			want(w.t, err, "")
			return []admin.ExportJob{a, b, c}
		}, []admin.SkipReason{admin.SkipGone}, false},
		"another kind, and a bundle that was removed": {func(w *world, x tenant) []admin.ExportJob {
			a := w.deploy(x)
			ofKind(w, x, admin.KindAirGapped)
			b := w.deploy(x)
			ofKind(w, x, admin.KindCloud)
			c, d := w.deploy(x), w.deploy(x)
			loses(w, c)
			return []admin.ExportJob{a, b, c, d}
		}, []admin.SkipReason{admin.SkipGone, admin.SkipKind}, false},
		"it was live before what is stepped over, too": {func(w *world, x tenant) []admin.ExportJob {
			a, b, c := w.deploy(x), w.deploy(x), w.deploy(x)
			want(w.t, w.set(x, admin.ActPromote, b.ID), "")
			loses(w, c)
			return []admin.ExportJob{a, c, b}
		}, []admin.SkipReason{admin.SkipGone}, false},
		"none is left": {func(w *world, x tenant) []admin.ExportJob {
			a, b, c := w.deploy(x), w.deploy(x), w.deploy(x)
			loses(w, a)
			loses(w, b)
			return []admin.ExportJob{a, b, c}
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			jobs := c.make(w, x)
			first, live, before := jobs[0], jobs[len(jobs)-1], w.live(x)
			target, err := w.RollbackTarget(w.ctx, x.caller, x.project.Domain)
			w.wantLive(x, before)
			to := func(job string) error {
				_, err := w.SetLive(w.ctx, w.deployer(x), admin.SetLive{Domain: x.project.Domain, Action: admin.ActRollback, From: live.ID, To: job})
				return err
			}
			if c.none {
				want(t, err, admin.CodeNotLive)
				want(t, to(first.ID), admin.CodeNotLive)
				want(t, w.set(x, admin.ActRollback, live.ID), admin.CodeNotLive)
				w.wantLive(x, before)
				return
			}
			want(t, err, "")
			if len(jobs) > 2 {
				want(t, to(jobs[len(jobs)-2].ID), admin.CodeLiveMoved)
			}
			w.wantLive(x, before)
			want(t, to(target.Job.ID), "")
			for range 2 { // nothing is left to do
				want(t, w.set(x, admin.ActRollback, live.ID), "")
				w.wantLive(x, first.ID+" rollback held")
			}
			l, err := w.Live(w.ctx, x.caller, x.project.Domain)
			want(t, err, "")
			var skipped []admin.Skipped
			for i, reason := range c.skipped {
				skipped = append(skipped, admin.Skipped{Job: jobs[len(jobs)-2-i].ID, Reason: reason})
			}
			if d := cmp.Diff(skipped, l.Move.Skipped); d != "" || l.Move.From != live.ID {
				t.Errorf("the move from %s stepped over: %s", l.Move.From, d)
			}
			if d := cmp.Diff(skipped, target.Skipped); d != "" || target.Job.ID != first.ID || target.Move.Job != first.ID || target.Live.Move.Job != live.ID {
				t.Errorf("the target is %s, over: %s", target.Job.ID, d)
			}
			want(t, w.set(x, admin.ActRollback, first.ID), admin.CodeNotLive)
		})
	}
}

// TestRollBackLooksBackSoFar: a roll back in a long history looks at a hundred moves.
func TestRollBackLooksBackSoFar(t *testing.T) {
	for _, c := range []struct {
		over int // versions that can't be live any more
		want string
	}{{99, ""}, {100, admin.CodeNotLive}} {
		w := newWorld(t)
		x := w.tenant("docs.example.com")
		w.deploy(x)
		w.configure(x, func(c *admin.Configuration) { c.Kind = admin.KindAirGapped })
		for range c.over {
			w.complete(w.startLive(x))
		}
		w.configure(x, func(c *admin.Configuration) { c.Kind = admin.KindCloud })
		last := w.deploy(x)
		want(t, w.set(x, admin.ActRollback, last.ID), c.want)
	}
}

// TestARepeatedRollBackGoesBackOnce: with a key a repeated call changes nothing, also
// where something else was changed meanwhile.
func TestARepeatedRollBackGoesBackOnce(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	a, b := w.deploy(x), w.deploy(x)
	set := func(in admin.SetLive) (admin.Live, error) {
		in.Domain = x.project.Domain
		return w.SetLive(w.ctx, w.deployer(x), in)
	}
	keyed := func(key string, in admin.SetLive) admin.SetLive {
		in.IdempotencyKey = key
		return in
	}
	back, hold := admin.SetLive{Action: admin.ActRollback, From: b.ID}, admin.SetLive{Action: admin.ActHold}
	first, err := set(keyed("back", back))
	want(t, err, "")
	again, err := set(keyed("back", back))
	want(t, err, "")
	if d := cmp.Diff(first, again); d != "" || first.Move.Job != a.ID {
		t.Errorf("the second answer differs: %s", d)
	}
	_, err = set(keyed("hold", hold)) // the roll back holds it: nothing is written
	want(t, err, "")
	_, err = set(admin.SetLive{Action: admin.ActRelease})
	want(t, err, "")
	_, err = set(keyed("promote", admin.SetLive{Action: admin.ActPromote, Job: b.ID}))
	want(t, err, "")
	_, err = set(admin.SetLive{Action: admin.ActRelease})
	want(t, err, "")
	for _, in := range []admin.SetLive{keyed("back", back), keyed("hold", hold)} {
		got, err := set(in)
		want(t, err, "")
		if got.Move.Job != b.ID || !got.Hold.At.IsZero() {
			t.Errorf("%s is done again: %+v", in.Action, got)
		}
	}
	_, err = set(keyed("back", hold))
	want(t, err, admin.CodeKeyReused)
	_, err = set(keyed("a b", hold))
	wantField(t, err, "Idempotency-Key")

	// A refusal is remembered, too.
	nowhere := keyed("nowhere", admin.SetLive{Action: admin.ActRollback, From: "exp_none"})
	for range 2 {
		_, err = set(nowhere)
		want(t, err, admin.CodeLiveMoved)
	}
	w.wantLive(x, b.ID+" promote")
}

// TestWhatCannotBePromoted: each refusal, and that nothing changes.
func TestWhatCannotBePromoted(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("docs.example.com"), w.tenant("docs.example.org")
	live := w.deploy(x)
	plain := w.start(x)
	w.complete(plain)
	running := w.startLive(x)
	failed := w.startLive(x)
	want(t, w.FailExport(w.ctx, failed.ID, admin.CodeInternal, "no"), "")
	gone := w.startLive(x)
	w.complete(gone, func(b *admin.Bundle) { b.Cut = true })
	want(t, w.objects.Delete(w.ctx, bundleOf(gone).Key), "")
	swept := w.startLive(x)
	w.complete(swept, func(b *admin.Bundle) { b.Cut = true })
	if free, err := w.LetArchiveGo(w.ctx, swept.ID); !free || err != nil {
		t.Fatal(free, err)
	}
	foreign := w.deploy(y)
	for _, c := range []struct{ name, job, code string }{
		{"one that was not made to go live", plain.ID, admin.CodeInvalid},
		{"a running one", running.ID, admin.CodeJobRunning},
		{"a failed one", failed.ID, admin.CodeJobFailed},
		{"one without a bundle", gone.ID, admin.CodeBundleGone},
		{"one that a sweep has taken", swept.ID, admin.CodeBundleGone},
		{"one of another organisation", foreign.ID, admin.CodeNotFound},
		{"an unknown one", "exp_none", admin.CodeNotFound},
		{"none", "", admin.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, w.set(x, admin.ActPromote, c.job), c.code)
			w.wantLive(x, live.ID+" automatic")
		})
	}
	_, err := w.SetLive(w.ctx, x.caller, admin.SetLive{Domain: x.project.Domain, Action: admin.ActHold})
	want(t, err, admin.CodeScope)
	_, err = w.SetLive(w.ctx, w.deployer(y), admin.SetLive{Domain: x.project.Domain, Action: admin.ActHold})
	want(t, err, admin.CodeDomainNotFound)
	want(t, w.set(x, "publish"), admin.CodeInvalid)
	want(t, w.set(x, admin.ActHold, live.ID), admin.CodeInvalid)
}

// TestACutBundleIsForPeople: it goes live by a promote alone.
func TestACutBundleIsForPeople(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.startLive(x)
	w.complete(j, func(b *admin.Bundle) { b.Cut = true })
	w.wantLive(x, "nothing")
	want(t, w.set(x, admin.ActPromote, j.ID), "")
	w.wantLive(x, j.ID+" promote held")
}

// TestPins: what is live, or one of the last ten moves, can't go.
func TestPins(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	var jobs []admin.ExportJob
	for range 12 {
		jobs = append(jobs, w.deploy(x))
	}
	free := func(j admin.ExportJob) bool {
		free, err := w.LetArchiveGo(w.ctx, j.ID)
		want(t, err, "")
		return free
	}
	for i, j := range jobs {
		if i != 1 && free(j) != (i < 2) {
			t.Errorf("archive %d of 12: may go is %v", i, i >= 2)
		}
	}
	// One that comes back has a pin for each time.
	want(t, w.set(x, admin.ActPromote, jobs[1].ID), "")
	if free(jobs[1]) || !free(jobs[2]) {
		t.Error("the promoted archive may go, or the one that it pushed out may not")
	}
	want(t, w.set(x, admin.ActRelease), "")
	for range 9 {
		w.deploy(x)
	}
	if free(jobs[1]) {
		t.Error("an archive of the last ten may go")
	}
	w.deploy(x)
	if !free(jobs[1]) {
		t.Error("an archive that is none of the last ten may not go")
	}
}

// TestNothingIsLiveAfterTheEnd of a project or an organisation, also where an export
// is completed, or a step of it runs again, after that.
func TestNothingIsLiveAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(w *world, x tenant) error{
		"project":      func(w *world, x tenant) error { _, err := w.RevokeProject(w.ctx, x.project.ID); return err },
		"organisation": func(w *world, x tenant) error { _, err := w.RevokeOrganisation(w.ctx, x.ID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			first := w.deploy(x)
			w.publish(x)
			late := w.startLive(x)
			want(t, end(w, x), "")
			w.wantLive(x, admin.CodeDomainNotFound)
			w.complete(late)
			want(t, w.CompleteExport(w.ctx, late.ID, bundleOf(late)), "")
			want(t, w.set(x, admin.ActPromote, late.ID), admin.CodeDomainNotFound)
			for _, j := range []admin.ExportJob{first, late} {
				if free, err := w.LetArchiveGo(w.ctx, j.ID); !free || err != nil {
					t.Errorf("the archive of %s may not go, %v", j.ID, err)
				}
			}

			// Who has the domain next begins with nothing.
			y := w.tenant("docs.example.com")
			w.wantLive(y, "nothing")
			next := w.deploy(y)
			w.wantLive(y, next.ID+" automatic")
			history, _, err := w.LiveHistory(w.ctx, y.caller, "docs.example.com", "", 0)
			if err != nil || len(history) != 1 {
				t.Errorf("the history is %+v, %v", history, err)
			}
		})
	}
}

// edit changes a record as an older release would leave it.
func (w *world) edit(key store.Key, change func(fields map[string]any)) {
	w.t.Helper()
	rec, err := w.store.Get(w.ctx, key)
	if err != nil {
		w.t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(rec.Value, &fields); err != nil {
		w.t.Fatal(err)
	}
	change(fields)
	if rec.Value, err = json.Marshal(fields); err != nil {
		w.t.Fatal(err)
	}
	want(w.t, w.store.Write(w.ctx, []store.Record{rec}, nil), "")
}

// An older release that ran for a while drops the count of changes, and ends a project
// without what is live.
func TestLiveAfterAnOlderRelease(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	for range 3 {
		w.deploy(x)
	}
	w.edit(store.Key{PK: "domain#docs.example.com", SK: "domain"}, func(fields map[string]any) { delete(fields, "changes") })
	j := w.deploy(x)
	w.wantLive(x, j.ID+" automatic")

	w.edit(store.Key{PK: "project#" + x.project.ID, SK: "project"}, func(fields map[string]any) { fields["revokedAt"] = w.Time() })
	if free, err := w.LetArchiveGo(w.ctx, j.ID); free || err != nil {
		t.Fatalf("the pinned archive may go: %t, %v", free, err)
	}
	if _, err := w.RevokeProject(w.ctx, x.project.ID); err != nil {
		t.Fatal(err)
	}
	if free, err := w.LetArchiveGo(w.ctx, j.ID); !free || err != nil {
		t.Errorf("after the end the archive may not go: %t, %v", free, err)
	}
}

// An export of a project that no longer has its domain does not go live.
func TestALostDomain(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("docs.example.com"), w.tenant("other.example.com")
	w.publish(x)
	j := w.startLive(x)
	w.edit(store.Key{PK: "domain#docs.example.com", SK: "domain"}, func(fields map[string]any) {
		fields["organisation"], fields["project"] = y.ID, y.project.ID
	})
	w.complete(j)
	moves, err := w.store.Query(w.ctx, store.Query{PK: "project#" + x.project.ID, Prefix: "live", Limit: 10})
	if err != nil || len(moves.Records) > 0 {
		t.Errorf("live has %v, %v", moves.Records, err)
	}
}

// An export that ends between the end of an organisation and that of its projects does not
// go live.
func TestTheEndOfAnOrganisationIsNotOneStep(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	j := w.startLive(x)
	service, ended := w.Service, false
	around := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		err := do(ctx)
		if !ended && err == nil && strings.HasPrefix(call.Name, "Store.Write") {
			ended = true
			now := w.Service
			w.Service = service
			w.complete(j)
			w.wantLive(x, "nothing")
			w.Service = now
		}
		return err
	})
	w.Service = admin.New(admin.Options{Store: around, Objects: w.objects, Runner: w.runner, Now: w.Time})
	if _, err := w.RevokeOrganisation(w.ctx, x.ID); err != nil || !ended {
		t.Fatal(ended, err)
	}
}

// TestCompletionDoesNotDependOnLive: whatever becomes of the records of live.
func TestCompletionDoesNotDependOnLive(t *testing.T) {
	broken := errors.New("the records of live are damaged")
	for _, c := range []struct {
		name, call string
		err        error
	}{
		{"they can't be read", "Store.Get", broken},
		{"they can't be written", "Store.Write", broken},
		{"others always change them first", "Store.Write", &store.ConflictError{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			w.publish(x)
			j := w.startLive(x)
			around := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
				if strings.HasPrefix(call.Name, c.call) && (strings.Contains(call.Name, "archive#") || strings.Contains(call.Name, " live")) {
					return c.err
				}
				return do(ctx)
			})
			w.Service = admin.New(admin.Options{Store: around, Objects: w.objects, Runner: w.runner, Now: w.Time})
			w.complete(j)
			got, err := w.GetExport(w.ctx, x.caller, j.ID)
			if err != nil || got.Status != admin.ExportCompleted {
				t.Errorf("the job is %s, %v", got.Status, err)
			}
			w.Service = admin.New(admin.Options{Store: w.store, Objects: w.objects, Runner: w.runner, Now: w.Time})
			w.wantLive(x, "nothing")
			want(t, w.set(x, admin.ActPromote, j.ID), "")
		})
	}
}

// After a failure of the move alone, the completion tries it once more, and so does a
// later run of the step.
func TestTheMoveIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int // writes of live that meet a conflict
		runs  int // of the step
		live  bool
	}{
		{"in the transaction", 2, 1, true},
		{"after it", 3, 1, true},
		{"never", 1000, 1, false},
		{"in the next run", 1000, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			w.publish(x)
			j := w.startLive(x)
			left := c.fails
			around := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
				if left > 0 && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, " live") {
					left--
					return &store.ConflictError{}
				}
				return do(ctx)
			})
			w.Service = admin.New(admin.Options{Store: around, Objects: w.objects, Runner: w.runner, Now: w.Time})
			w.complete(j)
			if c.runs > 1 {
				left = 0
				want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
			}
			live := "nothing"
			if c.live {
				live = j.ID + " automatic"
			}
			w.wantLive(x, live)
		})
	}
}

// A run of Plan that wants to reuse a bundle leaves a job that another run has begun: it is
// not completed, so it does not go live.
func TestABegunJobDoesNotGoLive(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	lender := w.start(x)
	w.complete(lender)
	j := w.startLive(x)
	service := w.Service
	broken, begun := false, false
	around := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		switch {
		case !broken && strings.HasPrefix(call.Name, "Store.Get") && strings.Contains(call.Name, " live"):
			broken = true
			return errors.New("no answer")
		case !begun && strings.HasPrefix(call.Name, "Store.Write"):
			begun = true
			want(t, service.BeginExport(w.ctx, j.ID, plan), "")
		}
		return do(ctx)
	})
	w.Service = admin.New(admin.Options{Store: around, Objects: w.objects, Runner: w.runner, Now: w.Time})
	reused, err := w.ReuseExport(w.ctx, j.ID, plan, lender.ID, bundleOf(lender))
	if reused || err != nil || !broken || !begun {
		t.Fatalf("reused %t, %v; broken %t, begun %t", reused, err, broken, begun)
	}
	w.wantLive(x, "nothing")
}

// TestManyCompletionsAtOnce: all are completed, and the last change is live.
func TestManyCompletionsAtOnce(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x := w.tenant("docs.example.com")
	var jobs []admin.ExportJob
	for range 8 {
		w.publish(x)
		jobs = append(jobs, w.startLive(x))
	}
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() { w.complete(j) })
	}
	wg.Wait()
	w.wantLive(x, jobs[len(jobs)-1].ID+" automatic")
}

// TestAReusedBundleGoesLive: the pin is on the archive that the job's bundle is.
func TestAReusedBundleGoesLive(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.publish(x)
	lender := w.start(x)
	w.complete(lender)
	j := w.startLive(x)
	if reused, err := w.ReuseExport(w.ctx, j.ID, plan, lender.ID, bundleOf(lender)); !reused || err != nil {
		t.Fatal(reused, err)
	}
	w.wantLive(x, j.ID+" automatic")
	if free, err := w.LetArchiveGo(w.ctx, lender.ID); free || err != nil {
		t.Errorf("the lender's archive may go: %v, %v", free, err)
	}
	if free, err := w.LetArchiveGo(w.ctx, j.ID); !free || err != nil {
		t.Errorf("what the job has not got may not go: %v, %v", free, err)
	}
}

// TestSiteLiveIsHeard: endpoints hear of each move.
func TestSiteLiveIsHeard(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	hook, err := w.CreateWebhook(w.ctx, w.Operator(x.ID), admin.CreateWebhook{URL: "https://hooks.example.com/", Events: []string{admin.EventSiteLive}})
	want(t, err, "")
	a, b := w.deploy(x), w.deploy(x)
	want(t, w.set(x, admin.ActRollback, b.ID), "")
	want(t, w.set(x, admin.ActRelease), "")
	all, _, err := w.Deliveries(w.ctx, w.Operator(x.ID), admin.DeliveryList{Webhook: hook.ID})
	want(t, err, "")
	slices.SortFunc(all, func(p, q admin.Delivery) int { return p.N - q.N })
	if len(all) != 3 || !strings.Contains(string(all[2].Data), `"job":"`+a.ID+`"`) || all[2].Resource != x.project.Domain {
		t.Errorf("deliveries are %+v", all)
	}
}

// TestWhatACompletionCosts: an export that can't go live makes no more calls than
// before.
func TestWhatACompletionCosts(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	service := func(st store.Store) *admin.Service {
		return admin.New(admin.Options{Store: st, Objects: w.objects, Runner: w.runner, Now: w.Time})
	}
	cost := func(j admin.ExportJob) [2]int {
		want(t, w.BeginExport(w.ctx, j.ID, plan), "")
		var m storetest.Meter
		want(t, service(m.Store(w.store)).CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
		return [2]int{m.ReadUnits, m.WriteUnits}
	}
	w.publish(x)
	if d := cmp.Diff([2]int{5, 8}, cost(w.start(x))); d != "" {
		t.Errorf("reads and writes of an export: %s", d)
	}
	if d := cmp.Diff([2]int{11, 18}, cost(w.startLive(x))); d != "" {
		t.Errorf("reads and writes of an export that goes live: %s", d)
	}
	for range 11 {
		w.deploy(x)
	}
	w.publish(x)
	if d := cmp.Diff([2]int{12, 22}, cost(w.startLive(x))); d != "" {
		t.Errorf("reads and writes of the twelfth: %s", d)
	}
}

// TestDeployments are the exports of a project that may go live, each with what is in
// the way of that.
func TestDeployments(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x, y := w.tenant("docs.example.com"), w.tenant("other.example.com")
	first := w.deploy(x)
	w.complete(w.start(x)) // an export that may not go live
	gone, other := w.deploy(x), w.deploy(y)
	want(t, w.objects.Delete(w.ctx, bundleOf(gone).Key), "")
	running := w.startLive(x)

	obstacles := func(c admin.Caller, limit int) (list []string) {
		t.Helper()
		for cursor, more := "", true; more; more = cursor != "" {
			var page []admin.Deployment
			var err error
			if page, cursor, err = w.Deployments(w.ctx, c, x.project, cursor, limit); err != nil {
				t.Fatal(err)
			}
			for _, d := range page {
				text := d.ID
				if d.Obstacle != nil {
					text += " " + admin.CodeOf(d.Obstacle)
				}
				list = append(list, text)
			}
		}
		return list
	}
	all := []string{running.ID + " job_running", gone.ID + " bundle_gone", first.ID}
	for _, limit := range []int{0, 1, 2} {
		if diff := cmp.Diff(all, obstacles(x.caller, limit)); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	if list := obstacles(y.caller, 0); list != nil {
		t.Errorf("another organisation sees %v, its own is %s", list, other.ID)
	}
	if _, _, err := w.Deployments(w.ctx, x.caller, x.project, "x", 0); admin.CodeOf(err) != admin.CodeInvalid {
		t.Errorf("a cursor of nothing: %v", err)
	}
	// A project with another kind has none that can be promoted.
	w.configure(x, func(c *admin.Configuration) { c.Kind = admin.KindAirGapped })
	x.project.Kind = admin.KindAirGapped
	for _, d := range obstacles(x.caller, 0) {
		if !strings.HasSuffix(d, " invalid_request") {
			t.Errorf("of another kind: %s", d)
		}
	}
}
