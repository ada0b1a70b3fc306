package admin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// The further repositories of a project are a list of names with addresses.
func TestAgentRepositories(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("?=https://git.example.com/acme/x, ", admin.MaxAgentRepositories+1), ", ")
	for n := range admin.MaxAgentRepositories + 1 {
		many = strings.Replace(many, "?", "r"+strings.Repeat("a", n), 1)
	}
	for _, c := range []struct {
		list string
		want []admin.AgentRepository
		err  string
	}{
		{"", nil, ""},
		{" cli = https://git.example.com/acme/cli , sdk-2=http://git.example.com/sdk", []admin.AgentRepository{{Name: "cli", URL: "https://git.example.com/acme/cli"}, {Name: "sdk-2", URL: "http://git.example.com/sdk"}}, ""},
		{"https://git.example.com/acme/cli", nil, "must have the form name="},
		{"repo=https://git.example.com/acme/cli", nil, "can't be a name"},
		{"attachment=https://git.example.com/acme/cli", nil, "can't be a name"},
		{"a@b=https://git.example.com/acme/cli", nil, "can't be a name"},
		{"cli=https://a.example.com/x/y,cli=https://b.example.com/x/y", nil, `has two repositories "cli"`},
		{"cli=https://user:secret@git.example.com/acme/cli", nil, "cli must have the address of a repository"},
		{"cli=file:///etc", nil, "cli must have the address of a repository"},
		{"cli=https://git.example.com", nil, "cli must have the address of a repository"},
		{"cli=https://git.example.com/acme/cli?x=1", nil, "cli must have the address of a repository"},
		{"cli=https://git.example.com/acme/cli#readme", nil, "cli must have the address of a repository"},
		{many, nil, "at most 20 repositories"},
	} {
		got, err := admin.AgentRepositories(c.list)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.80q is %v, %v; want %v, %q", c.list, got, err, c.want, c.err)
		}
	}
}

// A turn asks for commits, each is recorded once, and the next round has none.
func TestAgentFetches(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j, lease := w.atWork(x)
	turn := admin.AgentTurn{N: 1, Object: "agents/x/1/turn-a", Fetches: []admin.AgentFetch{{Name: "repo", Ref: "v1", Label: "repo@v1"}, {Name: "cli", Ref: "main", Label: "cli@main"}}}
	for range 2 { // the second time, it is written already
		if err := w.PutAgentTurn(w.ctx, &lease, turn); err != nil {
			t.Fatal(err)
		}
	}
	record := func(n int, f admin.AgentFetch) {
		t.Helper()
		if err := w.FetchedAgent(w.ctx, j.Current(), n, f, admin.AgentEvent{Kind: admin.AgentEventNote, Text: "fetched"}); err != nil {
			t.Fatal(err)
		}
	}
	now := func() admin.AgentJob {
		t.Helper()
		j, err := w.FindAgentJob(w.ctx, j.Project, j.ID)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	if got := now(); len(got.Fetches) != 2 || got.Fetches[1].Turn != 1 || !got.PendingFetch() {
		t.Errorf("it asked for %+v", got.Fetches)
	}
	record(0, admin.AgentFetch{Name: "repo", Ref: "v1", Label: "repo@v1", Commit: "abc", Manifest: "agents/x/1/commit-a"})
	record(0, admin.AgentFetch{Name: "repo", Ref: "v1", Label: "repo@v1", Commit: "def", Manifest: "agents/x/1/commit-b"})
	record(1, admin.AgentFetch{Name: "cli", Ref: "main", Label: "cli@main", Refused: "it is not there" + strings.Repeat("!", 1000)})
	record(2, admin.AgentFetch{Refused: "nobody asked for it"})
	got := now()
	if got.Fetches[0].Commit != "abc" || got.Fetches[0].Turn != 1 || len(got.Fetches[1].Refused) > 303 || !strings.HasPrefix(got.Fetches[1].Refused, "it is not there!") || got.PendingFetch() || len(got.Fetches) != 2 {
		t.Errorf("it has %+v", got.Fetches)
	}
	events, _, err := w.AgentEvents(w.ctx, x.caller, j.Project, j.ID, "", 100)
	notes := 0
	for _, e := range events {
		if e.Text == "fetched" {
			notes++
		}
	}
	if err != nil || notes != 2 {
		t.Errorf("%d notes, %v", notes, err)
	}
	if err := w.FailAgent(w.ctx, j.Current(), "budget", "all turns are used up"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: j.Project, Job: j.ID, Prompt: "Go on"}); err != nil {
		t.Fatal(err)
	}
	if got := now(); got.Round != 2 || len(got.Fetches) != 0 {
		t.Errorf("round %d has %+v", got.Round, got.Fetches)
	}
}
