package tool

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// outsideSet is a set of the site in docs of a repository, which may read all of it.
func outsideSet(t testing.TB, base Base) *Set {
	t.Helper()
	tree, err := NewTree(base, "docs")
	if err != nil {
		t.Fatal(err)
	}
	return NewSet(tree, Options{Check: words{}, Outside: true})
}

const kubeconfigText = "apiVersion: v1\nkind: Config\nclusters:\n- name: a\ncurrent-context: a\nusers:\n- user: {token: NEEDLE}\n"

// beside is a repository with a site in docs and code beside it.
func beside() memory {
	return memory{
		"docs/docs.json": "{}", "docs/a.mdx": "Use --old.\n", "docs/api/main.py": "NEEDLE = 0\n",
		"src/main.py": "NEEDLE = \"--new\"\n", "src/deep/er/util.py": "x = 1\n", "README.md": "# NEEDLE\n", "logo.png": "binary",
		"docs2/b.mdx": "not the site\n", ".env": "NEEDLE=1\n", "src/.env.local": "NEEDLE\n", ".github/workflows/ci.yml": "NEEDLE\n", "deploy/id_rsa": "NEEDLE\n",
		"deploy/kubeconfig": "NEEDLE\n", "deploy/cluster.yaml": kubeconfigText, "web/node_modules/x/index.js": "NEEDLE\n",
		"deploy/one-line.json": `{"apiVersion":"v1","kind":"Config","clusters":[],"users":[]}`, "deploy/about.md": "A kubeconfig has kind: Config, clusters and users.\n",
	}
}

