package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"
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
	Stored Compression = flate.NoCompression
)

// Epoch is the time of files that have none of their own. Any fixed time would
// do, but some programs warn about files from 1970.
func Epoch() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// Sizes that decide where a member ends, in bytes before compression.
const (
	// ChunkBytes is the most that one chunk of a file has. A reader of the archive
	// holds a chunk in memory.
	ChunkBytes = 1 << 20
	// leadBytes is the size of a file that begins a member, and of a member that the
	// next file doesn't join. Small files compress better together: with 16 KiB, the
	// archives of real sites grow by 2 to 3%, with a member for each file by 4 to 17%.
	leadBytes = 16 << 10
	// followBytes is leadBytes for a Copy. It bounds what must be
	// inflated for one of them.
	followBytes = 128 << 10
)

// Writers makes units. It holds compressors for the next ones, which have some
// hundred KiB of tables each. The zero value is ready; it may be used by many
// goroutines.
type Writers struct{ text, stored sync.Pool }

// Unit writes files as gzip members, and the rows of the index that say where each
// file is. It is for one goroutine.
//
// A member begins with the data of a file: its first bytes, up to the flush after
// that data, are what a server sends as the gzip form of the file (Row.Tail ends
// it). The header of the next file, and small files, follow in the same member.
type Unit struct {
	pool *sync.Pool
	m    memberWriter
	tar  *tar.Writer // on m
	sum  hash.Hash
	err  error

	rows    []byte
	pending []Row // of files that begin no member, until the member ends
}

// Unit begins a unit on w. Close or Finish must be called in the end. It
// returns an error for an unknown compression.
func (p *Writers) Unit(w io.Writer, level Compression) (*Unit, error) {
	u := &Unit{sum: sha256.New()}
	if err := p.member(&u.m, w, level); err != nil {
		return nil, err
	}
	u.pool, u.tar = p.pool(level), tar.NewWriter(&u.m)
	return u, nil
}

func (p *Writers) pool(level Compression) *sync.Pool {
	if level == Stored {
		return &p.stored
	}
	return &p.text
}

// member prepares a memberWriter.
func (p *Writers) member(m *memberWriter, w io.Writer, level Compression) (err error) {
	if level != Text && level != Stored {
		return fmt.Errorf("bundle: no compression %d", level)
	}
	m.w, m.sum = w, sha256.New()
	if m.flate, _ = p.pool(level).Get().(*flate.Writer); m.flate == nil {
		m.flate, err = flate.NewWriter(io.Discard, int(level))
	}
	return err
}

// Add writes one file and returns its line of the list. It returns an error for a
// closed unit, a name that can't be in an archive, and those of the writer.
func (u *Unit) Add(path string, modified time.Time, data []byte) (File, error) {
	f := FileOf(path, data)
	return f, u.Put(f, modified, data, Plain)
}

// Role decides whether a file shares a member with those before it.
type Role int

// Roles.
const (
	Plain Role = iota
	// Copy is a file that repeats text of files before it, and that few readers ask for,
	// such as the Markdown copy of a page: they share a member.
	Copy
	// Stub is a page that only leads elsewhere.
	Stub
)

// Put is Add for a file with a line that is known already.
func (u *Unit) Put(f File, modified time.Time, data []byte, role Role) error {
	if err := u.header(f.Path, modified, int64(len(data))); err != nil {
		return err
	}
	row, err := rowOf(f)
	row.Stub = role == Stub
	lead := int64(leadBytes)
	if role == Copy {
		lead = followBytes
	}
	if err == nil {
		err = u.data(&row, lead, func(n int64) error {
			_, err := u.tar.Write(data[:n])
			data = data[n:]
			return err
		})
	}
	return u.fail(err)
}

// AddFrom writes one file of size bytes, which it reads from r, in a member of its
// own. Fewer or more bytes are an error, after which the unit can't be used.
func (u *Unit) AddFrom(path string, modified time.Time, size int64, r io.Reader) (File, error) {
	if err := u.header(path, modified, size); err != nil {
		return File{}, err
	}
	u.sum.Reset()
	row := Row{Path: path, Size: size}
	both := io.MultiWriter(u.tar, u.sum)
	short := func(n int64) error { return fmt.Errorf("bundle: %q gave %d bytes, not %d", path, n, size) }
	var read int64
	err := u.data(&row, 0, func(n int64) error {
		got, err := io.CopyN(both, r, n)
		if read += got; err == io.EOF {
			return short(read)
		}
		return err
	})
	if err == nil {
		var more [1]byte
		switch n, failed := io.ReadFull(r, more[:]); {
		case n > 0:
			err = short(size + 1)
		case failed != io.EOF:
			err = failed
		}
	}
	if err != nil {
		return File{}, u.fail(err)
	}
	u.sum.Sum(row.SHA256[:0])
	if n := len(u.pending); n > 0 {
		u.pending[n-1].SHA256 = row.SHA256
	}
	return File{Path: path, Size: size, SHA256: hex.EncodeToString(row.SHA256[:])}, nil
}

