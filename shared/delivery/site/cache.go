package site

import (
	"context"
	"errors"
	"hash/maphash"
	"math/bits"
	"strconv"
	"sync"
	"sync/atomic"
)

// Cache has small forms of files in memory, up to a number of bytes. Answers of
// several versions and sites may share it: a key says which bytes they are. Finding
// takes no lock. What was not used since it was last looked at goes first. What many
// ask for while it is not there is read once.
type Cache struct {
	most    int64 // bytes of all
	largest int64 // bytes of one
	seed    maphash.Seed
	buckets []atomic.Pointer[entry] // a power of two

	mu      sync.Mutex
	queue   []*entry
	bytes   int64
	flights map[Key]*flight
}

// entry is a form of a file in memory, with its headers.
type entry struct {
	key    Key
	body   []byte
	length []string
	etag   []string
	used   atomic.Bool           // since the cache last looked
	next   atomic.Pointer[entry] // in its bucket; readers may still be at an entry that was taken out
}

// flight is a form that is being read.
type flight struct {
	done chan struct{}
	e    *entry
	err  error
}

// entryOverhead is about what a form takes besides its bytes.
const entryOverhead = 320

// NewCache returns a cache of at most so many bytes, in forms of at most the largest
// size.
func NewCache(most, largest int64) *Cache {
	const usual = 8 << 10 // bytes of a form
	n := uint64(min(max(most/usual, 16), 1<<16))
	return &Cache{most: most, largest: largest, seed: maphash.MakeSeed(), buckets: make([]atomic.Pointer[entry], 1<<bits.Len64(n-1)), flights: map[Key]*flight{}}
}

// bucket returns the bucket of a key. Files of a hostile site can't be made to share one:
// nobody knows the seed.
func (c *Cache) bucket(key *Key) *atomic.Pointer[entry] {
	return &c.buckets[maphash.Bytes(c.seed, key.Sum[:])&uint64(len(c.buckets)-1)]
}

// find returns an entry that is in memory, or nil.
func (c *Cache) find(key *Key) *entry {
	for e := c.bucket(key).Load(); e != nil; e = e.next.Load() {
		if e.key == *key {
			if !e.used.Load() {
				e.used.Store(true)
			}
			return e
		}
	}
	return nil
}

// Bytes returns the bytes of a key. They are from memory or from load, and must not be
// changed. Storages may have parts of their own here, under encodings from OwnEncoding on.
func (c *Cache) Bytes(ctx context.Context, key Key, load func(context.Context) ([]byte, error)) ([]byte, error) {
	e, err := c.get(ctx, key, load)
	if err != nil {
		return nil, err
	}
	return e.body, nil
}

// OwnEncoding is the first encoding that no answer has: those from it on are a storage's
// own.
const OwnEncoding Encoding = 16

// errNoRead is the error of a read that ended in a panic.
var errNoRead = errors.New("the file was not read to its end")

// get returns the entry of a key. One of the callers loads it, for all, and to the end
// even if its own reader is gone. Bytes that are more than the largest are not kept.
func (c *Cache) get(ctx context.Context, key Key, load func(context.Context) ([]byte, error)) (*entry, error) {
	if e := c.find(&key); e != nil {
		return e, nil
	}
	c.mu.Lock()
	if e := c.find(&key); e != nil {
		c.mu.Unlock()
		return e, nil
	}
	if f := c.flights[key]; f != nil {
		c.mu.Unlock()
		select {
		case <-f.done:
			return f.e, f.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f := &flight{done: make(chan struct{}), err: errNoRead}
	c.flights[key] = f
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.flights, key)
		if f.err == nil && int64(len(f.e.body)) <= c.largest {
			c.keep(f.e)
		}
		close(f.done)
	}()
	body, err := load(context.WithoutCancel(ctx))
	if f.err = err; err == nil {
		f.e = &entry{key: key, body: body, length: []string{strconv.Itoa(len(body))}}
		if key.Encoding < OwnEncoding {
			f.e.etag = []string{key.etag()}
		}
	}
	return f.e, f.err
}

// keep adds an entry, and takes out others until there is room. mu is held.
func (c *Cache) keep(e *entry) {
	head := c.bucket(&e.key)
	e.next.Store(head.Load())
	head.Store(e)
	c.queue = append(c.queue, e)
	c.bytes += int64(len(e.body)) + entryOverhead
	for c.bytes > c.most && len(c.queue) > 0 {
		first := c.queue[0]
		c.queue = c.queue[1:]
		if first.used.Swap(false) {
			c.queue = append(c.queue, first)
			continue
		}
		c.drop(first)
	}
}

// drop takes an entry out of its bucket. mu is held.
func (c *Cache) drop(gone *entry) {
	at := c.bucket(&gone.key)
	for at.Load() != gone {
		at = &at.Load().next
	}
	at.Store(gone.next.Load())
	c.bytes -= int64(len(gone.body)) + entryOverhead
}
