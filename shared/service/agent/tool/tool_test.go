package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"

	"github.com/bindery-docs/bindery/tests/outside"
)

// memory is a repository in memory. A file whose text begins with "binary" is none.
type memory map[string]string

func (m memory) Paths() []Entry {
	var all []Entry
	for _, p := range sortedKeys(m) {
		e := Entry{Path: p, Size: int64(len(m[p])), Text: !strings.HasPrefix(m[p], "binary"), Plain: true}
		if strings.HasPrefix(m[p], "link ") {
			e.Text, e.Plain = false, false
		}
		if !e.Text {
			e.ID = m[p]
		}
		all = append(all, e)
	}
	return all
}

func (m memory) Read(p string) ([]byte, error) {
	text, ok := m[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if strings.HasPrefix(text, "binary") {
		return nil, ErrNotText
	}
	return []byte(text), nil
}

// words finds the word BAD, and the word OLD as one that was there before: a
// checker that is easy to see through.
type words struct{}

func (words) Check(_ context.Context, site fs.FS, old bool) (all []Finding, err error) {
	err = fs.WalkDir(site, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(site, p)
		if i := strings.Index(string(b), "BAD"); i >= 0 {
			all = append(all, Finding{"bad-word", LevelError, p, 1 + strings.Count(string(b[:i]), "\n"), 1, "the word BAD"})
		}
		if i := strings.Index(string(b), "OLD"); i >= 0 && old {
			all = append(all, Finding{"old-word", LevelWarning, p, 1 + strings.Count(string(b[:i]), "\n"), 1, "the word OLD"})
		}
		return err
	})
	return all, err
}

func newSet(t testing.TB, base Base, root string, l Limits) *Set {
	t.Helper()
	tree, err := NewTree(base, root)
	if err != nil {
		t.Fatal(err)
	}
	return NewSet(tree, Options{Check: words{}, Limits: l})
}

// call uses a tool that must not fail.
func call(t testing.TB, s *Set, name, input string) Result {
	t.Helper()
	r := s.Call(t.Context(), name, json.RawMessage(input))
	if r.IsError {
		t.Fatalf("%s %s: %s", name, input, r.Text)
	}
	return r
}

