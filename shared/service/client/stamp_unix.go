//go:build linux || darwin || freebsd

package client

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// stampOf returns a file's identity and its times, and the later one of these. A
// program can set the time of a change back, but not that of its inode.
func stampOf(info fs.FileInfo) (stamp string, changed time.Time, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return "", time.Time{}, false
	}
	written, changed := info.ModTime(), inodeChanged(st)
	stamp = fmt.Sprint(st.Dev, st.Ino, st.Size, written.UnixNano(), changed.UnixNano())
	if written.After(changed) {
		changed = written
	}
	return stamp, changed, true
}
