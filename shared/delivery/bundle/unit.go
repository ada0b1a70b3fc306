package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Compression says how hard a unit is compressed.
type Compression int

// Compressions. Both make the same bytes of the same input everywhere, for
// one version of the compressor.
const (
	// Text is for pages, styles and other text. Level 3 takes three quarters of the
	// time of level 5; bundles of real sites are 3 to 9% larger.
	Text Compression = 3
	// Stored is for what is compressed already, such as pictures.
	Stored Compression = gzip.NoCompression
)

// Epoch is the time of files that have none of their own. Any fixed time would
// do, but some programs warn about files from 1970.
func Epoch() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// Writers makes units and keeps their compressors for the next ones: each has
// some hundred KiB of tables. The zero value is ready; it may be used by many
// goroutines.
type Writers struct{ text, stored sync.Pool }

// Unit writes one gzip member of a bundle. It is for one goroutine.
type Unit struct {
	pool *sync.Pool
	gz   *gzip.Writer
	tar  *tar.Writer
	sum  hash.Hash
	hex  [2 * sha256.Size]byte
	err  error
}

// Unit begins a member on w. Close or Finish must be called in the end. It
// returns an error for an unknown compression.
func (p *Writers) Unit(w io.Writer, level Compression) (*Unit, error) {
	pool := &p.text
	switch level {
	case Text:
	case Stored:
		pool = &p.stored
	default:
		return nil, fmt.Errorf("bundle: no compression %d", level)
	}
	gz, _ := pool.Get().(*gzip.Writer)
	if gz == nil {
		var err error
		if gz, err = gzip.NewWriterLevel(w, int(level)); err != nil {
			return nil, err
		}
	} else {
		gz.Reset(w)
	}
	return &Unit{pool: pool, gz: gz, tar: tar.NewWriter(gz), sum: sha256.New()}, nil
}

// Add writes one file and returns its line of the list. It returns an error for a
// closed unit, a name that can't be in an archive, and those of the writer.
func (u *Unit) Add(path string, modified time.Time, data []byte) (File, error) {
	if err := u.Put(path, modified, data); err != nil {
		return File{}, err
	}
	return FileOf(path, data), nil
}

// Put is Add for a file whose line is known already.
func (u *Unit) Put(path string, modified time.Time, data []byte) error {
	if err := u.header(path, modified, int64(len(data))); err != nil {
		return err
	}
	_, err := u.tar.Write(data)
	return u.fail(err)
}

// Member writes data as a gzip member of its own. Together with Header, a large file
// can be written in parts, each of which is compressed apart from the others: the
// first begins with the file's Header, and the last ends with its Padding.
func (p *Writers) Member(w io.Writer, level Compression, data []byte) error {
	u, err := p.Unit(w, level)
	if err != nil {
		return err
	}
	_, err = u.gz.Write(data)
	return u.end(err)
}

// Header returns what stands before the data of a file in the archive. It returns an
// error for a name that can't be in an archive.
func Header(path string, modified time.Time, size int64) ([]byte, error) {
	var b bytes.Buffer
	u := Unit{tar: tar.NewWriter(&b)}
	err := u.header(path, modified, size)
	return b.Bytes(), err
}

// blockSize is that of tar: data ends with a whole block (POSIX.1-2017, pax).
const blockSize = 512

// Padding returns what stands after the data of a file of this size.
func Padding(size int64) []byte { return make([]byte, -size&(blockSize-1)) }

// FileOf returns the line of a file with this data.
func FileOf(path string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{Path: path, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// AddFrom writes one file of size bytes, which it reads from r. Fewer or more
// bytes are an error, after which the unit can't be used.
func (u *Unit) AddFrom(path string, modified time.Time, size int64, r io.Reader) (File, error) {
	if err := u.header(path, modified, size); err != nil {
		return File{}, err
	}
	u.sum.Reset()
	n, err := io.Copy(io.MultiWriter(u.tar, u.sum), r)
	if err != nil {
		return File{}, u.fail(err)
	}
	if n != size {
		return File{}, u.fail(fmt.Errorf("bundle: %q gave %d bytes, not %d", path, n, size))
	}
	hex.Encode(u.hex[:], u.sum.Sum(nil))
	return File{Path: path, Size: size, SHA256: string(u.hex[:])}, nil
}

func (u *Unit) header(path string, modified time.Time, size int64) error {
	if u.err != nil {
		return u.err
	}
	if reason := unsafeName(path); reason != "" {
		return &Error{Fault: Unsafe, Path: path, Message: reason}
	}
	if modified.IsZero() || modified.Unix() < 0 {
		modified = Epoch()
	}
	return u.fail(u.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: path, Size: size, Mode: 0o644,
		ModTime: modified.UTC().Truncate(time.Second), Format: tar.FormatPAX,
	}))
}

func (u *Unit) fail(err error) error {
	if err != nil && u.err == nil {
		u.err = err
	}
	return err
}

// Close ends the member without ending the archive. It returns the first error
// of the unit.
func (u *Unit) Close() error {
	if u.gz == nil {
		return u.err
	}
	err := u.err
	if err == nil {
		err = u.tar.Flush() // pads the last entry
	}
	return u.end(err)
}

// Finish ends the member and the archive with it: two blocks of zeros.
// It returns the first error of the unit.
func (u *Unit) Finish() error {
	if u.gz == nil {
		return u.err
	}
	err := u.err
	if err == nil {
		err = u.tar.Close()
	}
	return u.end(err)
}

func (u *Unit) end(err error) error {
	if err == nil {
		err = u.gz.Close()
	}
	u.gz.Reset(io.Discard)
	u.pool.Put(u.gz)
	u.gz, u.tar, u.err = nil, nil, err
	if u.err == nil {
		u.err = fmt.Errorf("bundle: the unit is closed")
		return nil
	}
	return err
}
