package admin_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// atWork starts a job and leads it to its first turn.
func (w *world) atWork(x tenant) (admin.AgentJob, admin.AgentLease) {
	w.t.Helper()
	j := w.agent(x)
	return j, w.toWork(j.Current())
}

func (w *world) toWork(ref admin.AgentRef) admin.AgentLease {
	w.t.Helper()
	if _, err := w.AgentRound(w.ctx, ref); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.BeginAgentRound(w.ctx, ref, admin.AgentBase{Commit: fmt.Sprintf("c%d", ref.Round), Ref: "main"}); err != nil {
		w.t.Fatal(err)
	}
	l, err := w.LeaseAgentWork(w.ctx, ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *world) message(x tenant, j admin.AgentJob, prompt string) admin.AgentJob {
	w.t.Helper()
	j, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: j.ID, Prompt: prompt})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// TestAgentBase: the base that was recorded first is the round's; the branch that
// was found is the job's where none was asked for.
func TestAgentBase(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j := w.agent(x)
	first := admin.AgentBase{Commit: "c1", Ref: "trunk", Manifest: "m1"}
	for _, base := range []admin.AgentBase{first, first, {Commit: "c2", Ref: "other"}} {
		got, err := w.BeginAgentRound(w.ctx, j.Current(), base)
		if err != nil || got != first {
			t.Errorf("%+v, %v", got, err)
		}
	}
	in, err := w.AgentRound(w.ctx, j.Current())
	if err != nil || in.Job.Ref != "trunk" || in.Job.Base != first || in.Project.ID != x.project.ID || len(in.Messages) != 1 || in.Limits.Turns == 0 {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestAgentLimitsOfAProject: a project lowers its plan's limits, and never
// raises them.
func TestAgentLimitsOfAProject(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	plan, _ := admin.AgentPlanOf(admin.PlanEnterprise)
	for settings, want := range map[admin.AgentSettings][2]int64{
		{}:                            {int64(plan.Turns), plan.Cost},
		{MaxTurns: 3, MaxCost: 1000}:  {3, 1000},
		{MaxTurns: 1e6, MaxCost: 1e9}: {int64(plan.Turns), plan.Cost},
	} {
		if _, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Agent: settings}); err != nil {
			t.Fatal(err)
		}
		j := w.agent(x)
		in, err := w.AgentRound(w.ctx, j.Current())
		if got := [2]int64{int64(in.Limits.Turns), in.Limits.Cost}; err != nil || got != want {
			t.Errorf("%+v: %v, want %v (%v)", settings, got, want, err)
		}
		if err := w.FailAgent(w.ctx, j.Current(), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	for field, bad := range map[string]admin.AgentSettings{
		"agent.root": {Root: "/docs/"}, "agent.forge": {Forge: "svn"}, "agent.api": {API: "x"}, "agent": {MaxTurns: -1},
		"agent.labels": {Labels: "a,b,c,d,e,f,g,h,i,j,k"}, "agent.reviewers": {Reviewers: "ada,gr\tace"},
		"agent.repositories": {Repositories: "cli=ftp://git.example.com/acme/cli"},
	} {
		_, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindCloud, Agent: bad})
		wantField(t, err, field)
	}
}