// What tools say of files outside the site's folder.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        string // in the answer
		not         string
		refused     bool
	}{
		{tool: "read", input: `{"path": "repo:src/main.py"}`, want: "repo:src/main.py: 1 line\n     1\tNEEDLE = \"--new\"\n"},
		{tool: "read", input: `{"path": "../src/main.py"}`, want: "repo:src/main.py: 1 line\n"},
		{tool: "read", input: `{"path": "repo:/src/main.py"}`, want: "repo:src/main.py: 1 line\n"},
		{tool: "read", input: `{"path": "repo:docs/a.mdx"}`, want: "a.mdx: 1 line\n"},
		{tool: "read", input: `{"path": "../docs/a.mdx"}`, want: "a.mdx: 1 line\n"},
		{tool: "read", input: `{"path": "src/main.py"}`, want: "the repository has repo:src/main.py", refused: true},
		{tool: "read", input: `{"path": "repo:src"}`, want: "repo:src is a folder", refused: true},
		{tool: "read", input: `{"path": "repo:src/none.py"}`, want: `there is no file "repo:src/none.py"`, refused: true},
		{tool: "read", input: `{"path": "repo:logo.png"}`, want: "not text", refused: true},
		{tool: "read", input: `{"path": "repo:.env"}`, want: "credentials", refused: true},
		{tool: "read", input: `{"path": "../src/.env.local"}`, want: "credentials", refused: true},
		{tool: "read", input: `{"path": "repo:.github/workflows/ci.yml"}`, want: "begins with a dot", refused: true},
		{tool: "read", input: `{"path": "repo:deploy/id_rsa"}`, want: "credentials", refused: true},
		{tool: "read", input: `{"path": "repo:deploy/kubeconfig"}`, want: "credentials", refused: true},
		{tool: "read", input: `{"path": "repo:deploy/cluster.yaml"}`, want: "is a kubeconfig", refused: true},
		{tool: "read", input: `{"path": "repo:deploy/one-line.json"}`, want: "is a kubeconfig", refused: true},
		{tool: "read", input: `{"path": "repo:deploy/about.md"}`, want: "kind: Config"},
		{tool: "read", input: `{"path": "../../etc/passwd"}`, want: "outside the repository", refused: true},
		{tool: "read", input: `{"path": "repo:../x"}`, want: "is not a path of the repository", refused: true},
		{tool: "read", input: `{"path": "/etc/passwd"}`, want: "there is no file", refused: true},
		{tool: "list", input: `{}`, want: "a.mdx (11 bytes)\napi/main.py (11 bytes)\ndocs.json (2 bytes)\nOutside the site's folder docs, the repository has 8 files to read: list them with path repo:\n"},
		{tool: "list", input: `{"path": "repo:"}`, want: "repo:README.md (9 bytes)\nrepo:deploy/about.md (51 bytes)\nrepo:deploy/cluster.yaml (98 bytes)\nrepo:deploy/one-line.json (60 bytes)\nrepo:docs2/b.mdx (13 bytes)\nrepo:logo.png (6 bytes, not text)\nrepo:src/deep/ (1 file)\nrepo:src/main.py (17 bytes)\n"},
		{tool: "list", input: `{"path": "../"}`, want: "repo:README.md", not: "env"},
		{tool: "list", input: `{"path": "repo:**/*.py"}`, want: "repo:src/deep/er/util.py (6 bytes)\nrepo:src/main.py (17 bytes)\n"},
		{tool: "list", input: `{"path": "repo:docs"}`, want: "a.mdx (11 bytes)"},
		{tool: "list", input: `{"path": "repo:none"}`, want: `no file or folder "repo:none"`, refused: true},
		{tool: "search", input: `{"pattern": "NEEDLE"}`, want: "3 matching lines in 3 files, 2 of them outside the site's folder\napi/main.py:1: NEEDLE = 0\nrepo:README.md:1: # NEEDLE\nrepo:src/main.py:1: NEEDLE = \"--new\"\n"},
		{tool: "search", input: `{"pattern": "NEEDLE", "path": "**/*.py"}`, want: "1 matching line in 1 file\n"},
		{tool: "search", input: `{"pattern": "NEEDLE", "path": "repo:src"}`, want: "1 matching line in 1 file\nrepo:src/main.py:1: "},
		{tool: "search", input: `{"pattern": "NEEDLE", "path": "repo:docs/api"}`, want: "1 matching line in 1 file\napi/main.py:1: "},
		{tool: "search", input: `{"pattern": "NEEDLE", "path": "repo:none"}`, want: `no text "repo:none"`, refused: true},
		{tool: "write", input: `{"path": "repo:src/main.py", "content": "x"}`, want: "is outside the site's folder", refused: true},
		{tool: "write", input: `{"path": "../src/main.py", "content": "x"}`, want: "is outside the site's folder", refused: true},
		{tool: "edit", input: `{"path": "repo:src/main.py", "old": "NEEDLE", "new": "x"}`, want: "is outside the site's folder", refused: true},
		{tool: "edit", input: `{"path": "repo:docs/a.mdx", "old": "Use", "new": "x"}`, want: "is outside the site's folder", refused: true},
		{tool: "move", input: `{"from": "repo:README.md", "to": "b.md"}`, want: "is outside the site's folder", refused: true},
		{tool: "move", input: `{"from": "a.mdx", "to": "repo:b.md"}`, want: "is outside the site's folder", refused: true},
		{tool: "delete", input: `{"path": "repo:README.md"}`, want: "is outside the site's folder", refused: true},
		{tool: "replace", input: `{"find": "NEEDLE", "replace": "x", "path": "repo:src", "apply": true}`, want: "is outside the site's folder", refused: true},
		{tool: "replace", input: `{"find": "NEEDLE", "replace": "x"}`, want: "Would replace 0 places", not: "repo:", refused: true},
	} {
		s := outsideSet(t, beside())
		r := s.Call(t.Context(), c.tool, json.RawMessage(c.input))
		if c.tool == "replace" && !strings.Contains(c.input, "path") { // the site alone, where agents may not write the file
			c.want = "api/main.py"
		}
		if r.IsError != c.refused || !strings.Contains(r.Text, c.want) || c.not != "" && strings.Contains(r.Text, c.not) {
			t.Errorf("%s %s:\n%s", c.tool, c.input, r.Text)
		}
		if len(s.tree.Changes()) > 0 {
			t.Errorf("%s %s changed something", c.tool, c.input)
		}
	}
}

// Without the project's setting, nothing outside the site's folder is shown.
func TestOutsideIsOff(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        string // why it is refused, "" if it is not
	}{
		{"read", `{"path": "repo:src/main.py"}`, "the project's settings allow to read that folder alone"},
		{"read", `{"path": "../src/main.py"}`, "the project's settings allow to read that folder alone"},
		{"read", `{"path": "src/main.py"}`, `there is no file or folder "src/main.py" in the site's folder; similar names are: api/main.py`},
		{"list", `{"path": "repo:"}`, "the project's settings allow to read that folder alone"},
		{"search", `{"pattern": "NEEDLE", "path": "repo:"}`, "the project's settings allow to read that folder alone"},
		{"list", `{}`, ""},
		{"list", `{"path": "repo:docs"}`, ""},
		{"search", `{"pattern": "NEEDLE"}`, ""},
	} {
		r := newSet(t, beside(), "docs", Limits{}).Call(t.Context(), c.tool, json.RawMessage(c.input))
		if r.IsError != (c.want != "") || !strings.Contains(r.Text, c.want) || strings.Contains(r.Text, "--new") || strings.Contains(r.Text, "README") {
			t.Errorf("%s %s: %s", c.tool, c.input, r.Text)
		}
	}
}

