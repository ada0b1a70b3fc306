package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// errTerms says that a stream of terms is not one.
var errTerms = errors.New("search: broken stream of terms")

// mergeBuffer is how much of each stream is read ahead.
const mergeBuffer = 16 << 10

// Merge joins streams of terms into one. Memory is bounded: a buffer and the
// best sections of one term for each stream.
func Merge(ctx context.Context, w io.Writer, parts []io.Reader) error {
	out := newTermWriter(w)
	if err := merge(ctx, parts, out.write); err != nil {
		return err
	}
	return out.close()
}

// merge calls fn with each term of the streams, in order.
func merge(ctx context.Context, parts []io.Reader, fn func(key, *list) error) error {
	h := make(streams, 0, len(parts))
	for i, r := range parts {
		s := &termReader{r: r, buf: make([]byte, 0, mergeBuffer), place: i}
		more, err := s.next()
		if err != nil {
			return err
		}
		if more {
			h = append(h, s)
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	var l list
	for n := 0; len(h) > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k := key{h[0].division, string(h[0].term)}
		for l.reset(); len(h) > 0 && h[0].division == k.division && string(h[0].term) == k.term; {
			l.join(&h[0].list)
			more, err := h[0].next()
			if err != nil {
				return err
			}
			if !more {
				last := len(h) - 1
				h[0], h = h[last], h[:last]
			}
			h.down(0)
		}
		l.trim()
		if err := fn(k, &l); err != nil {
			return err
		}
	}
	return nil
}

// streams is a heap of streams by their terms. Of those with the same term the
// earlier stream is first, so that a term's sections come in the site's order. It is
// not container/heap's, whose calls through an interface cost as much as the rest of
// a merge.
type streams []*termReader

// down moves the stream at i below those that come before it.
func (h streams) down(i int) {
	for {
		first := 2*i + 1
		if first >= len(h) {
			return
		}
		if other := first + 1; other < len(h) && h[other].before(h[first]) {
			first = other
		}
		if !h[first].before(h[i]) {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}

// before reports whether the stream's term comes before that of another one.
func (t *termReader) before(o *termReader) bool {
	c := cmp.Compare(t.prefix, o.prefix)
	if c == 0 {
		c = bytes.Compare(t.term, o.term)
	}
	return c < 0 || c == 0 && (t.division < o.division || t.division == o.division && t.place < o.place)
}

// termReader reads a stream of terms. The first error stays, and all numbers
// after it are 0.
type termReader struct {
	r        io.Reader
	buf      []byte // what was read of r, up to at it was taken
	at       int
	place    int // among the streams
	division int
	term     []byte
	prefix   uint64 // the first bytes of term: most comparisons need no more
	rest     []byte // of the term, after what it has of the one before
	list     list
	err      error
}

// next reads the next term; false is the end, or an error.
func (t *termReader) next() (bool, error) {
	division := t.number(1<<20) - 1
	if division < 0 {
		return false, t.err
	}
	shared := t.number(len(t.term))
	t.rest = t.rest[:0]
	for left := t.number(8 * maxTerm); left > 0 && t.ahead(); {
		n := min(left, len(t.buf)-t.at)
		t.rest = append(t.rest, t.buf[t.at:t.at+n]...)
		t.at, left = t.at+n, left-n
	}
	order := cmp.Or(bytes.Compare(t.rest, t.term[shared:]), cmp.Compare(division, t.division))
	if len(t.term) > 0 && order <= 0 || shared+len(t.rest) == 0 {
		t.fail(fmt.Errorf("%w: %q is out of order", errTerms, t.rest))
	}
	t.division, t.term = division, append(t.term[:shared], t.rest...)
	var first [8]byte
	copy(first[:], t.term)
	t.prefix = binary.BigEndian.Uint64(first[:])
	t.list.sections = t.number(1 << 40)
	t.list.names = t.number(t.list.sections)
	t.list.postings = t.list.postings[:0]
	page := 0
	for range t.number(min(maxPostings, t.list.sections)) {
		page += t.number(1<<31 - 1 - page)
		section, impact := t.number(1<<16-1), t.byte()
		if impact < 1 || impact > maxImpact {
			t.fail(errTerms)
		}
		if t.err != nil {
			break
		}
		t.list.postings = append(t.list.postings, posting{int32(page), uint16(section), impact})
	}
	return t.err == nil, t.err
}

func (t *termReader) fail(err error) { t.err = cmp.Or(t.err, err) }

// number reads a number of at most limit.
func (t *termReader) number(limit int) int {
	if t.at < len(t.buf) && t.buf[t.at] < 0x80 && t.err == nil { // most are so small
		if n := int(t.buf[t.at]); n <= limit {
			t.at++
			return n
		}
	}
	n := uint64(0)
	for shift := 0; ; shift += 7 {
		b := t.byte()
		if shift == 63 && b > 1 {
			t.fail(errTerms)
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 || t.err != nil {
			break
		}
	}
	if n > uint64(limit) {
		t.fail(errTerms)
	}
	if t.err != nil {
		return 0
	}
	return int(n)
}

func (t *termReader) byte() byte {
	if !t.ahead() {
		return 0
	}
	b := t.buf[t.at]
	t.at++
	return b
}

// ahead reports whether there is something in buf, which it fills where all of it was
// taken.
func (t *termReader) ahead() bool {
	for t.at == len(t.buf) && t.err == nil {
		n, err := t.r.Read(t.buf[:cap(t.buf)])
		t.buf, t.at = t.buf[:n], 0
		if n == 0 && err != nil {
			t.fail(broken(err))
		}
	}
	return t.err == nil
}

// broken distinguishes a stream that has no end from one that can't be read.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it has no end", errTerms)
	}
	return err
}