// Each case of testdata reads like a description of a tool: files (base/…), calls
// and, written by -update, answers and what became of the files.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			base, calls, want := memory{}, "", ""
			kept := a.Files[:0]
			for _, f := range a.Files {
				switch p, isBase := strings.CutPrefix(f.Name, "base/"); {
				case isBase:
					base[p] = string(f.Data)
				case f.Name == "calls":
					calls = string(f.Data)
				case f.Name == "answers":
					want = string(f.Data)
					continue
				}
				kept = append(kept, f)
			}
			s := newSet(t, base, "", Limits{})
			var b strings.Builder
			for line := range strings.Lines(calls) {
				name, input, _ := strings.Cut(strings.TrimSpace(line), " ")
				if name == "" {
					continue
				}
				r := s.Call(t.Context(), name, json.RawMessage(input))
				fmt.Fprintf(&b, "> %s %s\n%s\n", name, input, strings.TrimRight(r.Text, "\n"))
				said := []string{}
				if r.IsError {
					said = append(said, "error")
				}
				if r.Outcome != "" {
					said = append(said, "outcome: "+r.Outcome)
				}
				fmt.Fprintf(&b, "[%s]\n\n", strings.Join(said, "; "))
			}
			b.WriteString("=== changes\n")
			for _, c := range s.tree.Changes() {
				if c.Delete {
					fmt.Fprintf(&b, "=== %s is gone\n", c.Path)
					continue
				}
				fmt.Fprintf(&b, "=== %s\n%s", c.Path, c.Content)
				if !strings.HasSuffix(string(c.Content), "\n") {
					b.WriteString("(no end of line)\n")
				}
			}
			got := strings.ReplaceAll(b.String(), "\r", "␍")
			if golden.Update() {
				a.Files = append(kept, txtar.File{Name: "answers", Data: []byte(got)})
				golden.Write(t, file, txtar.Format(a))
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// An agent writes a site's text, and nothing that programs take instructions from.
func TestAllowed(t *testing.T) {
	for p, ok := range map[string]bool{
		"guides/start.mdx": true, "docs.json": true, "a/b/c.md": true, "openapi.yaml": true, "style.css": true, "ümlaut/ß.mdx": true,
		"images/x.svg": true, "snippets/x.jsx": true, "bindery/x.mdx": false, "notes.txt": true,
		"": false, "..": false, "../x.mdx": false, "a/../../x.mdx": false, "/etc/passwd.md": false, "a//b.mdx": false, "./a.mdx": false,
		"a\x00.mdx": false, "a\n.mdx": false, `a\b.mdx`: false, "a/.hidden/x.mdx": false, ".github/workflows/x.yml": false,
		".gitlab-ci.yml": false, ".git/config.txt": false, "GIT~1/config.txt": false, ".circleci/config.yml": false, "Jenkinsfile": false,
		"CODEOWNERS": false, "docs/CODEOWNERS.md": false, "AGENTS.md": false, "x/agents.MD": false, "CLAUDE.md": false, ".bindery/AGENTS.md": false,
		".mintlify/x.md": false, "package.json": false, "package-lock.json": false, "pnpm-lock.yaml": false, "yarn.lock": false,
		"azure-pipelines.yml": false, "vercel.json": false, "next.config.js": false, "x.sh": false, "x.py": false, "x": false, "image.png": false,
		"bindery.yaml": false, "a/bindery.yaml": false, "e\u0301.mdx": false, "\u200b.git/x.md": false, "a\u200db.mdx": false,
		strings.Repeat("a", 300) + ".mdx": false, strings.Repeat("a/", 600) + "x.mdx": false, "con.mdx": false, "a./x.mdx": false, "\xff.mdx": false,
		".gitmodules": false, ".gitattributes": false, "Makefile": false, "x/requirements.txt": false, "tsconfig.json": false, "node_modules/x.md": false,
	} {
		if err := Allowed(p, ""); (err == nil) != ok {
			t.Errorf("%q: %v", p, err)
		}
		if p != "" {
			if err := Allowed("docs/site/"+p, "docs/site"); (err == nil) != ok {
				t.Errorf("%q below a root: %v", p, err)
			}
		}
		if err := Allowed(p, "docs/site"); err == nil {
			t.Errorf("%q lies outside of docs/site and is allowed", p)
		}
	}
}

// The tree refuses what its base has at a path, whatever the path is.
func TestTreeRefuses(t *testing.T) {
	base := memory{"docs/docs.json": "{}", "docs/link.mdx": "link ../x", "docs/pic.svg": "binary", "docs/Guide/a.mdx": "a\n", "other/x.mdx": "x\n"}
	s := newSet(t, base, "docs", Limits{Files: 3, Bytes: 100, FileBytes: 60})
	for _, c := range []struct{ name, input, want string }{
		{"write", `{"path": "link.mdx", "content": "x"}`, "link.mdx: agents may not write links"},
		{"delete", `{"path": "link.mdx"}`, "link.mdx: agents may not write links"},
		{"write", `{"path": "link.mdx/x.mdx", "content": "x"}`, "link.mdx: many file systems can't have both"},
		{"write", `{"path": "pic.svg", "content": "x"}`, "pic.svg: the file is not text"},
		{"write", `{"path": "guide/b.mdx", "content": "x"}`, "the name conflicts with Guide/"},
		{"write", `{"path": "Guide/A.mdx", "content": "x"}`, "the name conflicts with Guide/a.mdx"},
		{"write", `{"path": "Guide/a.mdx/b.mdx", "content": "x"}`, "the name conflicts with Guide/a.mdx"},
		{"write", `{"path": "Guide.mdx/b.mdx", "content": "x"}`, ""},
		{"write", `{"path": "../other/x.mdx", "content": "x"}`, "is outside the site's folder: only tools that read"},
		{"read", `{"path": "../other/x.mdx"}`, "is outside the site's folder, and the project's settings"},
		{"read", `{"path": "other/x.mdx"}`, "there is no file or folder"},
		{"write", `{"path": "b.mdx", "content": "a\u0000b"}`, "is not text"},
		{"write", `{"path": "b.mdx", "content": "` + strings.Repeat("x", 61) + `"}`, "would have 61 bytes; the limit of a file is 60"},
		{"write", `{"path": "b.mdx", "content": "` + strings.Repeat("x", 60) + `"}`, ""},
		{"write", `{"path": "c.mdx", "content": "` + strings.Repeat("x", 60) + `"}`, "would make 121 bytes of changed files"},
		{"write", `{"path": "c.mdx", "content": "x"}`, ""},
		{"write", `{"path": "d.mdx", "content": "x"}`, "would make 4 changed files; a job may change 3"},
		{"delete", `{"path": "docs.json"}`, "must stay"},
		{"move", `{"from": "docs.json", "to": "x.json"}`, "must stay"},
	} {
		before := s.tree.Changes()
		r := s.Call(t.Context(), c.name, json.RawMessage(c.input))
		if r.IsError != (c.want != "") || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s %s: %s", c.name, c.input, r.Text)
		}
		if r.IsError && cmp.Diff(before, s.tree.Changes()) != "" {
			t.Errorf("%s %s: refused, and something changed", c.name, c.input)
		}
	}
	for _, c := range []Change{{Path: "other/x.mdx", Content: []byte("y")}, {Path: "docs/link.mdx", Delete: true}, {Path: "docs/.github/x.yml", Content: []byte("y")}, {Path: "docs/guide/x.mdx", Content: []byte("y")}} {
		if err := s.tree.Apply([]Change{{Path: "docs/ok.mdx", Content: []byte("x")}, c}); err == nil || s.tree.exists("ok.mdx") {
			t.Errorf("%s was applied: %v", c.Path, err)
		}
	}
}

