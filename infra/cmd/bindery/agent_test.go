package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// rounds is a runner that plays a round by the rules of package admin, depending on
// the prompt: "nothing" changes nothing, "fail" exceeds its budget, "hang" works until
// it is cancelled, and all others open a pull request.
type rounds struct {
	rules *admin.Service
	ctx   context.Context
	wg    *sync.WaitGroup
}

func (r *rounds) Start(_ context.Context, _, _ string, input []byte) error {
	var ref admin.AgentRef
	if err := json.Unmarshal(input, &ref); err != nil {
		return err
	}
	r.wg.Go(func() {
		if err := r.play(ref); err != nil && r.ctx.Err() == nil {
			_ = r.rules.FailAgent(r.ctx, ref, admin.CodeOf(err), err.Error())
		}
	})
	return nil
}

func (r *rounds) Status(context.Context, string, string) (store.Execution, error) {
	return store.Execution{}, store.ErrNotFound
}

func (r *rounds) Stop(context.Context, string, string, string) error { return nil }

func (r *rounds) play(ref admin.AgentRef) error {
	in, err := r.rules.AgentRound(r.ctx, ref)
	if err != nil {
		return err
	}
	prompt := in.Messages[len(in.Messages)-1].Prompt
	if _, err := r.rules.BeginAgentRound(r.ctx, ref, admin.AgentBase{Commit: "c1", Ref: "main"}, admin.AgentEvent{
		Kind: admin.AgentEventPlan, Plan: []admin.AgentPlanItem{{Text: "find the links\x1b[2J", State: "done"}, {Text: "mend them", State: "active"}},
	}); err != nil {
		return err
	}
	lease, err := r.rules.LeaseAgentWork(r.ctx, ref)
	if err != nil {
		return err
	}
	usage := admin.AgentUsage{Input: 1200, CacheRead: 9000, Output: 300, Cost: 45_000}
	for n := 1; n == 1 || prompt == "hang"; n++ {
		if err := r.rules.PutAgentTurn(r.ctx, &lease, admin.AgentTurn{N: n, Object: "o", Seen: len(in.Messages), Model: "large-1", Usage: usage},
			admin.AgentEvent{Kind: admin.AgentEventTurn, Turn: n, Tools: []admin.AgentToolCall{
				{Name: "edit", File: "install.mdx", Outcome: "1 change"}, {Name: "delete", File: "x.mdx", Outcome: "no such file", Failed: true},
			}}, admin.AgentEvent{Kind: admin.AgentEventUsage, Usage: &usage}); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	if prompt == "fail" {
		return admin.Errorf(admin.CodeBudget, "60 turns were not enough")
	}
	if _, err := r.rules.BeginAgentPublish(r.ctx, ref, len(in.Messages)); err != nil {
		return err
	}
	result := admin.AgentResult{Seen: len(in.Messages)}
	result.Title, result.Summary, result.Question = "Answer", "The port is 8080.\n\nIt says so twice.", "Which of the two?"
	if prompt != "nothing" {
		result.Title, result.Question, result.Unfinished = "Mend\x1b[2J the links", "", true
		result.Review.Findings = []string{"a.mdx:3: warning: /gone leads nowhere"}
		result.Pages = []admin.AgentPage{{Path: "a.mdx", Change: admin.AgentPageChanged}, {Path: "c.mdx", Change: admin.AgentPageMoved, From: "b.mdx"}}
		result.PRLink, result.PRNumber, result.Branch = "https://git.example.com/docs/pull/17", 17, "bindery/"+ref.Job
		result.Changes = admin.AgentChanges{Files: 2, Added: 10, Removed: 3}
	}
	_, _, err = r.rules.CompleteAgent(r.ctx, ref, result)
	return err
}

// agents starts an API with rounds as its runner and sets the environment for it.
func agents(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: agents")
	}
	ctx, cancel := context.WithCancel(context.Background())
	l, err := local.Open(ctx, local.Options{Dir: ts.MkAbs("agents")})
	ts.Check(err)
	runner := &rounds{ctx: ctx, wg: &sync.WaitGroup{}}
	known := func() []admin.AgentModel {
		return []admin.AgentModel{
			{Name: "best", Model: "large-1", Default: true, Context: 200_000, Output: 8000, Price: admin.AgentPrice{Input: 2_000_000, Output: 10_500_000}},
			{Name: "local", Model: "small-1", Context: 65_536, Output: 4096},
		}
	}
	ready := func(context.Context, admin.Project, string) (string, error) { return "best", nil }
	runner.rules = admin.New(admin.Options{Store: l.Store(), Runner: runner, AgentReady: ready, AgentModels: known, PollAfter: time.Millisecond})
	o, err := runner.rules.CreateOrganisation(ctx, admin.Organisation{Name: "Example", Plan: admin.PlanPro})
	ts.Check(err)
	p, err := runner.rules.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"})
	ts.Check(err)
	_, secret, err := runner.rules.CreateKey(ctx, admin.KeyRequest{Organisation: o.ID, Name: "k"})
	ts.Check(err)
	server := httptest.NewServer(api.Handler(api.Options{Admin: runner.rules}))
	ts.Defer(func() {
		server.Close()
		cancel()
		runner.wg.Wait()
		_ = l.Close(context.Background())
	})
	ts.Setenv("BINDERY_URL", server.URL)
	ts.Setenv("BINDERY_ADMIN_KEY", secret)
	ts.Setenv("BINDERY_PROJECT", p.ID)
	ts.Setenv("SECRET", strings.TrimSpace(secret))
}
