//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// ownGroup gives a command a process group of its own. When its context ends,
// the whole group is asked to stop, and killed after the grace.
func ownGroup(cmd *exec.Cmd, grace time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		pid := cmd.Process.Pid
		time.AfterFunc(grace, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
		return syscall.Kill(-pid, syscall.SIGTERM)
	}
	cmd.WaitDelay = grace + time.Second
}