// TestAgentTurns: a turn counts once, the newest start wins, and what the older
// one says afterwards changes nothing.
func TestAgentTurns(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, old := w.atWork(x)
	usage := admin.AgentUsage{Input: 10, CacheWrite: 5, CacheRead: 100, Output: 7, Cost: 1200}
	turn := func(n int, object string) admin.AgentTurn {
		return admin.AgentTurn{N: n, Object: object, Seen: 1, Model: "large-1", Usage: usage}
	}
	want(t, w.PutAgentTurn(w.ctx, &old, turn(1, "a"), admin.AgentEvent{Kind: admin.AgentEventTurn, Turn: 1}), "")
	want(t, w.PutAgentTurn(w.ctx, &old, turn(1, "a")), "") // its answer was lost
	want(t, w.PutAgentTurn(w.ctx, &old, turn(1, "b")), admin.CodeSuperseded)
	newer, err := w.LeaseAgentWork(w.ctx, j.Current())
	if err != nil || newer.Attempt != old.Attempt+1 {
		t.Fatalf("%+v, %v", newer, err)
	}
	want(t, w.PutAgentTurn(w.ctx, &old, turn(2, "c"), admin.AgentEvent{Kind: admin.AgentEventTurn, Turn: 2}), admin.CodeSuperseded)
	want(t, w.PutAgentTurn(w.ctx, &newer, turn(2, "d"), admin.AgentEvent{Kind: admin.AgentEventTurn, Turn: 2}), "")
	turns, err := w.AgentTurns(w.ctx, j.Current())
	if err != nil || len(turns) != 2 || turns[0].Object != "a" || turns[1].Object != "d" {
		t.Errorf("%+v, %v", turns, err)
	}
	now := w.agentNow(j)
	if now.Turns != 2 || now.Usage != usage.Add(usage) || now.Model != "large-1" || now.Asked != "best" {
		t.Errorf("%+v", now)
	}
	if _, err := w.CancelAgentJob(w.ctx, x.caller, j.Project, j.ID, ""); err != nil {
		t.Fatal(err)
	}
	want(t, w.PutAgentTurn(w.ctx, &newer, turn(3, "e")), admin.CodeCancelled)
	if turns, _ := w.AgentTurns(w.ctx, j.Current()); len(turns) != 2 {
		t.Errorf("a cancelled job has %d turns", len(turns))
	}
}

// TestSpendAgent: what became no turn is counted once for each start.
func TestSpendAgent(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, old := w.atWork(x)
	one := admin.AgentUsage{Input: 10, CacheWrite: 5, CacheRead: 100, Output: 7, Cost: 1200}
	turn := admin.AgentTurn{N: 1, Object: "a", Usage: one}
	want(t, w.PutAgentTurn(w.ctx, &old, turn), "")
	want(t, w.SpendAgent(w.ctx, old, turn), "") // the answer to the write was lost
	newer, err := w.LeaseAgentWork(w.ctx, j.Current())
	want(t, err, "")
	for _, lease := range []admin.AgentLease{old, newer, old} {
		want(t, w.SpendAgent(w.ctx, lease, admin.AgentTurn{N: 2, Object: "b", Usage: one}), "")
		want(t, w.SpendAgent(w.ctx, lease, admin.AgentTurn{N: 2, Usage: one}), "")
	}
	in, err := w.AgentRound(w.ctx, j.Current())
	if err != nil || in.Spent != one.Add(one) || in.Job.Usage != one.Add(one).Add(one) || in.Job.Turns != 1 {
		t.Errorf("%+v, %v", in, err)
	}
	want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, ""), "")
	want(t, w.SpendAgent(w.ctx, newer, admin.AgentTurn{N: 2, Usage: one}), admin.CodeJobNotActive)
	in, err = w.AgentRound(w.ctx, w.message(x, j, "more").Current())
	if err != nil || in.Spent != (admin.AgentUsage{}) {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestAgentTurnsAtOnce: of many starts that write at once, every turn is written
// once, by one start.
func TestAgentTurnsAtOnce(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, _ := w.atWork(x)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			lease, err := w.LeaseAgentWork(w.ctx, j.Current())
			for n := 1; err == nil && n <= 5; n++ {
				err = w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: n, Object: fmt.Sprint(i, n)}, admin.AgentEvent{Kind: admin.AgentEventTurn, Turn: n})
			}
			if code := admin.CodeOf(err); code != "" && code != admin.CodeSuperseded {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	turns, err := w.AgentTurns(w.ctx, j.Current())
	if err != nil {
		t.Fatal(err)
	}
	if now := w.agentNow(j); now.Turns != len(turns) {
		t.Errorf("%d turns counted, %d written", now.Turns, len(turns))
	}
}

