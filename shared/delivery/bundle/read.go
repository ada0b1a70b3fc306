package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/bindery-docs/bindery/shared/base/json"
)

// Limits of what is read.
type Limits struct {
	// Files is the most files of a bundle; 0 means 1,000,000: three for each
	// of 200,000 pages and as many static files again.
	Files int
	// Bytes is the most bytes of all files; 0 means 100 GiB: an export's limit
	// of 20 GiB is of the archive, and pages have a fourth of their size there.
	Bytes int64
	// File is the most bytes of one file; 0 means 5 GiB, as for a file of a source. An
	// archive says the size before the file: a larger one is refused unread.
	File int64
}

// Limits that don't depend on the caller.
const (
	maxName     = 1024 + 16 // a source's path, with the ending of its page
	maxListLine = 64 << 10
	// maxPadding is how many zeros may follow the archive's end; tar programs
	// pad to some KiB.
	maxPadding = 1 << 20
	// entryOverhead is the most that an entry takes besides its bytes: two
	// headers, the name in the second, and what fills blocks.
	entryOverhead = 4 << 10
	// MaxInfoBytes bounds the description, which is held in memory.
	MaxInfoBytes = 16 << 20
)

func (l Limits) withDefaults() Limits {
	if l.Files <= 0 {
		l.Files = 1_000_000
	}
	if l.Bytes <= 0 {
		l.Bytes = 100 << 30
	}
	if l.File <= 0 {
		l.File = 5 << 30
	}
	return l
}

// Entry is one file of a bundle as it is read.
type Entry struct {
	Path     string
	Size     int64 // in bytes
	Modified time.Time
}

// Read reads a whole bundle and verifies it: every file against the list, the
// lists against the description, no name twice (also not in another case), none
// unsafe, nothing missing, nothing after the end. It hands every file to fn as
// it comes, the lists and the description included; these are verified only
// when Read has returned without an error. fn need not read a file to its end,
// and may be nil. The error is an *Error where the bundle is at fault, else what
// r, ctx or fn said.
func Read(ctx context.Context, r io.Reader, limits Limits, fn func(e Entry, data io.Reader) error) (*Info, error) {
	info, _, err := read(ctx, r, limits, fn)
	return info, err
}

func read(ctx context.Context, r io.Reader, limits Limits, fn func(e Entry, data io.Reader) error) (*Info, End, error) {
	c := &checker{limits: limits.withDefaults(), fn: fn, seen: make(map[string]struct{})}
	source := &sourceReader{ctx: ctx, r: r}
	err := c.run(ctx, &members{source: source, r: bufio.NewReaderSize(source, 64<<10)})
	switch {
	case source.err != nil: // what the source or the context said comes first
		return nil, End{}, source.err
	case err != nil:
		return nil, End{}, err
	}
	return c.info, c.end, nil
}

// sourceReader remembers the source's own error, to distinguish it from the
// faults of a bundle, and stops when the context ends.
type sourceReader struct {
	ctx context.Context
	r   io.Reader
	n   int64 // bytes that were read
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.r.Read(p)
	s.n += int64(n)
	// A connection that broke reports an unexpected end; so does a file that
	// was cut when something above counts bytes. Both are the source's word.
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// members reads what gzip members unfold into, one after another.
type members struct {
	source *sourceReader
	r      *bufio.Reader // of source
	gz     *gzip.Reader  // nil before the first member
	start  int64         // where in the source the member that is read begins
}

func (m *members) Read(p []byte) (int, error) {
	for {
		if m.gz != nil {
			n, err := m.gz.Read(p)
			if n > 0 && err == io.EOF { // of this member; others may follow
				err = nil
			}
			if n > 0 || err != io.EOF {
				return n, err
			}
			if _, err := m.r.Peek(1); err != nil {
				return 0, err
			}
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next begins a member.
func (m *members) next() (err error) {
	m.start = m.source.n - int64(m.r.Buffered())
	if m.gz == nil {
		m.gz, err = gzip.NewReader(m.r)
	} else {
		err = m.gz.Reset(m.r)
	}
	if err == nil {
		m.gz.Multistream(false)
	}
	return err
}

type checker struct {
	limits  Limits
	fn      func(Entry, io.Reader) error
	seen    map[string]struct{} // names in lower case, and all their folders with a slash
	folders int
	files   []File // what was read before the list, in order
	bytes   int64
	lists   [2]*ListInfo // files, diagnostics
	info    *Info
	end     End
}

func (c *checker) run(ctx context.Context, r *members) error {
	if _, err := r.r.Peek(1); err == io.EOF {
		return &Error{Fault: Truncated, Message: "the file is empty"}
	}
	unpacked := c.limits.bound(r)
	tr := tar.NewReader(unpacked)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return formatError(err, "")
		}
		if h.Name == FilesPath {
			c.end.Offset = r.start
		}
		if err := c.entry(h, tr); err != nil {
			return err
		}
	}
	if c.info == nil {
		return &Error{Fault: Truncated, Message: "the description " + InfoPath + " is missing at the end"}
	}
	if err := padding(unpacked); err != nil {
		return err
	}
	return c.finish()
}

// padding reads to the end, where after the blocks of zeros there may only be
// more zeros.
func padding(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for zeros := 0; ; {
		n, err := r.Read(buf)
		if zeros += n; zeros > maxPadding {
			return &Error{Fault: Corrupt, Message: "the zeros after the archive do not end"}
		}
		if len(bytes.Trim(buf[:n], "\x00")) > 0 {
			return &Error{Fault: Corrupt, Message: "there is data after the end of the archive"}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return formatError(err, "")
		}
	}
}

// formatError distinguishes a bundle that was cut from one that was changed.
func formatError(err error, name string) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &Error{Fault: Truncated, Path: name, Message: "the bundle ends in the middle", Err: err}
	}
	return &Error{Fault: Corrupt, Path: name, Message: "the archive can't be read", Err: err}
}

