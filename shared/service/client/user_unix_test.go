//go:build unix

package client

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is the number of a user without rights, by the convention of Linux.
const nobody = 65534

// withoutRoot gives a folder of t.TempDir to a user without rights. All system calls
// of this process are that user's until the test ends: root may read files of any
// mode. Tests that run in parallel must wait. Without root it does nothing.
func withoutRoot(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	own := func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	}
	// The folder above it is the test's, too, and open to its owner alone.
	if err := filepath.WalkDir(filepath.Dir(dir), own); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Seteuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	})
}
