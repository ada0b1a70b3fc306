package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// history has a release that a branch was merged after: c3 merges c2, which is older than
// the release c1 and not part of it.
func history() History {
	at := func(day int) time.Time { return time.Date(2026, 3, day, 9, 0, 0, 0, time.UTC) }
	id := func(digit string) string { return strings.Repeat(digit, 40) }
	return History{
		Tags: []Tag{{"v1.5", id("4")}, {"v1.4", id("1")}, {"v0.1", id("9")}},
		Commits: []Commit{
			{ID: id("4"), When: at(9), Subject: "Release", Parents: []int{1}},
			{ID: id("3"), When: at(8), Subject: "Merge flags", Parents: []int{2, 3}},
			{ID: id("1"), When: at(7), Subject: "Fix", Parents: []int{4}},
			{ID: id("2"), When: at(6), Subject: "Add flags", Parents: []int{4}},
			{ID: id("0"), When: at(5), Subject: "Begin"},
		},
	}
}

// fetchingSet is outsideSet after fetch of an older commit, "repo@v1.4", and of a folder
// of another repository, "cli@main".
func fetchingSet(t testing.TB) *Set {
	t.Helper()
	tree, err := NewTree(beside(), "docs")
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(tree, Options{Outside: true, History: history(), Repositories: []string{"cli"}, Fetches: 2})
	old := beside()
	old["src/main.py"] = "NEEDLE = \"--old\"\nKEY = \"ghp_" + strings.Repeat("a1B2", 9) + "\"\n"
	old["docs/a.mdx"] = "Use --older.\n"
	old["src/gone.py"] = "y = 1\n"
	old["logo.png"] = "binary, another one"
	delete(old, "README.md")
	for _, f := range []Fetched{
		{Label: "repo@v1.4", Files: old},
		{Label: "cli@main", Path: "src", Files: memory{"src/cli.go": "package main\n"}},
		{Label: "cli@main", Path: "doc.md", Files: memory{"doc.md": "NEEDLE\n"}},
	} {
		if err := s.Mount(f); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// What tools say of fetched commits, of the history, and of what may be fetched.
func TestFetched(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        string // in the answer
		not         string
		refused     bool
	}{
		{tool: "read", input: `{"path": "repo@v1.4:src/main.py"}`, want: "repo@v1.4:src/main.py: 2 lines; 1 secret masked\n     1\tNEEDLE = \"--old\"\n     2\tKEY = \"(masked: a token of GitHub)\"\n"},
		{tool: "read", input: `{"path": "./repo@v1.4:/docs/a.mdx"}`, want: "Use --older."},
		{tool: "read", input: `{"path": "repo@v1.4:.env"}`, want: "credentials", refused: true},
		{tool: "read", input: `{"path": "repo@v1.4:deploy/cluster.yaml"}`, want: "is a kubeconfig", refused: true},
		{tool: "read", input: `{"path": "repo@v1.4:../x"}`, want: "is not a path of the repository", refused: true},
		{tool: "read", input: `{"path": "repo@v1.4:none"}`, want: `there is no file "repo@v1.4:none" in repo@v1.4`, refused: true},
		{tool: "read", input: `{"path": "repo@v1.5:src/main.py"}`, want: `"repo@v1.5" is not fetched; there are: cli@main, repo@v1.4`, refused: true},
		{tool: "list", input: `{"path": "cli@main:"}`, want: "cli@main:doc.md (7 bytes)\ncli@main:src/cli.go (13 bytes)\n"},
		{tool: "list", input: `{"path": "repo@v1.4:"}`, want: "repo@v1.4:docs/", not: "env"},
		{tool: "search", input: `{"pattern": "NEEDLE", "path": "cli@main:**"}`, want: "1 matching line in 1 file\ncli@main:doc.md:1: NEEDLE\n"},
		{tool: "search", input: `{"pattern": "NEEDLE"}`, want: "3 matching lines in 3 files", not: "@"},
		{tool: "write", input: `{"path": "repo@v1.4:a.md", "content": "x"}`, want: "is outside the site's folder", refused: true},
		{tool: "move", input: `{"from": "a.mdx", "to": "cli@main:a.mdx"}`, want: "is outside the site's folder", refused: true},
		{tool: "diff", input: `{"from": "repo@v1.4"}`, want: "From repo@v1.4 to repo: 4 files, +3 -4.\n", not: "NEEDLE=1"},
		{tool: "diff", input: `{"from": "repo@v1.4", "path": "logo.png"}`, want: "0 files, +0 -0.\nDifferent or not known, and not shown, because they are not text, are left out or have credentials: logo.png\n"},
		{tool: "diff", input: `{"from": "cli@main"}`, want: "From cli@main to repo: 4 files, +2 -2. Of cli@main, only this is fetched: src, doc.md.\n", not: "README"},
		{tool: "diff", input: `{"to": "cli@main"}`, want: "From repo to cli@main: 4 files, +2 -2. Of cli@main, only this", not: "README"},
		{tool: "diff", input: `{"path": "repo@v1.4:docs"}`, want: "name the commit with from", refused: true},
		{tool: "diff", input: `{"from": "repo@v1.4:", "to": "repo", "path": "repo:src"}`, want: "-NEEDLE = \"--old\"\n-KEY = \"(masked: a token of GitHub)\"\n+NEEDLE = \"--new\"\n"},
		{tool: "diff", input: `{"from": "repo", "to": "repo@v1.4", "path": "src/main.py"}`, want: "+KEY = \"(masked: a token of GitHub)\"\n", not: "a1B2"},
		{tool: "diff", input: `{"from": "repo", "to": "repo@v1.4", "path": "docs/**"}`, want: "From repo to repo@v1.4: 1 file, +1 -1.\n"},
		{tool: "diff", input: `{"from": "repo@v1.5"}`, want: `from: "repo@v1.5" is not repo and is not fetched`, refused: true},
		{tool: "diff", input: `{}`, want: "Nothing has changed."},
		{tool: "history", input: `{}`, want: "444444444444 2026-03-09 Release (tags: v1.5)\n333333333333 2026-03-08 Merge flags\n111111111111 2026-03-07 Fix (tags: v1.4)\n222222222222 2026-03-06 Add flags\n000000000000 2026-03-05 Begin\n999999999999 tag v0.1\n"},
		{tool: "history", input: `{"since": "v1.4"}`, want: "444444444444 2026-03-09 Release (tags: v1.5)\n333333333333 2026-03-08 Merge flags\n222222222222 2026-03-06 Add flags\n", not: "Fix"},
		{tool: "history", input: `{"since": "3333333"}`, want: "Release", not: "Merge"},
		{tool: "history", input: `{"since": "v0.1"}`, want: "v0.1 is not among the last 5 commits", refused: true},
		{tool: "history", input: `{"since": "v0.2"}`, want: "is not a tag or commit among the last 5 commits", refused: true},
		{tool: "history", input: `{"matching": "FLAGS", "from": 2}`, want: "222222222222 2026-03-06 Add flags\n", not: "Merge"},
		{tool: "history", input: `{"matching": "flags", "from": 9}`, want: "There are no such commits."},
		{tool: "fetch", input: `{"ref": "v1.5"}`, want: "Asked for repo@v1.5."},
		{tool: "fetch", input: `{"ref": "v1.4"}`, want: "repo@v1.4 is fetched already: its paths begin with repo@v1.4:", refused: true},
		{tool: "fetch", input: `{"ref": "3333333"}`, want: "Asked for repo@333333333333."},
		{tool: "fetch", input: `{"repository": "cli", "ref": "main", "path": "src/"}`, want: "cli@main is fetched already", refused: true},
		{tool: "fetch", input: `{"repository": "cli", "ref": "main", "path": "lib"}`, want: "Asked for cli@main."},
		{tool: "fetch", input: `{"repository": "https://evil.example/x", "ref": "main"}`, want: "is not one that the project's settings name: repo, cli", refused: true},
		{tool: "fetch", input: `{"ref": "--upload-pack=x"}`, want: "is not the name of a branch or tag", refused: true},
		{tool: "fetch", input: `{"ref": "main", "path": "` + strings.Repeat("a/", 600) + `"}`, want: "at most 1000 bytes", refused: true},
		{tool: "fetch", input: `{"ref": "main", "path": "a\u0000b"}`, want: "no control characters", refused: true},
		{tool: "fetch", input: `{"ref": "a..b"}`, want: "is not the name of a branch or tag", refused: true},
		{tool: "fetch", input: `{"ref": "a:b"}`, want: "is not the name of a branch or tag", refused: true},
		{tool: "fetch", input: `{"ref": "main", "path": "../x"}`, want: "is not a path of the repository", refused: true},
	} {
		s := fetchingSet(t)
		r := s.Call(t.Context(), c.tool, json.RawMessage(c.input))
		if r.IsError != c.refused || !strings.Contains(r.Text, c.want) || c.not != "" && strings.Contains(r.Text, c.not) {
			t.Errorf("%s %s:\n%s", c.tool, c.input, r.Text)
		}
		if len(s.tree.Changes()) > 0 || (r.Fetch != nil) != (c.tool == "fetch" && !c.refused) {
			t.Errorf("%s %s changed something, or fetches %+v", c.tool, c.input, r.Fetch)
		}
	}
}

// A commit is asked for by its whole id, and so often as is left.
func TestFetchIsCounted(t *testing.T) {
	s := fetchingSet(t)
	if r := call(t, s, "fetch", `{"ref": "4444444"}`); r.Fetch.Ref != strings.Repeat("4", 40) || r.Fetch.Repository != "repo" {
		t.Errorf("asked for %+v", r.Fetch)
	}
	call(t, s, "fetch", `{"ref": "a"}`)
	if r := s.Call(t.Context(), "fetch", json.RawMessage(`{"ref": "a"}`)); !r.IsError || !strings.Contains(r.Text, "is asked for already") {
		t.Error(r.Text)
	}
	if r := s.Call(t.Context(), "fetch", json.RawMessage(`{"ref": "b"}`)); !r.IsError || !strings.Contains(r.Text, "as many commits as it may") {
		t.Error(r.Text)
	}
}

// A comparison of many files shows as many as a result holds, and names and counts the
// others. It counts files that are left out as not seen.
func TestCompareIsBounded(t *testing.T) {
	was, is := memory{"docs/docs.json": "{}"}, memory{"docs/docs.json": "{}"}
	for n := range 700 {
		was[fmt.Sprintf("src/%04d.go", n)] = strings.Repeat("old\n", 5)
		is[fmt.Sprintf("src/%04d.go", n)] = strings.Repeat("new\n", 5)
	}
	tree, err := NewTree(is, "docs")
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(tree, Options{Outside: true})
	if err := s.Mount(Fetched{Label: "repo@v1", Files: limited{was, map[string]bool{"src/0003.go": true}}}); err != nil {
		t.Fatal(err)
	}
	r := call(t, s, "diff", `{"from": "repo@v1"}`)
	for _, want := range []string{"From repo@v1 to repo: 699 files, +3495 -3495.", "+new\n", "src/0300.go +5 -5\n", " more files; name a folder\n"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("a comparison of 700 files does not say %q:\n%.300s … %s", want, r.Text, r.Text[len(r.Text)-300:])
		}
	}
	if r := call(t, s, "diff", `{"from": "repo@v1", "path": "src/000*.go"}`); !strings.Contains(r.Text, "left out or have credentials: src/0003.go") || strings.Count(r.Text, "--- ") != 9 {
		t.Error(r.Text)
	}
}

