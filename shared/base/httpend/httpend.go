// Package httpend has servers of HTTP end without waiting for nothing.
package httpend

import (
	"net"
	"net/http"
	"sync"
)

// EndUnused has Shutdown of a server close at once the connections that have not carried
// a request. Clients open such connections in advance; net/http waits five seconds for
// each. Call it before Serve, after ConnState is set.
func EndUnused(server *http.Server) {
	u := &unused{open: map[net.Conn]bool{}}
	before := server.ConnState
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if before != nil {
			before(c, state)
		}
		u.see(c, state)
	}
	server.RegisterOnShutdown(u.end)
}

// unused are the connections without a request so far.
type unused struct {
	mu    sync.Mutex
	open  map[net.Conn]bool
	ended bool
}

func (u *unused) see(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.open, c)
	case u.ended:
		_ = c.Close()
	default:
		u.open[c] = true
	}
}

func (u *unused) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	for c := range u.open {
		_ = c.Close()
	}
}
