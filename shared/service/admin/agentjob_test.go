package admin_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

const pull = "https://git.example.com/docs/pull/1"

// agent starts an agent job.
func (w *world) agent(x tenant) admin.AgentJob {
	w.t.Helper()
	j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "mend the links"})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// agentNow reads a job as its steps see it.
func (w *world) agentNow(j admin.AgentJob) admin.AgentJob {
	w.t.Helper()
	j, err := w.FindAgentJob(w.ctx, j.Project, j.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// agentMoves are all that can happen to a job, for the round that it is in.
func (w *world) agentMoves(x tenant) map[string]func(admin.AgentRef) error {
	complete := func(ref admin.AgentRef, link, branch string) error {
		_, _, err := w.CompleteAgent(w.ctx, ref, admin.AgentResult{PRLink: link, Branch: branch, Seen: 1000})
		return err
	}
	return map[string]func(admin.AgentRef) error{
		"prepare": func(ref admin.AgentRef) error { _, err := w.AgentRound(w.ctx, ref); return err },
		"begin": func(ref admin.AgentRef) error {
			_, err := w.BeginAgentRound(w.ctx, ref, admin.AgentBase{Commit: "c1", Ref: "main"})
			return err
		},
		"lease":   func(ref admin.AgentRef) error { _, err := w.LeaseAgentWork(w.ctx, ref); return err },
		"publish": func(ref admin.AgentRef) error { _, err := w.BeginAgentPublish(w.ctx, ref, 1000); return err },
		"commit": func(ref admin.AgentRef) error {
			_, err := w.RecordAgentCommit(w.ctx, ref, admin.AgentCommit{Parent: "c1"})
			return err
		},
		"complete": func(ref admin.AgentRef) error { return complete(ref, pull, "bindery/x") },
		"nothing":  func(ref admin.AgentRef) error { return complete(ref, "", "") },
		"fail":     func(ref admin.AgentRef) error { return w.FailAgent(w.ctx, ref, admin.CodeLoop, "in a loop") },
		"note": func(ref admin.AgentRef) error {
			return w.AgentNote(w.ctx, ref, admin.AgentEvent{Kind: admin.AgentEventNote, Text: "so"})
		},
		"cancel": func(ref admin.AgentRef) error {
			_, err := w.CancelAgentJob(w.ctx, x.caller, ref.Project, ref.Job, "")
			return err
		},
		"archive": func(ref admin.AgentRef) error {
			_, err := w.ArchiveAgentJob(w.ctx, x.caller, ref.Project, ref.Job, "")
			return err
		},
		"message": func(ref admin.AgentRef) error {
			_, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: ref.Project, Job: ref.Job, Prompt: "and the titles"})
			return err
		},
	}
}

