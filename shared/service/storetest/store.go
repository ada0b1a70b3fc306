package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Store runs the contract of store.Store. open returns a store, which may be
// one that was used before.
func Store(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		run  func(*storeSuite, *testing.T)
	}{
		{"a record comes back as it was written", (*storeSuite).roundTrip},
		{"what is missing is ErrNotFound", (*storeSuite).missing},
		{"a write holds the revision that was read", (*storeSuite).revisions},
		{"a delete holds its revision", (*storeSuite).deletes},
		{"a transaction is all or nothing and names what failed", (*storeSuite).transactions},
		{"of 50 writers one wins each revision", (*storeSuite).writers},
		{"transactions over the same records leave no half", (*storeSuite).transfers},
		{"no key twice, no empty key", (*storeSuite).badKeys},
		{"limits of records and transactions", (*storeSuite).limits},
		{"keys are in byte order, both ways, in pages", (*storeSuite).order},
		{"a prefix is of bytes", (*storeSuite).prefixes},
		{"partitions do not mix", (*storeSuite).partitions},
		{"an unknown cursor is an error", (*storeSuite).cursors},
		{"large records come in small pages", (*storeSuite).largePages},
		{"the index of active records", (*storeSuite).active},
		{"an expiry is kept in whole seconds", (*storeSuite).expiry},
		{"an ended context ends a call", (*storeSuite).cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(&storeSuite{Store: open(t), ctx: testContext(t), pk: unique()}, t)
		})
	}
}

type storeSuite struct {
	store.Store
	ctx context.Context
	pk  string
}

func (s *storeSuite) key(sk string) store.Key { return store.Key{PK: s.pk, SK: sk} }

// mustWrite is a Write without an error.
func (s *storeSuite) mustWrite(t *testing.T, puts []store.Record, deletes []store.Delete) {
	t.Helper()
	if err := s.Write(s.ctx, puts, deletes); err != nil {
		t.Fatal(err)
	}
}

// put writes one record, which must work.
func (s *storeSuite) put(t *testing.T, sk string, revision int64, value string) {
	t.Helper()
	if err := s.Write(s.ctx, []store.Record{{Key: s.key(sk), Revision: revision, Value: []byte(value)}}, nil); err != nil {
		t.Fatalf("put %q at revision %d: %v", sk, revision, err)
	}
}

// want reads a record and compares it; revision 0 wants none.
func (s *storeSuite) want(t *testing.T, sk string, revision int64, value string) {
	t.Helper()
	got, err := s.Get(s.ctx, s.key(sk))
	if revision == 0 {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("record %q: got revision %d, error %v; want ErrNotFound", sk, got.Revision, err)
		}
		return
	}
	if err != nil {
		t.Errorf("record %q: %v", sk, err)
		return
	}
	if got.Revision != revision || string(got.Value) != value {
		t.Errorf("record %q: got revision %d %s, want %d %s", sk, got.Revision, got.Value, revision, value)
	}
}

// conflict holds that err names these sort keys, in this order.
func (s *storeSuite) conflict(t *testing.T, err error, sks ...string) {
	t.Helper()
	var c *store.ConflictError
	if !errors.As(err, &c) {
		t.Fatalf("got error %v, want a *store.ConflictError", err)
	}
	var got []string
	for _, k := range c.Keys {
		if k.PK != s.pk {
			t.Errorf("conflict names partition %q", k.PK)
		}
		got = append(got, k.SK)
	}
	if !slices.Equal(got, sks) {
		t.Fatalf("conflict names %q, want %q", got, sks)
	}
}

// all reads every page of a query, with a limit a page.
func (s *storeSuite) all(t *testing.T, q store.Query) []store.Record {
	t.Helper()
	var list []store.Record
	for range 10_000 {
		page, err := s.Query(s.ctx, q)
		if err != nil {
			t.Fatalf("query %+v: %v", q, err)
		}
		if q.Limit > 0 && len(page.Records) > q.Limit {
			t.Fatalf("a page of %d records, limit %d", len(page.Records), q.Limit)
		}
		list = append(list, page.Records...)
		if page.Cursor == "" {
			return list
		}
		q.Cursor = page.Cursor
	}
	t.Fatal("the query has no end")
	return nil
}

func sortKeys(list []store.Record) []string {
	var sks []string
	for _, r := range list {
		sks = append(sks, r.Key.SK)
	}
	return sks
}

