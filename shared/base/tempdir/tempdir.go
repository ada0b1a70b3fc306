// Package tempdir makes temporary folders and removes those of killed processes. Each
// folder has a lock file beside it, NAME.lock. Every process that uses the folder holds
// a shared lock on it. A process that gets the exclusive lock may remove both.
package tempdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/filelock"
)

const (
	// prefix begins the names of all folders: Bindery's own.
	prefix = "bindery-"
	suffix = ".lock"
)

// Dir is a temporary folder of this process.
type Dir struct {
	// Path is absolute where the system's temporary folder is.
	Path string
	lock *os.File
}

// makeTries bounds the names that Make tries. Another process may sweep a new lock file
// before Make has locked it; then Make tries the next name.
const makeTries = 100

// Make makes a folder in the system's temporary folder, for this user alone. Its name
// begins with "bindery-" and the name that is given. The caller must call Remove. It
// calls Sweep first.
func Make(name string) (*Dir, error) {
	Sweep()
	for range makeTries {
		f, err := os.CreateTemp("", prefix+name+"-*"+suffix) // mode 0600
		if err != nil {
			return nil, err
		}
		d := &Dir{Path: strings.TrimSuffix(f.Name(), suffix), lock: f}
		mine, err := filelock.Try(f, true)
		if err != nil { // some network file systems have no locks: nobody will sweep it
			err = errors.Join(f.Close(), os.Remove(f.Name()))
			if d.lock = nil; err != nil {
				return nil, err
			}
		} else if !mine || !same(f) {
			_ = f.Close()
			continue
		}
		if err = os.Mkdir(d.Path, 0o700); err == nil {
			return d, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(err, d.Remove())
		}
		if d.lock != nil { // the folder is somebody else's
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}
	return nil, fmt.Errorf("no temporary folder could be made in %s", os.TempDir())
}

// Remove removes the folder and all that is in it.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.lock == nil {
		return err
	}
	if err != nil { // the next process tries again
		return errors.Join(err, d.lock.Close())
	}
	if os.Remove(d.Path+suffix) == nil {
		return d.lock.Close()
	}
	return errors.Join(d.lock.Close(), ifThere(os.Remove(d.Path+suffix))) // Windows removes no file that is open
}

// Join shares a folder that another process made. The folder stays until this process
// ends or closes the returned lock, even if the other process dies. Join returns an
// error if the folder was removed already. For a folder without a lock file it does
// nothing.
func Join(path string) (io.Closer, error) {
	f, err := os.OpenFile(path+suffix, os.O_RDWR, 0)
	if err != nil {
		_, err = os.Stat(path)
		return io.NopCloser(nil), err
	}
	mine, err := filelock.Try(f, true)
	if err == nil && mine && same(f) {
		return f, nil
	}
	return nil, errors.Join(fmt.Errorf("the folder %s is being removed", path), err, f.Close())
}

// Sweep removes the folders of processes that have ended without removing them, and
// folders without a lock file that are a day old. What it can't remove stays for the next
// time.
func Sweep() {
	sweepOld(time.Now())
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"+suffix))
	if err != nil {
		return // the name of the folder is no pattern
	}
	for _, path := range locks {
		sweep(path)
	}
}

func sweep(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	mine, err := filelock.Try(f, false)
	if err != nil || !mine || !same(f) {
		_ = f.Close()
		return
	}
	d := &Dir{Path: strings.TrimSuffix(path, suffix), lock: f}
	_ = d.Remove()
}

// same reports whether an open file is still the one of its name.
func same(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(open, now)
}

func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