// TestAgentTransitions tries every move in every state. One that has happened is
// success and changes nothing; one that is impossible is an error and changes
// nothing.
func TestAgentTransitions(t *testing.T) {
	outside.Long(t, "tries every change of state")
	const (
		no       = admin.CodeJobNotActive
		running  = admin.CodeJobRunning
		archived = admin.CodeArchived
		stopped  = admin.CodeCancelled
		newer    = admin.CodeSuperseded
	)
	working := []string{"prepare", "begin"}
	publishing := append(slices.Clone(working), "publish")
	completed := append(slices.Clone(publishing), "complete")
	// What is not named succeeds. "=" is success that changes nothing.
	for _, c := range []struct {
		name   string
		before []string
		status admin.AgentStatus
		phase  admin.AgentPhase
		codes  map[string]string
	}{
		{"queued", nil, admin.AgentActive, admin.AgentQueued,
			map[string]string{"lease": newer, "publish": newer, "complete": no, "nothing": no, "archive": running}},
		{"preparing", working[:1], admin.AgentActive, admin.AgentPreparing,
			map[string]string{"prepare": "=", "lease": newer, "publish": newer, "complete": no, "nothing": no, "archive": running}},
		{"working", working, admin.AgentActive, admin.AgentWorking,
			map[string]string{"prepare": "=", "begin": "=", "complete": no, "nothing": no, "archive": running}},
		{"being cancelled", append(slices.Clone(working), "cancel"), admin.AgentActive, admin.AgentWorking,
			map[string]string{"prepare": "=", "begin": "=", "lease": stopped, "publish": stopped, "complete": no, "nothing": no, "archive": running, "cancel": "=", "message": running}},
		{"cancelled before it works", []string{"prepare", "cancel"}, admin.AgentActive, admin.AgentPreparing,
			map[string]string{"prepare": "=", "begin": stopped, "lease": stopped, "publish": stopped, "complete": no, "nothing": no, "archive": running, "cancel": "=", "message": running}},
		{"publishing", publishing, admin.AgentActive, admin.AgentPublishing,
			map[string]string{"prepare": "=", "begin": "=", "lease": newer, "publish": "=", "archive": running, "cancel": admin.CodePublishing}},
		{"completed", completed, admin.AgentCompleted, "",
			map[string]string{"prepare": no, "begin": no, "lease": no, "publish": no, "commit": no, "complete": "=", "nothing": "=", "fail": no, "note": no, "cancel": no}},
		{"failed", append(slices.Clone(working), "fail"), admin.AgentFailed, "",
			map[string]string{"prepare": no, "begin": no, "lease": no, "publish": no, "commit": no, "complete": no, "nothing": no, "fail": "=", "note": no, "cancel": no}},
		{"cancelled", append(slices.Clone(working), "cancel", "fail"), admin.AgentFailed, "",
			map[string]string{"prepare": no, "begin": no, "lease": no, "publish": no, "commit": no, "complete": no, "nothing": no, "fail": "=", "note": no, "cancel": "="}},
		{"archived", append(slices.Clone(completed), "archive"), admin.AgentArchived, "",
			map[string]string{"prepare": no, "begin": no, "lease": no, "publish": no, "commit": no, "complete": "=", "nothing": "=", "fail": no, "note": no, "cancel": archived, "archive": "=", "message": archived}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			moves := w.agentMoves(x)
			for name, move := range moves {
				w.Advance(time.Hour) // and another hour's starts
				j := w.agent(x)
				for _, b := range c.before {
					w.Advance(time.Second)
					if err := moves[b](j.Current()); err != nil {
						t.Fatalf("%s before %s: %v", b, name, err)
					}
				}
				before := w.agentNow(j)
				if before.Status != c.status || before.Phase != c.phase || before.Final() == before.FinishedAt.IsZero() ||
					before.ArchivedAt.IsZero() == (c.status == admin.AgentArchived) || (before.Failure != nil) != (c.status == admin.AgentFailed) {
					t.Fatalf("before %s: %+v", name, before)
				}
				w.Advance(time.Second)
				code := c.codes[name]
				err := move(j.Current())
				if got := admin.CodeOf(err); got != strings.TrimPrefix(code, "=") {
					t.Errorf("%s: code %q, want %q (%v)", name, got, code, err)
				}
				after := w.agentNow(j)
				if unchanged := cmp.Equal(before, after); unchanged != (code != "") {
					t.Errorf("%s: unchanged is %v:\n%s", name, unchanged, cmp.Diff(before, after))
				}
				if now := w.agentNow(j); !now.Final() {
					if err := w.FailAgent(w.ctx, now.Current(), admin.CodeInternal, ""); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestAgentRequestsAreChecked: fields first, then the project, then what is set
// up, then the limits.
func TestAgentRequestsAreChecked(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("docs.example.org")
	good := admin.StartAgentJob{Project: x.project.ID, Prompt: "p"}
	with := func(change func(*admin.StartAgentJob)) admin.StartAgentJob {
		in := good
		change(&in)
		return in
	}
	for field, bad := range map[string][]admin.StartAgentJob{
		"prompt": {
			with(func(in *admin.StartAgentJob) { in.Prompt = " \n" }), with(func(in *admin.StartAgentJob) { in.Prompt = "\xff" }),
			with(func(in *admin.StartAgentJob) { in.Prompt = "\x1b[31m" }), with(func(in *admin.StartAgentJob) { in.Prompt = strings.Repeat("x", 64<<10+1) }),
		},
		"ref": {
			with(func(in *admin.StartAgentJob) { in.Ref = "-b" }), with(func(in *admin.StartAgentJob) { in.Ref = "a..b" }), with(func(in *admin.StartAgentJob) { in.Ref = "a//b" }),
			with(func(in *admin.StartAgentJob) { in.Ref = "a b" }), with(func(in *admin.StartAgentJob) { in.Ref = "a." }), with(func(in *admin.StartAgentJob) { in.Ref = "a/.b" }),
		},
		"model": {with(func(in *admin.StartAgentJob) { in.Model = "a\nb" })},
	} {
		for _, in := range bad {
			in.Project = "prj_none"
			_, err := w.StartAgentJob(w.ctx, x.caller, in)
			wantField(t, err, field)
		}
	}
	_, err := w.StartAgentJob(w.ctx, x.caller, with(func(in *admin.StartAgentJob) { in.Project, in.Model = other.project.ID, "unknown" }))
	want(t, err, admin.CodeNotFound)
	_, err = w.StartAgentJob(w.ctx, x.caller, with(func(in *admin.StartAgentJob) { in.Model = "unknown" }))
	want(t, err, admin.CodeModelMissing)
	free := x.caller
	free.Plan = admin.PlanFree
	_, err = w.StartAgentJob(w.ctx, free, with(func(in *admin.StartAgentJob) { in.Prompt = "" }))
	want(t, err, admin.CodePlan)
	j, err := w.StartAgentJob(w.ctx, x.caller, with(func(in *admin.StartAgentJob) { in.Model, in.Ref, in.Draft = "fast", "docs/v2.1", true }))
	if err != nil || j.Model != "fast" || j.Ref != "docs/v2.1" || !j.Draft || j.Repository != x.project.Repository || j.Round != 1 || j.Messages != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	if want := []string{j.ID + "-1"}; !slices.Equal(w.runner.started, want) {
		t.Errorf("started %v, want %v", w.runner.started, want)
	}
	_, err = w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: x.project.ID, Job: j.ID, Prompt: " "})
	wantField(t, err, "prompt")
	_, err = w.RevokeProject(w.ctx, x.project.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.StartAgentJob(w.ctx, x.caller, good)
	want(t, err, admin.CodeNotFound)
}

// TestAgentNeedsAForge: an installation without agents says what is missing.
func TestAgentNeedsAForge(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.AgentReady = nil })
	x := w.tenant("docs.example.com")
	_, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"})
	want(t, err, admin.CodeForgeMissing)
}

// TestAgentJobsOfOthers: another organisation's job is not there for a caller.
func TestAgentJobsOfOthers(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("docs.example.org")
	j := w.agent(x)
	before := w.agentNow(j)
	for name, call := range map[string]func(project string) error{
		"read":    func(p string) error { _, err := w.AgentJob(w.ctx, other.caller, p, j.ID); return err },
		"cancel":  func(p string) error { _, err := w.CancelAgentJob(w.ctx, other.caller, p, j.ID, ""); return err },
		"archive": func(p string) error { _, err := w.ArchiveAgentJob(w.ctx, other.caller, p, j.ID, ""); return err },
		"events":  func(p string) error { _, _, err := w.AgentEvents(w.ctx, other.caller, p, j.ID, "", 0); return err },
		"message": func(p string) error {
			_, err := w.MessageAgentJob(w.ctx, other.caller, admin.MessageAgentJob{Project: p, Job: j.ID, Prompt: "p"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, call(x.project.ID), admin.CodeNotFound)
			want(t, call(other.project.ID), admin.CodeNotFound)
			want(t, call("a/b"), admin.CodeNotFound)
		})
	}
	_, _, err := w.ListAgentJobs(w.ctx, other.caller, admin.AgentList{Project: x.project.ID})
	want(t, err, admin.CodeNotFound)
	if d := cmp.Diff(before, w.agentNow(j)); d != "" {
		t.Error(d)
	}
}

// pro is tenant with the plan Pro.
func (w *world) pro(domain string) tenant {
	w.t.Helper()
	x := w.tenant(domain)
	_, err := w.SetPlan(w.ctx, x.ID, admin.PlanPro)
	want(w.t, err, "")
	x.caller.Plan = admin.PlanPro
	return x
}

// TestAgentQueue: three jobs of a project and ten of an organisation run, also if many
// start at the same time. The others wait and have no execution. Each job that ends lets
// one of them begin.
func TestAgentQueue(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	projects := []string{x.project.ID}
	for i := range 4 {
		p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: fmt.Sprintf("d%d.example.com", i), Repository: "https://git.example.com/docs"})
		want(t, err, "")
		projects = append(projects, p.ID)
	}
	var wg sync.WaitGroup
	for i := range 4 * len(projects) {
		wg.Go(func() {
			_, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: projects[i%len(projects)], Prompt: "p"})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// state returns the jobs that run, by project, and the waiting ones by position.
	state := func() (running map[string][]admin.AgentJob, queue map[int]admin.AgentJob) {
		t.Helper()
		running, queue = map[string][]admin.AgentJob{}, map[int]admin.AgentJob{}
		n := 0
		for _, p := range projects {
			jobs, _, err := w.ListAgentJobs(w.ctx, x.caller, admin.AgentList{Project: p, Status: admin.AgentActive})
			want(t, err, "")
			for _, j := range jobs {
				one, err := w.AgentJob(w.ctx, x.caller, p, j.ID)
				if err != nil || one.Position != j.Position || one.Queued != j.Queued || j.Queued != (j.Position > 0) {
					t.Errorf("listed at %d, read at %d, %v", j.Position, one.Position, err)
				}
				if started := slices.Contains(w.runner.started, j.ID+"-1"); started == j.Queued {
					t.Errorf("queued: %v, and has an execution: %v", j.Queued, started)
				}
				if j.Queued {
					queue[j.Position] = j
					continue
				}
				n++
				running[p] = append(running[p], j)
			}
			if len(running[p]) > 3 {
				t.Errorf("%d jobs of a project run", len(running[p]))
			}
		}
		if n > 10 {
			t.Errorf("%d jobs run", n)
		}
		for i := range queue {
			if i > len(queue) {
				t.Errorf("position %d of %d", i, len(queue))
			}
		}
		return running, queue
	}
	running, queue := state()
	if len(queue) != 10 {
		t.Fatalf("%d jobs wait, want 10", len(queue))
	}
	for len(queue) > 0 {
		next := queue[1]
		// A job of the same project, or any other if the project has none.
		all := slices.Clone(running[next.Project])
		for _, p := range projects {
			all = append(all, running[p]...)
		}
		ends := all[0]
		for range 3 { // frees its place once
			want(t, w.FailAgent(w.ctx, ends.Current(), admin.CodeBudget, ""), "")
		}
		waiting := len(queue)
		if running, queue = state(); len(queue) != waiting-1 {
			t.Fatalf("%d jobs wait after %d", len(queue), waiting)
		}
		if w.agentNow(next).Queued {
			t.Error("the first of the queue still waits")
		}
	}
}

// TestDoubledEndOfAgent: a round that ends in the midst of the same end of another start
// ends once, and frees its place once.
func TestDoubledEndOfAgent(t *testing.T) {
	var again func()
	w := newWorld(t, func(o *admin.Options) {
		o.Store = storetest.AroundStore(o.Store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
			if now := again; now != nil && strings.HasPrefix(call.Name, "Store.Get") && strings.Contains(call.Name, "org#") && strings.Contains(call.Name, "agents") {
				again = nil
				now()
			}
			return do(ctx)
		})
	})
	x := w.pro("docs.example.com")
	j, _ := w.atWork(x)
	if unread, err := w.BeginAgentPublish(w.ctx, j.Current(), 1); unread || err != nil {
		t.Fatal(unread, err)
	}
	end := func() {
		_, reopened, err := w.CompleteAgent(w.ctx, j.Current(), admin.AgentResult{Seen: 1})
		if reopened || err != nil {
			t.Error(reopened, err)
		}
	}
	again = end
	end()
	if again != nil {
		t.Error("the other end did not come in between")
	}
	if j = w.agentNow(j); j.Status != admin.AgentCompleted {
		t.Errorf("%+v", j)
	}
	for i := range 4 { // three have a place
		if started := w.agent(x); started.Queued != (i == 3) {
			t.Errorf("job %d waits: %v", i+1, started.Queued)
		}
	}
}