// A secret outside the site's folder is shown to no tool, nor can a search find out
// what it is. Lines keep their numbers.
func TestOutsideSecretsAreMasked(t *testing.T) {
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 5)
	all := issued()
	all["long"] = "api_token = " + random(rand.New(rand.NewPCG(3, 4)), 700, letters)
	all["key"] = "-----BEGIN RSA PRIVATE KEY-----\n" + body + "-----END RSA PRIVATE KEY-----"
	all["key without end"] = "-----BEGIN PRIVATE KEY-----\n" + body
	all["key in JSON"] = `"-----BEGIN PRIVATE KEY-----\n` + strings.ReplaceAll(body, "\n", `\n`) + `-----END PRIVATE KEY-----\n"`
	all["key in base64"] = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURCVENDQWUyZ0F3SUJBZ0lJTXp"
	for name, value := range all {
		secret := value
		for _, before := range []string{"PRIVATE KEY-----", " = ", "AccountKey=", "sig="} {
			if _, after, ok := strings.Cut(secret, before); ok {
				secret = strings.Trim(after, "\"\n")
			}
		}
		s := outsideSet(t, memory{"docs/docs.json": "{}", "src/a.go": "one\n\tx := `" + value + "`\nlast line\n"})
		r := call(t, s, "read", `{"path": "repo:src/a.go"}`)
		for i := 0; i+12 <= len(secret); i += 12 {
			if piece := strings.Trim(secret[i:i+12], "\n-"); len(piece) == 12 && strings.Contains(r.Text, piece) {
				t.Errorf("%s: %q is shown:\n%s", name, piece, r.Text)
				break
			}
		}
		last := fmt.Sprintf("%6d\tlast line", 3+strings.Count(value, "\n"))
		if !strings.Contains(r.Text, "1 secret masked") || !strings.Contains(r.Text, "(masked: a") || !strings.Contains(r.Text, "one\n") || !strings.Contains(r.Text, last) {
			t.Errorf("%s:\n%s", name, r.Text)
		}
		input, _ := json.Marshal(map[string]any{"pattern": secret[len(secret)/2-6 : len(secret)/2+6], "literal": true})
		if r := call(t, s, "search", string(input)); !strings.HasPrefix(r.Text, "0 matching lines") {
			t.Errorf("%s: search %s: %s", name, input, r.Text)
		}
	}
	// A mask is not written into a page.
	s := outsideSet(t, memory{"docs/docs.json": "{}", "docs/a.mdx": "a\n"})
	if r := s.Call(t.Context(), "write", json.RawMessage(`{"path": "b.mdx", "content": "Use (masked: a token of GitHub)\n"}`)); !r.IsError || !strings.Contains(r.Text, "placeholder") {
		t.Error(r.Text)
	}
}

// limited is a repository that has left out the texts of some files.
type limited struct {
	memory
	left map[string]bool
}

func (l limited) Paths() []Entry {
	all := l.memory.Paths()
	for i := range all {
		if l.left[all[i].Path] {
			all[i].Text, all[i].LeftOut, all[i].ID = false, true, l.memory[all[i].Path]
		}
	}
	return all
}

// Each tool says that text is left out.
func TestOutsideIsLeftOut(t *testing.T) {
	s := outsideSet(t, limited{beside(), map[string]bool{"src/main.py": true}})
	if r := s.Call(t.Context(), "read", json.RawMessage(`{"path": "repo:src/main.py"}`)); !r.IsError || !strings.Contains(r.Text, "left out, because there is more text") {
		t.Error(r.Text)
	}
	if r := call(t, s, "list", `{"path": "repo:src"}`); !strings.Contains(r.Text, "repo:src/main.py (17 bytes, left out)") {
		t.Error(r.Text)
	}
	for _, path := range []string{"", "repo:", "repo:src"} {
		if r := call(t, s, "search", `{"pattern": "NEEDLE", "path": "`+path+`"}`); !strings.Contains(r.Text, "1 file outside the site's folder were not searched") {
			t.Error(r.Text)
		}
	}
}
