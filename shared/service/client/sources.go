package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

const (
	// sourcesFile is the list of a folder's sources, with a mark of its form.
	sourcesFile = "sources"
	sourcesMark = "bindery sources 2\n"
	sourcePack  = ".sources" // the extension of packs
	// maxSources is how many bytes of packs are left at most.
	maxSources = 1 << 30
	// settled is how long a file must have been unchanged before it was read, or its
	// stamp is not trusted: file systems have coarse clocks, and a write right after
	// the reading may leave the same times. Git calls such files racily clean.
	settled = 3 * time.Second
)

// sources is what publishing a folder leaves on this machine for the next time: the
// digests of files, so that unchanged ones are not read again, and the packs, for a
// service that has no snapshot yet. It is a cache: what is damaged or gone is made
// again, and an error of its folder never fails a publish.
type sources struct {
	dir   string
	began time.Time
	files map[string]*sourceFile // by path
	packs []snapshot.PackRef
	sums  map[string]uint32   // CRC-32C of packs, by their digests
	open  map[string]*os.File // of packs: another process may take them away

	// eager is set if the packs will be left here. Large files are then copied when they
	// are first read.
	eager bool
	early atomic.Int64 // bytes that were copied so

	mu     sync.Mutex
	large  map[string]*packCopy         // of files, by their digests
	copies map[*snapshot.Pack]*packCopy // of new packs
}

// sourceFile is a line of the list.
type sourceFile struct {
	Path, SHA256 string
	Size         int64
	// Stamp is what stampOf returned when the file was read; empty if it can't be trusted.
	Stamp string
	// Pack and Offset are those of snapshot.Entry.
	Pack   string
	Offset int64
}

type sourceList struct {
	Files []sourceFile
	Packs []snapshot.PackRef
	// Sums are the CRC-32C of Packs: whether a pack is damaged, they tell much sooner
	// than its digest.
	Sums []uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// recallSources reads what was left in a folder; nil where none is named.
func recallSources(dir string) *sources {
	if dir == "" {
		return nil
	}
	s := &sources{dir: dir, began: time.Now(), files: map[string]*sourceFile{}, sums: map[string]uint32{}, open: map[string]*os.File{}, large: map[string]*packCopy{}, copies: map[*snapshot.Pack]*packCopy{}}
	data, err := os.ReadFile(filepath.Join(dir, sourcesFile))
	if err != nil || len(data) < sha256.Size {
		return s
	}
	var list sourceList
	if sum := sumOfSources(data[sha256.Size:]); !bytes.Equal(sum[:], data[:sha256.Size]) || kept.Read(data[sha256.Size:], &list) != nil || len(list.Sums) != len(list.Packs) {
		return s
	}
	s.packs = list.Packs
	for i, p := range s.packs {
		s.sums[p.SHA256] = list.Sums[i]
	}
	for i := range list.Files {
		s.files[list.Files[i].Path] = &list.Files[i]
	}
	return s
}

func sumOfSources(list []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(sourcesMark), list...))
}

// known fills in the digest and size of a file that has this stamp; false where it must
// be read.
func (s *sources) known(file *snapshot.File, stamp string) bool {
	if s == nil || stamp == "" {
		return false
	}
	f := s.files[file.Path]
	if f == nil || f.Stamp != stamp {
		return false
	}
	file.SHA256, file.Size = f.SHA256, f.Size
	return true
}

// stamp returns a value that changes whenever the file does; empty if there is no
// such value.
func (s *sources) stamp(info fs.FileInfo) string {
	if s == nil || info == nil {
		return ""
	}
	stamp, changed, ok := stampOf(info)
	if !ok || !changed.Before(s.began.Add(-settled)) {
		return ""
	}
	return stamp
}

// base returns the manifest of what is in the packs, each of which is there and whole;
// nil where one is not.
func (s *sources) base() *snapshot.Manifest {
	if s == nil || len(s.packs) == 0 {
		return nil
	}
	for _, p := range s.packs {
		if !s.whole(p) {
			return nil
		}
	}
	m := &snapshot.Manifest{Format: snapshot.Format, Packs: s.packs}
	for _, f := range s.files {
		m.Entries = append(m.Entries, snapshot.Entry{Path: f.Path, SHA256: f.SHA256, Size: f.Size, Pack: f.Pack, Offset: f.Offset})
	}
	slices.SortFunc(m.Entries, func(a, b snapshot.Entry) int { return strings.Compare(a.Path, b.Path) })
	return m
}

func (s *sources) pack(sha256 string) string { return filepath.Join(s.dir, sha256+sourcePack) }

// whole opens a pack, and reports whether it has the bytes that it is named after.
func (s *sources) whole(p snapshot.PackRef) bool {
	f, err := os.Open(s.pack(p.SHA256))
	if err != nil {
		return false
	}
	sum, digest := crc32.New(castagnoli), sha256.New()
	want, known := s.sums[p.SHA256]
	var to io.Writer = sum
	if !known {
		to = io.MultiWriter(sum, digest)
	}
	n, err := io.Copy(to, f)
	if known && sum.Sum32() != want || !known && hex.EncodeToString(digest.Sum(nil)) != p.SHA256 || err != nil || n != p.Size {
		_ = f.Close()
		return false
	}
	s.sums[p.SHA256], s.open[p.SHA256] = sum.Sum32(), f
	return true
}

