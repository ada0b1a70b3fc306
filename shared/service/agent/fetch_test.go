package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// released is a repository with docs in a folder and code beside it: v1.4, then two
// commits, then v1.5, which main is at.
func released(w *world) {
	w.forge.Write("main", with(below("docs", site()), "src/flags.py", "OLD = \"--old\"\n", ".env", "OLD=1\n"))
	w.forge.Tag("v1.4", "main", "")
	w.forge.Write("main", map[string]string{"src/flags.py": "NEW = \"--new\"\nKEY = \"ghp_" + strings.Repeat("a1B2", 9) + "\"\n", ".env": "OLD=2\n"})
	w.forge.Tag("v1.5", "main", "The fifth")
}

// fetches calls the tool fetch.
func fetches(in args) modeltest.Step { return modeltest.Calls(call("fetch", in)) }

// An agent fetches commits of the repository and of those that the settings name, reads
// them, and names them as sources. What it may not fetch, or what is not there, it is
// told.
func TestFetch(t *testing.T) {
	on := admin.NewAgentSettings()
	cli := admin.AgentSettings{Repositories: "cli=https://git.example.com/acme/cli, none=https://git.example.com/none"}
	for _, c := range []struct {
		name   string
		set    admin.AgentSettings
		script script
		want   expected
	}{
		{name: "what changed since a release", set: on, script: steps(
			overview("history lists its last 3 commits and its tags (2, the newest: v1.5, v1.4)", modeltest.Calls(call("history", args{"since": "v1.4"}))),
			told("(tags: v1.5)", fetches(args{"ref": "v1.4"})),
			told("repo@v1.4 is fetched, commit ", modeltest.Calls(call("diff", args{"from": "repo@v1.4"}))),
			told("-OLD = \"--old\"\n+NEW = \"--new\"\n+KEY = \"(masked: a token of GitHub)\"", modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "run it", "new": "run it with `--new`"}))),
			modeltest.Calls(call("finish", args{"title": "The new flag", "summary": "See v1.4.", "sources": []args{{"statement": "The flag was --old.", "path": "repo@v1.4:src/flags.py", "line": 1}}}))),
			want: expected{pulls: 1, turns: 5, body: []string{"The flag was --old. ([`repo@v1.4:src/flags.py:1`](", "/src/flags.py#L1))"}}},
		{name: "two commits in a turn, and a folder", set: on, script: steps(
			modeltest.Calls(call("fetch", args{"ref": "v1.4", "path": "src"}), call("fetch", args{"ref": "v1.5", "path": "/src/"})),
			told("repo@v1.4:src is fetched, commit ", modeltest.Calls(call("list", args{"path": "repo@v1.4:"}))),
			told("repo@v1.4:src/flags.py (14 bytes)\n", modeltest.Calls(call("diff", args{"from": "repo@v1.4", "to": "repo@v1.5", "path": "src"}))),
			told("From repo@v1.4 to repo@v1.5: 1 file, +2 -1", done("Nothing"))), want: expected{turns: 4}},
		{name: "another part of a commit", set: on, script: steps(
			fetches(args{"ref": "main", "path": "src"}), fetches(args{"ref": "main", "path": "docs"}),
			told("repo@main:docs is fetched", modeltest.Calls(call("read", args{"path": "repo@main:docs/index.mdx"}))), told("title: Welcome", done("Nothing"))), want: expected{turns: 4}},
		{name: "not there", set: on, script: steps(
			fetches(args{"ref": "v9"}), told("repo@v9 was not fetched: ", modeltest.Calls(call("read", args{"path": "repo@v9:a"}))),
			told("is not fetched", fetches(args{"ref": "v1.4", "path": "lib"})), told("has no file or folder lib", done("Nothing"))), want: expected{turns: 4}},
		{name: "reading the repository is off", script: steps(fetches(args{"ref": "v1.4"}), told("unknown tool", done("Nothing"))), want: expected{turns: 2}},
		{name: "another repository", set: cli, script: steps(
			overview("fetch also gets these repositories: cli (https://git.example.com/acme/cli), none", fetches(args{"ref": "v1.4"})),
			told("the project's settings allow to read the site's folder alone", fetches(args{"repository": "sdk", "ref": "v1.4"})),
			told("is not one that the project's settings name: cli, none", fetches(args{"repository": "cli", "ref": "v1.4"})),
			told("cli@v1.4 is fetched", modeltest.Calls(call("search", args{"pattern": "OLD", "path": "cli@v1.4:"}))),
			told("1 matching line in 1 file\ncli@v1.4:src/flags.py:1: OLD", fetches(args{"repository": "none", "ref": "main"})),
			told("none@main was not fetched: ", done("Nothing"))), want: expected{turns: 6}},
		{name: "finish in the turn of a fetch", set: on, script: steps(
			modeltest.Calls(call("fetch", args{"ref": "v1.4"}), finish("Nothing")), told("you asked for a commit", done("Nothing"))), want: expected{turns: 2}},
		{name: "fetch after finish", set: on, script: steps(
			modeltest.Calls(finish("Nothing"), call("fetch", args{"ref": "v1.4"})), told("repo@v1.4 is fetched", done("Nothing"))), want: expected{turns: 2}},
		{name: "the last turn", set: admin.AgentSettings{ReadRepository: true, MaxTurns: 1}, script: steps(fetches(args{"ref": "v1.4"})), want: expected{code: admin.CodeBudget, turns: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.configure(c.set)
			released(w)
			j := w.run(w.ask("Describe the flags"))
			w.end(j, c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
			if c.want.code == admin.CodeBudget && len(j.Fetches) > 0 {
				t.Errorf("the last turn fetched %+v", j.Fetches)
			}
		})
	}
}

