package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// DynamoDB's limits that package store does not name, kept here so that what
// works on a laptop works in the cloud.
const (
	maxPageBytes   = 1 << 20 // of one page of a query
	recordOverhead = 64      // names of attributes, and the two numbers
	maxPageRecords = 1000    // where the caller sets no limit
)

// records is store.Store on the table "records".
type records struct{ l *Local }

// notExpired is the condition under which a reader sees a row; its parameter
// is the current Unix second. Rows beyond it are removed by later writes.
const notExpired = `(expires IS NULL OR expires > ?)`

// Get implements store.Store.
func (s *records) Get(ctx context.Context, key store.Key) (store.Record, error) {
	if err := store.CheckKey(key); err != nil {
		return store.Record{}, err
	}
	row := s.l.reads.QueryRowContext(ctx,
		`SELECT pk, sk, rev, value, active, expires FROM records WHERE pk = ? AND sk = ? AND `+notExpired,
		[]byte(key.PK), []byte(key.SK), s.l.now().Unix())
	rec, err := scanRecord(row)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Record{}, fmt.Errorf("record %q %q: %w", key.PK, key.SK, store.ErrNotFound)
	}
	if err != nil {
		return store.Record{}, fmt.Errorf("get record: %w", portError(ctx, err))
	}
	return rec, nil
}

// Query implements store.Store.
func (s *records) Query(ctx context.Context, q store.Query) (store.Page, error) {
	if err := store.CheckQuery(q); err != nil {
		return store.Page{}, err
	}
	// column is what Prefix applies to, order what pages are sorted by.
	where, args, column, order := "pk = ?", []any{[]byte(q.PK)}, "sk", []string{"sk"}
	if q.Index == store.ByActive {
		where, args, column, order = "active IS NOT NULL", nil, "active", []string{"active", "pk", "sk"}
	}
	if q.Prefix != "" {
		where += " AND " + column + " >= ?"
		args = append(args, []byte(q.Prefix))
		if end := prefixEnd(q.Prefix); end != nil {
			where += " AND " + column + " < ?"
			args = append(args, end)
		}
	}
	compare, direction := ">", "ASC"
	if q.Descending {
		compare, direction = "<", "DESC"
	}
	if q.Cursor != "" {
		key, active, err := store.DecodeCursor(q)
		if err != nil {
			return store.Page{}, err
		}
		where += fmt.Sprintf(" AND (%s) %s (?%s)", strings.Join(order, ", "), compare, strings.Repeat(", ?", len(order)-1))
		if q.Index == store.ByActive {
			args = append(args, []byte(active), []byte(key.PK))
		}
		args = append(args, []byte(key.SK))
	}
	where += " AND " + notExpired
	limit := q.Limit
	if limit == 0 || limit > maxPageRecords {
		limit = maxPageRecords
	}
	args = append(args, s.l.now().Unix(), limit+1)
	rows, err := s.l.reads.QueryContext(ctx,
		`SELECT pk, sk, rev, value, active, expires FROM records WHERE `+where+
			` ORDER BY `+strings.Join(order, " "+direction+", ")+" "+direction+` LIMIT ?`, args...)
	if err != nil {
		return store.Page{}, fmt.Errorf("query records: %w", portError(ctx, err))
	}
	defer func() { _ = rows.Close() }()
	var page store.Page
	for size := 0; rows.Next(); {
		if n := len(page.Records); n == limit || size >= maxPageBytes {
			page.Cursor = store.EncodeCursor(q, page.Records[n-1])
			break
		}
		rec, err := scanRecord(rows)
		if err != nil {
			return store.Page{}, fmt.Errorf("query records: %w", portError(ctx, err))
		}
		size += recordSize(rec)
		page.Records = append(page.Records, rec)
	}
	if err := rows.Err(); err != nil {
		return store.Page{}, fmt.Errorf("query records: %w", portError(ctx, err))
	}
	return page, nil
}

