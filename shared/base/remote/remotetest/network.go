// Package remotetest is a network in memory. It is for tests alone. Within
// testing/synctest a host stalls and a time-out passes without a wait, and no
// load of the machine decides which of the two comes first: a real network would
// keep the clock from moving.
package remotetest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Network is a listener whose connections are pipes of this process.
type Network struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

var _ net.Listener = (*Network)(nil)

// New returns a network on which nobody listens yet.
func New() *Network {
	return &Network{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// NewServer returns a server of a network of its own, which the caller starts.
// Both end with the test.
func NewServer(t testing.TB, handler http.Handler) (*httptest.Server, *Network) {
	t.Helper()
	n := New()
	s := httptest.NewUnstartedServer(handler)
	_ = s.Listener.Close() // a socket
	s.Listener = n
	t.Cleanup(s.Close)
	return s, n
}

// Transport makes requests over the network, whatever their host. Its connections
// end with the test.
func (n *Network) Transport(t testing.TB) *http.Transport {
	t.Helper()
	transport := &http.Transport{DialContext: n.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Accept is net.Listener's.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener's.
func (n *Network) Close() error {
	n.close.Do(func() { close(n.closed) })
	return nil
}

// Addr is net.Listener's: an address of this machine.
func (n *Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// DialContext connects to who listens, whatever the address.
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
