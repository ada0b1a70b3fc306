//go:build unix

package island

import (
	"syscall"
	"time"
)

// processorTime is how long this process has used the processor, 0 where that is
// not known.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
