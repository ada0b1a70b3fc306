package serve

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestJoinedIsOneSegment: the head and a body of a page's size leave in one
// piece, as the system counts them: a body that fits with the head into the
// buffer of net/http, one of which the end would stay there, and a larger one.
func TestJoinedIsOneSegment(t *testing.T) {
	for _, size := range []int{joinLeast + 100, joinHeld + joinHeld/2, 20 << 10} {
		t.Run(strconv.Itoa(size), func(t *testing.T) { leavesInOne(t, bytes.Repeat([]byte("a"), size)) })
	}
}

func leavesInOne(t *testing.T, page []byte) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan *joinConn, 1)
	s := &http.Server{ConnContext: joinContext, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		if n := writeBody(w, r, page); n != int64(len(page)) {
			t.Errorf("written %d of %d bytes", n, len(page))
		}
	}), ConnState: func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns <- c.(*joinConn)
		}
	}}
	go s.Serve(&joinListener{Listener: tcp})
	defer s.Close()
	const requests = 20
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	for range requests {
		response, err := (&http.Client{Transport: transport}).Get("http://" + tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, response.Body); n != int64(len(page)) || err != nil {
			t.Fatalf("%d bytes, error %v", n, err)
		}
		response.Body.Close()
	}
	raw, err := (<-conns).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var info *unix.TCPInfo
	if failed := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	if info.Data_segs_out == 0 {
		outside.OutOfReach(t, "a kernel that counts segments")
	}
	// Twice as many when they leave in two; a loaded system may repeat a few.
	if info.Data_segs_out > requests*3/2 {
		t.Errorf("%d answers left in %d segments", requests, info.Data_segs_out)
	}
}
