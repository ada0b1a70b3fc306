package webhook_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/base/remote/remotetest"
	"github.com/bindery-docs/bindery/shared/service/webhook"
)

// table leads names to addresses, one set after another at each look-up.
type table struct {
	names map[string][]string
	asked atomic.Int32
}

func (n *table) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	sets := n.names[host]
	if len(sets) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var all []netip.Addr
	for a := range strings.SplitSeq(sets[min(int(n.asked.Add(1)), len(sets))-1], " ") {
		all = append(all, netip.MustParseAddr(a))
	}
	return all, nil
}

const public = "93.184.216.34"

// The rules of addresses hold at each attempt: a name is looked up anew, the
// connection goes to the address that was checked, and nothing else is followed.
func TestAddresses(t *testing.T) { synctest.Test(t, testAddresses) } // simulated time

func testAddresses(t *testing.T) {
	var reached atomic.Int32
	server, network := remotetest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "https://hooks.example.com/", http.StatusTemporaryRedirect)
		case "/fails":
			w.WriteHeader(http.StatusTeapot)
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		case "/slow":
			<-r.Context().Done()
		case "/stalls":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	server.StartTLS()
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	own := remote.Callbacks{Private: []string{"hooks.corp", "link.corp"}}
	for _, c := range []struct {
		address string
		sets    []string // addresses of the host, one set for each attempt
		status  int
		problem string // of the last attempt
		reached int32
	}{
		{"https://example.com/", []string{public}, 200, "", 1},
		{"https://example.com/fails", []string{public}, 418, "the endpoint answered 418", 1},
		{"https://example.com/redirect", []string{public}, 307, "the endpoint answered 307: redirects are not followed", 1},
		{"https://example.com/endless", []string{public}, 200, "", 1},
		{"https://example.com/slow", []string{public}, 0, "the endpoint took more than 10s", 1},
		{"https://example.com/stalls", []string{public}, 200, "the endpoint took more than 10s", 1},
		{"https://other.example.org/", []string{public}, 0, "the address is on a host that does not prove its name", 0},
		{"https://none.example.com/", nil, 0, "the address is on a host that does not exist", 0},
		{"https://example.com/", []string{"127.0.0.1"}, 0, "the address is on a host with an address that is not public", 0},
		{"https://example.com/", []string{"10.1.2.3"}, 0, "the address is on a host with an address that is not public", 0},
		{"https://example.com/", []string{"169.254.169.254"}, 0, "the address is on a host with an address that is not public", 0},
		{"https://example.com/", []string{"::ffff:127.0.0.1"}, 0, "the address is on a host with an address that is not public", 0},
		{"https://example.com/", []string{"fd00:ec2::254"}, 0, "the address is on a host with an address that is not public", 0},
		{"https://example.com/", []string{public + " 127.0.0.1"}, 0, "the address is on a host with an address that is not public", 0},
		// A name that means something else a moment later.
		{"https://example.com/", []string{public, "127.0.0.1"}, 0, "the address is on a host with an address that is not public", 1},
		{"http://example.com/", []string{public}, 0, "the address does not begin with https://", 0},
		{"https://127.0.0.1/", []string{public}, 0, "the address names no host by its name", 0},
		{"https://example.com:8443/", []string{public}, 0, "the address has another port than 443", 0},
		// The operator's own, with a certificate for another name.
		{"https://hooks.corp/", []string{"10.1.2.3"}, 0, "the address is on a host that does not prove its name", 0},
		{"https://link.corp/", []string{"169.254.169.254"}, 0, "the address is on a host with an address that is not public", 0},
	} {
		reached.Store(0)
		host := strings.TrimPrefix(strings.TrimPrefix(c.address, "https://"), "http://")
		host, _, _ = strings.Cut(host, "/")
		var dialled []string
		sender := webhook.NewSender(webhook.SenderOptions{
			Callbacks: own, Resolver: &table{names: map[string][]string{host: c.sets}}, TLS: &tls.Config{RootCAs: roots},
			Dial: func(ctx context.Context, kind, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return network.DialContext(ctx, kind, address)
			},
		})
		var status int
		var problem string
		for range max(1, len(c.sets)) {
			status, problem = sender.Send(t.Context(), c.address, []byte("{}"), http.Header{})
		}
		if status != c.status || problem != c.problem || reached.Load() != c.reached {
			t.Errorf("%s on %v: %d %q, reached %d times, want %d %q, %d", c.address, c.sets, status, problem, reached.Load(), c.status, c.problem, c.reached)
		}
		for _, address := range dialled {
			if address != public+":443" && address != "10.1.2.3:443" {
				t.Errorf("%s on %v: dialled %s", c.address, c.sets, address)
			}
		}
	}
}

// Without a network of the test's own, the socket itself is checked.
func TestSocketIsChecked(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	sender := webhook.NewSender(webhook.SenderOptions{Resolver: &table{names: map[string][]string{"example.com": {"127.0.0.1"}}}})
	if status, problem := sender.Send(t.Context(), fmt.Sprintf("https://example.com:%s/", port), nil, http.Header{}); status != 0 || problem == "" {
		t.Error(status, problem)
	}
	if status, problem := sender.Send(t.Context(), "https://example.com/", nil, http.Header{}); status != 0 || problem != "the address is on a host with an address that is not public" {
		t.Error(status, problem)
	}
}
