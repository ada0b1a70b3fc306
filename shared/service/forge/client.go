package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
)

// Limits of connections.
const (
	dialTimeout    = 10 * time.Second
	maxHeaderBytes = 256 << 10
	maxRedirects   = 3
)

// Allowed returns nil if the operator allows the repository's host and that of
// its REST interface, else an error of code host_not_allowed.
func (f *Forge) Allowed(r Repository) error {
	if r.URL == "" {
		return invalid("there is no repository")
	}
	addresses := []string{r.URL}
	if r.API != "" { // else it is derived from the repository's host
		addresses = append(addresses, r.API)
	}
	for _, address := range addresses {
		u, err := parseBase("repository", address)
		if err != nil {
			return err
		}
		if reason := f.refuses(u); reason != "" {
			return ErrHost.saying(fmt.Sprintf("%s %s", u.Host, reason))
		}
	}
	return nil
}

// refuses returns why an address is not allowed, as the end of a sentence that begins
// with its host, or "".
func (f *Forge) refuses(u *url.URL) string {
	if f.private(u.Host) {
		if u.Scheme != "https" && !f.opt.AllowHTTP {
			return "is reached by https only"
		}
		return ""
	}
	// github.com has its REST interface on a host of its own.
	if u.Scheme == "https" && u.Host == "api.github.com" {
		u = &url.URL{Scheme: "https", Host: "github.com"}
	}
	if f.hosts.Allows(u) != "" {
		return "is not a host that the operator of this Bindery allows"
	}
	return ""
}

// Private reports whether the operator lets the host of a repository have private
// addresses.
func (f *Forge) Private(r Repository) bool { return f.private(r.Host()) }

// private reports whether the operator lets a host, with its port if that is not
// the usual one, have private addresses.
func (f *Forge) private(host string) bool {
	for _, name := range f.opt.AllowPrivate {
		if strings.EqualFold(name, host) {
			return true
		}
	}
	return false
}

// newClient makes the client for REST and Git.
func (f *Forge) newClient() *http.Client {
	var base http.RoundTripper
	if f.opt.Client != nil && f.opt.Client.Transport != nil {
		base = f.opt.Client.Transport
	} else {
		d := remote.Dialer{Timeout: dialTimeout, Private: func(address string) bool {
			return f.private(address) || f.private(strings.TrimSuffix(address, ":443")) || f.private(strings.TrimSuffix(address, ":80"))
		}}
		base = &http.Transport{
			Proxy:                  nil, // one would look names up itself
			DialContext:            d.DialContext,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeaderBytes,
			TLSHandshakeTimeout:    dialTimeout,
			IdleConnTimeout:        30 * time.Second,
		}
	}
	return &http.Client{Transport: &watching{base: base, patience: f.opt.Patience}, CheckRedirect: f.redirect}
}

// redirect follows redirects of renamed repositories, but none to another host:
// credentials must not leave it, and without one the request would be useless.
func (f *Forge) redirect(to *http.Request, via []*http.Request) error {
	from := via[0]
	switch {
	case len(via) > maxRedirects:
		return ErrUnreachable.saying("the forge redirects without end")
	case to.URL.Host != from.URL.Host || to.URL.Scheme != from.URL.Scheme || to.URL.User != nil:
		return ErrUnreachable.saying("the forge redirects to another host; use the repository's new address")
	case to.Method != from.Method:
		// A POST that is redirected as a GET would look like a success.
		return ErrUnreachable.saying("the repository has moved; use its new address")
	}
	to.Header.Del("Referer")
	return nil
}

// watching is a transport that ends stalled requests and limits what is read.
type watching struct {
	base     http.RoundTripper
	patience time.Duration
}

// exchangeKey is the key of an *exchange in a context.
type exchangeKey struct{}

// exchange counts how many more bytes may be read in the requests of a context.
type exchange struct{ left atomic.Int64 }

// withExchange returns a context whose requests may read n bytes in all.
func withExchange(ctx context.Context, n int64) (context.Context, *exchange) {
	x := &exchange{}
	x.left.Store(n)
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// exceeded reports whether more than the limit was read.
func (x *exchange) exceeded() bool { return x.left.Load() < 0 }

// RoundTrip satisfies http.RoundTripper.
func (t *watching) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ctx := remote.NewWatch(r.Context(), t.patience)
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	moved := &moved{w: w}
	r = r.Clone(ctx)
	if r.Body != nil {
		r.Body = &body{ReadCloser: r.Body, moved: moved, end: w.Sent}
	} else {
		w.Sent()
	}
	res, err := t.base.RoundTrip(r)
	if err != nil {
		err = w.Cause(err)
		w.Stop()
		return nil, err
	}
	res.Body = &body{ReadCloser: res.Body, moved: moved, end: w.Stop, of: x}
	return res, nil
}

// moved records progress in either direction; both may happen at the same time.
type moved struct {
	mu sync.Mutex
	w  *remote.Watch
}

func (m *moved) note(n int) {
	m.mu.Lock()
	m.w.Moved(n)
	m.mu.Unlock()
}

// body is the watched body of a request or an answer.
type body struct {
	io.ReadCloser
	moved *moved
	end   func()    // once it is closed
	of    *exchange // nil: no limit
}

var errOverLimit = errors.New("more than the limit")

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.moved.note(n)
	if b.of != nil && b.of.left.Add(-int64(n)) < 0 {
		return 0, errOverLimit
	}
	return n, b.moved.w.Cause(err)
}

func (b *body) Close() error {
	b.end()
	return b.ReadCloser.Close()
}
