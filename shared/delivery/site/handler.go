package site

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Values of Cache-Control. A name with a digest never changes its content; the
// page of an address does with the next version, so a reader's copy is at most
// a minute old.
const (
	cacheForever = "public, max-age=31536000, immutable"
	cacheShort   = "public, max-age=60"
	cacheNever   = "no-store"
)

// CacheControl returns how long a reader may keep a file of a bundle that is
// looked at on one's own machine, where the next bundle may come at any time:
// for ever where its name carries a digest of its content.
func CacheControl(name string) string {
	if IsHashed(name) {
		return cacheForever
	}
	return "no-cache"
}

// Handler answers readers of versions. Its fields are not changed once it is used.
type Handler struct {
	// Base is the path that the site is mounted under: "" or a path such as "/docs".
	Base string
	// Cache has small files.
	Cache *Cache
	// Fresh has readers ask for each page again: on a machine of one's own, where the next
	// bundle may come to the same address at any time.
	Fresh bool
	// Older opens a hashed file of a version that was shown before, by its name; nil for
	// none. With an error there is no such file, unless it is a Temporary.
	Older func(ctx context.Context, name string) (Form, error)
	// Failed is told of everything of a version that could not be read: a file, or nil
	// where an address could not be looked up. It may be nil.
	Failed func(ctx context.Context, v Version, f File, err error)
	// Send writes the whole body of an answer that states its length, and returns how
	// many bytes went out; nil for the response's own Write.
	Send func(w http.ResponseWriter, r *http.Request, body []byte) int64
}

// Reply describes an answer that was given.
type Reply struct {
	Status int
	// Bytes counts those of the body that were sent.
	Bytes int64
	// Err ended the sending of the body. The caller must end the connection then,
	// by a panic with http.ErrAbortHandler: half a file must not look like all of it.
	Err error
}

// Values of headers, made once.
var (
	nosniff        = []string{"nosniff"}
	referrerPolicy = []string{"strict-origin-when-cross-origin"}
	varyEncoding   = []string{"Accept-Encoding"}
	acceptBytes    = []string{"bytes"}
	foreverValue   = []string{cacheForever}
	shortValue     = []string{cacheShort}
	noCacheValue   = []string{"no-cache"}
	encodingValues = [Encodings][]string{nil, {"gzip"}, {"zstd"}}
)

// Answer answers one reader from a version, which the caller releases afterwards. A nil
// version is one that is not there yet.
func (h *Handler) Answer(w http.ResponseWriter, r *http.Request, v Version) Reply {
	header := w.Header()
	header["X-Content-Type-Options"] = nosniff
	header["Referrer-Policy"] = referrerPolicy
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		return plain(w, r, http.StatusMethodNotAllowed, "This site can only be read.\n")
	}
	if v == nil {
		header.Set("Retry-After", "5")
		return plain(w, r, http.StatusServiceUnavailable, "The site is not there yet.\n")
	}
	header["Content-Security-Policy"] = v.Policy().value
	path, ok := strings.CutPrefix(r.URL.Path, h.Base)
	switch {
	case !ok, path != "" && path[0] != '/', path == "/"+bundle.IndexPath: // the index is for servers
		return h.missing(w, r, v)
	case path == "":
		if h.Base != "" {
			return h.redirect(w, r, "/", true)
		}
		path = "/" // "GET http://host": RFC 9110, 4.2.3
	}
	found, err := v.Find(r.Context(), path, r.URL.RawQuery)
	switch {
	case err != nil:
		return h.broken(w, r, v, nil, err)
	case found.To != "":
		return h.redirect(w, r, found.To, found.Permanent)
	case found.File != nil:
		return h.file(w, r, v, found.File)
	}
	if h.Older != nil && IsHashed(path[1:]) {
		form, err := h.Older(r.Context(), path[1:])
		if err == nil {
			defer form.Close()
			header["Cache-Control"] = foreverValue
			header["Content-Type"] = mediaOf(path).contentType
			WithoutRange(r)
			return h.content(w, r, v, nil, form)
		}
		if _, ok := isTemporary(err); ok {
			return h.broken(w, r, v, nil, err)
		}
	}
	return h.missing(w, r, v)
}

