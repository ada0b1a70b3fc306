package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// FSOptions bound what a FS holds in memory and how it reads.
type FSOptions struct {
	// CacheBytes bounds the files kept after they were read; default 64 MiB.
	CacheBytes int64
	// ReadBytes bounds what one request for neighbours reads, and a larger
	// file is never kept; default 8 MiB.
	ReadBytes int64
	// GapBytes is how many bytes between two files of a pack are rather read
	// and dropped than skipped by a second request; default 256 KiB, about
	// what a link moves during the round trip of a request.
	GapBytes int64
	// Parallel is how many requests Prefetch and Each have under way;
	// default 4.
	Parallel int
}

// FS is a read-only file system over a manifest and its packs, for use by
// many goroutines. It implements fs.FS, fs.ReadFileFS and fs.StatFS. It has
// files alone, which Paths lists: a folder is not there. Every file's digest is
// checked as it is read.
//
// A path that the manifest does not have is fs.ErrNotExist. A pack that is
// gone does not: that error matches store.ErrNotFound; bytes with another
// digest match store.ErrDigest.
type FS struct {
	ctx     context.Context
	objects store.Objects
	packKey func(sha256 string) string
	m       *Manifest
	opt     FSOptions

	mu     sync.Mutex
	cached map[string]*list.Element // digest → element of recent
	recent *list.List               // of *cachedFile, newest first
	bytes  int64
}

type cachedFile struct {
	digest string
	data   []byte
}

// OpenFS opens a snapshot, whose manifest CheckEntries has found good. All
// reads end with ctx, since the interfaces of io/fs take none. packKey returns
// the key of a pack by its digest.
func OpenFS(ctx context.Context, objects store.Objects, packKey func(sha256 string) string, m *Manifest, opt FSOptions) *FS {
	opt.CacheBytes = cmp.Or(opt.CacheBytes, 64<<20)
	opt.ReadBytes = min(cmp.Or(opt.ReadBytes, 8<<20), opt.CacheBytes)
	opt.GapBytes = cmp.Or(opt.GapBytes, 256<<10)
	opt.Parallel = cmp.Or(opt.Parallel, 4)
	return &FS{ctx: ctx, objects: objects, packKey: packKey, m: m, opt: opt, cached: make(map[string]*list.Element), recent: list.New()}
}

// Entry returns the manifest's entry of a path.
func (f *FS) Entry(name string) (Entry, bool) { return f.m.Entry(name) }

// Contents is Manifest.Contents of what the files are from.
func (f *FS) Contents() string { return f.m.Contents() }

// Paths returns the paths of all files, sorted.
func (f *FS) Paths() []string {
	all := make([]string, len(f.m.Entries))
	for i := range f.m.Entries {
		all[i] = f.m.Entries[i].Path
	}
	return all
}

