// Package memo remembers what was made, by the digest of what it was made from.
package memo

import (
	"crypto/sha256"
	"sync"
)

// Cache remembers values by digest. It has two generations: when the young one is
// full it becomes the old one. The next change drops what nobody asked for since. It is
// safe for concurrent use.
type Cache[V any] struct {
	limit int // of a generation, in bytes
	bytes func(V) int

	mu    sync.Mutex
	size  int // of the young generation
	young map[[sha256.Size]byte]*entry[V]
	old   map[[sha256.Size]byte]*entry[V]
}

// entry holds a value. The first caller makes it, and others wait for that.
type entry[V any] struct {
	once  sync.Once
	value V
}

// entryBytes is the memory of an entry without its value: key, pointers, map.
const entryBytes = 128

// New makes a Cache of about limit bytes; bytes says how many a value takes.
func New[V any](limit int, bytes func(V) int) *Cache[V] {
	return &Cache[V]{limit: max(limit/2, 1), bytes: bytes, young: map[[sha256.Size]byte]*entry[V]{}}
}

// Get returns the value under a key and makes it if it isn't there.
func (c *Cache[V]) Get(key [sha256.Size]byte, make func() V) V {
	c.mu.Lock()
	e, ok := c.young[key]
	added := !ok
	if added {
		if e, ok = c.old[key]; !ok {
			e = &entry[V]{}
		}
		c.young[key] = e
	}
	c.mu.Unlock()
	e.once.Do(func() { e.value = make() })
	if added {
		c.grow(entryBytes + c.bytes(e.value))
	}
	return e.value
}

// grow counts an entry of the young generation and begins a new generation when this one is full.
func (c *Cache[V]) grow(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += bytes; c.size > c.limit {
		c.old, c.young, c.size = c.young, map[[sha256.Size]byte]*entry[V]{}, 0
	}
}
