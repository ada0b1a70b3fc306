//go:build !unix

package island

import "time"

// processorTime is 0: the system does not tell it this way.
func processorTime() time.Duration { return 0 }