// Write implements store.Store.
func (s *records) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	if err := store.CheckWrite(puts, deletes, sizeOf); err != nil {
		return err
	}
	if len(puts)+len(deletes) == 0 {
		return nil
	}
	now := s.l.now().Unix()
	err := s.l.inTransaction(ctx, func(tx *sql.Tx) error {
		var conflict store.ConflictError
		for _, p := range puts {
			switch rev, err := revision(ctx, tx, p.Key, now); {
			case err != nil:
				return err
			case rev != p.Revision:
				conflict.Keys = append(conflict.Keys, p.Key)
			}
		}
		for _, d := range deletes {
			if d.Revision == 0 {
				continue
			}
			switch rev, err := revision(ctx, tx, d.Key, now); {
			case err != nil:
				return err
			case rev != d.Revision:
				conflict.Keys = append(conflict.Keys, d.Key)
			}
		}
		if conflict.Keys != nil {
			return &conflict
		}
		for _, p := range puts {
			var active, expires any
			if p.Active != "" {
				active = []byte(p.Active)
			}
			if !p.ExpiresAt.IsZero() {
				expires = p.ExpiresAt.Unix()
			}
			if _, err := tx.ExecContext(ctx,
				`INSERT OR REPLACE INTO records (pk, sk, rev, value, active, expires) VALUES (?, ?, ?, ?, ?, ?)`,
				[]byte(p.Key.PK), []byte(p.Key.SK), p.Revision+1, p.Value, active, expires); err != nil {
				return err
			}
		}
		for _, d := range deletes {
			if _, err := tx.ExecContext(ctx, `DELETE FROM records WHERE pk = ? AND sk = ?`,
				[]byte(d.Key.PK), []byte(d.Key.SK)); err != nil {
				return err
			}
		}
		// A few expired rows go with each write, so that they never pile up
		// and no write waits long for them.
		_, err := tx.ExecContext(ctx, `DELETE FROM records WHERE (pk, sk) IN
			(SELECT pk, sk FROM records WHERE expires <= ? ORDER BY expires LIMIT 20)`, now)
		return err
	})
	var conflict *store.ConflictError
	if err == nil || errors.As(err, &conflict) {
		return err
	}
	return fmt.Errorf("write records: %w", err)
}

// revision reads what a condition is compared with: 0 for no record.
func revision(ctx context.Context, tx *sql.Tx, key store.Key, now int64) (int64, error) {
	var rev int64
	err := tx.QueryRowContext(ctx, `SELECT rev FROM records WHERE pk = ? AND sk = ? AND `+notExpired,
		[]byte(key.PK), []byte(key.SK), now).Scan(&rev)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return rev, err
}

// scanRecord reads the columns pk, sk, rev, value, active, expires.
func scanRecord(row interface{ Scan(...any) error }) (store.Record, error) {
	var (
		rec            store.Record
		pk, sk, active []byte
		expires        sql.NullInt64
	)
	if err := row.Scan(&pk, &sk, &rec.Revision, &rec.Value, &active, &expires); err != nil {
		return store.Record{}, err
	}
	rec.Key = store.Key{PK: string(pk), SK: string(sk)}
	rec.Active = string(active)
	if expires.Valid {
		rec.ExpiresAt = time.Unix(expires.Int64, 0).UTC()
	}
	return rec, nil
}

// recordSize is what DynamoDB counts for an item, rounded up.
func recordSize(r store.Record) int {
	// The index repeats the value it sorts by as an attribute of its own.
	return recordOverhead + len(r.Key.PK) + len(r.Key.SK) + len(r.Value) + len(r.Active)
}

// sizeOf is recordSize for a record that the index can sort.
func sizeOf(r store.Record) (int, error) {
	return recordSize(r), store.CheckText("active value", r.Active, store.MaxSortKey, false)
}

// prefixEnd is the least byte string above all that begin with p, nil when
// there is none.
func prefixEnd(p string) []byte {
	end := []byte(p)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] != 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}

// Scan calls fn with every record, in no order that callers may rely on. It
// returns the first error of fn, and the store's.
func (s *records) Scan(ctx context.Context, fn func(store.Record) error) error {
	after := store.Key{}
	for {
		rows, err := s.l.reads.QueryContext(ctx,
			`SELECT pk, sk, rev, value, active, expires FROM records WHERE (pk, sk) > (?, ?) AND `+notExpired+` ORDER BY pk, sk LIMIT ?`,
			[]byte(after.PK), []byte(after.SK), s.l.now().Unix(), maxPageRecords)
		if err != nil {
			return fmt.Errorf("read all records: %w", portError(ctx, err))
		}
		var page []store.Record
		for rows.Next() && err == nil {
			var rec store.Record
			if rec, err = scanRecord(rows); err == nil {
				page = append(page, rec)
			}
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("read all records: %w", portError(ctx, err))
		}
		for _, rec := range page { // no statement is open while fn writes
			if err := fn(rec); err != nil {
				return err
			}
			after = rec.Key
		}
		if len(page) < maxPageRecords {
			return nil
		}
	}
}