// Without the setting and without further repositories, there are neither history nor
// fetch. With repositories alone, the site's own is not fetched.
func TestFetchIsOff(t *testing.T) {
	tree, err := NewTree(beside(), "docs")
	if err != nil {
		t.Fatal(err)
	}
	names := func(s *Set) string {
		var all []string
		for _, d := range s.Definitions() {
			all = append(all, d.Name)
		}
		return strings.Join(all, " ")
	}
	if all := names(NewSet(tree, Options{})); strings.Contains(all, "fetch") || strings.Contains(all, "history") {
		t.Errorf("the tools are %s", all)
	}
	s := NewSet(tree, Options{Repositories: []string{"cli"}, Fetches: 1, History: history()})
	if all := names(s); !strings.Contains(all, "fetch") || strings.Contains(all, "history") {
		t.Errorf("the tools are %s", all)
	}
	if r := s.Call(t.Context(), "fetch", json.RawMessage(`{"ref": "v1.4"}`)); !r.IsError || !strings.Contains(r.Text, "allow to read the site's folder alone; these can be fetched: cli") {
		t.Error(r.Text)
	}
	if r := s.Call(t.Context(), "history", nil); !r.IsError || !strings.Contains(r.Text, "unknown tool") {
		t.Error(r.Text)
	}
}

