package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The volume is not trusted: whoever can write to it must not be able to have
// anything sent that was not exported. Every form of every file is compared
// with the list before a version is shown; the compressed forms, which no list
// has, by what they unfold into. From then on, what is read from the volume is
// compared with what was found then, in the memory that it is sent from: there
// is no moment between comparing and sending at which a file can be replaced.
// What is in the cache was compared when it was read. What remains is the
// memory of this process and of the kernel below it.

// chunkSize is the part of a form that is compared and sent as one, so that
// large files need not be in memory as a whole.
const chunkSize = 256 << 10

// fingerprint is the beginning of a SHA-256: 128 bits, for which nobody finds a
// second text, in half the memory.
type fingerprint [16]byte

func fingerprintOf(b []byte) fingerprint {
	sum := sha256.Sum256(b)
	return fingerprint(sum[:])
}

// errDiffers says that something on the volume is not what was exported.
var errDiffers = errors.New("it is not what was exported")

// form is one form of a file, open. Every byte that comes out of it was
// compared.
type form struct {
	at    io.ReaderAt
	file  *os.File // to be closed; nil for compressed forms, which share one
	size  int64
	sums  []fingerprint // of its chunks
	chunk *[]byte       // what was compared last, of the pool
	have  int64         // which chunk that is; -1 for none

	failed error // why a chunk could not be handed out
}

var chunks = sync.Pool{New: func() any { b := make([]byte, chunkSize); return &b }}

// load has a chunk in memory, compared.
func (p *form) load(i int64) (data []byte, err error) {
	defer func() { p.failed = err }()
	length := min(chunkSize, p.size-i*chunkSize)
	if p.chunk == nil {
		p.chunk, p.have = chunks.Get().(*[]byte), -1
	}
	data = (*p.chunk)[:length]
	if p.have == i {
		return data, nil
	}
	p.have = -1
	if err := readFull(p.at, data, i*chunkSize); err != nil {
		return nil, err
	}
	if fingerprintOf(data) != p.sums[i] {
		return nil, errDiffers
	}
	p.have = i
	return data, nil
}

// readFull reads a part that must be there.
func readFull(r io.ReaderAt, data []byte, offset int64) error {
	n, err := r.ReadAt(data, offset)
	switch {
	case n == len(data):
		return nil
	case err == io.EOF:
		return errDiffers
	}
	return err
}

