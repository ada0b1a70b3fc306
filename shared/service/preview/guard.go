package preview

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/hosts"
)

// Named refuses requests for names that are not this machine's: a page of another
// site could have its name lead here (DNS rebinding), and read what it was not
// meant to see. An address can't be made to lead elsewhere. Names are those of this
// machine beside localhost: see hosts.OfMachine.
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
	name := hosts.Name(host)
	return hosts.IsAddress(name) || name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(names, name)
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
