package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// inRoot has cmd run with root as its root folder and as a user of no rights,
// if this process may do that.
func inRoot(cmd *exec.Cmd, root string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	// As the runtime makes it: the folder that the image declares for all.
	for _, dir := range []string{root, filepath.Dir(root)} {
		_ = os.Chmod(dir, 0o755)
	}
	cmd.Path = strings.TrimPrefix(cmd.Path, root)
	cmd.Args[0] = cmd.Path
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return true
}
