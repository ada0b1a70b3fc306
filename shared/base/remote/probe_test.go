package remote

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// publicly resolves every name but those below "nowhere." to a public address.
type publicly struct{}

func (publicly) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if strings.HasPrefix(host, "nowhere.") {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if strings.HasPrefix(host, "inside.") {
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

// proberOf returns a Prober that finds every public host on a server of this machine.
func proberOf(t *testing.T, handler http.HandlerFunc) *Prober {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p := NewProber(ProbeOptions{Dialer: Dialer{Resolver: publicly{}, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}}})
	t.Cleanup(p.Close)
	return p
}

// TestProbe: what hosts answer, and what is made of it.
func TestProbe(t *testing.T) {
	var busy atomic.Int32
	p := proberOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != probeAgent || r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("the request has the header %v", r.Header)
		}
		head := r.Method == http.MethodHead
		if !head && r.Header.Get("Range") != "bytes=0-0" {
			t.Errorf("%s is asked for as a whole", r.URL)
		}
		status := http.StatusOK
		switch r.URL.Path {
		case "/get-only", "/refuses":
			if head {
				status = map[string]int{"/get-only": http.StatusMethodNotAllowed, "/refuses": http.StatusForbidden}[r.URL.Path]
			}
		case "/empty":
			if status = http.StatusNotFound; !head {
				status = http.StatusRequestedRangeNotSatisfiable
			}
		case "/gone":
			status = http.StatusGone
		case "/lost":
			status = http.StatusNotFound
		case "/private":
			status = http.StatusUnauthorized
		case "/broken":
			status = http.StatusInternalServerError
		case "/moved":
			w.Header().Set("Location", "/moved-again")
			status = http.StatusMovedPermanently
		case "/moved-again":
			w.Header().Set("Location", "http://new.bindery.dev/new?a=b")
			status = http.StatusPermanentRedirect
		case "/today":
			w.Header().Set("Location", "/moved")
			status = http.StatusFound
		case "/moved-away":
			w.Header().Set("Location", "/lost")
			status = http.StatusMovedPermanently
		case "/circle":
			w.Header().Set("Location", "/circle")
			status = http.StatusFound
		case "/inside":
			w.Header().Set("Location", "http://169.254.169.254/latest")
			status = http.StatusFound
		case "/busy":
			if busy.Add(1) == 1 {
				w.Header().Set("Retry-After", "0")
				status = http.StatusTooManyRequests
			}
		case "/too-busy":
			w.Header().Set("Retry-After", "86400")
			status = http.StatusTooManyRequests
		}
		w.WriteHeader(status)
	})
	for _, c := range []struct {
		address string
		want    Answer
	}{
		{"http://docs.bindery.dev/", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/#place", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/get-only", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/refuses", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/empty", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/gone", Answer{Gone, "leads nowhere: its host answers with the status 410", ""}},
		{"http://docs.bindery.dev/lost", Answer{Gone, "leads nowhere: its host answers with the status 404", ""}},
		{"http://nowhere.bindery.dev/", Answer{Gone, "leads nowhere: there is no such host", ""}},
		{"http://docs.bindery.dev/private", Answer{Unsure, "could not be checked: its host answers with the status 401", ""}},
		{"http://docs.bindery.dev/broken", Answer{Unsure, "could not be checked: its host answers with the status 500", ""}},
		{"http://docs.bindery.dev/moved", Answer{MovedOn, "has moved", "http://new.bindery.dev/new?a=b"}},
		{"http://docs.bindery.dev/today", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/moved-away", Answer{Gone, "leads nowhere: its host answers with the status 404", ""}},
		{"http://docs.bindery.dev/circle", Answer{Unsure, "redirects more than 5 times", ""}},
		{"http://docs.bindery.dev/inside", Answer{Unsure, "redirects to an address that is not asked", ""}},
		{"http://docs.bindery.dev/busy", Answer{Outcome: Reached}},
		{"http://docs.bindery.dev/too-busy", Answer{Unsure, "could not be checked: its host answers with the status 429", ""}},
		{"http://inside.bindery.dev/", Answer{NotAsked, notPublic, ""}},
		{"http://127.0.0.1/", Answer{NotAsked, "is not asked", ""}},
		{"http://[::1]:8080/", Answer{NotAsked, "is not asked", ""}},
		{"http://localhost:3000/", Answer{NotAsked, "is not asked", ""}},
		{"https://api.example.com/", Answer{NotAsked, "is not asked", ""}},
		{"https://wiki.corp/", Answer{NotAsked, "is not asked", ""}},
		{"http://user:password@docs.bindery.dev/", Answer{NotAsked, "is not asked", ""}},
		{"ftp://docs.bindery.dev/", Answer{NotAsked, "is not asked", ""}},
		{"http://docs.bindery.dev/%zz", Answer{Unsure, "is not an address", ""}},
	} {
		if got, err := p.Probe(t.Context(), c.address); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.address, got, err, c.want)
		}
	}
}

// A host of the operator's own network is asked if it is named.
func TestProbePrivateHosts(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	named := server.Listener.Addr().String()
	p := NewProber(ProbeOptions{Dialer: Dialer{Private: func(address string) bool { return address == named }}})
	defer p.Close()
	if got, err := p.Probe(t.Context(), server.URL); err != nil || got.Outcome != Gone {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := p.Probe(t.Context(), "http://127.0.0.1:1/"); err != nil || got.Outcome != NotAsked {
		t.Errorf("another port: %+v, %v", got, err)
	}
}

// No host gets more than two requests at the same time, and what waits ends with its
// context.
func TestProbeIsPolite(t *testing.T) {
	var now, most atomic.Int32
	open := make(chan struct{})
	p := proberOf(t, func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		<-open
		now.Add(-1)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 10 {
		asking.Go(func() { _, _ = p.Probe(ctx, "http://docs.bindery.dev/") })
	}
	for now.Load() < perHost {
		time.Sleep(time.Millisecond)
	}
	cancel()
	asking.Wait()
	close(open)
	if most.Load() != perHost {
		t.Errorf("%d requests were made at the same time", most.Load())
	}
	if _, err := p.Probe(ctx, "http://docs.bindery.dev/"); err == nil {
		t.Error("a context that is done has no effect")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": -1, "soon": -1, "-1": -1, "0": 0, "7": 7 * time.Second, "31": -1, "99999999999999": -1,
		now.Add(9 * time.Second).Format(http.TimeFormat): 9 * time.Second, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		if got, ok := retryAfter(value, now); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %v", value, got, ok)
		}
	}
}
