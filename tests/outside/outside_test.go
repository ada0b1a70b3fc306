package outside

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What becomes of a test.
const (
	goesOn  = "goes on"
	skipped = "skipped"
	failed  = "failed"
)

// recorder is a test that notes how it ended and what it said.
type recorder struct {
	testing.TB
	end, said string
}

func (r *recorder) Helper()                         {}
func (r *recorder) Fatal(args ...any)               { r.stop(failed, fmt.Sprint(args...)) }
func (r *recorder) Fatalf(form string, args ...any) { r.stop(failed, fmt.Sprintf(form, args...)) }
func (r *recorder) Skipf(form string, args ...any)  { r.stop(skipped, fmt.Sprintf(form, args...)) }

func (r *recorder) stop(end, said string) {
	r.end, r.said = end, said
	runtime.Goexit() // as a test's own goroutine ends
}

// record runs f as a test of its own.
func record(f func(tb testing.TB)) *recorder {
	r := &recorder{end: goesOn}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

// checkout makes a module with the files that are named below it and moves
// the test into a package of it. Names that begin with ../ lie beside it.
func checkout(t *testing.T, files ...string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "checkout")
	for _, name := range append(files, "go.mod", "shared/room/room.go") {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "shared", "room"))
	for _, name := range []string{"BINDERY_SHARED", "BINDERY_SITES", "BINDERY_TREES", "BINDERY_REQUIRE"} {
		t.Setenv(name, "")
	}
	return root
}

func TestRule(t *testing.T) {
	site := func(tb testing.TB) string { return Folder(tb, "corpora", "mcp") }
	maybe := func(tb testing.TB) string { piece, _ := Maybe(tb, "corpora", "mcp"); return piece }
	trees := func(tb testing.TB) string { return Trees(tb, "mcp.jsonl") }
	linter := func(tb testing.TB) string { return Tool(tb, "the linter", "npm", "linter") }
	program := func(tb testing.TB) string { return Program(tb, "no-such-program", "no-such-either") }
	root := func(tb testing.TB) string { OutOfReach(tb, "root"); return "" }
	for _, c := range []struct {
		name  string
		files string            // of the checkout, and beside it
		env   map[string]string // the checkout's path stands for $ROOT
		ask   func(tb testing.TB) string
		// ends are how the test ends with nothing, tools and all required.
		ends [3]string
		// found is what it gets, from the checkout's root; says is in its message.
		found, says string
	}{
		{
			name: "the shared folder lies beside the checkout", files: "../shared/corpora/mcp/docs.json",
			ask: site, ends: [3]string{goesOn, goesOn, goesOn}, found: "../shared/corpora/mcp",
		},
		{
			name: "the variable goes before what lies beside", files: "../shared/corpora/mcp/docs.json ../other/corpora/mcp/docs.json",
			env: map[string]string{"BINDERY_SHARED": "$ROOT/../other"},
			ask: site, ends: [3]string{goesOn, goesOn, goesOn}, found: "../other/corpora/mcp",
		},
		{
			name: "a variable begins at the checkout", files: "../other/corpora/mcp/docs.json",
			env: map[string]string{"BINDERY_SHARED": "../other"},
			ask: site, ends: [3]string{goesOn, goesOn, goesOn}, found: "../other/corpora/mcp",
		},
		{
			name: "no shared folder",
			ask:  site, ends: [3]string{skipped, skipped, failed}, says: "the shared folder with corpora/mcp (BINDERY_SHARED)",
		},
		{
			name: "the variable names nothing, whatever lies beside", files: "../shared/corpora/mcp/docs.json",
			env: map[string]string{"BINDERY_SHARED": "$ROOT/../none"},
			ask: site, ends: [3]string{skipped, skipped, failed}, says: "the shared folder with corpora/mcp",
		},
		{
			name: "somebody else's folder of that name", files: "../shared/photos/a.jpg",
			ask: site, ends: [3]string{skipped, skipped, failed}, says: "the shared folder with corpora/mcp",
		},
		{
			name: "the piece is missing", files: "../shared/corpora/novu/docs.json",
			ask: site, ends: [3]string{failed, failed, failed}, says: "has no corpora/mcp",
		},
		{
			name: "all pieces of that kind are missing", files: "../shared/oracle/trees.mjs",
			ask: site, ends: [3]string{failed, failed, failed}, says: "has no corpora/mcp",
		},
		{
			name: "the variable names an empty folder", env: map[string]string{"BINDERY_SHARED": "$ROOT"},
			ask: site, ends: [3]string{failed, failed, failed}, says: "has no corpora/mcp",
		},
		{
			name: "what a test can do without, and has", files: "../shared/corpora/mcp/docs.json",
			ask: maybe, ends: [3]string{goesOn, goesOn, goesOn}, found: "../shared/corpora/mcp",
		},
		{
			name: "what a test can do without",
			ask:  maybe, ends: [3]string{goesOn, goesOn, failed}, says: "the shared folder with corpora/mcp",
		},
		{
			name: "what a test can do without, where there should be one", files: "../shared/corpora/novu/docs.json",
			ask: maybe, ends: [3]string{failed, failed, failed}, says: "has no corpora/mcp",
		},
		{
			name: "trees", files: "../shared/oracle/trees.mjs .cache/trees/mcp.jsonl",
			ask: trees, ends: [3]string{goesOn, goesOn, goesOn}, found: ".cache/trees/mcp.jsonl",
		},
		{
			name: "trees at another place", files: "../shared/oracle/trees.mjs .cache/trees/mcp.jsonl elsewhere/mcp.jsonl",
			env: map[string]string{"BINDERY_TREES": "$ROOT/elsewhere"},
			ask: trees, ends: [3]string{goesOn, goesOn, goesOn}, found: "elsewhere/mcp.jsonl",
		},
		{
			name: "nobody made the trees", files: "../shared/oracle/trees.mjs",
			ask: trees, ends: [3]string{skipped, failed, failed}, says: ".cache/trees/mcp.jsonl (make tools)",
		},
		{
			name: "nothing to make trees with", files: ".cache/trees/mcp.jsonl",
			ask: trees, ends: [3]string{skipped, skipped, failed}, says: "the shared folder with oracle",
		},
		{
			name: "a tool", files: ".cache/npm/linter",
			ask: linter, ends: [3]string{goesOn, goesOn, goesOn}, found: ".cache/npm/linter",
		},
		{
			name: "no tool",
			ask:  linter, ends: [3]string{skipped, failed, failed}, says: "needs the linter (make tools)",
		},
		{
			name: "a program by its second name", files: ".cache/bin/no-such-either",
			ask: program, ends: [3]string{goesOn, goesOn, goesOn}, found: ".cache/bin/no-such-either",
		},
		{
			name: "a program of the system", files: "bin/no-such-program", env: map[string]string{"PATH": "$ROOT/bin"},
			ask: program, ends: [3]string{goesOn, goesOn, goesOn}, found: "bin/no-such-program",
		},
		{
			name: "no program",
			ask:  program, ends: [3]string{skipped, failed, failed}, says: "needs no-such-program (make tools)",
		},
		{
			name: "no rights",
			ask:  root, ends: [3]string{skipped, skipped, failed}, says: "needs root",
		},
	} {
		for i, require := range []requirement{nothing, tools, all} {
			t.Run(c.name+"/"+string(require), func(t *testing.T) {
				root := checkout(t, strings.Fields(c.files)...)
				for name, value := range c.env {
					t.Setenv(name, strings.ReplaceAll(value, "$ROOT", root))
				}
				t.Setenv("BINDERY_REQUIRE", string(require))
				var found string
				r := record(func(tb testing.TB) { found = c.ask(tb) })
				if r.end != c.ends[i] {
					t.Fatalf("the test %s, want it %s: %s", r.end, c.ends[i], r.said)
				}
				switch {
				case r.end != goesOn && (!strings.Contains(r.said, c.says) || c.says == ""):
					t.Errorf("it says %q, want %q", r.said, c.says)
				case r.end == goesOn && c.found == "" && found != "":
					t.Errorf("it finds %s", found)
				case r.end == goesOn && c.found != "" && found != filepath.Join(root, filepath.FromSlash(c.found)):
					t.Errorf("it finds %s, want %s", found, c.found)
				}
			})
		}
	}
}

