package kept

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Key is the digest of all that a value follows from, the program that made it
// among it.
type Key [32]byte

// Names of files in a folder.
const (
	finished   = ".pack"
	unfinished = ".part"
	// abandoned is the age of an unfinished pack that nobody is writing.
	abandoned = 24 * time.Hour
)

const (
	// packBytes is how large a pack grows.
	packBytes = 32 << 20
	// maxPacks is how many packs a folder has before they are written anew:
	// each is an open file.
	maxPacks = 128
	// fewBytes is how much of a folder may be of no use without being swept.
	fewBytes = 16 << 20
	// nearlyAll is the share of a pack below which what is of no use is not worth
	// copying the rest.
	nearlyAll = 0.125
)

// DefaultBytes is how many bytes a folder has at most, or one process of an export
// keeps among objects, unless the caller says otherwise: 20,000 pages of usual size.
const DefaultBytes = 2 << 30

// Store is an open folder, or what a site has among objects. It is safe for concurrent use. A nil Store keeps
// nothing.
type Store struct {
	dir   string
	limit int64

	mu     sync.Mutex
	packs  []*pack
	values map[Key]place
	used   map[Key]struct{} // what was asked for, or put, since Open
	moved  map[Key]struct{} // what was used of old packs, and written again
	live   int64            // bytes of used
	total  int64            // bytes of all packs
	// objects is where packs go in place of a folder.
	objects   *objects
	forgotten bool    // its packs are not used
	out       *writer // nil until there is something to write
	broken    bool    // nothing more is written
}

// Open opens a folder, which it makes if it does not exist (mode 0700). limit is
// how many bytes it may have, 0 for DefaultBytes. The error is about the folder;
// packs that can't be read are removed.
func Open(dir string, limit int64) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, limit: cmp.Or(limit, DefaultBytes), values: map[Key]place{}, used: map[Key]struct{}{}, moved: map[Key]struct{}{}}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	// Of a value that is there twice, the later one counts.
	ages := make(map[string]time.Time, len(list))
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			ages[e.Name()] = info.ModTime()
		}
	}
	slices.SortStableFunc(list, func(a, b os.DirEntry) int { return ages[a.Name()].Compare(ages[b.Name()]) })
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		switch filepath.Ext(name) {
		case unfinished:
			if time.Since(ages[e.Name()]) > abandoned {
				_ = os.Remove(name)
			}
		case finished:
			found := map[Key]place{}
			p, err := openPack(name, func(k Key, at place) { found[k] = at })
			if errors.Is(err, fs.ErrNotExist) { // another process has swept it
				continue
			}
			if err != nil {
				_ = os.Remove(name)
				continue
			}
			s.packs, s.total = append(s.packs, p), s.total+p.bytes
			for k, at := range found {
				s.values[k] = at
			}
		}
	}
	return s, nil
}

// Get returns a value, which is the caller's; false where it is not there.
func (s *Store) Get(k Key) ([]byte, bool) {
	return s.Append(nil, k)
}

// Append appends a value to b, whose room it uses; false where it is not there.
func (s *Store) Append(b []byte, k Key) ([]byte, bool) {
	if s == nil {
		return b, false
	}
	s.mu.Lock()
	at, ok := s.values[k]
	s.mu.Unlock()
	if !ok {
		return b, false
	}
	out := slices.Grow(b, int(at.size))[:len(b)+int(at.size)]
	data := out[len(b):]
	if !at.read(data) {
		return b, false
	}
	s.mu.Lock()
	s.use(k, len(data))
	if _, again := s.moved[k]; at.pack.old && !again {
		s.moved[k] = struct{}{}
		s.write(k, data)
	}
	s.mu.Unlock()
	return out, true
}

// Use marks values as asked for: they stay. They are read only where they lie in
// packs that go.
func (s *Store) Use(keys ...Key) {
	if s == nil {
		return
	}
	for _, k := range keys {
		s.mu.Lock()
		at, ok := s.values[k]
		if ok {
			s.use(k, int(at.size))
		}
		s.mu.Unlock()
		if ok && at.pack.old {
			s.Get(k)
		}
	}
}

// Size returns how many bytes a value has, and marks it as asked for; false where it
// is not there. Whether it is whole shows when it is read.
func (s *Store) Size(k Key) (int, bool) {
	if s == nil {
		return 0, false
	}
	s.Use(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.values[k]
	return int(at.size), ok
}

func (s *Store) use(k Key, size int) {
	if _, again := s.used[k]; !again {
		s.used[k] = struct{}{}
		s.live += int64(size)
	}
}

// Drop forgets a value that turned out to be useless: its checksum proves only that
// it is what was put.
func (s *Store) Drop(k Key) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.values[k]; ok {
		delete(s.values, k)
		if _, used := s.used[k]; used {
			delete(s.used, k)
			s.live -= int64(at.size)
		}
	}
}

