package highlight

import (
	"crypto/sha256"
	"sync"
	"unsafe"
)

// cache remembers runs by the digest of what they were made from. It has two
// generations: when the young one is full it becomes the old one, and what of
// that isn't asked for again goes away with the next change.
type cache struct {
	limit int // of a generation, in bytes

	mu    sync.Mutex
	size  int // of the young generation
	young map[[sha256.Size]byte]*cached
	old   map[[sha256.Size]byte]*cached
}

// cached is made once, whoever asks for it first; others wait.
type cached struct {
	once sync.Once
	runs []Run
}

// entryBytes is what an entry takes beside its runs: key, pointers, map.
const entryBytes = 128

func newCache(limit int) *cache {
	return &cache{limit: max(limit/2, 1), young: map[[sha256.Size]byte]*cached{}}
}

// get returns the runs under a key and makes them if they aren't there.
func (c *cache) get(key [sha256.Size]byte, make func() []Run) []Run {
	c.mu.Lock()
	entry, ok := c.young[key]
	if !ok {
		if entry, ok = c.old[key]; !ok {
			entry = &cached{}
		}
		c.young[key] = entry
	}
	c.mu.Unlock()
	added := !ok
	entry.once.Do(func() { entry.runs = make() })
	if added {
		c.grow(entryBytes + len(entry.runs)*int(unsafe.Sizeof(Run{})))
	}
	return entry.runs
}

// grow counts an entry and begins a new generation when this one is full.
func (c *cache) grow(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += bytes; c.size > c.limit {
		c.old, c.young, c.size = c.young, map[[sha256.Size]byte]*cached{}, 0
	}
}
