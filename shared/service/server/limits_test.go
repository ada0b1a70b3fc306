package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/base/proxy"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// serving opens and serves a server; change may set its limits.
func serving(t *testing.T, change func(*Server)) *Server {
	t.Helper()
	s := open(t, t.TempDir())
	change(s)
	if err := s.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// say opens a connection and sends some bytes.
func say(t *testing.T, s *Server, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute)) // for a server that never ends
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// heard is an answer in the form of our refusals, after which the connection
// ends.
func heard(t *testing.T, r *bufio.Reader, status int, code string) {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var body api.ErrorBody
	raw, err := io.ReadAll(res.Body)
	if res.StatusCode != status || err != nil || json.Unmarshal(raw, &body) != nil || body.Error == "" ||
		!strings.HasPrefix(res.Header.Get(api.HeaderRequestID), "req_") || res.Header.Get(api.HeaderErrorCode) != code {
		t.Errorf("%s, %v: %s (%v)", res.Status, res.Header, raw, err)
	}
	if rest, err := io.ReadAll(r); len(rest) > 0 || os.IsTimeout(err) {
		t.Errorf("the connection goes on: %q, %v", rest, err)
	}
}

// What net/http refuses before any handler has the form of our refusals, and so
// has a request of which a proxy might see another end.
func TestRefusalsOfTheServer(t *testing.T) {
	s := serving(t, func(*Server) {})
	const host = "Host: localhost\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
		code   string
	}{
		"no HTTP":              {"hello\r\n\r\n", 400, admin.CodeInvalid},
		"no host":              {"GET / HTTP/1.1\r\n\r\n", 400, admin.CodeInvalid},
		"a header too large":   {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", 431, admin.CodeTooLarge},
		"another coding":       {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501, admin.CodeInvalid},
		"another version":      {"GET / HTTP/3.0\r\n" + host + "\r\n", 505, admin.CodeInvalid},
		"another expectation":  {"GET / HTTP/1.1\r\n" + host + "Expect: cake\r\n\r\n", 417, admin.CodeInvalid},
		"length and coding":    {"POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, admin.CodeInvalid},
		"coding and length":    {"POST / HTTP/1.1\r\n" + host + "transfer-encoding: chunked\r\nCONTENT-LENGTH: 5\r\n\r\n0\r\n\r\n", 400, admin.CodeInvalid},
		"both, with no values": {"POST / HTTP/1.1\r\n" + host + "Content-Length:\r\n 5\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400, admin.CodeInvalid},
		"both, of HTTP/1.0":    {"POST / HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, admin.CodeInvalid},
		"coding alone":         {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n", 404, admin.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := say(t, s, c.text)
			heard(t, r, c.status, c.code)
		})
	}
	t.Run("after a request with a body", func(t *testing.T) {
		for cut := 1; cut < 9; cut++ { // however the bytes come
			text := "POST /a HTTP/1.1\r\n" + host + "Content-Length: 9\r\n\r\nGET / HTTGET /b HTTP/1.1\r\n" + host + "\r\n" +
				"POST / HTTP/1.1\r\nContent-Length: 5\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
			f := framing{}
			for len(text) > 0 {
				n := min(cut, len(text))
				f.scan([]byte(text[:n]))
				text = text[n:]
			}
			if !f.both {
				t.Errorf("in pieces of %d it is not seen", cut)
			}
		}
	})
}

// A body that does not come keeps no connection: who has no key is told at once,
// others when the time is over.
func TestSlowBodies(t *testing.T) {
	s := serving(t, func(s *Server) { s.timeouts.body, s.timeouts.rest = 100*time.Millisecond, time.Millisecond })
	have, err := s.Seed(t.Context(), SeedDomain)
	if err != nil {
		t.Fatal(err)
	}
	post := "POST /v1/static-export/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
	t.Run("with a key", func(t *testing.T) {
		_, r := say(t, s, post+"Authorization: Bearer "+have.Key+"\r\n\r\n{")
		heard(t, r, 400, admin.CodeInvalid)
	})
	t.Run("a byte now and then", func(t *testing.T) {
		c, r := say(t, s, post+"Authorization: Bearer "+have.Key+"\r\n\r\n{")
		go func() {
			for {
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		if res, err := http.ReadResponse(r, nil); err == nil && res.StatusCode != 400 { // or a reset
			t.Error(res.Status)
		}
	})
	t.Run("an upload", func(t *testing.T) {
		link, err := s.local.Objects().PresignPut(t.Context(), "src/x", 1<<20, strings.Repeat("0", 64), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		head := "PUT " + strings.TrimPrefix(link.URL, s.URL) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n"
		for name, values := range link.Header {
			head += name + ": " + values[0] + "\r\n"
		}
		_, r := say(t, s, head+"\r\n"+strings.Repeat("x", 2*remote.Stride))
		if res, err := http.ReadResponse(r, nil); err != nil || res.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%v, %v", res, err)
		}
	})
	t.Run("without a key", func(t *testing.T) {
		s := serving(t, func(s *Server) { s.timeouts.body, s.timeouts.rest = time.Hour, time.Millisecond })
		_, r := say(t, s, post+"\r\n")
		heard(t, r, 401, admin.CodeUnauthorized)
	})
}

// A reader that does not read ends as well.
func TestSlowReaders(t *testing.T) {
	ended := make(chan error, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: limited(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				ended <- err
				return
			}
		}
	}), timeouts{body: time.Hour, write: 100 * time.Millisecond})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if err := <-ended; !os.IsTimeout(err) {
		t.Error(err)
	}
}

// Behind a trusted proxy, the address that it names counts: for keys that are bound to
// addresses and in the log. The proxy has as many connections as it wants.
func TestTrustedProxy(t *testing.T) {
	const from, network = "203.0.113.9", "203.0.113.0/24"
	for _, c := range []struct {
		name    string
		proxies []string
		header  string
		want    int
		logged  string
	}{
		{"no proxy is trusted", nil, from, 403, "127.0.0.1"},
		{"another is trusted", []string{"10.0.0.0/8"}, from, 403, "127.0.0.1"},
		{"this one is", []string{"10.0.0.0/8", "127.0.0.1"}, from, 200, from},
		{"this one is, and names another client", []string{"127.0.0.0/8"}, from + ", 198.51.100.1", 403, "198.51.100.1"},
		{"this one is, and says nothing", []string{"127.0.0.0/8"}, "", 403, "127.0.0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxies, err := proxy.Parse(c.proxies)
			if err != nil {
				t.Fatal(err)
			}
			log := &lockedBuffer{}
			s, err := Open(t.Context(), Options{Dir: t.TempDir(), Addr: "127.0.0.1:0", Proxies: proxies, Log: slog.New(slog.NewTextHandler(log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			s.most = 1
			org, err := s.Admin.CreateOrganisation(t.Context(), admin.Organisation{Name: "Acme", Plan: admin.PlanEnterprise})
			if err != nil {
				t.Fatal(err)
			}
			_, key, err := s.Admin.CreateKey(t.Context(), admin.KeyRequest{Organisation: org.ID, Name: "office", AllowedAddresses: []netip.Prefix{netip.MustParsePrefix(network)}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Serve(t.Context()); err != nil {
				t.Fatal(err)
			}
			header := ""
			if c.header != "" {
				header = "X-Forwarded-For: " + c.header + "\r\n"
			}
			ask := func() *http.Response {
				_, r := say(t, s, "GET /v1/organisation HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+key+"\r\n"+header+"\r\n")
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					return nil
				}
				_ = res.Body.Close()
				return res
			}
			if res := ask(); res == nil || res.StatusCode != c.want {
				t.Errorf("%+v, want %d", res, c.want)
			}
			trusted := proxies.Has(netip.MustParseAddr("127.0.0.1"))
			if second := ask(); (second != nil) != trusted { // the first connection is open still
				t.Errorf("a second connection is answered: %v, want %v", second != nil, trusted)
			}
			_ = s.Close() // a line of the log follows its answer
			if got := log.String(); !strings.Contains(got, "address="+c.logged+" ") {
				t.Errorf("the log does not name %s: %s", c.logged, got)
			}
		})
	}
}

// lockedBuffer is a log that can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// One address has its share of connections, and gets a place back with each
// that ends.
func TestConnectionsOfOneAddress(t *testing.T) {
	s := serving(t, func(s *Server) { s.most = 3 })
	const get = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
	answered := func(r *bufio.Reader) bool {
		res, err := http.ReadResponse(r, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		return err == nil
	}
	var open []net.Conn
	for range 3 {
		c, r := say(t, s, get)
		if open = append(open, c); !answered(r) {
			t.Fatal("no answer")
		}
	}
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, get)
	if answered(bufio.NewReader(c)) {
		t.Error("a fourth connection is answered")
	}
	_ = open[0].Close()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, get)
		done := answered(bufio.NewReader(c))
		_ = c.Close()
		if done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no place comes back")
		}
	}
	for a, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1", "[::ffff:192.0.2.1]:1": "192.0.2.1", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::", "[fe80::1%eth0]:1": "fe80::",
	} {
		if got := clientOf(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a))); got.String() != want {
			t.Errorf("%s counts for %s, want %s", a, got, want)
		}
	}
}
