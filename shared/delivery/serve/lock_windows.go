package serve

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes a file for this open file, alone or beside others that share
// it. It is false when others have it. The system releases it when the file
// is closed or the process ends, however it ends.
func tryLock(f *os.File, shared bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// isDiskFull reports whether a failure means a full volume.
func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncVolume does nothing: Windows has no call for a whole volume that a
// service may make; every file is written through its own handle.
func syncVolume(string) error { return nil }
