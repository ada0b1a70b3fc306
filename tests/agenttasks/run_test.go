package agenttasks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/pull"
	"github.com/bindery-docs/bindery/shared/service/agent/review"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// host is a forge with one repository.
type host interface {
	Repository() forge.Repository
	Options() forge.Options
	// Write makes a commit on a branch, which it makes if it is not there.
	Write(branch string, files map[string]string) string
}

// remote is a repository of a forge that somebody runs, which has to be there.
// Commits are made in a fake and pushed from there.
type remote struct {
	tb                     testing.TB
	url, kind, user, token string
	people                 *forgetest.Fake
}

// newHost is the forge that the environment names, else a fake one.
func newHost(tb testing.TB) host {
	tb.Helper()
	address := os.Getenv("FORGE_URL")
	if address == "" {
		return forgetest.New(tb)
	}
	user := os.Getenv("FORGE_USER")
	repository := cmp.Or(os.Getenv("FORGE_REPOSITORY"), user+"/agent-tasks")
	return &remote{
		tb: tb, url: strings.TrimSuffix(address, "/") + "/" + repository, kind: cmp.Or(os.Getenv("FORGE_KIND"), "gitea"),
		user: user, token: os.Getenv("FORGE_TOKEN"), people: forgetest.New(tb),
	}
}

func (r *remote) Repository() forge.Repository {
	repository, err := forge.ParseRepository(r.url, forge.Kind(r.kind), "")
	if err != nil {
		r.tb.Fatal(err)
	}
	return repository
}

func (r *remote) Options() forge.Options {
	u, err := url.Parse(r.url)
	if err != nil {
		r.tb.Fatal(err)
	}
	return forge.Options{
		Credentials: forge.Static(forge.Credential{Username: r.user, Token: r.token}), AllowHosts: []string{u.Host},
		AllowPrivate: []string{u.Host}, AllowHTTP: u.Scheme == "http", TempDir: r.tb.TempDir(),
	}
}

func (r *remote) Write(branch string, files map[string]string) string {
	id := r.people.Write(branch, files)
	u, err := url.Parse(r.url)
	if err != nil {
		r.tb.Fatal(err)
	}
	u.User = url.UserPassword(r.user, r.token)
	r.people.PushTo(u.String()+".git", branch)
	return id
}

// idle is a runner that starts nothing: the test runs the workflow itself.
type idle struct{}

func (idle) Start(context.Context, string, string, []byte) error { return nil }
func (idle) Status(context.Context, string, string) (store.Execution, error) {
	return store.Execution{}, store.ErrNotFound
}
func (idle) Stop(context.Context, string, string, string) error { return nil }

// ran is a task that was run.
type ran struct {
	outcome
	turns int
	usage admin.AgentUsage
}

