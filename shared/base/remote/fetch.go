package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Limits of what is fetched.
const (
	// MaxFileBytes is the most that one file may have, unpacked.
	MaxFileBytes = 20 << 20
	// maxRedirects is how many redirects are followed from one address.
	maxRedirects = 5
	// timeout is how long one attempt at a file may take.
	timeout = 30 * time.Second
	// attempts is how often a file is asked for where the host is not there,
	// or says that it is busy.
	attempts = 2
	// pause is how long it waits between them.
	pause = 500 * time.Millisecond
	// MaxTime is how long one call of Get may take.
	MaxTime = attempts*timeout + (attempts-1)*pause
	// maxHeaderBytes bounds the head of an answer.
	maxHeaderBytes = 64 << 10
	// userAgent tells operators of other hosts who asks.
	userAgent = "Bindery-Export/1"
)

// Resolver looks up the addresses of a host; net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are what a Fetcher works with. The zero value is for use.
type Options struct {
	// Resolver finds hosts' addresses; nil means net.DefaultResolver.
	Resolver Resolver
	// Dial connects to an address and a port, both numbers, that have been
	// checked; nil means the network, where the socket is checked once more.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is how hosts prove who they are; nil means by the system's roots.
	TLS *tls.Config
	// Log gets why hosts were not reached; nil discards it.
	Log *slog.Logger
}

// Fetcher fetches files of other hosts. It is safe for concurrent use.
type Fetcher struct {
	opt   Options
	pause time.Duration // between two attempts
}

// New makes a Fetcher.
func New(o Options) *Fetcher {
	o.Resolver = cmp.Or[Resolver](o.Resolver, net.DefaultResolver)
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: timeout, Control: control}).DialContext
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Fetcher{opt: o, pause: pause}
}

// File is what was fetched.
type File struct {
	Data []byte
	// Extension is by its content type, with the dot: ".png".
	Extension string
}

// Problem says why a file could not be fetched, as the end of a sentence about
// its address. It is safe to show.
type Problem struct {
	Reason string
	cause  error // for the log
	again  bool  // another attempt may do better
}

func (p *Problem) Error() string { return p.Reason }

// Unwrap returns the cause of the problem, which is for logs alone.
func (p *Problem) Unwrap() error { return p.cause }

// detail is the cause of the problem, for the log: errors of the network name
// the whole address, and where redirects lead.
func (p *Problem) detail() string {
	if p.cause == nil {
		return ""
	}
	return Shown(p.cause.Error())
}

const notPublic = "is on a host with an address that is not public"

// Get fetches a file from an address that hosts allow. The error is a *Problem,
// or that of ctx.
func (f *Fetcher) Get(ctx context.Context, address string, hosts Hosts, kind Kind) (File, error) {
	u, reason := hosts.Parse(address)
	if reason != "" {
		return File{}, &Problem{Reason: reason}
	}
	for n := 1; ; n++ {
		file, problem := f.get(ctx, u, hosts, kind)
		if problem == nil {
			return file, nil
		}
		if ctx.Err() != nil {
			return File{}, ctx.Err()
		}
		f.opt.Log.LogAttrs(ctx, slog.LevelWarn, "a remote file was not fetched",
			slog.String("host", u.Host), slog.String("reason", problem.Reason), slog.String("error", problem.detail()))
		if !problem.again || n == attempts {
			return File{}, problem
		}
		select {
		case <-ctx.Done():
			return File{}, ctx.Err()
		case <-time.After(f.pause):
		}
	}
}

// get is one attempt. Each has connections of its own: they are few, and what
// one host sends may not wait for another.
func (f *Fetcher) get(ctx context.Context, u *url.URL, hosts Hosts, kind Kind) (File, *Problem) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	transport := &http.Transport{
		Proxy:                  nil, // one would look names up itself
		DialContext:            Dialer{Resolver: f.opt.Resolver, Dial: f.opt.Dial}.DialContext,
		TLSClientConfig:        f.opt.TLS.Clone(),
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSHandshakeTimeout:    timeout,
	}
	defer transport.CloseIdleConnections()
	last := u
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return &Problem{Reason: fmt.Sprintf("redirects more than %d times", maxRedirects)}
		}
		if reason := hosts.Allows(req.URL); reason != "" {
			return &Problem{Reason: "redirects to an address that " + reason}
		}
		req.Header.Del("Referer")
		last = req.URL
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return File{}, &Problem{Reason: "is not an address", cause: err}
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", kind.accept())
	res, err := client.Do(req)
	if err != nil {
		return File{}, problemOf(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return File{}, &Problem{
			Reason: fmt.Sprintf("answers with the status %d", res.StatusCode),
			again:  res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500,
		}
	}
	// What is compressed in a way that was asked for is unpacked already. Stores
	// hand out packed files to whoever asks.
	if packed := res.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return File{}, &Problem{Reason: "is compressed in a way that was not asked for"}
	}
	ext := kind.extension(last, res.Header.Get("Content-Type"))
	if ext == "" {
		return File{}, &Problem{Reason: "has a content type that is not asked for"}
	}
	tooLarge := &Problem{Reason: fmt.Sprintf("has more than %d MiB", MaxFileBytes>>20)}
	if res.ContentLength > MaxFileBytes {
		return File{}, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, MaxFileBytes+1))
	switch {
	case err != nil:
		return File{}, problemOf(ctx, err)
	case len(data) > MaxFileBytes:
		return File{}, tooLarge
	}
	if kind == Asset {
		var not string
		if ext, not = asset(ext, data); not != "" {
			return File{}, &Problem{Reason: not}
		}
	}
	return File{Data: data, Extension: ext}, nil
}

// problemOf says what an error of the network means.
func problemOf(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	p := &Problem{Reason: "could not be fetched", cause: err, again: true}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		p.Reason, p.again = "is on a host that does not exist", !dns.IsNotFound
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		p.Reason, p.again = "is on a host that does not prove its name", false
	}
	if ctx.Err() != nil {
		p.Reason, p.again = fmt.Sprintf("takes more than %d seconds", int(timeout/time.Second)), false
	}
	return p
}
