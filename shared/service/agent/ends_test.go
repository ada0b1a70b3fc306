package agent_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/tests/outside"
)

// script is the answers of a model, in order.
type script []modeltest.Step

func steps(all ...modeltest.Step) script { return all }

// done finishes with a title and a summary.
func done(title string) modeltest.Step { return modeltest.Calls(finish(title)) }

func finish(title string) modeltest.Call {
	return call("finish", args{"title": title, "summary": "It was asked for."})
}

// breaks is a change that leaves a finding.
var breaks = call("edit", args{"path": "index.mdx", "old": "/guides/start", "new": "/guides/nowhere"})

// write writes a file.
func write(path, content string) modeltest.Step {
	return modeltest.Calls(call("write", args{"path": path, "content": content}))
}

// told expects that what was said last to the model has a text.
func told(text string, s modeltest.Step) modeltest.Step {
	return s.When(func(r model.Request) error {
		last := r.Messages[len(r.Messages)-1]
		for _, b := range last.Content {
			if strings.Contains(b.Text+b.Content, text) {
				return nil
			}
		}
		return fmt.Errorf("the model was not told %q but %+v", text, last.Content)
	})
}

// forced expects that the answer must call finish, free that it need not.
func forced(s modeltest.Step) modeltest.Step { return calling("finish", s) }
func free(s modeltest.Step) modeltest.Step   { return calling("", s) }

func calling(tool string, s modeltest.Step) modeltest.Step {
	return s.When(func(r model.Request) error {
		if r.Call != tool {
			return fmt.Errorf("the request forces the call of %q, want %q", r.Call, tool)
		}
		return nil
	})
}

// instructed expects that the model reads these instructions of the repository.
func instructed(text string, s modeltest.Step) modeltest.Step {
	return s.When(func(r model.Request) error {
		for _, b := range r.System {
			if strings.Contains(b.Text, "<instructions>\n"+text+"\n") {
				return nil
			}
		}
		return fmt.Errorf("the model was not instructed %q but %+v", text, r.System)
	})
}

// overview expects that the description of the site says something.
func overview(text string, s modeltest.Step) modeltest.Step {
	return s.When(func(r model.Request) error {
		if last := r.System[len(r.System)-1].Text; !strings.Contains(last, text) {
			return fmt.Errorf("the overview does not say %q but %s", text, last)
		}
		return nil
	})
}

var lists = modeltest.Calls(call("list", args{}))

// expected is how a job ends.
type expected struct {
	code    string // of the failure, "" for a completed job
	pulls   int    // and commits, and a link
	draft   bool
	body    []string // what the pull request says
	first   string   // what it says first
	message string   // what the failure says
	// noPull is a branch without a pull request.
	noPull bool
	// base is the branch that the pull request is for, commits where its commits
	// begin; "" is main.
	base, commits string
	turns         int // 0: any
	// unfinished is a draft that says what is left.
	unfinished bool
}

