//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

func ownGroup(cmd *exec.Cmd, grace time.Duration) { cmd.WaitDelay = grace }

func lock(string, func()) (*os.File, error) {
	return nil, errors.New("gate run needs a Unix system; gate test runs everywhere")
}
