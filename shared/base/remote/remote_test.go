package remote

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// All tests run where a proxy is set, which nothing here may ask: it would look
// names up itself.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} {
		if err := os.Setenv(name, "http://proxy.example:3128"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Addresses that belong to no stranger's server are never spoken to, whatever
// form they have.
func TestPublic(t *testing.T) {
	for _, c := range []struct {
		name, address string
		want          bool
	}{
		{"a host of the internet", "93.184.216.34", true},
		{"one of IPv6", "2606:2800:220:1::1", true},
		{"one of IPv4 in IPv6 form", "::ffff:93.184.216.34", true},
		{"this machine", "127.0.0.1", false},
		{"this machine's other addresses", "127.8.9.10", false},
		{"this machine in IPv6", "::1", false},
		{"this machine, mapped", "::ffff:127.0.0.1", false},
		{"this machine, compatible", "::7f00:1", false},
		{"this machine, translated", "::ffff:0:7f00:1", false},
		{"this machine by NAT64", "64:ff9b::7f00:1", false},
		{"this machine by 6to4", "2002:7f00:1::1", false},
		{"by Teredo", "2001:0:1::1", false},
		{"no address", "0.0.0.0", false},
		{"this network", "0.1.2.3", false},
		{"no address of IPv6", "::", false},
		{"private 10", "10.1.2.3", false},
		{"private 172.16", "172.31.255.255", false},
		{"next to private 172.16", "172.32.0.1", true},
		{"private 192.168", "192.168.0.1", false},
		{"private, mapped", "::ffff:192.168.0.1", false},
		{"unique local", "fd00:ec2::254", false},
		{"link-local: metadata of clouds", "169.254.169.254", false},
		{"metadata, mapped", "::ffff:169.254.169.254", false},
		{"credentials of containers", "169.254.170.2", false},
		{"link-local of IPv6", "fe80::1", false},
		{"with a zone", "fe80::1%eth0", false},
		{"a public one with a zone", "2606:2800:220:1::1%eth0", false},
		{"site-local", "fec0::1", false},
		{"carrier-grade NAT", "100.64.0.1", false},
		{"metadata within it", "100.100.100.200", false},
		{"next to carrier-grade NAT", "100.128.0.1", true},
		{"a platform's address", "168.63.129.16", false},
		{"benchmarks", "198.19.0.1", false},
		{"documentation", "203.0.113.9", false},
		{"documentation of IPv6", "2001:db8::1", false},
		{"multicast", "224.0.0.1", false},
		{"multicast of IPv6", "ff02::1", false},
		{"reserved", "240.0.0.1", false},
		{"broadcast", "255.255.255.255", false},
		{"not given out", "4000::1", false},
	} {
		if got := isPublic(netip.MustParseAddr(c.address)); got != c.want {
			t.Errorf("%s: Public(%s) = %v", c.name, c.address, got)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("an address that is none is public")
	}
}

// What is asked for is decided by name: only what the project allows, only by
// https, and no number in any form.
func TestHosts(t *testing.T) {
	hosts := NewHosts([]string{"Files.Example.com", "*.cdn.example", "api.example.com:8443", "127.0.0.1", "2130706433", "localhost", "*.com", "[::1]", "", "x.example:0"})
	for _, c := range []struct{ address, want string }{
		{"https://files.example.com/a.png", ""},
		{"https://FILES.example.com:443/a.png?x=1#f", ""},
		{"https://a.cdn.example/", ""},
		{"https://a.b.cdn.example/", ""},
		{"https://api.example.com:8443/x", ""},
		{"https://cdn.example/", "is on a host that the project does not allow"},
		{"https://evilcdn.example/", "is on a host that the project does not allow"},
		{"https://files.example.com.evil.example/", "is on a host that the project does not allow"},
		{"https://files.example.com:8443/", "is on a host that the project does not allow"},
		{"https://api.example.com/", "is on a host that the project does not allow"},
		{"https://other.com/", "is on a host that the project does not allow"},
		{"http://files.example.com/", "does not begin with https://"},
		{"ftp://files.example.com/", "does not begin with https://"},
		{"//files.example.com/", "does not begin with https://"},
		{"https:files.example.com", "names no host"},
		{"https://me@files.example.com/", "has a user's name or password"},
		{"https://files.example.com@evil.example/", "has a user's name or password"},
		{"https://127.0.0.1/", "names no host by its name"},
		{"https://2130706433/", "names no host by its name"},
		{"https://0x7f000001/", "names no host by its name"},
		{"https://0x7f.1/", "names no host by its name"},
		{"https://0177.0.0.1/", "names no host by its name"},
		{"https://127.1/", "names no host by its name"},
		{"https://[::1]/", "names no host by its name"},
		{"https://[::ffff:127.0.0.1]/", "names no host by its name"},
		{"https://①②⑦.⓪.⓪.①/", "names no host by its name"},
		{"https://localhost/", "names no host by its name"},
		{"https://metadata.google.internal/", "names no host by its name"},
		{"https://files.example.com./", "names no host by its name"},
		{"https://files.example.com\t/", "is not an address"},
		{"https://files.example.com:0443/", "has an invalid port"},
		{"https://files.example.com:70000/", "has an invalid port"},
		{"https://files.example.com/" + strings.Repeat("a", 2048), "is too long"},
	} {
		if _, got := hosts.Parse(c.address); got != c.want {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
	}
	if !NewHosts(nil).Empty() || !NewHosts([]string{"10.0.0.1"}).Empty() || hosts.Empty() {
		t.Error("Empty is wrong")
	}
	if u, _ := hosts.Parse("https://FILES.example.com/A?b#c"); u == nil || u.String() != "https://files.example.com/A?b" {
		t.Errorf("the address asked for is %v", u)
	}
}

// net is a network of one server, whose names mean what a test says.
type network struct {
	server *httptest.Server
	mu     sync.Mutex
	names  map[string][]string // a look-up takes the first of several answers, split by "|"
	dialed []string
}

func newNetwork(t *testing.T, handler http.HandlerFunc) (*network, *Fetcher) {
	t.Helper()
	n := &network{server: httptest.NewTLSServer(handler), names: map[string][]string{}}
	t.Cleanup(n.server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(n.server.Certificate())
	f := New(Options{Resolver: n, Dial: n.dial, TLS: &tls.Config{RootCAs: pool}})
	f.pause = 0
	return n, f
}

func (n *network) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, ok := n.names[host]
	if !ok {
		answers = []string{"93.184.216.34"}
	}
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.names[host] = answers[1:]
	}
	var out []netip.Addr
	for a := range strings.SplitSeq(answers[0], "|") {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	n.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, n.server.Listener.Addr().String())
}

// allowed are the hosts of these tests: the test server's certificate is for
// example.com.
func allowed() Hosts { return NewHosts([]string{"example.com", "*.example.com"}) }

func TestGet(t *testing.T) {
	var asked atomic.Int64
	n, f := newNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		for _, h := range []string{"Cookie", "Authorization", "Referer"} {
			if r.Header.Get(h) != "" {
				t.Errorf("%s goes along", h)
			}
		}
		send := func(kind, text string) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
		switch r.URL.Path {
		case "/a.png":
			send("image/png", png)
		case "/font":
			send("font/woff2; charset=binary", "wOF2")
		case "/spec":
			send("application/vnd.oai.openapi+json;version=3.0", "{}")
		case "/spec.yaml":
			send("text/plain; charset=utf-8", "openapi: 3.1.0")
		case "/photo.png":
			send("image/png", "\xff\xd8\xff\xe0")
		case "/error.png":
			send("image/png", "<html>")
		case "/error.js":
			send("text/javascript", "\n<!DOCTYPE html>")
		case "/live.svg":
			send("image/svg+xml", "<svg><a onclick='x()'/></svg>")
		case "/text.svg":
			send("image/svg+xml", "no such file")
		case "/false.woff2":
			send("font/woff2", "\x00\x01\x00\x00\x00")
		case "/page.png":
			send("text/html", "<html>")
		case "/blob.svg":
			send("application/octet-stream", "<svg/>")
		case "/large.png":
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", fmt.Sprint(MaxFileBytes+1))
		case "/bomb.png":
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range MaxFileBytes>>20 + 1 {
				_, _ = z.Write(make([]byte, 1<<20))
			}
			_ = z.Close()
		case "/packed.css":
			w.Header().Set("Content-Encoding", "br")
			send("text/css", "\x0b\x02\x80a{}\x03")
		case "/plain.css":
			w.Header().Set("Content-Encoding", "identity")
			send("text/css", "a{}")
		case "/there":
			http.SetCookie(w, &http.Cookie{Name: "c", Value: "d"})
			http.Redirect(w, r, "/a.png", http.StatusFound)
		case "/elsewhere":
			http.Redirect(w, r, "https://other.net/a.png", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://example.com/a.png", http.StatusFound)
		case "/number":
			http.Redirect(w, r, "https://169.254.169.254/latest/meta-data", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "https://inside.example.com/a.png", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	n.names = map[string][]string{
		"inside.example.com": {"10.0.0.8"}, "half.example.com": {"93.184.216.34|127.0.0.1"}, "mapped.example.com": {"::ffff:169.254.169.254"},
		"none.example.com": {}, "six.example.com": {"2606:2800:220:1::1"},
	}
	for _, c := range []struct {
		name, address string
		kind          Kind
		want          string // the extension, or why not
		asked         int64
	}{
		{"a picture", "https://example.com/a.png", Asset, ".png", 1},
		{"by IPv6", "https://six.example.com/a.png", Asset, ".png", 1},
		{"a font without an ending", "https://example.com/font", Asset, ".woff2", 1},
		{"a specification", "https://example.com/spec", Specification, ".json", 1},
		{"one that a host calls text", "https://example.com/spec.yaml", Specification, ".yaml", 1},
		{"a file of no type: its name tells", "https://example.com/blob.svg", Asset, ".svg", 1},
		{"after a redirect", "https://example.com/there", Asset, ".png", 2},
		{"a page is no picture", "https://example.com/page.png", Asset, "has a content type that is not asked for", 1},
		{"a picture is no specification", "https://example.com/a.png", Specification, "has a content type that is not asked for", 1},
		{"a picture of another kind", "https://example.com/photo.png", Asset, ".jpg", 1},
		{"a font of another kind", "https://example.com/false.woff2", Asset, ".ttf", 1},
		{"a page that is called a picture", "https://example.com/error.png", Asset, "is not what its content type says", 1},
		{"a page that is called a script", "https://example.com/error.js", Asset, "is not what its content type says", 1},
		{"text that is called a drawing", "https://example.com/text.svg", Asset, "is not what its content type says", 1},
		{"a drawing with a script", "https://example.com/live.svg", Asset, "is a drawing with a script", 1},
		{"text is no picture", "https://example.com/spec.yaml", Asset, "has a content type that is not asked for", 1},
		{"too large", "https://example.com/large.png", Asset, "has more than 20 MiB", 1},
		{"too large unpacked", "https://example.com/bomb.png", Asset, "has more than 20 MiB", 1},
		{"packed, though nobody asked for it", "https://example.com/packed.css", Asset, "is compressed in a way that was not asked for", 1},
		{"not packed, and said so", "https://example.com/plain.css", Asset, ".css", 1},
		{"not there", "https://example.com/nothing", Asset, "answers with the status 404", 1},
		{"busy: asked twice", "https://example.com/busy", Asset, "answers with the status 503", 2},
		{"a redirect to a host that is not allowed", "https://example.com/elsewhere", Asset, "redirects to an address that is on a host that the project does not allow", 1},
		{"a redirect to http", "https://example.com/plain", Asset, "redirects to an address that does not begin with https://", 1},
		{"a redirect to a number", "https://example.com/number", Asset, "redirects to an address that names no host by its name", 1},
		{"a redirect to a private address", "https://example.com/inside", Asset, "is on a host with an address that is not public", 1},
		{"a circle", "https://example.com/circle", Asset, "redirects more than 5 times", 6},
		{"a private address", "https://inside.example.com/a.png", Asset, "is on a host with an address that is not public", 0},
		{"a private address beside a public one", "https://half.example.com/a.png", Asset, "is on a host with an address that is not public", 0},
		{"metadata in IPv6 form", "https://mapped.example.com/a.png", Asset, "is on a host with an address that is not public", 0},
		{"no such host", "https://none.example.com/a.png", Asset, "is on a host that does not exist", 0},
		{"a host that is not allowed", "https://other.net/a.png", Asset, "is on a host that the project does not allow", 0},
		{"no https", "http://example.com/a.png", Asset, "does not begin with https://", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked.Store(0)
			file, err := f.Get(t.Context(), c.address, allowed(), c.kind)
			got := file.Extension
			if problem, ok := errors.AsType[*Problem](err); ok {
				got = problem.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if got != c.want || asked.Load() != c.asked {
				t.Errorf("%q after %d requests, want %q after %d", got, asked.Load(), c.want, c.asked)
			}
		})
	}
}

// png is how a picture begins.
const png = "\x89PNG\r\n\x1a\n"

// A name that means a public address when it is looked up, and a private one a
// moment later, gains nothing: the connection goes to what was checked.
func TestRebinding(t *testing.T) {
	n, f := newNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" {
			w.Header().Set("Connection", "close")
			http.Redirect(w, r, "/second", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "image/png")
	})
	n.names["example.com"] = []string{"93.184.216.34", "127.0.0.1"}
	_, err := f.Get(t.Context(), "https://example.com/first", allowed(), Asset)
	problem, ok := errors.AsType[*Problem](err)
	if err != nil && (!ok || problem.Reason != notPublic) {
		t.Fatal(err)
	}
	for _, address := range n.dialed {
		if address != "93.184.216.34:443" {
			t.Errorf("it spoke to %s", address)
		}
	}
	if len(n.dialed) == 0 {
		t.Error("it spoke to nobody")
	}
	if _, err := f.Get(t.Context(), "https://example.com/a", allowed(), Asset); err == nil {
		t.Error("the private address is spoken to once the name means it")
	}
}

// The socket is checked as well, for what would get past the look-up.
func TestControl(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34:443": true, "127.0.0.1:443": false, "[::1]:443": false, "[::ffff:10.0.0.1]:443": false, "169.254.169.254:80": false, "nonsense": false,
	} {
		if got := control("tcp4", address, nil) == nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if control("udp", "93.184.216.34:443", nil) == nil {
		t.Error("datagrams go out")
	}
	// Without a Dial of a test's own, that is what connects.
	f := New(Options{Resolver: &network{names: map[string][]string{}}})
	if _, err := f.opt.Dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), notPublic) {
		t.Errorf("the network was asked: %v", err)
	}
}

// A host must prove its name, and an end of the caller's is no fault of a file.
func TestCertificateAndEnd(t *testing.T) {
	n, _ := newNetwork(t, func(http.ResponseWriter, *http.Request) {})
	strict := New(Options{Resolver: n, Dial: n.dial})
	_, err := strict.Get(t.Context(), "https://example.com/a.png", allowed(), Asset)
	if err == nil || err.Error() != "is on a host that does not prove its name" {
		t.Errorf("an unknown certificate: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := strict.Get(ctx, "https://example.com/a.png", allowed(), Asset); err != context.Canceled {
		t.Errorf("a call that was stopped: %v, which callers take for a fault of the file", err)
	}
}

// Whatever an author writes, what may be asked for is an allowed name by https.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://example.com/a", "https://a.example.com:443/?q#f", "https://127.0.0.1", "https://[::1]:443/", "https://example.com%2f@x/", "HTTPS://EXAMPLE.COM", "https://example.com\\@evil.example/", "//example.com", "https://0x7f.1/", "https://user:pass@example.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, problem := allowed().Parse(address)
		if problem != "" {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.Scheme != "https" || again.User != nil || again.Fragment != "" {
			t.Fatalf("%q becomes %q: %v", address, u, err)
		}
		if host := again.Hostname(); host != "example.com" && !strings.HasSuffix(host, ".example.com") || again.Port() != "" && again.Port() != "443" {
			t.Fatalf("%q leads to %s", address, again.Host)
		}
		if _, err := netip.ParseAddr(again.Hostname()); err == nil {
			t.Fatalf("%q leads to a number", address)
		}
	})
}

// No form of an address that IPv6 has for one of IPv4 gets past the check.
func FuzzPublic(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte{169, 254, 169, 254})
	f.Add(bytes.Repeat([]byte{255}, 16))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		if isPublic(a) != isPublic(a.Unmap()) {
			t.Fatalf("%s is judged in two ways", a)
		}
		if v4, ok := netip.AddrFromSlice(b[len(b)-4:]); ok && !isPublic(v4) {
			for _, prefix := range []string{"::ffff:", "::", "64:ff9b::", "::ffff:0:"} {
				four := v4.As4()
				text := fmt.Sprintf("%s%x:%x", prefix, uint16(four[0])<<8|uint16(four[1]), uint16(four[2])<<8|uint16(four[3]))
				if x, err := netip.ParseAddr(text); err == nil && isPublic(x) {
					t.Fatalf("%s is public, %s is not", text, v4)
				}
			}
		}
	})
}
