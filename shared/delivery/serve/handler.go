package serve

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// handler answers readers from the version that is shown.
type handler struct {
	log      *slog.Logger
	access   *slog.Logger // nil for none
	metrics  *metrics
	tls      bool
	draining atomic.Bool

	answers   site.Handler
	shown     atomic.Pointer[unpacked]
	ranged    atomic.Pointer[ranged] // in place of shown, where nothing is unpacked
	leftovers atomic.Pointer[map[string]leftover]
	// found is called with a file that differs on the volume, or is gone.
	found func(s *unpacked, f *file, err error)
	// lost is called where a read by ranges shows that the address leads to another archive.
	lost func()
}

// newHandler returns a handler of a site that is mounted under base, with a cache.
func newHandler(base string, log *slog.Logger, m *metrics, cache *site.Cache) *handler {
	h := &handler{log: log, metrics: m}
	h.answers = site.Handler{Base: base, Cache: cache, Older: h.older, Failed: h.failed, Send: writeBody}
	h.leftovers.Store(&map[string]leftover{})
	return h
}

// show switches to another version, in one step: every request has the one or
// the other. The old one is given back; nil at first.
func (h *handler) show(s *unpacked, left map[string]leftover) *unpacked {
	h.leftovers.Store(&left)
	return h.shown.Swap(s)
}

// acquire returns the site that is shown, which must be released.
func (h *handler) acquire() *unpacked {
	for {
		s := h.shown.Load()
		if s == nil || s.acquire() {
			return s
		}
	}
}

// ServeHTTP answers one reader.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	h.metrics.inFlight.Add(1)
	header := w.Header()
	if h.tls {
		header["Strict-Transport-Security"] = strictTransport
	}
	if h.draining.Load() {
		header["Connection"] = connectionClose
	}
	answer := h.answer(w, r)
	took := time.Since(start)
	h.metrics.inFlight.Add(-1)
	h.metrics.request(answer.Status, answer.Bytes, took)
	if h.access != nil {
		h.access.LogAttrs(r.Context(), slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("host", r.Host), slog.String("path", r.URL.Path), slog.Int("status", answer.Status),
			slog.Int64("bytes", answer.Bytes), slog.Float64("ms", float64(took.Microseconds())/1000),
			slog.String("remote", r.RemoteAddr), slog.String("proto", r.Proto),
			slog.String("agent", r.Header.Get("User-Agent")), slog.String("referer", withoutQuery(r.Header.Get("Referer"))),
			slog.String("forwarded", r.Header.Get("X-Forwarded-For")))
	}
	if answer.Err != nil {
		panic(http.ErrAbortHandler) // half a file must not look like all of it
	}
}

// Values of headers, made once.
var (
	strictTransport = []string{"max-age=31536000"}
	connectionClose = []string{"close"}
)

// withoutQuery leaves out what may hold more than where a reader came from.
func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request) site.Reply {
	if v := h.ranged.Load(); v != nil {
		return h.answers.Answer(w, r, v)
	}
	s := h.acquire()
	if s == nil {
		return h.answers.Answer(w, r, nil)
	}
	defer s.Release()
	return h.answers.Answer(w, r, s)
}

// older opens a file of an older version.
func (h *handler) older(_ context.Context, name string) (site.Form, error) {
	left, ok := (*h.leftovers.Load())[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	form, err := left.open()
	if err != nil {
		return nil, err // not a form that is nil
	}
	return form, nil
}

// failed reports a file that can't be sent.
func (h *handler) failed(ctx context.Context, v site.Version, f site.File, err error) {
	s, _ := v.(*unpacked)
	one, _ := f.(*file)
	if damaged(err) && one != nil && h.found != nil {
		h.found(s, one, err)
		return
	}
	name, version := "", ""
	if f != nil {
		name = f.Facts().Name
	}
	if s != nil {
		version = s.record.Version
	} else if r, ok := v.(*ranged); ok {
		if version = r.record.Version; damaged(err) && h.lost != nil {
			h.lost() // the archive may have been replaced without a new tag
		}
	}
	h.log.ErrorContext(ctx, "a file of the site can't be read", "path", name, "version", version, "error", err)
}