// TestAgentQueueIsFair: a project that starts many jobs doesn't keep others waiting.
func TestAgentQueueIsFair(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	p := map[string]string{"a": x.project.ID}
	for _, name := range []string{"b", "c", "d", "e"} {
		project, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: name + ".example.com", Repository: "https://git.example.com/docs"})
		want(t, err, "")
		p[name] = project.ID
	}
	start := func(project string) admin.AgentJob {
		j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: p[project], Prompt: "p"})
		want(t, err, "")
		return j
	}
	var run []admin.AgentJob
	for _, name := range []string{"a", "a", "a", "b", "b", "b", "c", "c", "c", "d"} {
		run = append(run, start(name))
	}
	a, d, e := start("a"), start("d"), start("e")
	if a.Position != 1 || d.Position != 1 || e.Position != 1 {
		t.Errorf("each was first when it came: %d, %d, %d", a.Position, d.Position, e.Position)
	}
	position := func(j admin.AgentJob) int {
		j, err := w.AgentJob(w.ctx, x.caller, j.Project, j.ID)
		want(t, err, "")
		return j.Position
	}
	// e has no job that runs, d has one, a three.
	if got := []int{position(e), position(d), position(a)}; !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("positions of e, d and a: %v", got)
	}
	// A cancelled one leaves the queue in the same call.
	_, err := w.CancelAgentJob(w.ctx, x.caller, e.Project, e.ID, "")
	want(t, err, "")
	if j := w.agentNow(e); j.Status != admin.AgentFailed || j.Failure.Code != admin.CodeCancelled || position(d) != 1 {
		t.Errorf("%s, %v; d is at %d", j.Status, j.Failure, position(d))
	}
	// a's own place goes to d: a would still have its three.
	want(t, w.FailAgent(w.ctx, run[9].Current(), admin.CodeBudget, ""), "")
	if position(d) != 0 || position(a) != 1 {
		t.Errorf("d is at %d, a at %d", position(d), position(a))
	}
	want(t, w.FailAgent(w.ctx, run[0].Current(), admin.CodeBudget, ""), "")
	if j := w.agentNow(a); j.Queued || !slices.Contains(w.runner.started, a.ID+"-1") {
		t.Errorf("a waits: %+v", j)
	}
	// A message to a final job waits like a new one, and to a waiting one is read later.
	first, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: e.Project, Job: e.ID, Prompt: "again"})
	want(t, err, "")
	again, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: e.Project, Job: e.ID, Prompt: "and this"})
	want(t, err, "")
	if !first.Queued || first.Position != 1 || again.Messages != 3 || again.Round != 2 || slices.Contains(w.runner.started, e.ID+"-2") {
		t.Errorf("%+v, %+v", first, again)
	}
}

