package admin_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestAgentMonthCost: the rounds of a project together cost at most its limit for the
// month, give or take a last turn. A round can use what the others leave of it.
func TestAgentMonthCost(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	limit := func(micros int64) {
		t.Helper()
		_, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Agent: admin.AgentSettings{MaxMonthCost: micros}})
		want(t, err, "")
	}
	start := func() (admin.AgentJob, error) {
		return w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"})
	}
	starts := func(cost int64) (admin.AgentJob, admin.AgentLease) {
		t.Helper()
		j, err := start()
		want(t, err, "")
		in, err := w.AgentRound(w.ctx, j.Current())
		want(t, err, "")
		if in.Limits.Cost != cost {
			t.Errorf("a round may cost %s, want %s", admin.USDollars(in.Limits.Cost), admin.USDollars(cost))
		}
		return j, w.toWork(j.Current())
	}
	costs := func(lease admin.AgentLease, turn int, micros int64) {
		t.Helper()
		want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: turn, Object: "o", Seen: 1, Usage: admin.AgentUsage{Cost: micros}}), "")
	}
	refused := func(err error, message string, after time.Duration) {
		t.Helper()
		want(t, err, admin.CodeAgentCost)
		var e *admin.Error
		if !errors.As(err, &e) || e.SafeMessage() != message || e.RetryAfter != after {
			t.Errorf("got %+v", e)
		}
	}
	fails := func(j admin.AgentJob) {
		t.Helper()
		for range 2 { // counts once
			want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, ""), "")
		}
	}

	limit(6_000_000)
	a, lease := starts(5_000_000)
	b, _ := starts(1_000_000)
	_, err := start()
	refused(err, "this project's agent jobs may cost $6.00 in a month: $0.00 are spent, and active jobs may need the rest", 30*time.Second)
	costs(lease, 1, 2_000_000)
	fails(a)
	c, lease := starts(3_000_000)
	fails(b)
	costs(lease, 1, 4_500_000) // one turn was more than was left
	fails(c)
	now := w.Time().UTC()
	rest := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).Sub(now)
	_, err = start()
	refused(err, "this project's agent jobs may cost $6.00 in a month, and have cost $6.50", rest)

	// So is the next round of a job, which stays as it is.
	before := w.agentNow(c)
	_, err = w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: c.Project, Job: c.ID, Prompt: "more"})
	want(t, err, admin.CodeAgentCost)
	if d := cmp.Diff(before, w.agentNow(c)); d != "" {
		t.Error(d)
	}

	// Other projects have their own limits.
	other, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "other.example.com", Repository: "https://git.example.com/docs"})
	want(t, err, "")
	_, err = w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: other.ID, Prompt: "p"})
	want(t, err, "")

	u, err := w.MonthUsage(w.ctx, x.caller, "")
	want(t, err, "")
	if u.AgentRounds != 3 || u.AgentCost != 6_500_000 {
		t.Errorf("%d rounds for %s", u.AgentRounds, admin.USDollars(u.AgentCost))
	}
	of := map[string]admin.ProjectUsage{x.project.ID: {Domain: x.project.Domain, Kind: admin.KindCloud, AgentRounds: 3, AgentCost: 6_500_000}}
	if d := cmp.Diff(of, u.Projects); d != "" {
		t.Error(d)
	}

	// A higher limit holds at once, and so does a new month.
	limit(7_000_000)
	d, _ := starts(500_000)
	w.Advance(rest)
	limit(6_000_000)
	e, _ := starts(5_000_000)
	fails(d)
	fails(e)
	limit(0)
	f, lease := starts(5_000_000)
	costs(lease, 1, 1_000_000)
	fails(f)
	limit(2_000_000) // what was spent without a limit counts
	g, lease := starts(1_000_000)

	// A round needs a hundredth of the limit: with less, the month is over.
	costs(lease, 1, 985_000)
	fails(g)
	_, err = start()
	now = w.Time().UTC()
	rest = time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).Sub(now)
	refused(err, "this project's agent jobs may cost $2.00 in a month, and have cost $1.985", rest)
	limit(2_006_000)
	starts(21_000)
	_, err = start()
	refused(err, "this project's agent jobs may cost $2.006 in a month: $1.985 are spent, and active jobs may need the rest", 30*time.Second)
}

