package tempdir

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// Folders of versions that made no lock file go a day after their last change, unless a
// process has them open. Nothing else goes.
func TestSweepOld(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	now := time.Now()
	folderOf := func(name string, folder, file time.Duration) string {
		t.Helper()
		path := filepath.Join(os.TempDir(), name)
		deep := filepath.Join(path, "deep", "file")
		if err := os.MkdirAll(filepath.Dir(deep), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(deep, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{deep, filepath.Dir(deep), path} {
			age := folder
			if at == deep {
				age = file
			}
			if err := os.Chtimes(at, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	const old, young = 25 * time.Hour, 23 * time.Hour
	folderOf("bindery-run-123", old, old)
	folderOf("bindery-serve-4567", old, old)
	folderOf("bindery-diff-1", old, old)
	folderOf("bindery-upload-2", old, old)
	folderOf("bindery-run-124", old, young)
	folderOf("bindery-run-125", young, young)
	folderOf("bindery-mine", old, old)
	folderOf("bindery-tests-1", old, old)
	folderOf("bindery-run-1a", old, old)
	folderOf("other-run-1", old, old)
	folderOf("bindery-run-126", old, old)
	if err := os.WriteFile(filepath.Join(os.TempDir(), "bindery-run-126.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := folderOf("elsewhere", old, old)
	want := []string{"bindery-mine", "bindery-run-124", "bindery-run-125", "bindery-run-126", "bindery-run-126.lock", "bindery-run-1a", "bindery-tests-1", "elsewhere", "other-run-1"}
	if os.Symlink(elsewhere, filepath.Join(os.TempDir(), "bindery-run-127")) == nil {
		want = append(want, "bindery-run-127")
	}
	if runtime.GOOS == "linux" {
		used, err := os.Open(filepath.Join(folderOf("bindery-serve-128", old, old), "deep"))
		if err != nil {
			t.Fatal(err)
		}
		defer used.Close()
		want = append(want, "bindery-serve-128")
	}
	slices.Sort(want)
	sweepOld(now)
	if left := names(t); !slices.Equal(left, want) {
		t.Errorf("there are %q, want %q", left, want)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "deep", "file")); err != nil {
		t.Error(err)
	}
	sweepOld(now.Add(2 * time.Hour))
	if left := names(t); slices.Contains(left, "bindery-run-124") || slices.Contains(left, "bindery-run-125") {
		t.Errorf("a day later there are %q", left)
	}
}

// What starts a command removes them.
func TestMakeSweepsOld(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	path := filepath.Join(os.TempDir(), "bindery-run-123")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * oldAge)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	d, err := Make("run")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}
