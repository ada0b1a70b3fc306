package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// unpacked is one version of a site on the volume, open for requests. It counts who
// uses it and closes when nobody does.
type unpacked struct {
	record    record
	dir       string // of the version
	files     map[string]*file
	addresses address.Site[*file]
	policy    *site.Policy
	root      *os.Root // the files
	data      *os.File // the compressed forms

	noting  sync.RWMutex                   // while the site is verified
	chunked map[formKey][]site.Fingerprint // of forms with more than one chunk

	damage damage

	users  atomic.Int64 // one of them is the updater while the site is shown
	unlock func()       // of the version
	closed chan struct{}
}

var _ site.Version = (*unpacked)(nil)

// file is one file of a site: some hundred thousand of them must fit in
// memory, so that whatever can be derived from these fields is.
type file struct {
	facts   site.Facts
	of      *unpacked
	sums    [site.Encodings]site.Fingerprint // of the file, and of compressed forms of one chunk
	offsets [site.Encodings]int64            // of compressed forms
	stub    bool
}

// Facts describes the file.
func (f *file) Facts() *site.Facts { return &f.facts }

// Read returns a form of the file.
func (f *file) Read(_ context.Context, e site.Encoding) ([]byte, error) { return f.of.read(f, e) }

// Open opens a form of the file.
func (f *file) Open(_ context.Context, e site.Encoding) (site.Form, error) {
	p, err := f.of.open(f, e)
	if err != nil {
		return nil, err // not a form that is nil
	}
	return p, nil
}

func (f *file) has(e site.Encoding) bool { return e == site.Identity || f.facts.Lengths[e] > 0 }

// length is how many bytes the form has.
func (f *file) length(e site.Encoding) int64 { return f.facts.Lengths[e] }

// openSite opens a version of the volume and verifies all of it: the lists by
// what proves them, every file and every compressed form by the list. It takes
// as long as the version takes to be read.
func (v *volume) openSite(ctx context.Context, digest string) (_ *unpacked, err error) {
	s := &unpacked{dir: v.version(digest), files: map[string]*file{}, chunked: map[formKey][]site.Fingerprint{}, closed: make(chan struct{})}
	if s.unlock, err = v.use(digest); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.closeFiles()
		}
	}()
	var info *bundle.Info
	var list []bundle.File
	if s.record, info, list, err = v.lists(ctx, digest); err != nil {
		return nil, err
	}
	for _, f := range list {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("the list of files has no digest for %q", f.Path)
		}
		s.files[f.Path] = &file{facts: site.NewFacts(f.Path, f.Size, site.Fingerprint(sum)), of: s, sums: [site.Encodings]site.Fingerprint{site.Identity: site.Fingerprint(sum)}}
	}
	if s.root, err = os.OpenRoot(filepath.Join(s.dir, siteDir)); err != nil {
		return nil, err
	}
	if s.data, err = os.Open(filepath.Join(s.dir, packedDir, packedData)); err != nil {
		return nil, err
	}
	size, err := s.data.Stat()
	if err != nil {
		return nil, err
	}
	err = readPacked(filepath.Join(s.dir, packedDir), size.Size(), func(p packedFile) {
		if f := s.files[p.Path]; f != nil {
			f.facts.Lengths[site.Gzip], f.offsets[site.Gzip] = p.Gzip.Length, p.Gzip.Offset
			f.facts.Lengths[site.Zstd], f.offsets[site.Zstd] = p.Zstd.Length, p.Zstd.Offset
		}
	})
	if err != nil {
		return nil, err
	}
	if err := s.verify(ctx); err != nil {
		return nil, err
	}
	s.addresses = address.Site[*file]{
		Look: s.look,
		Stub: func(_ context.Context, f *file) (bool, error) { return f.stub, nil },
	}
	if s.addresses.Redirects, err = address.NewRedirects(info.Redirects); err != nil {
		return nil, err
	}
	s.policy = site.NewPolicy(info)
	s.users.Store(1)
	return s, nil
}

// look finds the files of an address.
func (s *unpacked) look(_ context.Context, name string) (at address.Place[*file], err error) {
	if name == "" {
		at.Index = s.files["index.html"]
		return at, nil
	}
	var space [256]byte // the names of most files are made in it, and not kept
	key := append(space[:0], name...)
	at.Plain = s.files[name]
	at.Page = s.files[string(append(key, ".html"...))]
	at.Index = s.files[string(append(key, "/index.html"...))]
	return at, nil
}

// Find returns what answers a path.
func (s *unpacked) Find(ctx context.Context, path, rawQuery string) (address.Found[site.File], error) {
	found, err := s.addresses.Find(ctx, path, rawQuery)
	out := address.Found[site.File]{To: found.To, Permanent: found.Permanent}
	if found.File != nil { // else File were a file that is nil
		out.File = found.File
	}
	return out, err
}

// NotFound returns the page for what is not there.
func (s *unpacked) NotFound(context.Context) (site.File, error) {
	if f := s.files["404.html"]; f != nil {
		return f, nil
	}
	return nil, nil
}

// Policy is the Content-Security-Policy of the version.
func (s *unpacked) Policy() *site.Policy { return s.policy }

// acquire counts one more user; false when the site is closed.
func (s *unpacked) acquire() bool {
	for {
		n := s.users.Load()
		if n == 0 {
			return false
		}
		if s.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release counts one user less; the last closes.
func (s *unpacked) Release() {
	if s.users.Add(-1) == 0 {
		s.closeFiles()
		close(s.closed)
	}
}

func (s *unpacked) closeFiles() {
	if s.root != nil {
		s.root.Close()
	}
	if s.data != nil {
		s.data.Close()
	}
	s.unlock()
}

// damage is which files of a site were found to differ on the volume.
type damage struct {
	mu    sync.Mutex
	files map[*file]bool
}

// add notes a file; it returns how many there are and whether this one is new.
func (d *damage) add(f *file) (n int, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files = map[*file]bool{}
	}
	first = !d.files[f]
	d.files[f] = true
	return len(d.files), first
}

func (d *damage) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.files)
}

// set replaces what was found before, and returns how many files there are.
func (d *damage) set(files map[*file]bool) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files = files
	return len(files)
}

// leftover is a hashed file of an older version that is still on the volume.
type leftover struct {
	name string // on disk
	size int64
	sum  site.Fingerprint
}

// open opens the file if it is what was exported.
func (l leftover) open() (*form, error) {
	f, err := os.Open(l.name)
	if err != nil {
		return nil, err
	}
	whole, sums, err := through(f, l.size, nil)
	if err == nil && whole != l.sum {
		err = site.ErrDamaged
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &form{at: f, file: f, size: l.size, sums: sums}, nil
}

// leftovers are the hashed files of the volume's other versions. A reader, or
// a cache in between, may still have a page of one of them, and its styles must
// not be missing then.
func (v *volume) leftovers(ctx context.Context, shown string) map[string]leftover {
	out := map[string]leftover{}
	for _, r := range v.list() {
		if r.Digest == shown {
			continue
		}
		_, _, list, err := v.lists(ctx, r.Digest)
		if err != nil {
			continue // what can't be read is not offered
		}
		for _, f := range list {
			sum, err := hex.DecodeString(f.SHA256)
			if err == nil && len(sum) == sha256.Size && site.IsHashed(f.Path) && filepath.IsLocal(filepath.FromSlash(f.Path)) {
				out[f.Path] = leftover{filepath.Join(v.version(r.Digest), siteDir, filepath.FromSlash(f.Path)), f.Size, site.Fingerprint(sum)}
			}
		}
	}
	return out
}
