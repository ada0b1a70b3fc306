package forge

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// Further limits of packs.
const (
	// maxObjectBytes is the largest commit, tag or tree that is read.
	maxObjectBytes = 16 << 20
	// maxLive is how many bytes may be in memory while an object is made from its
	// base.
	maxLive = 256 << 20
	// maxDepth is the longest chain of deltas; Git writes 50, and 4095 at most.
	maxDepth = 4095
	// cacheBytes is how much of the bases of deltas is kept in memory.
	cacheBytes = 8 << 20
)

var errBadPack = errors.New("the pack can't be read")

// pack is what was fetched of a repository: files in Git's pack format in a
// folder, and an index of them in memory. It is safe for concurrent use.
type pack struct {
	dir string

	mu     sync.Mutex
	files  []*os.File
	index  map[[sha1.Size]byte]*packed
	cache  map[*packed][]byte
	cached int
}

// packed is an object in a pack.
type packed struct {
	file *os.File
	at   int64   // where its data begins
	base *packed // what it differs from, nil if it is whole
	kind byte    // of Git's numbers: commit, tree, blob, tag
	data int64   // bytes of the data, unpacked
	size int64   // bytes of the object
}

// Git's numbers of kinds, and of the two ways to name the base of a delta.
const (
	commitKind = 1
	treeKind   = 2
	blobKind   = 3
	tagKind    = 4
	ofsDelta   = 6
	refDelta   = 7
)

var kinds = map[byte]string{commitKind: "commit", treeKind: "tree", blobKind: "blob", tagKind: "tag"}

// newPack returns an empty pack in a new folder in dir.
func newPack(dir string) (*pack, error) {
	d, err := os.MkdirTemp(dir, "bindery-git-")
	if err != nil {
		return nil, err
	}
	return &pack{dir: d, index: map[[sha1.Size]byte]*packed{}, cache: map[*packed][]byte{}}, nil
}

// close removes what was fetched.
func (p *pack) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	p.files, p.index, p.cache = nil, map[[sha1.Size]byte]*packed{}, map[*packed][]byte{}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// add stores a pack that a server sends. Its objects may have limit bytes in all,
// unpacked.
func (p *pack) add(r io.Reader, limit int64) error {
	f, err := os.CreateTemp(p.dir, "*.pack")
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = append(p.files, f)
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := &scan{pack: p, file: f, r: counted{r: bufio.NewReaderSize(f, 64<<10)}, limit: limit, offsets: map[int64]*packed{}, children: map[*packed][]*packed{}}
	return s.run()
}

// counted is a reader that counts what is read.
type counted struct {
	r *bufio.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// scan reads a pack for the index: first all objects in order, which yields the ids of
// those that are not deltas, then the deltas, each after its base.
type scan struct {
	pack     *pack
	file     *os.File
	r        counted
	z        io.ReadCloser
	limit    int64 // of bytes still to unpack
	live     int64 // bytes in memory
	offsets  map[int64]*packed
	children map[*packed][]*packed
	byID     []refChild
}

// refChild is a delta that names its base by id.
type refChild struct {
	of  [sha1.Size]byte
	obj *packed
}

func (s *scan) run() error {
	var head [12]byte
	if _, err := io.ReadFull(&s.r, head[:]); err != nil || string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != 2 {
		return errBadPack
	}
	for range binary.BigEndian.Uint32(head[8:]) {
		if err := s.object(); err != nil {
			return err
		}
	}
	// The base of a delta may itself be a delta whose base is named by id: repeat until
	// nothing is found any more.
	var whole []*packed
	for _, o := range s.offsets {
		if o.base == nil && o.kind != 0 {
			whole = append(whole, o)
		}
	}
	for _, o := range whole {
		if err := s.resolve(o, nil, 0); err != nil {
			return err
		}
	}
	for found := true; found && len(s.byID) > 0; {
		found = false
		for _, c := range slices.Clone(s.byID) {
			base := s.pack.index[c.of]
			if base == nil {
				continue
			}
			found = true
			c.obj.base = base
			s.byID = slices.DeleteFunc(s.byID, func(other refChild) bool { return other.obj == c.obj })
			data, err := s.pack.content(base, maxLive)
			if err != nil {
				return err
			}
			if err := s.differing(c.obj, data, 0); err != nil {
				return err
			}
		}
	}
	if len(s.byID) > 0 {
		return errBadPack
	}
	return nil
}

// object reads the next object.
func (s *scan) object() error {
	start := s.r.n
	b, err := s.r.ReadByte()
	if err != nil {
		return errBadPack
	}
	o := &packed{file: s.file, kind: b >> 4 & 7, data: int64(b & 0xf)}
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = s.r.ReadByte(); err != nil || shift > 56 {
			return errBadPack
		}
		o.data |= int64(b&0x7f) << shift
	}
	if s.limit -= o.data; o.data < 0 || s.limit < 0 {
		return ErrTooLarge
	}
	kind := o.kind
	switch kind {
	case commitKind, treeKind, blobKind, tagKind:
		o.size = o.data
	case ofsDelta:
		back, err := s.offset()
		base := s.offsets[start-back]
		if err != nil || base == nil {
			return errBadPack
		}
		o.kind, o.base = 0, base
		s.children[base] = append(s.children[base], o)
	case refDelta:
		c := refChild{obj: o}
		if _, err := io.ReadFull(&s.r, c.of[:]); err != nil {
			return errBadPack
		}
		o.kind = 0
		s.byID = append(s.byID, c)
	default:
		return errBadPack
	}
	o.at = s.r.n
	s.offsets[start] = o
	into, name := io.Discard, sha1.New()
	if o.kind != 0 {
		fmt.Fprintf(name, "%s %d\x00", kinds[o.kind], o.size)
		into = name
	}
	if s.z, err = inflater(s.z, &s.r); err != nil {
		return err
	}
	if n, err := io.Copy(into, io.LimitReader(s.z, o.data+1)); err != nil || n != o.data {
		return errors.Join(errBadPack, err)
	}
	if o.kind != 0 {
		s.pack.index[[sha1.Size]byte(name.Sum(nil))] = o
	}
	return nil
}

