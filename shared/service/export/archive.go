package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// moreError ends the writing of a bundle that another call goes on with.
type moreError struct{ parts int } // that are stored

func (*moreError) Error() string { return "the bundle takes another call" }

// partsAtOnce is how many parts of a bundle are on their way at the same time.
const partsAtOnce = 2

// archive writes a bundle. One that fits into a part goes up whole. A larger one
// goes up in parts, and a record says how far it is, so that a call that ends
// before the bundle does costs a few parts: the next one makes the same bytes,
// leaves out those that are stored, and goes on. The units, which are most of a
// bundle, it need not even read again (skip).
type archive struct {
	ctx  context.Context
	s    *Steps
	job  string
	size int64 // of all units

	n    int64 // written so far, what was left out included
	end  int64 // where the last unit began
	sum  hash.Hash
	part []byte // the part that is being filled

	// state is how far the bundle is and what is noted of that; known reports that
	// it was looked up.
	known    bool
	state    admin.Assembly
	revision int64
	wrote    int // parts, in this call
	sending  errgroup.Group
	sent     []*store.Part // on their way, after those of state
	slots    chan []byte   // a buffer for each part that may be on its way
	// gone reports that the upload no longer exists.
	gone atomic.Bool
}

func (s *Steps) newArchive(ctx context.Context, id string, unitBytes int64) *archive {
	a := &archive{ctx: ctx, s: s, job: id, size: unitBytes, sum: sha256.New(), slots: make(chan []byte, partsAtOnce)}
	for range partsAtOnce {
		a.slots <- nil
	}
	a.part = make([]byte, 0, min(unitBytes+unitBytes/4+1<<20, s.opt.PartBytes)) // what comes after the units is about a quarter
	return a
}

// skip looks up how far the bundle is and returns how many bytes of the units need
// not be written: they are in parts that are stored.
func (a *archive) skip() (int64, error) {
	if a.size < a.s.opt.PartBytes {
		return 0, nil // whether there is a record, the first full part shows
	}
	if err := a.resume(); err != nil {
		return 0, err
	}
	a.n = min(a.state.Bytes(), a.size)
	return a.n, nil
}

// resume reads how far the bundle is.
func (a *archive) resume() (err error) {
	if a.known {
		return nil
	}
	if a.state, a.revision, err = a.s.opt.Admin.Assembly(a.ctx, a.job); err != nil {
		return err
	}
	a.known = true
	if a.state.Upload != "" && (a.state.Units != a.size || a.state.PartBytes != a.s.opt.PartBytes) {
		return a.forget()
	}
	if len(a.state.Parts) > 0 {
		a.part = a.part[:0]
		return a.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(a.state.Digest)
	}
	return nil
}

// forget drops what is stored of the bundle: it is of another one, or gone.
func (a *archive) forget() error {
	if err := a.s.opt.Objects.AbortUpload(a.ctx, job.BundleKey(a.job), a.state.Upload); err != nil {
		return err
	}
	a.state = admin.Assembly{}
	return a.note()
}

func (a *archive) note() (err error) {
	a.revision, err = a.s.opt.Admin.NoteAssembly(a.ctx, a.job, a.state, a.revision)
	return err
}

// position returns the number of bytes of the archive so far.
func (a *archive) position() int64 { return a.n }

// Write implements io.Writer. The error is a *moreError where the next call goes on.
func (a *archive) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		if n := a.pass(len(p)); n > 0 {
			p = p[n:]
			continue
		}
		n := copy(a.room(), p)
		p = p[n:]
		if err := a.filled(n); err != nil {
			return size - len(p), err
		}
	}
	return size, nil
}

