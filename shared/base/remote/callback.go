package remote

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Callbacks is which addresses are called that callers of the service name: https
// on the port 443 of any public host, and hosts of the operator's own network.
// The zero value has none of the latter.
type Callbacks struct {
	// Private are the operator's hosts, by name or number, with their port unless
	// it is 443. They may have addresses that are not public. With "http://" in
	// front, a host is called without encryption.
	Private []string
}

// Parse reads an address that a caller names. The problem, if any, says why it
// may not be called, as the end of a sentence about it. Where its host's name
// leads is checked when it is called: see Dialer.
func (c Callbacks) Parse(address string) (u *url.URL, problem string) {
	if len(address) > maxAddress {
		return nil, "is too long"
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, "is not an address"
	case u.User != nil:
		return nil, "has a user's name or password"
	case u.Host == "" || u.Opaque != "":
		return nil, "names no host"
	case u.Fragment != "" || u.RawFragment != "":
		return nil, "has a fragment"
	}
	u.Host = strings.ToLower(u.Host)
	if u.Scheme == "http" && c.allows("http://"+u.Host) || u.Scheme == "https" && c.PrivateHost(u.Host) {
		return u, ""
	}
	host := strings.Trim(u.Hostname(), "[]")
	_, notNumber := netip.ParseAddr(host)
	switch {
	case u.Scheme != "https":
		return nil, "does not begin with https://"
	case notNumber == nil:
		return nil, "names no host by its name"
	case !validHost(host):
		return nil, "names no host of the internet"
	case u.Port() != "" && u.Port() != "443":
		return nil, "has another port than 443"
	}
	return u, ""
}

// PrivateHost reports whether a host, given with its port unless that is the usual
// one, is of the operator's own network.
func (c Callbacks) PrivateHost(host string) bool {
	for _, port := range []string{"", ":443", ":80"} {
		name := strings.TrimSuffix(host, port)
		if c.allows(name) && port != ":80" || c.allows("http://"+name) {
			return true
		}
	}
	return false
}

func (c Callbacks) allows(name string) bool {
	return slices.ContainsFunc(c.Private, func(p string) bool { return strings.EqualFold(p, name) })
}
