package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// httpRemote is a bundle that a link leads to.
type httpRemote struct {
	link   string
	secret []string // what must not be shown of it
	client *http.Client
	agent  string
}

func newHTTPRemote(link string, u *url.URL, o sourceOptions) (*httpRemote, error) {
	client, err := newHTTPClient(o, &guard{near: near})
	if err != nil {
		return nil, err
	}
	r := &httpRemote{link: link, client: client, agent: o.Agent}
	for _, part := range []string{link, u.String(), u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery} {
		if len(part) > 1 {
			r.secret = append(r.secret, part)
		}
	}
	return r, nil
}

// newTransport makes the transport of all sources. Proxies are the environment's
// (HTTPS_PROXY, NO_PROXY).
func newTransport(o sourceOptions) (*http.Transport, error) {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // bytes and their digest are those of the archive
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConnsPerHost:   64, // as many reads of ranges at once
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, &Error{Code: CodeUsage, Message: "the certificate file can't be read", Err: err, Advice: "Check BINDERY_CA_FILE"}
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, &Error{Code: CodeUsage, Message: "the certificate file contains no PEM certificate", Advice: "Check BINDERY_CA_FILE"}
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return transport, nil
}

// guard keeps a link on the internet from leading into this machine, or to what
// a cloud offers its machines at a link-local address: redirects to such an
// address are followed only from a source that is at one itself.
type guard struct {
	near func(netip.AddrPort) bool
	// own: a connection for the link itself, not a redirect, went there.
	own atomic.Bool
}

// redirected marks the context of a request that a redirect asked for.
type redirected struct{}

var errNear = errors.New("it redirects to an address of this machine, or a link-local one")

// near reports whether an address is one of this machine or of its link.
func near(a netip.AddrPort) bool {
	ip := a.Addr().Unmap()
	return ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast()
}

// control looks at the address that a connection is made to, after its name was
// looked up.
func (g *guard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	switch {
	case err != nil || !g.near(to):
	case ctx.Value(redirected{}) == nil:
		g.own.Store(true)
	case !g.own.Load():
		return errNear
	}
	return nil
}

// redirect judges the address of a redirect itself: a proxy would connect to it
// out of control's sight.
func (g *guard) redirect(from, to *http.Request) error {
	literal := func(u *url.URL) bool {
		ip, err := netip.ParseAddr(u.Hostname())
		port, _ := strconv.ParseUint(u.Port(), 10, 16)
		return err == nil && g.near(netip.AddrPortFrom(ip, uint16(port)))
	}
	if literal(to.URL) && !literal(from.URL) {
		// A connection to a proxy says nothing of where the source is.
		if proxy, err := http.ProxyFromEnvironment(from); proxy != nil || err != nil || !g.own.Load() {
			return errNear
		}
	}
	*to = *to.WithContext(context.WithValue(to.Context(), redirected{}, true))
	return nil
}

// newHTTPClient makes the client that follows links.
func newHTTPClient(o sourceOptions, g *guard) (*http.Client, error) {
	transport, err := newTransport(o)
	if err != nil {
		return nil, err
	}
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, ControlContext: g.control}).DialContext
	return &http.Client{
		Transport: transport,
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			switch {
			case len(via) > 5:
				return errors.New("it redirects without end")
			case via[0].URL.Scheme == "https" && request.URL.Scheme != "https":
				return errors.New("it redirects to an address that is not encrypted")
			}
			// It would reveal the link to the next host, signature and all.
			request.Header.Del("Referer")
			return g.redirect(via[0], request)
		},
	}, nil
}

