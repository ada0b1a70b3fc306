package preview

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guarded refuses requests for names that are not this machine's: a page of another
// site could have its name lead here (DNS rebinding), and read what it was not
// meant to see. An address can't be made to lead elsewhere.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.known(r.Host) {
			http.Error(w, "this address has another name: see bindery dev --help", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.opt.Names, name)
}

// own reports whether a request was made by a page of this server: browsers name the
// origin with every POST.
func own(r *http.Request) bool {
	return r.Host != "" && (r.Header.Get("Origin") == "http://"+r.Host || r.Header.Get("Origin") == "https://"+r.Host)
}

// here reports whether a request comes from this machine, straight and not through
// another server.
func here(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback() && r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == ""
}
