package island

import (
	"os"
	"strconv"
	"strings"
)

// resident is how many bytes of this process are in memory, garbage and the
// program's own pages included.
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
