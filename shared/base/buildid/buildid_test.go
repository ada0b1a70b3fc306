package buildid_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/buildid"
	"github.com/bindery-docs/bindery/tests/outside"
)

// tree is a module whose package a imports b, beside a package that a does not
// need.
var tree = map[string]string{
	"go.mod":              "module example.com/m\n\ngo 1.26\n\nrequire (\n\texample.org/x v1.0.0 // indirect\n)\n",
	"a/a.go":              "package a\n\nimport (\n\t_ \"embed\"\n\t_ \"fmt\"\n\n\t_ \"example.com/m/a/b\"\n)\n\n//go:embed data\nvar data string\n",
	"a/a_test.go":         "package a\n",
	"a/a_windows.go":      "package a\n",
	"a/data/one.txt":      "1",
	"a/data/.hidden":      "h",
	"a/data/more/two.txt": "2",
	"a/notes.txt":         "n",
	"a/b/b.go":            "package b\n",
	"c/c.go":              "package c\n",
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A digest changes with each thing that a build is made from, and with nothing
// else.
func TestDigest(t *testing.T) {
	digest := func(change map[string]string) string {
		files := maps.Clone(tree)
		maps.Copy(files, change)
		d, err := buildid.Digest(write(t, files), "a")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	plain := digest(nil)
	if len(plain) != 32 || plain != digest(nil) {
		t.Fatalf("the digest is %q, then %q", plain, digest(nil))
	}
	for name, c := range map[string]struct {
		change  map[string]string
		counted bool
	}{
		"its code":                       {map[string]string{"a/a.go": tree["a/a.go"] + "\nvar x = 1\n"}, true},
		"the code of what it imports":    {map[string]string{"a/b/b.go": "package b\n\nvar x = 1\n"}, true},
		"a new file of what it imports":  {map[string]string{"a/b/b2.go": "package b\n"}, true},
		"an embedded file":               {map[string]string{"a/data/more/two.txt": "3"}, true},
		"a new embedded file":            {map[string]string{"a/data/three.txt": "3"}, true},
		"the version of a dependency":    {map[string]string{"go.mod": strings.Replace(tree["go.mod"], "v1.0.0", "v1.0.1", 1)}, true},
		"a replaced dependency":          {map[string]string{"go.mod": tree["go.mod"] + "\nreplace example.org/x => ../x\n"}, true},
		"a comment in go.mod":            {map[string]string{"go.mod": strings.Replace(tree["go.mod"], "// indirect", "", 1)}, false},
		"a test":                         {map[string]string{"a/a_test.go": "package a\n\nvar x = 1\n"}, false},
		"another system's code":          {map[string]string{"a/a_windows.go": "package a\n\nvar x = 1\n"}, false},
		"a file that is not embedded":    {map[string]string{"a/notes.txt": "other"}, false},
		"a hidden file beside embedded":  {map[string]string{"a/data/.hidden": "other"}, false},
		"a package that it does not use": {map[string]string{"c/c.go": "package c\n\nvar x = 1\n"}, false},
	} {
		if changed := digest(c.change) != plain; changed != c.counted {
			t.Errorf("%s: the digest changed: %v", name, changed)
		}
	}
}

func TestDigestErrors(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"a package that does not parse":      {"a/b/b.go": "package\n"},
		"a package without files":            {"a/a.go": "package a\n\nimport _ \"example.com/m/none\"\n"},
		"a go.mod that does not name itself": {"go.mod": "go 1.26\n"},
	} {
		files := maps.Clone(tree)
		maps.Copy(files, change)
		if d, err := buildid.Digest(write(t, files), "a"); err == nil {
			t.Errorf("%s: %q and no error", name, d)
		}
	}
}

// Files are those that the go command builds the renderer from.
func TestFilesAreThoseOfTheGoCommand(t *testing.T) {
	outside.Long(t, "asks the go command")
	root := outside.Checkout(t)
	const pkg = "shared/service/export"
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Dir,Standard,Module,GoFiles,EmbedFiles", "./"+pkg)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir                 string
			Standard            bool
			Module              *struct{ Version string }
			GoFiles, EmbedFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Standard || p.Module != nil && p.Module.Version != "" {
			continue
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			want = append(want, path.Join(filepath.ToSlash(dir), name))
		}
	}
	slices.Sort(want)
	got, err := buildid.Files(root, pkg)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("the go command's files (-) and ours (+):\n%s", diff)
	}
}

// A program knows the sources that it was built from until one is newer.
func TestHere(t *testing.T) {
	const pkg = "shared/base/buildid"
	want, err := buildid.Digest(outside.Checkout(t), pkg)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := buildid.Here(pkg); !ok || got != want {
		t.Errorf("here is %q, %v; want %q", got, ok, want)
	}
	if got, ok := buildid.Here("shared/none"); ok {
		t.Errorf("a package that does not exist has the digest %q", got)
	}
}

// A program that is older than a source is not built from it, nor is one
// without the paths of its checkout.
func TestHereOfAnotherBuild(t *testing.T) {
	outside.Long(t, "builds programs")
	root := write(t, map[string]string{
		"go.mod":  "module github.com/bindery-docs/bindery\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"github.com/bindery-docs/bindery/shared/base/buildid\"\n\nfunc main() { println(buildid.Here(\"x\")) }\n",
		"x/x.go":  "package x\n",
	})
	self, err := os.ReadFile("buildid.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "shared", "base", "buildid")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "buildid.go"), self, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "program")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	digest, err := buildid.Digest(root, "x")
	if err != nil {
		t.Fatal(err)
	}
	run("go", "build", "-o", program, ".")
	if got := run(program); got != digest+" true" {
		t.Errorf("a new program is of %q, want %s", got, digest)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(root, "x", "x.go"), later, later); err != nil {
		t.Fatal(err)
	}
	if got := run(program); !strings.HasSuffix(got, "false") {
		t.Errorf("a program older than its source is of %q", got)
	}
	run("go", "build", "-trimpath", "-o", program, ".")
	if got := run(program); !strings.HasSuffix(got, "false") {
		t.Errorf("a program without paths is of %q", got)
	}
}
