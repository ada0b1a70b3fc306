package server

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/local"
)

// maxConnections is how many connections one client address may have: far more
// than a pipeline opens, and enough for a proxy in front of all callers.
const maxConnections = 256

// timeouts holds the time limits of a request and its response.
type timeouts struct {
	// body limits reading a request body: the whole body of an API call, each
	// remote.Stride of bytes of an uploaded object.
	body time.Duration
	// write limits each write of the response.
	write time.Duration
	// rest limits reading the part of a body that the handler left unread.
	rest time.Duration
}

func defaultTimeouts() timeouts {
	return timeouts{body: remote.Patience, write: remote.Patience, rest: time.Second}
}

// limited applies the time limits to a request and its response. If the handler left
// a part of the body unread, the connection ends with the response.
func limited(next http.Handler, t timeouts) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connection{}).(*conn)
		if ok {
			c.refusing = false
		}
		control := http.NewResponseController(w)
		body := &slowBody{ReadCloser: r.Body, control: control, patience: t.body, left: t.body, read: r.ContentLength == 0}
		body.whole = !strings.HasPrefix(r.URL.Path, local.LinkPath)
		r.Body = body
		next.ServeHTTP(&slowWriter{ResponseWriter: w, control: control, body: body, timeouts: t, last: ok && c.last.Load()}, r)
	})
}

// connection is the key of a request's *conn.
type connection struct{}

// slowBody is a body with a bound on the time that is spent waiting for it.
type slowBody struct {
	io.ReadCloser
	control  *http.ResponseController
	patience time.Duration
	left     time.Duration // of patience
	whole    bool          // all of it has patience, not each stride
	moved    int
	read     bool // to its end
}

func (b *slowBody) Read(p []byte) (int, error) {
	begin := time.Now()
	if !b.read { // after its end net/http waits for the connection's, without a bound
		_ = b.control.SetReadDeadline(begin.Add(b.left))
	}
	n, err := b.ReadCloser.Read(p)
	b.read = b.read || err == io.EOF
	b.left -= time.Since(begin)
	if b.moved += n; b.moved >= remote.Stride && !b.whole {
		b.moved, b.left = 0, b.patience
	}
	return n, err
}

// slowWriter is an answer with a bound on the time of each write.
type slowWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	body     *slowBody
	timeouts timeouts
	last     bool // nothing may follow on this connection
	begun    bool
}

// Unwrap is for http.ResponseController.
func (w *slowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader ends the connection with this answer where the next request
// would have to wait for the rest of this one.
func (w *slowWriter) WriteHeader(status int) {
	w.begun = true
	if !w.body.read || w.last {
		w.Header().Set("Connection", "close")
	}
	if !w.body.read {
		_ = w.control.SetReadDeadline(time.Now().Add(w.timeouts.rest))
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(w.timeouts.write))
	w.ResponseWriter.WriteHeader(status)
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(w.timeouts.write))
	return w.ResponseWriter.Write(p)
}
