package client

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockPart takes the file for this download, or returns errTaken. The lock is
// on a byte that no bundle reaches, because Windows keeps others, also this
// process, from reading what is locked.
func lockPart(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errTaken
	}
	return err
}

// renamePart renames the finished file to its name. Windows renames no file that
// is open.
func renamePart(part *os.File, to string) error {
	return errors.Join(part.Close(), os.Rename(part.Name(), to))
}
