package search

import (
	"bufio"
	"container/heap"
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
	for _, r := range parts {
		s := &termReader{r: bufio.NewReaderSize(r, mergeBuffer)}
		more, err := s.next()
		if err != nil {
			return err
		}
		if more {
			h = append(h, s)
		}
	}
	heap.Init(&h)
	for n := 0; len(h) > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k, l := h[0].key, list{}
		for len(h) > 0 && h[0].key == k {
			l.join(&h[0].list)
			more, err := h[0].next()
			if err != nil {
				return err
			}
			if more {
				heap.Fix(&h, 0)
			} else {
				heap.Pop(&h)
			}
		}
		if err := fn(k, &l); err != nil {
			return err
		}
	}
	return nil
}

// streams is a heap of streams by their terms.
type streams []*termReader

func (h streams) Len() int           { return len(h) }
func (h streams) Less(i, j int) bool { return h[i].key.compare(h[j].key) < 0 }
func (h streams) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *streams) Push(x any)        { *h = append(*h, x.(*termReader)) }
func (h *streams) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	*h = (*h)[:last]
	return s
}

type termReader struct {
	r    *bufio.Reader
	key  key
	list list
	term []byte
}

// next reads the next term; false is the end.
func (t *termReader) next() (bool, error) {
	division, err := t.number(1 << 20)
	if err != nil {
		return false, err
	}
	if division == 0 {
		return false, nil
	}
	shared, err := t.number(len(t.term))
	if err != nil {
		return false, err
	}
	length, err := t.number(8 * maxTerm)
	if err != nil {
		return false, err
	}
	for range length {
		t.term = append(t.term[:shared], 0)
		if t.term[shared], err = t.r.ReadByte(); err != nil {
			return false, broken(err)
		}
		shared++
	}
	t.term = t.term[:shared]
	k := key{division - 1, string(t.term)}
	if t.key.term != "" && k.compare(t.key) <= 0 || k.term == "" {
		return false, fmt.Errorf("%w: %q is out of order", errTerms, k.term)
	}
	t.key = k
	if t.list.sections, err = t.number(1 << 40); err != nil {
		return false, err
	}
	if t.list.names, err = t.number(t.list.sections); err != nil {
		return false, err
	}
	n, err := t.number(min(maxPostings, t.list.sections))
	if err != nil {
		return false, err
	}
	t.list.postings = t.list.postings[:0]
	page := 0
	for range n {
		more, err := t.number(1<<31 - 1 - page)
		if err != nil {
			return false, err
		}
		page += more
		section, err := t.number(1<<16 - 1)
		if err != nil {
			return false, err
		}
		impact, err := t.r.ReadByte()
		if err != nil {
			return false, broken(err)
		}
		if impact < 1 || impact > maxImpact {
			return false, errTerms
		}
		t.list.postings = append(t.list.postings, posting{int32(page), uint16(section), impact})
	}
	return true, nil
}

// number reads a number of at most limit.
func (t *termReader) number(limit int) (int, error) {
	n, err := binary.ReadUvarint(t.r)
	if err != nil {
		return 0, broken(err)
	}
	if n > uint64(limit) {
		return 0, errTerms
	}
	return int(n), nil
}

// broken distinguishes a stream that has no end from one that can't be read.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it has no end", errTerms)
	}
	return err
}