// find looks a file up, with the errors that io/fs asks for.
func (f *FS) find(op, name string) (Entry, error) {
	if !fs.ValidPath(name) {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, ok := f.m.Entry(name)
	if !ok {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return e, nil
}

// ReadFile reads a whole file. The bytes are the caller's. Every error is an
// *fs.PathError.
func (f *FS) ReadFile(name string) ([]byte, error) {
	e, err := f.find("readfile", name)
	if err != nil {
		return nil, err
	}
	if data, ok := f.cacheGet(e.SHA256); ok {
		return bytes.Clone(data), nil
	}
	loaded, err := f.fetch(f.ctx, []Entry{e})
	if err != nil {
		return nil, &fs.PathError{Op: "readfile", Path: name, Err: err}
	}
	data := loaded[e.SHA256]
	if e.Size <= f.opt.ReadBytes {
		f.cachePut(e.SHA256, data)
		return bytes.Clone(data), nil
	}
	return data, nil
}

// Prefetch reads files that are about to be used, neighbours in a pack by one
// request, and keeps them as far as CacheBytes allows, in order of paths; the
// rest is left to later calls. Paths that are not there are passed over.
// It returns the error of the first pack that can't be read.
func (f *FS) Prefetch(paths []string) error { return f.PrefetchAlong(paths, nil) }

// PrefetchAlong is Prefetch, which reads files of along too where one of paths is
// not held.
func (f *FS) PrefetchAlong(paths, along []string) error {
	var wanted []Entry
	var sum int64
	for i, name := range slices.Concat(paths, along) {
		if i == len(paths) && len(wanted) == 0 {
			return nil
		}
		e, ok := f.m.Entry(name)
		if !ok || e.Size > f.opt.ReadBytes {
			continue
		}
		if sum += e.Size; sum > f.opt.CacheBytes {
			break
		}
		if _, ok := f.cacheGet(e.SHA256); !ok {
			wanted = append(wanted, e)
		}
	}
	loaded, err := f.fetch(f.ctx, wanted)
	if err != nil {
		return err
	}
	for digest, data := range loaded {
		f.cachePut(digest, data)
	}
	return nil
}

// Each calls fn with path and bytes of each file, in the order given, and
// reads neighbours by one request, at most ReadBytes at a time (but a larger
// file whole). Nothing is kept. fn may keep and change data. It stops at the
// first error; a path that is not there is fs.ErrNotExist.
func (f *FS) Each(paths []string, fn func(name string, data []byte) error) error {
	for len(paths) > 0 {
		var window []Entry
		var sum int64
		for _, name := range paths {
			e, err := f.find("readfile", name)
			if err != nil {
				if len(window) > 0 {
					break
				}
				return err
			}
			if len(window) > 0 && sum+e.Size > f.opt.ReadBytes {
				break
			}
			sum += e.Size
			window = append(window, e)
		}
		loaded, err := f.fetch(f.ctx, window)
		if err != nil {
			return err
		}
		uses := make(map[string]int, len(window))
		for _, e := range window {
			uses[e.SHA256]++
		}
		for _, e := range window {
			data := loaded[e.SHA256]
			if uses[e.SHA256]--; uses[e.SHA256] > 0 {
				data = bytes.Clone(data)
			}
			if err := fn(e.Path, data); err != nil {
				return err
			}
		}
		paths = paths[len(window):]
	}
	return nil
}

// span is a run of files in a pack that one request reads.
type span struct {
	pack        string
	offset, end int64
	entries     []Entry
}

// spans groups entries, each digest once, into as few requests as the limits
// allow.
func (f *FS) spans(entries []Entry) []span {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.SHA256, b.SHA256))
	})
	var all []span
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if seen[e.SHA256] || e.Size == 0 {
			continue
		}
		seen[e.SHA256] = true
		end := e.Offset + e.Size
		if n := len(all) - 1; n >= 0 {
			s := &all[n]
			// Overlapping entries can't be read in one pass; such a manifest
			// is possible, though no packer of ours writes it.
			if s.pack == e.Pack && e.Offset >= s.end && e.Offset-s.end <= f.opt.GapBytes && end-s.offset <= f.opt.ReadBytes {
				s.end = end
				s.entries = append(s.entries, e)
				continue
			}
		}
		all = append(all, span{e.Pack, e.Offset, end, []Entry{e}})
	}
	return all
}

