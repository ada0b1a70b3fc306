// Package remotetest simulates a network in memory, for tests only. With
// testing/synctest, stalls and timeouts take no real time, and their order does not
// depend on the machine's load. Goroutines blocked on a real network would stop the
// simulated clock.
package remotetest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Network implements net.Listener with in-process pipes.
type Network struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

var _ net.Listener = (*Network)(nil)

// New returns a network without a server.
func New() *Network {
	return &Network{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// NewServer returns an unstarted server on a new network. The test's cleanup closes
// both.
func NewServer(t testing.TB, handler http.Handler) (*httptest.Server, *Network) {
	t.Helper()
	n := New()
	s := httptest.NewUnstartedServer(handler)
	_ = s.Listener.Close() // the real socket
	s.Listener = n
	t.Cleanup(s.Close)
	return s, n
}

// Transport returns a transport that sends requests for any host over the network.
// The test's cleanup closes its idle connections.
func (n *Network) Transport(t testing.TB) *http.Transport {
	t.Helper()
	transport := &http.Transport{DialContext: n.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Accept waits for the next connection (net.Listener).
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and DialContext fail (net.Listener).
func (n *Network) Close() error {
	n.close.Do(func() { close(n.closed) })
	return nil
}

// Addr returns a loopback address (net.Listener).
func (n *Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// DialContext connects to the listener. It ignores network and address.
func (n *Network) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.conns <- theirs:
		return ours, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
