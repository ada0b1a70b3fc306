package serve

import "sync"

// cache keeps forms of small files in memory, up to a number of bytes. Reading
// takes no lock: a form hangs at its file. What was not used since it was last
// looked at goes first.
type cache struct {
	most    int64 // bytes of all
	largest int64 // bytes of one

	mu    sync.Mutex
	queue []cached
	bytes int64
}

type cached struct {
	f *file
	e encoding
}

// hotOverhead is about what a form takes besides its bytes.
const hotOverhead = 256

// get returns a form of a file that is small enough, from memory if it is there.
// It is nil without an error for a file that is too large.
func (c *cache) get(s *site, f *file, e encoding) (*hot, error) {
	if h := f.hot[e].Load(); h != nil {
		if !h.used.Load() {
			h.used.Store(true)
		}
		return h, nil
	}
	if f.length(e) > c.largest {
		return nil, nil
	}
	body, err := s.read(f, e) // compared with what was exported
	if err != nil {
		return nil, err
	}
	h := newHot(f, e, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.hot[e].CompareAndSwap(nil, h) {
		c.queue = append(c.queue, cached{f, e})
		c.bytes += int64(len(body)) + hotOverhead
	}
	for c.bytes > c.most && len(c.queue) > 0 {
		first := c.queue[0]
		c.queue = c.queue[1:]
		old := first.f.hot[first.e].Load()
		if old.used.Swap(false) {
			c.queue = append(c.queue, first)
			continue
		}
		first.f.hot[first.e].Store(nil)
		c.bytes -= int64(len(old.body)) + hotOverhead
	}
	return h, nil
}

// reset forgets all: the files of another site follow.
func (c *cache) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.queue {
		k.f.hot[k.e].Store(nil)
	}
	c.queue, c.bytes = nil, 0
}
