package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/hosts"
	"github.com/bindery-docs/bindery/shared/service/admin"
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
	n := names{own: hosts.OfMachine(listen)}
	for _, name := range opt.Hosts {
		if err := CheckHost(name); err != nil {
			return names{}, "", fmt.Errorf("the host %s %w", name, err)
		}
		n.own = append(n.own, hosts.Name(name))
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
	case !hosts.IsLoopback(hosts.Name(u.Host)):
		return n, "", nil // readers would not come to this machine by localhost
	default:
		at = "localhost"
	}
	n.sites = hosts.Name(at)
	if own := hosts.Name(u.Host); own == n.sites && n.sites != "localhost" || strings.HasSuffix(own, "."+n.sites) {
		return names{}, "", fmt.Errorf("the sites can't be below %s: it is the host of the dashboard, or above it, and they could set cookies for it", n.sites)
	}
	if _, port, err := net.SplitHostPort(at); err != nil && u.Port() != "" {
		at = net.JoinHostPort(n.sites, u.Port())
	} else if err == nil {
		at = net.JoinHostPort(n.sites, port)
	} else {
		at = n.sites
	}
	return n, u.Scheme + "://" + at, nil
}

// CheckSitesAddr says why sites can't have hosts below a host, which may have a port.
func CheckSitesAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = addr, ""
	}
	if n, e := strconv.Atoi(port); err == nil && (e != nil || n < 1 || n > 65535) {
		return errors.New("has no valid port")
	}
	if hosts.IsAddress(host) {
		return errors.New("must be a name: there are no names below an address")
	}
	if admin.CheckDomain("", strings.ToLower(host)) != nil {
		return errors.New("must be the name of a host, with its port if it is not that of --url, such as sites.example.com")
	}
	return nil
}

// CheckHost says why a name can't be that of a server.
func CheckHost(name string) error {
	if admin.CheckDomain("", hosts.Name(name)) != nil && !hosts.IsAddress(hosts.Name(name)) {
		return errors.New("must be the name of a host, such as bindery.example.com")
	}
	return nil
}