// ReadAt is io.ReaderAt's.
func (p *form) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) && offset < p.size {
		data, err := p.load(offset / chunkSize)
		if err != nil {
			return n, err
		}
		m := copy(b[n:], data[offset%chunkSize:])
		n, offset = n+m, offset+int64(m)
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// WriteTo sends all of it.
func (p *form) WriteTo(w io.Writer) (n int64, err error) {
	for n < p.size {
		data, err := p.load(n / chunkSize)
		if err != nil {
			return n, err
		}
		m, err := w.Write(data)
		if n += int64(m); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (p *form) Close() {
	if p.chunk != nil {
		chunks.Put(p.chunk)
		p.chunk = nil
	}
	if p.file != nil {
		p.file.Close()
	}
}

// formKey is a form of a file.
type formKey struct {
	f *file
	e encoding
}

// open opens a form of a file.
func (s *site) open(f *file, e encoding) (*form, error) {
	p := &form{size: f.length(e), sums: s.sums(f, e)}
	if e != identity {
		p.at = io.NewSectionReader(s.data, f.forms[e].Offset, p.size)
		return p, nil
	}
	name := filepath.FromSlash(f.path)
	// Before it is opened: a pipe would wait for somebody who writes.
	there, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() || there.Size() != f.size {
		return nil, errDiffers
	}
	if p.file, err = s.root.Open(name); err != nil {
		return nil, err
	}
	p.at = p.file
	return p, nil
}

// sums are the digests of a form's chunks.
func (s *site) sums(f *file, e encoding) []fingerprint {
	if f.length(e) > chunkSize {
		s.noting.RLock()
		defer s.noting.RUnlock()
		return s.chunked[formKey{f, e}]
	}
	return f.sums[e : e+1]
}

// read returns the bytes of a form.
func (s *site) read(f *file, e encoding) ([]byte, error) {
	p, err := s.open(f, e)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	data := make([]byte, p.size)
	if err := readFull(p.at, data, 0); err != nil {
		return nil, err
	}
	for i, sum := range p.sums {
		if fingerprintOf(data[i*chunkSize:min(len(data), (i+1)*chunkSize)]) != sum {
			return nil, errDiffers
		}
	}
	return data, nil
}

// through reads size bytes and returns the digest of all and of the chunks. It
// hands the first chunk to head, if that is not nil.
func through(r io.ReaderAt, size int64, head func([]byte)) (whole fingerprint, sums []fingerprint, err error) {
	buffer := chunks.Get().(*[]byte)
	defer chunks.Put(buffer)
	all := sha256.New()
	for offset := int64(0); offset < size || offset == 0; offset += chunkSize {
		data := (*buffer)[:min(chunkSize, size-offset)]
		if err := readFull(r, data, offset); err != nil {
			return fingerprint{}, nil, err
		}
		if offset == 0 && head != nil {
			head(data)
		}
		if sums = append(sums, fingerprintOf(data)); size > chunkSize {
			all.Write(data)
		}
	}
	if len(sums) == 1 {
		return sums[0], sums, nil
	}
	return fingerprint(all.Sum(nil)), sums, nil
}

// verify compares every form of every file with the list.
func (s *site) verify(ctx context.Context) error {
	return share(ctx, maps.Values(s.files), func(files <-chan *file) error {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(packedMost+1))
		if err != nil {
			return err
		}
		defer decoder.Close()
		v := &verifier{site: s, gzip: new(gzip.Reader), zstd: decoder}
		for f := range files {
			if err := v.file(f); err != nil {
				return fmt.Errorf("%q: %w", f.path, err)
			}
		}
		return nil
	})
}

// verifier compares files, one after another.
type verifier struct {
	site *site
	gzip *gzip.Reader
	zstd *zstd.Decoder
	data []byte // what a form unfolds into
}

// file compares all forms of a file and notes their digests.
func (v *verifier) file(f *file) error {
	p, err := v.site.open(f, identity)
	if err != nil {
		return err
	}
	defer p.Close()
	whole, sums, err := through(p.at, f.size, func(head []byte) { f.stub = isPage(f.path) && address.IsStub(head) })
	if err != nil {
		return err
	}
	if whole != f.sums[identity] {
		return errDiffers
	}
	v.site.note(f, identity, sums)
	for e := gzipped; e < encodings; e++ {
		if !f.has(e) {
			continue
		}
		if err := v.form(f, e); err != nil {
			return fmt.Errorf("its form in %s: %w", e.name(), err)
		}
	}
	return nil
}

// form compares what a compressed form unfolds into. The bytes that are
// unfolded are those whose digests are noted: they are read once.
func (v *verifier) form(f *file, e encoding) error {
	if f.size > packedMost {
		return errDiffers // none is made of such a file
	}
	packed := make([]byte, f.length(e))
	if err := readFull(v.site.data, packed, f.forms[e].Offset); err != nil {
		return err
	}
	plain := bytes.NewBuffer(v.data[:0])
	var err error
	if e == zstded {
		v.data, err = v.zstd.DecodeAll(packed, v.data[:0])
	} else {
		rest := bytes.NewReader(packed)
		if err = v.gzip.Reset(rest); err == nil {
			v.gzip.Multistream(false)
			_, err = io.Copy(plain, io.LimitReader(v.gzip, f.size+1))
		}
		v.data = plain.Bytes()
		if rest.Len() > 0 {
			return errDiffers
		}
	}
	if err != nil || fingerprintOf(v.data) != f.sums[identity] {
		return errDiffers
	}
	_, sums, err := through(bytes.NewReader(packed), int64(len(packed)), nil)
	v.site.note(f, e, sums)
	return err
}

// note keeps the digests of a form's chunks.
func (s *site) note(f *file, e encoding, sums []fingerprint) {
	if len(sums) == 1 {
		f.sums[e] = sums[0]
		return
	}
	s.noting.Lock()
	defer s.noting.Unlock()
	s.chunked[formKey{f, e}] = sums
}

// patrolRate is how many bytes a second are read again while a site is shown: a
// part of a per cent of a processor, and little of a disk.
const patrolRate = 16 << 20

// inspect reads every form of every file once more, at the rate, and hands those
// that differ to report. It ends, with false, with ctx and when the site is not
// shown any more.
func (s *site) inspect(ctx context.Context, shown func() bool, report func(*file, error)) bool {
	read := int64(0)
	for _, f := range s.files {
		if !shown() {
			return false
		}
		for e := identity; e < encodings; e++ {
			if e != identity && !f.has(e) {
				continue
			}
			if err := s.inspectForm(ctx, f, e, &read); ctx.Err() != nil {
				return false
			} else if err != nil {
				report(f, err)
				break
			}
		}
	}
	return shown()
}

func (s *site) inspectForm(ctx context.Context, f *file, e encoding, read *int64) error {
	p, err := s.open(f, e)
	if err != nil {
		return err
	}
	defer p.Close()
	for i := range p.sums {
		data, err := p.load(int64(i))
		if err != nil {
			return err
		}
		if *read += int64(len(data)) + 4<<10; *read > patrolRate/16 {
			if err := sleepContext(ctx, time.Duration(*read)*time.Second/patrolRate); err != nil {
				return err
			}
			*read = 0
		}
	}
	return ctx.Err()
}
