package icons

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"sort"
	"strings"
	"sync"
)

// The file of one library is an index of blocks and then the blocks: names and
// drawings in order of name, a block compressed for itself. So one icon costs
// the decompression of some dozens, not of five thousand; a short-lived process
// pays for what it shows.
//
//	uvarint  count of blocks
//	each:    uvarint length of the first name, the name, uvarint length of the data
//	then the data of all blocks, in order; a block's text is lines of
//	name TAB drawing

// BlockNames is how many names a block holds.
const BlockNames = 64

// maxBlock bounds what a block may decompress to; ours are about 40 kB.
const maxBlock = 1 << 20

// Block is a run of names in order; Data is its compressed text.
type Block struct {
	First string
	Data  []byte
}

// Encode writes the file of a library.
func Encode(blocks []Block) []byte {
	b := binary.AppendUvarint(nil, uint64(len(blocks)))
	for _, k := range blocks {
		b = binary.AppendUvarint(b, uint64(len(k.First)))
		b = append(b, k.First...)
		b = binary.AppendUvarint(b, uint64(len(k.Data)))
	}
	for _, k := range blocks {
		b = append(b, k.Data...)
	}
	return b
}

var errArchive = errors.New("icons: damaged archive")

// decode reads the index of a file; the blocks stay compressed.
func decode(b []byte) ([]Block, error) {
	next := func() (int, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(len(b)) {
			return 0, false
		}
		b = b[n:]
		return int(v), true
	}
	count, ok := next()
	if !ok {
		return nil, errArchive
	}
	blocks := make([]Block, count)
	sizes := make([]int, count)
	for i := range blocks {
		n, ok := next()
		if !ok || n > len(b) {
			return nil, errArchive
		}
		blocks[i].First = string(b[:n])
		b = b[n:]
		if sizes[i], ok = next(); !ok {
			return nil, errArchive
		}
	}
	for i := range blocks {
		if sizes[i] > len(b) {
			return nil, errArchive
		}
		blocks[i].Data, b = b[:sizes[i]], b[sizes[i]:]
	}
	return blocks, nil
}

// library is one file, its blocks read as they are asked for.
type library struct {
	file   []byte
	once   sync.Once
	blocks []Block

	mu   sync.Mutex
	open map[int]map[string]string
}

// add puts the names of all entries into a set.
func (l *library) add(set map[string]struct{}) {
	blocks, _ := decode(l.file)
	for _, b := range blocks {
		for name := range b.names() {
			name, _, _ = strings.Cut(name, ":") // of a style
			set[name] = struct{}{}
		}
	}
}

// get returns the entry of exactly this name.
func (l *library) get(name string) (string, bool) {
	l.once.Do(func() {
		// The embedded files are checked by a test; a damaged one has no icons.
		l.blocks, _ = decode(l.file)
		l.open = map[int]map[string]string{}
	})
	i := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].First > name }) - 1
	if i < 0 {
		return "", false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	names, ok := l.open[i]
	if !ok {
		names = l.blocks[i].names()
		l.open[i] = names
	}
	s, ok := names[name]
	return s, ok
}

func (k Block) names() map[string]string {
	m := make(map[string]string, BlockNames)
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(k.Data)), maxBlock))
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(text)) {
		if name, entry, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			m[name] = entry
		}
	}
	return m
}
