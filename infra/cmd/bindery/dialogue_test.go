package main

import (
	"bytes"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/server"
)

type input = map[string]any

func calls(name string, in input) modeltest.Step {
	return modeltest.Calls(modeltest.Call{Name: name, Input: in})
}

// The job of the dialogue: a model that asks back, an answer, and a review.
var (
	dialogueSite = map[string]string{
		"docs.json":      "{\n  \"name\": \"Acme\",\n  \"navigation\": {\"pages\": [\"quickstart\", \"push\"]}\n}\n",
		"quickstart.mdx": "---\ntitle: Quickstart\ndescription: From nothing to a running widget\n---\n\nRun `acme push`.\n",
		"push.mdx":       "---\ntitle: acme push\ndescription: Send widgets to the server\n---\n\n| Flag | Meaning | Since |\n|---|---|---|\n| `--all` | Send all widgets. | 1.0 |\n",
	}
	dialogueEdits = []input{
		{"path": "push.mdx", "old": "| `--all` | Send all widgets. | 1.0 |\n", "new": "| `--all` | Send all widgets. | 1.0 |\n| `--dry-run` | Show what would be sent, and send nothing. | 1.4 |\n"},
		{"path": "quickstart.mdx", "old": "Run `acme push`.\n", "new": "Run `acme push`. To see first what it would send, run [`acme push --dry-run`](/push).\n"},
	}
	dialogueModel = []modeltest.Step{
		modeltest.Calls(
			modeltest.Call{Name: "plan", Input: input{"steps": []input{{"text": "Read what the page of acme push says", "state": "doing"}, {"text": "Add the flag to its table", "state": "pending"}}}},
			modeltest.Call{Name: "read", Input: input{"path": "push.mdx"}},
		),
		calls("finish", input{
			"title": "Describe --dry-run", "summary": "The table of `acme push` names for each flag the version since which there is one. I have not changed anything yet.",
			"question": "Since which version does `acme push` have `--dry-run`?",
		}),

		calls("edit", dialogueEdits[0]),
		calls("check", input{}),
		calls("finish", input{
			"title": "Describe --dry-run", "summary": "The table of `acme push` has the flag `--dry-run` now.",
			"sources": []input{{"statement": "--dry-run is there since 1.4", "message": 2}},
		}),

		calls("edit", dialogueEdits[1]),
		calls("finish", input{"title": "Mention --dry-run in the quickstart", "summary": "The quickstart names the flag and links to its page."}),
	}
)

// The blocks of the dialogue in the documentation are the output of a scripted job: of the
// commands, of the pull request, and of a page after the merge. -update writes them. The
// test ignores amounts of tokens and dollars.
func TestDialogueOfTheDocs(t *testing.T) {
	file := filepath.Join(docsDir, "operate", "agent.mdx")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, m := forgetest.New(t), modeltest.New(t, dialogueModel...)
	f.Write("main", dialogueSite)
	table, err := model.ParseTable([]byte(`{"default": "best", "servers": {"s": {"base": "` + m.URL + `", "allowHTTP": true, "auth": "none"}},
		"models": {"best": {"server": "s", "model": "large-1", "context": 200000, "output": 8000, "price": {"input": 2, "cacheWrite": 2.5, "cacheRead": 0.2, "output": 10}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	known, err := models.New(table, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	host, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(t.Context(), server.Options{Dir: t.TempDir(), Addr: "127.0.0.1:0", Models: known, Forge: forge.Options{AllowPrivate: []string{host.Host}, AllowHTTP: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	have, err := s.Seed(t.Context(), server.SeedDomain)
	if err == nil {
		err = s.Serve(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Admin.CreateProject(t.Context(), admin.Project{Organisation: have.Organisation, Domain: "widgets.example.com", Repository: f.Repository().URL, Agent: admin.AgentSettings{Forge: string(f.Kind)}})
	if err == nil {
		_, err = s.Admin.SetForgeCredential(t.Context(), p.ID, admin.ForgeCredential{Username: f.User, Token: f.Token})
	}
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"BINDERY_URL": s.URL, "BINDERY_ADMIN_KEY": have.Key, "BINDERY_PROJECT": p.ID}
	job := regexp.MustCompile(`agj_[0-9a-z]+`)
	id, blocks := "", map[string]string{}
	// says runs the command of a block of the page, and notes what it prints after a step.
	says := func(command, step string) {
		t.Helper()
		text := strings.ReplaceAll(strings.TrimSpace(fence(string(page), "```bash "+command)), "agj_…", id)
		args := regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(text, -1)
		for i := range args {
			args[i] = strings.Trim(args[i], `"`)
		}
		if len(args) < 2 {
			t.Fatalf("the page has no block %q", command)
		}
		var out, events bytes.Buffer
		if code := run(t.Context(), args[1:], strings.NewReader(""), &out, &events, func(name string) string { return env[name] }); code != 0 {
			t.Fatalf("%q ends with %d: %s", args, code, events.String())
		}
		id = job.FindString(out.String())
		blocks["```text Events of "+step], blocks["```text After "+step] = events.String(), out.String()
	}
	says("Ask", "the first round")
	says("Answer", "the second round")
	says("Send the review", "the third round")
	pulls := f.Pulls()
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests", len(pulls))
	}
	blocks["````md The pull request"] = "# " + pulls[0].Title + "\n\n" + pulls[0].Body
	f.Merge(pulls[0].Number)
	says("Look at the job", "the merge")
	merged := f.Files("main")
	want := maps.Clone(dialogueSite)
	for _, step := range dialogueEdits {
		want[step["path"].(string)] = strings.Replace(want[step["path"].(string)], step["old"].(string), step["new"].(string), 1)
	}
	if !maps.Equal(merged, want) {
		t.Errorf("main has %q, want %q", merged, want)
	}
	blocks["```mdx push.mdx in main"] = merged["push.mdx"]

	created, commit := regexp.MustCompile(`(?m)^(created +).*$`), regexp.MustCompile(`( at )[0-9a-f]{10}(: \d+ files)`)
	// Tokens, and so dollars, follow from all that the tools say of themselves. When that
	// changes, the page may show older amounts.
	amounts := regexp.MustCompile(`\d+ tokens in, \d+ cached, \d+ out|\d+ input and \d+ output|\$\d+\.\d+`)
	got, shown := string(page), 0
	for head, text := range blocks {
		was := fence(got, head)
		if was == "" {
			continue
		}
		shown++
		text = strings.NewReplacer(f.URL, "https://git.example.com", id, "agj_…").Replace(strings.TrimRight(text, "\n") + "\n")
		text = commit.ReplaceAllString(created.ReplaceAllString(text, "${1}2026-11-26"), "${1}…${2}")
		if golden.Update() || amounts.ReplaceAllString(was, "N") != amounts.ReplaceAllString(text, "N") {
			got = strings.Replace(got, head+"\n"+was, head+"\n"+text, 1)
		}
	}
	if shown < 8 {
		t.Errorf("the page shows %d blocks of the dialogue", shown)
	}
	golden.Same(t, file, []byte(got))
}

// fence returns the text of the block of code that begins with head, "" if there is none.
func fence(page, head string) string {
	ticks := head[:strings.LastIndexByte(strings.Fields(head)[0], '`')+1]
	_, rest, _ := strings.Cut(page, head+"\n")
	if at := strings.Index(rest, "\n"+ticks); at >= 0 {
		return rest[:at+1]
	}
	return ""
}