// run asks for a task's change and carries the job through the steps of the
// workflow, from a repository on a forge to the pull request.
func run(tb testing.TB, t task, h host, m model.Choice) ran {
	tb.Helper()
	ctx := tb.Context()
	l, err := local.Open(ctx, local.Options{Dir: tb.TempDir(), BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close(context.Background()) })
	a := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: idle{},
		AgentReady: func(context.Context, admin.Project, string) (string, error) { return "asked", nil }})
	client, err := forge.New(h.Options())
	if err != nil {
		tb.Fatal(err)
	}
	repository := h.Repository()
	fetches, err := pull.New(pull.Options{
		Admin: a, Objects: l.Objects(),
		Forge: func(context.Context, admin.Project) (*forge.Forge, forge.Repository, error) {
			return client, repository, nil
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	works, err := agent.New(agent.Options{
		Admin: a, Objects: l.Objects(), Model: func(string) (model.Choice, error) { return m, nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	reviews, err := review.New(review.Options{Admin: a, Objects: l.Objects()})
	if err != nil {
		tb.Fatal(err)
	}
	branch := fmt.Sprintf("task/%s-%d", t.name, time.Now().UnixNano())
	before := t.site(tb)
	h.Write(branch, before)

	o, err := a.CreateOrganisation(ctx, admin.Organisation{Name: "Tasks", Plan: admin.PlanPro})
	if err != nil {
		tb.Fatal(err)
	}
	p, err := a.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: domain, Repository: repository.URL, Agent: admin.AgentSettings{
		MaxTurns: cmp.Or(t.turns, defaultTurns), MaxCost: cmp.Or(t.cost, defaultCost),
	}})
	if err != nil {
		tb.Fatal(err)
	}
	caller := admin.Caller{OrganisationID: o.ID, Plan: o.Plan}
	j, err := a.StartAgentJob(ctx, caller, admin.StartAgentJob{Project: p.ID, Prompt: t.prompt, Ref: branch})
	if err != nil {
		tb.Fatal(err)
	}
	if err := workflow(ctx, a, l.Objects(), j.Current(), fetches.Tasks(), works.Tasks(), reviews.Tasks()); err != nil {
		tb.Log("the workflow ended with", err)
	}
	if j, err = a.AgentJob(ctx, caller, p.ID, j.ID); err != nil {
		tb.Fatal(err)
	}
	out := ran{outcome{before: before, after: before, status: j.Status, link: j.PRLink}, j.Turns, j.Usage}
	if j.Failure != nil {
		out.failure = j.Failure.Code
		tb.Log(j.Failure.Message)
	}
	if j.PRNumber != 0 {
		out.after = fetched(tb, client, repository, j.Branch)
		pull, err := client.Pull(ctx, repository, j.PRNumber)
		if err != nil {
			tb.Fatal(err)
		}
		out.title = pull.Title
	}
	for cursor := ""; ; {
		events, next, err := a.AgentEvents(ctx, caller, p.ID, j.ID, cursor, 100)
		if err != nil {
			tb.Fatal(err)
		}
		if next == cursor || len(events) == 0 {
			return out
		}
		cursor = next
		for _, e := range events {
			if e.Kind == admin.AgentEventNote {
				out.answer = e.Text // the last one is what the model said at the end
			}
			for _, call := range e.Tools {
				tb.Logf("turn %d: %s %s: %s", e.Turn, call.Name, call.File, call.Outcome)
			}
		}
	}
}

// steps are tasks of a workflow by their names.
type steps = map[string]func(context.Context, json.RawMessage) (json.RawMessage, error)

// workflow runs the definition of the agent's workflow on steps.
func workflow(ctx context.Context, a *admin.Service, o store.Objects, ref admin.AgentRef, all ...steps) error {
	definition, err := job.AgentDefinition(job.ByName)
	if err != nil {
		return err
	}
	machine, err := asl.Load(definition)
	if err != nil {
		return err
	}
	input, err := json.Marshal(ref)
	if err != nil {
		return err
	}
	keeper := job.NewKeeper(job.Options{Admin: a, Objects: o})
	tasks := map[string]asl.Task{job.TaskAgentFail: job.Task(job.Silent(keeper.FailAgent))}
	for _, s := range all {
		for name, fn := range s {
			tasks[name] = fn
		}
	}
	_, err = machine.Run(ctx, ref.Execution(), input, asl.Options{Tasks: tasks, Sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	return err
}

// fetched is the tree of a branch on a forge.
func fetched(tb testing.TB, f *forge.Forge, r forge.Repository, branch string) files {
	tb.Helper()
	tree, err := f.Fetch(tb.Context(), r, branch)
	if err != nil {
		tb.Fatal(err)
	}
	defer tree.Close()
	out := files{}
	for file := range tree.Files() {
		content, err := tree.Open(tb.Context(), file.Path)
		if err != nil {
			tb.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err = errors.Join(err, content.Close()); err != nil {
			tb.Fatal(err)
		}
		out[file.Path] = string(text)
	}
	return out
}
