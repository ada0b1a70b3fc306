package serve

import (
	"bytes"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Values of Cache-Control. A name with a digest never changes its content; the
// page of an address does with the next version, so a reader's copy is at most
// a minute old.
const (
	cacheForever = "public, max-age=31536000, immutable"
	cacheShort   = "public, max-age=60"
	cacheNever   = "no-store"
)

// handler answers readers.
type handler struct {
	base     string // "" or "/docs": what the site is mounted under
	log      *slog.Logger
	access   *slog.Logger // nil for none
	metrics  *metrics
	cache    *cache
	tls      bool
	draining atomic.Bool

	shown     atomic.Pointer[site]
	leftovers atomic.Pointer[map[string]leftover]
	// found is called with a file that differs on the volume, or is gone.
	found func(s *site, f *file, err error)
}

// show switches to another version, in one step: every request has the one or
// the other. The old one is given back; nil at first.
func (h *handler) show(s *site, left map[string]leftover) *site {
	h.leftovers.Store(&left)
	return h.shown.Swap(s)
}

// acquire returns the site that is shown; done must be called on it.
func (h *handler) acquire() *site {
	for {
		s := h.shown.Load()
		if s == nil || s.acquire() {
			return s
		}
	}
}

// reply is what an answer came to.
type reply struct {
	status int
	bytes  int64
	err    error // what kept the rest from being sent; the connection ends then
}

// ServeHTTP answers one reader.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	h.metrics.inFlight.Add(1)
	header := w.Header()
	header["X-Content-Type-Options"] = nosniff
	header["Referrer-Policy"] = referrerPolicy
	if h.tls {
		header["Strict-Transport-Security"] = strictTransport
	}
	if h.draining.Load() {
		header["Connection"] = connectionClose
	}
	answer := h.answer(w, r)
	took := time.Since(start)
	h.metrics.inFlight.Add(-1)
	h.metrics.request(answer.status, answer.bytes, took)
	if h.access != nil {
		h.access.LogAttrs(r.Context(), slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("host", r.Host), slog.String("path", r.URL.Path), slog.Int("status", answer.status),
			slog.Int64("bytes", answer.bytes), slog.Float64("ms", float64(took.Microseconds())/1000),
			slog.String("remote", r.RemoteAddr), slog.String("proto", r.Proto),
			slog.String("agent", r.Header.Get("User-Agent")), slog.String("referer", withoutQuery(r.Header.Get("Referer"))),
			slog.String("forwarded", r.Header.Get("X-Forwarded-For")))
	}
	if answer.err != nil {
		panic(http.ErrAbortHandler) // half a file must not look like all of it
	}
}

// Values of headers, made once.
var (
	nosniff         = []string{"nosniff"}
	referrerPolicy  = []string{"strict-origin-when-cross-origin"}
	strictTransport = []string{"max-age=31536000"}
	connectionClose = []string{"close"}
	varyEncoding    = []string{"Accept-Encoding"}
	acceptBytes     = []string{"bytes"}
	foreverValue    = []string{cacheForever}
	shortValue      = []string{cacheShort}
	encodingValues  = [encodings][]string{nil, {"gzip"}, {"zstd"}}
)

// withoutQuery leaves out what may hold more than where a reader came from.
func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request) reply {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return plain(w, r, http.StatusMethodNotAllowed, "This site can only be read.\n")
	}
	s := h.acquire()
	if s == nil {
		w.Header().Set("Retry-After", "5")
		return plain(w, r, http.StatusServiceUnavailable, "The site is not there yet.\n")
	}
	defer s.done()
	w.Header()["Content-Security-Policy"] = s.policy
	path, ok := strings.CutPrefix(r.URL.Path, h.base)
	switch {
	case !ok, path != "" && path[0] != '/':
		return h.missing(w, r, s)
	case path == "":
		if h.base != "" {
			return h.redirect(w, r, "/", true)
		}
		path = "/" // "GET http://host": RFC 9110, 4.2.3
	}
	found := s.addresses.Find(path, r.URL.RawQuery)
	switch {
	case found.To != "":
		return h.redirect(w, r, found.To, found.Permanent)
	case found.File != "":
		return h.file(w, r, s, s.files[found.File])
	}
	if left, ok := (*h.leftovers.Load())[path[1:]]; ok {
		if f, err := left.open(); err == nil {
			defer f.Close()
			w.Header()["Cache-Control"] = foreverValue
			w.Header().Set("Content-Type", left.kind.contentType)
			answer := serveContent(w, r, left.name, io.NewSectionReader(f, 0, f.size))
			answer.err = f.failed
			return answer
		}
	}
	return h.missing(w, r, s)
}