// fetch reads entries and checks their digests. Its result is by digest.
func (f *FS) fetch(ctx context.Context, entries []Entry) (map[string][]byte, error) {
	loaded := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if e.Size == 0 {
			loaded[e.SHA256] = []byte{}
		}
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.opt.Parallel)
	for _, s := range f.spans(entries) {
		group.Go(func() error {
			return f.readSpan(ctx, s, func(e Entry, data []byte) {
				mu.Lock()
				loaded[e.SHA256] = data
				mu.Unlock()
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return loaded, nil
}

func (f *FS) readSpan(ctx context.Context, s span, found func(Entry, []byte)) error {
	body, err := f.objects.Get(ctx, f.packKey(s.pack), s.offset, s.end-s.offset)
	if err != nil {
		return cutShort(s.pack, err)
	}
	defer body.Close()
	r := bufio.NewReaderSize(body, 64<<10)
	at := s.offset
	for _, e := range s.entries {
		if _, err := io.CopyN(io.Discard, r, e.Offset-at); err != nil {
			return cutShort(s.pack, err)
		}
		data := make([]byte, e.Size)
		if _, err := io.ReadFull(r, data); err != nil {
			return cutShort(s.pack, err)
		}
		sum := sha256.Sum256(data)
		if hex.EncodeToString(sum[:]) != e.SHA256 {
			return DigestError(e)
		}
		found(e, data)
		at = e.Offset + e.Size
	}
	return nil
}

// cutShort distinguishes a pack that ends too early from one that can't be read.
func cutShort(pack string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, store.ErrRange) {
		return fmt.Errorf("pack %s ends too early: %w", pack, store.ErrDigest)
	}
	return fmt.Errorf("read pack %s: %w", pack, err)
}

// DigestError returns the error of a file with other bytes than its entry says. It
// wraps [store.ErrDigest].
func DigestError(e Entry) error {
	return fmt.Errorf("%s in pack %s: %w", printable(e.Path), e.Pack, store.ErrDigest)
}

func (f *FS) cacheGet(digest string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	element, ok := f.cached[digest]
	if !ok {
		return nil, false
	}
	f.recent.MoveToFront(element)
	return element.Value.(*cachedFile).data, true
}

func (f *FS) cachePut(digest string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.cached[digest]; ok {
		return
	}
	f.cached[digest] = f.recent.PushFront(&cachedFile{digest, data})
	f.bytes += int64(len(data))
	for f.bytes > f.opt.CacheBytes {
		last := f.recent.Back()
		old := last.Value.(*cachedFile)
		f.recent.Remove(last)
		delete(f.cached, old.digest)
		f.bytes -= int64(len(old.data))
	}
}

// Stat describes a file. Every error is an *fs.PathError.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	e, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return fileInfo{e}, nil
}

// Open opens a file. One over 1 MiB is streamed; a fault of its
// bytes then shows at its end, in place of io.EOF.
// Every error is an *fs.PathError.
func (f *FS) Open(name string) (fs.File, error) {
	e, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.Size <= streamOver {
		data, err := f.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return &openFile{info: fileInfo{e}, r: bytes.NewReader(data)}, nil
	}
	return f.stream(e, sha256.New())
}

// Stream opens a file and leaves its digest to the caller, who returns
// [DigestError] for other bytes than the entry's. A file that is too short or too
// long is still an error of the reader.
// Every error is an *fs.PathError.
func (f *FS) Stream(name string) (io.ReadCloser, error) {
	e, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.Size == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	return f.stream(e, nil)
}

// stream reads a file from its pack. sum, if there is one, becomes its digest.
func (f *FS) stream(e Entry, sum hash.Hash) (fs.File, error) {
	body, err := f.objects.Get(f.ctx, f.packKey(e.Pack), e.Offset, e.Size)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: e.Path, Err: cutShort(e.Pack, err)}
	}
	return &openFile{info: fileInfo{e}, r: &checkedReader{r: body, e: e, left: e.Size, sum: sum}, body: body}, nil
}

// streamOver is the size from which Open does not hold a file in memory.
const streamOver = 1 << 20

// checkedReader compares size and digest when the end comes.
type checkedReader struct {
	r    io.Reader
	e    Entry
	left int64
	sum  hash.Hash // nil if the digest is not compared
}

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if c.sum != nil {
		c.sum.Write(p[:n])
	}
	switch {
	case c.left < 0:
		return 0, DigestError(c.e)
	case err == io.EOF && c.left > 0:
		return n, cutShort(c.e.Pack, err)
	case err == io.EOF && c.sum != nil && hex.EncodeToString(c.sum.Sum(nil)) != c.e.SHA256:
		return n, DigestError(c.e)
	}
	return n, err
}

type openFile struct {
	info fileInfo
	r    io.Reader
	body io.Closer
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }

func (o *openFile) Read(p []byte) (int, error) {
	if o.r == nil {
		return 0, &fs.PathError{Op: "read", Path: o.info.e.Path, Err: fs.ErrClosed}
	}
	return o.r.Read(p)
}

func (o *openFile) Close() error {
	o.r = nil
	if o.body == nil {
		return nil
	}
	body := o.body
	o.body = nil
	return body.Close()
}

type fileInfo struct{ e Entry }

func (i fileInfo) Name() string       { return path.Base(i.e.Path) }
func (i fileInfo) Size() int64        { return i.e.Size }
func (i fileInfo) Mode() fs.FileMode  { return 0o444 }
func (i fileInfo) ModTime() time.Time { return i.e.Modified }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }
