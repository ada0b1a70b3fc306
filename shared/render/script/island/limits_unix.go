//go:build unix

package island

import (
	"runtime"
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

// limitMemory has the system grant this process no more bytes than most, where
// the system can.
func limitMemory(most uint64) {
	if runtime.GOOS == "linux" { // others don't count what is mapped
		limit := syscall.Rlimit{Cur: most, Max: most}
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
	}
}
