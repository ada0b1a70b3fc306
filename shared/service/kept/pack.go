package kept

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
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

// pack is a file of values.
type pack struct {
	name string
	file *os.File
	size int64
}

// read returns a value; false where it is damaged or gone.
func (p place) read() ([]byte, bool) {
	data := make([]byte, p.size)
	if _, err := p.pack.file.ReadAt(data, p.offset); err != nil {
		return nil, false
	}
	return data, crc32.Checksum(data, table) == p.sum
}

// openPack opens a pack and calls found with its values.
func openPack(name string, found func(Key, place)) (*pack, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	p := &pack{name: name, file: f}
	if err := p.readIndex(found); err != nil {
		_ = f.Close()
		return nil, err
	}
	return p, nil
}

func (p *pack) readIndex(found func(Key, place)) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	if p.size = info.Size(); p.size < int64(tailBytes) {
		return errPack
	}
	var tail [tailBytes]byte
	if _, err := p.file.ReadAt(tail[:], p.size-int64(tailBytes)); err != nil {
		return err
	}
	end := p.size - int64(tailBytes)
	begin := int64(binary.BigEndian.Uint64(tail[:]))
	if string(tail[12:]) != mark || begin < 0 || begin > end || (end-begin)%int64(entryBytes) != 0 {
		return errPack
	}
	index := make([]byte, end-begin)
	if _, err := p.file.ReadAt(index, begin); err != nil {
		return err
	}
	if crc32.Checksum(index, table) != binary.BigEndian.Uint32(tail[8:]) {
		return errPack
	}
	for ; len(index) > 0; index = index[entryBytes:] {
		rest := index[len(Key{}):]
		at := place{p, int64(binary.BigEndian.Uint64(rest)), binary.BigEndian.Uint32(rest[8:]), binary.BigEndian.Uint32(rest[12:])}
		if at.offset < 0 || at.offset+int64(at.size) > begin {
			return errPack
		}
		found(Key(index), at)
	}
	return nil
}

// writer writes a pack.
type writer struct {
	pack
	index []byte
}

// create begins a pack in a folder, under a name that Open passes over.
func create(dir string) (*writer, error) {
	f, err := os.CreateTemp(dir, "*"+unfinished)
	if err != nil {
		return nil, err
	}
	return &writer{pack: pack{name: f.Name(), file: f}}, nil
}

// add writes a value.
func (w *writer) add(k Key, data []byte) error {
	if _, err := w.file.Write(data); err != nil {
		return err
	}
	at := place{offset: w.size, size: uint32(len(data)), sum: crc32.Checksum(data, table)}
	w.index = append(w.index, k[:]...)
	w.index = binary.BigEndian.AppendUint64(w.index, uint64(at.offset))
	w.index = binary.BigEndian.AppendUint32(w.index, at.size)
	w.index = binary.BigEndian.AppendUint32(w.index, at.sum)
	w.size += int64(len(data))
	return nil
}

// finish ends the pack and renames it to what Open looks for.
func (w *writer) finish() error {
	tail := binary.BigEndian.AppendUint64(nil, uint64(w.size))
	tail = binary.BigEndian.AppendUint32(tail, crc32.Checksum(w.index, table))
	_, err := w.file.Write(append(append(w.index, tail...), mark...))
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(w.name, w.name[:len(w.name)-len(unfinished)]+finished)
	}
	if err != nil {
		_ = os.Remove(w.name)
	}
	return err
}
