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
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/bindery-docs/bindery/shared/base/json"
)

// Limits of what is read.
type Limits struct {
	// Files is the most files of a bundle; 0 means 1,000,000: three for each
	// of 200,000 pages and as many static files again.
	Files int
	// Bytes is the most bytes of all files; 0 means 20 GiB, the limit of an
	// export.
	Bytes int64
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
		l.Bytes = 20 << 30
	}
	return l
}

// Entry is one file of a bundle as it is read.
type Entry struct {
	Path     string
	Size     int64 // in bytes
	Modified time.Time
}

// Check reads a whole bundle and verifies it: every file against the list, the
// lists against the description, no name twice (also not in another case), none
// unsafe, nothing missing, nothing after the end. The error is an *Error where
// the bundle is at fault, else what r or ctx said.
func Check(ctx context.Context, r io.Reader, limits Limits) (*Info, error) {
	return Read(ctx, r, limits, nil)
}

// Read is Check, and hands every file to fn as it comes, the lists and the
// description included. What fn is given is verified only when Read has
// returned without an error. fn need not read a file to its end; the error it
// returns ends Read. It may be nil.
func Read(ctx context.Context, r io.Reader, limits Limits, fn func(e Entry, data io.Reader) error) (*Info, error) {
	c := &checker{limits: limits.withDefaults(), fn: fn, seen: make(map[string]struct{})}
	source := &sourceReader{ctx: ctx, r: r}
	buffered := bufio.NewReaderSize(source, 64<<10)
	err := c.run(ctx, buffered)
	switch {
	case source.err != nil: // what the source or the context said comes first
		return nil, source.err
	case err != nil:
		return nil, err
	}
	return c.info, nil
}

// sourceReader remembers the source's own error, to distinguish it from the
// faults of a bundle, and stops when the context ends.
type sourceReader struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.r.Read(p)
	// A connection that broke reports an unexpected end; so does a file that
	// was cut when something above counts bytes. Both are the source's word.
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
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
}

func (c *checker) run(ctx context.Context, r *bufio.Reader) error {
	if _, err := r.Peek(1); err == io.EOF {
		return &Error{Fault: Truncated, Message: "the file is empty"}
	}
	gz, err := gzip.NewReader(r)
	if err != nil {
		return formatError(err, "")
	}
	defer gz.Close()
	// A few bytes can unfold into any number: entries are counted as they
	// come, what is between them here.
	unpacked := &boundedReader{r: gz, left: c.limits.Bytes + int64(c.limits.Files)*entryOverhead + MaxInfoBytes + maxPadding}
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
		if err := c.entry(h, tr); err != nil {
			return err
		}
	}
	if c.info == nil {
		return &Error{Fault: Truncated, Message: "the description " + InfoPath + " is missing at the end"}
	}
	// Behind the blocks of zeros there may only be more zeros.
	buf := make([]byte, 32<<10)
	for padding := 0; ; {
		n, err := unpacked.Read(buf)
		if padding += n; padding > maxPadding {
			return &Error{Fault: Corrupt, Message: "the zeros after the archive do not end"}
		}
		if len(bytes.Trim(buf[:n], "\x00")) > 0 {
			return &Error{Fault: Corrupt, Message: "there is data after the end of the archive"}
		}
		if err == io.EOF {
			return c.finish()
		}
		if err != nil {
			return formatError(err, "")
		}
	}
}

// formatError distinguishes a bundle that was cut from one that was changed.
func formatError(err error, name string) error {
	var own *Error
	if errors.As(err, &own) {
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
		c.info = info
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

// Unpack writes a bundle's files into dir, which is made if it is not there
// and must be empty. No name can leave dir. Only when Unpack returns without
// an error are the files verified; after an error, what was written may be a
// part and is for the caller to remove.
func Unpack(ctx context.Context, r io.Reader, dir string, limits Limits) (*Info, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("the folder %s is not empty", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	made := map[string]struct{}{".": {}}
	return Read(ctx, r, limits, func(e Entry, data io.Reader) error {
		if parent := path.Dir(e.Path); parent != "." {
			if _, ok := made[parent]; !ok {
				if err := root.MkdirAll(parent, 0o755); err != nil {
					return err
				}
				made[parent] = struct{}{}
			}
		}
		f, err := root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
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
