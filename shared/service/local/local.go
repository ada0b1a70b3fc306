package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // also the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bindery-docs/bindery/shared/base/filelock"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// ErrLocked says that another process runs executions on the same folder.
var ErrLocked = errors.New("another process is running on this data folder")

// Options say where a Local keeps its data.
type Options struct {
	// Dir is the folder, made if it is not there (mode 0700).
	Dir string
	// BaseURL is the address under which Objects.Handler is reachable, such as
	// "http://127.0.0.1:8787". Links need it; SetBaseURL can set it later.
	BaseURL string
	// Log takes what happens; default: nowhere.
	Log *slog.Logger
	// Now is the clock of expiry and of link ends; default time.Now.
	Now func() time.Time
	// Temporary says that the folder ends with the processes that have it open:
	// nothing is synced to the disk.
	Temporary bool
	// LockWait is how long one attempt waits for another process's lock of the
	// database; default 10 s.
	LockWait time.Duration
}

// Local is an open data folder.
type Local struct {
	dir       string
	temporary bool
	log       *slog.Logger
	now       func() time.Time

	// reads serves queries from several connections, writes has exactly one:
	// SQLite has one writer, and waiting in Go is fairer than its busy loop.
	reads, writes *sql.DB

	records *records
	objects *Objects

	runner *Runner

	mu   sync.Mutex
	lock *os.File
}

// Exists reports whether a folder is a data folder.
func Exists(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, databaseFile))
	return err == nil && info.Mode().IsRegular()
}

// databaseFile is the name of the database in the folder.
const databaseFile = "bindery.db"

// Open opens a data folder, and creates it if it does not exist. The caller must
// call Close. It returns an error if the folder can't be used or is of a newer
// version.
func Open(ctx context.Context, opt Options) (*Local, error) {
	if opt.Dir == "" {
		return nil, errors.New("local: no data folder given")
	}
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.LockWait <= 0 {
		opt.LockWait = 10 * time.Second
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("local: %w", err)
	}
	l := &Local{dir: dir, temporary: opt.Temporary, log: opt.Log, now: opt.Now}
	for _, d := range []string{dir, l.path("objects"), l.path("objects", "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("local: %w", err)
		}
	}
	secret, err := l.linkSecret()
	if err != nil {
		return nil, fmt.Errorf("local: secret for links: %w", err)
	}
	if err := l.openDatabase(ctx, opt.LockWait); err != nil {
		l.closeDatabase()
		return nil, fmt.Errorf("local: %w", err)
	}
	l.records = &records{l: l}
	l.objects = &Objects{l: l, root: l.path("objects"), secret: secret, base: opt.BaseURL}
	l.runner = &Runner{l: l, wake: make(chan struct{}, 1)}
	return l, nil
}

// Store returns the records.
func (l *Local) Store() store.Store { return l.records }

// Objects returns the files, their links and the handler that serves them.
func (l *Local) Objects() *Objects { return l.objects }

// SetBaseURL says under which address Objects.Handler is reachable from now
// on: a server that listens on port 0 learns it late.
func (l *Local) SetBaseURL(base string) { l.objects.setBase(base) }

// Lock takes the folder for running executions, until Close. It returns
// ErrLocked when another process has it, ErrDamaged for a database that is not whole,
// and does nothing when this Local has it already. Runner.Resume calls it; a server may call it earlier to fail early.
func (l *Local) Lock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		return nil
	}
	f, err := os.OpenFile(l.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("local: %w", err)
	}
	mine, err := filelock.Try(f, false)
	if err != nil || !mine {
		_ = f.Close()
		if err == nil {
			return fmt.Errorf("local: %w (%s)", ErrLocked, l.dir)
		}
		return fmt.Errorf("local: lock %s: %w", l.dir, err)
	}
	if err := l.check(context.Background()); err != nil {
		_ = f.Close()
		return fmt.Errorf("local: %w", err)
	}
	l.lock = f
	// Nobody else can be writing here for long: operator commands do not
	// write objects. So what lies around is left from a process that died.
	if err := errors.Join(l.objects.sweepUnfinished(), l.objects.Sweep(context.Background())); err != nil {
		l.log.Warn("could not clean the objects folder", "error", err)
	}
	return nil
}

