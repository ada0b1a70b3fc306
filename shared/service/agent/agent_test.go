package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
)

type args = map[string]any

func call(name string, in args) modeltest.Call { return modeltest.Call{Name: name, Input: in} }

// The calls of a job that mends a typing error.
var (
	mends    = modeltest.Calls(call("edit", args{"path": "guides/start.mdx", "old": "widgit", "new": "widget"}))
	finishes = modeltest.Calls(call("finish", args{"title": "docs: widget is spelled right", "summary": "The start page said widgit. @everyone fixes #12"}))
)

func TestAPromptBecomesAPullRequest(t *testing.T) {
	w := newWorld(t,
		modeltest.Calls(call("search", args{"pattern": "widgit"}), call("read", args{"path": "guides/start.mdx"})),
		mends, finishes)
	j := w.run(w.ask("Mend the spelling of widget"))
	if j.Status != admin.AgentCompleted || j.PRLink == "" || j.Failure != nil {
		t.Fatalf("the job is %+v (%+v)", j, j.Failure)
	}
	branch := "bindery/" + j.ID
	want := site()
	want["guides/start.mdx"] = strings.Replace(want["guides/start.mdx"], "widgit", "widget", 1)
	if d := cmp.Diff(want, w.forge.Files(branch)); d != "" {
		t.Errorf("files of the branch:\n%s", d)
	}
	if d := cmp.Diff(site(), w.forge.Files("main")); d != "" {
		t.Errorf("main was changed:\n%s", d)
	}
	commits := w.forge.Commits(branch)
	if len(commits) != 2 || len(commits[0].Parents) != 1 || commits[0].Parents[0] != w.forge.Branch("main") || !strings.HasPrefix(commits[0].Message, "docs: widget is spelled right\n") {
		t.Errorf("commits are %+v", commits)
	}
	pulls := w.forge.Pulls()
	if len(pulls) != 1 || pulls[0].URL != j.PRLink || pulls[0].Draft {
		t.Fatalf("pull requests are %+v", pulls)
	}
	for _, not := range []string{"@everyone", "#12"} {
		if strings.Contains(pulls[0].Body, not) {
			t.Errorf("the pull request has %s:\n%s", not, pulls[0].Body)
		}
	}
	for _, part := range []string{"> Mend the spelling of widget", "`guides/start.mdx` (+1 −1)", "finds nothing that was not there before"} {
		if !strings.Contains(pulls[0].Body, part) {
			t.Errorf("the pull request lacks %q:\n%s", part, pulls[0].Body)
		}
	}
	if want := (admin.AgentChanges{Files: 1, Added: 1, Removed: 1}); j.Changes != want || j.Turns != 3 || j.Usage.Cost == 0 {
		t.Errorf("changes %+v, %d turns, usage %+v", j.Changes, j.Turns, j.Usage)
	}
	if j.Name() != "docs: widget is spelled right" || j.Prompt != "Mend the spelling of widget" || j.Summary != "The start page said widgit. @everyone fixes #12" {
		t.Errorf("the job says %q of %q: %q", j.Name(), j.Prompt, j.Summary)
	}
	if d := cmp.Diff([]admin.AgentPage{{Path: "guides/start.mdx", Change: admin.AgentPageChanged}}, j.Pages); d != "" {
		t.Errorf("pages of the job:\n%s", d)
	}
	if n := w.model.Left(); n > 0 {
		t.Errorf("%d steps of the script are left", n)
	}
	var files []admin.AgentFile
	events, _, err := w.admin.AgentEvents(t.Context(), w.admin.Operator(j.Organisation), j.Project, j.ID, "", 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		files = append(files, e.Files...)
	}
	if len(files) != 1 || files[0].Path != "guides/start.mdx" || files[0].Added != 1 || files[0].Removed != 1 || !strings.Contains(files[0].Diff, "\n+") {
		t.Errorf("what it changed is kept as %+v", files)
	}
}
