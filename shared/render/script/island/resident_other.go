//go:build !linux

package island

// resident is about how many bytes of this process are in memory.
func resident() uint64 { return mapped() }
