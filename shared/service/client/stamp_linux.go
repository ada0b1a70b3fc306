package client

import (
	"syscall"
	"time"
)

// inodeChanged returns when the file or what is noted of it was last written.
func inodeChanged(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