// redirect sends a reader to another address, of this site or of another.
func (h *Handler) redirect(w http.ResponseWriter, r *http.Request, to string, permanent bool) Reply {
	if strings.HasPrefix(to, "/") {
		to = h.Base + to
	}
	to = address.WithQuery(to, r.URL.RawQuery)
	status := http.StatusTemporaryRedirect
	if permanent {
		status = http.StatusPermanentRedirect
	}
	w.Header().Set("Location", address.HeaderSafe(to))
	// Also a permanent one may be another in the next version.
	w.Header()["Cache-Control"] = h.pages()
	return plain(w, r, status, "")
}

// pages returns the Cache-Control of files that change with the next version.
func (h *Handler) pages() []string {
	if h.Fresh {
		return noCacheValue
	}
	return shortValue
}

// plain answers with a line of text.
func plain(w http.ResponseWriter, r *http.Request, status int, text string) Reply {
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
		return Reply{Status: status}
	}
	n, _ := io.WriteString(w, text) // the reader may be gone
	return Reply{Status: status, Bytes: int64(n)}
}

// missing answers with the site's page for that.
func (h *Handler) missing(w http.ResponseWriter, r *http.Request, v Version) Reply {
	f, err := v.NotFound(r.Context())
	if err != nil {
		return h.broken(w, r, v, nil, err)
	}
	if f == nil {
		return plain(w, r, http.StatusNotFound, "There is nothing at this address.\n")
	}
	header, facts := w.Header(), f.Facts()
	e := negotiate(header, r, facts)
	hot, err := h.get(r.Context(), v, f, e)
	if err != nil {
		return h.broken(w, r, v, f, err)
	}
	if e != Identity {
		header["Content-Encoding"] = encodingValues[e]
	}
	header["Content-Type"] = facts.kind.contentType
	header["Cache-Control"] = noCacheValue
	header["Content-Length"] = hot.length
	w.WriteHeader(http.StatusNotFound)
	if r.Method == http.MethodHead {
		return Reply{Status: http.StatusNotFound}
	}
	return Reply{Status: http.StatusNotFound, Bytes: h.send(w, r, hot.body)}
}

// send sends a whole body.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, body []byte) int64 {
	if h.Send != nil {
		return h.Send(w, r, body)
	}
	n, _ := w.Write(body) // the reader may be gone
	return int64(n)
}

// get returns a form in memory.
func (h *Handler) get(ctx context.Context, v Version, f File, e Encoding) (*entry, error) {
	return h.Cache.get(ctx, keyOf(f.Facts(), v.Policy(), e), func(ctx context.Context) ([]byte, error) {
		body, err := f.Read(ctx, e)
		if want := f.Facts().Lengths[e]; err == nil && want != Unknown && int64(len(body)) != want {
			return nil, ErrDamaged
		}
		return body, err
	})
}

// open opens a form of the length that its file says.
func open(ctx context.Context, f File, e Encoding) (Form, error) {
	form, err := f.Open(ctx, e)
	if err == nil && form.Size() != f.Facts().Lengths[e] {
		err = errors.Join(ErrDamaged, form.Close())
	}
	return form, err
}

// failed reports what could not be read.
func (h *Handler) failed(r *http.Request, v Version, f File, err error) {
	if h.Failed != nil && r.Context().Err() == nil { // else it is the reader who is gone
		h.Failed(r.Context(), v, f, err)
	}
}

