package export

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/bindery-docs/bindery/shared/service/kept"
)

// A shard whose units lie in a folder of kept values already need not write them once
// more: with Options.ByReference its object has refsMark and then frames, each the
// size of what follows, or 0, the key of a kept value and its size. No gzip member
// begins with the mark, so that the object tells what it is.
const refsMark = "units\n"

// unitsOut is where the units of a shard go.
type unitsOut struct {
	w    io.Writer
	refs bool  // in frames
	n    int64 // bytes of the archive so far
}

// newUnitsOut returns what writes units to w, in frames where refs is set.
func newUnitsOut(w io.Writer, refs bool) (*unitsOut, error) {
	if refs {
		if _, err := io.WriteString(w, refsMark); err != nil {
			return nil, err
		}
	}
	return &unitsOut{w: w, refs: refs}, nil
}

// Write implements io.Writer.
func (o *unitsOut) Write(p []byte) (int, error) {
	if o.refs && len(p) > 0 {
		if _, err := o.w.Write(binary.AppendUvarint(nil, uint64(len(p)))); err != nil {
			return 0, err
		}
	}
	n, err := o.w.Write(p)
	o.n += int64(n)
	return n, err
}

// refer writes a unit that is a kept value.
func (o *unitsOut) refer(key kept.Key, size int) error {
	frame := append([]byte{0}, key[:]...)
	_, err := o.w.Write(binary.AppendUvarint(frame, uint64(size)))
	o.n += int64(size)
	return err
}

// unitsIn reads what unitsOut wrote as the archive has it.
type unitsIn struct {
	body   io.Closer
	in     *bufio.Reader
	values *kept.Store
	left   int64  // of a frame
	buf    []byte // of a kept value
	value  []byte // what is left of it
}

// openUnits returns what reads the units in body, which it closes at the end, from an
// offset in the archive. An object of units that are not in frames is read as it is.
func openUnits(body io.ReadCloser, values *kept.Store, from int64) (io.ReadCloser, error) {
	in := bufio.NewReaderSize(body, streamBuffer)
	u := &unitsIn{body: body, in: in, values: values}
	var out io.Reader = u
	if mark, err := in.Peek(len(refsMark)); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, body.Close())
	} else if string(mark) == refsMark {
		_, _ = in.Discard(len(refsMark))
	} else {
		out = in
	}
	if _, err := io.CopyN(io.Discard, out, from); err != nil {
		return nil, errors.Join(fmt.Errorf("units from byte %d: %w", from, err), body.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{out, body}, nil
}

// errRefs is of frames that nobody wrote.
var errRefs = errors.New("export: broken frames of units")

// Read implements io.Reader. It fails with a *staleError where a kept value can't be
// read.
func (u *unitsIn) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if len(u.value) > 0 {
			n := copy(p, u.value)
			u.value = u.value[n:]
			return n, nil
		}
		if u.left > 0 {
			n, err := u.in.Read(p[:min(int64(len(p)), u.left)])
			u.left -= int64(n)
			if errors.Is(err, io.EOF) {
				err = errRefs
			}
			return n, err
		}
		if n, err := u.next(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

// next begins the next frame. A kept value that fits is read into p, and n is its
// size then. The error is io.EOF after the last frame.
func (u *unitsIn) next(p []byte) (n int, err error) {
	if _, err := u.in.Peek(1); err != nil {
		return 0, err
	}
	size, err := binary.ReadUvarint(u.in)
	if err != nil || size > 1<<62 {
		return 0, errors.Join(errRefs, err)
	}
	if u.left = int64(size); size > 0 {
		return 0, nil
	}
	var key kept.Key
	if _, err := io.ReadFull(u.in, key[:]); err != nil {
		return 0, errors.Join(errRefs, err)
	}
	if size, err = binary.ReadUvarint(u.in); err != nil {
		return 0, errors.Join(errRefs, err)
	}
	into := u.buf
	if size <= uint64(len(p)) {
		into = p
	}
	value, ok := u.values.Append(into[:0:len(into)], key)
	if !ok || uint64(len(value)) != size {
		return 0, &staleError{key}
	}
	if size <= uint64(len(p)) {
		return len(value), nil
	}
	u.buf, u.value = value[:cap(value)], value
	return 0, nil
}