func (s *storeSuite) roundTrip(t *testing.T) {
	want := store.Record{
		Key:    s.key("a/ b\x00c#ü"),
		Value:  []byte(`{"text": "ü \u0000 <&> 😀",  "n": 12345678901234567890.5e3}`),
		Active: "active " + s.pk,
	}
	s.mustWrite(t, []store.Record{want}, nil)
	got, err := s.Get(s.ctx, want.Key)
	if err != nil {
		t.Fatal(err)
	}
	want.Revision = 1
	if got.Key != want.Key || got.Revision != 1 || got.Active != want.Active || !got.ExpiresAt.IsZero() {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !bytes.Equal(got.Value, want.Value) {
		t.Errorf("the value must keep its bytes: got %q, want %q", got.Value, want.Value)
	}
	s.mustWrite(t, nil, []store.Delete{{Key: want.Key}})
}

func (s *storeSuite) missing(t *testing.T) {
	s.put(t, "there", 0, `1`)
	s.want(t, "ther", 0, "")
	s.want(t, "there/", 0, "")
	s.want(t, "There", 0, "")
	page, err := s.Query(s.ctx, store.Query{PK: s.pk + "-nothing"})
	if err != nil || len(page.Records) != 0 || page.Cursor != "" {
		t.Errorf("an empty partition: got %+v, %v", page, err)
	}
}

func (s *storeSuite) revisions(t *testing.T) {
	put := func(revision int64) error {
		return s.Write(s.ctx, []store.Record{{Key: s.key("r"), Revision: revision, Value: []byte(`"new"`)}}, nil)
	}
	s.conflict(t, put(1), "r")
	s.want(t, "r", 0, "")
	s.put(t, "r", 0, `"one"`)
	s.conflict(t, put(0), "r")
	s.conflict(t, put(2), "r")
	s.want(t, "r", 1, `"one"`)
	s.put(t, "r", 1, `"two"`)
	s.conflict(t, put(1), "r")
	s.want(t, "r", 2, `"two"`)
}

func (s *storeSuite) deletes(t *testing.T) {
	remove := func(revision int64) error {
		return s.Write(s.ctx, nil, []store.Delete{{Key: s.key("d"), Revision: revision}})
	}
	if err := remove(0); err != nil {
		t.Errorf("a delete without condition of nothing: %v", err)
	}
	s.conflict(t, remove(1), "d")
	s.put(t, "d", 0, `1`)
	s.put(t, "d", 1, `2`)
	s.conflict(t, remove(1), "d")
	s.want(t, "d", 2, `2`)
	if err := remove(2); err != nil {
		t.Errorf("a delete of the revision that is there: %v", err)
	}
	s.want(t, "d", 0, "")
	s.conflict(t, remove(2), "d")
	s.put(t, "d", 0, `3`)
	s.want(t, "d", 1, `3`)
	if err := remove(0); err != nil {
		t.Errorf("a delete without condition: %v", err)
	}
	s.want(t, "d", 0, "")
}

func (s *storeSuite) transactions(t *testing.T) {
	if err := s.Write(s.ctx, nil, nil); err != nil {
		t.Errorf("an empty transaction: %v", err)
	}
	s.put(t, "old", 0, `"old"`)
	s.put(t, "gone", 0, `"gone"`)
	put := func(sk string, revision int64) store.Record {
		return store.Record{Key: s.key(sk), Revision: revision, Value: []byte(`"changed"`)}
	}
	err := s.Write(s.ctx,
		[]store.Record{put("fresh", 0), put("old", 7), put("missing", 1), put("also fresh", 0)},
		[]store.Delete{{Key: s.key("gone"), Revision: 1}, {Key: s.key("never"), Revision: 3}})
	s.conflict(t, err, "old", "missing", "never")
	s.want(t, "fresh", 0, "")
	s.want(t, "also fresh", 0, "")
	s.want(t, "missing", 0, "")
	s.want(t, "old", 1, `"old"`)
	s.want(t, "gone", 1, `"gone"`)

	var puts []store.Record
	for i := range store.MaxTransaction - 2 {
		puts = append(puts, put(fmt.Sprintf("many/%03d", i), 0))
	}
	if err := s.Write(s.ctx, append(puts, put("old", 1)), []store.Delete{{Key: s.key("gone"), Revision: 1}}); err != nil {
		t.Fatalf("a transaction of %d records: %v", store.MaxTransaction, err)
	}
	s.want(t, "old", 2, `"changed"`)
	s.want(t, "gone", 0, "")
	if n := len(s.all(t, store.Query{PK: s.pk, Prefix: "many/"})); n != store.MaxTransaction-2 {
		t.Errorf("%d records of the transaction are there, want %d", n, store.MaxTransaction-2)
	}
}

// write retries while another transaction is changing the same records.
func (s *storeSuite) write(puts []store.Record) error {
	for {
		err := s.Write(s.ctx, puts, nil)
		if c, ok := errors.AsType[*store.ConflictError](err); ok && len(c.Keys) == 0 {
			continue
		}
		return err
	}
}

func (s *storeSuite) writers(t *testing.T) {
	const writers, rounds = 50, 4
	for revision := range int64(rounds) {
		var (
			wg     sync.WaitGroup
			wins   atomic.Int64
			winner atomic.Int64
		)
		for w := range int64(writers) {
			wg.Go(func() {
				err := s.write([]store.Record{{Key: s.key("contended"), Revision: revision, Value: fmt.Append(nil, w)}})
				var c *store.ConflictError
				switch {
				case err == nil:
					wins.Add(1)
					winner.Store(w)
				case !errors.As(err, &c):
					t.Errorf("writer %d: %v", w, err)
				}
			})
		}
		wg.Wait()
		if n := wins.Load(); n != 1 {
			t.Fatalf("%d of %d writers won revision %d", n, writers, revision)
		}
		s.want(t, "contended", revision+1, fmt.Sprint(winner.Load()))
	}
}

// transfers moves units between two counters from many sides: at every moment
// the sum stays, and at the end every transfer has happened once.
func (s *storeSuite) transfers(t *testing.T) {
	const workers, each = 10, 5
	s.put(t, "from", 0, fmt.Sprint(workers*each))
	s.put(t, "to", 0, `0`)
	read := func(sk string) (n int, revision int64, err error) {
		r, err := s.Get(s.ctx, s.key(sk))
		if err != nil {
			return 0, 0, err
		}
		_, err = fmt.Sscan(string(r.Value), &n)
		return n, r.Revision, err
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for done := 0; done < each; {
				from, rf, err1 := read("from")
				to, rt, err2 := read("to")
				if err := errors.Join(err1, err2); err != nil {
					t.Error(err)
					return
				}
				err := s.Write(s.ctx, []store.Record{
					{Key: s.key("from"), Revision: rf, Value: fmt.Append(nil, from-1)},
					{Key: s.key("to"), Revision: rt, Value: fmt.Append(nil, to+1)},
				}, nil)
				var c *store.ConflictError
				switch {
				case err == nil:
					done++
				case !errors.As(err, &c):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	s.want(t, "from", workers*each+1, `0`)
	s.want(t, "to", workers*each+1, fmt.Sprint(workers*each))
}

func (s *storeSuite) badKeys(t *testing.T) {
	rec := func(k store.Key) store.Record { return store.Record{Key: k, Value: []byte(`1`)} }
	for name, err := range map[string]error{
		"two puts":         s.Write(s.ctx, []store.Record{rec(s.key("k")), rec(s.key("k"))}, nil),
		"put and delete":   s.Write(s.ctx, []store.Record{rec(s.key("k"))}, []store.Delete{{Key: s.key("k")}}),
		"two deletes":      s.Write(s.ctx, nil, []store.Delete{{Key: s.key("k")}, {Key: s.key("k")}}),
		"no partition key": s.Write(s.ctx, []store.Record{rec(store.Key{SK: "k"})}, nil),
		"no sort key":      s.Write(s.ctx, []store.Record{rec(store.Key{PK: s.pk})}, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if list := s.all(t, store.Query{PK: s.pk}); len(list) != 0 {
		t.Errorf("refused writes have left %q", sortKeys(list))
	}
}

func (s *storeSuite) limits(t *testing.T) {
	text := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	rec := func(sk string, n int) store.Record { return store.Record{Key: s.key(sk), Value: text(n)} }
	if err := s.Write(s.ctx, []store.Record{rec("large", store.MaxRecordBytes-1024)}, nil); err != nil {
		t.Errorf("a record just below the limit: %v", err)
	}
	tooLarge := func(name string, puts []store.Record, deletes []store.Delete) {
		t.Helper()
		if err := s.Write(s.ctx, puts, deletes); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("%s: got %v, want ErrTooLarge", name, err)
		}
	}
	tooLarge("a value of the limit, to which its key comes", []store.Record{rec("larger", store.MaxRecordBytes)}, nil)
	var many []store.Record
	for i := range store.MaxTransaction {
		many = append(many, rec(fmt.Sprintf("many/%d", i), 10))
	}
	tooLarge("101 records", many, []store.Delete{{Key: s.key("other")}})
	tooLarge("4 MiB in one transaction", func() (puts []store.Record) {
		for i := range 11 {
			puts = append(puts, rec(fmt.Sprintf("big/%d", i), 390<<10))
		}
		return puts
	}(), nil)
	if got := sortKeys(s.all(t, store.Query{PK: s.pk})); !slices.Equal(got, []string{"large"}) {
		t.Errorf("refused writes have left %q", got)
	}
}

func (s *storeSuite) order(t *testing.T) {
	// In byte order, which is neither that of UTF-16 nor of any language.
	want := []string{
		"\x00", "\x00\x00", " ", "0", "00", "1", "10", "2", "A", "B", "Z", "_", "a", "a\x00", "a ", "a/", "a/b", "a0", "aa", "b",
		"~", "é", "ü", "\u2028", "\uffee", "\U0001F600", "\U0010FFFF",
	}
	if !slices.IsSorted(want) {
		t.Fatal("the test's own list is out of order")
	}
	puts := make([]store.Record, len(want))
	for i, sk := range want {
		puts[i] = store.Record{Key: s.key(sk), Value: []byte(`1`)}
	}
	slices.Reverse(puts)
	s.mustWrite(t, puts, nil)
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	for _, limit := range []int{0, 1, 2, 7, len(want), len(want) + 1} {
		if got := sortKeys(s.all(t, store.Query{PK: s.pk, Limit: limit})); !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q, want %q", limit, got, want)
		}
		if got := sortKeys(s.all(t, store.Query{PK: s.pk, Limit: limit, Descending: true})); !slices.Equal(got, backwards) {
			t.Errorf("pages of %d, descending: got %q, want %q", limit, got, backwards)
		}
	}
}

func (s *storeSuite) prefixes(t *testing.T) {
	var puts []store.Record
	for _, sk := range []string{"a", "a/", "a/1", "a/2", "a0", "b", "x\U0010FFFF", "x\U0010FFFFy", "y", "\U0010FFFF", "\U0010FFFFz"} {
		puts = append(puts, store.Record{Key: s.key(sk), Value: []byte(`1`)})
	}
	s.mustWrite(t, puts, nil)
	for prefix, want := range map[string][]string{
		"a":           {"a", "a/", "a/1", "a/2", "a0"},
		"a/":          {"a/", "a/1", "a/2"},
		"a/2":         {"a/2"},
		"a/3":         nil,
		"A":           nil,
		"%":           nil,
		"x\U0010FFFF": {"x\U0010FFFF", "x\U0010FFFFy"},
		"\U0010FFFF":  {"\U0010FFFF", "\U0010FFFFz"},
	} {
		q := store.Query{PK: s.pk, Prefix: prefix, Limit: 2}
		if got := sortKeys(s.all(t, q)); !slices.Equal(got, want) {
			t.Errorf("prefix %q: got %q, want %q", prefix, got, want)
		}
		slices.Reverse(want)
		q.Descending = true
		if got := sortKeys(s.all(t, q)); !slices.Equal(got, want) {
			t.Errorf("prefix %q, descending: got %q, want %q", prefix, got, want)
		}
	}
}

func (s *storeSuite) partitions(t *testing.T) {
	for _, pk := range []string{s.pk, s.pk + "x", s.pk + "/"} {
		s.mustWrite(t, []store.Record{{Key: store.Key{PK: pk, SK: "k"}, Value: fmt.Appendf(nil, "%q", pk)}}, nil)
	}
	got := s.all(t, store.Query{PK: s.pk})
	if len(got) != 1 || got[0].Key != s.key("k") || string(got[0].Value) != fmt.Sprintf("%q", s.pk) {
		t.Errorf("got %+v", got)
	}
}

func (s *storeSuite) cursors(t *testing.T) {
	for i := range 3 {
		s.put(t, fmt.Sprint(i), 0, `1`)
	}
	page, err := s.Query(s.ctx, store.Query{PK: s.pk, Limit: 1})
	if err != nil || page.Cursor == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	for name, q := range map[string]store.Query{
		"not a cursor":         {PK: s.pk, Cursor: "nonsense"},
		"of another partition": {PK: s.pk + "x", Cursor: page.Cursor},
		"of another index":     {Index: store.ByActive, Cursor: page.Cursor},
	} {
		if got, err := s.Query(s.ctx, q); err == nil {
			t.Errorf("a cursor %s: got %+v, want an error", name, got)
		}
	}
	// A page begins after the record that the cursor names, even if that is gone.
	s.mustWrite(t, nil, []store.Delete{{Key: page.Records[0].Key}})
	if got := sortKeys(s.all(t, store.Query{PK: s.pk, Limit: 1, Cursor: page.Cursor})); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("after a deleted record: got %q", got)
	}
}

func (s *storeSuite) largePages(t *testing.T) {
	value := `"` + strings.Repeat("x", 300<<10) + `"`
	var want []string
	for i := range 8 {
		sk := fmt.Sprint(i)
		s.put(t, sk, 0, value)
		want = append(want, sk)
	}
	if got := sortKeys(s.all(t, store.Query{PK: s.pk})); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func (s *storeSuite) active(t *testing.T) {
	// All of this test's values begin with a name of its own: the index is
	// shared by all partitions.
	type entry struct{ active, pk, sk string }
	entries := []entry{
		{s.pk + "/1", s.pk + "b", "1"}, {s.pk + "/1", s.pk, "x"}, {s.pk + "/1", s.pk, "w"},
		{s.pk + "/0", s.pk, "late"}, {s.pk + "/2", s.pk + "c", "y"},
	}
	for _, e := range entries {
		s.mustWrite(t, []store.Record{
			{Key: store.Key{PK: e.pk, SK: e.sk}, Value: []byte(`{"active":true}`), Active: e.active},
		}, nil)
	}
	s.put(t, "not active", 0, `1`)
	want := slices.Clone(entries)
	slices.SortFunc(want, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.active, b.active), cmp.Compare(a.pk, b.pk), cmp.Compare(a.sk, b.sk))
	})
	holds := func(q store.Query, want []entry) {
		t.Helper()
		q.Index = store.ByActive
		eventually(t, func() string {
			var got []entry
			for _, r := range s.all(t, q) {
				got = append(got, entry{r.Active, r.Key.PK, r.Key.SK})
				if string(r.Value) != `{"active":true}` || r.Revision < 1 {
					return fmt.Sprintf("the index returns %+v", r)
				}
			}
			if !slices.Equal(got, want) {
				return fmt.Sprintf("got %q, want %q", got, want)
			}
			return ""
		})
	}
	for _, limit := range []int{0, 1, 2} {
		holds(store.Query{Prefix: s.pk + "/", Limit: limit}, want)
	}
	holds(store.Query{Prefix: s.pk + "/1"}, want[1:4])
	holds(store.Query{Prefix: s.pk + "/3"}, nil)
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	holds(store.Query{Prefix: s.pk + "/", Limit: 2, Descending: true}, backwards)

	// A record leaves the index when it is no longer active, or gone.
	s.mustWrite(t, []store.Record{{Key: s.key("late"), Revision: 1, Value: []byte(`{"active":false}`)}},
		[]store.Delete{{Key: s.key("w"), Revision: 1}})
	holds(store.Query{Prefix: s.pk + "/"}, want[2:])
	// And nothing of this stays for whoever reads the index after us.
	var rest []store.Delete
	for _, e := range entries {
		rest = append(rest, store.Delete{Key: store.Key{PK: e.pk, SK: e.sk}})
	}
	s.mustWrite(t, nil, rest)
	holds(store.Query{Prefix: s.pk + "/"}, nil)
}

func (s *storeSuite) expiry(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	s.mustWrite(t, []store.Record{{Key: s.key("e"), Value: []byte(`1`), ExpiresAt: at.Add(400 * time.Millisecond)}}, nil)
	got, err := s.Get(s.ctx, s.key("e"))
	if err != nil || !got.ExpiresAt.Equal(at) {
		t.Errorf("got expiry %v, %v; want %v", got.ExpiresAt, err, at)
	}
	// One that has expired may be there or not; in either case whoever reads
	// what is there can write the next.
	past := time.Now().Add(-time.Hour)
	s.mustWrite(t, []store.Record{{Key: s.key("p"), Value: []byte(`1`), ExpiresAt: past}}, nil)
	old, err := s.Get(s.ctx, s.key("p"))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	s.put(t, "p", old.Revision, `2`)
	s.want(t, "p", old.Revision+1, `2`)
}

func (s *storeSuite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if _, err := s.Get(ctx, s.key("c")); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: got %v", err)
	}
	if _, err := s.Query(ctx, store.Query{PK: s.pk}); !errors.Is(err, context.Canceled) {
		t.Errorf("Query: got %v", err)
	}
	if err := s.Write(ctx, []store.Record{{Key: s.key("c"), Value: []byte(`1`)}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Write: got %v", err)
	}
	s.want(t, "c", 0, "")
}
