package island

import (
	"os"
	"strconv"
	"strings"
)

// resident returns the resident memory of this process in bytes, with garbage and the
// pages of the program.
func resident() uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		if fields := strings.Fields(string(data)); len(fields) > 1 {
			if pages, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				return pages * uint64(os.Getpagesize())
			}
		}
	}
	return mapped()
}