// TestAgentEventsAreOneSequence: numbers without gaps or doubles, whoever writes
// at once, so that a cursor misses none.
func TestAgentEventsAreOneSequence(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, _ := w.atWork(x)
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			for range 3 {
				note := admin.AgentEvent{Kind: admin.AgentEventNote, Text: fmt.Sprint(i)}
				want(t, w.AgentNote(w.ctx, j.Current(), note, note), "")
			}
		})
	}
	wg.Wait()
	var events []admin.AgentEvent
	cursor := ""
	for {
		page, next, err := w.AgentEvents(w.ctx, x.caller, j.Project, j.ID, cursor, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			if next != cursor {
				t.Errorf("at the end the cursor is %q, was %q", next, cursor)
			}
			break
		}
		events, cursor = append(events, page...), next
	}
	var kinds []string
	for i, e := range events {
		if e.N != i+1 || e.Round != 1 || e.At.IsZero() {
			t.Errorf("event %d is %+v", i+1, e)
		}
		if e.Kind != admin.AgentEventNote {
			kinds = append(kinds, e.Kind+" "+e.Text)
		}
	}
	if d := cmp.Diff([]string{"message mend the links", "phase queued", "phase preparing", "phase working"}, kinds); d != "" || len(events) != 4+30 {
		t.Errorf("%d events\n%s", len(events), d)
	}
	for _, bad := range []string{"x", "-1", "01", "123456789"} {
		_, _, err := w.AgentEvents(w.ctx, x.caller, j.Project, j.ID, bad, 0)
		wantField(t, err, "cursor")
	}
	long := strings.Repeat("ü", 5000)
	want(t, w.AgentNote(w.ctx, j.Current(), admin.AgentEvent{Kind: admin.AgentEventNote, Text: long}), "")
	last, _, err := w.AgentEvents(w.ctx, x.caller, j.Project, j.ID, cursor, 1)
	if err != nil || len(last) != 1 || len(last[0].Text) > 4010 || !strings.HasPrefix(long, strings.TrimSuffix(last[0].Text, "…")) {
		t.Errorf("%v, %v", last, err)
	}
}

// TestUnreadMessages: Work goes on where a message came before Publish; where one
// comes while it publishes, its end opens the next round.
func TestUnreadMessages(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, _ := w.atWork(x)
	w.message(x, j, "one more")
	if unread, err := w.BeginAgentPublish(w.ctx, j.Current(), 1); err != nil || !unread {
		t.Fatalf("unread is %v, %v", unread, err)
	}
	if got, err := w.AgentMessages(w.ctx, j.Current(), 1); err != nil || len(got) != 1 || got[0].Prompt != "one more" || got[0].N != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for range 2 {
		if unread, err := w.BeginAgentPublish(w.ctx, j.Current(), 2); err != nil || unread {
			t.Fatalf("unread is %v, %v", unread, err)
		}
	}
	w.message(x, j, "and another")
	result := admin.AgentResult{PRLink: pull, PRNumber: 1, Branch: "bindery/x", Seen: 2, Changes: admin.AgentChanges{Files: 1}}
	for range 2 {
		next, reopened, err := w.CompleteAgent(w.ctx, j.Current(), result)
		if err != nil || !reopened || next != (admin.AgentRef{Project: j.Project, Job: j.ID, Round: 2}) {
			t.Fatalf("%+v, %v, %v", next, reopened, err)
		}
	}
	shown, err := w.AgentJob(w.ctx, x.caller, j.Project, j.ID)
	if err != nil || shown.Status != admin.AgentActive || shown.Phase != admin.AgentQueued || shown.PRLink != "" || shown.Branch != "bindery/x" {
		t.Errorf("%+v, %v", shown, err)
	}
	if got := w.runner.started[len(w.runner.started)-1]; got != j.ID+"-2" {
		t.Errorf("started %s", got)
	}
	// The place is the same one: a sixth job waits.
	for i := range 5 {
		other, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: j.Project, Prompt: "p"})
		want(t, err, "")
		if other.Queued != (i == 4) {
			t.Errorf("job %d beside it waits: %v", i+1, other.Queued)
		}
	}
	want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, ""), admin.CodeJobNotActive)
	want(t, w.AgentNote(w.ctx, j.Current(), admin.AgentEvent{Kind: admin.AgentEventNote}), admin.CodeJobNotActive)
	second := shown.Current()
	w.toWork(second)
	want(t, w.FailAgent(w.ctx, second, admin.CodePush, "the forge took no push"), "")
	shown, err = w.AgentJob(w.ctx, x.caller, j.Project, j.ID)
	if err != nil || shown.Status != admin.AgentFailed || shown.PRLink != pull || shown.Failure.Code != admin.CodePush {
		t.Errorf("%+v, %v", shown, err)
	}
}