// ReadFrom implements io.ReaderFrom: what is read goes straight into the part.
func (a *archive) ReadFrom(r io.Reader) (read int64, _ error) {
	for {
		room := a.room()
		n, err := r.Read(room)
		read += int64(n)
		passed := a.pass(n)
		if filled := a.filled(copy(room, room[passed:n])); filled != nil {
			return read, filled
		}
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// pass returns how many of the next n bytes are in parts that are stored, and leaves
// them out.
func (a *archive) pass(n int) int {
	stored := max(0, min(int64(n), a.state.Bytes()-a.n))
	a.n += stored
	return int(stored)
}

// room returns what is free of the part, which is never full.
func (a *archive) room() []byte {
	if len(a.part) == cap(a.part) {
		a.part = slices.Grow(a.part, int(min(max(int64(len(a.part)), streamBuffer), a.s.opt.PartBytes-int64(len(a.part)))))
	}
	return a.part[len(a.part):min(int64(cap(a.part)), a.s.opt.PartBytes)]
}

// filled adds the first n bytes of room to the part, and sends one that is full.
func (a *archive) filled(n int) error {
	a.n += int64(n)
	a.part = a.part[:len(a.part)+n]
	a.sum.Write(a.part[len(a.part)-n:])
	if int64(len(a.part)) < a.s.opt.PartBytes {
		return nil
	}
	before := a.state.Bytes()
	if err := a.resume(); err != nil {
		return err
	}
	if a.state.Bytes() > before {
		return nil // another call had stored this part, and maybe more
	}
	return a.flush()
}

// flush sends the full part on its way, and notes how far the bundle is now and
// then.
func (a *archive) flush() error {
	if a.state.Upload == "" {
		upload, err := a.s.opt.Objects.BeginUpload(a.ctx, job.BundleKey(a.job), a.s.opt.PartBytes, store.PutOptions{ContentType: bundleType})
		if err != nil {
			return err
		}
		a.state = admin.Assembly{Upload: upload, PartBytes: a.s.opt.PartBytes, Units: a.size}
		if err := a.note(); err != nil {
			return err
		}
	}
	if err := a.send(); err != nil {
		return err
	}
	more := a.wrote == a.s.opt.PartsACall
	if until, ok := a.ctx.Deadline(); ok && time.Until(until) < assembleReserve {
		more = true
	}
	if !more && a.wrote%job.PartsANote != 0 {
		return nil
	}
	if err := a.settle(); err != nil {
		return err
	}
	if more {
		return &moreError{len(a.state.Parts)}
	}
	return nil
}

// send sends the part that was filled, while the next one is.
func (a *archive) send() error {
	data := a.part
	if a.part = (<-a.slots)[:0]; int64(cap(a.part)) < a.s.opt.PartBytes {
		a.part = make([]byte, 0, a.s.opt.PartBytes)
	}
	digest, err := a.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return err
	}
	a.state.Digest = digest
	part := new(store.Part)
	a.sent = append(a.sent, part)
	n, upload := len(a.state.Parts)+len(a.sent), a.state.Upload
	a.wrote++
	a.sending.Go(func() (err error) {
		defer func() { a.slots <- data }()
		*part, err = a.s.opt.Objects.UploadPart(a.ctx, job.BundleKey(a.job), upload, n, data)
		return a.lost(err)
	})
	return nil
}

// lost marks the upload as gone if an error says so.
func (a *archive) lost(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDigest) {
		a.gone.Store(true)
	}
	return err
}

// settle waits for the parts on their way and notes how far the bundle is.
func (a *archive) settle() error {
	if err := a.sending.Wait(); err != nil {
		return err
	}
	for _, p := range a.sent {
		a.state.Parts = append(a.state.Parts, *p)
	}
	a.sent = nil
	return a.note()
}

// close writes what is left and makes the bundle.
func (a *archive) close() (store.ObjectInfo, error) {
	key := job.BundleKey(a.job)
	if a.state.Upload == "" {
		return a.s.opt.Objects.Put(a.ctx, key, bytes.NewReader(a.part), store.PutOptions{ContentType: bundleType})
	}
	if len(a.part) > 0 {
		if err := a.send(); err != nil {
			return store.ObjectInfo{}, err
		}
	}
	if err := a.settle(); err != nil {
		return store.ObjectInfo{}, err
	}
	info, err := a.s.opt.Objects.CompleteUpload(a.ctx, key, a.state.Upload, a.state.Parts, a.digest())
	return info, a.lost(err)
}

// digest is the SHA-256 of what was written, in hex.
func (a *archive) digest() string { return hex.EncodeToString(a.sum.Sum(nil)) }

// ended waits for what is on its way, after err, and turns the error of an upload
// that is gone (swept, or completed by another call) into one that a retry heals.
func (a *archive) ended(err error) error {
	_ = a.sending.Wait() // its error is err, or comes after it
	if !a.gone.Load() {
		return err
	}
	if e := a.forget(); e != nil {
		return e
	}
	return admin.Errorf(admin.CodeTemporary, "the parts of the bundle are gone; try again").Wrap(err)
}

// bundleType is the media type of a bundle.
const bundleType = "application/gzip"
