package proxy

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// A header says where a request comes from only if a trusted proxy sent it, and as far
// as trusted proxies wrote it.
func TestClient(t *testing.T) {
	trusted, err := Parse([]string{"10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48", "::ffff:172.16.0.0/108"})
	if err != nil {
		t.Fatal(err)
	}
	const xff, fwd = "X-Forwarded-For", "Forwarded"
	for _, c := range []struct {
		name, peer string
		headers    [][2]string
		want       string
	}{
		{"no proxy", "198.51.100.1:1", nil, "198.51.100.1"},
		{"a client that is no proxy claims to be another", "198.51.100.1:1", [][2]string{{xff, "203.0.113.9"}, {fwd, "for=203.0.113.9"}}, "198.51.100.1"},
		{"a proxy that says nothing", "10.1.2.3:1", nil, "10.1.2.3"},
		{"a proxy", "10.1.2.3:1", [][2]string{{xff, "203.0.113.9"}}, "203.0.113.9"},
		{"a proxy, over IPv6", "[2001:db8:1::5]:1", [][2]string{{xff, "2001:db8:2::9"}}, "2001:db8:2::9"},
		{"a proxy, as IPv4 in IPv6", "[::ffff:10.1.2.3]:1", [][2]string{{xff, "::ffff:203.0.113.9"}}, "203.0.113.9"},
		{"a proxy of a network that was given so", "172.16.3.4:1", [][2]string{{xff, "203.0.113.9"}}, "203.0.113.9"},
		{"what the client had written before", "10.1.2.3:1", [][2]string{{xff, "127.0.0.1, 203.0.113.9"}}, "203.0.113.9"},
		{"the same in two headers", "10.1.2.3:1", [][2]string{{xff, "127.0.0.1"}, {xff, "203.0.113.9"}}, "203.0.113.9"},
		{"two proxies", "10.1.2.3:1", [][2]string{{xff, "127.0.0.1, 203.0.113.9, 192.0.2.7"}}, "203.0.113.9"},
		{"proxies alone", "10.1.2.3:1", [][2]string{{xff, "10.9.9.9, 192.0.2.7"}}, "10.9.9.9"},
		{"with ports", "10.1.2.3:1", [][2]string{{xff, "203.0.113.9:4711, 192.0.2.7:80"}}, "203.0.113.9"},
		{"IPv6 with a port", "10.1.2.3:1", [][2]string{{xff, "[2001:db8:2::9]:4711"}}, "2001:db8:2::9"},
		{"nonsense", "10.1.2.3:1", [][2]string{{xff, "203.0.113.9, unknown"}}, "10.1.2.3"},
		{"nonsense from the first of two proxies", "10.1.2.3:1", [][2]string{{xff, "203.0.113.9, x, 192.0.2.7"}}, "192.0.2.7"},
		{"empty", "10.1.2.3:1", [][2]string{{xff, ""}}, "10.1.2.3"},
		{"a quote of the client's", "10.1.2.3:1", [][2]string{{xff, `"127.0.0.1`}, {xff, "203.0.113.9"}}, "203.0.113.9"},
		{"Forwarded", "10.1.2.3:1", [][2]string{{fwd, `for=203.0.113.9;proto=https;by=10.1.2.3`}}, "203.0.113.9"},
		{"Forwarded, in any case and quoted", "10.1.2.3:1", [][2]string{{fwd, `proto=https; FOR="[2001:db8:2::9]:4711"`}}, "2001:db8:2::9"},
		{"Forwarded, what the client had written before", "10.1.2.3:1", [][2]string{{fwd, `for=127.0.0.1, for=203.0.113.9, for=192.0.2.7`}}, "203.0.113.9"},
		{"Forwarded, an open quote of the client's", "10.1.2.3:1", [][2]string{{fwd, `for="127.0.0.1`}, {fwd, "for=203.0.113.9"}}, "203.0.113.9"},
		{"Forwarded, an open quote on the same line", "10.1.2.3:1", [][2]string{{fwd, `for="127.0.0.1, for=203.0.113.9`}}, "10.1.2.3"},
		{"Forwarded, an open quote of another parameter", "10.1.2.3:1", [][2]string{{fwd, `for=127.0.0.1;x=", for=203.0.113.9`}}, "10.1.2.3"},
		{"Forwarded, an open quote before a quoted address", "10.1.2.3:1", [][2]string{{fwd, `for=127.0.0.1;x="\, for="[2001:db8:2::9]"`}}, "10.1.2.3"},
		{"Forwarded, hidden", "10.1.2.3:1", [][2]string{{fwd, `for=203.0.113.9, for=_hidden`}}, "10.1.2.3"},
		{"Forwarded, no for", "10.1.2.3:1", [][2]string{{fwd, `for=203.0.113.9, proto=https`}}, "10.1.2.3"},
		{"both, and they agree", "10.1.2.3:1", [][2]string{{fwd, `for=203.0.113.9`}, {xff, "203.0.113.9"}}, "203.0.113.9"},
		{"both, and they do not", "10.1.2.3:1", [][2]string{{fwd, `for=127.0.0.1`}, {xff, "203.0.113.9"}}, "10.1.2.3"},
		{"no address", "@", [][2]string{{xff, "203.0.113.9"}}, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		for _, h := range c.headers {
			r.Header.Add(h[0], h[1])
		}
		if got := trusted.Client(r).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if peer, err := netip.ParseAddrPort(c.peer); err == nil && Trusted(nil).Client(r) != peer.Addr().Unmap() {
			t.Errorf("%s: a header counts without a trusted proxy", c.name)
		}
	}
}

// What can't be a network, or would be every address, is refused with the reason.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"": "not an address", "10.0.0.0/33": "not an address", "proxy.example": "not an address", "fe80::1%eth0": "not an address", "10.0.0.1:80": "not an address",
		"0.0.0.0/0": "every address", "::/0": "every address", "::ffff:0.0.0.0/96": "every address", "::ffff:0:0/90": "without the prefix ::ffff",
	} {
		if _, err := Parse([]string{"10.0.0.1", text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