// TestFullAgentQueue: there are bounds, which Retry-After tells.
func TestFullAgentQueue(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	var err error
	var last admin.AgentJob
	for n := 0; err == nil; n++ {
		var j admin.AgentJob
		if j, err = w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"}); err == nil {
			last = j
		} else if n != 100 {
			t.Errorf("%d starts: %v", n, err)
		}
	}
	if want(t, err, admin.CodeTooManyAgents); !strings.Contains(err.Error(), "100 agent jobs") {
		t.Error(err)
	}
	if last.Position != 97 {
		t.Errorf("the last one is at %d", last.Position)
	}
	for err = nil; err == nil; {
		w.Advance(time.Hour)
		for range 100 {
			if _, err = w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"}); err != nil {
				break
			}
		}
	}
	if want(t, err, admin.CodeTooManyAgents); !strings.Contains(err.Error(), "200 agent jobs of your organisation are waiting") {
		t.Error(err)
	}
}

// TestAgentQueueAfterADeath: AdmitAgents, which the reconciler calls, also starts jobs
// if no job has ended: after the death of a process, or with a better plan.
func TestAgentQueueAfterADeath(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	var jobs []admin.AgentJob
	for range 5 {
		j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"})
		want(t, err, "")
		jobs = append(jobs, j)
	}
	// A better plan has more places, which no end of a job gives away.
	_, err := w.SetPlan(w.ctx, x.ID, admin.PlanEnterprise)
	want(t, err, "")
	want(t, w.AdmitAgents(w.ctx, x.ID), "")
	for _, j := range jobs {
		if w.agentNow(j).Queued || !slices.Contains(w.runner.started, j.ID+"-1") {
			t.Errorf("%s waits", j.ID)
		}
	}
}

