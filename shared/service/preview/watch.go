package preview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/text/unicode/norm"
)

// Editors save by writing a file twice, or another one that then takes its place.
const (
	// quiet is how long nothing happens after a change is whole.
	quiet = 12 * time.Millisecond
	// most is how long a change may take.
	most = 200 * time.Millisecond
)

// watcher follows a folder and all folders in it.
type watcher struct {
	dir string // absolute, without links
	log *slog.Logger
	fs  *fsnotify.Watcher
	err error // why it ended
}

func newWatcher(dir string, log *slog.Logger) (*watcher, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("watch the folder: %w", err)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the folder: %w", err)
	}
	w := &watcher{dir: dir, log: log, fs: notify}
	if err := w.add(dir); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *watcher) close() { _ = w.fs.Close() }

// skipped reports whether nothing in a folder of this name is part of a site.
func skipped(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// add watches a folder and those in it.
func (w *watcher) add(dir string) error {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // it went, or nobody may read it
			if name == w.dir {
				return err
			}
			return nil
		case !d.IsDir():
			return nil
		case name != w.dir && skipped(d.Name()):
			return filepath.SkipDir
		}
		err = w.fs.Add(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("watch the folder: %w (the system limits how many folders may be watched)", err)
	}
	return nil
}

// name returns the path of a file in the folder, with slashes; "" for what is no
// part of a site.
func (w *watcher) name(file string) string {
	rel, err := filepath.Rel(w.dir, file)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	rel = filepath.ToSlash(rel)
	if slices.ContainsFunc(strings.Split(rel, "/"), skipped) && rel != ".mintignore" {
		return ""
	}
	return norm.NFC.String(rel)
}

// run sends the names of files that changed together, sorted; nil where that is not
// known. It closes changes when it ends before ctx does, and err says why.
func (w *watcher) run(ctx context.Context, changes chan<- []string) {
	defer close(changes)
	pending := map[string]bool{}
	any := false
	var since time.Time
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-w.fs.Events:
			if !ok {
				w.err = errors.New("the folder can't be watched any longer")
				return
			}
			name := w.name(event.Name)
			if name == "" || event.Op == fsnotify.Chmod {
				continue
			}
			if info, err := os.Lstat(event.Name); err == nil && event.Has(fsnotify.Create) && !info.Mode().IsRegular() {
				any = true // a folder with files in it, or a link
				if info.IsDir() {
					if err := w.add(event.Name); err != nil {
						w.log.LogAttrs(ctx, slog.LevelWarn, "a new folder is not watched", slog.Any("error", err))
					}
				}
			}
			pending[name] = true
		case err := <-w.fs.Errors:
			w.log.LogAttrs(ctx, slog.LevelDebug, "the system lost count of changes", slog.Any("error", err))
			any = true
		case <-timer.C:
			names := make([]string, 0, len(pending))
			for name := range pending {
				names = append(names, name)
			}
			slices.Sort(names)
			if any {
				names = nil
			}
			clear(pending)
			any, since = false, time.Time{}
			select {
			case changes <- names:
			case <-ctx.Done():
				return
			}
			continue
		}
		if since.IsZero() {
			since = time.Now()
		}
		timer.Reset(max(0, min(quiet, most-time.Since(since))))
	}
}