// body returns what reads an open pack.
func (s *sources) body(p snapshot.PackRef) func(context.Context) io.ReadCloser {
	return func(context.Context) io.ReadCloser {
		return io.NopCloser(io.NewSectionReader(s.open[p.SHA256], 0, p.Size))
	}
}

// packCopy writes the bytes of a new pack to a file, and sums them up. It is a cache:
// an error only means that the pack is not there next time.
type packCopy struct {
	file *os.File // nil after an error
	sum  hash.Hash32
}

// newCopy begins a copy of a pack.
func (s *sources) newCopy() *packCopy {
	c := &packCopy{sum: crc32.New(castagnoli)}
	c.file, _ = os.CreateTemp(s.dir, "*"+sourcePack)
	return c
}

// Write never fails.
func (c *packCopy) Write(p []byte) (int, error) {
	if c.file != nil {
		c.sum.Write(p)
		if _, err := c.file.Write(p); err != nil {
			c.drop()
		}
	}
	return len(p), nil
}

// drop removes the file of a copy that is not used.
func (c *packCopy) drop() {
	if c.file != nil {
		_ = c.file.Close()
		_ = os.Remove(c.file.Name())
		c.file = nil
	}
}

// copyFile returns a writer for the bytes of a file of this size while it is first read,
// or nil. A large file is a pack, so it need not be read a second time.
func (s *sources) copyFile(size int64) *packCopy {
	if s == nil || !s.eager || size < snapshot.LargeFile || s.early.Add(size) > maxSources {
		return nil
	}
	return s.newCopy()
}

// copied takes the copy of a file, which has this digest now.
func (s *sources) copied(sha256 string, c *packCopy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.large[sha256]; old != nil {
		old.drop() // the same bytes under another name
	}
	s.large[sha256] = c
}

// copyPack returns a writer for the bytes of a new pack while it is sealed, or nil if the
// pack has been copied.
func (s *sources) copyPack(p *snapshot.Pack) io.Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.large[p.SHA256]
	if p.SHA256 != "" && c != nil && c.file != nil {
		s.copies[p] = c
		delete(s.large, p.SHA256)
		return nil
	}
	c = s.newCopy()
	s.copies[p] = c
	return c
}

// add gives the copy of a sealed pack its name, and opens it; false where there is
// none. The bytes are those that were checked while they were copied.
func (s *sources) add(p *snapshot.Pack) bool {
	c := s.copies[p]
	if c == nil || c.file == nil {
		return false
	}
	name := s.pack(p.SHA256)
	// Windows renames no open file.
	if c.file.Close() != nil || os.Rename(c.file.Name(), name) != nil {
		c.drop()
		return false
	}
	delete(s.copies, p)
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	s.sums[p.SHA256], s.open[p.SHA256] = c.sum.Sum32(), f
	return true
}

// close ends the use of what was left.
func (s *sources) close() {
	if s == nil {
		return
	}
	for _, f := range s.open {
		_ = f.Close()
	}
	for _, c := range s.copies {
		c.drop()
	}
	for _, c := range s.large {
		c.drop()
	}
}

// write writes a file of the folder, all at once.
func (s *sources) write(name string, r io.Reader) error {
	out, err := os.CreateTemp(s.dir, "*"+sourcePack)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(out.Name(), name)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}

// keep leaves what was published of a folder for the next time, its packs too where
// packs is set, and takes away what was left before.
func (s *sources) keep(f *folder, m *snapshot.Manifest, packs bool) {
	if s == nil {
		return
	}
	var list sourceList
	used := map[string]bool{}
	if packs {
		list.Packs = m.Packs
		for _, p := range m.Packs {
			list.Sums = append(list.Sums, s.sums[p.SHA256])
			used[p.SHA256+sourcePack] = true
		}
	}
	for _, e := range m.Entries {
		list.Files = append(list.Files, sourceFile{e.Path, e.SHA256, e.Size, f.stamps[e.Path], e.Pack, e.Offset})
	}
	data := kept.Append(nil, list)
	sum := sumOfSources(data)
	if s.write(filepath.Join(s.dir, sourcesFile), io.MultiReader(bytes.NewReader(sum[:]), bytes.NewReader(data))) != nil {
		return
	}
	left, _ := filepath.Glob(filepath.Join(s.dir, "*"+sourcePack))
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && !used[filepath.Base(name)] && info.ModTime().Before(s.began.Add(-time.Hour)) {
			_ = os.Remove(name) // a younger one another process may be writing
		}
	}
}

// forget takes the list away after an error that it may be the cause of.
func (s *sources) forget(err error) {
	if _, changed := errors.AsType[*snapshot.ChangedError](err); changed && s != nil {
		_ = os.Remove(filepath.Join(s.dir, sourcesFile))
	}
}
