package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

var (
	rename   = steps(modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "widgets", "new": "gadgets"})), done("docs: gadgets"))
	refusing = forgetest.Status(422, `{"message":"no"}`)
)

// A message on a job that has ended is its next round.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    forge.Kind
		ref     string
		first   script
		fails   string                                    // how the first round ends
		between func(w *world, branch string, number int) // what people do
		before  func(w *world)                            // and before the first round
		second  script
		code    string // of the second round's failure
		branch  string // what the second round pushed to, "" for the first one's
		pulls   int    // in the end, 0 for one
		commits int    // of that branch beside main's
		link    bool   // of the second pull request
		author  bool   // people's commit is the second one's parent
	}{
		{name: "an open pull request", second: rename, commits: 2},
		{name: "on GitHub", kind: forge.GitHub, second: rename, commits: 2},
		{name: "of a tag", ref: "v1", second: rename, commits: 2, before: func(w *world) { w.forge.Tag("v1", "main", "one") }},
		{name: "people have pushed", second: rename, commits: 3, author: true,
			between: func(w *world, branch string, _ int) {
				w.forge.Write(branch, map[string]string{"more.md": "# More\n"})
			}},
		{name: "people have changed the same file before", second: rename, commits: 3, author: true,
			between: func(w *world, branch string, _ int) {
				w.forge.Write(branch, map[string]string{"index.mdx": site()["index.mdx"] + "More.\n"})
			}},
		{name: "merged", second: rename, branch: "-2", pulls: 2, commits: 1, link: true,
			between: func(w *world, _ string, number int) { w.forge.Merge(number) }},
		{name: "closed", second: rename, branch: "-2", pulls: 2, commits: 1, link: true,
			between: func(w *world, _ string, number int) { w.forge.Close(number) }},
		{name: "the branch is gone", second: rename, branch: "-2", pulls: 2, commits: 1, link: true,
			between: func(w *world, branch string, _ int) { w.forge.DeleteBranch(branch) }},
		{name: "no change", second: steps(lists, done("Nothing")), commits: 1},
		{name: "a round that fails", second: steps(modeltest.Refusal("No.")), code: model.CodeRefused, commits: 1},
		{name: "after a round without change", first: steps(lists, done("Nothing")), second: rename, commits: 1},
		{name: "after a failed round", first: steps(modeltest.Refusal("No.")), fails: model.CodeRefused, second: rename, commits: 1},
		{name: "after a refused pull request", fails: forge.CodePullRefused, second: rename, branch: "-2", commits: 1,
			before:  func(w *world) { w.forge.FailAlways(forgetest.OpenPull, refusing) },
			between: func(w *world, _ string, _ int) { w.forge.Heal() }},
		{name: "after a push that was denied", fails: forge.CodeUnreachable, second: rename, commits: 1,
			before:  func(w *world) { w.forge.FailAlways(forgetest.Push, forgetest.Kill()) },
			between: func(w *world, _ string, _ int) { w.forge.Heal() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.kind == "" {
				c.kind = forge.Gitea
			}
			w := newWorldOn(t, forgetest.New(t, forgetest.Dialect(c.kind)))
			if c.before != nil {
				c.before(w)
			}
			if c.first == nil {
				c.first = steps(mends, finishes)
			}
			w.model.Add(c.first...)
			one := w.run(w.start(admin.StartAgentJob{Prompt: "Mend the spelling of widget", Ref: c.ref}))
			if code := failure(one); code != c.fails {
				t.Fatalf("the first round ended with %q", code)
			}
			branch := "bindery/" + one.ID
			if c.between != nil {
				c.between(w, branch, one.PRNumber)
			}
			head := w.forge.Branch(branch)
			w.model.Add(c.second...)
			asked := w.message(one, "Call them gadgets")
			if asked.Status != admin.AgentActive || asked.Round != 2 {
				t.Fatalf("after the message the job is %s in round %d", asked.Status, asked.Round)
			}
			two := w.run(asked)
			if code := failure(two); code != c.code {
				t.Fatalf("the second round ended with %q: %+v", code, two.Failure)
			}
			branch += c.branch
			pulls := w.forge.Pulls()
			if c.pulls == 0 {
				c.pulls = 1
			}
			if len(pulls) != c.pulls {
				t.Fatalf("pull requests are %+v", pulls)
			}
			last := pulls[len(pulls)-1]
			if two.PRLink != last.URL || two.PRNumber != last.Number || two.Branch != branch || last.Head != branch {
				t.Errorf("the job has %s on %s, the last pull request is %+v", two.PRLink, two.Branch, last)
			}
			commits := w.forge.Commits(branch)
			if n := len(commits) - len(w.forge.Commits("main")); n != c.commits {
				t.Errorf("%d commits, want %d: %+v", n, c.commits, commits)
			}
			if c.author && commits[0].Parents[0] != head {
				t.Errorf("the commit's parent is %s, people's is %s", commits[0].Parents[0], head)
			}
			if cost := two.Usage.Cost - one.Usage.Cost; two.RoundCost != cost || one.RoundCost != one.Usage.Cost {
				t.Errorf("the rounds cost %d and %d, of %d and %d", one.RoundCost, two.RoundCost, one.Usage.Cost, cost)
			}
			if two.Changes == (admin.AgentChanges{}) {
				t.Error("the job has a pull request and no changes")
			}
			for _, text := range []string{"> Mend the spelling of widget", "> Call them gadgets", "`index.mdx`"} {
				if strings.HasPrefix(commits[0].Message, "docs: gadgets") && !strings.Contains(last.Body, text) {
					t.Errorf("the pull request lacks %q:\n%s", text, last.Body)
				}
			}
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// failure is the code of a job's failure, "" for none.
func failure(j admin.AgentJob) string {
	if j.Failure == nil {
		return ""
	}
	return j.Failure.Code
}

// People push to the job's branch while the second round works.
func TestPeoplePushMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name, path, content, code string
	}{
		{name: "elsewhere", path: "more.md", content: "# More\n"},
		{name: "the same file", path: "index.mdx", content: site()["index.mdx"] + "More.\n", code: forge.CodeMoved},
		{name: "the file goes", path: "index.mdx", code: forge.CodeMoved},
		{name: "another file that the first round changed", path: "guides/start.mdx", content: site()["guides/start.mdx"]},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, steps(mends, finishes)...)
			one := w.run(w.ask("Mend the spelling of widget"))
			w.model.Add(rename...)
			asked := w.message(one, "Call them gadgets")
			var head string
			w.at(job.TaskAgentPublish, func() { head = w.forge.Write(one.Branch, map[string]string{c.path: c.content}) })
			two := w.run(asked)
			if code := failure(two); code != c.code {
				t.Fatalf("the second round ended with %q: %+v", code, two.Failure)
			}
			if two.PRLink != one.PRLink || two.Branch != one.Branch || len(w.forge.Pulls()) != 1 {
				t.Errorf("the job's link is %s on %s", two.PRLink, two.Branch)
			}
			at := w.forge.Branch(one.Branch)
			if c.code != "" && at != head {
				t.Error("people's commit was overwritten")
			}
			if c.code == "" && (w.forge.Commits(one.Branch)[0].Parents[0] != head || w.forge.Files(one.Branch)[c.path] != c.content) {
				t.Errorf("the commit is not on people's %s: %+v", head, w.forge.Commits(one.Branch))
			}
		})
	}
}

