package memo

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestCache: equal values are made once, and memory is bounded.
func TestCache(t *testing.T) {
	const limit, size = 64 << 10, 240
	c := New(limit, func([]byte) int { return size })
	made := 0
	get := func(i int) {
		c.Get(sha256.Sum256([]byte(fmt.Sprint(i))), func() []byte { made++; return nil })
	}
	get(1)
	get(1)
	if made != 1 {
		t.Errorf("made %d times, want once", made)
	}
	for i := range 10_000 {
		get(i)
		get(1) // what is asked for again stays
	}
	if made != 10_000 {
		t.Errorf("made %d, want 10000", made)
	}
	const most = limit / (entryBytes + size)
	if n := len(c.young) + len(c.old); n > most+2 {
		t.Errorf("%d entries are kept, want at most %d", n, most)
	}
}

// TestCacheWhereAllIsUsed: memory is bounded where nothing goes out of use.
func TestCacheWhereAllIsUsed(t *testing.T) {
	const limit, size = 64 << 10, 240
	c := New(limit, func([]byte) int { return size })
	for round := range 400 {
		for i := range round {
			c.Get(sha256.Sum256([]byte(fmt.Sprint(i))), func() []byte { return nil })
		}
	}
	const most = limit / (entryBytes + size)
	if n := len(c.young) + len(c.old); n > most+2 {
		t.Errorf("%d entries are kept, want at most %d", n, most)
	}
}
