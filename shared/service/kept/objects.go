package kept

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// In object storage packs lie below a prefix, which belongs to one site of one
// organisation, under names in the order of their age. Several processes work on one
// export, and several exports may run at the same time. The first step of an export
// lists the packs and their values once, for all steps (Encode, Decode); each step
// adds packs of its own, and no pack is ever changed. Where there are many, the older
// ones are to go (Retire): the export writes what it uses of them again, and its last
// step removes them. An export that runs beside it and still reads them finds nothing
// there, and renders.

const (
	// blockBytes is how much of a pack is read at once: values that were made one
	// after another are used one after another.
	blockBytes = 4 << 20
	// maxBlocks is how many blocks are in memory.
	maxBlocks = 16
	// callTime is how long a call of the storage may take before it is a fault.
	callTime = 20 * time.Second
	// maxFaults is how many faults are met before nothing more is asked for or told.
	maxFaults = 3
	// readParallel is how many packs are listed at the same time.
	readParallel = 16
	// maxListed is about how many packs are looked at, the oldest ones: where there
	// are more, Retire has most of these go, and the next export sees the others.
	maxListed = 10000
	// objectBytes is how large a pack grows: what one request writes.
	objectBytes = 8 << 20
	// manyPacks is how many packs a site may have for each process of an export, and
	// manyBytes how many bytes, where that is more than half the limit; above that
	// the older half goes.
	manyPacks = 16
	manyBytes = 8 * objectBytes
)

// objects is where a Store's packs lie in object storage.
type objects struct {
	ctx    context.Context
	to     store.Objects
	prefix string
	fault  func(error)

	mu     sync.Mutex
	blocks []*block // most recently used last
	faults int
}

// block is a part of a pack.
type block struct {
	name   string
	number int64
	once   sync.Once
	data   []byte
	err    error
}

// OpenObjects opens what lies below a prefix, which ends with a slash. Packs that
// are damaged are removed. limit is how many bytes one process of an export may keep,
// 0 for DefaultBytes. fault, if not nil, is called with the first few errors of the storage:
// no export fails by one. ctx carries values for all that the Store asks of the storage;
// its end does not end the Store.
func OpenObjects(ctx context.Context, to store.Objects, prefix string, limit int64, fault func(error)) *Store {
	s := newObjects(ctx, to, prefix, limit, fault)
	o := s.objects
	var list []store.ObjectInfo
	for after := ""; len(list) <= maxListed; after = list[len(list)-1].Key {
		page, err := o.list(prefix, after)
		if err != nil {
			o.failed(err)
			return s
		}
		if len(page) == 0 {
			break
		}
		list = append(list, page...)
	}
	type entry struct {
		Key
		place
	}
	found, packs := make([][]entry, len(list)), make([]*pack, len(list))
	var group errgroup.Group
	group.SetLimit(readParallel)
	for i, info := range list {
		if !strings.HasSuffix(info.Key, finished) {
			continue
		}
		group.Go(func() error {
			p := &pack{name: info.Key, size: info.Size, written: info.Modified}
			tail := &span{from: &object{o, info.Key, info.Size}}
			p.from = tail
			err := p.readIndex(func(k Key, at place) { found[i] = append(found[i], entry{k, at}) })
			p.from = tail.from
			switch {
			case errors.Is(err, errPack):
				o.failed(fmt.Errorf("%s: %w", info.Key, err))
				o.remove(info.Key)
			case err != nil:
				o.failed(err)
			default:
				packs[i] = p
			}
			return nil
		})
	}
	_ = group.Wait()
	for i, p := range packs { // of a value that is there twice, the later one counts
		if p == nil {
			continue
		}
		s.packs, s.total = append(s.packs, p), s.total+p.size
		for _, e := range found[i] {
			s.values[e.Key] = e.place
		}
	}
	return s
}

func newObjects(ctx context.Context, to store.Objects, prefix string, limit int64, fault func(error)) *Store {
	if fault == nil {
		fault = func(error) {}
	}
	return &Store{
		limit: cmp.Or(limit, DefaultBytes), values: map[Key]place{}, used: map[Key]struct{}{}, moved: map[Key]struct{}{},
		objects: &objects{ctx: context.WithoutCancel(ctx), to: to, prefix: prefix, fault: fault},
	}
}

// Retire marks packs for removal at the end of this export: those that were written
// before some time, and the older half where there are many packs, or many bytes, for
// the processes that it has. Encode passes the marks on. What the export uses of these
// packs it writes again. It is for exports that need all pages of a site.
func (s *Store) Retire(processes int, before time.Time) {
	if s == nil || s.objects == nil {
		return
	}
	s.mu.Lock()
	left, rest := len(s.packs), s.total
	many, large := manyPacks*(processes+2), max(s.limit/2, manyBytes*int64(processes+2))
	crowded := left > many || rest > large
	for _, p := range s.packs {
		if s.forgotten || crowded && (left > many/2 || rest > large/2) || p.written.Before(before) {
			p.old = true
			left--
			rest -= p.size
		}
	}
	used := slices.Collect(maps.Keys(s.used))
	s.mu.Unlock()
	s.Use(used...)
}

// sweepObjects removes the packs that Retire chose, unless what is used of them could
// not be written again.
func (s *Store) sweepObjects() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return
	}
	var old []string
	for _, p := range s.packs {
		if p.old {
			old = append(old, p.name)
		}
	}
	if len(old) > 0 {
		s.objects.remove(old...)
	}
}

// Flush stores what was put since the last Flush, for later exports.
func (s *Store) Flush() {
	if s == nil || s.objects == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.finish(); err != nil {
		s.abandon()
	}
}

// listMark begins the bytes of a list.
const listMark = "bdylist1"

// Forget has nothing found of what is there, for an export that is to make everything
// anew. Retire then marks all packs: what the export makes takes their place.
func (s *Store) Forget() {
	if s == nil || s.objects == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.values)
	s.forgotten = true
}

// Encode returns what Decode opens: which values there are, in which packs.
func (s *Store) Encode() []byte {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	number := make(map[*pack]uint64, len(s.packs))
	b := binary.AppendUvarint([]byte(listMark), uint64(len(s.packs)))
	for i, p := range s.packs {
		number[p] = uint64(i)
		name := strings.TrimPrefix(p.name, s.objects.prefix)
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
		b = binary.AppendUvarint(b, uint64(p.size))
		if p.old {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	for k, at := range s.values {
		b = appendEntry(binary.BigEndian.AppendUint32(b, uint32(number[at.pack])), k, at)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, table))
}

// EmptyList is what Encode returns of a Store that has nothing.
func EmptyList() []byte { return (&Store{}).Encode() }

// Decode opens what Encode described, without asking the storage. Bytes that are not
// from Encode are an empty list.
func Decode(ctx context.Context, data []byte, to store.Objects, prefix string, limit int64, fault func(error)) *Store {
	s := newObjects(ctx, to, prefix, limit, fault)
	if err := s.decode(data); err != nil {
		s.packs, s.values, s.total = nil, map[Key]place{}, 0
		s.objects.failed(err)
	}
	return s
}

var errList = errors.New("kept: not a list of packs, or a damaged one")

func (s *Store) decode(data []byte) error {
	if len(data) < len(listMark)+4 || !bytes.HasPrefix(data, []byte(listMark)) {
		return errList
	}
	body := data[:len(data)-4]
	if crc32.Checksum(body, table) != binary.BigEndian.Uint32(data[len(body):]) {
		return errList
	}
	r := reader{data: body[len(listMark):]}
	for n := r.number(); n > 0 && !r.bad; n-- {
		p := &pack{name: s.objects.prefix + string(r.take(r.number())), size: int64(r.number())}
		if old := r.take(1); old != nil {
			p.old = old[0] == 1
		}
		p.from = &object{s.objects, p.name, p.size}
		s.packs, s.total = append(s.packs, p), s.total+p.size
	}
	for len(r.data) > 0 && !r.bad {
		line := r.take(uint64(4 + entryBytes))
		if line == nil || uint64(binary.BigEndian.Uint32(line)) >= uint64(len(s.packs)) {
			return errList
		}
		p := s.packs[binary.BigEndian.Uint32(line)]
		k, at := p.entry(line[4:])
		if at.offset < 0 || at.offset+int64(at.size) > p.size {
			return errList
		}
		s.values[k] = at
	}
	if r.bad {
		return errList
	}
	return nil
}

// call returns the context of one call of the storage.
func (o *objects) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(o.ctx, callTime)
}

