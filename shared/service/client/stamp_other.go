//go:build !linux && !darwin && !freebsd

package client

import (
	"io/fs"
	"time"
)

// stampOf returns nothing: here no value changes surely whenever a file does.
func stampOf(fs.FileInfo) (stamp string, changed time.Time, ok bool) { return "", time.Time{}, false }