// offset reads how far back in the pack the base is.
func (s *scan) offset() (int64, error) {
	var n int64
	for i := range 9 {
		b, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int64(b&0x7f)
		if b&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errBadPack
}

// resolve finds the ids of all deltas to an object. data is its content, nil if that is
// not in memory.
func (s *scan) resolve(o *packed, data []byte, depth int) error {
	children := s.children[o]
	if len(children) == 0 {
		return nil
	}
	delete(s.children, o)
	if depth > maxDepth {
		return errBadPack
	}
	if data == nil {
		var err error
		if data, err = inflate(o, maxLive); err != nil {
			return err
		}
	}
	if s.live += int64(len(data)); s.live > maxLive {
		return ErrTooLarge.saying("a file of the repository is too large")
	}
	for _, c := range children {
		if err := s.differing(c, data, depth); err != nil {
			return err
		}
	}
	s.live -= int64(len(data))
	return nil
}

// differing finds the id of a delta to an object with this content, and of the deltas
// to the result.
func (s *scan) differing(o *packed, base []byte, depth int) error {
	delta, err := inflate(o, maxLive)
	if err != nil {
		return err
	}
	data, err := patch(base, delta)
	if err != nil {
		return err
	}
	if s.limit -= int64(len(data)); s.limit < 0 {
		return ErrTooLarge
	}
	o.kind, o.size = o.base.kind, int64(len(data))
	name := sha1.New()
	fmt.Fprintf(name, "%s %d\x00", kinds[o.kind], o.size)
	name.Write(data)
	s.pack.index[[sha1.Size]byte(name.Sum(nil))] = o
	return s.resolve(o, data, depth+1)
}

// inflater returns z, or a new one, reset to read from r.
func inflater(z io.ReadCloser, r io.Reader) (io.ReadCloser, error) {
	if z == nil {
		return zlib.NewReader(r)
	}
	return z, z.(zlib.Resetter).Reset(r, nil)
}

// inflate returns an object's data as stored in the pack.
func inflate(o *packed, limit int64) ([]byte, error) {
	if o.data > limit {
		return nil, ErrTooLarge.saying("a file of the repository is too large")
	}
	r, err := zlib.NewReader(bufio.NewReader(io.NewSectionReader(o.file, o.at, 1<<62)))
	if err != nil {
		return nil, err
	}
	data := make([]byte, o.data)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return data, r.Close()
}

// content returns an object's content, which must not be changed. p.mu must be held.
func (p *pack) content(o *packed, limit int64) ([]byte, error) {
	if data, ok := p.cache[o]; ok {
		return data, nil
	}
	if o.size > limit {
		return nil, ErrTooLarge.saying("a file of the repository is too large")
	}
	// From the object back to a base that is not a delta or is in the cache, then
	// forward again.
	var chain []*packed
	at := o
	for at.base != nil && p.cache[at] == nil {
		chain = append(chain, at)
		at = at.base
	}
	data, ok := p.cache[at]
	if !ok {
		var err error
		if data, err = inflate(at, maxLive); err != nil {
			return nil, err
		}
		p.remember(at, data)
	}
	for _, next := range slices.Backward(chain) {
		delta, err := inflate(next, maxLive)
		if err != nil {
			return nil, err
		}
		if data, err = patch(data, delta); err != nil {
			return nil, err
		}
		p.remember(next, data)
	}
	return data, nil
}

// remember caches a content that may be the base of deltas.
func (p *pack) remember(o *packed, data []byte) {
	if len(data) > cacheBytes/4 {
		return
	}
	if p.cached += len(data); p.cached > cacheBytes {
		clear(p.cache)
		p.cached = len(data)
	}
	p.cache[o] = data
}

// find returns an object by its id, or nil.
func (p *pack) find(id string) *packed {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != sha1.Size {
		return nil
	}
	return p.index[[sha1.Size]byte(b)]
}

// object returns a commit, tree or tag.
func (p *pack) object(kind, id string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.find(id)
	if o == nil || kinds[o.kind] != kind {
		return nil, fmt.Errorf("the %s %s did not come", kind, id)
	}
	return p.content(o, maxObjectBytes)
}

// kind returns the kind of an object: "commit", "tree", "tag", "blob", or "" if the
// pack doesn't have it.
func (p *pack) kind(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.find(id); o != nil {
		return kinds[o.kind]
	}
	return ""
}

// reaches reports whether a commit is another one or has it in its history, as far as
// that is in the pack.
func (p *pack) reaches(from, to string) (bool, error) {
	found := false
	err := p.history(from, func(id string, _ bool) bool {
		found = found || id == to && p.kind(id) == "commit"
		return !found
	})
	return found, err
}

// history calls fn with a commit and all that come before it, each once, as far as they
// are in the pack, and with the first ones beyond, for which has is false. It ends once
// fn returns false.
func (p *pack) history(from string, fn func(id string, has bool) bool) error {
	seen := map[string]bool{}
	for next := []string{from}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		has := p.kind(id) == "commit"
		if !fn(id, has) {
			return nil
		}
		if !has {
			continue
		}
		data, err := p.object("commit", id)
		if err != nil {
			return err
		}
		next = append(next, parents(data)...)
	}
	return nil
}

