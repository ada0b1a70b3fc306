package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// site is one version of a site, open for requests. It counts who uses it and
// closes when nobody does.
type site struct {
	record    record
	dir       string // of the version
	files     map[string]*file
	addresses address.Addresses
	policy    []string // the Content-Security-Policy, as a header's values
	root      *os.Root // the files
	data      *os.File // the compressed forms

	noting  sync.RWMutex              // while the site is verified
	chunked map[formKey][]fingerprint // of forms with more than one chunk

	damage damage

	users   atomic.Int64 // one of them is the updater while the site is shown
	release func()       // of the version's lock
	closed  chan struct{}
}

// file is one file of a site: some hundred thousand of them must fit in
// memory, so that whatever can be derived from these fields is.
type file struct {
	path   string
	size   int64
	sums   [encodings]fingerprint // of the file, and of compressed forms of one chunk
	forms  [encodings]span
	stub   bool
	hashed bool // its name changes with its content
	kind   media

	hot [encodings]atomic.Pointer[hot]
}

// hashedName matches the names of files that carry a digest of their content:
// the theme's, in the folder that no site's own file can be in.
var hashedName = regexp.MustCompile(`^bindery/.+\.[0-9a-f]{8,64}\.[a-z0-9]+$`)

// etag is the file's strong tag in an encoding.
func (f *file) etag(e encoding) string {
	return `"` + hex.EncodeToString(f.sums[identity][:]) + e.etagSuffix() + `"`
}

func (f *file) has(e encoding) bool { return e == identity || f.forms[e].Length > 0 }

// packed reports whether the file has more than one form.
func (f *file) packed() bool { return f.has(gzipped) || f.has(zstded) }

// length is how many bytes the form has.
func (f *file) length(e encoding) int64 {
	if e == identity {
		return f.size
	}
	return f.forms[e].Length
}

// openSite opens a version of the volume and verifies all of it: the lists by
// what proves them, every file and every compressed form by the list. It takes
// as long as the version takes to be read.
func (v *volume) openSite(ctx context.Context, digest string) (_ *site, err error) {
	s := &site{dir: v.version(digest), files: map[string]*file{}, chunked: map[formKey][]fingerprint{}, closed: make(chan struct{})}
	if s.release, err = v.use(digest); err != nil {
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
		s.files[f.Path] = &file{path: f.Path, size: f.Size, sums: [encodings]fingerprint{identity: fingerprint(sum)},
			kind: mediaOf(f.Path), hashed: hashedName.MatchString(f.Path)}
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
			f.forms[gzipped], f.forms[zstded] = p.Gzip, p.Zstd
		}
	})
	if err != nil {
		return nil, err
	}
	if err := s.verify(ctx); err != nil {
		return nil, err
	}
	s.addresses = address.Addresses{
		Has:  func(name string) bool { return s.files[name] != nil },
		Stub: func(name string) bool { f := s.files[name]; return f != nil && f.stub },
	}
	if s.addresses.Redirects, err = address.NewRedirects(info.Redirects); err != nil {
		return nil, err
	}
	s.policy = []string{ContentSecurityPolicy(info)}
	s.users.Store(1)
	return s, nil
}

// acquire counts one more user; false when the site is closed.
func (s *site) acquire() bool {
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

// done counts one user less; the last closes.
func (s *site) done() {
	if s.users.Add(-1) == 0 {
		s.closeFiles()
		close(s.closed)
	}
}

func (s *site) closeFiles() {
	if s.root != nil {
		s.root.Close()
	}
	if s.data != nil {
		s.data.Close()
	}
	s.release()
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
	kind media
	size int64
	sum  fingerprint
}

// open opens the file if it is what was exported.
func (l leftover) open() (*form, error) {
	f, err := os.Open(l.name)
	if err != nil {
		return nil, err
	}
	whole, sums, err := through(f, l.size, nil)
	if err == nil && whole != l.sum {
		err = errDiffers
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
			if err == nil && len(sum) == sha256.Size && hashedName.MatchString(f.Path) && filepath.IsLocal(filepath.FromSlash(f.Path)) {
				out[f.Path] = leftover{filepath.Join(v.version(r.Digest), siteDir, filepath.FromSlash(f.Path)), mediaOf(f.Path), f.Size, fingerprint(sum)}
			}
		}
	}
	return out
}

// hot is a form of a file in memory, with its headers.
type hot struct {
	body   []byte
	length []string
	etag   []string
	used   atomic.Bool // since the cache last looked
}

func newHot(f *file, e encoding, body []byte) *hot {
	return &hot{body: body, length: []string{strconv.Itoa(len(body))}, etag: []string{f.etag(e)}}
}
