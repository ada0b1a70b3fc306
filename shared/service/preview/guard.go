package preview

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Named refuses requests for names that are not this machine's: a page of another
// site could have its name lead here (DNS rebinding), and read what it was not
// meant to see. An address can't be made to lead elsewhere. Names are those of this
// machine beside localhost, see Names.
func Named(next http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !known(r.Host, names) {
			http.Error(w, "this server does not answer for this host name: use the address of the machine, its name or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func known(host string, names []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(names, name)
}

// Names returns the names by which browsers may call this machine: its own, and the one
// that a server was told to listen on.
func Names(listen string) []string {
	var names []string
	if name, err := os.Hostname(); err == nil {
		name = strings.ToLower(name)
		names = append(names, name, strings.TrimSuffix(name, ".local")+".local")
	}
	if _, err := netip.ParseAddr(listen); err != nil && listen != "" {
		names = append(names, strings.ToLower(listen))
	}
	return names
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
