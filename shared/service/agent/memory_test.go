package agent_test

import (
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

// remembering answers with s and notes how the conversation begins.
func remembering(opening *string, s modeltest.Step) modeltest.Step {
	return s.When(func(r model.Request) error {
		first := r.Messages[0].Content
		*opening = first[len(first)-1].Text
		return nil
	})
}

var asks = modeltest.Calls(call("finish", args{"title": "Which widget?", "summary": "There are red and blue ones.", "question": "Which of red and blue is right?"}))

// away is a model's server that fails for longer than a request is tried.
var away = modeltest.Failing().Times(2)

// What the model reads of the rounds before, and what the next pull request has of
// their changes.
func TestWhatARoundRemembers(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	mended := strings.Replace(site()["guides/start.mdx"], "widgit", "widget", 1)
	for _, c := range []struct {
		name    string
		kind    forge.Kind
		set     admin.AgentSettings
		before  func(w *world)
		first   script
		code    string                                    // of the first round's failure
		cancel  string                                    // the step before which the first round is cancelled
		between func(w *world, branch string, number int) // what people do
		second  script
		tells   []string
		silent  []string          // about this
		files   map[string]string // of the branch in the end
	}{
		{name: "a question", first: steps(asks),
			tells:  []string{"Round 1. It was asked:\n<request>\nFIRST\n</request>\nYou finished it as \"Which widget?\". It changed nothing. Your summary:\n<summary>\nThere are red and blue ones.", "You asked:\n<question>\nWhich of red and blue is right?\n</question>", "There is no pull request yet.", "The request:\n<request>\nSECOND\n"},
			silent: []string{"no longer open", "Carried", "<changes>", "<lost>"}},
		{name: "a pull request that is open", first: steps(mends, finishes),
			tells: []string{"You finished it as \"docs: widget is spelled right\". It changed guides/start.mdx.", "this round continues their pull request."}, silent: []string{"<changes>"}},
		{name: "a branch of plain Git", kind: forge.Git, first: steps(mends, finishes), tells: []string{"this round continues their branch."}},
		{name: "a pull request that was merged", first: steps(mends, finishes), between: func(w *world, _ string, n int) { w.forge.Merge(n) }, tells: []string{"was merged"}, silent: []string{"no pull request"}},
		{name: "a pull request that was closed", first: steps(mends, finishes), between: func(w *world, _ string, n int) { w.forge.Close(n) }, tells: []string{"People closed the pull request", "its changes are not in the files"},
			files: map[string]string{"guides/start.mdx": site()["guides/start.mdx"]}},
		{name: "a branch that is gone", first: steps(mends, finishes), between: func(w *world, branch string, _ int) { w.forge.DeleteBranch(branch) }, tells: []string{"is gone"}},
		{name: "people pushed to the branch", first: steps(mends, finishes), between: func(w *world, branch string, _ int) {
			w.forge.Write(branch, map[string]string{"index.mdx": site()["index.mdx"] + "\nCall us.\n", "logo.png": "\x89PNG\r\n\x1a\n\x00\x00\x00", "more.mdx": ""})
		}, tells: []string{"People changed files since then:\n<changes>\n--- a/index.mdx", "+Call us.", "Also changed: logo.png\n"}, silent: []string{"-Install", "+Install"}},
		{name: "the model's server is away", first: steps(mends, away), code: model.CodeUnavailable, second: steps(done("Go on")),
			tells: []string{"It failed (model_unavailable): the model's server failed", "It changed guides/start.mdx.", "Round 1 ended without a pull request. Its changes are in the files already, and a pull request of this round has them: guides/start.mdx."},
			files: map[string]string{"guides/start.mdx": mended, "index.mdx": site()["index.mdx"]}},
		{name: "a plan that was not done", first: steps(modeltest.Calls(call("plan", args{"steps": []args{{"text": "Spelling", "state": "done"}, {"text": "Links", "state": "pending"}}})), mends, modeltest.Refusal("No.")), code: model.CodeRefused,
			second: steps(done("Go on")), silent: []string{"FIRST"}, tells: []string{"<plan>\ndone: Spelling\npending: Links\n</plan>"}, files: map[string]string{"guides/start.mdx": mended}},
		{name: "a budget that is used up", set: admin.AgentSettings{MaxTurns: 3}, first: append(steps(mends), reads(2)...), code: admin.CodeBudget, second: steps(done("Go on")),
			files: map[string]string{"guides/start.mdx": mended}},
		{name: "a budget that ended with finish", set: admin.AgentSettings{MaxTurns: 3}, first: append(steps(mends), append(reads(1), modeltest.Calls(call("finish", args{"title": "Half", "summary": "The start page.", "left": "The index."})))...),
			tells: []string{"Left to do:\n<left>\nThe index.\n</left>"}},
		{name: "cancelled", first: steps(mends, finishes), code: admin.CodeCancelled, cancel: job.TaskAgentReview, second: steps(done("Go on")),
			tells: []string{"The one who asked cancelled it. It changed guides/start.mdx."}, files: map[string]string{"guides/start.mdx": mended}},
		{name: "cancelled before the first turn", code: admin.CodeCancelled, cancel: job.TaskAgentWork, second: steps(lists, done("Nothing")),
			tells: []string{"<request>\nFIRST\n</request>\nThe one who asked cancelled it. It changed nothing.\n\nThere is no pull request yet.\n\nThe request:\n<request>\nSECOND\n"}},
		{name: "cancelled before it was prepared", code: admin.CodeCancelled, cancel: job.TaskAgentPrepare, second: steps(lists, done("Nothing")),
			tells: []string{"<request>\nFIRST\n</request>\nThe one who asked cancelled it.", "The request:\n<request>\nSECOND\n"}},
		{name: "a refused pull request", before: func(w *world) { w.forge.FailAlways(forgetest.OpenPull, refusing) }, first: steps(mends, finishes), code: forge.CodePullRefused,
			between: func(w *world, _ string, _ int) { w.forge.Heal() }, second: steps(done("Go on")), files: map[string]string{"guides/start.mdx": mended}},
		{name: "a refused request", first: steps(modeltest.Refusal("No.")), code: model.CodeRefused,
			tells: []string{"The model refused what it was asked, which is left out here. It failed (model_refused)", "The request:\n<request>\nSECOND\n"}, silent: []string{"FIRST"}},
		{name: "people changed another line of the same file", first: steps(mends, away), code: model.CodeUnavailable, second: steps(done("Go on")),
			between: func(w *world, _ string, _ int) {
				w.forge.Write("main", map[string]string{"guides/start.mdx": strings.Replace(site()["guides/start.mdx"], "First steps", "The first steps", 1)})
			},
			tells: []string{"+description: The first steps"}, files: map[string]string{"guides/start.mdx": strings.Replace(mended, "First steps", "The first steps", 1)}},
		{name: "people changed the same line", first: steps(mends, modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "Acme builds"})), away), code: model.CodeUnavailable, second: steps(done("Go on")),
			between: func(w *world, _ string, _ int) {
				w.forge.Write("main", map[string]string{"guides/start.mdx": strings.Replace(site()["guides/start.mdx"], "then run it", "then start it", 1)})
			},
			tells: []string{"<lost>\nguides/start.mdx:6: others changed the same lines; the text that was lost:\nInstall the widget, then run it.\n</lost>"},
			files: map[string]string{"guides/start.mdx": strings.Replace(site()["guides/start.mdx"], "then run it", "then start it", 1), "index.mdx": strings.Replace(site()["index.mdx"], "makes", "builds", 1)}},
		{name: "people added another page to the navigation", first: steps(write("guides/ours.mdx", "---\ntitle: Ours\ndescription: A page\n---\n\nWords.\n"), modeltest.Calls(call("navigation", args{"action": "add", "entry": "guides/ours", "after": "guides/start"})), away), code: model.CodeUnavailable, second: steps(done("Go on")),
			between: func(w *world, _ string, _ int) {
				w.forge.Write("main", map[string]string{"guides/theirs.mdx": site()["guides/start.mdx"], "docs.json": strings.Replace(site()["docs.json"], `"guides/start"`, `"guides/start", "guides/theirs"`, 1)})
			},
			silent: []string{"<lost>"}, files: map[string]string{"docs.json": strings.Replace(site()["docs.json"], `"guides/start"`, `"guides/start", "guides/ours", "guides/theirs"`, 1)}},
		{name: "people changed the same setting", first: steps(modeltest.Calls(call("edit", args{"path": "docs.json", "old": "#112233", "new": "#445566"})), mends, away), code: model.CodeUnavailable, second: steps(done("Go on")),
			between: func(w *world, _ string, _ int) {
				w.forge.Write("main", map[string]string{"docs.json": strings.Replace(site()["docs.json"], "#112233", "#778899", 1)})
			},
			tells: []string{"<lost>\ndocs.json: others changed colors.primary, too; the text that was lost:\n\"#445566\"\n</lost>"}, files: map[string]string{"docs.json": strings.Replace(site()["docs.json"], "#112233", "#778899", 1)}},
		{name: "people deleted the file", first: steps(mends, modeltest.Calls(call("edit", args{"path": "index.mdx", "old": "Acme makes", "new": "Acme builds"})), away), code: model.CodeUnavailable, second: steps(done("Go on")),
			between: func(w *world, _ string, _ int) { w.forge.Write("main", map[string]string{"guides/start.mdx": ""}) },
			tells:   []string{"guides/start.mdx: others deleted the file, which the agent changed"},
			files:   map[string]string{"index.mdx": strings.Replace(site()["index.mdx"], "makes", "builds", 1)}},
		{name: "people made the same change", first: steps(mends, away), code: model.CodeUnavailable, second: rename,
			between: func(w *world, _ string, _ int) {
				w.forge.Write("main", map[string]string{"guides/start.mdx": mended})
			}, silent: []string{"<lost>", "Its changes are in the files"}, files: map[string]string{"guides/start.mdx": mended}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.kind == "" {
				c.kind = forge.Gitea
			}
			w := newWorldOn(t, forgetest.New(t, forgetest.Dialect(c.kind)), c.first...)
			w.configure(c.set)
			if c.before != nil {
				c.before(w)
			}
			j := w.ask("FIRST")
			if c.cancel != "" {
				w.at(c.cancel, func() { w.cancel(j) })
			}
			one := w.run(j)
			if code := failure(one); code != c.code {
				t.Fatalf("the first round ended with %q: %+v", code, one.Failure)
			}
			if c.between != nil {
				c.between(w, one.Branch, one.PRNumber)
			}
			if c.second == nil {
				c.second = rename
			}
			var opening string
			w.model.Add(remembering(&opening, c.second[0]))
			w.model.Add(c.second[1:]...)
			two := w.run(w.message(one, "SECOND"))
			if code := failure(two); code != "" {
				t.Fatalf("the second round ended with %q: %+v", code, two.Failure)
			}
			for _, text := range c.tells {
				if !strings.Contains(opening, text) {
					t.Errorf("the model is not told %q:\n%s", text, opening)
				}
			}
			for _, text := range c.silent {
				if strings.Contains(opening, text) {
					t.Errorf("the model is told %q:\n%s", text, opening)
				}
			}
			if len(c.files) == 0 {
				return
			}
			files := w.forge.Files(two.Branch)
			for path, want := range c.files {
				if files[path] != want {
					t.Errorf("%s is %q, want %q", path, files[path], want)
				}
			}
			if pulls := w.forge.Pulls(); len(pulls) == 0 || two.PRLink != pulls[len(pulls)-1].URL {
				t.Errorf("the job's link is %q, of %+v", two.PRLink, pulls)
			}
		})
	}
}
