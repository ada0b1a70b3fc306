package cloud

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// maxAnswerBytes is how large the answer of a function may be that is called
// and waited for: 6 MB (Lambda quotas), of which the form around a body in
// base64 takes its part.
const maxAnswerBytes = 6_000_000

// deadlineMargin is how long before Lambda would end an invocation its context
// ends, so that there is time to say so.
const deadlineMargin = 500 * time.Millisecond

// HTTPOptions go with HTTP.
type HTTPOptions struct {
	// Log gets what callers must not see; nil discards it.
	Log *slog.Logger
	// Metrics counts requests; nil counts nothing.
	Metrics *Metrics
	// CodeHeader is the header of an answer in which its error code stands,
	// for metrics; empty for none.
	CodeHeader string
}

// Handler is what a function does with each invocation. It is what the Lambda
// runtime wants of a handler.
type Handler interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// HTTP answers events of an API Gateway REST API (Lambda proxy integration,
// payload 1.0) with h. The request that h sees has:
//
//   - the path that the resource's pattern and the path's parameters make,
//     each of them escaped, so that stages and base paths of domains are out
//     of it and an escaped slash stays inside its element
//   - every value of every header and parameter, in order
//   - as RemoteAddr the address that the gateway saw, with port 0. No header
//     can change it.
//
// What h panics with is logged with its stack and answered with 500.
func HTTP(h http.Handler, o HTTPOptions) Handler {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &httpAdapter{h, o}
}

type httpAdapter struct {
	handler http.Handler
	HTTPOptions
}

// proxyRequest is what an event says that matters here.
type proxyRequest struct {
	Resource          string              `json:"resource"`
	Path              string              `json:"path"`
	HTTPMethod        string              `json:"httpMethod"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Query             map[string]string   `json:"queryStringParameters"`
	MultiValueQuery   map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters    map[string]string   `json:"pathParameters"`
	RequestContext    struct {
		RequestID string `json:"requestId"`
		Identity  struct {
			SourceIP string `json:"sourceIp"`
		} `json:"identity"`
	} `json:"requestContext"`
	Body            string `json:"body"`
	IsBase64Encoded bool   `json:"isBase64Encoded"`
}

// proxyResponse is the answer to an event.
type proxyResponse struct {
	StatusCode        int                 `json:"statusCode"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

// Invoke answers one event.
func (a *httpAdapter) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	began := time.Now()
	ctx = invocation(ctx)
	ctx, cancel := early(ctx)
	defer cancel()
	var event proxyRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, a.unreadable(ctx, began, err)
	}
	r, err := event.request(ctx)
	if err != nil {
		return nil, a.unreadable(ctx, began, err)
	}
	Annotate(ctx, slog.String(noteGateway, event.RequestContext.RequestID))
	w := a.serve(r)
	answer, err := w.encode(r.Method)
	if err != nil {
		a.Log.ErrorContext(ctx, "an answer can't be sent", "error", err)
		w = serverFault()
		if answer, err = w.encode(r.Method); err != nil {
			return nil, err
		}
	}
	code := ""
	if a.CodeHeader != "" {
		code = w.header.Get(a.CodeHeader)
	}
	if code == "" && w.status >= http.StatusInternalServerError {
		code = admin.CodeInternal
	}
	Annotate(ctx, slog.Int("status", w.status))
	a.Metrics.done(ctx, time.Since(began), code)
	return answer, nil
}

// unreadable is the error for an event that no gateway sent.
func (a *httpAdapter) unreadable(ctx context.Context, began time.Time, err error) error {
	a.Log.ErrorContext(ctx, "the event is not one of a REST API", "error", err)
	a.Metrics.done(ctx, time.Since(began), admin.CodeInternal)
	return invokeError(admin.CodeInternal, "the function got an event that it can't read")
}

// early ends a context a little before its deadline.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || time.Until(deadline) < 2*deadlineMargin {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-deadlineMargin))
}