// data writes the data of a file, which write writes n bytes of, and notes its row.
// A file begins a member if it has at least lead bytes, or the member has.
func (u *Unit) data(row *Row, lead int64, write func(n int64) error) error {
	if row.Size == 0 {
		u.pending = append(u.pending, *row)
		return nil
	}
	if u.m.open && row.Size < lead && u.m.plain < lead && u.m.data {
		row.Skip = u.m.plain
		err := write(row.Size)
		u.pending = append(u.pending, *row)
		return err
	}
	if err := u.endMember(); err != nil {
		return err
	}
	row.Offset = u.m.n
	for left := row.Size; left > 0; {
		n := min(left, ChunkBytes)
		u.m.beginChunk(left < row.Size)
		if err := write(n); err != nil {
			return err
		}
		c, err := u.m.endChunk()
		if err != nil {
			return err
		}
		c.Size = n
		row.Chunks = append(row.Chunks, c)
		left -= n
	}
	row.CRC32 = u.m.crc
	u.pending = append(u.pending, *row)
	return nil
}

// endMember ends the member that is open, if one is, and writes the rows of its
// files.
func (u *Unit) endMember() error {
	start := u.m.start
	if err := u.m.end(); err != nil {
		return err
	}
	for i := range u.pending {
		r := &u.pending[i]
		if r.Size > 0 && r.Chunks == nil {
			r.Offset, r.Length = start, u.m.n-start
		}
		u.rows = r.Append(u.rows)
	}
	u.pending = u.pending[:0]
	return nil
}

// Rows returns the rows of all files of a unit that is closed, with offsets from
// the unit's beginning. ReadRows reads them.
func (u *Unit) Rows() []byte { return u.rows }

