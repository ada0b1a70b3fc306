package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/storetest"

	"github.com/bindery-docs/bindery/tests/outside"
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

// People push to the job's branch while the second round works: changes are merged line
// by line. What conflicts goes back to Work twice, then a draft names it.
func TestPeoplePushMeanwhile(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	index := site()["index.mdx"]
	titled := strings.Replace(index, "title: Welcome", "title: Hello", 1)
	built := strings.Replace(index, "Acme makes", "Acme builds", 1)
	gadgets := strings.Replace(index, "widgets", "gadgets", 1)
	again := steps(told("index.mdx:6: others changed the same lines", modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "builds widgets", "new": "builds gadgets"}))), done("docs: gadgets"))
	for _, c := range []struct {
		name   string
		pushes []map[string]string // before each Publish
		set    admin.AgentSettings
		more   script // after edit and finish
		want   map[string]string
		draft  string // what the draft says, "" for none
	}{
		{name: "elsewhere", pushes: []map[string]string{{"more.md": "# More\n"}}, want: map[string]string{"more.md": "# More\n", "index.mdx": gadgets}},
		{name: "another line of the same file", pushes: []map[string]string{{"index.mdx": titled}}, want: map[string]string{"index.mdx": strings.Replace(titled, "widgets", "gadgets", 1)}},
		{name: "the same change", pushes: []map[string]string{{"index.mdx": gadgets}}, want: map[string]string{"index.mdx": gadgets}},
		{name: "another file that the first round changed", pushes: []map[string]string{{"guides/start.mdx": site()["guides/start.mdx"]}}, want: map[string]string{"guides/start.mdx": site()["guides/start.mdx"], "index.mdx": gadgets}},
		{name: "the same line", pushes: []map[string]string{{"index.mdx": built, "more.md": "# More\n"}}, more: again, want: map[string]string{"index.mdx": strings.Replace(built, "widgets", "gadgets", 1), "more.md": "# More\n"}},
		{name: "the same line, and a change elsewhere", pushes: []map[string]string{{"index.mdx": built, "guides/start.mdx": strings.Replace(site()["guides/start.mdx"], "First steps", "The first steps", 1)}}, more: steps(
			told("index.mdx:6", modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "The first steps", "new": "Your first steps"}))), done("docs: gadgets")),
			want: map[string]string{"index.mdx": built, "guides/start.mdx": strings.Replace(site()["guides/start.mdx"], "First steps", "Your first steps", 1)}},
		{name: "the file goes", pushes: []map[string]string{{"index.mdx": ""}}, more: steps(told("others deleted the file", lists), done("docs: gadgets")), want: map[string]string{"index.mdx": ""}, draft: "the navigation names a page that does not exist"},
		{name: "the same line again and again", pushes: []map[string]string{{"index.mdx": built}, {"index.mdx": strings.Replace(built, "builds", "buys", 1)}, {"index.mdx": strings.Replace(built, "builds", "sells", 1)}},
			more: append(again, told("index.mdx:6", modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "buys widgets", "new": "buys gadgets"}), call("edit", args{"path": "index.mdx", "old": "Welcome", "new": "Hello"}))), done("docs: gadgets")),
			want: map[string]string{"index.mdx": strings.NewReplacer("builds", "sells", "Welcome", "Hello").Replace(built)}, draft: "`index.mdx:6: others changed the same lines; their text is there`"},
		{name: "the same line in the last turn", set: admin.AgentSettings{MaxTurns: 2}, pushes: []map[string]string{{"index.mdx": built}},
			want: map[string]string{"index.mdx": built}, draft: "index.mdx:6: others changed the same lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, steps(mends, finishes)...)
			one := w.run(w.ask("Mend the spelling of widget"))
			w.configure(c.set)
			w.model.Add(rename...)
			w.model.Add(c.more...)
			asked := w.message(one, "Call them gadgets")
			n := 0
			var push func()
			push = func() {
				w.forge.Write(one.Branch, c.pushes[n])
				if n++; n < len(c.pushes) {
					w.at(job.TaskAgentPublish, push)
				}
			}
			w.at(job.TaskAgentPublish, push)
			two := w.run(asked)
			if two.Status != admin.AgentCompleted {
				t.Fatalf("the second round ended with %+v", two.Failure)
			}
			pulls := w.forge.Pulls()
			if two.PRLink != one.PRLink || two.Branch != one.Branch || len(pulls) != 1 {
				t.Fatalf("the job's link is %s on %s, of %+v", two.PRLink, two.Branch, pulls)
			}
			files := w.forge.Files(one.Branch)
			for path, want := range c.want {
				if files[path] != want {
					t.Errorf("%s is %q, want %q", path, files[path], want)
				}
			}
			if pulls[0].Draft != (c.draft != "") || !strings.Contains(pulls[0].Body, c.draft) {
				t.Errorf("draft: %t, want %q:\n%s", pulls[0].Draft, c.draft, pulls[0].Body)
			}
			if n != len(c.pushes) || w.model.Left() > 0 {
				t.Errorf("people pushed %d times, %d steps of the script are left", n, w.model.Left())
			}
		})
	}
}