// A round may fetch so many commits, whether they are there or not. The next round may
// fetch again, and has those of the round before no more.
func TestFetchesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.configure(admin.NewAgentSettings())
	released(w)
	for n := range admin.MaxAgentFetches {
		w.model.Add(fetches(args{"ref": "none-" + string(rune('a'+n))}))
	}
	w.model.Add(fetches(args{"ref": "v1.4"}))
	w.model.Add(told("has fetched as many commits as it may", done("Nothing")))
	j := w.run(w.ask("Describe the flags"))
	w.end(j, expected{})
	w.model.Add(fetches(args{"ref": "v1.4"}), told("is fetched", done("Nothing")))
	if j = w.run(w.message(j, "Again")); j.Status != admin.AgentCompleted || len(j.Fetches) != 1 || w.model.Left() > 0 {
		t.Errorf("the job is %+v (%+v), %d steps are left", j, j.Failure, w.model.Left())
	}
}

// Between the call of fetch and Prepare, settings change and jobs are cancelled: then
// nothing is fetched.
func TestBeforeTheFetch(t *testing.T) {
	cli := admin.AgentSettings{Repositories: "cli=https://git.example.com/acme/cli"}
	for _, c := range []struct {
		name    string
		set     admin.AgentSettings
		fetch   args
		before  func(w *world, j admin.AgentJob)
		refused string // "" if Prepare never came to the commit
	}{
		{"the repository is no longer named", cli, args{"repository": "cli", "ref": "v1.4"}, func(w *world, j admin.AgentJob) {
			w.configure(admin.AgentSettings{Repositories: "sdk=https://git.example.com/acme/sdk"})
			w.at(job.TaskAgentWork, func() { w.cancel(j) })
		}, "the project's settings name no repository cli"},
		{"the repository may no longer be read", admin.NewAgentSettings(), args{"ref": "v1.4"}, func(w *world, j admin.AgentJob) {
			w.configure(admin.AgentSettings{})
			w.at(job.TaskAgentWork, func() { w.cancel(j) })
		}, "the project's settings allow to read the site's folder alone"},
		{"cancelled", cli, args{"repository": "cli", "ref": "v1.4"}, func(w *world, j admin.AgentJob) { w.cancel(j) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, fetches(c.fetch))
			w.configure(c.set)
			released(w)
			j, n := w.ask("Describe the flags"), 0
			_ = w.around(job.TaskAgentPrepare, func() {
				if n++; n == 2 {
					c.before(w, j)
				}
			}, j)
			j = w.job(j.ID)
			if j.Failure == nil || j.Failure.Code != admin.CodeCancelled || n != 2 {
				t.Errorf("the job is %+v (%+v); Prepare ran %d times", j, j.Failure, n)
			}
			if f := j.Fetches; len(f) != 1 || f[0].Commit != "" || f[0].Refused != c.refused || j.PendingFetch() != (c.refused == "") {
				t.Errorf("it fetched %+v", f)
			}
		})
	}
}

