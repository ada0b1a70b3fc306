package check_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/check"
)

// anywhere resolves each name to a public address.
type anywhere struct{}

func (anywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

// hosts is a server that stands for all other sites, and notes what it was asked for.
type hosts struct {
	prober *remote.Prober
	mu     sync.Mutex
	asked  map[string]int
}

func newHosts(t *testing.T) *hosts {
	t.Helper()
	h := &hosts{asked: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked[r.Method+" "+r.Host+r.URL.String()]++
		h.mu.Unlock()
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/moved":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
		case "/slow":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	h.prober = remote.NewProber(remote.ProbeOptions{Dialer: remote.Dialer{Resolver: anywhere{}, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}}})
	t.Cleanup(h.prober.Close)
	return h
}

func externalSite() fstest.MapFS {
	return fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "E", "navigation": {"pages": ["index"]}, "navbar": {"links": [{"label": "L", "href": "http://a.bindery.dev/gone"}]},
"footer": {"socials": {"github": "http://a.bindery.dev/good"}}}`)},
		"bindery.yaml": {Data: []byte("check:\n  external:\n    ignore: [\"http://*.bindery.dev/ignored/*\"]\n")},
		"index.mdx": {Data: []byte(`[good](http://a.bindery.dev/good#place), [again](http://a.bindery.dev/good), [gone](http://a.bindery.dev/gone?token=secret)
[moved](http://b.bindery.dev/moved) [refused](http://b.bindery.dev/refused) [ignored](http://b.bindery.dev/ignored/gone)

{/* bindery-ignore external-missing: it comes back */}
[gone](http://a.bindery.dev/gone) [own](https://docs.example/nowhere) ![picture](http://a.bindery.dev/gone.png) [local](http://localhost:3000/gone)

<Card title="C" href="http://a.bindery.dev/gone" /> http://a.bindery.dev/good
`)},
	}
}

// TestExternal: what a check says of links to other sites, and whom it asks.
func TestExternal(t *testing.T) {
	h := newHosts(t)
	e := &check.External{Prober: h.prober, Cache: filepath.Join(t.TempDir(), "cache", "links.json")}
	run := func() string {
		report, err := check.Site(t.Context(), externalSite(), check.Options{Domain: "docs.example", External: e})
		if err != nil || report.NotAsked != 0 {
			t.Fatal(report, err)
		}
		return text(report.Findings)
	}
	got := run()
	for _, line := range []string{
		"docs.json:1:95: warning: the link to http://a.bindery.dev/gone leads nowhere: its host answers with the status 404 (external-missing)",
		"index.mdx:1:78: warning: the link to http://a.bindery.dev/gone?… leads nowhere: its host answers with the status 404 (external-missing)",
		"index.mdx:2:1: notice: what the link to http://b.bindery.dev/moved leads to has moved for good to http://b.bindery.dev/new (external-moved)",
		"index.mdx:2:37: notice: the link to http://b.bindery.dev/refused could not be checked: its host answers with the status 403 (external-unsure)",
		"index.mdx:7:17: warning: the link to http://a.bindery.dev/gone leads nowhere: its host answers with the status 404 (external-missing)",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("not found is %s", line)
		}
	}
	if n := strings.Count(got, "external-"); n != 5 || strings.Contains(got, "ignore-comment") {
		t.Errorf("%d findings are about other sites:\n%s", n, got)
	}
	asked := map[string]int{
		"HEAD a.bindery.dev/good": 1, "HEAD a.bindery.dev/gone": 1, "GET a.bindery.dev/gone": 1, "HEAD a.bindery.dev/gone?token=secret": 1,
		"GET a.bindery.dev/gone?token=secret": 1, "HEAD b.bindery.dev/moved": 1, "HEAD b.bindery.dev/new": 1, "HEAD b.bindery.dev/refused": 1, "GET b.bindery.dev/refused": 1,
	}
	if diff := cmp.Diff(asked, h.asked); diff != "" {
		t.Errorf("asked for was (-want +got):\n%s", diff)
	}
	// The same again asks for nothing, another process only for what was not reached.
	if again := run(); again != got {
		t.Errorf("found again is\n%s", again)
	}
	e = &check.External{Prober: h.prober, Cache: e.Cache}
	if again := run(); again != got {
		t.Errorf("found by another process is\n%s", again)
	}
	if h.asked["HEAD a.bindery.dev/good"] != 1 || h.asked["HEAD b.bindery.dev/moved"] != 1 || h.asked["HEAD a.bindery.dev/gone"] != 2 {
		t.Errorf("asked for was %v", h.asked)
	}
	if data, err := os.ReadFile(e.Cache); err != nil || strings.Contains(string(data), "secret") || strings.Contains(string(data), "/good") {
		t.Errorf("the cache has %s, %v", data, err)
	}
	// A cache that can't be read has nothing.
	if err := os.WriteFile(e.Cache, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	e = &check.External{Prober: h.prober, Cache: e.Cache}
	if again := run(); again != got || h.asked["HEAD a.bindery.dev/good"] != 2 {
		t.Errorf("found with a broken cache is\n%s", again)
	}
	// What a check before has not asked for stays unknown.
	site := externalSite()
	site["index.mdx"] = &fstest.MapFile{Data: []byte("[gone](http://a.bindery.dev/gone) [new](http://a.bindery.dev/gone?2)\n")}
	e.Known = true
	report, err := check.Site(t.Context(), site, check.Options{External: e})
	if err != nil || strings.Count(text(report.Findings), "external-missing") != 2 {
		t.Errorf("known is\n%s, %v", text(report.Findings), err)
	}
}

// A check ends in time, whatever a host does, and says how much it left out.
func TestExternalInTime(t *testing.T) {
	h := newHosts(t)
	site := externalSite()
	site["index.mdx"] = &fstest.MapFile{Data: []byte("[slow](http://a.bindery.dev/slow) [slow](http://a.bindery.dev/slow?2) [slow](http://a.bindery.dev/slow?3)\n")}
	site["docs.json"] = &fstest.MapFile{Data: []byte(`{"name": "E", "navigation": {"pages": ["index"]}}`)}
	e := &check.External{Prober: h.prober, Timeout: 50 * time.Millisecond}
	report, err := check.Site(t.Context(), site, check.Options{External: e})
	if err != nil || report.NotAsked != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Faults of what is said about other sites have their places.
func TestExternalRules(t *testing.T) {
	site := externalSite()
	site["index.mdx"] = &fstest.MapFile{Data: []byte("Text.\n")}
	site["bindery.yaml"] = &fstest.MapFile{Data: []byte("check:\n  external:\n    ignore: all\n    hosts: []\n  external-moved: off\n")}
	report, err := check.Site(t.Context(), site, check.Options{})
	want := `bindery.yaml:3:13: error: "ignore" must be a list of addresses, in which * stands for anything (check-rules)
bindery.yaml:4:5: error: unknown key "hosts": the only key of "external" is "ignore" (check-rules)
`
	if err != nil || text(report.Findings) != want {
		t.Errorf("found is\n%s, %v", text(report.Findings), err)
	}
}
