package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/job"

	"github.com/bindery-docs/bindery/tests/outside"
)

// stopped is an answer that stops at the model's limit of output.
func stopped(s modeltest.Step) modeltest.Step {
	s.Stop = model.StopMaxTokens
	return s
}

// An answer that stops at the model's limit never completes a round: it is continued
// once, and a second one in a row fails it.
func TestAnswersThatStopAtALimit(t *testing.T) {
	half := stopped(modeltest.Text("Now I will write the long page with all of the follo"))
	cutCall := modeltest.CutCall("write", args{"path": "long.mdx", "content": strings.Repeat("word ", 100)}, 60)
	finished := stopped(modeltest.Calls(finish("Widget is spelled right")))
	const said = "stopped at its limit of tokens"
	for _, c := range []struct {
		name   string
		set    admin.AgentSettings
		script script
		want   expected
	}{
		{name: "two texts", script: steps(mends, half, told(said, half)), want: expected{code: admin.CodeModelOutput, turns: 3}},
		{name: "a text, then a call", script: steps(mends, half, told(said, cutCall)), want: expected{code: admin.CodeModelOutput, turns: 3}},
		{name: "a text, then a whole one", script: steps(mends, half, told(said, modeltest.Text("It is done."))), want: expected{pulls: 1, turns: 3}},
		{name: "one after another, not in a row", script: steps(half, mends, half, finishes), want: expected{pulls: 1, turns: 4}},
		{name: "a whole call of finish in it", script: steps(mends, finished, told("Call finish alone", finishes)), want: expected{pulls: 1, turns: 3}},
		{name: "twice a whole call of finish", script: steps(mends, finished, finished), want: expected{code: admin.CodeModelOutput, turns: 3}},
		{name: "in the last turn", set: admin.AgentSettings{MaxTurns: 2}, script: steps(mends, half), want: expected{code: admin.CodeBudget, turns: 2}},
		{name: "a page in two parts", script: steps(
			modeltest.Calls(call("write", args{"path": "long.mdx", "content": "---\ntitle: Long\ndescription: In parts\n---\n\nOne."})),
			modeltest.Calls(call("write", args{"path": "long.mdx", "append": true, "content": "Two.\n"}), call("navigation", args{"action": "add", "entry": "long"})),
			done("A long page")), want: expected{pulls: 1, turns: 3, body: []string{"`long.mdx` (new, 7 lines)"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.configure(c.set)
			w.end(w.run(w.ask("Mend the spelling of widget")), c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// A Work that begins anew with each turn knows what the model has read: it refuses to
// replace the page that was not, and replaces the one that was.
func TestWholeFilesOverRestarts(t *testing.T) {
	const page = "---\ntitle: Welcome\ndescription: What Acme is\n---\n\nAcme makes gadgets.\n"
	w := newWorld(t)
	answers := steps(
		modeltest.Calls(call("read", args{"path": "guides/start.mdx"}), call("read", args{"path": "index.mdx", "lines": 5})),
		modeltest.Calls(call("write", args{"path": "index.mdx", "content": page})),
		told("read the whole file first", modeltest.Calls(call("write", args{"path": "guides/start.mdx", "content": page}))),
		told("replaced", finishes))
	w.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		w.Advance(agent.Segment)
		return answers[len(r.Messages)/2]
	}))
	w.end(w.run(w.ask("Write about gadgets")), expected{pulls: 1, turns: 4, body: []string{"`guides/start.mdx`"}})
}

// specification is an OpenAPI file of at least that many bytes, on one line.
func specification(bytes int) string {
	return `{"openapi": "3.1.0", "info": {"title": "Items", "version": "1"}, "components": {"schemas": {"Unused": {"description": "` +
		strings.Repeat("It is long. ", bytes/12) + `"}}}, "paths": {"/items/{id}": {"get": {"operationId": "getItem", "summary": "Read an item", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "NEEDLE"}}}}}}`
}

// A specification up to 8 MiB is searched, read in ranges and checked. One that is
// larger is not there for the agent, and causes no false finding.
func TestLargeSpecifications(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	page := call("write", args{"path": "api/item.mdx", "content": "---\ntitle: Item\ndescription: Read an item.\nopenapi: GET /items/{id}\n---\n"})
	added := call("navigation", args{"action": "add", "entry": "api/item"})
	for _, c := range []struct {
		name   string
		files  map[string]string
		script script
		want   expected
	}{
		{name: "2.3 MB", files: map[string]string{"openapi.json": specification(2_300_000)}, script: steps(
			modeltest.Calls(call("search", args{"pattern": "NEEDLE"})),
			told("openapi.json:1:2300", modeltest.Calls(call("read", args{"path": "openapi.json", "column": 2_300_000}))),
			told("NEEDLE", modeltest.Calls(page, added)), modeltest.Calls(call("check", args{})), told("Nothing is wrong", done("Items"))),
			want: expected{pulls: 1, body: []string{"finds nothing that was not there before"}}},
		{name: "2.3 MB, and no such operation", files: map[string]string{"openapi.json": specification(2_300_000)}, script: steps(
			modeltest.Calls(call("write", args{"path": "api/item.mdx", "content": "---\ntitle: Item\ndescription: Read an item.\nopenapi: GET /none\n---\n"}), added),
			modeltest.Calls(call("check", args{})), told("is in none of the specifications", done("Items")), done("Items")),
			want: expected{pulls: 1, draft: true}},
		{name: "an edit of 2.3 MB", files: map[string]string{"openapi.json": specification(1_300_000)}, script: steps(
			modeltest.Calls(call("edit", args{"path": "openapi.json", "old": "NEEDLE", "new": "An item"})), told("Replaced", done("Items"))),
			want: expected{pulls: 1, body: []string{"`openapi.json` (+1 −1)"}}},
		{name: "9 MB", files: map[string]string{"openapi.json": specification(9_000_000)}, script: steps(
			modeltest.Calls(call("read", args{"path": "openapi.json"})), told("too large to read", modeltest.Calls(page, added)),
			modeltest.Calls(call("check", args{})), told("Nothing is wrong", done("Items"))),
			want: expected{pulls: 1, body: []string{"finds nothing that was not there before"}}},
		{name: "mint.json", files: map[string]string{"docs.json": "", "mint.json": site()["docs.json"]}, script: steps(mends, done("Widget")), want: expected{pulls: 1}},
		{name: "instructions, nearest first", files: map[string]string{"AGENTS.md": "Say doodad.\n", "CLAUDE.md": "Say nothing.\n", ".mintlify/Agents.md": "Say gadget.\n"},
			script: steps(instructed("Say gadget.\n\nFrom AGENTS.md:\n\nSay doodad.", mends), finishes), want: expected{pulls: 1}},
		{name: "a style guide, after the instructions of its folder", files: map[string]string{"CLAUDE.md": "Say doodad.\n", "STYLEGUIDE.md": "No contractions.\n", "style-guide.txt": "Not this.\n"},
			script: steps(instructed("Say doodad.\n\nFrom STYLEGUIDE.md:\n\nNo contractions.\n", mends), finishes), want: expected{pulls: 1}},
		{name: "style guides of folders, nearest first", files: below("docs", with(site(), "style-guide.mdx", "Near.\n", "../Style_Guide.md", "Far.\n", "../guides/style-guide.md", "Elsewhere.\n")),
			script: steps(instructed("Near.\n\nFrom Style_Guide.md:\n\nFar.\n", mends), finishes), want: expected{pulls: 1}},
		{name: "instructions that are too long", files: map[string]string{"AGENTS.md": strings.Repeat("A rule.\n", 2100)},
			script: steps(instructed(strings.Repeat("A rule.\n", 2048)+"…\n(416 more bytes of instructions are left out)", mends), finishes), want: expected{pulls: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.forge.Write("main", c.files)
			w.end(w.run(w.ask("Describe items")), c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// A file that is no part of the site is refused to the model, and by Publish if the
// project takes its leave back. With it, the pull request says why to look at it.
func TestFilesThatAreNoPartsOfTheSite(t *testing.T) {
	pipeline := modeltest.Calls(call("write", args{"path": "amplify.yml", "content": "version: 1\n"}))
	leave := admin.AgentSettings{AllowOtherFiles: true}
	for _, c := range []struct {
		name   string
		set    admin.AgentSettings
		taken  bool // the leave, before Publish
		script script
		want   expected
	}{
		{name: "refused", script: steps(pipeline, told("agents write pages", done("Nothing"))), want: expected{turns: 2}},
		{name: "allowed", set: leave, script: steps(pipeline, done("A pipeline")), want: expected{pulls: 1, first: "**Look at this first.** Files that are no parts of the site",
			body: []string{"`amplify.yml: runs in CI, or where the site is built`"}}},
		{name: "no longer allowed", set: leave, taken: true, script: steps(pipeline, done("A pipeline"), told("amplify.yml: runs in CI", done("A pipeline"))), want: expected{code: admin.CodeChanges, message: "amplify.yml: runs in CI"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.configure(c.set)
			if c.taken {
				w.at(job.TaskAgentPublish, func() { w.configure(admin.AgentSettings{}) })
			}
			w.end(w.run(w.ask("Add a pipeline")), c.want)
		})
	}
}

// A secret that a model writes is in no event, record or log, whatever the tool.
func TestSecretsAreNotShown(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	w := newWorld(t,
		modeltest.Calls(call("write", args{"path": "new.mdx", "content": secret}), call("plan", args{"steps": []args{{"text": "Use " + secret, "state": "doing"}}}),
			call("search", args{"pattern": secret, "literal": true}), call("edit", args{"path": "index.mdx", "old": secret, "new": "x"})).Saying("I write "+secret),
		told("looks like a secret", mends), modeltest.Calls(call("finish", args{"title": "Done", "summary": "With " + secret})), told("Describe the work without it", finishes))
	j := w.run(w.ask("Mend the spelling of widget"))
	w.end(j, expected{pulls: 1, turns: 4})
	events, _, err := w.admin.AgentEvents(w.ctx, w.caller, j.Project, j.ID, "", 100)
	if err != nil || len(events) < 4 {
		t.Fatal(events, err)
	}
	shown, err := json.Marshal([]any{events, j, w.forge.Pulls()})
	if err != nil || strings.Contains(string(shown), secret) {
		t.Errorf("the secret is shown: %s, %v", shown, err)
	}
	if !strings.Contains(string(shown), "I write (a token of GitHub)") {
		t.Errorf("the answer's text is not shown: %s", shown)
	}
}

// The list of new hosts in a pull request is never cut: changes with more than it can
// hold are refused.
func TestAllNewHostsAreListed(t *testing.T) {
	for _, c := range []struct {
		hosts int
		want  expected
	}{
		{120, expected{pulls: 1, body: []string{"`h0.example (new.mdx:6)`", "`h60.example (new.mdx:66)`", "`h119.example (new.mdx:125)`"}}},
		{1200, expected{code: admin.CodeChanges, message: "1200 new hosts"}},
	} {
		page := "---\ntitle: New\ndescription: Links\n---\n\n"
		for i := range c.hosts {
			page += fmt.Sprintf("[a](https://h%d.example)\n", i)
		}
		w := newWorld(t, write("new.mdx", page), done("Links"))
		if c.want.code != "" {
			w.model.Add(told("more than a pull request can list", done("Links")))
		}
		w.end(w.run(w.ask("Add links")), c.want)
	}
}
