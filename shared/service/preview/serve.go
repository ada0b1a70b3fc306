package preview

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// Below the site's root lies what belongs to the preview alone. A site has no
// folder of that name: site.Reserved.
const (
	clientPath = "bindery-dev/client.js"
	eventsPath = "bindery-dev/events"
	openPath   = "bindery-dev/open"
)

//go:embed assets/client.js
var script []byte

// Handler returns what answers browsers.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(s.base+clientPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", site.ContentType(clientPath))
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(script))
	})
	mux.HandleFunc(s.base+eventsPath, s.events)
	mux.HandleFunc(s.base+openPath, s.open)
	mux.Handle(s.base, http.HandlerFunc(s.serve))
	if s.base != "/" {
		mux.Handle("/", http.RedirectHandler(s.base, http.StatusTemporaryRedirect))
	}
	return Named(mux, s.opt.Names)
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}

// reply is what answers an address.
type reply struct {
	status int
	name   string // of the file
	data   []byte
	to     string // where the reader is sent
	policy string
}

// find returns what answers a path below the site's root.
func (s *Server) find(ctx context.Context, m *moment, urlPath, query string) (reply, error) {
	addresses := address.Addresses{
		Has: m.live.Has,
		Stub: func(name string) bool {
			if i, ok := m.live.Page(name); ok {
				return m.live.Site().Pages[i].URL != ""
			}
			data, err := m.live.File(ctx, name)
			return err == nil && path.Ext(name) == ".html" && address.IsStub(data)
		},
		Redirects: m.redirects,
	}
	found := addresses.Find(urlPath, query)
	if found.To != "" {
		return reply{status: http.StatusTemporaryRedirect, to: found.To}, nil
	}
	out := reply{status: http.StatusOK, name: found.File}
	err := fs.ErrNotExist
	if found.File != "" {
		out.data, err = m.live.File(ctx, found.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		out.status, out.name = http.StatusNotFound, "404.html"
		out.data, err = m.live.File(ctx, out.name)
	}
	if err != nil {
		return reply{}, err
	}
	sources, err := m.live.Policy(ctx, s.page(m, out.name))
	if err != nil {
		return reply{}, err
	}
	out.policy = site.ContentSecurityPolicy(&bundle.Info{Sources: sources})
	return out, nil
}

// page returns the index of the page that a file is, or that it shows: the root may
// show the first page. It is -1 for all others.
func (s *Server) page(m *moment, name string) int {
	if i, ok := m.live.Page(name); ok {
		return i
	}
	if name == "index.html" {
		if _, home, ok := m.live.Site().AtRoot(); ok {
			return home
		}
	}
	return -1
}

// version is the version of a document, of which a browser shows the one that it was
// sent.
func (s *Server) version(r reply) string {
	sum := sha256.Sum256(r.data)
	return hex.EncodeToString(sum[:8]) + "-" + strconv.FormatInt(s.assets.Load(), 10)
}

// serve answers a request for a part of the site.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	s.busy.Add(1)
	defer s.busy.Add(-1)
	m, fault, _, done := s.view()
	defer done()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if m == nil {
		s.serveFault(w, fault)
		return
	}
	out, err := s.find(r.Context(), m, "/"+strings.TrimPrefix(r.URL.Path, s.base), r.URL.RawQuery)
	if err != nil {
		if r.Context().Err() == nil {
			s.opt.Log.LogAttrs(r.Context(), slog.LevelError, "a file could not be made", slog.String("path", r.URL.Path), slog.Any("error", err))
		}
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if out.to != "" {
		if strings.HasPrefix(out.to, "/") && !strings.HasPrefix(out.to, "//") {
			out.to = s.base + strings.TrimPrefix(out.to, "/")
		}
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, address.WithQuery(out.to, r.URL.RawQuery), out.status)
		return
	}
	w.Header().Set("Content-Type", site.ContentType(out.name))
	w.Header().Set("Cache-Control", site.CacheControl(out.name))
	w.Header().Set("Content-Security-Policy", out.policy)
	sum := s.version(out)
	if path.Ext(out.name) == ".html" {
		w.Header().Set("Cache-Control", "no-store")
		out.data = s.withScript(out.data, sum)
	} else {
		w.Header().Set("Etag", `"`+sum+`"`)
	}
	if out.status != http.StatusOK {
		w.WriteHeader(out.status)
		if r.Method == http.MethodGet {
			_, _ = w.Write(out.data)
		}
		return
	}
	site.WithoutRange(r)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(out.data))
}

// withScript adds the preview's script to a document. It is all that the document
// does not have in the bundle.
func (s *Server) withScript(doc []byte, version string) []byte {
	tag := fmt.Sprintf(`<script src="%s" data-base="%[2]s" data-version="%s" defer></script>`, s.base+clientPath, s.base, version)
	at := bytes.LastIndex(doc, []byte("</body>"))
	if at < 0 {
		at = len(doc)
	}
	return bytes.Join([][]byte{doc[:at], []byte(tag), doc[at:]}, nil)
}

// serveFault answers all requests as long as the site never could be read.
func (s *Server) serveFault(w http.ResponseWriter, fault *Finding) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusInternalServerError)
	text := "The site is not there."
	if fault != nil {
		text = fmt.Sprintf("%s:%d:%d: %s", fault.File, fault.Line, fault.Column, fault.Message)
	}
	doc := append([]byte(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The site can't be shown</title></head><body><main><h1>The site can't be shown</h1><p>`), html.AppendText(nil, text)...)
	_, _ = w.Write(s.withScript(append(doc, "</p></main></body></html>\n"...), "none"))
}

// asked returns the path and the query of the address that a page has in a browser.
func (s *Server) asked(address string) (urlPath, query string) {
	u, err := url.Parse(address)
	if err != nil {
		return "/", ""
	}
	return "/" + strings.TrimPrefix(u.Path, s.base), u.RawQuery
}
