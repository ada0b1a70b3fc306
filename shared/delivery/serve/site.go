package serve

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// site is one version of a site, open for requests. It counts who uses it and
// closes when nobody does.
type site struct {
	record    record
	dir       string // of the version
	files     map[string]*file
	addresses Addresses
	policy    []string // the Content-Security-Policy, as a header's values
	root      *os.Root // the files
	data      *os.File // the compressed forms

	users   atomic.Int64 // one of them is the updater while the site is shown
	release func()       // of the version's lock
	closed  chan struct{}
}

// file is one file of a site: some hundred thousand of them must fit in
// memory, so that whatever can be derived from these fields is.
type file struct {
	path   string
	size   int64
	tag    [16]byte // the beginning of its digest
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
	return `"` + hex.EncodeToString(f.tag[:]) + e.etagSuffix() + `"`
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

// openSite opens a version of the volume. The lists are read and compared with
// what the record and the description say, and every file's size with the list.
// (Digests were compared when it was unpacked.)
func (v *volume) openSite(digest string) (_ *site, err error) {
	s := &site{dir: v.version(digest), files: map[string]*file{}, closed: make(chan struct{})}
	if s.release, err = v.use(digest); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.closeFiles()
		}
	}()
	if s.record, _, err = v.record(digest); err != nil {
		return nil, err
	}
	siteFolder := filepath.Join(s.dir, siteDir)
	raw, err := os.ReadFile(filepath.Join(siteFolder, bundle.InfoPath))
	if err != nil {
		return nil, err
	}
	info, err := bundle.ParseInfo(raw)
	if err != nil {
		return nil, err
	}
	list, err := readFileList(siteFolder)
	if err != nil {
		return nil, err
	}
	if len(list) != s.record.Files || info.Version != s.record.Version {
		return nil, errors.New("the version's files are not those of its record")
	}
	for _, f := range list {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) < 16 {
			return nil, fmt.Errorf("the list of files has no digest for %q", f.Path)
		}
		there, err := os.Lstat(filepath.Join(siteFolder, filepath.FromSlash(f.Path)))
		if err != nil {
			return nil, err
		}
		if !there.Mode().IsRegular() || there.Size() != f.Size {
			return nil, fmt.Errorf("%q has %d bytes, the list says %d", f.Path, there.Size(), f.Size)
		}
		s.files[f.Path] = &file{path: f.Path, size: f.Size, tag: [16]byte(sum), kind: mediaOf(f.Path), hashed: hashedName.MatchString(f.Path)}
	}
	if s.root, err = os.OpenRoot(siteFolder); err != nil {
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
			f.forms[gzipped], f.forms[zstded], f.stub = p.Gzip, p.Zstd, p.Stub
		}
	})
	if err != nil {
		return nil, err
	}
	s.addresses = Addresses{
		Has:  func(name string) bool { return s.files[name] != nil },
		Stub: func(name string) bool { f := s.files[name]; return f != nil && f.stub },
	}
	if s.addresses.Redirects, err = NewRedirects(info.Redirects); err != nil {
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

// read returns the bytes of a file in an encoding.
func (s *site) read(f *file, e encoding) ([]byte, error) {
	if e != identity {
		data := make([]byte, f.forms[e].Length)
		_, err := s.data.ReadAt(data, f.forms[e].Offset)
		return data, err
	}
	data, err := s.root.ReadFile(filepath.FromSlash(f.path))
	if err == nil && int64(len(data)) != f.size {
		err = fmt.Errorf("%q has %d bytes, the list says %d", f.path, len(data), f.size)
	}
	return data, err
}

// leftover is a hashed file of an older version that is still on the volume.
type leftover struct {
	name string // on disk
	kind media
}

// leftovers are the hashed files of the volume's other versions. A reader, or
// a cache in between, may still have a page of one of them, and its styles must
// not be missing then.
func (v *volume) leftovers(shown string) map[string]leftover {
	out := map[string]leftover{}
	for _, r := range v.list() {
		if r.Digest == shown {
			continue
		}
		folder := filepath.Join(v.version(r.Digest), siteDir)
		_ = filepath.WalkDir(filepath.Join(folder, "bindery"), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // what can't be read is not offered
			}
			rel, err := filepath.Rel(folder, name)
			if err != nil {
				return nil
			}
			if rel = filepath.ToSlash(rel); hashedName.MatchString(rel) {
				out[rel] = leftover{name: name, kind: mediaOf(rel)}
			}
			return nil
		})
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