// TestFollowUpRound: a message on a final job begins a round that starts afresh
// and keeps what the job has.
func TestFollowUpRound(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, lease := w.atWork(x)
	want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "a", Usage: admin.AgentUsage{Output: 3}}), "")
	if _, err := w.CancelAgentJob(w.ctx, x.caller, j.Project, j.ID, ""); err != nil {
		t.Fatal(err)
	}
	want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeTemporary, "later"), "")
	if f := w.agentNow(j).Failure; f.Code != admin.CodeCancelled {
		t.Errorf("a job that was cancelled failed with %s", f.Code)
	}
	w.Advance(time.Minute)
	again := w.message(x, j, "go on")
	if again.Round != 2 || again.Status != admin.AgentActive || !again.CancelledAt.IsZero() || again.Failure != nil || !again.FinishedAt.IsZero() ||
		again.Base != (admin.AgentBase{}) || again.Usage.Output != 3 || again.Turns != 1 || again.Messages != 2 {
		t.Errorf("%+v", again)
	}
	want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 2, Object: "b"}), admin.CodeJobNotActive)
	next := w.toWork(again.Current())
	if next.Attempt != 1 {
		t.Errorf("the first start of a round is attempt %d", next.Attempt)
	}
	want(t, w.PutAgentTurn(w.ctx, &next, admin.AgentTurn{N: 1, Object: "c", Usage: admin.AgentUsage{Output: 4}}), "")
	turns, err := w.AgentTurns(w.ctx, again.Current())
	if err != nil || len(turns) != 1 || turns[0].Object != "c" {
		t.Errorf("%+v, %v", turns, err)
	}
	in, err := w.AgentRound(w.ctx, again.Current())
	if err != nil || len(in.Messages) != 2 || in.Messages[1].Round != 2 || in.Job.Usage.Output != 7 {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestAgentMessagesHaveALimit: a job takes as many as the plan allows.
func TestAgentMessagesHaveALimit(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j := w.agent(x)
	plan, _ := admin.AgentPlanOf(admin.PlanEnterprise)
	for range plan.Messages - 1 {
		w.message(x, j, "p")
	}
	_, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: j.ID, Prompt: "p"})
	want(t, err, admin.CodeBudget)
}

// TestCancelAgainstPublish: of a cancel and a Publish that begin at once, one
// wins and the other is refused.
func TestCancelAgainstPublish(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	for range 10 {
		w.Advance(time.Hour)
		j, _ := w.atWork(x)
		var cancelled, published error
		var wg sync.WaitGroup
		wg.Go(func() { _, cancelled = w.CancelAgentJob(w.ctx, x.caller, j.Project, j.ID, "") })
		wg.Go(func() { _, published = w.BeginAgentPublish(w.ctx, j.Current(), 1) })
		wg.Wait()
		codes := [2]string{admin.CodeOf(cancelled), admin.CodeOf(published)}
		if codes != [2]string{"", admin.CodeCancelled} && codes != [2]string{admin.CodePublishing, ""} {
			t.Errorf("cancel and publish: %q", codes)
		}
		want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeTemporary, ""), "")
	}
}

// TestAgentCommit: a repeated Publish makes the commit that the first one began.
func TestAgentCommit(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, _ := w.atWork(x)
	first := admin.AgentCommit{Parent: "c1", Branch: "bindery/x", When: begin}
	for _, c := range []admin.AgentCommit{first, {Parent: "c2", Branch: "bindery/y", When: begin.Add(time.Hour)}} {
		got, err := w.RecordAgentCommit(w.ctx, j.Current(), c)
		if err != nil || got != first {
			t.Errorf("%+v, %v", got, err)
		}
	}
	_, _, err := w.CompleteAgent(w.ctx, j.Current(), admin.AgentResult{PRLink: "javascript:alert(1)"})
	wantField(t, err, "prLink")
}

// TestAgentNotStarted: a round whose workflow could not be started stays queued
// and is started later by the same name.
func TestAgentNotStarted(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.runner.fail = fmt.Errorf("throttled")
	j := w.agent(x)
	w.runner.fail = nil
	var active []admin.AgentJob
	err := w.ActiveAgents(w.ctx, func(j admin.AgentJob) error {
		active = append(active, j)
		return w.RestartAgent(w.ctx, j.Current())
	})
	if err != nil || len(active) != 1 || active[0].ID != j.ID || len(w.runner.started) != 1 || w.runner.started[0] != j.ID+"-1" {
		t.Errorf("%v, %v, %v", active, w.runner.started, err)
	}
}

