//go:build !unix

package cloudtest

import "os/exec"

func group(*exec.Cmd) {}

// killGroup ends the program; there are no groups here.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
