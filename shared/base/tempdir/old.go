package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Versions before locks, and systems without locks, leave folders that have no lock file.
// Nothing tells for sure that their process has ended. So they go when nothing in them
// has changed for oldAge and no process has them open.
const oldAge = 24 * time.Hour

// oldName matches the folders that commands of such versions made.
var oldName = regexp.MustCompile(`^` + prefix + `(diff|run|serve|upload)-[0-9]+$`)

// sweepOld removes folders without a lock file that are old at the time now.
func sweepOld(now time.Time) {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(os.TempDir(), e.Name())
		if !e.IsDir() || !oldName.MatchString(e.Name()) || !mine(path) {
			continue
		}
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if unchanged(path, now.Add(-oldAge)) && !inUse(path) {
			_ = os.RemoveAll(path)
		}
	}
}

// unchanged reports whether nothing in a folder has changed since a time.
func unchanged(path string, since time.Time) bool {
	return filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.ModTime().After(since) {
			return fs.ErrExist
		}
		return nil
	}) == nil
}

// inUse reports whether a process has a folder, or a file in it, open or as its working
// folder. Systems other than Linux don't tell: then it is false.
func inUse(path string) bool {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return false
	}
	folders, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range append(links, folders...) {
		if at, err := os.Readlink(link); err == nil && (at == path || strings.HasPrefix(at, path+"/")) {
			return true
		}
	}
	return false
}
