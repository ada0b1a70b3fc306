package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// keyNamed is a key of its own for each name.
func keyNamed(name string) Key { return Key{Sum: FingerprintOf([]byte(name))} }

// loads returns a load of bytes.
func loads(body string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(body), nil }
}

// TestCacheIsBounded: what is in memory stays within its bound, and what is read again
// and again stays in memory.
func TestCacheIsBounded(t *testing.T) {
	c := NewCache(10_000, 5_000)
	hot := keyNamed("f00")
	for range 3 {
		for i := range 40 {
			name := fmt.Sprintf("f%02d", i)
			for _, name := range []string{name, "f00"} {
				want := strings.Repeat(name, 300)
				got, err := c.Bytes(t.Context(), keyNamed(name), loads(want))
				if err != nil || string(got) != want {
					t.Fatal(name, err)
				}
			}
			held := int64(0)
			for b := range c.buckets {
				for e := c.buckets[b].Load(); e != nil; e = e.next.Load() {
					held += int64(len(e.body)) + entryOverhead
				}
			}
			if c.bytes > c.most || held != c.bytes {
				t.Fatalf("%d bytes in memory, %d counted, %d are the most", held, c.bytes, c.most)
			}
		}
	}
	if c.find(&hot) == nil {
		t.Error("what is read most is not in memory")
	}
	large := keyNamed("large")
	if got, err := c.Bytes(t.Context(), large, loads(strings.Repeat("x", 5_001))); err != nil || len(got) != 5_001 || c.find(&large) != nil {
		t.Errorf("what is too large: %d bytes, %v; or it is in memory", len(got), err)
	}
}

// TestCacheKeys: a form, a policy and a file each make another answer.
func TestCacheKeys(t *testing.T) {
	c := NewCache(1<<20, 1<<10)
	sum := FingerprintOf(nil)
	keys := []Key{{Sum: sum}, {Sum: sum, Encoding: Gzip}, {Sum: sum, Policy: PolicyDigest{1}}, {Sum: FingerprintOf([]byte("x"))}, {Sum: sum, Encoding: OwnEncoding}}
	for range 2 {
		for i, key := range keys {
			got, err := c.Bytes(t.Context(), key, loads(fmt.Sprint(i)))
			if err != nil || string(got) != fmt.Sprint(i) {
				t.Errorf("%+v: %q, %v", key, got, err)
			}
		}
	}
}

// TestCacheReadsOnce: a hundred readers of what is not in memory cause one read, also if
// the one that reads goes, and one that goes waits no longer.
func TestCacheReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(1<<20, 1<<10)
		reads, gate := 0, make(chan struct{})
		load := func(ctx context.Context) ([]byte, error) {
			reads++
			<-gate
			return []byte("page"), ctx.Err()
		}
		first, leave := context.WithCancel(t.Context())
		errs := make([]error, 100)
		var all sync.WaitGroup
		for i := range errs {
			ctx := t.Context()
			if i < 2 { // the one that reads, and one that waits
				ctx = first
			}
			all.Go(func() {
				var got []byte
				if got, errs[i] = c.Bytes(ctx, keyNamed("page"), load); errs[i] == nil && string(got) != "page" {
					t.Errorf("%q", got)
				}
			})
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		close(gate)
		all.Wait()
		for i, err := range errs {
			if want := i == 1; errors.Is(err, context.Canceled) != want || (err != nil) != want {
				t.Errorf("reader %d: %v", i, err)
			}
		}
		if reads != 1 {
			t.Errorf("%d reads", reads)
		}
	})
}

// TestCacheFails: an error is of those who waited for it, and not kept; neither does a
// panic have others wait for ever.
func TestCacheFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCache(1<<20, 1<<10)
		broken, gate := errors.New("no answer"), make(chan struct{})
		for _, load := range []func(context.Context) ([]byte, error){
			func(context.Context) ([]byte, error) { <-gate; return nil, broken },
			func(context.Context) ([]byte, error) { <-gate; panic("a fault of the storage") },
		} {
			var all sync.WaitGroup
			for i := range 3 {
				all.Go(func() {
					defer func() { _ = recover() }()
					if _, err := c.Bytes(t.Context(), keyNamed("page"), load); !errors.Is(err, broken) && !errors.Is(err, errNoRead) {
						t.Errorf("reader %d: %v", i, err)
					}
				})
			}
			synctest.Wait()
			close(gate)
			all.Wait()
			gate = make(chan struct{})
		}
		if got, err := c.Bytes(t.Context(), keyNamed("page"), loads("page")); err != nil || !bytes.Equal(got, []byte("page")) {
			t.Errorf("afterwards: %q, %v", got, err)
		}
	})
}

// TestCacheAtOnce: readers that find, add and take out at the same time get what they
// asked for.
func TestCacheAtOnce(t *testing.T) {
	c := NewCache(20_000, 5_000)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 2_000 {
				name := fmt.Sprint((i*7 + g*13) % 60)
				want := strings.Repeat(name+".", 200)
				if got, err := c.Bytes(t.Context(), keyNamed(name), loads(want)); err != nil || string(got) != want {
					t.Errorf("%s: %.20q, %v", name, got, err)
					return
				}
			}
		})
	}
	all.Wait()
}
