package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/klauspost/compress/flate"
)

// Digest is a SHA-256.
type Digest = [sha256.Size]byte

// Row says where the data of a file is in an archive: in chunks, or inside a member
// with other files.
type Row struct {
	Path string
	// Size is in bytes, SHA256 the digest of the data.
	Size   int64
	SHA256 Digest
	// Stub reports a page that only leads elsewhere.
	Stub bool
	// Offset is that of the gzip member with the data in the archive.
	Offset int64
	// Chunks are the parts of a file that begins its member, one after another from
	// Offset on. With Tail after them they are a gzip member (RFC 1952) of this file
	// alone.
	Chunks []Chunk
	// CRC32 is that of the data of a file with Chunks.
	CRC32 uint32
	// Length is that of the member if the file does not begin it. Skip counts the bytes
	// before the data in the inflated member.
	Length, Skip int64
}

// Chunk is a part of a file in an archive. It inflates without the others.
type Chunk struct {
	// Length is in bytes of the archive, Size in bytes of the file.
	Length, Size int64
	// SHA256 is the digest of the bytes in the archive.
	SHA256 Digest
}

func rowOf(f File) (Row, error) {
	r := Row{Path: f.Path, Size: f.Size}
	if n, err := hex.Decode(r.SHA256[:], []byte(f.SHA256)); err != nil || n != len(r.SHA256) || len(f.SHA256) != 2*n {
		return r, fmt.Errorf("bundle: %q has no digest", f.Path)
	}
	return r, nil
}

// File returns the file's line of the list.
func (r *Row) File() File {
	return File{Path: r.Path, Size: r.Size, SHA256: hex.EncodeToString(r.SHA256[:])}
}

// Sent returns the length of the file's chunks in the archive together, in bytes.
func (r *Row) Sent() (n int64) {
	for i := range r.Chunks {
		n += r.Chunks[i].Length
	}
	return n
}

// lastBlock ends a deflate stream that was flushed: an empty block with fixed codes
// (RFC 1951, 3.2.6).
const lastBlock = "\x03\x00"

// TailBytes is the length of Tail.
const TailBytes = int64(len(lastBlock) + 8)

// Tail ends the chunks of a file as a gzip member does.
func (r *Row) Tail() []byte { return tailOf(r.CRC32, r.Size) }

func tailOf(crc uint32, size int64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(lastBlock), crc)
	return binary.LittleEndian.AppendUint32(b, uint32(size)) // modulo 2^32 (RFC 1952, 2.3.1)
}

// Flags of a row.
const (
	rowStub = 1 << iota
	rowChunks
	rowInside // of a member with other files
)

// Append adds the row to dst, as ReadRows reads it.
func (r *Row) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(r.Path)))
	return r.appendPlace(append(dst, r.Path...))
}

// appendPlace adds all but the path.
func (r *Row) appendPlace(dst []byte) []byte {
	flags := byte(0)
	if r.Stub {
		flags = rowStub
	}
	switch {
	case len(r.Chunks) > 0:
		flags |= rowChunks
	case r.Size > 0:
		flags |= rowInside
	}
	dst = binary.AppendUvarint(append(dst, flags), uint64(r.Size))
	dst = append(dst, r.SHA256[:]...)
	switch {
	case flags&rowChunks != 0:
		dst = binary.AppendUvarint(dst, uint64(r.Offset))
		dst = binary.LittleEndian.AppendUint32(dst, r.CRC32)
		dst = binary.AppendUvarint(dst, uint64(len(r.Chunks)))
		for i := range r.Chunks {
			c := &r.Chunks[i]
			dst = binary.AppendUvarint(dst, uint64(c.Length))
			dst = binary.AppendUvarint(dst, uint64(c.Size))
			dst = append(dst, c.SHA256[:]...)
		}
	case flags&rowInside != 0:
		dst = binary.AppendUvarint(dst, uint64(r.Offset))
		dst = binary.AppendUvarint(dst, uint64(r.Length))
		dst = binary.AppendUvarint(dst, uint64(r.Skip))
	}
	return dst
}

// errRow is of bytes that are no row.
var errRow = errors.New("bundle: a row of the index can't be read")

// rowReader takes values from the beginning of data.
type rowReader struct {
	data []byte
	err  error
}

func (r *rowReader) bytes(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.err, r.data = errRow, nil
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *rowReader) uint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > math.MaxInt64 {
		r.err, r.data = errRow, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *rowReader) int() int64 { return int64(r.uint()) }

func (r *rowReader) text() string { return string(r.bytes(r.uint())) }

func (r *rowReader) digest() (d Digest) {
	copy(d[:], r.bytes(sha256.Size))
	return d
}

