//go:build linux || darwin || freebsd

package client

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// stampOf returns a file's identity and its times, and the later one of these. A
// program can set the time of a change back, but not that of its inode.
func stampOf(name string) (stamp string, changed time.Time, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", time.Time{}, false
	}
	written, changed := time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())
	stamp = fmt.Sprint(st.Dev, st.Ino, st.Size, written.UnixNano(), changed.UnixNano())
	if written.After(changed) {
		changed = written
	}
	return stamp, changed, true
}