// TestAgentMonthCostOfAWait: a message to a round that waits for its model begins the next
// round, which has what the first one left.
func TestAgentMonthCostOfAWait(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	_, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Agent: admin.AgentSettings{MaxMonthCost: 3_000_000}})
	want(t, err, "")
	j, lease := w.atWork(x)
	want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "o", Seen: 1, Usage: admin.AgentUsage{Cost: 1_000_000}}), "")
	want(t, w.AgentWait(w.ctx, lease, 1, w.Time().Add(time.Minute), "busy"), "")
	j = w.message(x, j, "go on")
	in, err := w.AgentRound(w.ctx, j.Current())
	want(t, err, "")
	if j.Round != 2 || in.Limits.Cost != 2_000_000 {
		t.Errorf("round %d may cost %s", j.Round, admin.USDollars(in.Limits.Cost))
	}
	lease = w.toWork(j.Current())
	want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "o2", Seen: 2, Usage: admin.AgentUsage{Cost: 2_000_000}}), "")

	// If nothing is left, a message is refused, and the round waits on.
	want(t, w.AgentWait(w.ctx, lease, 2, w.Time().Add(time.Minute), "busy"), "")
	_, err = w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: j.ID, Prompt: "again"})
	want(t, err, admin.CodeAgentCost)
	if now := w.agentNow(j); now.Round != 2 || now.Messages != 2 || !now.Waiting(w.Time()) {
		t.Errorf("the round was changed: %+v", now)
	}
	want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeModelDown, ""), "")
	u, err := w.MonthUsage(w.ctx, x.caller, "")
	want(t, err, "")
	if u.AgentRounds != 2 || u.AgentCost != 3_000_000 {
		t.Errorf("%d rounds for %s", u.AgentRounds, admin.USDollars(u.AgentCost))
	}
}

// TestAgentMonthCostOfUnreadMessages: a round that completes with unread messages is
// counted, and the next one has what is left. If nothing is, it fails with the reason.
func TestAgentMonthCostOfUnreadMessages(t *testing.T) {
	w := newWorld(t)
	x := w.pro("docs.example.com")
	_, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Agent: admin.AgentSettings{MaxMonthCost: 3_000_000}})
	want(t, err, "")
	j, lease := w.atWork(x)
	completes := func(lease admin.AgentLease, cost int64) {
		t.Helper()
		ref := lease.Ref
		want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "o", Seen: ref.Round, Usage: admin.AgentUsage{Cost: cost}}), "")
		if unread, err := w.BeginAgentPublish(w.ctx, ref, ref.Round); err != nil || unread {
			t.Fatal(unread, err)
		}
		w.message(x, j, "and this")
		for range 2 { // counts once
			if _, _, err := w.CompleteAgent(w.ctx, ref, admin.AgentResult{PRLink: pull, PRNumber: 1, Branch: "bindery/x", Seen: ref.Round, Title: "T"}); err != nil {
				t.Error(err)
			}
		}
	}
	completes(lease, 1_000_000)
	j = w.agentNow(j)
	in, err := w.AgentRound(w.ctx, j.Current())
	want(t, err, "")
	if j.Round != 2 || in.Limits.Cost != 2_000_000 || !slices.Contains(w.runner.started, j.ID+"-2") {
		t.Errorf("round %d may cost %s", j.Round, admin.USDollars(in.Limits.Cost))
	}
	completes(w.toWork(j.Current()), 2_500_000)
	j = w.agentNow(j)
	if j.Round != 3 || j.Status != admin.AgentFailed || j.Failure == nil || j.PRLink != pull ||
		j.Failure.Code != admin.CodeAgentCost || j.Failure.Message != "this project's agent jobs may cost $3.00 in a month, and have cost $3.50" {
		t.Errorf("%+v, %+v", j, j.Failure)
	}
	if slices.Contains(w.runner.started, j.ID+"-3") {
		t.Error("the failed round has an execution")
	}
	u, err := w.MonthUsage(w.ctx, x.caller, "")
	want(t, err, "")
	if u.AgentRounds != 2 || u.AgentCost != 3_500_000 {
		t.Errorf("%d rounds for %s", u.AgentRounds, admin.USDollars(u.AgentCost))
	}
}
