package tempdir

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// names lists the temporary folder.
func names(t *testing.T) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// A folder goes when its process has ended, not before, and nothing else goes.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // Windows
	living, err := Make("serve")
	if err != nil {
		t.Fatal(err)
	}
	dead, err := Make("run")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Dir{living, dead} {
		if err := os.MkdirAll(filepath.Join(d.Path, "deep", "down"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Path, "deep", "file"), []byte("x"), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "keep"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// What others put there: a folder without a lock, and a lock of a link.
	if err := os.Mkdir(filepath.Join(os.TempDir(), "bindery-mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(os.TempDir(), "bindery-link")); err == nil {
		if err := os.WriteFile(filepath.Join(os.TempDir(), "bindery-link.lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := dead.lock.Close(); err != nil { // as the system does when a process is killed
		t.Fatal(err)
	}
	next, err := Make("run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead.Path); !os.IsNotExist(err) {
		t.Errorf("the folder of a dead process is there: %v", err)
	}
	if _, err := os.Stat(dead.Path + suffix); !os.IsNotExist(err) {
		t.Errorf("its lock is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(living.Path, "deep", "file")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "keep")); err != nil {
		t.Error(err)
	}
	for _, d := range []*Dir{living, next} {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
	if left := names(t); len(left) != 1 || left[0] != "bindery-mine" {
		t.Errorf("there are %q", left)
	}
}

// A folder stays while a child of its dead maker uses it, and a child that comes too late
// is told.
func TestJoin(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	d, err := Make("run")
	if err != nil {
		t.Fatal(err)
	}
	child, err := Join(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.lock.Close(); err != nil {
		t.Fatal(err)
	}
	Sweep()
	if _, err := os.Stat(d.Path); err != nil {
		t.Errorf("it went under the child: %v", err)
	}
	if err := child.Close(); err != nil {
		t.Fatal(err)
	}
	Sweep()
	if left := names(t); len(left) > 0 {
		t.Errorf("there are %q", left)
	}
	if _, err := Join(d.Path); err == nil {
		t.Error("a folder that went is joined")
	}
	if free, err := Join(t.TempDir()); err != nil || free.Close() != nil {
		t.Errorf("a folder without a lock: %v", err)
	}
}

// Processes that make folders at once don't take each other's.
func TestMakeAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				d, err := Make("run")
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "file"), nil, 0o600); err != nil {
					t.Errorf("the folder went while it was in use: %v", err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left := names(t); len(left) > 0 {
		t.Errorf("there are %q", left)
	}
}
