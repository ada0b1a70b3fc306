//go:build unix

package serve

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isDiskFull reports whether a failure means a full volume or a used-up quota.
func isDiskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
