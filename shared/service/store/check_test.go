package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/store"
)

func record(pk, sk, value string, revision int64) store.Record {
	return store.Record{Key: store.Key{PK: pk, SK: sk}, Value: []byte(value), Revision: revision}
}

// What no backend takes is refused before one sees it, and what is too large
// says so.
func TestCheckWrite(t *testing.T) {
	size := func(r store.Record) (int, error) {
		if r.Active == "refused" {
			return 0, errors.New("refused")
		}
		return len(r.Value), nil
	}
	many := func(n int, value string) (out []store.Record) {
		for i := range n {
			out = append(out, record("p", fmt.Sprint(i), value, 0))
		}
		return out
	}
	gone := func(pk, sk string, revision int64) []store.Delete {
		return []store.Delete{{Key: store.Key{PK: pk, SK: sk}, Revision: revision}}
	}
	text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	for _, c := range []struct {
		name    string
		puts    []store.Record
		deletes []store.Delete
		wrong   string // "" where it is taken
		large   bool
	}{
		{name: "nothing"},
		{name: "as many as there may be", puts: many(store.MaxTransaction-1, "{}"), deletes: gone("p", "x", 0)},
		{name: "one more", puts: many(store.MaxTransaction, "{}"), deletes: gone("p", "x", 0), wrong: "101 records", large: true},
		{name: "as large as a record may be", puts: many(1, text(store.MaxRecordBytes))},
		{name: "a byte more", puts: many(1, text(store.MaxRecordBytes+1)), wrong: "409601 bytes", large: true},
		{name: "as much as a transaction may have", puts: many(16, text((4<<20)/16))},
		{name: "some bytes more", puts: many(16, text((4<<20)/16+1)), wrong: "in one transaction", large: true},
		{name: "keys as long as they may be", puts: []store.Record{record(strings.Repeat("p", store.MaxPartitionKey), strings.Repeat("s", store.MaxSortKey), "{}", 0)}},
		{name: "a longer partition", puts: []store.Record{record(strings.Repeat("p", store.MaxPartitionKey+1), "s", "{}", 0)}, wrong: "partition key", large: true},
		{name: "a longer sort key", deletes: gone("p", strings.Repeat("s", store.MaxSortKey+1), 0), wrong: "sort key", large: true},
		{name: "no partition", puts: []store.Record{record("", "s", "{}", 0)}, wrong: "partition key: empty"},
		{name: "no sort key", deletes: gone("p", "", 0), wrong: "sort key: empty"},
		{name: "a key that is no text", puts: []store.Record{record("p", "\xff", "{}", 0)}, wrong: "not UTF-8"},
		{name: "two puts of one record", puts: append(many(2, "{}"), record("p", "1", "{}", 3)), wrong: "appears twice"},
		{name: "a put and a delete of one record", puts: many(1, "{}"), deletes: gone("p", "0", 0), wrong: "appears twice"},
		{name: "a put of no revision", puts: []store.Record{record("p", "s", "{}", -1)}, wrong: "revision -1"},
		{name: "a delete of no revision", deletes: gone("p", "s", -1), wrong: "revision -1"},
		{name: "no JSON", puts: []store.Record{record("p", "s", "{", 0)}, wrong: "not JSON"},
		{name: "what the backend refuses", puts: []store.Record{{Key: store.Key{PK: "p", SK: "s"}, Value: []byte("{}"), Active: "refused"}}, wrong: "refused"},
	} {
		err := store.CheckWrite(c.puts, c.deletes, size)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || errors.Is(err, store.ErrTooLarge) != c.large {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
	}
}

func TestCheckObjectKey(t *testing.T) {
	for key, ok := range map[string]bool{
		"a": true, "a/b.c": true, "a b~": true, strings.Repeat("k", store.MaxObjectKey): true,
		"": false, "/a": false, "a/": false, "a//b": false, ".": false, "a/../b": false, "ä": false, "a\n": false, "a\x7f": false,
		strings.Repeat("k", store.MaxObjectKey+1): false,
	} {
		if err := store.CheckObjectKey(key); (err == nil) != ok {
			t.Errorf("%.20q: %v", key, err)
		}
	}
}

// A copy stops with its context, not with its source.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := store.Until(ctx, io.MultiReader(strings.NewReader("first"), strings.NewReader("second")))
	buf := make([]byte, 10)
	if n, err := r.Read(buf); !bytes.Equal(buf[:n], []byte("first")) || err != nil {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	cancel()
	if n, err := r.Read(buf); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes after the end, %v", n, err)
	}
}