// note remembers a name and refuses it when it is there already, or is a
// folder of another.
func (c *checker) note(name string) error {
	folded := strings.ToLower(name)
	_, same := c.seen[folded]
	_, folder := c.seen[folded+"/"]
	if same || folder {
		return &Error{Fault: Unsafe, Path: name, Message: "the name appears twice, or differs from another only by case"}
	}
	c.seen[folded] = struct{}{}
	for dir := path.Dir(folded); dir != "."; dir = path.Dir(dir) {
		if _, ok := c.seen[dir]; ok {
			return &Error{Fault: Unsafe, Path: name, Message: "one of its folders is also a file"}
		}
		if _, ok := c.seen[dir+"/"]; ok {
			break
		}
		if c.folders++; c.folders > c.limits.Files {
			return &Error{Fault: TooLarge, Path: name, Message: fmt.Sprintf("there are more than %d folders", c.limits.Files)}
		}
		c.seen[dir+"/"] = struct{}{}
	}
	return nil
}

// entry reads one file.
func (c *checker) entry(h *tar.Header, r io.Reader) error {
	name := h.Name
	if h.Typeflag != tar.TypeReg {
		return &Error{Fault: Unsafe, Path: name, Message: "it is not a regular file"}
	}
	for record := range h.PAXRecords {
		// A few bytes of a sparse file represent any number, which nothing
		// that counts what the archive unfolds into would see.
		if strings.HasPrefix(record, "GNU.sparse.") {
			return &Error{Fault: Unsafe, Path: name, Message: "it is a sparse file"}
		}
	}
	if reason := unsafeName(name); reason != "" {
		return &Error{Fault: Unsafe, Path: name, Message: reason}
	}
	if err := c.note(name); err != nil {
		return err
	}
	if c.info != nil {
		return &Error{Fault: Mismatch, Path: name, Message: "it comes after the description"}
	}
	if h.Size < 0 || h.Size > c.limits.Bytes-c.bytes { // a sum could pass the largest number
		return &Error{Fault: TooLarge, Path: name, Message: fmt.Sprintf("the files have more than %d bytes", c.limits.Bytes)}
	}
	if h.Size > c.limits.File {
		return &Error{Fault: TooLarge, Path: name, Message: fmt.Sprintf("it has %d bytes, more than the %d of a file", h.Size, c.limits.File)}
	}
	c.bytes += h.Size
	if len(c.files) >= c.limits.Files {
		return &Error{Fault: TooLarge, Path: name, Message: fmt.Sprintf("there are more than %d files", c.limits.Files)}
	}
	sum := sha256.New()
	count := &countReader{r: io.TeeReader(r, sum)}
	kept := io.Reader(count)
	var infoText bytes.Buffer
	var pipe func() error
	switch name {
	case FilesPath:
		if c.lists[0] != nil || c.lists[1] != nil {
			return &Error{Fault: Mismatch, Path: name, Message: "the lists are in the wrong order"}
		}
		lines := &lineChecker{files: c.files}
		kept, pipe = io.TeeReader(count, lines), lines.close
	case InfoPath:
		if h.Size > MaxInfoBytes {
			return &Error{Fault: TooLarge, Path: name, Message: "the description is too large"}
		}
		kept = io.TeeReader(count, &infoText)
	}
	if c.fn != nil {
		if err := c.fn(Entry{Path: name, Size: h.Size, Modified: h.ModTime}, kept); err != nil {
			// The consumer sees faults of the bundle as errors of its reads.
			if count.err != nil {
				return formatError(count.err, name)
			}
			return err
		}
	}
	if _, err := io.Copy(io.Discard, kept); err != nil {
		return formatError(err, name)
	}
	if count.n != h.Size {
		return formatError(io.ErrUnexpectedEOF, name)
	}
	if pipe != nil {
		if err := pipe(); err != nil {
			return err
		}
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	switch name {
	case FilesPath:
		c.lists[0] = &ListInfo{h.Size, digest}
	case DiagnosticsPath:
		c.lists[1] = &ListInfo{h.Size, digest}
	case InfoPath:
		info, err := ParseInfo(infoText.Bytes())
		if err != nil {
			return err
		}
		c.info, c.end.SHA256 = info, digest
	default:
		if c.lists[0] != nil || c.lists[1] != nil {
			return &Error{Fault: Mismatch, Path: name, Message: "it comes after the list of files"}
		}
		c.files = append(c.files, File{Path: name, Size: h.Size, SHA256: digest})
	}
	return nil
}

// finish compares the description with what was read.
func (c *checker) finish() error {
	if c.info.Format < 1 || c.info.Format > Format {
		return unknownFormat(c.info.Format)
	}
	if c.info.Format < FormatOf(c.info) {
		return &Error{Fault: Corrupt, Path: InfoPath, Message: fmt.Sprintf("the description has fields that format %d does not have", c.info.Format)}
	}
	for i, want := range [...]struct {
		path string
		is   ListInfo
	}{{FilesPath, c.info.FileList}, {DiagnosticsPath, c.info.DiagnosticList}} {
		if c.lists[i] == nil {
			return &Error{Fault: Mismatch, Path: want.path, Message: "the list is missing"}
		}
		if *c.lists[i] != want.is {
			return &Error{Fault: Corrupt, Path: want.path, Message: "the list is not the one that the description names"}
		}
	}
	var sum int64
	for i := range c.files {
		sum += c.files[i].Size
	}
	if c.info.Files != len(c.files) || c.info.Bytes != sum {
		return &Error{Fault: Mismatch, Path: InfoPath, Message: fmt.Sprintf("it counts %d files of %d bytes, there are %d of %d",
			c.info.Files, c.info.Bytes, len(c.files), sum)}
	}
	return nil
}

// bound limits what an archive unfolds into: a few bytes can make any number.
// Entries are counted as they come, what is between them here.
func (l Limits) bound(r io.Reader) io.Reader {
	return &boundedReader{r: r, left: l.Bytes + int64(l.Files)*entryOverhead + MaxInfoBytes + maxPadding}
}

// boundedReader ends with an error when more comes than may.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &Error{Fault: TooLarge, Message: "the archive expands to more than its files may have"}
	}
	return n, err
}

type countReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// lineChecker compares the list of files with the files, line by line, as it
// is written to.
type lineChecker struct {
	files []File
	next  int
	line  []byte
	err   error
}

func (l *lineChecker) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && l.err == nil; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			l.line = append(l.line, rest...)
			if len(l.line) > maxListLine {
				l.err = &Error{Fault: Corrupt, Path: FilesPath, Message: "a line is too long"}
			}
			break
		}
		l.line = append(l.line, rest[:i]...)
		rest = rest[i+1:]
		l.err = l.check()
		l.line = l.line[:0]
	}
	return len(p), nil
}

func (l *lineChecker) check() error {
	var f File
	if err := json.Unmarshal(l.line, &f); err != nil {
		return &Error{Fault: Corrupt, Path: FilesPath, Message: "a line can't be read", Err: err}
	}
	if l.next == len(l.files) {
		return &Error{Fault: Mismatch, Path: f.Path, Message: "it is in the list, but not in the bundle"}
	}
	is := l.files[l.next]
	l.next++
	switch {
	case is.Path != f.Path:
		return &Error{Fault: Mismatch, Path: is.Path, Message: fmt.Sprintf("the list has %q in its place", f.Path)}
	case is != f:
		return &Error{Fault: Corrupt, Path: f.Path, Message: fmt.Sprintf("it has %d bytes with digest %s, the list says %d with %s", is.Size, is.SHA256, f.Size, f.SHA256)}
	}
	return nil
}

