package tool

import (
	"strings"
	"testing"
)

// An agent writes what a site is made of. What programs, builds and other agents read
// is something else, and has a reason.
func TestOthers(t *testing.T) {
	const spec = "openapi: 3.1.0\ninfo: {title: X, version: '1'}\npaths: {}\nx-own: 1\n"
	base := memory{
		"docs.json":        `{"navigation": {"pages": ["index", "WARP"], "$ref": "nav/en.json"}, "api": {"openapi": ["api/main.yaml", "specs/wrangler.json"]}, "logo": "/logo.svg"}`,
		"nav/en.json":      `{"groups": []}`,
		"api/main.yaml":    "openapi: 3.1.0\ninfo: {}\npaths:\n  /x: {$ref: './paths/x.yaml#/x'}\n",
		"api/paths/x.yaml": "x:\n  get:\n    schema: {\"$ref\": \"../model/y.json\"}\n",
		"old.yml":          "swagger: '2.0'\nbasePath: /\nown: 1\n", "data.json": "[]", "amplify.yml": "version: 1\n", "custom.js": "x()\n", "data.csv": "a\n", "index.mdx": "x\n", "specs/wrangler.json": "{}",
	}
	for _, c := range []struct {
		files  string
		text   string
		reason string
	}{
		{"a.mdx guides/b.md README.md docs/CHANGELOG.md guides/claude.mdx WARP.md API.mdx claude-code.md", "x\n", ""},
		{"logo.svg style.css llms.txt llms-full.txt robots.txt docs.json mint.json", "x\n", ""},
		{"snippets/x.mdx snippets/x.jsx _snippets/y.js components/card.tsx de/_snippets/z.jsx", "x\n", ""},
		{"nav/en.json api/main.yaml api/paths/x.yaml api/model/y.json old.yml specs/wrangler.json", "x: 1\n", ""},
		{"openapi.yaml api/new.yml v2/spec.json", spec, ""},
		{"openapi.json", `{"asyncapi": "3.0.0", "info": {}, "channels": {}}`, ""},
		// A specification that is a pipeline besides.
		{"openapi.yaml", spec + "phases: {build: {commands: [curl]}}\n", mayRun},
		{"openapi.yaml", spec + "---\non: push\n", mayRun},
		{"openapi.yaml", "{openapi: 3.1.0, <<: {jobs: 1}}\n", mayRun},
		{"data.json new.yaml lists/x.yml pom2.xml notes.txt", "a: 1\n", mayRun},
		{"amplify.yml amplify.yaml pom.xml build.xml serverless.yml serverless.yaml taskfile.yaml lefthook.yaml skaffold.yaml template.yaml Chart.yaml values.yaml kustomization.yaml", spec, runsInCI},
		{"cloudformation.yaml playbook.yml _config.yml mkdocs.yaml codemagic.yml jest.config.json nodemon.json project.json rush.json app.json wrangler.json docker-compose.override.yml", spec, runsInCI},
		{"requirements-dev.txt dev-requirements.txt", "x\n", runsInCI},
		{"babel.config.json gulpfile.mjs gulpfile.ts webpack.mix.js scripts/build.js test/index.test.js snippets/x.test.js _worker.js middleware.ts api/hello.ts functions/x.js netlify/functions/x.js sw.js snippets/scripts/x.js", "x\n", runsInCI},
		{"custom.js app2.tsx lib/x.mjs", "x\n", isScript},
		{"CLAUDE.local.md AGENTS.override.md WARP2.md guides/CONVENTIONS.md agents.x.md", "x\n", instructs},
		{"x.html", "x\n", isDocument},
		{"data.csv", "x\n", isUnknown},
	} {
		for p := range strings.FieldsSeq(c.files) {
			want := p + ": " + c.reason
			got, err := Others(base, "", []Change{{Path: p, Content: []byte(c.text)}})
			if err != nil || strings.Join(got, " ") != want && !(c.reason == "" && len(got) == 0) {
				t.Errorf("%s: %q, %v; want %q", p, got, err, c.reason)
			}
		}
	}
	// docs.json of the job itself makes nothing a part of the site.
	got, err := Others(base, "", []Change{{Path: "docs.json", Content: []byte(`{"openapi": "ci.yaml"}`)}, {Path: "ci.yaml", Content: []byte("on: push\n")}, {Path: "custom.js", Delete: true}})
	if want := "ci.yaml: " + mayRun + " custom.js: " + isScript; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// What is no part of the site needs the project's leave, for each tool; a folder moves
// without it.
func TestOthersNeedLeave(t *testing.T) {
	base := memory{"docs.json": `{"navigation": {"pages": ["g/a", "g/b"]}}`, "g/a.mdx": "x\n", "g/b.mdx": "x\n", "g/run.js": "x()\n", "g/data.yml": "x: 1\n"}
	for _, leave := range []bool{false, true} {
		tree, err := NewTree(base, "")
		if err != nil {
			t.Fatal(err)
		}
		s := NewSet(tree, Options{Others: leave})
		for _, line := range []string{
			`write {"path": "amplify.yml", "content": "version: 1\n"}`, `edit {"path": "g/run.js", "old": "x", "new": "y"}`,
			`replace {"find": "x", "replace": "y", "path": "g/data.yml", "apply": true}`, `move {"from": "g/run.js", "to": "h.js"}`, `delete {"path": "g/data.yml"}`,
		} {
			name, input, _ := strings.Cut(line, " ")
			if r := s.Call(t.Context(), name, []byte(input)); r.IsError == leave || !leave && !strings.Contains(r.Text, "agents write pages") {
				t.Errorf("leave %t, %s: %s", leave, line, r.Text)
			}
		}
		if n := len(s.tree.Changes()); !leave && n > 0 {
			t.Errorf("%d changes without leave", n)
		}
	}
	s := newSet(t, base, "", Limits{})
	if r := call(t, s, "move", `{"from": "g", "to": "h"}`); !strings.Contains(r.Text, "g/run.js stays") || s.tree.exists("g/a.mdx") {
		t.Error(r.Text)
	}
}

// A specification may begin with comments and a mark, and has one document.
func TestIsSpecification(t *testing.T) {
	for text, want := range map[string]bool{
		"# by hand\n\n---\nopenapi: 3.1.0\ninfo: {}\n": true, "---\nopenapi: 3.1.0\n": true, "openapi: 3.1.0\ninfo:\n  description: |\n    ---\n    x\n": true,
		"\"openapi\": 3.1.0\nx-a: 1\n": true, "a: &a {jobs: 1}\nopenapi: 3.1.0\n<<: *a\n": false, "openapi: 3.1.0\n---\njobs: 1\n": false, "openapi: 3.1.0\n---\n": false,
		"---\nopenapi: 3.1.0\n---\njobs: 1\n": false, "info: {}\n": false, "openapi": false, "": false, "[openapi]": false, "openapi: [": false, `{"openapi": "3", "on": 1}`: false,
	} {
		if got := isSpecification([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
