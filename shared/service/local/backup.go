package local

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Report is the result of a backup or a check.
type Report struct {
	// Objects and Bytes count the objects that the database names.
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
	// Faults are the objects that differ from the database.
	Faults []Fault `json:"faults"`
}

// Fault is an object that is not as the database says.
type Fault struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// backupTries is how often a backup takes the database again because objects went
// while they were copied.
const backupTries = 5

// Backup makes a copy of the data folder that is one by itself, while other processes
// work on it: the database as it was at one moment, and all objects that it names. dir
// must not be there, or be empty. Folders and files of the names in leave, the lock,
// uploads that are not complete and what processes were writing are not in the copy.
// Damaged objects are copied as they are, and reported.
func (l *Local) Backup(ctx context.Context, dir string, leave ...string) (r Report, err error) {
	if dir, err = l.newFolder(dir); err != nil {
		return r, fmt.Errorf("local: %w", err)
	}
	defer func() {
		if err != nil { // half a copy must not be taken for one
			err = errors.Join(fmt.Errorf("local: backup: %w", portError(ctx, err)), emptied(dir))
		}
	}()
	if err := l.checkAll(ctx); err != nil {
		return r, err
	}
	// Most objects are copied before the database. Few go then between the two.
	now, err := objectsOf(ctx, l.reads)
	if err != nil {
		return r, err
	}
	have := make(map[string]string, len(now)) // what is wrong with them, by file
	if err := l.copyObjects(ctx, dir, now, have); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	unfinished := filepath.Join(dir, databaseFile+".unfinished")
	var named []stored
	for try := 1; ; try++ {
		if _, err := l.reads.ExecContext(ctx, "VACUUM INTO ?", unfinished); err != nil {
			return r, err
		}
		if named, err = copiedObjects(ctx, unfinished); err != nil {
			return r, err
		}
		err := l.copyObjects(ctx, dir, named, have)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
		if try == backupTries { // it is not that it went meanwhile: it is lost
			for _, s := range named {
				if _, ok := have[s.file]; !ok {
					have[s.file] = "its file is gone"
				}
			}
			break
		}
		if err := os.Remove(unfinished); err != nil {
			return r, err
		}
	}
	wanted := make(map[string]bool, len(named))
	for _, s := range named {
		wanted[s.file] = true
		r.add(s, have[s.file])
	}
	for file := range have {
		if !wanted[file] {
			if err := os.Remove(filepath.Join(dir, "objects", filepath.FromSlash(file))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return r, err
			}
		}
	}
	if err := l.copyRest(ctx, dir, append(leave, "objects", "lock")); err != nil {
		return r, err
	}
	if err := syncFile(unfinished); err != nil {
		return r, err
	}
	if err := os.Rename(unfinished, filepath.Join(dir, databaseFile)); err != nil {
		return r, err
	}
	return r, syncDir(dir)
}

// Check reads the whole database, and each object that it names against its digest. It
// returns ErrDamaged for a database that is not whole.
func (l *Local) Check(ctx context.Context) (r Report, err error) {
	if err := l.checkAll(ctx); err != nil {
		return r, fmt.Errorf("local: %w", err)
	}
	named, err := objectsOf(ctx, l.reads)
	if err != nil {
		return r, fmt.Errorf("local: check: %w", portError(ctx, err))
	}
	for _, s := range named {
		why, err := l.copyObject(ctx, io.Discard, s)
		if errors.Is(err, fs.ErrNotExist) {
			if _, gone := l.objects.find(ctx, s.Key); errors.Is(gone, store.ErrNotFound) {
				continue // it was removed meanwhile
			}
			why, err = "its file is gone", nil
		}
		if err != nil {
			return r, fmt.Errorf("local: check: %w", portError(ctx, err))
		}
		r.add(s, why)
	}
	return r, nil
}

func (r *Report) add(s stored, why string) {
	r.Objects++
	r.Bytes += s.Size
	if why != "" {
		r.Faults = append(r.Faults, Fault{Key: s.Key, Reason: why})
	}
}

// newFolder makes the folder of a copy, which must be empty and outside of the data
// folder.
func (l *Local) newFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(l.dir, dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("the copy %s would lie in the data folder %s itself", dir, l.dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("the folder %s is not empty; a copy needs one of its own", dir)
	}
	return dir, err
}

// emptied removes what is in a folder.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// objectsOf returns the rows of all objects.
func objectsOf(ctx context.Context, db *sql.DB) (list []stored, err error) {
	rows, err := db.QueryContext(ctx, `SELECT key, file, size, sha256, type, modified FROM objects ORDER BY key`)
	if err != nil {
		return nil, err
	}
	return list, eachRow(rows, func() error {
		s, err := scanObject(rows)
		list = append(list, s)
		return err
	})
}

// copiedObjects is objectsOf for the copy of a database, after a look at its structure.
func copiedObjects(ctx context.Context, file string) ([]stored, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro&immutable=1"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil || found != "ok" {
		return nil, fmt.Errorf("the copy of the database is not whole: %s: %w", found, errors.Join(err, ErrDamaged))
	}
	return objectsOf(ctx, db)
}

// copyObjects copies the files of objects that are not among have, and adds them to it,
// with what is wrong. Its error is fs.ErrNotExist where some are gone, after all others.
func (l *Local) copyObjects(ctx context.Context, dir string, list []stored, have map[string]string) error {
	var gone error
	for _, s := range list {
		if _, ok := have[s.file]; ok {
			continue
		}
		why, err := l.copyTo(ctx, filepath.Join(dir, "objects", filepath.FromSlash(s.file)), s)
		if errors.Is(err, fs.ErrNotExist) {
			gone = err
			continue
		}
		if err != nil {
			return err
		}
		have[s.file] = why
	}
	return gone
}

func (l *Local) copyTo(ctx context.Context, to string, s stored) (why string, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	why, err = l.copyObject(ctx, f, s)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return why, err
}

// copyObject writes the file of an object and says what is wrong with it.
func (l *Local) copyObject(ctx context.Context, w io.Writer, s stored) (why string, err error) {
	f, err := os.Open(filepath.Join(l.objects.root, filepath.FromSlash(s.file)))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), store.Until(ctx, f))
	switch {
	case err != nil:
		return "", err
	case n != s.Size:
		return fmt.Sprintf("it has %d bytes, not %d", n, s.Size), nil
	case s.SHA256 != "" && !strings.EqualFold(hex.EncodeToString(sum.Sum(nil)), s.SHA256):
		return "its bytes are not those that were stored", nil
	}
	return "", nil
}

// copyRest copies what is in the data folder besides the database and its own files.
func (l *Local) copyRest(ctx context.Context, dir string, leave []string) error {
	return filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(l.dir, path)
		if err != nil || rel == "." {
			return err
		}
		to := filepath.Join(dir, rel)
		switch {
		case slices.Contains(leave, rel) || strings.HasPrefix(rel, databaseFile):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case !d.Type().IsRegular() || strings.Contains(d.Name(), "~"):
			return nil
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // it was replaced by another, or removed
			return nil
		}
		if err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
		if err != nil {
			return err
		}
		return syncFile(to)
	})
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
