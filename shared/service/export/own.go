package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
)

// ownCut is how many files a unit of them has on average: a unit ends after a file
// whose name's hash is divisible by it, so that a file that is longer than in the
// export before moves no other unit's borders.
const ownCut = 24

// ownUnits writes files into units.
type ownUnits struct {
	ctx   context.Context
	steps *Steps
	kept  *kept.Store
	w     positioned
	note  func(bundle.File)
	// placed is called with the rows of a unit and the offset where it begins.
	placed func(rows []byte, offset int64)
	out    *bundle.Unit
	held   *heldUnit // in place of out, where what is compressed is kept
	begun  int64     // where out begins
	bytes  int
	// role is that of the files that are added next.
	role bundle.Role
}

// positioned is a writer that knows how many bytes it has taken.
type positioned interface {
	io.Writer
	position() int64
}

// add writes a file.
func (o *ownUnits) add(name string, data []byte) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if (o.out != nil || o.held != nil) && o.bytes+len(data) > unitBytes {
		if err := o.close(); err != nil {
			return err
		}
	}
	if err := o.put(name, data); err != nil {
		return err
	}
	o.bytes += len(data)
	if hashOf(name)%ownCut == 0 {
		return o.close()
	}
	return nil
}

func (o *ownUnits) put(name string, data []byte) (err error) {
	f := bundle.FileOf(name, data)
	role := roleOf(name, data, o.role)
	o.note(f)
	if o.kept != nil {
		if o.held == nil {
			o.held = o.steps.holding()
		}
		o.held.add(f, bundle.Epoch(), data, role)
		return nil
	}
	if o.out == nil {
		o.begun = o.w.position()
		if o.out, err = o.steps.units.Unit(o.w, bundle.Text); err != nil {
			return internal("a unit could not be written", err)
		}
	}
	return o.out.Put(f, bundle.Epoch(), data, role)
}

// close ends the unit that is being written.
func (o *ownUnits) close() (err error) {
	switch {
	case o.held != nil:
		data := o.steps.buffer()
		var rows []byte
		if rows, err = o.steps.compress(o.kept, o.held, o.steps.heldKey(o.held), data); err == nil {
			o.placed(rows, o.w.position())
			_, err = o.w.Write(data.Bytes())
		}
		o.steps.release(data)
		o.steps.release(o.held.data)
	case o.out != nil:
		if err = o.out.Close(); err == nil {
			o.placed(o.out.Rows(), o.begun)
		}
	}
	o.out, o.held, o.bytes = nil, nil, 0
	return err
}

// The sizes of the pieces that a text is compressed in.
const (
	leastPiece = 64 << 10
	mostPiece  = 1 << 20
	// pieceCut is how many headings there are on average before one at which a piece
	// ends.
	pieceCut = 8
)

// addText writes a Markdown text of a known size that need not fit into memory, in a
// member of its own, by pieces. The text alone decides where a piece ends, so that a page
// that changed costs its own piece.
func (o *ownUnits) addText(name string, size int64, r io.Reader) error {
	if err := o.close(); err != nil {
		return err
	}
	begun := o.w.position()
	f, err := o.steps.units.File(o.w, name, bundle.Epoch(), size)
	if err != nil {
		return err
	}
	err = eachPiece(r, func(piece []byte) error {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		return o.piece(f, piece)
	})
	if err != nil {
		return err
	}
	line, rows, err := f.Close()
	if err != nil {
		return err
	}
	o.note(line)
	o.placed(rows, begun)
	return nil
}

// piece writes a piece of a file.
func (o *ownUnits) piece(f *bundle.FileWriter, piece []byte) error {
	packed := o.steps.buffer()
	defer o.steps.release(packed)
	var key kept.Key
	if o.kept != nil {
		sum := sha256.Sum256(piece)
		key = o.steps.keyOf("piece", sum[:])
	}
	if o.kept == nil || !load(o.kept, key, packed) {
		if err := o.steps.units.Piece(packed, piece); err != nil {
			return internal("a unit could not be written", err)
		}
		if o.kept != nil {
			o.kept.Put(key, packed.Bytes())
		}
	}
	return f.Add(piece, packed.Bytes())
}

// eachPiece calls fn with a Markdown text in pieces. One ends before a line that
// begins as a page does, if the line's hash says so, or where it has no such line.
func eachPiece(r io.Reader, fn func(piece []byte) error) error {
	buf := make([]byte, 4*mostPiece)
	var text []byte // of buf: what was read and is in no piece yet
	for end := false; !end || len(text) > 0; {
		if len(text) < mostPiece && !end { // a piece ends where it would if all were there
			n := copy(buf, text)
			more, err := io.ReadFull(r, buf[n:])
			if end = err == io.EOF || err == io.ErrUnexpectedEOF; err != nil && !end {
				return err
			}
			text = buf[:n+more]
			continue
		}
		size := cutPiece(text[:min(len(text), mostPiece)])
		if err := fn(text[:size]); err != nil {
			return err
		}
		text = text[size:]
	}
	return nil
}

// cutPiece returns how long the first piece of a text is.
func cutPiece(text []byte) int {
	at := leastPiece
	for at < len(text) {
		next := bytes.Index(text[at:], []byte("\n# "))
		if next < 0 {
			break
		}
		at += next + 1
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		if hashOf(string(line))%pieceCut == 0 {
			return at
		}
	}
	return len(text)
}

// writeFull writes llms-full.txt as a stream of what the shards left.
func (s *Steps) writeFull(ctx context.Context, src *source, shards int, sums frame.FullSums, put *ownUnits) error {
	head := src.full.Head(sums)
	texts := &objectsReader{ctx: ctx, objects: s.opt.Objects}
	defer texts.Close()
	for n := 1; n <= shards; n++ {
		texts.keys = append(texts.keys, job.FullKey(src.input.Job.ID, n))
	}
	r := io.MultiReader(strings.NewReader(head), io.LimitReader(texts, sums.Bytes))
	return put.addText(frame.FullPath, int64(len(head))+sums.Bytes, r)
}