// serve runs the handler.
func (a *httpAdapter) serve(r *http.Request) (w *recorder) {
	w = &recorder{header: make(http.Header)}
	defer func() {
		if v := recover(); v != nil {
			a.Log.ErrorContext(r.Context(), "a handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			w = serverFault()
		}
	}()
	a.handler.ServeHTTP(w, r)
	return w
}

// serverFault is the answer to a request that has no other.
func serverFault() *recorder {
	w := &recorder{header: http.Header{"Content-Type": {"application/json"}}}
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintf(&w.body, "{\"error\":%q}\n", admin.MessageInternal)
	return w
}

// request makes the request that an event describes.
func (e *proxyRequest) request(ctx context.Context) (*http.Request, error) {
	if e.HTTPMethod == "" {
		return nil, errors.New("it has no HTTP method")
	}
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, fmt.Errorf("its body: %w", err)
		}
	}
	path := e.escapedPath()
	if !strings.HasPrefix(path, "/") {
		return nil, errors.New("its path does not begin with a slash")
	}
	target := &url.URL{RawQuery: e.query().Encode()}
	if unescaped, err := url.PathUnescape(path); err == nil {
		target.Path, target.RawPath = unescaped, path
	} else {
		target.Path = path // not valid percent-encoding: used verbatim
	}
	r, err := http.NewRequestWithContext(ctx, e.HTTPMethod, "/", io.NopCloser(bytes.NewReader(body)))
	if err != nil {
		return nil, err
	}
	r.URL, r.RequestURI = target, target.RequestURI()
	r.Header = e.header()
	r.Host = r.Header.Get("Host")
	r.Header.Del("Host") // as package http has it
	r.ContentLength = int64(len(body))
	if ip := e.RequestContext.Identity.SourceIP; ip != "" {
		r.RemoteAddr = net.JoinHostPort(ip, "0")
	}
	return r, nil
}

// escapedPath is the request's path, from its resource and parameters where
// the event has them all.
func (e *proxyRequest) escapedPath() string {
	if !strings.HasPrefix(e.Resource, "/") || strings.Contains(e.Resource, "+}") {
		return e.Path
	}
	elements := strings.Split(e.Resource, "/")
	for i, element := range elements {
		name, ok := strings.CutPrefix(element, "{")
		if !ok {
			continue
		}
		v, ok := e.PathParameters[strings.TrimSuffix(name, "}")]
		if !ok {
			return e.Path
		}
		elements[i] = url.PathEscape(v)
	}
	return strings.Join(elements, "/")
}

func (e *proxyRequest) header() http.Header {
	h := make(http.Header, max(len(e.MultiValueHeaders), len(e.Headers)))
	for name, values := range e.MultiValueHeaders {
		for _, v := range values {
			h.Add(name, v)
		}
	}
	for name, v := range e.Headers {
		if len(h.Values(name)) == 0 {
			h.Set(name, v)
		}
	}
	return h
}

func (e *proxyRequest) query() url.Values {
	q := make(url.Values, max(len(e.MultiValueQuery), len(e.Query)))
	maps.Copy(q, e.MultiValueQuery)
	for name, v := range e.Query {
		if len(q[name]) == 0 {
			q.Set(name, v)
		}
	}
	return q
}

// recorder keeps what a handler answers.
type recorder struct {
	header http.Header // the handler's
	sent   http.Header // as it was with the status
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status != 0 || status < 200 { // interim answers have no way through the gateway
		return
	}
	w.status, w.sent = status, w.header.Clone()
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !hasBody(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	return w.body.Write(p)
}

func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// encode makes the answer to the event. Length and transfer are the gateway's.
func (w *recorder) encode(method string) ([]byte, error) {
	w.WriteHeader(http.StatusOK)
	answer := proxyResponse{StatusCode: w.status, MultiValueHeaders: w.sent}
	body := w.body.Bytes()
	if method == http.MethodHead {
		body = nil
	}
	if len(body) > 0 && w.sent.Get("Content-Type") == "" {
		w.sent.Set("Content-Type", http.DetectContentType(body))
	}
	w.sent.Del("Content-Length")
	w.sent.Del("Transfer-Encoding")
	if utf8.Valid(body) && w.sent.Get("Content-Encoding") == "" {
		answer.Body = string(body)
	} else {
		answer.Body, answer.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // bodies are JSON with links: no need to make them longer
	if err := enc.Encode(answer); err != nil {
		return nil, err
	}
	if b.Len() > maxAnswerBytes {
		return nil, fmt.Errorf("it has %d bytes, more than a function may answer", b.Len())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