// A message that comes while the round is publishing opens the next round.
func TestMessageWhilePublishing(t *testing.T) {
	w := newWorld(t, steps(mends, finishes)...)
	j := w.ask("Mend the spelling of widget")
	sent := false
	s := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		if !sent && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, "commit#") {
			sent = true
			w.message(j, "Call them gadgets")
		}
		return do(ctx)
	})
	if err := w.workflow(w.ctx, w.stepsOn(w.service(s, w.objects), w.objects), j.Current()); err != nil {
		t.Error(err)
	}
	next := w.job(j.ID)
	if next.Status != admin.AgentActive || next.Round != 2 || !sent {
		t.Fatalf("the job is %s in round %d", next.Status, next.Round)
	}
	w.model.Add(rename...)
	end := w.run(next)
	if commits := w.forge.Commits(end.Branch); failure(end) != "" || len(w.forge.Pulls()) != 1 || end.PRLink != w.forge.Pulls()[0].URL || len(commits) != 3 {
		t.Errorf("the job ended as %+v with %d commits", end, len(commits))
	}
}

// Forges act on what stands in a title and in the message of a commit too.
func TestTitlesDoNothing(t *testing.T) {
	w := newWorld(t, mends, done("docs: fixes #12, closes acme/docs#7, GH-8 and !9, https://forge.example/acme/docs/issues/3 for @everyone\n"), done("docs: fixes #12, closes acme/docs#7, GH-8 and !9, https://forge.example/acme/docs/issues/3 for @everyone [skip ci]"))
	j := w.run(w.ask("Mend the spelling of widget"))
	pulls := w.forge.Pulls()
	if j.Status != admin.AgentCompleted || len(pulls) != 1 {
		t.Fatalf("the job is %+v", j)
	}
	for _, text := range []string{pulls[0].Title, w.forge.Commits(j.Branch)[0].Message} {
		for _, not := range []string{"#12", "#7", "GH-8", "!9", "://", "@everyone", "skip ci"} {
			if strings.Contains(text, not) {
				t.Errorf("%q has %s", text, not)
			}
		}
		if !strings.HasPrefix(text, "docs: fixes") {
			t.Errorf("the title is %q", text)
		}
	}
}