// place reads what appendPlace wrote.
func (r *rowReader) place(row *Row) {
	flags := byte(0)
	if b := r.bytes(1); len(b) > 0 {
		flags = b[0]
	}
	row.Stub = flags&rowStub != 0
	row.Size, row.SHA256 = r.int(), r.digest()
	switch flags &^ rowStub {
	case 0:
		if row.Size != 0 {
			r.err = errRow
		}
	case rowChunks:
		row.Offset = r.int()
		if b := r.bytes(4); b != nil {
			row.CRC32 = binary.LittleEndian.Uint32(b)
		}
		n := r.uint()
		if n == 0 || n > uint64(len(r.data)/sha256.Size) { // a chunk has more bytes
			r.err = errRow
			return
		}
		row.Chunks = make([]Chunk, n)
		var size int64
		for i := range row.Chunks {
			c := Chunk{Length: r.int(), Size: r.int(), SHA256: r.digest()}
			if size += c.Size; r.err != nil || c.Size < 1 || c.Size > ChunkBytes || c.Length < 1 || c.Length > c.Size+c.Size/1000+chunkOverhead || size > row.Size {
				r.err = errRow
				return
			}
			row.Chunks[i] = c
		}
		if size != row.Size {
			r.err = errRow
		}
	case rowInside:
		row.Offset, row.Length, row.Skip = r.int(), r.int(), r.int()
		if row.Size < 1 || row.Size > followBytes || row.Skip > followBytes || row.Length < 1 || row.Length > maxMember {
			r.err = errRow
		}
	default:
		r.err = errRow
	}
}

// skipPlace passes over what appendPlace wrote.
func (r *rowReader) skipPlace() {
	flags := r.bytes(1)
	if len(flags) == 0 {
		return
	}
	r.uint()
	r.bytes(sha256.Size)
	switch flags[0] &^ rowStub {
	case rowChunks:
		r.uint()
		r.bytes(4)
		for n := r.uint(); n > 0 && r.err == nil; n-- {
			r.uint()
			r.uint()
			r.bytes(sha256.Size)
		}
	case rowInside:
		r.uint()
		r.uint()
		r.uint()
	}
}

// Bounds of what one row may have a reader load, so that a row that lies costs
// little.
const (
	// chunkOverhead is more than a chunk takes beside its data and a thousandth of that:
	// headers of stored blocks, and of the member.
	chunkOverhead = 1 << 10
	// maxChunk is the most that ChunkBytes take.
	maxChunk = ChunkBytes + ChunkBytes/1000 + chunkOverhead
	// maxMember is the most that a member with several files takes: one that
	// followBytes are in may get as many again, and headers.
	maxMember = 2*followBytes + 64<<10
)

// ReadRows reads rows as Row.Append wrote them. A row that can't be read ends it
// with an error.
func ReadRows(data []byte) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		r := &rowReader{data: data}
		for len(r.data) > 0 {
			row := Row{Path: r.text()}
			r.place(&row)
			if r.err != nil {
				yield(Row{}, r.err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Check compares the bytes of chunk i with their digest. The error is an *Error.
func (r *Row) Check(i int, sent []byte) error {
	if c := &r.Chunks[i]; int64(len(sent)) != c.Length || sha256.Sum256(sent) != c.SHA256 {
		return r.damaged()
	}
	return nil
}

// Inflate appends the data of chunk i to dst. sent are the chunk's bytes in the
// archive; their digest is compared before any of them is used.
func (r *Row) Inflate(dst []byte, i int, sent []byte) ([]byte, error) {
	c := &r.Chunks[i]
	if err := r.Check(i, sent); err != nil {
		return nil, err
	}
	if i == 0 {
		if len(sent) < len(gzipHeader) || string(sent[:len(gzipHeader)]) != gzipHeader {
			return nil, r.damaged()
		}
		sent = sent[len(gzipHeader):]
	}
	return r.inflate(dst, sent, 0, c.Size)
}

// InflateInside appends the data of a file without chunks to dst; member are the
// bytes of its member. The digest of the data is compared.
func (r *Row) InflateInside(dst, member []byte) ([]byte, error) {
	if int64(len(member)) != r.Length || len(member) < len(gzipHeader) || string(member[:len(gzipHeader)]) != gzipHeader {
		return nil, r.damaged()
	}
	before := len(dst)
	dst, err := r.inflate(dst, member[len(gzipHeader):], r.Skip, r.Size)
	if err == nil && sha256.Sum256(dst[before:]) != r.SHA256 {
		return nil, r.damaged()
	}
	return dst, err
}

// inflate appends size bytes after skip.
func (r *Row) inflate(dst, deflated []byte, skip, size int64) ([]byte, error) {
	in := flate.NewReader(bytes.NewReader(deflated))
	defer in.Close()
	if _, err := io.CopyN(io.Discard, in, skip); err != nil {
		return nil, r.damaged()
	}
	before := len(dst)
	dst = append(dst, make([]byte, size)...)
	if _, err := io.ReadFull(in, dst[before:]); err != nil {
		return nil, r.damaged()
	}
	return dst, nil
}

func (r *Row) damaged() error {
	return &Error{Fault: Corrupt, Path: r.Path, Message: "its bytes in the archive are not those of the index"}
}
