//go:build unix && !linux

package serve

import "golang.org/x/sys/unix"

// syncVolume asks for all that was written to be kept over a loss of power.
func syncVolume(string) error { return unix.Sync() }
