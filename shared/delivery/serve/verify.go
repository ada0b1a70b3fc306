package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/site"
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

// form is one form of a file, open. Every byte that comes out of it was
// compared.
type form struct {
	at    io.ReaderAt
	file  *os.File // to be closed; nil for compressed forms, which share one
	size  int64
	sums  []site.Fingerprint // of its chunks
	chunk *[]byte            // what was compared last, of the pool
	have  int64              // which chunk that is; -1 for none
}

var chunks = sync.Pool{New: func() any { b := make([]byte, chunkSize); return &b }}

// load has a chunk in memory, compared.
func (p *form) load(i int64) (data []byte, err error) {
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
	if site.FingerprintOf(data) != p.sums[i] {
		return nil, site.ErrDamaged
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
		return site.ErrDamaged
	}
	return err
}

// Size is the form's length.
func (p *form) Size() int64 { return p.size }

// Part returns the chunk that has the byte at an offset.
func (p *form) Part(_ context.Context, offset int64) (part []byte, begin int64, err error) {
	i := offset / chunkSize
	part, err = p.load(i)
	return part, i * chunkSize, err
}

// Close releases the form's file and buffer.
func (p *form) Close() error {
	if p.chunk != nil {
		chunks.Put(p.chunk)
		p.chunk = nil
	}
	if p.file != nil {
		return p.file.Close()
	}
	return nil
}

// formKey is a form of a file.
type formKey struct {
	f *file
	e site.Encoding
}

// open opens a form of a file.
func (s *unpacked) open(f *file, e site.Encoding) (*form, error) {
	p := &form{size: f.length(e), sums: s.sums(f, e)}
	if e != site.Identity {
		p.at = io.NewSectionReader(s.data, f.offsets[e], p.size)
		return p, nil
	}
	name := filepath.FromSlash(f.facts.Name)
	// Before it is opened: a pipe would wait for somebody who writes.
	there, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() || there.Size() != f.facts.Lengths[site.Identity] {
		return nil, site.ErrDamaged
	}
	if p.file, err = s.root.Open(name); err != nil {
		return nil, err
	}
	p.at = p.file
	return p, nil
}

// sums are the digests of a form's chunks.
func (s *unpacked) sums(f *file, e site.Encoding) []site.Fingerprint {
	if f.length(e) > chunkSize {
		s.noting.RLock()
		defer s.noting.RUnlock()
		return s.chunked[formKey{f, e}]
	}
	return f.sums[e : e+1]
}

// read returns the bytes of a form.
func (s *unpacked) read(f *file, e site.Encoding) ([]byte, error) {
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
		if site.FingerprintOf(data[i*chunkSize:min(len(data), (i+1)*chunkSize)]) != sum {
			return nil, site.ErrDamaged
		}
	}
	return data, nil
}

// through reads size bytes and returns the digest of all and of the chunks. It
// hands the first chunk to head, if that is not nil.
func through(r io.ReaderAt, size int64, head func([]byte)) (whole site.Fingerprint, sums []site.Fingerprint, err error) {
	buffer := chunks.Get().(*[]byte)
	defer chunks.Put(buffer)
	all := sha256.New()
	for offset := int64(0); offset < size || offset == 0; offset += chunkSize {
		data := (*buffer)[:min(chunkSize, size-offset)]
		if err := readFull(r, data, offset); err != nil {
			return site.Fingerprint{}, nil, err
		}
		if offset == 0 && head != nil {
			head(data)
		}
		if sums = append(sums, site.FingerprintOf(data)); size > chunkSize {
			all.Write(data)
		}
	}
	if len(sums) == 1 {
		return sums[0], sums, nil
	}
	return site.Fingerprint(all.Sum(nil)), sums, nil
}

// verify compares every form of every file with the list.
func (s *unpacked) verify(ctx context.Context) error {
	return share(ctx, maps.Values(s.files), func(files <-chan *file) error {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(packedMost+1))
		if err != nil {
			return err
		}
		defer decoder.Close()
		v := &verifier{version: s, gzip: new(gzip.Reader), zstd: decoder}
		for f := range files {
			if err := v.file(f); err != nil {
				return fmt.Errorf("%q: %w", f.facts.Name, err)
			}
		}
		return nil
	})
}

// verifier compares files, one after another.
type verifier struct {
	version *unpacked
	gzip    *gzip.Reader
	zstd    *zstd.Decoder
	data    []byte // what a form unfolds into
}

// file compares all forms of a file and notes their digests.
func (v *verifier) file(f *file) error {
	p, err := v.version.open(f, site.Identity)
	if err != nil {
		return err
	}
	defer p.Close()
	whole, sums, err := through(p.at, f.facts.Lengths[site.Identity], func(head []byte) { f.stub = isPage(f.facts.Name) && address.IsStub(head) })
	if err != nil {
		return err
	}
	if whole != f.sums[site.Identity] {
		return site.ErrDamaged
	}
	v.version.note(f, site.Identity, sums)
	for e := site.Gzip; int(e) < site.Encodings; e++ {
		if !f.has(e) {
			continue
		}
		if err := v.form(f, e); err != nil {
			return fmt.Errorf("its form in %s: %w", e.String(), err)
		}
	}
	return nil
}

// form compares what a compressed form unfolds into. The bytes that are
// unfolded are those whose digests are noted: they are read once.
func (v *verifier) form(f *file, e site.Encoding) error {
	if f.facts.Lengths[site.Identity] > packedMost {
		return site.ErrDamaged // none is made of such a file
	}
	packed := make([]byte, f.length(e))
	if err := readFull(v.version.data, packed, f.offsets[e]); err != nil {
		return err
	}
	plain := bytes.NewBuffer(v.data[:0])
	var err error
	if e == site.Zstd {
		v.data, err = v.zstd.DecodeAll(packed, v.data[:0])
	} else {
		rest := bytes.NewReader(packed)
		if err = v.gzip.Reset(rest); err == nil {
			v.gzip.Multistream(false)
			_, err = io.Copy(plain, io.LimitReader(v.gzip, f.facts.Lengths[site.Identity]+1))
		}
		v.data = plain.Bytes()
		if rest.Len() > 0 {
			return site.ErrDamaged
		}
	}
	if err != nil || site.FingerprintOf(v.data) != f.sums[site.Identity] {
		return site.ErrDamaged
	}
	_, sums, err := through(bytes.NewReader(packed), int64(len(packed)), nil)
	v.version.note(f, e, sums)
	return err
}

// note keeps the digests of a form's chunks.
func (s *unpacked) note(f *file, e site.Encoding, sums []site.Fingerprint) {
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
func (s *unpacked) inspect(ctx context.Context, shown func() bool, report func(*file, error)) bool {
	read := int64(0)
	for _, f := range s.files {
		if !shown() {
			return false
		}
		for e := site.Identity; int(e) < site.Encodings; e++ {
			if e != site.Identity && !f.has(e) {
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

func (s *unpacked) inspectForm(ctx context.Context, f *file, e site.Encoding, read *int64) error {
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
