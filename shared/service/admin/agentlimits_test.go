package admin_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Amounts are written exactly, as cents where they are whole ones.
func TestUSDollars(t *testing.T) {
	for micros, want := range map[int64]string{
		0: "$0.00", 1: "$0.000001", 4500: "$0.0045", 300_000: "$0.30", 386_120: "$0.38612", 20_000_000: "$20.00", 18_300_000: "$18.30",
	} {
		if got := admin.USDollars(micros); got != want {
			t.Errorf("%d is %s, want %s", micros, got, want)
		}
	}
}

// Two jobs have different names as soon as they were asked different things.
func TestNameOfAnAgentJob(t *testing.T) {
	for _, c := range []struct {
		job  admin.AgentJob
		want string
	}{
		{admin.AgentJob{}, ""},
		{admin.AgentJob{Prompt: "\n Mend the links\nof all pages"}, "Mend the links"},
		{admin.AgentJob{Prompt: "Mend the links", Title: "docs: mend"}, "docs: mend"},
		{admin.AgentJob{Prompt: strings.Repeat("ä", 81)}, strings.Repeat("ä", 80) + "…"},
	} {
		if got := c.job.Name(); got != c.want {
			t.Errorf("%+v is called %q, want %q", c.job, got, c.want)
		}
	}
}

// A message answers the question of the round before: the job asks it no longer, and
// says what it said until the next round is completed.
func TestAMessageAnswersTheQuestion(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "Say which port is right"})
	if err != nil {
		t.Fatal(err)
	}
	moves := w.agentMoves(x)
	for _, move := range []string{"prepare", "begin", "publish"} {
		if err := moves[move](j.Current()); err != nil {
			t.Fatal(err)
		}
	}
	asked := admin.AgentResult{Seen: 1, Title: "Which port?", Summary: "There are two.", Question: strings.Repeat("8080 or 9090? ", 500), Unfinished: true}
	if _, _, err := w.CompleteAgent(w.ctx, j.Current(), asked); err != nil {
		t.Fatal(err)
	}
	if j = w.agentNow(j); j.Title != "Which port?" || !strings.HasPrefix(j.Question, "8080 or 9090?") || len(j.Question) > 4010 || !j.Unfinished {
		t.Errorf("after the round: %+v", j)
	}
	if _, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: x.project.ID, Job: j.ID, Prompt: "The second"}); err != nil {
		t.Fatal(err)
	}
	if j = w.agentNow(j); j.Question != "" || j.Unfinished || j.Summary != "There are two." || j.Prompt != "Say which port is right" {
		t.Errorf("after the message: %+v", j)
	}
}

// Prefixes are those that every forge takes for names of branches, and titles have one
// line.
func TestPrefixesOfAgents(t *testing.T) {
	for _, c := range []struct {
		set  admin.AgentSettings
		good bool
	}{
		{admin.AgentSettings{}, true},
		{admin.AgentSettings{BranchPrefix: "docs/ai-", TitlePrefix: "docs(agent): "}, true},
		{admin.AgentSettings{BranchPrefix: "a.b/"}, true},
		{admin.AgentSettings{BranchPrefix: "/a"}, false},
		{admin.AgentSettings{BranchPrefix: "-a"}, false},
		{admin.AgentSettings{BranchPrefix: "a//"}, false},
		{admin.AgentSettings{BranchPrefix: "a../b"}, false},
		{admin.AgentSettings{BranchPrefix: "a@b/"}, false},
		{admin.AgentSettings{BranchPrefix: "a b"}, false},
		{admin.AgentSettings{BranchPrefix: strings.Repeat("a", 51)}, false},
		{admin.AgentSettings{TitlePrefix: "a\nb"}, false},
		{admin.AgentSettings{TitlePrefix: strings.Repeat("a", 51)}, false},
	} {
		if err := (admin.Configuration{Kind: admin.KindCloud, Agent: c.set}).Check(); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.set, err)
		}
	}
}
