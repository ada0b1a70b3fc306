package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Objects is store.Objects on a folder. Each object is one file under a random
// name; the table "objects" says which. So a key needs no escaping (keys that
// differ by case, or of which one is the other's folder, are harmless), one
// transaction swaps an object for another, and a listing is in byte order.
type Objects struct {
	l      *Local
	root   string
	secret []byte

	mu   sync.RWMutex
	base string

	buffers sync.Pool // of *[]byte, of copyBytes
}

// copyBytes is how many bytes are written at once.
const copyBytes = 128 << 10

var _ store.Objects = (*Objects)(nil)

// maxListed is how many objects a listing returns at most, as in S3.
const maxListed = 1000

// orphanAge is how old a file without a row must be before Sweep removes it:
// a younger one may be about to get its row.
const orphanAge = time.Hour

// defaultType is the media type of an object that was stored without one.
const defaultType = "application/octet-stream"

// stored is a row of the table.
type stored struct {
	store.ObjectInfo
	file, contentType string
}

// Put implements store.Objects.
func (o *Objects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return store.ObjectInfo{}, err
	}
	if opt.IfAbsent {
		// Spares the writing where the answer is known; the row decides.
		if _, err := o.find(ctx, key); err == nil {
			return store.ObjectInfo{}, fmt.Errorf("object %s: %w", key, store.ErrExists)
		}
	}
	info, err := o.put(ctx, key, r, opt, -1)
	if err != nil {
		return store.ObjectInfo{}, fmt.Errorf("put object %s: %w", key, portError(ctx, err))
	}
	return info, nil
}

// put writes a file, moves it to its place, then writes its row. With size >= 0
// it must be exactly that long.
func (o *Objects) put(ctx context.Context, key string, r io.Reader, opt store.PutOptions, size int64) (_ store.ObjectInfo, err error) {
	tmp, err := os.CreateTemp(filepath.Join(o.root, "tmp"), "put-*")
	if err != nil {
		return store.ObjectInfo{}, err
	}
	defer func() { // what was not moved to its place
		_ = tmp.Close()
		_ = os.Remove(tmp.Name())
	}()
	if size >= 0 {
		r = io.LimitReader(r, size+1)
	}
	var to io.Writer = tmp
	digest, sum := sha256.New(), ""
	known := !o.l.temporary || opt.SHA256 != "" // what ends with a command is seldom asked for its digest
	if known {
		to = io.MultiWriter(tmp, digest)
	}
	buf, _ := o.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
		*buf = make([]byte, copyBytes)
	}
	defer o.buffers.Put(buf)
	n, err := io.CopyBuffer(struct{ io.Writer }{to}, store.Until(ctx, r), *buf)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	if known {
		sum = hex.EncodeToString(digest.Sum(nil))
	}
	if size >= 0 && n != size || opt.SHA256 != "" && !strings.EqualFold(sum, opt.SHA256) {
		return store.ObjectInfo{}, store.ErrDigest
	}
	if err := errors.Join(o.l.sync(tmp), tmp.Close()); err != nil {
		return store.ObjectInfo{}, err
	}
	info := store.ObjectInfo{Key: key, Size: n, SHA256: sum, Modified: o.l.now().UTC()}
	return info, o.enter(ctx, tmp.Name(), stored{ObjectInfo: info, contentType: cmp.Or(opt.ContentType, defaultType)}, opt.IfAbsent)
}

// enter moves a finished file to its place and makes it the object of a key.
func (o *Objects) enter(ctx context.Context, tmp string, s stored, ifAbsent bool) error {
	file, err := o.place(tmp)
	if err != nil {
		return err
	}
	return o.row(ctx, file, s, ifAbsent)
}

// row makes a file in its place the object of a key, and removes the file of the
// one before.
func (o *Objects) row(ctx context.Context, file string, s stored, ifAbsent bool) error {
	var old string
	err := o.l.inTransaction(ctx, func(tx *sql.Tx) error {
		old = ""
		err := tx.QueryRowContext(ctx, `SELECT file FROM objects WHERE key = ?`, []byte(s.Key)).Scan(&old)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && ifAbsent {
			return store.ErrExists
		}
		_, err = tx.ExecContext(ctx,
			`INSERT OR REPLACE INTO objects (key, file, size, sha256, type, modified) VALUES (?, ?, ?, ?, ?, ?)`,
			[]byte(s.Key), file, s.Size, s.SHA256, s.contentType, s.Modified.UnixNano())
		return err
	})
	if err != nil {
		// When the outcome of the transaction is not known the file must
		// stay: the row may stand. Sweep finds it if not.
		if errors.Is(err, store.ErrExists) {
			o.remove(file)
		}
		return err
	}
	if old != "" && old != file {
		o.remove(old)
	}
	return nil
}

