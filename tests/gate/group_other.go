//go:build !unix

package main

import (
	"os/exec"
	"time"
)

func ownGroup(cmd *exec.Cmd, grace time.Duration) { cmd.WaitDelay = grace }