// Put keeps a value for later processes; this one does not get it back. What is
// past the folder's limit is not kept.
func (s *Store) Put(k Key, data []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live+int64(len(data)) > s.limit {
		return
	}
	s.use(k, len(data))
	delete(s.values, k)
	s.write(k, data)
}

func (s *Store) write(k Key, data []byte) {
	if s.broken {
		return
	}
	var err error
	if s.objects != nil && s.out != nil && !s.out.fits(len(data), objectBytes) {
		err = s.finish()
	}
	if err == nil && s.out == nil {
		if s.out, err = create(s.dir); err == nil && s.objects != nil {
			_ = os.Remove(s.out.file.Name()) // where systems allow it, nothing is left of a killed process
		}
	}
	if err == nil {
		err = s.out.add(k, data)
	}
	if err == nil {
		s.total += int64(len(data))
		if s.out.size >= packBytes {
			err = s.finish()
		}
	}
	if err != nil {
		s.abandon()
	}
}

// finish ends the pack that is being written.
func (s *Store) finish() error {
	if s.out == nil {
		return nil
	}
	out := s.out
	s.out = nil
	if s.objects != nil {
		return s.objects.store(out)
	}
	return out.finish()
}

// abandon stops writing: the disk is full, or the folder is gone.
func (s *Store) abandon() {
	s.broken = true
	if s.out != nil {
		s.out.drop()
		s.out = nil
	}
}

// Finish is for the end of a whole export: the next process that opens the folder
// finds what was put. Where much of the folder is what the export did not ask for,
// the packs that have least of what it did go; in object storage, those that Retire
// chose.
func (s *Store) Finish() {
	if s == nil {
		return
	}
	if s.objects != nil {
		s.Flush()
		s.sweepObjects()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total > s.live+max(s.live/2, fewBytes) || s.total > s.limit || len(s.packs) > maxPacks {
		s.sweep()
	}
	s.flush()
	clear(s.used)
	s.live = 0
}

// Close drops what was put since Finish, and closes the folder's files.
func (s *Store) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandon()
	for _, p := range s.packs {
		_ = p.from.Close()
	}
	s.packs, s.values = nil, nil
}

// sweep removes packs until the folder is well below its bounds, and writes what was
// used of them into others. Those that have least of use go first, and one that is
// nearly all in use only where the limit asks for it: most of a large folder stays
// where it is.
func (s *Store) sweep() {
	type value struct {
		Key
		place
	}
	used := map[*pack][]value{}
	useless := make(map[*pack]int64, len(s.packs))
	for _, p := range s.packs {
		useless[p] = p.bytes
	}
	for k := range s.used {
		if at, ok := s.values[k]; ok {
			used[at.pack] = append(used[at.pack], value{k, at})
			useless[at.pack] -= int64(at.size)
		}
	}
	share := func(p *pack) float64 { return float64(useless[p]) / float64(max(p.bytes, 1)) }
	slices.SortFunc(s.packs, func(a, b *pack) int {
		return cmp.Or(cmp.Compare(share(b), share(a)), strings.Compare(a.name, b.name))
	})
	goal := min(s.live+max(s.live/4, fewBytes/2), s.limit-s.limit/8)
	n := 0
	for left := s.total; n < len(s.packs) && left > goal; n++ {
		p := s.packs[n]
		if share(p) < nearlyAll && left <= s.limit || useless[p] == 0 {
			break
		}
		left -= useless[p]
	}
	if rest := s.packs[n:]; len(rest) > maxPacks/2 {
		slices.SortFunc(rest, func(a, b *pack) int {
			return cmp.Or(cmp.Compare(a.bytes, b.bytes), strings.Compare(a.name, b.name))
		})
		n = len(s.packs) - maxPacks/2
	}
	gone := s.packs[:n]
	var data []byte
	for _, p := range gone {
		slices.SortFunc(used[p], func(a, b value) int { return cmp.Compare(a.offset, b.offset) })
		for _, v := range used[p] {
			data = slices.Grow(data[:0], int(v.size))[:v.size]
			if v.read(data) {
				s.write(v.Key, data)
			}
		}
	}
	if s.flush(); s.broken {
		return
	}
	for _, p := range gone {
		s.total -= p.bytes
		_ = p.from.Close()
		_ = os.Remove(p.name)
	}
	maps.DeleteFunc(s.values, func(_ Key, at place) bool { return slices.Contains(gone, at.pack) })
	s.packs = slices.Clone(s.packs[n:])
}

// flush ends the pack that is being written.
func (s *Store) flush() {
	if err := s.finish(); err != nil {
		s.abandon()
	}
}