// Copy implements store.Objects. The files of objects never change, so that a
// copy is another name of the same one, where the disk has such names.
func (o *Objects) Copy(ctx context.Context, from, to string) error {
	if err := store.CheckObjectKey(to); err != nil {
		return err
	}
	f, s, err := o.open(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	// Sweep takes a file without a row for one that is about to get it by its
	// time, which is that of all its names.
	now := time.Now()
	tmp := filepath.Join(o.root, "tmp", "copy-"+rand.Text())
	if err = os.Chtimes(f.Name(), now, now); err == nil {
		err = os.Link(f.Name(), tmp)
	}
	if err != nil {
		if _, err := o.put(ctx, to, f, store.PutOptions{SHA256: s.SHA256, ContentType: s.contentType}, s.Size); err != nil {
			return fmt.Errorf("copy object %s: %w", from, portError(ctx, err))
		}
		return nil
	}
	defer func() { _ = os.Remove(tmp) }() // where it was not moved to its place
	s.Key, s.Modified = to, o.l.now().UTC()
	if err := o.enter(ctx, tmp, s, false); err != nil {
		return fmt.Errorf("copy object %s: %w", from, portError(ctx, err))
	}
	return nil
}

// place moves a finished file to a random name, for good.
func (o *Objects) place(tmp string) (string, error) {
	place := o.newPlace()
	return place, o.move(tmp, filepath.Join(o.root, filepath.FromSlash(place)))
}

// newPlace returns a random name.
func (o *Objects) newPlace() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	name := hex.EncodeToString(id[:])
	dir := name[:2]
	if o.l.temporary { // for the few files of a short life, folders take as long as they
		dir = "00"
	}
	return dir + "/" + name
}

// move moves a finished file to its place, for good.
func (o *Objects) move(tmp, place string) error {
	dir := filepath.Dir(place)
	if err := os.Mkdir(dir, 0o700); err == nil {
		if err := o.l.syncDir(o.root); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Rename(tmp, place); err != nil {
		return err
	}
	return o.l.syncDir(dir)
}

// remove deletes the file of an object that is gone. A failure costs space
// until the next sweep, nothing else.
func (o *Objects) remove(file string) {
	if err := os.Remove(filepath.Join(o.root, filepath.FromSlash(file))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.l.log.Warn("could not remove the file of an object", "file", file, "error", err)
	}
}

// Sweep removes files without a row that are older than an hour: what a process
// left when it died, or a disk that was full. The lock's holder calls it, now and
// then. It returns the errors of the disk and the database.
func (o *Objects) Sweep(ctx context.Context) error {
	old := time.Now().Add(-orphanAge) // the file system's clock, not the injected one
	named, err := o.named(ctx)
	if err != nil {
		return err
	}
	return filepath.WalkDir(o.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if d.IsDir() {
			return ctx.Err()
		}
		info, err := d.Info()
		if err != nil || info.ModTime().After(old) {
			return nil
		}
		rel, err := filepath.Rel(o.root, path)
		if err != nil {
			return err
		}
		if file := filepath.ToSlash(rel); !named[file] {
			o.remove(file)
		}
		return nil
	})
}

