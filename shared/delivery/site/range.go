package site

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxRanges is the most parts that one request may ask for. A few bytes can
// ask for thousands, each with a head of its own: that gets the whole file
// (RFC 9110, 14.2).
const maxRanges = 16

// takesRange reports whether a request is for parts of a file. To other
// methods, and in other units, the header means nothing.
func takesRange(r *http.Request) bool {
	asked := r.Header["Range"]
	return r.Method == http.MethodGet && len(asked) > 0 && strings.HasPrefix(asked[0], "bytes=") && strings.Count(asked[0], ",") < maxRanges
}

// WithoutRange has a request that asks for no part, or for more parts than a
// server need send, ask for the whole file.
func WithoutRange(r *http.Request) {
	if !takesRange(r) {
		r.Header.Del("Range")
	}
}

// partial answers requests for parts of a file, always from its plain form.
func (h *Handler) partial(w http.ResponseWriter, r *http.Request, v Version, f File) Reply {
	facts := f.Facts()
	w.Header()["Content-Type"] = facts.kind.contentType
	w.Header()["Etag"] = []string{keyOf(facts, v.Policy(), Identity).etag()}
	if facts.Lengths[Identity] <= h.Cache.largest {
		hot, err := h.get(r.Context(), v, f, Identity)
		if err != nil {
			return h.broken(w, r, v, f, err)
		}
		c := &counted{ResponseWriter: w}
		http.ServeContent(c, r, "", time.Time{}, bytes.NewReader(hot.body))
		c.start()
		return c.reply
	}
	form, err := open(r.Context(), f, Identity)
	if err != nil {
		return h.broken(w, r, v, f, err)
	}
	defer form.Close()
	return h.content(w, r, v, f, form)
}

// content is http.ServeContent for a form, which may fail. It never reports when the file
// was modified: pages change with others of their site.
func (h *Handler) content(w http.ResponseWriter, r *http.Request, v Version, f File, form Form) Reply {
	p := &reader{ctx: r.Context(), form: form}
	c := &counted{ResponseWriter: w}
	http.ServeContent(c, r, "", time.Time{}, io.NewSectionReader(p, 0, form.Size()))
	failed := p.end()
	switch {
	case failed == nil:
		c.start()
		return c.reply
	case !c.started:
		return h.broken(w, r, v, f, failed)
	}
	h.failed(r, v, f, failed)
	c.reply.Err = failed
	return c.reply
}

// counted notes what goes through it. It sends the head of an answer together with the
// first bytes of the body, so that another answer can be given until these are read.
type counted struct {
	http.ResponseWriter
	reply   Reply
	started bool
}

func (c *counted) WriteHeader(status int) { c.reply.Status = status }

// start sends the head, unless that was done.
func (c *counted) start() {
	if c.started {
		return
	}
	if c.started = true; c.reply.Status == 0 {
		c.reply.Status = http.StatusOK
	}
	c.ResponseWriter.WriteHeader(c.reply.Status)
}

func (c *counted) Write(p []byte) (int, error) {
	c.start()
	n, err := c.ResponseWriter.Write(p)
	c.reply.Bytes += int64(n)
	return n, err
}

// ReadFrom has the connection's own buffer used, once there is a first byte.
func (c *counted) ReadFrom(r io.Reader) (n int64, err error) {
	if !c.started {
		buffer := firsts.Get().(*[4 << 10]byte)
		defer firsts.Put(buffer)
		m, err := r.Read(buffer[:])
		if m == 0 && err != nil {
			if err == io.EOF {
				err = nil
			}
			return 0, err
		}
		sent, failed := c.Write(buffer[:m])
		n = int64(sent)
		switch {
		case failed != nil:
			return n, failed
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
	}
	m, err := io.Copy(c.ResponseWriter, r)
	c.reply.Bytes += m
	return n + m, err
}

var firsts = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// reader reads an open form at any place. For several ranges, http.ServeContent reads it
// in a goroutine that may outlive the answer.
type reader struct {
	ctx  context.Context // the request's
	form Form

	mu     sync.Mutex
	ended  bool
	part   []byte
	begin  int64
	failed error // why a part could not be read
}

// end has later reads fail, after one that is in progress, and returns why a part could
// not be read.
func (p *reader) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	return p.failed
}

// load has the part with the byte at an offset in memory; there is none at the end.
func (p *reader) load(offset int64) error {
	if offset >= p.begin && offset < p.begin+int64(len(p.part)) || offset >= p.form.Size() {
		return nil
	}
	p.part, p.begin, p.failed = p.form.Part(p.ctx, offset)
	if p.failed == nil && (offset < p.begin || offset >= p.begin+int64(len(p.part))) {
		p.failed = ErrDamaged
	}
	if p.failed != nil {
		p.part = nil
	}
	return p.failed
}

// ReadAt is io.ReaderAt's.
func (p *reader) ReadAt(b []byte, offset int64) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, fs.ErrClosed
	}
	for n < len(b) && offset < p.form.Size() {
		if err := p.load(offset); err != nil {
			return n, err
		}
		m := copy(b[n:], p.part[offset-p.begin:])
		n, offset = n+m, offset+int64(m)
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// WriteTo sends all of it.
func (p *reader) WriteTo(w io.Writer) (n int64, err error) {
	for n < p.form.Size() {
		if err := p.load(n); err != nil {
			return n, err
		}
		m, err := w.Write(p.part[n-p.begin:])
		if n += int64(m); err != nil {
			return n, err
		}
	}
	return n, nil
}