func (r *httpRemote) open(ctx context.Context, offset, length int64, known validators, fresh bool) (*part, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.link, nil)
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the bundle's address can't be read"}
	}
	request.Header.Set("User-Agent", r.agent)
	request.Header.Set("Accept-Encoding", "identity")
	strong := known.ETag != "" && !strings.HasPrefix(known.ETag, "W/")
	switch {
	case offset > 0 || length > 0:
		request.Header.Set("Range", byteRange(offset, length))
		if strong {
			request.Header.Set("If-Range", known.ETag)
		}
	case fresh && strong:
		request.Header.Set("If-None-Match", known.ETag)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, r.unreachable(ctx, err)
	}
	p := &part{body: &quietBody{response.Body, r}, total: -1,
		validators: validators{ETag: response.Header.Get("ETag"), Modified: response.Header.Get("Last-Modified")}}
	switch response.StatusCode {
	case http.StatusOK:
		p.total = response.ContentLength
		return p, nil
	case http.StatusPartialContent:
		first, total, ok := contentRange(response.Header.Get("Content-Range"))
		if ok && first == offset {
			p.offset, p.total = offset, total
			return p, nil
		}
		response.Body.Close()
		return nil, &Error{Code: CodeUnreachable, Message: "the source returned a part of the bundle other than the requested one"}
	}
	response.Body.Close()
	return nil, statusError(response.StatusCode, retryAfter(response.Header.Get("Retry-After")))
}

// statusError returns the error for an answer without a bundle.
func statusError(status int, wait time.Duration) error {
	switch status {
	case http.StatusNotModified:
		return errUnchanged
	case http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionFailed:
		return errChanged
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusGone, http.StatusBadRequest:
		return &Error{Code: CodeLinkExpired, Message: fmt.Sprintf("the source refuses the link (status %d): it has most likely expired", status),
			Advice: "Generate a new link (POST /v1/static-export/jobs/{jobId}/bundle) and set it as the bundle's address"}
	case http.StatusNotFound:
		return &Error{Code: CodeNotFound, Message: "there is nothing at the bundle's address (status 404)",
			Advice: "Check the address, or generate a new link; the bundle may have been removed"}
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
	default:
		if status < 500 {
			return &Error{Code: CodeUnreachable, Message: fmt.Sprintf("the source did not return the bundle (status %d)", status),
				Advice: "Check that the address leads to the archive itself"}
		}
	}
	return &temporaryError{wait: wait, err: &Error{Code: CodeUnreachable, Message: fmt.Sprintf("the source did not return the bundle (status %d)", status),
		Advice: "Its operator should look at it; this server keeps trying while it shows a site"}}
}

// errChanged says that the rest of a bundle is not to be had, since the bundle
// is another one now.
var errChanged = errors.New("the bundle at the source is another one now")

// unreachable is the error of a failed request, without the link.
func (r *httpRemote) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &temporaryError{err: &Error{Code: CodeUnreachable, Message: "the source of the bundle can't be reached", Err: r.quiet(err),
		Advice: "Check the network, the proxy (HTTPS_PROXY, NO_PROXY), the network policy and, for a CA of your own, BINDERY_CA_FILE"}}
}

// quiet returns an error's text without the link. What it was stays in its
// text alone: nothing above looks further.
func (r *httpRemote) quiet(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	text := err.Error()
	for _, secret := range r.secret {
		text = strings.ReplaceAll(text, secret, "…")
	}
	// The client quotes what it can't read: proxies with their passwords, and
	// addresses that a link led to, which may be signed as well.
	return errors.New(quotedAddress.ReplaceAllString(text, `"…"`))
}

var quotedAddress = regexp.MustCompile(`"[^"]*[?@%][^"]*"`)

// quietBody leaves the link out of errors of reading.
type quietBody struct {
	io.ReadCloser
	r *httpRemote
}

func (b *quietBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.r.quiet(err)
	}
	return n, err
}

// contentRange reads "bytes 5-9/10"; a total of "*" is -1.
func contentRange(header string) (first, total int64, ok bool) {
	span, ok := strings.CutPrefix(header, "bytes ")
	if !ok {
		return 0, 0, false
	}
	span, size, ok := strings.Cut(span, "/")
	start, _, dash := strings.Cut(span, "-")
	first, err := strconv.ParseInt(start, 10, 64)
	if !ok || !dash || err != nil || first < 0 {
		return 0, 0, false
	}
	if size == "*" {
		return first, -1, true
	}
	total, err = strconv.ParseInt(size, 10, 64)
	return first, total, err == nil && total > first
}

// retryAfter reads the seconds of that header; dates count as nothing.
func retryAfter(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 60)) * time.Second
}
