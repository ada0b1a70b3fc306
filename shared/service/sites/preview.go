package sites

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// preview answers readers of an export: those with a link, or with the cookie that they got
// by it.
func (h *Handler) preview(w http.ResponseWriter, r *http.Request, label string) {
	w = &private{ResponseWriter: w}
	if r.URL.Path == admin.PreviewPath {
		h.openPreview(w, r, label)
		return
	}
	c, err := r.Cookie(h.cookie())
	if err == nil {
		_, ok := h.opt.Admin.CheckPreview(label, c.Value)
		if !ok {
			err = http.ErrNoCookie
		}
	}
	if err != nil {
		h.closed(w, r)
		return
	}
	served, err := h.opt.Admin.ServedJob(r.Context(), label)
	var v site.Version
	if err == nil {
		v, err = h.versions.open(r.Context(), served.Job, func(context.Context) (admin.Served, error) { return served, nil })
	}
	if err != nil {
		h.nothing(w, r, err, "This export is not there", "It has no bundle, or an older release of Bindery made it. Start another export.")
		return
	}
	h.answer(w, r, v)
}

// openPreview exchanges a link for a cookie, and leads to an address without the link's secret.
func (h *Handler) openPreview(w http.ResponseWriter, r *http.Request, label string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		page(w, r, http.StatusMethodNotAllowed, "This site can only be read", "", "")
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	token := query.Get("token")
	end, ok := h.opt.Admin.CheckPreview(label, token)
	if err != nil || !ok {
		h.closed(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: h.cookie(), Value: token, Path: "/", Expires: end, MaxAge: int(end.Sub(h.opt.Now()) / time.Second),
		HttpOnly: true, Secure: h.opt.Secure, SameSite: http.SameSiteLaxMode,
	})
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// cookie is the name of the cookie of readers of an export. It is the same on each host,
// which has cookies of its own.
func (h *Handler) cookie() string {
	if h.opt.Secure {
		return "__Host-bindery-preview"
	}
	return "bindery-preview"
}

// closed answers a reader without a valid link. It is the same answer for exports that do
// not exist.
func (h *Handler) closed(w http.ResponseWriter, r *http.Request) {
	page(w, r, http.StatusForbidden, "This preview is private", "Open it from the dashboard: the link there works for some hours.", h.opt.Dashboard)
}

// private is an answer that no search engine shows, no cache stores and no other site learns of.
type private struct {
	http.ResponseWriter
	begun bool
}

// begin sets the headers over those of the site.
func (p *private) begin() {
	header := p.Header()
	header.Set("X-Robots-Tag", "noindex")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "private, no-store")
	p.begun = true
}

// WriteHeader implements http.ResponseWriter.
func (p *private) WriteHeader(status int) {
	p.begin()
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *private) Write(b []byte) (int, error) {
	if !p.begun {
		p.begin()
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (p *private) Unwrap() http.ResponseWriter { return p.ResponseWriter }
