package kept

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// A pack is values one after another, their index, and the tail: where the index
// begins, its checksum and a mark. An entry of the index is a value's key, where
// it begins, how long it is and its checksum.
const (
	entryBytes = len(Key{}) + 8 + 4 + 4
	tailBytes  = 8 + 4 + len(mark)
	mark       = "bdykept1"
)

var table = crc32.MakeTable(crc32.Castagnoli)

var errPack = errors.New("kept: not a pack, or a damaged one")

// place is where a value lies.
type place struct {
	pack   *pack
	offset int64
	size   uint32
	sum    uint32
}

// pack is a file or an object of values.
type pack struct {
	name string
	from interface {
		io.ReaderAt
		io.Closer
	}
	size    int64
	bytes   int64     // of its values, in a folder
	written time.Time // of an object
	old     bool      // it will go: what is used of it is put anew
}

// read reads a value into data, which has its size; false where it is damaged or
// gone.
func (p place) read(data []byte) bool {
	_, err := p.pack.from.ReadAt(data, p.offset)
	return err == nil && crc32.Checksum(data, table) == p.sum
}

// openPack opens a pack in a file and calls found with its values.
func openPack(name string, found func(Key, place)) (*pack, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		p := &pack{name: name, from: f, size: info.Size()}
		if err = p.readIndex(found); err == nil {
			return p, nil
		}
	}
	_ = f.Close()
	return nil, err
}

// readIndex calls found with the values of a pack.
func (p *pack) readIndex(found func(Key, place)) error {
	if p.size < int64(tailBytes) {
		return errPack
	}
	var tail [tailBytes]byte
	if _, err := p.from.ReadAt(tail[:], p.size-int64(tailBytes)); err != nil {
		return err
	}
	end := p.size - int64(tailBytes)
	begin := int64(binary.BigEndian.Uint64(tail[:]))
	if string(tail[12:]) != mark || begin < 0 || begin > end || (end-begin)%int64(entryBytes) != 0 {
		return errPack
	}
	p.bytes = begin
	index := make([]byte, end-begin)
	if _, err := p.from.ReadAt(index, begin); err != nil {
		return err
	}
	if crc32.Checksum(index, table) != binary.BigEndian.Uint32(tail[8:]) {
		return errPack
	}
	for ; len(index) > 0; index = index[entryBytes:] {
		k, at := p.entry(index)
		if at.offset < 0 || at.offset+int64(at.size) > begin {
			return errPack
		}
		found(k, at)
	}
	return nil
}

// entry reads what appendEntry wrote about a value of the pack.
func (p *pack) entry(b []byte) (Key, place) {
	rest := b[len(Key{}):]
	return Key(b), place{p, int64(binary.BigEndian.Uint64(rest)), binary.BigEndian.Uint32(rest[8:]), binary.BigEndian.Uint32(rest[12:])}
}

func appendEntry(b []byte, k Key, at place) []byte {
	b = binary.BigEndian.AppendUint64(append(b, k[:]...), uint64(at.offset))
	b = binary.BigEndian.AppendUint32(b, at.size)
	return binary.BigEndian.AppendUint32(b, at.sum)
}

// writer writes a pack to a file, where an object is put together, too.
type writer struct {
	file  *os.File
	size  int64
	index []byte
}

// create begins a pack in a folder, under a name that Open passes over.
func create(dir string) (*writer, error) {
	f, err := os.CreateTemp(dir, "*"+unfinished)
	if err != nil {
		return nil, err
	}
	return &writer{file: f}, nil
}

// add writes a value.
func (w *writer) add(k Key, data []byte) error {
	if _, err := w.file.Write(data); err != nil {
		return err
	}
	w.index = appendEntry(w.index, k, place{offset: w.size, size: uint32(len(data)), sum: crc32.Checksum(data, table)})
	w.size += int64(len(data))
	return nil
}

// fits reports whether the pack has at most limit bytes with one more value.
func (w *writer) fits(size int, limit int64) bool {
	return w.size+int64(size+len(w.index)+entryBytes+tailBytes) <= limit
}

// end writes what follows the values.
func (w *writer) end() error {
	tail := binary.BigEndian.AppendUint64(nil, uint64(w.size))
	tail = binary.BigEndian.AppendUint32(tail, crc32.Checksum(w.index, table))
	_, err := w.file.Write(append(append(w.index, tail...), mark...))
	return err
}

// finish ends the pack and renames it to what Open looks for.
func (w *writer) finish() error {
	err := w.end()
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	name := w.file.Name()
	if err == nil {
		err = os.Rename(name, name[:len(name)-len(unfinished)]+finished)
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}

// drop leaves the pack unwritten.
func (w *writer) drop() {
	_ = w.file.Close()
	_ = os.Remove(w.file.Name())
}