// redirect sends a reader to another address, of this site or of another.
func (h *handler) redirect(w http.ResponseWriter, r *http.Request, to string, permanent bool) reply {
	if strings.HasPrefix(to, "/") {
		to = h.base + to
	}
	to = address.WithQuery(to, r.URL.RawQuery)
	status := http.StatusTemporaryRedirect
	if permanent {
		status = http.StatusPermanentRedirect
	}
	w.Header().Set("Location", address.HeaderSafe(to))
	// Also a permanent one may be another in the next version.
	w.Header()["Cache-Control"] = shortValue
	return plain(w, r, status, "")
}

// plain answers with a line of text.
func plain(w http.ResponseWriter, r *http.Request, status int, text string) reply {
	header := w.Header()
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", cacheNever)
	}
	if text != "" {
		header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	header.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return reply{status: status}
	}
	n, _ := io.WriteString(w, text) // the reader may be gone
	return reply{status: status, bytes: int64(n)}
}

// missing answers with the site's page for that.
func (h *handler) missing(w http.ResponseWriter, r *http.Request, s *site) reply {
	f := s.files["404.html"]
	if f == nil {
		return plain(w, r, http.StatusNotFound, "There is nothing at this address.\n")
	}
	header := w.Header()
	e := negotiate(header, r, f)
	hot, err := h.cache.get(s, f, e)
	var body []byte
	if err == nil && hot != nil {
		body = hot.body
	} else if body, err = s.read(f, e); err != nil {
		return h.broken(w, r, s, f, err)
	}
	if e != identity {
		header["Content-Encoding"] = encodingValues[e]
	}
	header["Content-Type"] = []string{f.kind.contentType}
	header["Cache-Control"] = []string{"no-cache"}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(http.StatusNotFound)
	if r.Method == http.MethodHead {
		return reply{status: http.StatusNotFound}
	}
	return reply{status: http.StatusNotFound, bytes: writeBody(w, r, body)}
}

// damage reports a file that can't be sent.
func (h *handler) damage(s *site, f *file, err error) {
	if damaged(err) && h.found != nil {
		h.found(s, f, err)
		return
	}
	h.log.Error("a file of the site can't be read", "path", f.path, "version", s.record.Version, "error", err)
}

// broken answers when a file can't be read from the volume any more.
func (h *handler) broken(w http.ResponseWriter, r *http.Request, s *site, f *file, err error) reply {
	h.damage(s, f, err)
	w.Header().Del("Cache-Control")
	w.Header().Del("Etag")
	return plain(w, r, http.StatusInternalServerError, "This page can't be read just now.\n")
}