func (l *lineChecker) close() error {
	switch {
	case l.err != nil:
		return l.err
	case len(l.line) > 0:
		return &Error{Fault: Corrupt, Path: FilesPath, Message: "the last line has no end"}
	case l.next < len(l.files):
		return &Error{Fault: Mismatch, Path: l.files[l.next].Path, Message: "it is in the bundle, but not in the list"}
	}
	return nil
}

// End is the last part of a bundle: the gzip members from that on that the
// list of files is in. With the digest of the whole archive and the state of
// SHA-256 before it, it shows without the rest which description, and so which
// files, the archive has.
type End struct {
	Offset int64  // where it begins in the archive, in bytes
	SHA256 string // of the description's text, in lower-case hex
}

// ReadEnd reads a bundle from End.Offset on, or from its beginning, and returns
// the SHA-256 of its description in lower-case hex. The bytes are the caller's
// to verify. The error is an *Error where they are not the end of a bundle, else
// what r or ctx said.
func ReadEnd(ctx context.Context, r io.Reader, limits Limits) (string, error) {
	return readEnd(ctx, r, limits, func(string, io.Reader) error { return nil })
}

// ReadLists is ReadEnd for those who want the lists too: fn gets the files of the
// end, as far as it reads them, and ReadLists returns the description. Nothing
// but the archive's own checksums is verified.
func ReadLists(ctx context.Context, r io.Reader, limits Limits, fn func(path string, data io.Reader) error) (*Info, error) {
	var info *Info
	_, err := readEnd(ctx, r, limits, func(path string, data io.Reader) error {
		if path != InfoPath {
			return fn(path, data)
		}
		text, err := io.ReadAll(io.LimitReader(data, MaxInfoBytes))
		if err == nil {
			info, err = ParseInfo(text)
		}
		return err
	})
	return info, err
}

func readEnd(ctx context.Context, r io.Reader, limits Limits, fn func(path string, data io.Reader) error) (string, error) {
	limits = limits.withDefaults()
	source := &sourceReader{ctx: ctx, r: r}
	digest, err := readDescription(limits.bound(&members{source: source, r: bufio.NewReaderSize(source, 64<<10)}), fn)
	switch {
	case source.err != nil:
		return "", source.err
	case err != nil:
		return "", formatError(err, InfoPath)
	}
	return digest, nil
}

func readDescription(r io.Reader, fn func(path string, data io.Reader) error) (string, error) {
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err != nil {
			return "", err
		}
		sum := sha256.New()
		if err := fn(h.Name, io.TeeReader(tr, sum)); err != nil {
			return "", err
		}
		if h.Name != InfoPath {
			continue
		}
		if _, err := io.Copy(sum, tr); err != nil {
			return "", err
		}
		if _, err := tr.Next(); err != io.EOF {
			return "", &Error{Fault: Mismatch, Path: InfoPath, Message: "it is not the last file"}
		}
		return hex.EncodeToString(sum.Sum(nil)), padding(r)
	}
}

// Unpack writes a bundle's files into dir, which is made if it is not there
// and must be empty. No name can leave dir. Only when Unpack returns without
// an error are the files verified; after an error, what was written may be a
// part and is for the caller to remove.
func Unpack(ctx context.Context, r io.Reader, dir string, limits Limits) (*Info, End, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, End{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, End{}, err
	}
	if len(entries) > 0 {
		return nil, End{}, fmt.Errorf("the folder %s is not empty", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, End{}, err
	}
	defer root.Close()
	made := map[string]struct{}{".": {}}
	return read(ctx, r, limits, func(e Entry, data io.Reader) error {
		f, err := create(root, e.Path, made)
		if errors.Is(err, syscall.ENAMETOOLONG) {
			// No other volume of this kind takes it either: it is the bundle's fault.
			return &Error{Fault: Unsafe, Path: e.Path, Message: "the name is too long for the file system", Err: err}
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, data); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		return root.Chtimes(e.Path, e.Modified, e.Modified)
	})
}

// create makes a new file and its folder; made has the folders that exist.
func create(root *os.Root, name string, made map[string]struct{}) (*os.File, error) {
	parent := path.Dir(name)
	if _, ok := made[parent]; !ok {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return nil, err
		}
		made[parent] = struct{}{}
	}
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}
