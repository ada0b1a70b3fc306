package outside

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Port is a TCP port of this machine on which nobody listens, for a program that
// must be told its port, or that a test needs to be refused at. The system gives
// the ports of its own choice to whoever asks next, so one that was listened on
// and closed may be somebody's a moment later; this one lies below them (32768 and
// more on Linux, 49152 and more elsewhere).
func Port(tb testing.TB) string {
	tb.Helper()
	var err error
	for range 1000 {
		port := strconv.Itoa(20000 + rand.IntN(12000))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	tb.Fatal(err)
	return ""
}
