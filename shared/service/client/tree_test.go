package client

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// writeTree writes files below a folder.
func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// contents reads all files of a tree.
func contents(t *testing.T, tree *Tree) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range tree.Paths {
		data, err := fs.ReadFile(tree, p)
		if err != nil {
			t.Fatal(err)
		}
		info, err := fs.Stat(tree, p)
		if err != nil || info.Size() != int64(len(data)) || !info.Mode().IsRegular() {
			t.Errorf("%s has %d bytes, and is said to be %v, %v", p, len(data), info, err)
		}
		all[p] = string(data)
	}
	return all
}

// A folder and its commit are the same tree; a change is in the folder alone.
func TestTrees(t *testing.T) {
	outside.Program(t, "git")
	repository := t.TempDir()
	dir := filepath.Join(repository, "docs")
	files := map[string]string{
		"docs.json": "{}", "a.mdx": "A", "deep/b.mdx": "B\n\x00\n", "deep/empty.css": "", "deep/ü x.mdx": "U",
		".hidden/c.mdx": "C", "node_modules/d.mdx": "D", "README.md": "R", "drafts/e.mdx": "E", ".mintignore": "drafts/\n",
	}
	writeTree(t, dir, files)
	writeTree(t, repository, map[string]string{"beside.mdx": "not in the folder"})
	if err := os.Symlink("b.mdx", filepath.Join(dir, "deep", "link.mdx")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "."}, {"-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "-m", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", repository}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	open := func(old *Tree, err error) map[string]string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := old.Close(); err != nil {
				t.Error(err)
			}
			if _, err := fs.ReadFile(old, "a.mdx"); err == nil {
				t.Error("a tree can be read after its end")
			}
		}()
		if _, err := fs.ReadFile(old, "drafts/none.mdx"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file that is not there: %v", err)
		}
		if !slices.IsSorted(old.Paths) || len(old.Refused) > 0 {
			t.Errorf("the paths are %q, refused is %v", old.Paths, old.Refused)
		}
		return contents(t, old)
	}
	want := map[string]string{
		"docs.json": "{}", "a.mdx": "A", "deep/b.mdx": "B\n\x00\n", "deep/empty.css": "", "deep/ü x.mdx": "U", "deep/link.mdx": "B\n\x00\n",
	}
	if diff := cmp.Diff(want, open(OpenTree(t.Context(), dir))); diff != "" {
		t.Errorf("the folder differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, open(OpenCommit(t.Context(), dir, "HEAD"))); diff != "" {
		t.Errorf("the commit differs (-want +got):\n%s", diff)
	}
	writeTree(t, dir, map[string]string{"a.mdx": "changed", "CON.mdx": "no name on Windows"})
	if err := os.Symlink("missing", filepath.Join(dir, "nowhere")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, open(OpenCommit(t.Context(), dir, "HEAD"))); diff != "" {
		t.Errorf("the commit differs after a change (-want +got):\n%s", diff)
	}
	tree, err := OpenTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := tree.Replace("deep/link.mdx", []byte("B\n\x00\n"), []byte("new")); err != nil || contents(t, tree)["deep/b.mdx"] != "new" {
		t.Errorf("what a link leads to has not changed: %v", err)
	}
	if err := tree.Replace("a.mdx", []byte("A"), []byte("new")); err == nil || contents(t, tree)["a.mdx"] != "changed" {
		t.Errorf("a change of somebody else is lost: %v", err)
	}
	if err := tree.Replace("../a.mdx", nil, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a file of elsewhere: %v", err)
	}
	if len(tree.Refused) != 1 || tree.Refused[0].Path != "nowhere" || !slices.Contains(tree.Paths, "CON.mdx") || contents(t, tree)["a.mdx"] != "changed" {
		t.Errorf("refused is %v", tree.Refused)
	}
	for _, ref := range []string{"nowhere", "", "--all", "HEAD:docs"} {
		if _, err := OpenCommit(t.Context(), dir, ref); err == nil {
			t.Errorf("%q is a commit", ref)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := OpenCommit(t.Context(), dir, "HEAD"); !errors.Is(err, ErrNoGit) {
		t.Errorf("without git: %v", err)
	}
}
