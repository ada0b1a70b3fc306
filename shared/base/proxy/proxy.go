// Package proxy finds the client address of a request that came through proxies.
package proxy

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Trusted lists the networks of proxies with forwarding headers that count. Without a
// network, no header counts.
type Trusted []netip.Prefix

// Parse reads networks such as 10.0.0.0/8 and single addresses.
func Parse(networks []string) (Trusted, error) {
	var all Trusted
	for _, text := range networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			ip, err := netip.ParseAddr(text)
			if err != nil || ip.Zone() != "" {
				return nil, fmt.Errorf("%q is not an address or a network such as 10.0.0.0/8", text)
			}
			ip = ip.Unmap()
			network = netip.PrefixFrom(ip, ip.BitLen())
		}
		if ip := network.Addr(); ip.Is4In6() {
			if network.Bits() < 96 {
				return nil, fmt.Errorf("%q: write a network of IPv4 without the prefix ::ffff", text)
			}
			network = netip.PrefixFrom(ip.Unmap(), network.Bits()-96)
		}
		if network.Bits() == 0 {
			return nil, fmt.Errorf("%q is every address: then anybody could claim to be anybody", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// Has reports whether an address is that of a trusted proxy.
func (t Trusted) Has(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, network := range t {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

// Client returns the address that a request comes from: the other end of the connection
// or, if that is a trusted proxy, the nearest address in X-Forwarded-For or Forwarded
// (RFC 7239) that is not one. If a proxy names no address, the proxy's own counts. So it
// does if both headers are there and contradict each other: a proxy that writes one of
// them may pass on what a client wrote in the other.
func (t Trusted) Client(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	peer := at.Addr().Unmap()
	if !t.Has(peer) {
		return peer
	}
	plain, standard := r.Header.Values("X-Forwarded-For"), r.Header.Values("Forwarded")
	switch {
	case len(standard) == 0:
		return t.nearest(peer, strings.Split(strings.Join(plain, ","), ","))
	case len(plain) == 0:
		return t.nearest(peer, forwardedFor(standard))
	}
	one, other := t.nearest(peer, strings.Split(strings.Join(plain, ","), ",")), t.nearest(peer, forwardedFor(standard))
	if one != other {
		return peer
	}
	return one
}

// nearest returns the last address that is not a trusted proxy.
func (t Trusted) nearest(peer netip.Addr, hops []string) netip.Addr {
	for i := len(hops) - 1; i >= 0 && t.Has(peer); i-- {
		next, ok := address(hops[i])
		if !ok {
			break
		}
		peer = next
	}
	return peer
}

// address reads an address, perhaps with a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1,
// [2001:db8::1] or [2001:db8::1]:80.
func address(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
	}
	ip, err := netip.ParseAddr(text)
	return ip.Unmap().WithZone(""), err == nil
}

// forwardedFor returns the "for" of each element of Forwarded; "" where an element has
// none.
func forwardedFor(values []string) []string {
	var hops []string
	for _, element := range elements(values) {
		hop := ""
		for _, pair := range split(element, ';') {
			name, value, _ := strings.Cut(pair, "=")
			if strings.EqualFold(strings.TrimSpace(name), "for") {
				hop = unquote(strings.TrimSpace(value))
			}
		}
		hops = append(hops, hop)
	}
	return hops
}

// elements returns the elements of all Forwarded headers. It parses each header by
// itself: an unclosed quote from a client must not hide the header that a proxy added.
func elements(values []string) []string {
	var all []string
	for _, line := range values {
		all = append(all, split(line, ',')...)
	}
	return all
}

// split splits a text at separators outside quotes. It drops the part with an unclosed
// quote.
func split(text string, separator byte) []string {
	var parts []string
	quoted, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	if quoted { // it may hide what a proxy added
		return append(parts, "")
	}
	return append(parts, text[begin:])
}

// unquote returns the value of an HTTP quoted string, and any other text unchanged.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i < len(text)-2 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