// sweepUnfinished removes files that a process was writing when it died. Uploads in
// parts stay: the next process goes on with them. The lock's holder calls it at its
// start.
func (o *Objects) sweepUnfinished() error {
	dir := filepath.Join(o.root, "tmp")
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), "upload-") {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// named returns the files of all objects.
func (o *Objects) named(ctx context.Context) (map[string]bool, error) {
	rows, err := o.l.reads.QueryContext(ctx, `SELECT file FROM objects`)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	return named, eachRow(rows, func() error {
		var file string
		err := rows.Scan(&file)
		named[file] = true
		return err
	})
}

// eachRow calls fn at every row, until it returns an error, and closes rows.
func eachRow(rows *sql.Rows, fn func() error) error {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Get implements store.Objects.
func (o *Objects) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if offset < 0 {
		return nil, fmt.Errorf("get object %s: offset %d", key, offset)
	}
	f, info, err := o.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if offset >= info.Size && info.Size > 0 {
		_ = f.Close()
		return nil, fmt.Errorf("object %s of %d bytes from %d: %w", key, info.Size, offset, store.ErrRange)
	}
	rest := max(info.Size-offset, 0)
	if length < 0 || length > rest {
		length = rest
	}
	return struct {
		io.Reader
		io.Closer
	}{store.Until(ctx, io.NewSectionReader(f, offset, length)), f}, nil
}

// open finds and opens an object. A file may go between the two, when the
// object is replaced at that moment: then the row names another.
func (o *Objects) open(ctx context.Context, key string) (*os.File, stored, error) {
	for try := 0; ; try++ {
		info, err := o.find(ctx, key)
		if err != nil {
			return nil, stored{}, err
		}
		f, err := os.Open(filepath.Join(o.root, filepath.FromSlash(info.file)))
		if err == nil {
			return f, info, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || try == 10 {
			return nil, stored{}, fmt.Errorf("object %s: %w", key, portError(ctx, err))
		}
	}
}

// find reads the row of an object.
func (o *Objects) find(ctx context.Context, key string) (stored, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return stored{}, err
	}
	s, err := scanObject(o.l.reads.QueryRowContext(ctx,
		`SELECT key, file, size, sha256, type, modified FROM objects WHERE key = ?`, []byte(key)))
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, fmt.Errorf("object %s: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return stored{}, fmt.Errorf("object %s: %w", key, portError(ctx, err))
	}
	return s, nil
}

func scanObject(row interface{ Scan(...any) error }) (stored, error) {
	var (
		s        stored
		key      []byte
		modified int64
	)
	if err := row.Scan(&key, &s.file, &s.Size, &s.SHA256, &s.contentType, &modified); err != nil {
		return stored{}, err
	}
	s.Key = string(key)
	s.Modified = time.Unix(0, modified).UTC()
	return s, nil
}

// Stat implements store.Objects.
func (o *Objects) Stat(ctx context.Context, key string) (store.ObjectInfo, error) {
	// The size is the file's: a disk can lose what a row says.
	f, s, err := o.open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return store.ObjectInfo{}, fmt.Errorf("object %s: its file is gone: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return store.ObjectInfo{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return store.ObjectInfo{}, fmt.Errorf("object %s: %w", key, portError(ctx, err))
	}
	s.Size = info.Size()
	return s.ObjectInfo, nil
}

// List implements store.Objects.
func (o *Objects) List(ctx context.Context, prefix, after string, limit int) ([]store.ObjectInfo, error) {
	if limit < 0 {
		return nil, fmt.Errorf("list objects: limit %d", limit)
	}
	if limit == 0 || limit > maxListed {
		limit = maxListed
	}
	where, args := "key >= ? AND key > ?", []any{[]byte(prefix), []byte(after)}
	if end := prefixEnd(prefix); end != nil {
		where += " AND key < ?"
		args = append(args, end)
	}
	rows, err := o.l.reads.QueryContext(ctx,
		`SELECT key, file, size, sha256, type, modified FROM objects WHERE `+where+` ORDER BY key LIMIT ?`,
		append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", portError(ctx, err))
	}
	var list []store.ObjectInfo
	err = eachRow(rows, func() error {
		s, err := scanObject(rows)
		list = append(list, s.ObjectInfo)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", portError(ctx, err))
	}
	return list, nil
}

// Delete implements store.Objects.
func (o *Objects) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := store.CheckObjectKey(key); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	var files []string
	err := o.l.inTransaction(ctx, func(tx *sql.Tx) error {
		files = files[:0]
		for _, key := range keys {
			var file string
			err := tx.QueryRowContext(ctx, `DELETE FROM objects WHERE key = ? RETURNING file`, []byte(key)).Scan(&file)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete objects: %w", err)
	}
	for _, file := range files {
		o.remove(file)
	}
	return nil
}