// TestFailAgentIn: a step fails its round as long as that is in the step's phase.
func TestFailAgentIn(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, _ := w.atWork(x)
	want(t, w.FailAgentIn(w.ctx, j.Current(), admin.AgentPreparing, admin.AgentEnd{Code: admin.CodeLoop}), admin.CodeSuperseded)
	if now := w.agentNow(j); now.Status != admin.AgentActive {
		t.Errorf("%+v", now)
	}
	for range 2 {
		want(t, w.FailAgentIn(w.ctx, j.Current(), admin.AgentWorking, admin.AgentEnd{Code: admin.CodeLoop}), "")
	}
	if now := w.agentNow(j); now.Status != admin.AgentFailed || now.Failure.Code != admin.CodeLoop {
		t.Errorf("%+v", now)
	}
}

// TestReturnAgent: a round is given back to Work as often as its reason allows, once for
// each turn, and forgets the commit that was recorded.
func TestReturnAgent(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, lease := w.atWork(x)
	ref := j.Current()
	moved := admin.AgentBase{Commit: "c2", Ref: "main", Manifest: "m2", Previous: "c2"}
	for n, c := range []struct {
		reason   admin.AgentReturnReason
		base     admin.AgentBase
		returned bool
	}{
		{admin.AgentRefused, admin.AgentBase{}, true},
		{admin.AgentConflicted, moved, true},
		{admin.AgentRefused, admin.AgentBase{}, false},
		{admin.AgentConflicted, admin.AgentBase{}, true},
		{admin.AgentConflicted, moved, false},
	} {
		turn := n + 1
		want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: turn, Object: fmt.Sprint(n), Seen: 1}), "")
		if unread, err := w.BeginAgentPublish(w.ctx, ref, 1); unread || err != nil {
			t.Fatal(unread, err)
		}
		if _, err := w.RecordAgentCommit(w.ctx, ref, admin.AgentCommit{ID: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
		before := w.agentNow(j)
		for range 2 {
			if returned, err := w.ReturnAgent(w.ctx, ref, admin.AgentReturn{Turn: turn, Reason: c.reason, Text: "again"}, c.base); returned != c.returned || err != nil {
				t.Errorf("turn %d: %t, %v", turn, returned, err)
			}
		}
		after := w.agentNow(j)
		in, err := w.AgentRound(w.ctx, ref)
		if err != nil {
			t.Fatal(err)
		}
		if !c.returned {
			if after.Phase != admin.AgentPublishing || len(after.Returns) != len(before.Returns) || in.Commit.ID != fmt.Sprint(n) {
				t.Errorf("turn %d: %+v with the commit %+v", turn, after, in.Commit)
			}
			// The next turn of this test needs Work.
			if returned, err := w.ReturnAgent(w.ctx, ref, admin.AgentReturn{Turn: turn, Reason: admin.AgentReturnReason(fmt.Sprint("test ", turn))}, admin.AgentBase{}); !returned || err != nil {
				t.Fatal(returned, err)
			}
			continue
		}
		wantBase := before.Base
		if c.base != (admin.AgentBase{}) {
			wantBase = c.base
		}
		if after.Phase != admin.AgentWorking || len(after.Returns) != len(before.Returns)+1 || after.Base != wantBase || in.Commit.ID != "" {
			t.Errorf("turn %d: %+v with the commit %+v", turn, after, in.Commit)
		}
	}
	want(t, w.FailAgent(w.ctx, ref, admin.CodeLoop, ""), "")
	if again := w.message(x, j, "go on"); again.Returns != nil {
		t.Errorf("the next round has %+v", again.Returns)
	}
}