// file answers with a file of the site.
func (h *handler) file(w http.ResponseWriter, r *http.Request, s *site, f *file) reply {
	header := w.Header()
	if f.hashed {
		header["Cache-Control"] = foreverValue
	} else {
		header["Cache-Control"] = shortValue
	}
	e := negotiate(header, r, f)
	if takesRange(r) {
		return h.partial(w, r, s, f)
	}
	hot, err := h.cache.get(s, f, e)
	if err != nil {
		return h.broken(w, r, s, f, err)
	}
	if hot != nil {
		header["Etag"] = hot.etag
	} else {
		header["Etag"] = []string{f.etag(e)}
	}
	if asked := r.Header["If-Match"]; len(asked) > 0 && !matches(asked, header["Etag"][0], true) {
		w.WriteHeader(http.StatusPreconditionFailed)
		return reply{status: http.StatusPreconditionFailed}
	}
	if asked := r.Header["If-None-Match"]; len(asked) > 0 && matches(asked, header["Etag"][0], false) {
		w.WriteHeader(http.StatusNotModified)
		return reply{status: http.StatusNotModified}
	}
	header["Content-Type"] = []string{f.kind.contentType}
	if e == identity {
		header["Accept-Ranges"] = acceptBytes
	} else {
		header["Content-Encoding"] = encodingValues[e]
	}
	if hot != nil {
		header["Content-Length"] = hot.length
	} else {
		header["Content-Length"] = []string{strconv.FormatInt(f.length(e), 10)}
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return reply{status: http.StatusOK}
	}
	if hot != nil {
		return reply{status: http.StatusOK, bytes: writeBody(w, r, hot.body)}
	}
	p, err := h.open(s, f, e)
	if err != nil {
		return h.broken(w, r, s, f, err)
	}
	defer p.Close()
	n, _ := p.WriteTo(w) // the reader may be gone
	return h.sent(s, f, p, reply{status: http.StatusOK, bytes: n})
}

// sent reports a form that turned out to differ while it was sent.
func (h *handler) sent(s *site, f *file, p *form, answer reply) reply {
	if answer.err = p.failed; answer.err != nil {
		h.damage(s, f, answer.err)
	}
	return answer
}

// open opens a form of which the beginning can be sent: what differs there is
// answered with an error, what differs later ends the connection.
func (h *handler) open(s *site, f *file, e encoding) (*form, error) {
	p, err := s.open(f, e)
	if err != nil {
		return nil, err
	}
	if _, err := p.load(0); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// negotiate chooses the form of a file that the reader takes best.
func negotiate(header http.Header, r *http.Request, f *file) encoding {
	if !f.packed() {
		return identity
	}
	header["Vary"] = varyEncoding
	accept := r.Header["Accept-Encoding"]
	if len(accept) == 0 {
		return identity
	}
	return parseAccept(strings.Join(accept, ",")).choose(f.has)
}

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

// CacheControl returns how long a reader may keep a file of a bundle that is
// looked at on one's own machine, where the next bundle may come at any time:
// for ever where its name carries a digest of its content.
func CacheControl(name string) string {
	if hashedName.MatchString(name) {
		return cacheForever
	}
	return "no-cache"
}

// partial answers requests for parts of a file, always from its plain form.
func (h *handler) partial(w http.ResponseWriter, r *http.Request, s *site, f *file) reply {
	w.Header()["Content-Type"] = []string{f.kind.contentType}
	w.Header()["Etag"] = []string{f.etag(identity)}
	hot, err := h.cache.get(s, f, identity)
	if err == nil && hot != nil {
		return serveContent(w, r, f.path, bytes.NewReader(hot.body))
	}
	p, err := h.open(s, f, identity)
	if err != nil {
		return h.broken(w, r, s, f, err)
	}
	defer p.Close()
	return h.sent(s, f, p, serveContent(w, r, f.path, io.NewSectionReader(p, 0, p.size)))
}

// serveContent is http.ServeContent, counted. It never reports when the file was
// modified: pages change with others of their site.
func serveContent(w http.ResponseWriter, r *http.Request, name string, content io.ReadSeeker) reply {
	c := &counted{ResponseWriter: w, reply: reply{status: http.StatusOK}}
	http.ServeContent(c, r, name, time.Time{}, content)
	return c.reply
}

// counted notes what goes through it.
type counted struct {
	http.ResponseWriter
	reply
}

func (c *counted) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// ReadFrom has the connection's own buffer used.
func (c *counted) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.ResponseWriter, r)
	c.bytes += n
	return n, err
}

// matches compares If-Match or If-None-Match with a tag: strongly or weakly, as
// RFC 9110 defines it for the one and the other (13.1.1, 13.1.2).
func matches(asked []string, tag string, strong bool) bool {
	for _, list := range asked {
		if list == tag {
			return true
		}
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || item == tag || !strong && strings.TrimPrefix(item, "W/") == tag {
				return true
			}
		}
	}
	return false
}