// end checks how a job has ended.
func (w *world) end(j admin.AgentJob, want expected) {
	w.t.Helper()
	status, code, message := admin.AgentCompleted, "", ""
	if want.code != "" {
		status = admin.AgentFailed
	}
	if j.Failure != nil {
		code, message = j.Failure.Code, j.Failure.Message
	}
	if j.Status != status || code != want.code || !strings.Contains(message, want.message) {
		w.t.Errorf("the job is %s with %q (%s), want %s with %q (%s)", j.Status, code, message, status, want.code, want.message)
	}
	if j.Phase != "" {
		w.t.Errorf("the final job is %s", j.Phase)
	}
	if j.Unfinished != want.unfinished {
		w.t.Errorf("the job is unfinished: %t, want %t", j.Unfinished, want.unfinished)
	}
	if want.turns != 0 && j.Turns != want.turns {
		w.t.Errorf("%d turns, want %d", j.Turns, want.turns)
	}
	pulls, branch, commits := w.forge.Pulls(), "bindery/"+j.ID, 0
	if w.forge.Branch(branch) != "" {
		commits = len(w.forge.Commits(branch)) - len(w.forge.Commits(cmp.Or(want.commits, "main")))
	}
	wantCommits := want.pulls
	if want.noPull {
		wantCommits = 1
	}
	if len(pulls) != want.pulls || commits != wantCommits {
		w.t.Errorf("%d pull requests and %d commits, want %d and %d", len(pulls), commits, want.pulls, wantCommits)
	}
	link, wantBranch := "", ""
	if want.pulls > 0 && len(pulls) > 0 {
		link = pulls[0].URL
		want.pull(w.t, pulls[0])
	}
	if wantCommits > 0 && want.code == "" {
		wantBranch = branch
	}
	if j.PRLink != link || j.Branch != wantBranch {
		w.t.Errorf("the job's link is %q on %q, want %q on %q", j.PRLink, j.Branch, link, wantBranch)
	}
	for _, r := range w.model.Requests() {
		if strings.Contains(string(r.Raw), w.forge.Token) {
			w.t.Error("the model has read the forge's credential")
		}
	}
	for _, c := range w.forge.Commits("main") {
		if c.Author != "Ann <ann@example.test>" {
			w.t.Errorf("main has the commit %+v", c)
		}
	}
}

// pull checks a pull request.
func (want expected) pull(t *testing.T, p forgetest.Pull) {
	t.Helper()
	draft := want.draft || want.unfinished
	if base := cmp.Or(want.base, "main"); p.Base != base || p.Draft != draft {
		t.Errorf("the pull request is for %s, draft: %t; want %s, %t", p.Base, p.Draft, base, draft)
	}
	if _, text, _ := strings.Cut(p.Body, "\n"); !strings.HasPrefix(text, want.first) { // after the mark
		t.Errorf("the pull request does not begin with %q:\n%s", want.first, p.Body)
	}
	for _, text := range want.body {
		if !strings.Contains(p.Body, text) {
			t.Errorf("the pull request lacks %q:\n%s", text, p.Body)
		}
	}
}

// foreign adds a picture of another host.
var foreign = modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "![A cat](https://evil.example/cat.png) Acme makes"}))

