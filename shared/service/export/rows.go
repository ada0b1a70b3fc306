package export

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// maxRows is the most bytes that the rows of a shard may have.
const maxRows = 1 << 30

// placedUnit is the rows of a unit that begins at offset in the archive.
type placedUnit struct {
	rows   []byte
	offset int64
}

// placedRows are the rows of an archive, in its order.
type placedRows struct{ units []placedUnit }

// add adds the rows of a unit.
func (p *placedRows) add(rows []byte, offset int64) {
	p.units = append(p.units, placedUnit{rows, offset})
}

// appendPlaced adds the rows of a unit to those of its shard, with the offset where it
// begins in the shard's part of the archive.
func appendPlaced(dst, rows []byte, offset int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(offset))
	return append(binary.AppendUvarint(dst, uint64(len(rows))), rows...)
}

// addShard adds what appendPlaced wrote for a shard that begins at offset.
func (p *placedRows) addShard(data []byte, offset int64) error {
	for len(data) > 0 {
		at, n := binary.Uvarint(data)
		size, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 || size > uint64(len(data)-n-m) {
			return internal("the rows of a shard can't be read", errors.New("export: broken frames of rows"))
		}
		data = data[n+m:]
		p.add(data[:size], offset+int64(at))
		data = data[size:]
	}
	return nil
}

// listBytes is the size of what lines reads.
func (p *placedRows) listBytes() int64 {
	n, _ := io.Copy(io.Discard, p.lines()) // the rows were read before, so that none fails here alone
	return n
}

// lines reads the list of files. Large sites have some hundred thousand lines: they are
// written as they are read.
func (p *placedRows) lines() io.Reader { return &lineReader{units: p.units} }

type lineReader struct {
	units []placedUnit
	buf   []byte
	left  []byte // of buf
}

// Read implements io.Reader.
func (l *lineReader) Read(b []byte) (int, error) {
	for len(l.left) == 0 {
		if len(l.units) == 0 {
			return 0, io.EOF
		}
		l.buf = l.buf[:0]
		for row, err := range bundle.ReadRows(l.units[0].rows) {
			if err != nil {
				return 0, internal("the rows of a unit can't be read", err)
			}
			l.buf = row.File().AppendLine(l.buf)
		}
		l.units, l.left = l.units[1:], l.buf
	}
	n := copy(b, l.left)
	l.left = l.left[n:]
	return n, nil
}
