package serve

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isDiskFull reports whether a failure means a full volume.
func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncVolume does nothing: Windows has no call for a whole volume that a
// service may make; every file is written through its own handle.
func syncVolume(string) error { return nil }
