package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Dialer connects to hosts by name, and to public addresses alone: a host's
// addresses are looked up once, all of them must be public, and the connection
// is made to the address that was checked. The zero value is for use.
type Dialer struct {
	// Resolver finds hosts' addresses; nil means net.DefaultResolver.
	Resolver Resolver
	// Dial connects to an address and a port, both numbers, that have been
	// checked; nil means the network, where the socket is checked once more.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Timeout is how long one connection may take to be made; 0: as long as the
	// system lets it.
	Timeout time.Duration
	// Private reports whether the operator lets a host, given as host:port, have
	// addresses that are not public; nil means none. A name that leads to a
	// link-local address, where clouds keep credentials, is refused even then.
	Private func(address string) bool
}

// DialContext connects to a host and a port. The error is a *Problem where an
// address is not public.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var resolver Resolver = net.DefaultResolver
	if d.Resolver != nil {
		resolver = d.Resolver
	}
	found, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	private := d.Private != nil && d.Private(address)
	_, notLiteral := netip.ParseAddr(host)
	// A name with one address that is not public is refused as a whole.
	for _, a := range found {
		if private && (notLiteral == nil || !a.Unmap().IsLinkLocalUnicast()) {
			continue
		}
		if !isPublic(a) {
			return nil, &Problem{Reason: notPublic, cause: fmt.Errorf("%s is %s", host, a)}
		}
	}
	dial := d.Dial
	if dial == nil {
		nd := &net.Dialer{Timeout: d.Timeout}
		if !private {
			nd.Control = control
		}
		dial = nd.DialContext
	}
	var failed error
	for _, a := range found {
		conn, err := dial(ctx, network, net.JoinHostPort(a.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

// control refuses a socket to an address that is not public, at the last moment
// at which that can be done.
func control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(to.Addr()) || !strings.HasPrefix(network, "tcp") {
		return &Problem{Reason: notPublic}
	}
	return nil
}
