package remote

import (
	"net/netip"
	"slices"
)

// special are networks that are not the public internet, though netip does not
// tell them: the special-purpose registries of IANA for IPv4 and IPv6 (RFC
// 6890), and ranges through which an IPv4 address can be reached by another name.
func special() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),         // this network
		netip.MustParsePrefix("100.64.0.0/10"),     // carrier-grade NAT; clouds put metadata there too
		netip.MustParsePrefix("192.0.0.0/24"),      // protocol assignments
		netip.MustParsePrefix("192.0.2.0/24"),      // documentation
		netip.MustParsePrefix("192.31.196.0/24"),   // AS112
		netip.MustParsePrefix("192.52.193.0/24"),   // AMT
		netip.MustParsePrefix("192.88.99.0/24"),    // 6to4 relays
		netip.MustParsePrefix("192.175.48.0/24"),   // AS112
		netip.MustParsePrefix("198.18.0.0/15"),     // benchmarks
		netip.MustParsePrefix("198.51.100.0/24"),   // documentation
		netip.MustParsePrefix("203.0.113.0/24"),    // documentation
		netip.MustParsePrefix("240.0.0.0/4"),       // reserved, and broadcast
		netip.MustParsePrefix("168.63.129.16/32"),  // a cloud's platform address
		netip.MustParsePrefix("::/96"),             // IPv4-compatible
		netip.MustParsePrefix("::ffff:0:0:0/96"),   // IPv4-translated
		netip.MustParsePrefix("64:ff9b::/96"),      // NAT64
		netip.MustParsePrefix("64:ff9b:1::/48"),    // NAT64 of one network
		netip.MustParsePrefix("100::/64"),          // discard
		netip.MustParsePrefix("100:0:0:1::/64"),    // dummy
		netip.MustParsePrefix("2001::/23"),         // protocol assignments, Teredo among them
		netip.MustParsePrefix("2001:db8::/32"),     // documentation
		netip.MustParsePrefix("2002::/16"),         // 6to4
		netip.MustParsePrefix("2620:4f:8000::/48"), // AS112
		netip.MustParsePrefix("3fff::/20"),         // documentation
		netip.MustParsePrefix("5f00::/16"),         // segment routing
		netip.MustParsePrefix("fec0::/10"),         // site-local, of old
	}
}

// globalIPv6 is what of IPv6 is given out for the internet (RFC 4291, 2.4).
func globalIPv6() netip.Prefix { return netip.MustParsePrefix("2000::/3") }

// isPublic reports whether an address belongs to the public internet: not to this
// machine, not to a private, link-local, shared, multicast, documentation or
// reserved network, and to none through which an IPv4 address goes by an IPv6
// name. An IPv4 address in IPv6 form is judged as the IPv4 address that it is.
func isPublic(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.IsUnspecified() || a.IsLoopback() || a.IsPrivate() || a.IsMulticast() ||
		a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsInterfaceLocalMulticast() || !a.IsGlobalUnicast() {
		return false
	}
	if a.Is6() && !globalIPv6().Contains(a) {
		return false
	}
	return !slices.ContainsFunc(special(), func(p netip.Prefix) bool { return p.Contains(a) })
}