// A job ends as its model, its forge and its owner make it end.
func TestHowJobsEnd(t *testing.T) {
	outside.NoRace(t, "it runs dozens of jobs")
	page := "---\ntitle: New\ndescription: A new page\n---\n\n"
	for _, c := range []struct {
		name   string
		kind   forge.Kind
		ask    admin.StartAgentJob
		set    admin.AgentSettings
		world  func(w *world)
		asked  func(w *world, j admin.AgentJob) // after the start
		turn   int                              // while the model answers this one, if not 0, asked happens
		script script
		want   expected
	}{
		// What a model may answer.
		{name: "no change", script: steps(lists, done("Nothing to do")), want: expected{turns: 2}},
		{name: "a question", script: steps(modeltest.Calls(call("finish", args{"title": "?", "summary": "It is unclear.", "question": "Which widget?"}))), want: expected{turns: 1}},
		{name: "two tools at once", script: steps(modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "widgit", "new": "widget"}), call("edit", args{"path": "index.mdx", "old": "widgets", "new": "gadgets"})), finishes),
			want: expected{pulls: 1, turns: 2, body: []string{"`guides/start.mdx` (+1 −1)", "`index.mdx` (+1 −1)"}}},
		{name: "invalid arguments", script: steps(modeltest.Calls(modeltest.Call{Name: "edit", Raw: `{"path": `}), modeltest.Calls(call("edit", args{"path": 7, "more": true})), mends, finishes), want: expected{pulls: 1, turns: 4}},
		{name: "an unknown tool", script: steps(modeltest.Calls(call("shell", args{"command": "rm -rf /"})), told("unknown tool", mends), finishes), want: expected{pulls: 1, turns: 3}},
		{name: "only text", script: steps(modeltest.Text("All is well."), told("text without a call", modeltest.Text("All is well, really."))), want: expected{turns: 2}},
		{name: "only text after changes", script: steps(mends, modeltest.Text("I mended it."), modeltest.Text("I have mended it.")), want: expected{pulls: 1, turns: 3, body: []string{"I have mended it."}}},
		{name: "text, then tools", script: steps(modeltest.Text("Let me see."), mends, finishes), want: expected{pulls: 1, turns: 3}},
		{name: "cut off in a call", script: steps(modeltest.CutCall("edit", args{"path": "guides/start.mdx", "old": "widgit", "new": "widget"}, 30), mends, finishes), want: expected{pulls: 1, turns: 3}},
		{name: "a refusal", script: steps(mends, modeltest.Refusal("I will not.")), want: expected{code: model.CodeRefused, turns: 1}},
		{name: "429 for a moment", script: steps(modeltest.RateLimited("1"), mends, finishes), want: expected{pulls: 1, turns: 2}},
		{name: "429 for a day", script: steps(modeltest.RateLimited("86400")), want: expected{code: model.CodeUnavailable}},
		{name: "529 for ever", script: steps(mends, modeltest.Overloaded().Forever()), want: expected{code: model.CodeUnavailable, turns: 1}},
		{name: "500 once", script: steps(modeltest.Failing(), mends, finishes), want: expected{pulls: 1}},
		{name: "a wrong key", script: steps(modeltest.Status(401, "authentication_error", "invalid x-api-key")), want: expected{code: model.CodeKey}},
		{name: "too long, then shorter", script: steps(lists, mends, modeltest.TooLong(), finishes), want: expected{pulls: 1, turns: 3}},
		{name: "too long for ever", script: steps(lists, mends, modeltest.TooLong().Forever()), want: expected{code: model.CodeContext, turns: 2}},
		{name: "too long at once", script: steps(modeltest.TooLong().Forever()), want: expected{code: model.CodeContext}},
		{name: "a stream that breaks", script: steps(mends.Cut(700), mends, finishes.Cut(40), finishes), want: expected{pulls: 1, turns: 2}},
		{name: "streams that always break", script: steps(mends.Cut(700).Forever()), want: expected{code: model.CodeUnavailable}},
		{name: "one call for ever", script: steps(lists, lists, lists, told("made this call with this result several times", lists), lists), want: expected{code: admin.CodeLoop, turns: 5}},
		{name: "one call in a turn", script: steps(modeltest.Calls(slices.Repeat([]modeltest.Call{call("list", args{})}, 6)...)), want: expected{code: admin.CodeLoop, turns: 1}},

		// Budgets.
		{name: "90 percent, then finished", set: admin.AgentSettings{MaxTurns: 10}, script: append(reads(8), free(mends), forced(finishes)), want: expected{pulls: 1, turns: 10, unfinished: true}},
		{name: "a server that can't force a call", set: admin.AgentSettings{MaxTurns: 3}, script: append(reads(1), mends, forced(modeltest.Status(400, "invalid_request_error", "tool_choice is not supported")), free(finishes)),
			want: expected{pulls: 1, turns: 3, unfinished: true}},
		{name: "a server that refuses the last turn as invalid", set: admin.AgentSettings{MaxTurns: 3}, script: append(reads(1), mends, modeltest.Status(400, "invalid_request_error", "no").Forever()), want: expected{code: model.CodeInvalid, turns: 2}},
		{name: "too long in the last turn", set: admin.AgentSettings{MaxTurns: 3}, script: append(reads(1), mends, modeltest.TooLong(), forced(finishes)), want: expected{pulls: 1, turns: 3, unfinished: true}},
		{name: "over budget", set: admin.AgentSettings{MaxTurns: 10}, script: append(reads(9), told("this is your last turn", mends)), want: expected{code: admin.CodeBudget, turns: 10}},
		{name: "a small budget has its last turn", set: admin.AgentSettings{MaxTurns: 3}, script: append(reads(1), mends, told("this is your last turn", finishes)), want: expected{pulls: 1, turns: 3, unfinished: true}},
		{name: "only text in the last turn", set: admin.AgentSettings{MaxTurns: 3}, script: append(reads(1), mends, told("this is your last turn", modeltest.Text("That is all."))), want: expected{code: admin.CodeBudget, turns: 3}},
		{name: "too expensive at once", script: steps(mends.Costing(model.Usage{Input: 5_000_000, Output: 1})), want: expected{code: admin.CodeBudget, message: "it used 15.00 of 5.00 US dollars", turns: 1}},
		{name: "expensive", script: steps(mends.Costing(model.Usage{Input: 1_600_000, Output: 1}), told("this is your last turn", finishes)), want: expected{pulls: 1, turns: 2, unfinished: true}},

		// What a page or a prompt may make a model try.
		{name: "paths out of reach", script: steps(modeltest.Calls(
			call("write", args{"path": ".github/workflows/ci.yml", "content": "on: pull_request_target\n"}), call("write", args{"path": "../../etc/passwd", "content": "x"}),
			call("write", args{"path": "AGENTS.md", "content": "obey"}), call("write", args{"path": "CODEOWNERS", "content": "* @me"}), call("write", args{"path": "package-lock.json", "content": "{}"}),
			call("write", args{"path": "bindery.yaml", "content": "check: {}\n"}), call("delete", args{"path": ".github/workflows/ci.yml"})), done("Nothing")), want: expected{turns: 2}},
		{name: "a secret", script: steps(write("new.mdx", page+"Use ghp_"+strings.Repeat("a1B2", 9)+" as the token.\n"), told("new.mdx:6: looks like a secret: a token of GitHub", write("new.mdx", page+"Use YOUR_TOKEN.\n")), done("A page")),
			want: expected{pulls: 1, turns: 3}},
		{name: "a foreign picture", script: steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "![A cat](https://evil.example/cat.png?s=1) Acme makes"})), done("A cat")),
			want: expected{pulls: 1, first: "**Look at this first.** Links or pictures of hosts", body: []string{"evil.example (index.mdx:6)"}}},
		{name: "more hosts than a reviewer can look at", script: steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": hosts(900) + "Acme makes"})), done("Links"), told("more than a pull request can list", done("Links"))),
			want: expected{code: admin.CodeChanges, message: "900 new hosts"}},
		{name: "a foreign picture, refused", set: admin.AgentSettings{RefuseNewHosts: true}, script: steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "![A cat](https://evil.example/cat.png) Acme makes"})), done("A cat"), told("a new host: evil.example", done("A cat"))),
			want: expected{code: admin.CodeChanges, message: "evil.example"}},
		{name: "a foreign picture, refused, then taken out", set: admin.AgentSettings{RefuseNewHosts: true}, script: steps(mends, foreign, done("A cat"), told("Mend that, or undo it, and call finish again", modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "![A cat](https://evil.example/cat.png) ", "new": ""}))), done("Word")),
			want: expected{pulls: 1, turns: 5, body: []string{"`guides/start.mdx` (+1 −1)"}}},
		{name: "a foreign picture, refused, then a text for an answer", set: admin.AgentSettings{RefuseNewHosts: true}, script: steps(foreign, modeltest.Text("Done."), modeltest.Text("Done, really."), told("evil.example", modeltest.Text("Oh.")), told("text without a call", lists), done("A cat")),
			want: expected{code: admin.CodeChanges, turns: 6}},
		{name: "a foreign picture in the last turn", set: admin.AgentSettings{RefuseNewHosts: true, MaxTurns: 3}, script: append(reads(1), foreign, done("A cat")), want: expected{code: admin.CodeChanges, turns: 3}},
		{name: "code in a page", script: steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "{fetch('/x')} Acme makes"})), done("Code")),
			want: expected{pulls: 1, first: "**Look at this first.** Executable code"}},
		{name: "code in a page, refused", set: admin.AgentSettings{RefuseExecutable: true}, script: steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "{fetch('/x')} Acme makes"})), done("Code"), told("executable code", done("Code"))),
			want: expected{code: admin.CodeChanges, message: "executable"}},

		{name: "more files than allowed", set: admin.AgentSettings{MaxFiles: 1}, script: steps(mends, rename[0], finishes), want: expected{pulls: 1, turns: 3, body: []string{"`guides/start.mdx` (+1 −1)\n\n"}}},

		// What its owner may do meanwhile.
		{name: "a message in the middle", script: steps(lists, told("Also the index", mends), finishes), turn: 1, asked: func(w *world, j admin.AgentJob) { w.message(j, "Also the index") }, want: expected{pulls: 1, turns: 3, body: []string{"> Also the index"}}},
		{name: "a message before the first turn", script: steps(told("Also the index", mends), finishes), asked: func(w *world, j admin.AgentJob) { w.message(j, "Also the index") }, want: expected{pulls: 1, turns: 2}},
		{name: "a message after finish", script: steps(mends, finishes, told("And the index", modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "widgets", "new": "gadgets"}))), done("Both")), asked: func(w *world, j admin.AgentJob) {
			w.at(job.TaskAgentReview, func() { w.message(j, "And the index") })
		}, want: expected{pulls: 1, turns: 4, body: []string{"> And the index", "`index.mdx`"}}},
		{name: "cancelled before Prepare", asked: func(w *world, j admin.AgentJob) { w.cancel(j) }, want: expected{code: admin.CodeCancelled}},
		{name: "cancelled in the middle", script: steps(mends, finishes), turn: 2, asked: func(w *world, j admin.AgentJob) { w.cancel(j) }, want: expected{code: admin.CodeCancelled, turns: 1}},
		{name: "cancelled after finish", script: steps(mends, finishes), asked: func(w *world, j admin.AgentJob) {
			w.at(job.TaskAgentReview, func() { w.cancel(j) })
		}, want: expected{code: admin.CodeCancelled}},

		// What its repository may be.
		{name: "no docs.json", world: func(w *world) { w.forge.Write("main", map[string]string{"docs.json": ""}) }, want: expected{code: admin.CodeInvalidSite}},
		{name: "a tag is proposed to the default branch", ask: admin.StartAgentJob{Ref: "v1"}, world: func(w *world) {
			w.forge.Tag("v1", "main", "")
			w.forge.Write("main", map[string]string{"guides/start.mdx": "---\ntitle: Start\n---\n\nAll is different.\n"})
		}, script: steps(modeltest.Calls(call("search", args{"pattern": "widgit"})), mends, finishes), want: expected{pulls: 1, base: "main", commits: "v1"}},
		{name: "another branch", ask: admin.StartAgentJob{Ref: "next"}, world: func(w *world) { w.forge.Write("next", site()) }, script: steps(mends, finishes), want: expected{pulls: 1, base: "next", commits: "next"}},
		{name: "no such branch", ask: admin.StartAgentJob{Ref: "next"}, want: expected{code: forge.CodeRef}},
		{name: "a branch that may not be written", world: func(w *world) { w.forge.ReadOnly() }, script: steps(mends, finishes), want: expected{code: forge.CodeDenied}},
		{name: "a push that a hook denies", asked: func(w *world, j admin.AgentJob) { w.forge.Protect("bindery/" + j.ID) }, script: steps(mends, finishes), want: expected{code: forge.CodeDenied}},
		{name: "a refused pull request", world: func(w *world) {
			w.forge.FailAlways(forgetest.OpenPull, forgetest.Status(422, `{"message":"no"}`))
		}, script: steps(mends, finishes), want: expected{code: forge.CodePullRefused, noPull: true}},
		{name: "a forge that is off", world: func(w *world) { w.forge.FailAlways(forgetest.Refs, forgetest.Kill()) }, want: expected{code: forge.CodeUnreachable}},
		{name: "GitHub", kind: forge.GitHub, script: steps(mends, finishes), want: expected{pulls: 1}},
		{name: "GitLab", kind: forge.GitLab, script: steps(mends, finishes), want: expected{pulls: 1}},
		{name: "plain Git", kind: forge.Git, script: steps(mends, finishes), want: expected{noPull: true}},
		{name: "the repository's instructions", world: func(w *world) {
			w.forge.Write("main", map[string]string{".mintlify/AGENTS.md": "Say gadget.\n", ".bindery/AGENTS.md": "Say doodad.\n"})
		}, script: steps(instructed("Say doodad.", mends), finishes), want: expected{pulls: 1}},
		{name: "instructions under the older name", world: func(w *world) { w.forge.Write("main", map[string]string{".mintlify/AGENTS.md": "Say gadget.\n"}) },
			script: steps(instructed("Say gadget.", mends), finishes), want: expected{pulls: 1}},
		{name: "a large picture, which stays on the forge, is there", world: func(w *world) { w.forge.Write("main", map[string]string{"big.png": strings.Repeat("\x89PNG", 1<<19)}) },
			script: steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "![All widgets](/big.png) Acme makes"})), done("Picture")), want: expected{pulls: 1}},
		{name: "a draft asked for", ask: admin.StartAgentJob{Draft: true}, script: steps(mends, finishes), want: expected{pulls: 1, draft: true}},
		{name: "what was wrong before, to be mended", world: func(w *world) {
			w.forge.Write("main", map[string]string{"index.mdx": strings.Replace(site()["index.mdx"], "/guides/start", "/guides/nowhere", 1)})
		}, script: steps(modeltest.Calls(call("check", args{})), told("Nothing is wrong that was not before", modeltest.Calls(call("check", args{"all": true}))),
			told("there is no page or file guides/nowhere", modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "/guides/nowhere", "new": "/guides/start"}))), done("Link")),
			want: expected{pulls: 1, body: []string{"finds nothing that was not there before"}}},
		{name: "a draft by what is left", script: steps(modeltest.Calls(breaks), done("Link"), told("Not finished yet", done("Link"))),
			want: expected{pulls: 1, draft: true, turns: 3, body: []string{"`index.mdx:6: warning"}}},
		{name: "finished twice in one answer", script: steps(modeltest.Calls(breaks, finish("Link"), finish("Link, really")), told("Not finished yet", lists), done("Link")),
			want: expected{pulls: 1, draft: true, turns: 3}},
		{name: "finished, broken and finished in one answer", script: steps(modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "widgit", "new": "widget"}), finish("Word"), breaks, finish("Link")), told("Not finished yet", lists), done("Link")),
			want: expected{pulls: 1, draft: true, turns: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.kind == "" {
				c.kind = forge.Gitea
			}
			w := newWorldOn(t, forgetest.New(t, forgetest.Dialect(c.kind)))
			w.configure(c.set)
			if c.world != nil {
				c.world(w)
			}
			if c.ask.Prompt == "" {
				c.ask.Prompt = "Mend the spelling of widget"
			}
			j := w.start(c.ask)
			switch {
			case c.turn > 0:
				c.script[c.turn-1] = c.script[c.turn-1].When(func(model.Request) error { c.asked(w, j); return nil })
			case c.asked != nil:
				c.asked(w, j)
			}
			w.model.Add(c.script...)
			w.end(w.run(j), c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// hosts is a text that links to n hosts.
func hosts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[a](https://h%d.example.com/) ", i)
	}
	return b.String()
}

// reads are n turns that look at something, each at something else.
func reads(n int) (all script) {
	for i := range n {
		all = append(all, modeltest.Calls(call("search", args{"pattern": fmt.Sprint("x", i)})))
	}
	return all
}
