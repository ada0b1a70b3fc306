package sites

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// hashedLife is the time for which hashed files are answered after their version was replaced:
// a page that a reader has open still asks for them.
const hashedLife = time.Hour

// Defaults of Options, in bytes.
const (
	defaultCache   = 64 << 20
	defaultLargest = 1 << 20
)

// Options configure a Handler. Admin and Objects are required.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	// Dashboard is the address at which people find links to exports; empty for none.
	Dashboard string
	// Secure means that readers come over https: cookies are for https alone.
	Secure bool
	// CacheBytes bounds the files in memory; default 64 MiB.
	CacheBytes int64
	// Now returns the time; nil for the clock.
	Now func() time.Time
	// Log gets what readers must not see; nil discards it.
	Log *slog.Logger
}

// Handler answers readers of sites.
type Handler struct {
	opt      Options
	site     site.Handler // without Failed
	versions *versions
}

// New returns a Handler.
func New(o Options) *Handler {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	size := cmp.Or(o.CacheBytes, defaultCache)
	cache := site.NewCache(size, min(defaultLargest, size/4))
	h := &Handler{opt: o, versions: newVersions(o.Objects, cache)}
	h.site = site.Handler{Cache: cache, Fresh: true}
	return h
}

// Serve answers a request to the host of a label: a project's slug, or the label of an
// export (admin.IsJobLabel).
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, label string) {
	if admin.IsJobLabel(label) {
		h.preview(w, r, label)
		return
	}
	move, err := h.opt.Admin.LiveAt(r.Context(), label)
	if err != nil {
		h.nothing(w, r, err, "There is no site here", "No version of a site is live at this address.")
		return
	}
	served := func(ctx context.Context) (admin.Served, error) { return h.opt.Admin.ServedLive(ctx, move) }
	v, err := h.versions.open(r.Context(), move.Job, served)
	if err != nil {
		h.nothing(w, r, err, "This version can't be shown", "The version of the site that is live was exported by an older release of Bindery. Export the site again.")
		return
	}
	if path := strings.TrimPrefix(r.URL.Path, "/"); site.IsHashed(path) {
		if v, err = h.hashed(r.Context(), label, move, v, r); err != nil {
			h.nothing(w, r, err, "There is no site here", "No version of a site is live at this address.")
			return
		}
	}
	h.answer(w, r, v)
}

// hashed returns the version that has a hashed file: the live one, else the latest of the
// last ten that were live in the last hour; the live one if none has it.
func (h *Handler) hashed(ctx context.Context, label string, move admin.LiveMove, live site.Version, r *http.Request) (site.Version, error) {
	has := func(v site.Version) (bool, error) {
		found, err := v.Find(ctx, r.URL.Path, r.URL.RawQuery)
		return found.File != nil, err
	}
	if ok, err := has(live); ok || err != nil {
		return live, err
	}
	replaced, err := h.opt.Admin.ReplacedSince(ctx, label, move, h.opt.Now().Add(-hashedLife))
	if err != nil {
		return nil, err
	}
	for _, before := range replaced {
		v, err := h.versions.open(ctx, before.Job, func(context.Context) (admin.Served, error) { return before, nil })
		if errors.Is(err, site.ErrDamaged) {
			h.opt.Log.ErrorContext(ctx, "a version that was live can't be read", "job", before.Job, "error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if ok, err := has(v); ok || err != nil {
			return v, err
		}
	}
	return live, nil
}

// answer answers from a version.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, v site.Version) {
	of := h.site
	of.Failed = func(ctx context.Context, _ site.Version, f site.File, err error) {
		name := ""
		if f != nil {
			name = f.Facts().Name
		}
		h.opt.Log.ErrorContext(ctx, "a file of a site can't be read", "host", r.Host, "file", name, "error", err)
	}
	if reply := of.Answer(w, r, v); reply.Err != nil {
		panic(http.ErrAbortHandler) // half a file must not look like all of it
	}
}

// nothing answers without a version: with 404 or 410 if the error is that there is none,
// else with 503.
func (h *Handler) nothing(w http.ResponseWriter, r *http.Request, err error, title, text string) {
	switch admin.CodeOf(err) {
	case admin.CodeNotFound, admin.CodeJobRunning, admin.CodeJobFailed:
		page(w, r, http.StatusNotFound, title, text, "")
		return
	case admin.CodeBundleGone:
		page(w, r, http.StatusGone, title, text, "")
		return
	}
	if r.Context().Err() == nil {
		h.opt.Log.ErrorContext(r.Context(), "a site can't be read", "host", r.Host, "error", err)
	}
	status, again := http.StatusServiceUnavailable, "Please try again in a moment."
	if errors.Is(err, site.ErrDamaged) {
		status, again = http.StatusInternalServerError, "The log of the server says why."
	} else {
		w.Header().Set("Retry-After", "5")
	}
	page(w, r, status, "This site can't be read just now", again, "")
}