// People push between the fetch of Publish and its push: the commit is made again on
// theirs, and what they push each time ends the job.
func TestPeoplePushAtTheLastMoment(t *testing.T) {
	for _, c := range []struct {
		pushes int
		code   string
	}{{1, ""}, {2, ""}, {100, forge.CodeMoved}} {
		w := newWorld(t, steps(mends, finishes)...)
		one := w.run(w.ask("Mend the spelling of widget"))
		w.model.Add(rename...)
		asked := w.message(one, "Call them gadgets")
		n := 0
		s := storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
			err := do(ctx)
			if n < c.pushes && strings.HasPrefix(call.Name, "Store.Write") && strings.Contains(call.Name, "commit#") && !strings.Contains(call.Name, "end#") {
				n++
				w.forge.Write(one.Branch, map[string]string{"more.md": fmt.Sprintf("# %d\n", n)})
			}
			return err
		})
		if err := w.workflow(w.ctx, w.stepsOn(w.service(s, w.objects), w.objects), asked.Current()); (err != nil) != (c.code != "") {
			t.Error(err)
		}
		two := w.job(one.ID)
		if failure(two) != c.code {
			t.Fatalf("%d pushes: the second round ended with %+v", c.pushes, two.Failure)
		}
		files := w.forge.Files(one.Branch)
		if want := fmt.Sprintf("# %d\n", n); files["more.md"] != want || strings.Contains(files["index.mdx"], "gadgets") != (c.code == "") {
			t.Errorf("%d pushes: the files are %q", c.pushes, files)
		}
	}
}

// The reviewer is told where the pull request conflicts with the branch that it is for.
func TestConflictsWithTheBase(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	start := site()["guides/start.mdx"]
	other := strings.Replace(start, "then run it", "then start it", 1)
	for _, c := range []struct {
		name  string
		first bool                             // people change main while the first round works, else after it
		main  map[string]string                // what people change
		merge func(w *world, j admin.AgentJob) // what they do then
		body  string                           // of the pull request in the end, "" for no conflict
	}{
		{name: "the same line", main: map[string]string{"guides/start.mdx": other}, body: "`guides/start.mdx:6: others changed the same lines, in the branch main`"},
		{name: "the same line, in the first round", first: true, main: map[string]string{"guides/start.mdx": other}, body: "`guides/start.mdx:6: others changed the same lines, in the branch main`"},
		{name: "another line", main: map[string]string{"guides/start.mdx": strings.Replace(start, "title: Start", "title: Begin", 1)}},
		{name: "another line, in the first round", first: true, main: map[string]string{"guides/start.mdx": strings.Replace(start, "title: Start", "title: Begin", 1)}},
		{name: "the same change", main: map[string]string{"guides/start.mdx": strings.Replace(start, "widgit", "widget", 1)}},
		{name: "another file", main: map[string]string{"more.md": "# More\n"}},
		{name: "the file goes", main: map[string]string{"guides/start.mdx": "", "docs.json": strings.Replace(site()["docs.json"], `, "guides/start"`, "", 1)}, body: "guides/start.mdx: others deleted the file"},
		{name: "what this round changes", main: map[string]string{"index.mdx": strings.Replace(site()["index.mdx"], "makes", "builds", 1)}, body: "index.mdx:6"},
		{name: "merged by people", main: map[string]string{"guides/start.mdx": other}, merge: func(w *world, j admin.AgentJob) {
			w.forge.MergeBranch(j.Branch, "main") // with the branch's text
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, steps(mends, finishes)...)
			if c.first {
				w.at(job.TaskAgentPublish, func() { w.forge.Write("main", c.main) })
			}
			j := w.run(w.ask("Mend the spelling of widget"))
			if !c.first {
				w.forge.Write("main", c.main)
				if c.merge != nil {
					c.merge(w, j)
				}
				w.model.Add(rename...)
				j = w.run(w.message(j, "Call them gadgets"))
			}
			if j.Status != admin.AgentCompleted {
				t.Fatalf("the job ended with %+v", j.Failure)
			}
			pulls := w.forge.Pulls()
			if len(pulls) != 1 || pulls[0].Draft || strings.Contains(pulls[0].Body, "Conflicts") != (c.body != "") || !strings.Contains(pulls[0].Body, c.body) {
				t.Errorf("the pull requests are %+v, want %q", pulls, c.body)
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