// broken answers when a version can't be read, before anything was sent.
func (h *Handler) broken(w http.ResponseWriter, r *http.Request, v Version, f File, err error) Reply {
	h.failed(r, v, f, err)
	header := w.Header()
	for _, name := range [...]string{"Accept-Ranges", "Cache-Control", "Content-Encoding", "Content-Range", "Etag"} {
		delete(header, name)
	}
	temporary, ok := isTemporary(err)
	if !ok {
		return plain(w, r, http.StatusInternalServerError, "This page can't be read just now.\n")
	}
	after := cmp.Or(temporary.After, 5*time.Second)
	header.Set("Retry-After", strconv.FormatFloat(max(1, math.Ceil(after.Seconds())), 'f', 0, 64))
	return plain(w, r, http.StatusServiceUnavailable, "This page can't be read just now. Please try again.\n")
}

// file answers with a file of the site.
func (h *Handler) file(w http.ResponseWriter, r *http.Request, v Version, f File) Reply {
	header, facts := w.Header(), f.Facts()
	if facts.hashed {
		header["Cache-Control"] = foreverValue
	} else {
		header["Cache-Control"] = h.pages()
	}
	e := negotiate(header, r, facts)
	if takesRange(r) {
		return h.partial(w, r, v, f)
	}
	key := keyOf(facts, v.Policy(), e)
	hot := h.Cache.find(&key)
	if hot != nil {
		header["Etag"] = hot.etag
	} else {
		header["Etag"] = []string{key.etag()}
	}
	if asked := r.Header["If-Match"]; len(asked) > 0 && !matches(asked, header["Etag"][0], true) {
		w.WriteHeader(http.StatusPreconditionFailed)
		return Reply{Status: http.StatusPreconditionFailed}
	}
	if asked := r.Header["If-None-Match"]; len(asked) > 0 && matches(asked, header["Etag"][0], false) {
		w.WriteHeader(http.StatusNotModified)
		return Reply{Status: http.StatusNotModified}
	}
	length := facts.Lengths[e]
	// A HEAD request reads a small body as well: it must not promise a file that GET
	// can't send.
	if hot == nil && length <= h.Cache.largest {
		var err error
		if hot, err = h.get(r.Context(), v, f, e); err != nil {
			return h.broken(w, r, v, f, err)
		}
		header["Etag"] = hot.etag
	}
	if hot != nil {
		fileHeaders(header, facts, e)
		header["Content-Length"] = hot.length
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusOK)
			return Reply{Status: http.StatusOK}
		}
		return Reply{Status: http.StatusOK, Bytes: h.send(w, r, hot.body)}
	}
	if r.Method == http.MethodHead {
		fileHeaders(header, facts, e)
		header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
		w.WriteHeader(http.StatusOK)
		return Reply{Status: http.StatusOK}
	}
	form, err := open(r.Context(), f, e)
	if err != nil {
		return h.broken(w, r, v, f, err)
	}
	defer form.Close()
	p := &reader{ctx: r.Context(), form: form}
	// What can't be read of the beginning is answered with an error, what can't be read
	// later ends the connection.
	if err := p.load(0); err != nil {
		return h.broken(w, r, v, f, err)
	}
	fileHeaders(header, facts, e)
	header["Content-Length"] = []string{strconv.FormatInt(form.Size(), 10)}
	n, _ := p.WriteTo(w) // the reader may be gone
	if p.failed != nil {
		h.failed(r, v, f, p.failed)
	}
	return Reply{Status: http.StatusOK, Bytes: n, Err: p.failed}
}

// fileHeaders are those of a whole file in an encoding.
func fileHeaders(header http.Header, f *Facts, e Encoding) {
	header["Content-Type"] = f.kind.contentType
	if e == Identity {
		header["Accept-Ranges"] = acceptBytes
	} else {
		header["Content-Encoding"] = encodingValues[e]
	}
}

// negotiate chooses the form of a file that the reader takes best.
func negotiate(header http.Header, r *http.Request, f *Facts) Encoding {
	if !f.packed() {
		return Identity
	}
	header["Vary"] = varyEncoding
	accept := r.Header["Accept-Encoding"]
	if len(accept) == 0 {
		return Identity
	}
	return parseAccept(strings.Join(accept, ",")).choose(&f.Lengths)
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