// FileOf returns the line of a file with this data.
func FileOf(path string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{Path: path, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

func (u *Unit) header(path string, modified time.Time, size int64) error {
	if u.err != nil {
		return u.err
	}
	h, err := headerOf(path, modified, size)
	if err != nil {
		return err
	}
	return u.fail(u.tar.WriteHeader(h))
}

func headerOf(path string, modified time.Time, size int64) (*tar.Header, error) {
	if reason := unsafeName(path); reason != "" {
		return nil, &Error{Fault: Unsafe, Path: path, Message: reason}
	}
	if modified.IsZero() || modified.Unix() < 0 {
		modified = Epoch()
	}
	return &tar.Header{
		Typeflag: tar.TypeReg, Name: path, Size: size, Mode: 0o644,
		ModTime: modified.UTC().Truncate(time.Second), Format: tar.FormatPAX,
	}, nil
}

func (u *Unit) fail(err error) error {
	if err != nil && u.err == nil {
		u.err = err
	}
	return err
}

// Close ends the unit without ending the archive. It returns the first error
// of the unit.
func (u *Unit) Close() error { return u.end((*tar.Writer).Flush) } // which pads the last entry

// Finish ends the unit and the archive with it: two blocks of zeros.
// It returns the first error of the unit.
func (u *Unit) Finish() error { return u.end((*tar.Writer).Close) }

func (u *Unit) end(last func(*tar.Writer) error) error {
	if u.m.flate == nil {
		return u.err
	}
	err := u.err
	if err == nil {
		err = last(u.tar)
	}
	if err == nil {
		err = u.endMember()
	}
	u.pool.Put(u.m.flate)
	u.m.flate, u.tar, u.err = nil, nil, err
	if u.err == nil {
		u.err = fmt.Errorf("bundle: the unit is closed")
	}
	return err
}

// blockSize is that of tar: data ends with a whole block (POSIX.1-2017, pax).
const blockSize = 512

// FileWriter writes one large file from pieces that are compressed apart from each
// other, each of them a chunk, so that a piece that was compressed before can be
// used once more. It is for one goroutine.
type FileWriter struct {
	p   *Writers
	m   memberWriter
	row Row
	sum hash.Hash
}

// File begins a file of size bytes on w.
func (p *Writers) File(w io.Writer, path string, modified time.Time, size int64) (*FileWriter, error) {
	f := &FileWriter{p: p, row: Row{Path: path, Size: size}, sum: sha256.New()}
	before, err := p.headerMember(w, path, modified, size)
	if err != nil {
		return nil, err
	}
	f.m.w, f.m.sum, f.m.n, f.row.Offset = w, sha256.New(), before, before
	f.m.beginChunk(false)
	err = f.m.head()
	return f, err
}

// Piece appends to dst what Add takes of a piece of at most ChunkBytes.
func (p *Writers) Piece(dst *bytes.Buffer, piece []byte) error {
	var m memberWriter
	if err := p.member(&m, dst, Text); err != nil {
		return err
	}
	m.flate.Reset(dst)
	_, err := m.flate.Write(piece)
	if err == nil {
		err = m.flate.Flush()
	}
	p.text.Put(m.flate)
	return err
}

// Add writes the next piece, as Piece compressed it.
func (f *FileWriter) Add(piece, compressed []byte) error {
	f.m.count(piece)
	f.sum.Write(piece)
	if len(f.row.Chunks) > 0 { // the first has the member's header
		f.m.beginChunk(false)
	}
	if _, err := f.m.emit(compressed); err != nil {
		return err
	}
	c := f.m.chunk()
	c.Size = int64(len(piece))
	f.row.Chunks = append(f.row.Chunks, c)
	return nil
}

// Close ends the file and returns its line of the list and its row, with an offset
// from the file's beginning on w. It fails if the pieces do not add up to the size of
// the file.
func (f *FileWriter) Close() (File, []byte, error) {
	if f.m.plain != f.row.Size {
		return File{}, nil, fmt.Errorf("bundle: %q gave %d bytes, not %d", f.row.Path, f.m.plain, f.row.Size)
	}
	f.sum.Sum(f.row.SHA256[:0])
	f.row.CRC32 = f.m.crc
	var end bytes.Buffer
	if pad := make([]byte, -f.row.Size&(blockSize-1)); len(pad) > 0 {
		f.m.count(pad)
		if err := f.p.Piece(&end, pad); err != nil {
			return File{}, nil, err
		}
	}
	end.Write(tailOf(f.m.crc, f.m.plain))
	_, err := f.m.emit(end.Bytes())
	line := File{Path: f.row.Path, Size: f.row.Size, SHA256: hex.EncodeToString(f.row.SHA256[:])}
	return line, f.row.Append(nil), err
}

// memberWriter writes gzip members (RFC 1952) and counts what it writes.
type memberWriter struct {
	w     io.Writer
	n     int64 // bytes written
	flate *flate.Writer
	open  bool
	start int64 // where the member begins
	// data reports that the member begins with the data of a file. The first of a unit
	// has a header alone.
	data    bool
	plain   int64  // bytes of the member before compression
	crc     uint32 // of these
	sum     hash.Hash
	hashing bool
	from    int64 // where the chunk begins
}

// Write implements io.Writer: it compresses p.
func (m *memberWriter) Write(p []byte) (int, error) {
	if err := m.begin(); err != nil {
		return 0, err
	}
	m.count(p)
	return m.flate.Write(p)
}

func (m *memberWriter) count(p []byte) {
	m.crc = crc32.Update(m.crc, crc32.IEEETable, p)
	m.plain += int64(len(p))
}

// emit writes p as it is.
func (m *memberWriter) emit(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.n += int64(n)
	if m.hashing {
		m.sum.Write(p[:n])
	}
	return n, err
}

// emitter is the writer of a compressor.
type emitter struct{ *memberWriter }

func (e emitter) Write(p []byte) (int, error) { return e.emit(p) }

func (m *memberWriter) begin() error {
	if m.open {
		return nil
	}
	err := m.head()
	m.flate.Reset(emitter{m})
	return err
}

// gzipHeader begins each member: deflate, no flags, no time, an unknown system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// head writes the header of a member.
func (m *memberWriter) head() error {
	m.open, m.start, m.plain, m.crc = true, m.n, 0, 0
	_, err := m.emit([]byte(gzipHeader))
	return err
}

// beginChunk begins a chunk. apart has it need nothing of what was compressed
// before; the compressor must have been flushed.
func (m *memberWriter) beginChunk(apart bool) {
	m.sum.Reset()
	m.hashing, m.data, m.from = true, true, m.n
	if apart {
		m.flate.Reset(emitter{m})
	}
}

// endChunk ends a chunk.
func (m *memberWriter) endChunk() (Chunk, error) {
	err := m.flate.Flush()
	return m.chunk(), err
}

func (m *memberWriter) chunk() (c Chunk) {
	c.Length = m.n - m.from
	m.sum.Sum(c.SHA256[:0])
	m.hashing = false
	return c
}

// end ends the member that is open, if one is.
func (m *memberWriter) end() error {
	if !m.open {
		return nil
	}
	m.open, m.data, m.hashing = false, false, false
	if err := m.flate.Close(); err != nil {
		return err
	}
	_, err := m.emit(tailOf(m.crc, m.plain)[len(lastBlock):])
	return err
}