// TestFailedRoundsAreSeen: the messages that a failed round has read are not the next
// round's, and the next one learns how it ended.
func TestFailedRoundsAreSeen(t *testing.T) {
	for _, c := range []struct {
		name   string
		read   int // by the model
		cancel bool
		end    admin.AgentEnd
		seen   int
	}{
		{"nothing was read", 0, false, admin.AgentEnd{Code: admin.CodeLoop, Message: "in a loop"}, 0},
		{"the first was read", 1, false, admin.AgentEnd{Code: admin.CodeLoop, Message: "in a loop"}, 1},
		{"the second was refused", 1, false, admin.AgentEnd{Code: "model_refused", Message: "no", Seen: 2, Refused: 2}, 2},
		{"cancelled", 1, true, admin.AgentEnd{Code: admin.CodeCancelled, Message: "the agent job was cancelled"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			x := w.tenant("docs.example.com")
			j, lease := w.atWork(x)
			if c.read > 0 {
				want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "a", Seen: c.read}), "")
			}
			w.message(x, j, "and this")
			base := w.agentNow(j).Base
			if c.cancel {
				if _, err := w.CancelAgentJob(w.ctx, x.caller, j.Project, j.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
			want(t, w.FailAgentIn(w.ctx, j.Current(), admin.AgentWorking, c.end), "")
			if got := w.agentNow(j).Seen; got != c.seen {
				t.Errorf("%d messages are seen, want %d", got, c.seen)
			}
			next := w.message(x, j, "go on")
			ends, err := w.AgentEnds(w.ctx, next.Current())
			expected := c.end
			expected.Round, expected.Base, expected.Seen = 1, base, c.seen
			if err != nil || len(ends) != 1 || !cmp.Equal(ends[0], expected) {
				t.Errorf("the rounds ended as %+v, %v, want %+v", ends, err, expected)
			}
			turns, err := w.EarlierAgentTurns(w.ctx, next.Current(), 1)
			if err != nil || len(turns) != min(c.read, 1) {
				t.Errorf("the first round has the turns %+v, %v", turns, err)
			}
		})
	}
}

// TestMergeAgent: a publishing round goes back to Review for so many different merges, in
// all of the round, unless another start of Publish has recorded a commit.
func TestMergeAgent(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, lease := w.atWork(x)
	ref := j.Current()
	merge := func(digest string, want admin.AgentMerge, again bool, code string) {
		t.Helper()
		got, is, err := w.MergeAgent(w.ctx, ref, admin.AgentMerge{Digest: digest, Manifest: "m" + digest})
		if admin.CodeOf(err) != code || err == nil && (got != want || is != again) {
			t.Fatalf("%+v, %t, %v, want %+v, %t, %q", got, is, err, want, again, code)
		}
	}
	merge("a", admin.AgentMerge{}, false, admin.CodeJobNotActive) // it works
	want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "1", Seen: 1}), "")
	if unread, err := w.BeginAgentPublish(w.ctx, ref, 1); unread || err != nil {
		t.Fatal(unread, err)
	}
	a := admin.AgentMerge{Digest: "a", Manifest: "ma", N: 1}
	merge("a", a, true, "")
	merge("a", a, true, "")
	if _, err := w.RecordAgentCommit(w.ctx, ref, admin.AgentCommit{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	merge("b", admin.AgentMerge{}, false, admin.CodeTemporary)
	want(t, w.ForgetAgentCommit(w.ctx, ref, "c"), "")
	merge("b", admin.AgentMerge{Digest: "b", Manifest: "mb", N: 2}, true, "")
	// A round that is given back has no merge any more, and as many as before.
	if returned, err := w.ReturnAgent(w.ctx, ref, admin.AgentReturn{Turn: 1, Reason: admin.AgentRefused, Text: "again"}, admin.AgentBase{}); !returned || err != nil {
		t.Fatal(returned, err)
	}
	if m := w.agentNow(j).Merge; m != (admin.AgentMerge{N: 2}) {
		t.Errorf("after a return: %+v", m)
	}
	want(t, w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 2, Object: "2", Seen: 1}), "")
	if unread, err := w.BeginAgentPublish(w.ctx, ref, 1); unread || err != nil {
		t.Fatal(unread, err)
	}
	last := admin.AgentMerge{Digest: "c", Manifest: "mc", N: 3}
	merge("c", last, true, "")
	merge("d", last, false, "")
	merge("c", last, true, "")
	// The next round has its own.
	if _, _, err := w.CompleteAgent(w.ctx, ref, admin.AgentResult{Seen: 1, Reviewed: "c"}); err != nil {
		t.Fatal(err)
	}
	again, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: j.ID, Prompt: "more"})
	if err != nil || again.Merge != (admin.AgentMerge{}) {
		t.Fatalf("%+v, %v", again.Merge, err)
	}
	ends, err := w.AgentEnds(w.ctx, again.Current())
	if err != nil || len(ends) != 1 || ends[0].Reviewed != "c" {
		t.Errorf("%+v, %v", ends, err)
	}
}