// A branch that moves between two parts of a commit does not mix two commits.
func TestPartsOfOneCommit(t *testing.T) {
	w := newWorld(t, fetches(args{"ref": "main", "path": "src"}))
	w.configure(admin.NewAgentSettings())
	released(w)
	w.model.Add(fetches(args{"ref": "main", "path": "docs"}).When(func(model.Request) error {
		w.forge.Write("main", map[string]string{"docs/index.mdx": "moved"})
		return nil
	}), told("repo@main:docs is fetched", done("Nothing")))
	if f := w.run(w.ask("Describe the flags")).Fetches; len(f) != 2 || f[0].Commit == "" || f[0].Commit != f[1].Commit {
		t.Errorf("it fetched %+v", f)
	}
}

// around runs the workflow of a job, with something done before each call of a task.
func (w *world) around(task string, before func(), j admin.AgentJob) error {
	w.t.Helper()
	tasks := w.tasks(w.steps)
	run := tasks[task]
	tasks[task] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
		before()
		return run(ctx, in)
	}
	return w.execute(w.ctx, j.Current(), tasks)
}

// A fetch that breaks off is made again: Prepare runs until the commit is recorded, the
// model is asked no turn twice, and what it was told is in its conversation once.
func TestFetchBreaksOff(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(w *world, n int, run asl.Task) asl.Task // of the nth call of Prepare, from 1
	}{
		{"before", func(_ *world, n int, run asl.Task) asl.Task {
			if n != 2 {
				return run
			}
			return func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("killed") }
		}},
		{"after", func(_ *world, n int, run asl.Task) asl.Task {
			if n != 2 {
				return run
			}
			return func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
				_, err := run(ctx, in)
				return nil, errors.Join(errors.New("killed"), err)
			}
		}},
		{"the forge is away once", func(w *world, n int, run asl.Task) asl.Task {
			if n == 2 {
				w.forge.FailNext(forgetest.Refs, forgetest.Status(503, ""))
			}
			return run
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, fetches(args{"ref": "v1.4"}))
			w.configure(admin.NewAgentSettings())
			released(w)
			w.model.Add(told("repo@v1.4 is fetched", modeltest.Calls(call("read", args{"path": "repo@v1.4:src/flags.py"}))).When(func(model.Request) error { w.Advance(agent.Segment); return nil }))
			w.model.Add(mends.When(func(r model.Request) error {
				if n := strings.Count(textsOf(r), "repo@v1.4 is fetched"); n != 1 {
					return errors.New("the model was not told once")
				}
				return nil
			}), finishes)
			n := 0
			tasks := w.tasks(w.steps)
			prepare := tasks[job.TaskAgentPrepare]
			tasks[job.TaskAgentPrepare] = func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
				n++
				return c.fail(w, n, prepare)(ctx, in)
			}
			j := w.ask("Describe the flags")
			if err := w.execute(w.ctx, j.Current(), tasks); err != nil {
				t.Error(err)
			}
			w.end(w.job(j.ID), expected{pulls: 1, turns: 4})
		})
	}
}

// textsOf returns all texts of a request.
func textsOf(r model.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, x := range m.Content {
			b.WriteString(x.Text + x.Content + "\n")
		}
	}
	return b.String()
}

// The tools and the records have one name for the project's own repository.
func TestOwnRepositoryHasOneName(t *testing.T) {
	w := newWorld(t, fetches(args{"ref": "v1.4"}), told("repo@v1.4 is fetched", done("Nothing")))
	w.configure(admin.NewAgentSettings())
	released(w)
	if j := w.run(w.ask("Describe the flags")); len(j.Fetches) != 1 || j.Fetches[0].Name != admin.AgentOwnRepository {
		t.Errorf("it fetched %+v", j.Fetches)
	}
}
