package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// repository makes a repository of a module with a program gate that writes what
// it is given, and a file.
func repository(t *testing.T) string {
	t.Helper()
	outside.Program(t, "git")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "test@example.com")
	}
	dir := filepath.Join(t.TempDir(), "repository")
	write(t, dir, "go.mod", "module example.com/gate\n\ngo 1.26\n")
	write(t, dir, ".gitignore", "/.cache\n/bin\n/out\n")
	write(t, dir, "tests/gate/main.go", `package main

import (
	"os"
	"strings"
)

func main() {
	_ = os.MkdirAll(".cache/gate", 0o755)
	_ = os.WriteFile(".cache/gate/report.json", []byte("{}"), 0o644)
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "BINDERY_") {
			println(v)
		}
	}
	if _, err := os.Stat("fail"); err == nil {
		os.Exit(1)
	}
}
`)
	write(t, dir, "file", "one\n")
	mustGit(t, dir, "init", "--quiet", "--initial-branch=main")
	commit(t, dir)
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func commit(t *testing.T, dir string) string {
	t.Helper()
	mustGit(t, dir, "add", "--all")
	mustGit(t, dir, "commit", "--quiet", "-m", "a commit")
	return mustGit(t, dir, "rev-parse", "HEAD")
}

func TestRunInClone(t *testing.T) {
	dir, cache := repository(t), t.TempDir()
	t.Setenv(envCache, cache)
	shared := filepath.Join(filepath.Dir(dir), "shared")
	write(t, shared, "corpora/a", "a")
	t.Setenv(envShared, "")
	var out bytes.Buffer
	if err := runInClone(t.Context(), dir, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	link := filepath.Join(cache, "gate", "shared")
	for _, want := range []string{envShared + "=" + link + "\n", envRequire + "=all\n", envDigest + "="} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the environment lacks %q:\n%s", want, out.String())
		}
	}
	if to, err := os.Readlink(link); err != nil || to != shared {
		t.Errorf("the link leads to %s, %v", to, err)
	}
	tree, err := os.ReadFile(filepath.Join(dir, ".cache", "ci-passed"))
	if want := mustGit(t, dir, "rev-parse", "HEAD^{tree}") + "\n"; err != nil || string(tree) != want {
		t.Errorf("ci-passed has %q, %v, want %q", tree, err, want)
	}
	if _, err := os.Stat(filepath.Join(dir, ".cache", "gate", reportFile)); err != nil {
		t.Error(err)
	}

	t.Run("a commit that fails is not marked", func(t *testing.T) {
		write(t, dir, "fail", "")
		commit(t, dir)
		if err := runInClone(t.Context(), dir, &out); err == nil || !strings.Contains(err.Error(), "did not pass") {
			t.Errorf("error %v", err)
		}
		if now, _ := os.ReadFile(filepath.Join(dir, ".cache", "ci-passed")); !bytes.Equal(now, tree) {
			t.Errorf("ci-passed has %q", now)
		}
	})
	t.Run("changes stop it", func(t *testing.T) {
		write(t, dir, "file", "two\n")
		if err := runInClone(t.Context(), dir, &out); err == nil || !strings.Contains(err.Error(), "M file") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no shared folder", func(t *testing.T) {
		t.Setenv(envShared, "")
		folder := t.TempDir()
		env, err := cloneEnv(filepath.Join(t.TempDir(), "alone"), folder, &out)
		if err != nil || strings.Join(env, " ") != envRequire+"=tools "+envShared+"=" {
			t.Errorf("%v, %v", env, err)
		}
	})
}

func TestUpdateClone(t *testing.T) {
	dir, clone := repository(t), filepath.Join(t.TempDir(), "clone")
	write(t, dir, "other", "one\n")
	first := commit(t, dir)
	update := func(commit string) {
		t.Helper()
		if err := updateClone(t.Context(), dir, clone, commit); err != nil {
			t.Fatal(err)
		}
	}
	update(first)
	before := stat(t, filepath.Join(clone, "file")).ModTime()
	write(t, clone, ".cache/results", "")
	write(t, clone, "bin/program", "")
	write(t, clone, "out/left", "")
	write(t, clone, "other", "left by a killed run\n")
	write(t, dir, "new", "")
	mustGit(t, dir, "tag", "v1.0.0")
	update(commit(t, dir))
	if after := stat(t, filepath.Join(clone, "file")).ModTime(); !after.Equal(before) {
		t.Errorf("a file that does not differ was written at %v, and before at %v", after, before)
	}
	for name, want := range map[string]bool{".cache/results": true, "bin/program": true, "out/left": false, "new": true} {
		if _, err := os.Stat(filepath.Join(clone, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", name, err, want)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(clone, "other")); string(text) != "one\n" {
		t.Errorf("a changed file has %q", text)
	}
	if tags := mustGit(t, clone, "tag"); tags != "v1.0.0" {
		t.Errorf("tags: %s", tags)
	}
	update(first)
	if _, err := os.Stat(filepath.Join(clone, "new")); err == nil {
		t.Error("a file of another commit stays")
	}
}

func stat(t *testing.T, file string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	first, err := outside.Lock(file, func() { t.Error("the first one waits") })
	if err != nil {
		t.Fatal(err)
	}
	waiting, got := make(chan struct{}), make(chan error)
	go func() {
		second, err := outside.Lock(file, func() { close(waiting) })
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	<-waiting
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestDigestOf(t *testing.T) {
	dir := t.TempDir()
	digest := func() string {
		t.Helper()
		d, err := digestOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	write(t, dir, "a", "one")
	one := digest()
	now := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a"), now, now); err != nil {
		t.Fatal(err)
	}
	if digest() != one {
		t.Error("a time changes the digest")
	}
	write(t, dir, "a", "two")
	two := digest()
	write(t, dir, "b", "")
	if three := digest(); two == one || three == two {
		t.Errorf("digests: %s %s %s", one, two, three)
	}
}
