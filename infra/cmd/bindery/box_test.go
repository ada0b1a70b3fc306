package main

import (
	"encoding/pem"
	"net"

	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// tlsProxy is a proxy with TLS in front of a server that comes later.
type tlsProxy struct {
	mu    sync.Mutex
	paths []string
	from  string // the caller's address, in place of the real one
}

// start starts a proxy with a certificate of its own, which SSL_CERT_FILE then
// names. PUBLIC is its address, and BACK the one that the server must listen on.
func (p *tlsProxy) start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: tlsproxy")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	back := free.Addr().String()
	ts.Check(free.Close())
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		p.mu.Lock()
		p.paths = append(p.paths, r.In.URL.Path)
		from := p.from
		p.mu.Unlock()
		r.SetURL(&url.URL{Scheme: "http", Host: back})
		r.Out.Host = r.In.Host
		r.Out.Header.Del("Forwarded")
		if r.SetXForwarded(); from != "" {
			r.Out.Header.Set("X-Forwarded-For", from)
		}
	}}
	server := httptest.NewTLSServer(proxy)
	ts.Defer(server.Close)
	file := ts.MkAbs("proxy.pem")
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	ts.Setenv("SSL_CERT_FILE", file)
	ts.Setenv("PUBLIC", server.URL)
	ts.Setenv("BACK", back)
}

// passed fails unless requests of paths that begin so went through: passed PATH...
func (p *tlsProxy) passed(ts *testscript.TestScript, neg bool, args []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, want := range args {
		found := false
		for _, path := range p.paths {
			found = found || strings.HasPrefix(path, want)
		}
		if found == neg {
			ts.Fatalf("%s went through: %t; all were %q", want, found, p.paths)
		}
	}
}

// calledFrom sets the address that the proxy reports: calledfrom ADDRESS
func (p *tlsProxy) calledFrom(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: calledfrom ADDRESS")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from = args[0]
}
