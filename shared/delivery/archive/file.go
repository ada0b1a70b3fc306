package archive

import (
	"bytes"
	"context"
	"fmt"

	"github.com/klauspost/compress/gzip"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// leastZipped is the least size in bytes of a file that is sent compressed: below it,
// headers are most of an answer.
const leastZipped = 512

// file is a file of an archive.
type file struct {
	v     *Version
	row   *bundle.Row
	facts site.Facts
}

func (v *Version) file(row *bundle.Row) site.File {
	f := &file{v: v, row: row, facts: site.NewFacts(row.Path, row.Size, site.Fingerprint(row.SHA256[:16]))}
	if row.Size < leastZipped || !site.IsText(row.Path) {
		return f
	}
	if row.Chunks == nil {
		f.facts.Lengths[site.Gzip] = site.Unknown // made when it is asked for
	} else if n := row.Sent() + bundle.TailBytes; n <= row.Size-row.Size/10 {
		f.facts.Lengths[site.Gzip] = n
	}
	return f
}

// Facts implements site.File.
func (f *file) Facts() *site.Facts { return &f.facts }

// Read implements site.File.
func (f *file) Read(ctx context.Context, e site.Encoding) ([]byte, error) {
	switch {
	case f.row.Size == 0:
		return nil, nil
	case f.row.Chunks == nil && e == site.Identity:
		return f.inside(ctx)
	case f.row.Chunks == nil:
		return f.zip(ctx)
	}
	sent, err := f.v.src.ReadRange(ctx, f.row.Offset, f.row.Sent())
	if err != nil {
		return nil, err
	}
	var out []byte
	if e == site.Identity {
		out = make([]byte, 0, f.row.Size)
	}
	at := int64(0)
	for i, c := range f.row.Chunks {
		if part := sent[at : at+c.Length]; e != site.Identity {
			err = f.row.Check(i, part)
		} else {
			out, err = f.row.Inflate(out, i, part)
		}
		if err != nil {
			return nil, damaged(err)
		}
		at += c.Length
	}
	if e == site.Identity {
		return out, nil
	}
	return withTail(sent, f.row), nil
}

// withTail ends the chunks of a file as a gzip member does. What is returned has no room
// that the cache would not count.
func withTail(sent []byte, row *bundle.Row) []byte {
	out := make([]byte, 0, len(sent)+int(bundle.TailBytes))
	return append(append(out, sent...), row.Tail()...)
}

// inside returns a file that shares its member with others.
func (f *file) inside(ctx context.Context) ([]byte, error) {
	member, err := f.v.src.ReadRange(ctx, f.row.Offset, f.row.Length)
	if err != nil {
		return nil, err
	}
	data, err := f.row.InflateInside(nil, member)
	return data, damaged(err)
}

// zip compresses a file that shares its member with others.
func (f *file) zip(ctx context.Context) ([]byte, error) {
	data, err := f.inside(ctx)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zw, _ := f.v.zippers.Get().(*gzip.Writer)
	if zw == nil {
		if zw, err = gzip.NewWriterLevel(&out, int(bundle.Text)); err != nil {
			return nil, err
		}
	}
	defer f.v.zippers.Put(zw)
	zw.Reset(&out)
	if _, err := zw.Write(data); err != nil {
		return nil, err
	}
	err = zw.Close()
	return bytes.Clone(out.Bytes()), err
}

// Open implements site.File.
func (f *file) Open(ctx context.Context, e site.Encoding) (site.Form, error) {
	size := f.facts.Lengths[e]
	if f.row.Chunks == nil {
		data, err := f.Read(ctx, e)
		return &form{whole: data, size: int64(len(data))}, err
	}
	return &form{f: f, e: e, size: size}, nil
}

// form is a form of a file that is read by chunks, or one in memory.
type form struct {
	f     *file
	e     site.Encoding
	size  int64
	whole []byte // of a file that has no chunks
	part  []byte
}

// Size implements site.Form.
func (p *form) Size() int64 { return p.size }

// Part implements site.Form.
func (p *form) Part(ctx context.Context, offset int64) (part []byte, begin int64, err error) {
	if p.f == nil {
		return p.whole, 0, nil
	}
	row := p.f.row
	at := row.Offset
	for i, c := range row.Chunks {
		length := c.Size
		if p.e != site.Identity {
			if length = c.Length; i == len(row.Chunks)-1 {
				length += bundle.TailBytes
			}
		}
		if offset >= begin+length {
			begin, at = begin+length, at+c.Length
			continue
		}
		sent, err := p.f.v.src.ReadRange(ctx, at, c.Length)
		if err != nil {
			return nil, 0, err
		}
		if p.e == site.Identity {
			p.part, err = row.Inflate(p.part[:0], i, sent)
			return p.part, begin, damaged(err)
		}
		if err := row.Check(i, sent); err != nil {
			return nil, 0, damaged(err)
		}
		if i == len(row.Chunks)-1 {
			sent = withTail(sent, row)
		}
		return sent, begin, nil
	}
	return nil, 0, fmt.Errorf("%s has no byte %d", row.Path, offset)
}

// Close implements site.Form.
func (p *form) Close() error { return nil }