// A difference that is longer than a result is shown in parts, which together are whole.
func TestCompareInParts(t *testing.T) {
	was, is := memory{"docs/docs.json": "{}"}, memory{"docs/docs.json": "{}"}
	for n := range 2000 {
		was["src/a.go"] += fmt.Sprintf("old %04d\n", n)
		is["src/a.go"] += fmt.Sprintf("new %04d\n", n)
	}
	tree, err := NewTree(is, "docs")
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(tree, Options{Outside: true})
	if err := s.Mount(Fetched{Label: "repo@v1", Files: was}); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	line := "1"
	for line != "" {
		r := call(t, s, "diff", `{"from": "repo@v1", "path": "src/a.go", "line": `+line+`}`)
		_, body, _ := strings.Cut(r.Text, "\n")
		shown, rest, more := strings.Cut(body, "… ")
		all.WriteString(shown)
		if line = ""; more {
			_, line, _ = strings.Cut(strings.TrimSpace(rest), "line=")
		}
	}
	want, _, _ := Diff("src/a.go", []byte(was["src/a.go"]), []byte(is["src/a.go"]))
	if all.String() != want {
		t.Errorf("the parts have %d bytes, the difference %d", all.Len(), len(want))
	}
	if r := call(t, s, "diff", `{"from": "repo@v1", "line": 9999}`); !strings.Contains(r.Text, "The difference has 4003 lines.") {
		t.Error(r.Text)
	}
}

