package agenttasks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	// Write makes a commit on a branch, which it makes if it is not there. A file with
	// an empty text goes.
	Write(branch string, files map[string]string) string
	// MergeBranch makes a commit on a branch, with its files, that also follows another
	// branch.
	MergeBranch(branch, other string)
	// Tag makes a tag of a branch; with a message an annotated one.
	Tag(name, branch, message string)
	// Merge merges a pull request, Close closes one.
	Merge(number int)
	Close(number int)
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
	r.people.FetchFrom(r.git(), branch)
	id := r.people.Write(branch, files)
	r.people.PushTo(r.git(), branch)
	return id
}

func (r *remote) MergeBranch(branch, other string) {
	r.people.FetchFrom(r.git(), branch)
	r.people.FetchFrom(r.git(), other)
	r.people.MergeBranch(branch, other)
	r.people.PushTo(r.git(), branch)
}

// Tag makes a tag, and moves the one that an earlier try has made.
func (r *remote) Tag(name, branch, message string) {
	r.people.FetchFrom(r.git(), branch)
	r.people.Tag(name, branch, message)
	r.people.PushTag(r.git(), name)
}

// git is the address to which Git pushes, with the token.
func (r *remote) git() string {
	u, err := url.Parse(r.url)
	if err != nil {
		r.tb.Fatal(err)
	}
	u.User = url.UserPassword(r.user, r.token)
	return u.String() + ".git"
}

func (r *remote) Merge(number int) {
	switch forge.Kind(r.kind) {
	case forge.GitHub:
		r.rest(http.MethodPut, "/pulls/%d/merge", number, map[string]string{})
	case forge.GitLab:
		r.rest(http.MethodPut, "/merge_requests/%d/merge", number, map[string]string{})
	default:
		r.rest(http.MethodPost, "/pulls/%d/merge", number, map[string]string{"Do": "merge"})
	}
}

func (r *remote) Close(number int) {
	if forge.Kind(r.kind) == forge.GitLab {
		r.rest(http.MethodPut, "/merge_requests/%d", number, map[string]string{"state_event": "close"})
		return
	}
	r.rest(http.MethodPatch, "/pulls/%d", number, map[string]string{"state": "closed"})
}

// restBase is the address of a repository in the REST interface of its forge.
func (r *remote) restBase() string {
	u, err := url.Parse(r.url)
	if err != nil {
		r.tb.Fatal(err)
	}
	path := strings.TrimPrefix(u.Path, "/")
	switch forge.Kind(r.kind) {
	case forge.GitHub:
		if u.Host == "github.com" {
			return "https://api.github.com/repos/" + path
		}
		return u.Scheme + "://" + u.Host + "/api/v3/repos/" + path
	case forge.GitLab:
		return u.Scheme + "://" + u.Host + "/api/v4/projects/" + url.PathEscape(path)
	}
	return u.Scheme + "://" + u.Host + "/api/v1/repos/" + path
}

// rest changes a pull request, as people do. A forge that looks first whether it can be
// merged is asked again.
func (r *remote) rest(method, path string, number int, in map[string]string) {
	r.tb.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		r.tb.Fatal(err)
	}
	address := r.restBase() + fmt.Sprintf(path, number)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		req, err := http.NewRequestWithContext(r.tb.Context(), method, address, bytes.NewReader(body))
		if err != nil {
			r.tb.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+r.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			r.tb.Fatal(err)
		}
		said, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		if err = errors.Join(err, res.Body.Close()); err != nil {
			r.tb.Fatal(err)
		}
		switch {
		case res.StatusCode < 300:
			return
		case res.StatusCode != http.StatusMethodNotAllowed || time.Now().After(deadline):
			r.tb.Fatalf("%s %s: %s: %s", method, address, res.Status, said)
		}
	}
}

// idle is a runner that starts nothing: the test runs the workflow itself.
type idle struct{}

func (idle) Start(context.Context, string, string, []byte) error { return nil }
func (idle) Status(context.Context, string, string) (store.Execution, error) {
	return store.Execution{}, store.ErrNotFound
}
func (idle) Stop(context.Context, string, string, string) error { return nil }

// ran is a task that was run: what came of its rounds, up to the first one that is not
// done.
type ran struct {
	*judge
	turns int // of all rounds, as usage
	usage admin.AgentUsage
}

// run asks for a task's changes and carries the rounds of the job through the steps of
// the workflow, from a repository on a forge to the pull request. It ends with the first
// round that is not done: what comes after would cost and say nothing.
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
	d := &desk{tb: tb, on: h, base: t.site(tb), name: fmt.Sprintf("task/%s-%d", t.name, time.Now().UnixNano())}
	h.Write(d.name, d.base)

	o, err := a.CreateOrganisation(ctx, admin.Organisation{Name: "Tasks", Plan: admin.PlanPro})
	if err != nil {
		tb.Fatal(err)
	}
	settings := t.set
	settings.MaxTurns, settings.MaxCost = cmp.Or(t.turns, defaultTurns), cmp.Or(t.cost, defaultCost)
	p, err := a.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: domain, Repository: repository.URL, Agent: settings})
	if err != nil {
		tb.Fatal(err)
	}
	caller := admin.Caller{OrganisationID: o.ID, Plan: o.Plan}
	out := ran{judge: newJudge(tb, t)}
	var j admin.AgentJob
	for n, r := range t.rounds() {
		before := d.begin(r)
		turns, spent := j.Turns, j.Usage.Cost
		if n == 0 {
			j, err = a.StartAgentJob(ctx, caller, admin.StartAgentJob{Project: p.ID, Prompt: r.prompt, Ref: d.name, Attachments: r.attached})
		} else {
			j, err = a.MessageAgentJob(ctx, caller, admin.MessageAgentJob{Project: p.ID, Job: j.ID, Prompt: r.prompt, Attachments: r.attached})
		}
		if err != nil {
			tb.Fatal(err)
		}
		if err := workflow(ctx, a, l.Objects(), j.Current(), fetches.Tasks(), works.Tasks(), reviews.Tasks()); err != nil {
			tb.Log("the workflow ended with", err)
		}
		if j, err = a.AgentJob(ctx, caller, p.ID, j.ID); err != nil {
			tb.Fatal(err)
		}
		end := outcome{before: before, after: before, status: j.Status, link: j.PRLink, summary: j.Summary, question: j.Question,
			findings: j.Review.Findings, turns: j.Turns - turns, cost: j.Usage.Cost - spent}
		if j.Failure != nil {
			end.failure = j.Failure.Code
			tb.Log(j.Failure.Message)
		}
		if j.PRNumber != 0 {
			pull, err := client.Pull(ctx, repository, j.PRNumber)
			if err != nil {
				tb.Fatal(err)
			}
			end.title, end.body, end.draft, end.sources = pull.Title, pull.Body, pull.Draft, sourcesIn(pull.Body)
			if pull.State == forge.Open {
				end.after = fetched(tb, client, repository, j.Branch)
				d.publish(end.after, j.Branch, j.PRNumber)
			}
		}
		out.turns, out.usage = j.Turns, j.Usage
		if !out.round(end) {
			break
		}
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
			for _, call := range e.Tools {
				tb.Logf("round %d, turn %d: %s %s: %s", e.Round, e.Turn, call.Name, call.File, call.Outcome)
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