func (o *objects) list(prefix, after string) ([]store.ObjectInfo, error) {
	ctx, cancel := o.call()
	defer cancel()
	return o.to.List(ctx, prefix, after, 0)
}

// remove removes packs; a fault leaves them to a later export.
func (o *objects) remove(names ...string) {
	ctx, cancel := o.call()
	defer cancel()
	o.failed(o.to.Delete(ctx, names...))
}

// errBroken is the end of a read that was not tried.
var errBroken = errors.New("kept: the storage fails")

// failed notes an error of the storage, if it is one.
func (o *objects) failed(err error) {
	if err == nil || errors.Is(err, errBroken) {
		return
	}
	o.mu.Lock()
	o.faults++
	tell := o.faults <= maxFaults
	o.mu.Unlock()
	if tell {
		o.fault(err)
	}
}

// store writes a pack to the storage.
func (o *objects) store(w *writer) error {
	defer w.drop()
	err := w.end()
	if err == nil {
		_, err = w.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		name := fmt.Sprintf("%s%012x-%s%s", o.prefix, time.Now().UnixMilli(), strings.ToLower(rand.Text()), finished)
		ctx, cancel := o.call()
		_, err = o.to.Put(ctx, name, w.file, store.PutOptions{})
		cancel()
	}
	o.failed(err)
	return err
}

// read returns a part of an object.
func (o *objects) read(name string, offset, length int64) ([]byte, error) {
	o.mu.Lock()
	broken := o.faults >= maxFaults
	o.mu.Unlock()
	if broken {
		return nil, errBroken
	}
	ctx, cancel := o.call()
	defer cancel()
	body, err := o.to.Get(ctx, name, offset, length)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) { // another export may have removed it
			o.failed(err)
		}
		return nil, err
	}
	defer body.Close()
	data := make([]byte, length)
	if _, err := io.ReadFull(body, data); err != nil {
		o.failed(err)
		return nil, err
	}
	return data, nil
}

// block returns the n-th block of a pack; several who want it wait for one read.
func (o *objects) block(p *object, n int64) ([]byte, error) {
	o.mu.Lock()
	i := slices.IndexFunc(o.blocks, func(b *block) bool { return b.number == n && b.name == p.name })
	var b *block
	if i >= 0 {
		b = o.blocks[i]
		o.blocks = append(slices.Delete(o.blocks, i, i+1), b)
	} else {
		b = &block{name: p.name, number: n}
		if len(o.blocks) == maxBlocks {
			o.blocks = slices.Delete(o.blocks, 0, 1)
		}
		o.blocks = append(o.blocks, b)
	}
	o.mu.Unlock()
	b.once.Do(func() { b.data, b.err = o.read(p.name, n*blockBytes, min(blockBytes, p.size-n*blockBytes)) })
	return b.data, b.err
}

// object reads a pack by blocks.
type object struct {
	in   *objects
	name string
	size int64
}

// ReadAt satisfies io.ReaderAt.
func (p *object) ReadAt(b []byte, offset int64) (n int, err error) {
	if offset < 0 || offset+int64(len(b)) > p.size {
		return 0, io.ErrUnexpectedEOF
	}
	for n < len(b) {
		at := offset + int64(n)
		data, err := p.in.block(p, at/blockBytes)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], data[at%blockBytes:])
	}
	return n, nil
}

// Close satisfies io.Closer.
func (p *object) Close() error { return nil }

// spanBytes is how much of a pack's end is read at first: the index of most.
const spanBytes = 64 << 10

// span reads the end of a pack, for its index, and leaves the blocks to others.
type span struct {
	from *object
	at   int64
	data []byte
}

// ReadAt satisfies io.ReaderAt.
func (s *span) ReadAt(b []byte, offset int64) (int, error) {
	if s.data == nil || offset < s.at {
		at := min(offset, max(s.from.size-spanBytes, 0))
		data, err := s.from.in.read(s.from.name, at, s.from.size-at)
		if err != nil {
			return 0, err
		}
		s.at, s.data = at, data
	}
	return copy(b, s.data[offset-s.at:]), nil
}

// Close satisfies io.Closer.
func (s *span) Close() error { return nil }