// ErrDamaged is the error of a folder with a database that is not whole.
var ErrDamaged = errors.New("the database is damaged")

// check reads the structure of the database. What is written to a damaged one makes it
// worse.
func (l *Local) check(ctx context.Context) error {
	if l.temporary {
		return nil
	}
	return l.whole(ctx, "PRAGMA quick_check(1)")
}

// checkAll reads all of the database, its indexes too.
func (l *Local) checkAll(ctx context.Context) error { return l.whole(ctx, "PRAGMA integrity_check(1)") }

func (l *Local) whole(ctx context.Context, check string) error {
	var found string
	err := l.reads.QueryRowContext(ctx, check).Scan(&found)
	switch {
	case err == nil && found == "ok":
		return nil
	case err != nil:
		found = err.Error()
	}
	return l.damaged(found)
}

// damaged is the error of a database that is not whole, with the ways out.
func (l *Local) damaged(found string) error {
	return fmt.Errorf("%w: %s: %s. Put a copy that bindery backup made in place of the data folder, or save what can be read: "+
		"sqlite3 %[2]s .recover | sqlite3 %[2]s.new, then put that file in its place", ErrDamaged, l.path(databaseFile), strings.TrimSpace(found))
}

// Close drains the runner (see Runner.Close), releases the lock and closes the
// database. It returns an error if ctx ends before the executions have stopped,
// or if something can't be closed.
func (l *Local) Close(ctx context.Context) error {
	errs := []error{l.runner.Close(ctx), l.closeDatabase()}
	l.mu.Lock()
	lock := l.lock
	l.lock = nil
	l.mu.Unlock()
	if lock != nil {
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// sync makes what was written to a file survive a loss of power.
func (l *Local) sync(f *os.File) error {
	if l.temporary {
		return nil
	}
	return f.Sync()
}

// syncDir makes renames in a folder survive a loss of power.
func (l *Local) syncDir(path string) error {
	if l.temporary {
		return nil
	}
	return syncDir(path)
}

func (l *Local) path(elem ...string) string {
	return filepath.Join(append([]string{l.dir}, elem...)...)
}

// schema is made in one transaction, so that two processes may open a new
// folder at once. Keys are BLOBs because SQLite compares those as bytes.
const schema = `
CREATE TABLE IF NOT EXISTS records (
	pk      BLOB NOT NULL,
	sk      BLOB NOT NULL,
	rev     INTEGER NOT NULL,
	value   BLOB NOT NULL,
	active  BLOB,             -- NULL: not in the index
	expires INTEGER,          -- Unix seconds; NULL: never
	PRIMARY KEY (pk, sk)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_active  ON records (active, pk, sk) WHERE active IS NOT NULL;
CREATE INDEX IF NOT EXISTS records_expires ON records (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS objects (
	key      BLOB PRIMARY KEY,
	file     TEXT NOT NULL,   -- below objects/
	size     INTEGER NOT NULL,
	sha256   TEXT NOT NULL,
	type     TEXT NOT NULL,
	modified INTEGER NOT NULL -- Unix nanoseconds
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS executions (
	workflow TEXT NOT NULL,
	name     TEXT NOT NULL,
	input    BLOB NOT NULL,
	state    TEXT NOT NULL,
	started  INTEGER NOT NULL, -- Unix nanoseconds
	stopped  INTEGER NOT NULL DEFAULT 0,
	error    TEXT NOT NULL DEFAULT '',
	cause    TEXT NOT NULL DEFAULT '',
	told     INTEGER NOT NULL DEFAULT 0, -- 1: OnEnd has been called, or need not be
	PRIMARY KEY (workflow, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS executions_open ON executions (state) WHERE told = 0;
`

// schemaVersion is kept in the database, so that an older program refuses a
// newer folder instead of misreading it.
const schemaVersion = 2

// The first format knew executions of the export alone.
const (
	fromFirst = `DROP INDEX executions_open; ALTER TABLE executions RENAME TO executions_1;`
	toSecond  = `INSERT INTO executions (workflow, name, input, state, started, stopped, error, cause, told)
	SELECT 'export', name, input, state, started, stopped, error, cause, told FROM executions_1;
DROP TABLE executions_1;`
)

func (l *Local) openDatabase(ctx context.Context, lockWait time.Duration) error {
	// SQLite would make its files with the umask's mode, and creates those
	// beside the database with the mode of the database. The folder's 0700 keeps
	// strangers out, but a folder that was there before may be wider. A file
	// that is there is not opened: closing it would give up the locks that
	// this process may hold on it.
	path := l.path(databaseFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case err == nil:
		err = f.Close()
	case errors.Is(err, fs.ErrExist):
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return err
	}
	synchronous := "synchronous(FULL)"
	if l.temporary {
		synchronous = "synchronous(OFF)"
	}
	open := func(connections int) (*sql.DB, error) {
		q := url.Values{}
		q.Set("_txlock", "immediate")
		for _, p := range []string{fmt.Sprintf("busy_timeout(%d)", lockWait.Milliseconds()), "journal_mode(WAL)", synchronous, "temp_store(MEMORY)"} {
			q.Add("_pragma", p)
		}
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
		db, err := sql.Open("sqlite", u.String())
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		return db, nil
	}
	if l.writes, err = open(1); err != nil {
		return err
	}
	if l.reads, err = open(4); err != nil {
		return err
	}
	if err := l.inTransaction(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > schemaVersion {
			return fmt.Errorf("the data folder is of a newer version of Bindery (format %d, known %d)", version, schemaVersion)
		}
		if version == schemaVersion {
			return nil
		}
		steps := []string{schema}
		if version == 1 {
			steps = []string{fromFirst, schema, toSecond}
		}
		for _, step := range steps {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
		return err
	}); err != nil {
		if e, ok := errors.AsType[*sqlite.Error](err); ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB) {
			return l.damaged(err.Error())
		}
		return fmt.Errorf("open the database: %w", err)
	}
	return nil
}

func (l *Local) closeDatabase() error {
	var errs []error
	for _, db := range []*sql.DB{l.reads, l.writes} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// lockAttempts is how often the write lock is waited for, each time for
// Options.LockWait: operators' commands hold it for moments only.
const lockAttempts = 6

// inTransaction runs fn in a transaction that holds the write lock from its
// beginning, and again when another process has kept that lock for too long.
func (l *Local) inTransaction(ctx context.Context, fn func(*sql.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := func() error {
			tx, err := l.writes.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if err := fn(tx); err != nil {
				_ = tx.Rollback()
				return err
			}
			return tx.Commit()
		}()
		if !isBusy(err) || attempt == lockAttempts || ctx.Err() != nil {
			return portError(ctx, err)
		}
		l.log.Warn("another process has locked the database, trying again", "attempt", attempt)
	}
}

// linkSecret reads the signing key, or makes one. It is linked into place
// whole, so that of two processes that make one both use the same. The one that
// comes second may find its copy swept away.
func (l *Local) linkSecret() ([]byte, error) {
	path := l.path("link-secret")
	read := func() ([]byte, error) {
		b, err := os.ReadFile(path)
		if err == nil && len(b) != 32 {
			return nil, fmt.Errorf("%s: %d bytes, want 32", path, len(b))
		}
		return b, err
	}
	b, err := read()
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	fresh := make([]byte, 32)
	rand.Read(fresh) // never fails
	tmp, err := os.CreateTemp(filepath.Dir(path), "link-secret-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(fresh)
	err = errors.Join(err, l.sync(tmp), tmp.Close())
	if err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := l.syncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return read()
}
