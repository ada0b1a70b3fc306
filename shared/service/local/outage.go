package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// portError returns an error of the database or of a file in the form of the port. One that the
// end of ctx caused matches ctx.Err(): the driver calls it an interrupt, and
// database/sql a finished transaction. One that an operator has to mend is a
// *store.Outage.
func portError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if errors.Is(err, ctx.Err()) {
			return err
		}
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	message := ""
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		message = map[int]string{
			sqlite3.SQLITE_FULL: store.OutageFull, sqlite3.SQLITE_READONLY: store.OutageDenied, sqlite3.SQLITE_PERM: store.OutageDenied,
			sqlite3.SQLITE_CANTOPEN: store.OutageDenied, sqlite3.SQLITE_IOERR: store.OutageDisk, sqlite3.SQLITE_BUSY: store.OutageLocked,
		}[e.Code()&0xff]
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		message = store.OutageFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		message = store.OutageDenied
	case errors.Is(err, syscall.EIO):
		message = store.OutageDisk
	}
	if e := (*store.Outage)(nil); message == "" || errors.As(err, &e) {
		return err
	}
	return &store.Outage{Message: message, Err: err}
}

// isBusy reports whether another connection was in the way; SQLite itself has
// waited for busy_timeout by then.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
