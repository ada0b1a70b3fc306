package local

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes the file for this process, or returns ErrLocked. The system
// releases it when the process ends, however it ends.
func lockFile(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// syncDir does nothing: Windows has no such call, and NTFS logs renames.
func syncDir(string) error { return nil }
