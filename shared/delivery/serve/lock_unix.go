//go:build unix

package serve

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes a file for this open file, alone or beside others that share
// it. It is false when others have it. The kernel releases it when the file
// is closed or the process ends, however it ends.
func tryLock(f *os.File, shared bool) (bool, error) {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		}
		return err == nil, err
	}
}

// isDiskFull reports whether a failure means a full volume or a used-up quota.
func isDiskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
