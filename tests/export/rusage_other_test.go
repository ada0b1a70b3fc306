//go:build !unix

package export

import "os"

// peakKiB is not known on this system.
func peakKiB(*os.ProcessState) int64 { return 0 }
