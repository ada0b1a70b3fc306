package remote

import (
	"net/netip"
	"net/url"
	"strings"
)

// InTheClear reports whether requests to an address cross a network so that who
// is in between can read them: with http to any host but this machine's own
// (localhost and all below it, RFC 6761, and loopback addresses) and services
// by the names that they have inside a cluster (….svc, ….svc.cluster.local).
// The chart's templates hold to the same rule; a test compares them.
func InTheClear(u *url.URL) bool {
	if strings.EqualFold(u.Scheme, "https") {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.Unmap().IsLoopback()
	}
	below := "." + host
	for _, own := range []string{".localhost", ".svc", ".svc.cluster.local"} {
		if name, ok := strings.CutSuffix(below, own); ok && (name != "" || own == ".localhost") {
			return false
		}
	}
	return true
}
