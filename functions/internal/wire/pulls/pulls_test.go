package pulls

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestFetched: what a process left that died goes, also one of the same number;
// what one has that lives stays.
func TestFetched(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("not run: which processes live is read from /proc")
	}
	below := t.TempDir()
	file := func(pid string) string { return filepath.Join(below, "fetched-"+pid, "pack") }
	own, dead, alive := strconv.Itoa(os.Getpid()), "999999999", strconv.Itoa(os.Getppid())
	for _, pid := range []string{own, dead, alive} {
		if err := os.MkdirAll(filepath.Dir(file(pid)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file(pid), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := fetched(below)
	if err != nil || dir != filepath.Dir(file(own)) {
		t.Fatalf("the folder is %s, %v", dir, err)
	}
	for pid, want := range map[string]bool{own: false, dead: false, alive: true} {
		if _, err := os.Stat(file(pid)); (err == nil) != want {
			t.Errorf("the file of %s: %v", pid, err)
		}
	}
}