// A file that is changed back is not a change, and Apply restores what Changes
// returned.
func TestChanges(t *testing.T) {
	base := memory{"docs.json": "{}", "a.mdx": "a\n", "b.mdx": "b\n", "empty.mdx": ""}
	s := newSet(t, base, "", Limits{})
	call(t, s, "edit", `{"path": "a.mdx", "old": "a", "new": "x"}`)
	call(t, s, "delete", `{"path": "b.mdx"}`)
	call(t, s, "write", `{"path": "c.mdx", "content": ""}`)
	again := newSet(t, base, "", Limits{})
	if err := again.tree.Apply(s.tree.Changes()); err != nil || cmp.Diff(s.tree.Changes(), again.tree.Changes()) != "" {
		t.Error(err, again.tree.Changes())
	}
	call(t, s, "edit", `{"path": "a.mdx", "old": "x", "new": "a"}`)
	call(t, s, "write", `{"path": "b.mdx", "content": "b\n"}`)
	call(t, s, "delete", `{"path": "c.mdx"}`)
	call(t, s, "delete", `{"path": "empty.mdx"}`)
	call(t, s, "write", `{"path": "empty.mdx", "content": ""}`)
	if c := s.tree.Changes(); len(c) != 0 {
		t.Errorf("nothing differs from the base, and these do: %v", c)
	}
}

// Every schema is strict and the same bytes each time.
func TestDefinitions(t *testing.T) {
	s := newSet(t, memory{}, "", Limits{})
	defs := s.Definitions()
	if len(defs) != 16 || cmp.Diff(defs, s.Definitions()) != "" {
		t.Errorf("%d tools", len(defs))
	}
	for _, d := range defs {
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(d.InputSchema, &schema); err != nil || schema.Type != "object" || schema.Additional == nil || *schema.Additional || d.Description == "" {
			t.Errorf("%s: %s %v", d.Name, d.InputSchema, err)
		}
		for name, p := range schema.Properties {
			if p.Description == "" || p.Type == "" {
				t.Errorf("%s: %s has no type or description", d.Name, name)
			}
		}
		for _, r := range schema.Required {
			if _, ok := schema.Properties[r]; !ok {
				t.Errorf("%s: requires %s, which it does not have", d.Name, r)
			}
		}
	}
	without, _ := NewTree(memory{}, "")
	if n := len(NewSet(without, Options{}).Definitions()); n != 15 {
		t.Errorf("%d tools without a checker", n)
	}
	if r := NewSet(without, Options{}).Call(t.Context(), "check", nil); !r.IsError {
		t.Error(r)
	}
}

