package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"
)

// Limits of keys and transactions are DynamoDB's, as those in store.go.
const (
	// MaxPartitionKey is the most bytes of Key.PK.
	MaxPartitionKey = 2048
	// MaxSortKey is the most bytes of Key.SK, and of what an index sorts by.
	MaxSortKey = 1024
	// maxTransactionBytes is the most bytes of all records of one Write.
	maxTransactionBytes = 4 << 20
)

// CheckWrite refuses a Write that no state of the records could make right,
// before a backend sees it. size returns what the backend counts for a record, or
// refuses it.
func CheckWrite(puts []Record, deletes []Delete, size func(Record) (int, error)) error {
	if n := len(puts) + len(deletes); n > MaxTransaction {
		return fmt.Errorf("write: %d records, at most %d: %w", n, MaxTransaction, ErrTooLarge)
	}
	seen := make(map[Key]bool, len(puts)+len(deletes))
	once := func(key Key) error {
		if err := CheckKey(key); err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("write: record %q %q appears twice", key.PK, key.SK)
		}
		seen[key] = true
		return nil
	}
	total := 0
	for _, p := range puts {
		if err := once(p.Key); err != nil {
			return err
		}
		if p.Revision < 0 {
			return fmt.Errorf("write: record %q %q: revision %d", p.Key.PK, p.Key.SK, p.Revision)
		}
		bytes, err := size(p)
		if err != nil {
			return err
		}
		if bytes > MaxRecordBytes {
			return fmt.Errorf("write: record %q %q: %d bytes, at most %d: %w", p.Key.PK, p.Key.SK, bytes, MaxRecordBytes, ErrTooLarge)
		}
		total += bytes
		if !json.Valid(p.Value) {
			return fmt.Errorf("write: record %q %q: the value is not JSON", p.Key.PK, p.Key.SK)
		}
	}
	if total > maxTransactionBytes {
		return fmt.Errorf("write: %d bytes in one transaction, at most %d: %w", total, maxTransactionBytes, ErrTooLarge)
	}
	for _, d := range deletes {
		if err := once(d.Key); err != nil {
			return err
		}
		if d.Revision < 0 {
			return fmt.Errorf("write: delete %q %q: revision %d", d.Key.PK, d.Key.SK, d.Revision)
		}
	}
	return nil
}

// CheckQuery refuses a Query that no backend answers, but for its cursor.
func CheckQuery(q Query) error {
	switch {
	case q.Index != ByKey && q.Index != ByActive:
		return fmt.Errorf("query: unknown index %q", q.Index)
	case q.Index == ByActive && q.PK != "":
		return errors.New("query: the index of active records has no partitions")
	case q.Limit < 0:
		return fmt.Errorf("query: limit %d", q.Limit)
	}
	if err := CheckText("partition key", q.PK, MaxPartitionKey, q.Index == ByKey); err != nil {
		return err
	}
	return CheckText("prefix", q.Prefix, MaxSortKey, false)
}

// CheckKey returns an error for a key that some backend would refuse.
func CheckKey(key Key) error {
	if err := CheckText("partition key", key.PK, MaxPartitionKey, true); err != nil {
		return err
	}
	return CheckText("sort key", key.SK, MaxSortKey, true)
}

// CheckText holds a text to what a string attribute of a key can be in DynamoDB.
// what names it in the error.
func CheckText(what, s string, limit int, required bool) error {
	switch {
	case s == "" && required:
		return fmt.Errorf("%s: empty", what)
	case len(s) > limit:
		return fmt.Errorf("%s: %d bytes, at most %d: %w", what, len(s), limit, ErrTooLarge)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s: not UTF-8", what)
	}
	return nil
}

// CheckObjectKey returns an error for a key that breaks the rule of Objects.
func CheckObjectKey(key string) error {
	if len(key) > MaxObjectKey {
		return fmt.Errorf("object key of %d bytes, at most %d: %w", len(key), MaxObjectKey, ErrTooLarge)
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return fmt.Errorf("object key %q: only printable ASCII", key)
		}
	}
	for elem := range strings.SplitSeq(key, "/") {
		if elem == "" || elem == "." || elem == ".." {
			return fmt.Errorf("object key %q: element %q", key, elem)
		}
	}
	return nil
}

// CheckUpload refuses a size or a SHA-256 in hex that no upload has. It returns
// the digest's bytes.
func CheckUpload(size int64, digest string) ([]byte, error) {
	if size < 0 {
		return nil, fmt.Errorf("link: size %d", size)
	}
	sum, err := hex.DecodeString(digest)
	if err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("link: %q is not a SHA-256 in hex", digest)
	}
	return sum, nil
}

// Attachment is the Content-Disposition of a download that is to be saved under
// a name.
func Attachment(filename string) string {
	return cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": filename}), "attachment")
}

// Until is r until ctx ends; from then on reads return the context's error. What
// copies to or from an object stops that way.
func Until(ctx context.Context, r io.Reader) io.Reader { return untilReader{ctx, r} }

type untilReader struct {
	ctx context.Context
	r   io.Reader
}

func (u untilReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
