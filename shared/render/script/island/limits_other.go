//go:build !unix

package island

import "time"

// processorTime is 0: the system does not say it this way.
func processorTime() time.Duration { return 0 }

// limitMemory does nothing: the system bounds no memory this way.
func limitMemory(uint64) {}
