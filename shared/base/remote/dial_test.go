package remote

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// Private addresses are connected to for hosts that the operator names, with their
// port; a name that leads to a link-local address is refused even then.
func TestDialerPrivate(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := &network{names: map[string][]string{
		"git.corp.example": {"127.0.0.1"}, "both.example": {"127.0.0.1|169.254.169.254"}, "link.example": {"169.254.169.254"}, "link6.example": {"fe80::1"},
		"127.0.0.1": {"127.0.0.1"}, "other.example": {"127.0.0.1"},
	}}
	private := func(address string) bool {
		host, _, _ := strings.Cut(address, ":")
		return host != "other.example" && strings.HasSuffix(address, ":"+port)
	}
	for host, want := range map[string]bool{
		"git.corp.example": true, "both.example": false, "127.0.0.1": true, "other.example": false, "link.example": false, "link6.example": false,
	} {
		conn, err := Dialer{Resolver: names, Private: private}.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			_ = conn.Close()
		}
		if problem, ok := errors.AsType[*Problem](err); (err == nil) != want || err != nil && (!ok || problem.Reason != notPublic) {
			t.Errorf("%s: %v", host, err)
		}
		if _, err := (Dialer{Resolver: names}).DialContext(t.Context(), "tcp", net.JoinHostPort(host, port)); err == nil {
			t.Errorf("%s is connected to though nobody names it", host)
		}
	}
}
