//go:build unix

package export

import (
	"os"
	"runtime"
	"syscall"
)

// peakKiB is the largest memory that the process had resident, in KiB.
func peakKiB(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // there the unit is bytes
		return usage.Maxrss / 1024
	}
	return usage.Maxrss
}
