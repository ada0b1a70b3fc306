package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/base/proxy"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// listener bounds the connections of each client address, so that one client
// can't take them all.
type listener struct {
	net.Listener
	most int // connections of one address
	// proxies have the connections of many clients, and bounds of their own.
	proxies proxy.Trusted

	mu   sync.Mutex
	open map[netip.Addr]int
}

// Accept returns the next connection that is within the bound; those beyond it
// are closed.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := clientOf(c.RemoteAddr())
		trusted := false
		if at, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
			trusted = l.proxies.Has(at.Addr())
		}
		l.mu.Lock()
		full := !trusted && l.open[from] >= l.most
		if !full {
			l.open[from]++
		}
		l.mu.Unlock()
		if !full {
			return &conn{Conn: c, left: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = c.Close()
	}
}

func (l *listener) leave(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

// clientOf is the address that a connection counts for: with IPv6 the network
// of 64 bits, which is what one client has.
func clientOf(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is6() {
		p, _ := ip.Prefix(64)
		return p.Addr()
	}
	return ip
}

// conn is a connection of which two things are changed that net/http offers no
// way to change: requests with both Content-Length and Transfer-Encoding are
// refused (RFC 9112, 6.3: a proxy in between may see another end of them), and
// what net/http refuses itself gets the form of our own refusals.
type conn struct {
	net.Conn
	left func()

	// refusing: what is written now, if anything, is net/http's refusal.
	refusing bool
	framing  framing
	// last: framing has seen a request with Transfer-Encoding.
	last atomic.Bool
}

// Close ends the connection and its place in the bound.
func (c *conn) Close() error {
	c.left()
	return c.Conn.Close()
}

// Read lets framing see what comes.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.framing.scan(p[:n]); c.framing.at == atEnd {
		c.last.Store(true)
	}
	return n, err
}

// CloseWrite says that nothing more is sent, as net/http does before it closes.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// Write sends p, or our form of a refusal.
func (c *conn) Write(p []byte) (int, error) {
	status, ok := refusalStatus(p)
	if !c.refusing || !ok {
		return c.Conn.Write(p)
	}
	code, message := admin.CodeInvalid, "this is not a valid HTTP request"
	switch {
	case c.framing.both:
		message = "a request has either Content-Length or Transfer-Encoding"
	case status == http.StatusRequestHeaderFieldsTooLarge:
		code, message = admin.CodeTooLarge, "the header of the request is too large"
	case status == http.StatusExpectationFailed:
		message = "Expect: must be 100-continue"
	case status == http.StatusNotImplemented:
		message = "Transfer-Encoding: must be chunked"
	case status == http.StatusHTTPVersionNotSupported:
		message = "the version of HTTP is not supported"
	}
	body, err := json.Marshal(api.ErrorBody{Error: message})
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\n%s: %s\r\n%s: %s\r\nConnection: close\r\n\r\n%s\n",
		status, http.StatusText(status), len(body)+1, api.HeaderErrorCode, code, api.HeaderRequestID, api.NewRequestID(), body)
	if err != nil {
		return 0, err
	}
	// Closing while something is unread would reset the connection, and the
	// client might never see why.
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = io.CopyN(io.Discard, c.Conn, 256<<10)
	return len(p), nil
}

// refusalStatus reads the status of a refusal in net/http's own form: with no
// header but these, or to an expectation.
func refusalStatus(p []byte) (int, bool) {
	line, rest, _ := bytes.Cut(p, []byte("\r\n"))
	text, ok := strings.CutPrefix(string(line), "HTTP/1.1 ")
	number, _, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	if !ok || err != nil {
		return 0, false
	}
	own := bytes.HasPrefix(rest, []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"))
	return status, own || status == http.StatusExpectationFailed
}

// framing follows the requests of a connection as far as it takes to see where
// the next one begins, and spoils the second of the two headers where both are
// there, before net/http sees it: net/http then refuses the request and closes.
// A request with Transfer-Encoding must be the connection's last.
type framing struct {
	at     framingState
	blank  bool // nothing of the request line yet
	name   []byte
	length []byte // digits of Content-Length
	inside bool   // this line, or what it goes on with, is Content-Length
	skip   int64  // bytes of the body

	hasLength, hasCoding bool
	both                 bool
}

type framingState int

const (
	atRequestLine framingState = iota
	atName
	atValue
	atBody
	atEnd // of what is looked at
)

func (f *framing) scan(p []byte) {
	for i := 0; i < len(p); i++ {
		b := p[i]
		switch f.at {
		case atRequestLine:
			switch {
			case b != '\n':
				f.blank = f.blank && b == '\r'
			case !f.blank:
				*f = framing{at: atName}
			}
		case atName:
			switch {
			case b == '\n':
				if len(bytes.Trim(f.name, "\r")) == 0 {
					f.endHead()
				}
				f.name = f.name[:0]
			case b == ':':
				if f.field(); f.both {
					p[i] = 0
					f.at = atEnd
					return
				}
				f.at = atValue
			case len(f.name) == 0 && (b == ' ' || b == '\t'): // goes on with the line before
				f.at = atValue
			case len(f.name) <= len("transfer-encoding"):
				f.name = append(f.name, b)
			}
		case atValue:
			switch {
			case b == '\n':
				f.at, f.name = atName, f.name[:0]
			case f.inside && '0' <= b && b <= '9':
				f.length = append(f.length, b)
			}
		case atBody:
			n := min(f.skip, int64(len(p)-i))
			i += int(n) - 1
			if f.skip -= n; f.skip == 0 {
				f.at, f.blank = atRequestLine, true
			}
		case atEnd:
			return
		}
	}
}

// field takes note of a header's name.
func (f *framing) field() {
	f.inside = strings.EqualFold(string(f.name), "content-length")
	if f.inside {
		f.hasLength, f.length = true, nil
	}
	f.hasCoding = f.hasCoding || strings.EqualFold(string(f.name), "transfer-encoding")
	f.both = f.hasLength && f.hasCoding
}

// endHead finds out where the next request begins. A length that can't be read
// is refused by net/http.
func (f *framing) endHead() {
	f.skip, _ = strconv.ParseInt(string(f.length), 10, 64)
	switch {
	case f.hasCoding:
		f.at = atEnd
	case f.skip > 0:
		f.at = atBody
	default:
		f.at, f.blank = atRequestLine, true
	}
}