// parents returns the ids of a commit's parents.
func parents(data []byte) (ids []string) {
	head, _, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.Lines(head) {
		if parent, ok := strings.CutPrefix(line, "parent "); ok {
			ids = append(ids, strings.TrimSpace(parent))
		}
	}
	return ids
}

// size returns the size of a file, -1 if it was left out.
func (p *pack) size(id string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.find(id); o != nil {
		return o.size
	}
	return -1
}

// blob returns the content of a file, nil if it was left out. Unless the object is a
// delta, it is read from disk on demand.
func (p *pack) blob(id string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.find(id)
	switch {
	case o == nil:
		return nil, nil
	case o.kind != blobKind:
		return nil, fmt.Errorf("%s is a %s", id, kinds[o.kind])
	case o.base == nil:
		r, err := zlib.NewReader(bufio.NewReader(io.NewSectionReader(o.file, o.at, 1<<62)))
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(r, o.size), r}, nil
	}
	data, err := p.content(o, maxLive)
	return io.NopCloser(bytes.NewReader(data)), err
}

// patch applies a delta, Git's format of copies and insertions, to base.
func patch(base, delta []byte) ([]byte, error) {
	number := func() uint64 {
		n, used := binary.Uvarint(delta)
		delta = delta[max(0, used):]
		return n
	}
	if number() != uint64(len(base)) {
		return nil, errBadPack
	}
	size := number()
	if size > maxLive {
		return nil, ErrTooLarge.saying("a file of the repository is too large")
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || len(delta) < int(op) {
				return nil, errBadPack
			}
			out, delta = append(out, delta[:op]...), delta[op:]
			continue
		}
		var args [7]byte // four of the offset, three of the length, each if its bit is set
		for i := range args {
			if op&(1<<i) != 0 {
				if len(delta) == 0 {
					return nil, errBadPack
				}
				args[i], delta = delta[0], delta[1:]
			}
		}
		from := uint64(binary.LittleEndian.Uint32(args[:4]))
		n := uint64(args[4]) | uint64(args[5])<<8 | uint64(args[6])<<16
		if n == 0 {
			n = 1 << 16
		}
		if from+n > uint64(len(base)) || uint64(len(out))+n > size {
			return nil, errBadPack
		}
		out = append(out, base[from:from+n]...)
	}
	if uint64(len(out)) != size {
		return nil, errBadPack
	}
	return out, nil
}