// A context that is done stops a tool before it changes anything.
func TestCancelled(t *testing.T) {
	s := newSet(t, memory{"docs.json": "{}", "a.mdx": "a\n"}, "", Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, input := range map[string]string{
		"edit": `{"path": "a.mdx", "old": "a", "new": "b"}`, "move": `{"from": "a.mdx", "to": "b.mdx"}`,
		"replace": `{"find": "a", "replace": "b", "apply": true}`, "delete": `{"path": "a.mdx"}`, "search": `{"pattern": "a"}`,
	} {
		if r := s.Call(ctx, name, json.RawMessage(input)); !r.IsError || len(s.tree.Changes()) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The tree is a file system as any other.
func TestFS(t *testing.T) {
	base := memory{"docs/docs.json": "{}", "docs/a/x.mdx": "x\n", "docs/a/y.mdx": "y\n", "docs/ab.mdx": "z\n", "docs/pic.png": "binary", "other/x.mdx": "x\n"}
	s := newSet(t, base, "docs", Limits{})
	call(t, s, "delete", `{"path": "a/y.mdx"}`)
	call(t, s, "write", `{"path": "n/e/w.mdx", "content": "new\n"}`)
	fsys := s.tree.FS()
	call(t, s, "delete", `{"path": "n"}`) // later changes don't show
	var got []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, p)
			b, err := fs.ReadFile(fsys, p)
			info, err2 := d.Info()
			if err := errors.Join(err, err2); err != nil || p != "pic.png" && int64(len(b)) != info.Size() {
				return fmt.Errorf("%s: %d bytes, %w", p, len(b), err)
			}
		}
		return err
	})
	if want := []string{"a/x.mdx", "ab.mdx", "docs.json", "n/e/w.mdx", "pic.png"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// Work and answers are bounded, however many files there are and whatever a
// pattern asks for.
func TestBounds(t *testing.T) {
	outside.NoRace(t, "it uses one goroutine, and takes much longer")
	base := memory{"docs.json": `{"navigation": {"pages": ["p0"]}}`}
	line := "A line of [words](/p0) and `code` in a page.\n"
	for i := range 10_000 {
		base[fmt.Sprintf("f%d/p%d.mdx", i%100, i)] = strings.Repeat(line, 5)
	}
	base["big.mdx"] = strings.Repeat("aaaaaaaaa\n", 10_000)
	base["p0.mdx"] = "x\n"
	s := newSet(t, base, "", Limits{})
	for _, c := range []struct{ name, input, want string }{
		{"search", `{"pattern": "w[a-z]+s", "context": 2}`, "more lines"},
		{"search", `{"pattern": "(a{500}){500}"}`, ""},
		{"search", `{"pattern": "((a|b|c){20}|(d|e|f){20}){15}"}`, "too complex"},
		{"list", `{"depth": 9}`, "more lines"},
		{"list", `{}`, "10003 files"},
		{"replace", `{"find": "words", "replace": "terms", "leave": ["code", "addresses"]}`, "Would replace 50000 places in 10000 files"},
		{"replace", `{"find": "a", "replace": "` + strings.Repeat("b", 1000) + `", "path": "big.mdx", "apply": true}`, "the limit of a file"},
		{"edit", `{"path": "big.mdx", "old": "aaaaaaaaa", "new": "` + strings.Repeat("b", 10_000) + `", "count": 10000}`, "the limit of a file"},
		{"read", `{"path": "big.mdx"}`, "read on with from="},
		{"move", `{"from": "p0.mdx", "to": "q.mdx"}`, "a job may change 500"},
		{"diff", `{}`, "Nothing has changed"},
	} {
		r := s.Call(t.Context(), c.name, json.RawMessage(c.input))
		if len(r.Text) > maxResult || !strings.Contains(r.Text+r.Outcome, c.want) {
			t.Errorf("%s %.80s: %d bytes, %.300s", c.name, c.input, len(r.Text), r.Text)
		}
		if len(s.tree.changed) > 0 {
			t.Fatalf("%s %.80s: changed something", c.name, c.input)
		}
	}
}