func TestSites(t *testing.T) {
	for _, c := range []struct{ name, list, want, says string }{
		{"the shared folder's", "", "mcp novu trigger", ""},
		{"chosen", "$ROOT/../a/docs:site", "docs site", ""},
		{"no site", "$ROOT/shared", "", "has no docs.json"},
		{"nowhere", "none", "", "has no docs.json"},
		{"two of a name", "$ROOT/../a/docs:$ROOT/../b/docs", "", "two folders called docs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := checkout(t, "../shared/corpora/mcp/docs.json", "../shared/corpora/novu/docs.json", "../shared/corpora/trigger/docs.json",
				"../a/docs/docs.json", "../b/docs/mint.json", "site/mint.json", ".cache/oracle/trees.mjs", "bin/node")
			if err := os.WriteFile(filepath.Join(root, "bin", "node"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
			t.Setenv("BINDERY_SITES", strings.ReplaceAll(c.list, "$ROOT", root))
			var names []string
			r := record(func(tb testing.TB) {
				sites, all := Sites(tb)
				if all != (c.list == "") {
					t.Errorf("all is %t", all)
				}
				for _, s := range sites {
					names = append(names, s.Name)
					if all {
						continue
					}
					if got, err := os.ReadFile(s.Trees(t)); err != nil || string(got) != filepath.Join(root, ".cache/oracle/trees.mjs")+" "+s.Dir+"\n" {
						t.Errorf("the trees are %q (%v)", got, err)
					}
				}
			})
			if got := strings.Join(names, " "); got != c.want || !strings.Contains(r.said, c.says) || (r.end == failed) != (c.says != "") {
				t.Errorf("the test %s with %q: %s", r.end, got, r.said)
			}
		})
	}
}

func TestRequireIsSpeltRight(t *testing.T) {
	for name, ask := range map[string]func(tb testing.TB){
		"lacking":      func(tb testing.TB) { Lacking(tb, "the linter") },
		"out of reach": func(tb testing.TB) { OutOfReach(tb, "root") },
		"maybe":        func(tb testing.TB) { Maybe(tb, "corpora") },
	} {
		t.Run(name, func(t *testing.T) {
			checkout(t)
			t.Setenv("BINDERY_REQUIRE", "1")
			if r := record(ask); r.end != failed || !strings.Contains(r.said, "BINDERY_REQUIRE=1") {
				t.Errorf("the test %s: %s", r.end, r.said)
			}
		})
	}
}

func TestCheckout(t *testing.T) {
	root := checkout(t)
	if got := Checkout(t); got != root {
		t.Errorf("the checkout is %s, want %s", got, root)
	}
	t.Chdir(filepath.Dir(root))
	if r := record(func(tb testing.TB) { Checkout(tb) }); r.end != failed {
		t.Errorf("above the checkout a test %s", r.end)
	}
}
