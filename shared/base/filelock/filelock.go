// Package filelock takes files for one process, or for several that share them. The
// system releases a lock when the file is closed or the process ends, however it ends.
//
//	lock_unix.go, lock_windows.go  Try
package filelock
