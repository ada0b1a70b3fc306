//go:build unix

package client

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockPart takes the file for this download, or returns errTaken. The kernel
// releases it when the file is closed or the process ends.
func lockPart(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errTaken
	}
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOLCK) {
		return nil // some network file systems have no locks
	}
	return err
}

// renamePart renames the finished file to its name, still locked: nobody else may
// begin to write to it in between.
func renamePart(part *os.File, to string) error { return os.Rename(part.Name(), to) }
