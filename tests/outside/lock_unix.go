//go:build unix

package outside

import (
	"os"
	"syscall"
)

// Lock takes the lock on a file, which is made if needed, for this process alone.
// If another process has it, Lock calls waiting and waits. Closing the file, or
// the end of the process, gives it back.
func Lock(path string, waiting func()) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return f, nil
	}
	waiting()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
