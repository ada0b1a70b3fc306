package httpend

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener for connections that a test makes.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// A server ends at once, whoever has opened a connection and sent nothing.
func TestShutdownWaitsForNoUnusedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		seen := make(chan http.ConnState, 10)
		server := &http.Server{ConnState: func(_ net.Conn, state http.ConnState) { seen <- state }}
		EndUnused(server)
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(l) }()
		ours, theirs := net.Pipe()
		l.conns <- theirs
		if state := <-seen; state != http.StateNew {
			t.Errorf("the connection is %s", state)
		}
		begin := time.Now() // of a clock that stands still while anything can run
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begin); waited > time.Second {
			t.Errorf("it waited %s", waited)
		}
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
		_ = ours.Close()
	})
}
