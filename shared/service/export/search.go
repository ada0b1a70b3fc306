package export

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// putSearch writes what a shard knows for the index: its pages, then its terms.
// How many bytes its pages take stands in its facts.
func (s *Steps) putSearch(ctx context.Context, in job.RenderInput, values *kept.Store, index *shardIndex) error {
	_, err := s.stream(ctx, job.SearchKey(in.JobID, in.Shard), store.PutOptions{}, func(w io.Writer) error {
		if _, err := w.Write(index.pages()); err != nil {
			return err
		}
		return s.writeTerms(w, values, index)
	})
	return err
}

// shardIndex is a shard's part of the search index. As long as all units are kept
// ones, their terms are not even read: the shard's own may be kept, too.
type shardIndex struct {
	part  search.Part
	units []unitIndex // that come before those in part, which has none then
	lines []byte      // of units
	// keys are those of the units, and lost is set where one has none.
	keys []byte
	lost bool
}

// add adds a unit, which comes after those before.
func (x *shardIndex) add(r *unitResult) error {
	switch {
	case r.key != nil:
		x.keys = append(x.keys, r.key[:]...)
	case len(r.index.Pages()) > 0:
		x.lost = true
	default:
		return nil
	}
	if r.kept != nil && len(x.part.Pages()) == 0 {
		x.units, x.lines = append(x.units, unitIndex{*r.key, r.kept}), append(x.lines, r.kept.Pages...)
		return nil
	}
	if err := x.read(); err != nil {
		return err
	}
	if r.kept != nil {
		return x.join(unitIndex{*r.key, r.kept})
	}
	x.part.Join(&r.index)
	return nil
}

// read puts the kept units into part.
func (x *shardIndex) read() error {
	for _, u := range x.units {
		if err := x.join(u); err != nil {
			return err
		}
	}
	x.units, x.lines = nil, nil
	return nil
}

// unitIndex is what is kept of a unit's part of the index, and the unit's key.
type unitIndex struct {
	key  kept.Key
	kept *keptIndex
}

// staleError is of a kept unit whose part of the index can't be read. That is
// looked at no sooner than it is needed: of most units it never is.
type staleError struct{ key kept.Key }

func (e *staleError) Error() string { return "what is kept of a search index can't be read" }

func (x *shardIndex) join(u unitIndex) error {
	part, ok := search.DecodePart(u.kept.Pages, u.kept.Terms)
	if !ok {
		return &staleError{u.key}
	}
	x.part.Join(&part)
	return nil
}

// pages are those of the shard, as search.Part has them.
func (x *shardIndex) pages() []byte {
	if len(x.units) > 0 {
		return x.lines
	}
	return x.part.Pages()
}

// writeTerms writes a shard's terms, as they are kept of the same units if they are.
func (s *Steps) writeTerms(w io.Writer, values *kept.Store, x *shardIndex) error {
	if x.lost || len(x.keys) == 0 {
		return x.part.WriteTerms(w)
	}
	key := s.keyOf("terms", x.keys)
	if len(x.units) > 0 {
		if terms, ok := values.Get(key); ok {
			_, err := w.Write(terms)
			return err
		}
		if err := x.read(); err != nil {
			return err
		}
	}
	var terms bytes.Buffer
	if err := x.part.WriteTerms(&terms); err != nil {
		return err
	}
	values.Put(key, terms.Bytes())
	_, err := w.Write(terms.Bytes())
	return err
}

const (
	// searchFanIn is how many shards' terms are read at the same time.
	searchFanIn = 64
	// searchChunk is how much of an object is asked for at once. A reader that
	// waits for others must not hold a connection meanwhile.
	searchChunk = 256 << 10
)

// writeSearch writes the dialog's script and all indexes, as the shards' facts,
// pages and terms say.
func (s *Steps) writeSearch(ctx context.Context, src *source, facts *report, add func(name string, data []byte) error) error {
	if err := add(src.finder.Script()); err != nil {
		return err
	}
	id := src.input.Job.ID
	builder := search.NewBuilder(facts.divisions, add)
	var terms []*chunkReader
	for i, size := range facts.searchPages {
		key := job.SearchKey(id, i+1)
		if err := eachLine(&chunkReader{ctx: ctx, objects: s.opt.Objects, key: key, end: size}, builder.Page); err != nil {
			return err
		}
		terms = append(terms, &chunkReader{ctx: ctx, objects: s.opt.Objects, key: key, at: size, end: -1})
	}
	for level := 1; len(terms) > searchFanIn; level++ {
		var err error
		if terms, err = s.mergeTerms(ctx, id, level, terms); err != nil {
			return err
		}
	}
	if err := builder.Terms(ctx, readersOf(terms)); err != nil {
		return err
	}
	return builder.Close()
}

// mergeTerms joins groups of streams into one each, as few as leave searchFanIn of
// them.
func (s *Steps) mergeTerms(ctx context.Context, id string, level int, terms []*chunkReader) ([]*chunkReader, error) {
	var out []*chunkReader
	for len(terms) > 0 && len(out)+len(terms) > searchFanIn {
		n := min(searchFanIn, len(terms), len(out)+len(terms)-searchFanIn+1)
		key := job.MergedKey(id, level, len(out))
		_, err := s.stream(ctx, key, store.PutOptions{}, func(w io.Writer) error {
			return search.Merge(ctx, w, readersOf(terms[:n]))
		})
		if err != nil {
			return nil, err
		}
		out, terms = append(out, &chunkReader{ctx: ctx, objects: s.opt.Objects, key: key, end: -1}), terms[n:]
	}
	return append(out, terms...), nil
}

func readersOf(list []*chunkReader) []io.Reader {
	out := make([]io.Reader, len(list))
	for i, r := range list {
		out[i] = r
	}
	return out
}

// eachLine calls fn with the lines of r, without their ends.
func eachLine(r io.Reader, fn func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return internal("a shard's list of pages has no end", nil)
		case err != nil:
			return err
		}
		if err := fn(line[:len(line)-1]); err != nil {
			return err
		}
		line = line[:0]
	}
}

// chunkReader reads a part of an object in pieces, each with a request of its
// own.
type chunkReader struct {
	ctx     context.Context
	objects store.Objects
	key     string
	at, end int64  // end below 0 is the object's
	chunk   []byte // what was read and not given yet
	buf     []byte
	last    bool // chunk is the last one
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.chunk) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *chunkReader) next() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	want := int64(searchChunk)
	if r.end >= 0 {
		want = min(want, r.end-r.at)
	}
	if r.last || want <= 0 {
		r.buf = nil
		return io.EOF
	}
	body, err := r.objects.Get(r.ctx, r.key, r.at, want)
	if errors.Is(err, store.ErrRange) && r.end < 0 {
		r.last, r.buf = true, nil
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", r.key, err)
	}
	defer body.Close()
	if r.buf == nil {
		r.buf = make([]byte, want)
	}
	n, err := io.ReadFull(body, r.buf[:want])
	if short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); short && r.end < 0 {
		r.last = true
	} else if err != nil {
		return fmt.Errorf("read %s: %w", r.key, err)
	}
	if n == 0 {
		return io.EOF
	}
	r.chunk, r.at = r.buf[:n], r.at+int64(n)
	return nil
}