// A commit with more text than a job reads is a list of files. A folder of it can be
// fetched. Then diff compares that folder.
func TestListedCommit(t *testing.T) {
	s := fetchingSet(t)
	listed := limited{memory{"src/main.py": "NEEDLE = 1\n", "lib/a.py": "a\n"}, map[string]bool{"src/main.py": true, "lib/a.py": true}}
	if err := s.Mount(Fetched{Label: "repo@v2", Listed: true, Files: listed}); err != nil {
		t.Fatal(err)
	}
	if r := call(t, s, "list", `{"path": "repo@v2:"}`); !strings.Contains(r.Text, "repo@v2:src/main.py (11 bytes, left out)") {
		t.Error(r.Text)
	}
	if r := call(t, s, "diff", `{"from": "repo@v2"}`); !strings.Contains(r.Text, "0 files, +0 -0. Of repo@v2, no text is fetched.") {
		t.Error(r.Text)
	}
	call(t, s, "fetch", `{"ref": "v2", "path": "src"}`)
	if err := s.Mount(Fetched{Label: "repo@v2", Path: "src", Files: memory{"src/main.py": "NEEDLE = 1\n"}}); err != nil {
		t.Fatal(err)
	}
	if r := call(t, s, "read", `{"path": "repo@v2:src/main.py"}`); !strings.Contains(r.Text, "NEEDLE = 1") {
		t.Error(r.Text)
	}
	// A later list takes no text away.
	if err := s.Mount(Fetched{Label: "repo@v2", Listed: true, Files: listed}); err != nil {
		t.Fatal(err)
	}
	if r := call(t, s, "diff", `{"from": "repo@v2", "path": "**/main.py"}`); !strings.Contains(r.Text, "1 file, +1 -1. Of repo@v2, only this is fetched: src.") {
		t.Error(r.Text)
	}
}
