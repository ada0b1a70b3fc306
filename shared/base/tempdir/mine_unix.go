//go:build unix

package tempdir

import (
	"os"
	"syscall"
)

// mine reports whether a file belongs to the user of this process.
func mine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