// TestAgentStartOnce: one Idempotency-Key is one job, which a repeated call shows
// as it was then.
func TestAgentStartOnce(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	in := admin.StartAgentJob{Project: x.project.ID, Prompt: "p", IdempotencyKey: "k1"}
	first, err := w.StartAgentJob(w.ctx, x.caller, in)
	want(t, err, "")
	w.Advance(time.Second)
	if err := w.FailAgent(w.ctx, first.Current(), admin.CodeLoop, ""); err != nil {
		t.Fatal(err)
	}
	again, err := w.StartAgentJob(w.ctx, x.caller, in)
	if d := cmp.Diff(first, again); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	in.Prompt = "q"
	_, err = w.StartAgentJob(w.ctx, x.caller, in)
	want(t, err, admin.CodeKeyReused)
	message := admin.MessageAgentJob{Project: x.project.ID, Job: first.ID, Prompt: "more", IdempotencyKey: "k2"}
	for range 3 {
		j, err := w.MessageAgentJob(w.ctx, x.caller, message)
		if err != nil || j.Messages != 2 || j.Round != 2 {
			t.Errorf("%+v, %v", j, err)
		}
	}
}

// TestAgentJobsAreListed: newest first, by status, in pages.
func TestAgentJobsAreListed(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	var ids []string
	for i := range 7 {
		j := w.agent(x)
		ids = append([]string{j.ID}, ids...)
		w.Advance(time.Second)
		if i == 6 {
			break
		}
		if err := w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, ""); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := w.ArchiveAgentJob(w.ctx, x.caller, x.project.ID, j.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func(status admin.AgentStatus, limit int) (got []string, pages int) {
		for in := (admin.AgentList{Project: x.project.ID, Status: status, Limit: limit}); ; pages++ {
			jobs, next, err := w.ListAgentJobs(w.ctx, x.caller, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				got = append(got, j.ID)
			}
			if in.Cursor = next; next == "" {
				return got, pages + 1
			}
		}
	}
	for _, limit := range []int{0, 1, 3, 7} {
		if got, _ := list("", limit); !slices.Equal(got, ids) {
			t.Errorf("limit %d: %v, want %v", limit, got, ids)
		}
		if got, _ := list(admin.AgentFailed, limit); !slices.Equal(got, []string{ids[1], ids[3], ids[5]}) {
			t.Errorf("failed: %v of %v", got, ids)
		}
	}
	if _, pages := list("", 7); pages != 1 {
		t.Errorf("%d pages of 7", pages)
	}
	for field, in := range map[string]admin.AgentList{
		"status": {Status: "lost"}, "limit": {Limit: 201}, "cursor": {Cursor: "x"},
	} {
		in.Project = x.project.ID
		_, _, err := w.ListAgentJobs(w.ctx, x.caller, in)
		wantField(t, err, field)
	}
}

// TestArchivedByAge: a job that is final for 90 days is archived; one that a
// message made active again is not.
func TestArchivedByAge(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	var jobs []admin.AgentJob
	for range 3 {
		w.Advance(24 * time.Hour)
		jobs = append(jobs, w.agent(x))
		if err := w.FailAgent(w.ctx, jobs[len(jobs)-1].Current(), admin.CodeLoop, ""); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(88*24*time.Hour + time.Minute)
	if _, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: x.project.ID, Job: jobs[2].ID, Prompt: "p"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.ArchiveAgents(w.ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []admin.AgentStatus
	for _, j := range jobs {
		got = append(got, w.agentNow(j).Status)
	}
	if want := []admin.AgentStatus{admin.AgentArchived, admin.AgentFailed, admin.AgentActive}; !slices.Equal(got, want) {
		t.Errorf("after 90 days: %v, want %v", got, want)
	}
}

// TestArchivedByPull: a job is archived 30 days after its pull request was merged
// or closed, however seldom the forge is asked.
func TestArchivedByPull(t *testing.T) {
	outside.NoRace(t, "it makes one call after another")
	const day = 24 * time.Hour
	for _, c := range []struct {
		name     string
		closed   int    // days after the end of the job, 0: never
		fails    []int  // days on which the forge doesn't say
		asked    []int  // days on which it is asked
		archived int    // day on which the job is archived
		blind    bool   // there is nobody to ask
		link     string // of the pull request
	}{
		{"open", 0, nil, []int{30, 60}, 90, false, pull},
		{"closed soon", 1, nil, []int{30}, 31, false, pull},
		{"closed before the end", -5, nil, []int{30}, 30, false, pull},
		{"closed after the first look", 31, nil, []int{30, 60}, 61, false, pull},
		{"closed late", 61, nil, []int{30, 60}, 90, false, pull},
		{"a forge that is away", 1, []int{30, 31}, []int{30, 31, 32}, 32, false, pull},
		{"nobody to ask", 1, nil, nil, 90, true, pull},
		{"no pull request", 1, nil, nil, 90, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			j, _ := w.atWork(x)
			if _, err := w.BeginAgentPublish(w.ctx, j.Current(), 1); err != nil {
				t.Fatal(err)
			}
			result := admin.AgentResult{Seen: 1}
			if c.link != "" {
				result.PRLink, result.PRNumber, result.Branch = c.link, 7, "bindery/x"
			}
			if _, _, err := w.CompleteAgent(w.ctx, j.Current(), result); err != nil {
				t.Fatal(err)
			}
			ended := w.agentNow(j)
			today, archived := 0, 0
			var asked []int
			look := func(_ context.Context, j admin.AgentJob) (time.Time, bool, error) {
				asked = append(asked, today)
				if slices.Contains(c.fails, today) {
					return time.Time{}, false, nil
				}
				if c.closed == 0 || today < c.closed {
					return time.Time{}, true, nil
				}
				return j.FinishedAt.Add(time.Duration(c.closed) * day), true, nil
			}
			if c.blind {
				look = nil
			}
			for ; today <= 90 && archived == 0; today++ {
				for range 2 { // the second time, a job that was looked at is over
					if err := w.ArchiveAgents(w.ctx, look); err != nil {
						t.Fatal(err)
					}
				}
				now := w.agentNow(j)
				if now.Status == admin.AgentArchived {
					archived = today
				} else if !now.UpdatedAt.Equal(ended.UpdatedAt) {
					t.Errorf("a look changed the job at %s", now.UpdatedAt)
				}
				w.Advance(day)
			}
			if archived != c.archived || !slices.Equal(asked, c.asked) {
				t.Errorf("archived on day %d, asked on %v; want %d and %v", archived, asked, c.archived, c.asked)
			}
		})
	}
}
