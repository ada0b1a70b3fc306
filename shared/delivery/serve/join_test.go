package serve

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// joined gives a connection that can join writes, and its other end.
func joined(t *testing.T) (*joinConn, *net.TCPConn) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	other, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	c, err := (&joinListener{Listener: tcp}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*joinConn), other.(*net.TCPConn)
}

// expect reads exactly want.
func expect(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("read %.40q and error %v, want %.40q", got, err, want)
	}
}

// TestJoinHolds: what is written while a connection holds waits for the next
// write that does not fit, or for the release; order and counts stay.
func TestJoinHolds(t *testing.T) {
	c, other := joined(t)
	write := func(text string) {
		t.Helper()
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("written %d of %d, error %v", n, len(text), err)
		}
	}
	head, body := strings.Repeat("h", joinHeld), strings.Repeat("b", 20<<10)
	write("at once ")
	expect(t, other, "at once ")
	for range 2 { // also a buffer that was used before
		c.hold()
		write(head)
		if _, err := c.TCPConn.Write([]byte("past it ")); err != nil {
			t.Fatal(err)
		}
		expect(t, other, "past it ") // so the head is not there yet
		write(body)
		expect(t, other, head+body)
		write("the end ")
		if err := c.release(); err != nil {
			t.Fatal(err)
		}
		expect(t, other, "the end ")
	}
	write("at once")
	expect(t, other, "at once")
}

// TestJoinFails: a write that fails says how much of it went out, whatever was
// held before it; what can't be released ends the connection.
func TestJoinFails(t *testing.T) {
	c, other := joined(t)
	if err := c.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	c.hold()
	if n, err := c.Write([]byte("head")); n != 4 || err != nil {
		t.Fatalf("holding %d, error %v", n, err)
	}
	if n, err := c.Write(make([]byte, 20<<10)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("written %d, error %v", n, err)
	}
	if err := c.release(); err != nil {
		t.Errorf("nothing is held any more, and releasing it fails: %v", err)
	}
	c.hold()
	if _, err := c.Write([]byte("head")); err != nil {
		t.Fatal(err)
	}
	if err := c.release(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("releasing after the deadline: %v", err)
	}
	if err := other.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // rather than for ever
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(other); len(rest) > 0 || err != nil {
		t.Errorf("the reader has %q and error %v, not an end", rest, err)
	}
}

// TestJoinedAnswers: every size of a body around the buffers of net/http comes
// whole and alone, in every protocol, on a connection that stays.
func TestJoinedAnswers(t *testing.T) {
	dir := t.TempDir()
	cert, key, pool := certificate(t, dir, "join")
	files := sample()
	sizes := []int{0, 1, joinLeast - 1, joinLeast, joinLeast + 1, joinHeld, joinHeld + 1, 20 << 10, 64 << 10, maxHot, maxHot + 1}
	for size := joinHeld - 1024; size < joinHeld; size += 13 { // where the head fills the buffer
		sizes = append(sizes, size)
	}
	body := func(size int) string { return strings.Repeat("0123456789abcdefghi\n", size/20+1)[:size] }
	for _, size := range sizes {
		files[fmt.Sprintf("size/%d.txt", size)] = body(size)
	}
	files["404.html"] = body(20 << 10)
	link := write(t, bundleOf(t, "1", files, nil))

	t.Run("HTTP/1.1, one after the other and ahead", func(t *testing.T) {
		r := started(t, Options{Link: link, CacheBytes: 8 << 20})
		c, err := net.Dial("tcp", strings.TrimPrefix(r.site, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		reader := bufio.NewReader(c)
		var sent []*http.Request
		answers := func() {
			t.Helper()
			for _, request := range sent {
				response, err := http.ReadResponse(reader, request)
				if err != nil {
					t.Fatalf("%s %s: %v", request.Method, request.URL, err)
				}
				got, err := io.ReadAll(response.Body)
				want := files[strings.TrimPrefix(request.URL.Path, "/")]
				if response.StatusCode == http.StatusNotFound {
					want = files["404.html"]
				}
				length := int64(len(want))
				if request.Method == http.MethodHead {
					want = ""
				}
				if err != nil || string(got) != want || response.ContentLength != length || response.Close {
					t.Errorf("%s %s: status %d, %d bytes, length %d, close %t, error %v", request.Method, request.URL, response.StatusCode, len(got), response.ContentLength, response.Close, err)
				}
			}
			sent = nil
		}
		ask := func(method, path string) {
			t.Helper()
			request, err := http.NewRequest(method, r.site+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept-Encoding", "identity")
			var b bytes.Buffer
			if err := request.Write(&b); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(b.Bytes()); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, request)
		}
		for range 2 { // from the volume, and from memory
			for i, size := range sizes {
				path := fmt.Sprintf("/size/%d.txt", size)
				ask(http.MethodGet, path)
				if i%3 > 0 {
					ask(http.MethodHead, path)
					ask(http.MethodGet, "/missing")
				}
				answers()
			}
		}
	})
	for _, c := range []struct {
		name      string
		options   Options
		transport *http.Transport
	}{
		{"HTTP/1.1 with TLS", Options{TLSCert: cert, TLSKey: key}, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
		{"HTTP/2 with TLS", Options{TLSCert: cert, TLSKey: key}, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}},
		{"HTTP/2", Options{H2C: true}, &http.Transport{Protocols: new(http.Protocols)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.options
			o.Link = link
			r := started(t, o)
			site := r.site
			if o.TLSCert != "" {
				site = strings.Replace(site, "http://", "https://", 1)
			}
			if p := c.transport.Protocols; p != nil {
				p.SetUnencryptedHTTP2(true)
			}
			c.transport.DisableCompression = true
			defer c.transport.CloseIdleConnections()
			for _, size := range sizes {
				response, err := (&http.Client{Transport: c.transport}).Get(fmt.Sprintf("%s/size/%d.txt", site, size))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || string(got) != body(size) {
					t.Errorf("size %d: %d bytes, error %v", size, len(got), err)
				}
			}
		})
	}
}
