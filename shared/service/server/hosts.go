package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/hosts"
)

// names tells the hosts of a server apart.
type names struct {
	// own are those of the API and the dashboard, beside addresses and localhost.
	own []string
	// sites is the host below which each site has one; empty for none.
	sites string
}

// of returns the label of the site that a request is for, empty for the API and the
// dashboard; or false for a name that the server does not have. A page of another site
// could have its name lead here (DNS rebinding), and a site's name must lead to nothing
// that a person is signed in to.
func (n names) of(r *http.Request) (label string, ok bool) {
	name := hosts.Name(r.Host)
	if name == "" || name == "localhost" || hosts.IsAddress(name) || slices.Contains(n.own, name) {
		return "", true
	}
	label, below, _ := strings.Cut(name, ".")
	return label, n.sites != "" && below == n.sites && label != ""
}

// namesOf returns the hosts of a server that listens on an address, and the address below
// which its sites are; empty for none.
func namesOf(opt Options, public string) (names, string, error) {
	listen, _, err := net.SplitHostPort(opt.Addr)
	if err != nil {
		return names{}, "", err
	}
	n := names{own: append(hosts.OfMachine(listen), opt.Hosts...)}
	for i := range n.own {
		n.own[i] = hosts.Name(n.own[i])
	}
	u, err := url.Parse(public)
	if err != nil {
		return names{}, "", err
	}
	n.own = append(n.own, hosts.Name(u.Host))
	at := opt.SitesAddr
	switch {
	case opt.Dashboard == nil:
		return n, "", nil
	case at != "":
		if err := CheckSitesAddr(at); err != nil {
			return names{}, "", fmt.Errorf("the address %s of sites %w", at, err)
		}
	case !isLocal(u.Hostname()):
		return n, "", nil // readers would not come to this machine by localhost
	default:
		at = "localhost"
		if port := u.Port(); port != "" {
			at += ":" + port
		}
	}
	n.sites = hosts.Name(at)
	return n, u.Scheme + "://" + at, nil
}

// isLocal reports whether a name always leads to the machine that asks.
func isLocal(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// CheckSitesAddr says why sites can't have hosts below a host, which may have a port.
func CheckSitesAddr(addr string) error {
	u, err := url.Parse("http://" + addr)
	if err != nil || u.Host != addr || u.Hostname() == "" || strings.ContainsAny(addr, "/?#@") {
		return fmt.Errorf("must be the name of a host, with a port if it is not that of --url, such as sites.example.com")
	}
	if hosts.IsAddress(u.Hostname()) {
		return fmt.Errorf("must be a name: there are no names below an address")
	}
	return nil
}
