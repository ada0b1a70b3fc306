package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How a Prober treats other hosts.
const (
	// perHost is how many requests one host gets at the same time, atOnce how
	// many all hosts together.
	perHost = 2
	atOnce  = 16
	// probeTimeout is how long one address may take, with its redirects.
	probeTimeout = 20 * time.Second
	// longestWait is the longest that a busy host is waited for.
	longestWait = 30 * time.Second
	// probeAgent tells operators of other hosts who asks.
	probeAgent = "Bindery-Check/1"
)

// Outcome is what asking for an address came to.
type Outcome uint8

// The outcomes.
const (
	// Unsure: the host did not say whether the address leads anywhere, or not in time.
	Unsure Outcome = iota
	// NotAsked: the address is not one of the public internet, or of a host that
	// stands for an example.
	NotAsked
	// Reached: something is there.
	Reached
	// Gone: nothing is there.
	Gone
	// MovedOn: something is there, by redirects that are for good.
	MovedOn
)

// Answer is what a Prober found.
type Answer struct {
	Outcome Outcome
	// Reason is the end of a sentence about the address, safe to show; empty where it
	// was reached.
	Reason string
	// To is where an address that moved on leads.
	To string
}

// ProbeOptions are what a Prober works with. The zero value is for use.
type ProbeOptions struct {
	// Dialer makes the connections. Its Private names the hosts that may have
	// addresses that are not public.
	Dialer Dialer
	// Transport, if not nil, changes how requests are made, such as the
	// certificates that prove who a host is.
	Transport func(*http.Transport)
}

// Prober asks whether addresses lead anywhere, and is careful with those whom it
// asks. It is safe for concurrent use. The caller ends its use with Close.
type Prober struct {
	opt       ProbeOptions
	transport *http.Transport
	all       chan struct{}
	mu        sync.Mutex
	hosts     map[string]chan struct{}
}

// NewProber makes a Prober.
func NewProber(o ProbeOptions) *Prober {
	o.Dialer.Timeout = cmp.Or(o.Dialer.Timeout, probeTimeout)
	t := &http.Transport{
		Proxy:                  nil, // one would look names up itself
		DialContext:            o.Dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSHandshakeTimeout:    probeTimeout,
		MaxConnsPerHost:        perHost,
		IdleConnTimeout:        probeTimeout,
	}
	if o.Transport != nil {
		o.Transport(t)
	}
	return &Prober{opt: o, transport: t, all: make(chan struct{}, atOnce), hosts: map[string]chan struct{}{}}
}

// Close ends idle connections.
func (p *Prober) Close() { p.transport.CloseIdleConnections() }

// Probe asks for an address. The error is that of ctx.
func (p *Prober) Probe(ctx context.Context, address string) (Answer, error) {
	u, answer := p.parse(address)
	if u == nil {
		return answer, nil
	}
	release, err := p.acquire(ctx, u.Host)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	inner, cancel := context.WithTimeout(ctx, probeTimeout+longestWait)
	defer cancel()
	answer = p.follow(inner, u)
	return answer, ctx.Err()
}

// parse returns the address that is asked for, without its fragment; nil where none
// is.
func (p *Prober) parse(address string) (*url.URL, Answer) {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxAddress:
		return nil, Answer{Unsure, "is not an address", ""}
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
		return nil, Answer{NotAsked, "is not asked", ""}
	}
	u.Host = strings.ToLower(u.Host)
	u.Fragment, u.RawFragment = "", ""
	host := u.Hostname()
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	if p.opt.Dialer.Private != nil && p.opt.Dialer.Private(net.JoinHostPort(host, port)) {
		return u, Answer{}
	}
	number, err := netip.ParseAddr(host)
	if err == nil && isPublic(number) {
		return u, Answer{}
	}
	if !validHost(host) || isExample(host) {
		return nil, Answer{NotAsked, "is not asked", ""}
	}
	return u, Answer{}
}

// isExample reports whether a host's name is for documentation and tests (RFC 2606).
func isExample(host string) bool {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if slices.Contains([]string{"example", "test", "invalid"}, last) {
		return true
	}
	return len(labels) > 1 && labels[len(labels)-2] == "example" && slices.Contains([]string{"com", "net", "org"}, last)
}

// acquire waits until one more request may go to a host.
func (p *Prober) acquire(ctx context.Context, host string) (release func(), err error) {
	p.mu.Lock()
	own := p.hosts[host]
	if own == nil {
		own = make(chan struct{}, perHost)
		p.hosts[host] = own
	}
	p.mu.Unlock()
	// The host first: those who wait for a slow one keep no others waiting.
	for i, room := range []chan struct{}{own, p.all} {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			if i > 0 {
				<-own
			}
			return nil, ctx.Err()
		}
	}
	return func() { <-p.all; <-own }, nil
}

// follow asks for an address and for those that it redirects to.
func (p *Prober) follow(ctx context.Context, u *url.URL) Answer {
	moved, permanent := "", true
	for range maxRedirects + 1 {
		status, location, err := p.ask(ctx, u)
		if err != nil {
			return answerOf(err)
		}
		switch status {
		case http.StatusMovedPermanently, http.StatusPermanentRedirect, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
			next, err := u.Parse(location)
			if err != nil || location == "" {
				return Answer{Unsure, "redirects to no address", ""}
			}
			permanent = permanent && (status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect)
			if permanent {
				moved = next.String()
			}
			to, answer := p.parse(next.String())
			if to == nil {
				return Answer{Unsure, "redirects to an address that " + answer.Reason, ""}
			}
			u = to
			continue
		case http.StatusNotFound, http.StatusGone:
			return Answer{Gone, fmt.Sprintf("leads nowhere: its host answers with the status %d", status), ""}
		}
		if status < 200 || status >= 300 {
			return Answer{Unsure, fmt.Sprintf("could not be checked: its host answers with the status %d", status), ""}
		}
		if moved != "" {
			return Answer{MovedOn, "has moved", moved}
		}
		return Answer{Outcome: Reached}
	}
	return Answer{Unsure, fmt.Sprintf("redirects more than %d times", maxRedirects), ""}
}

// ask asks a host for the head of what is at an address, and where the host does not
// do that, for its first byte. It waits once for a host that says when to come again.
func (p *Prober) ask(ctx context.Context, u *url.URL) (status int, location string, err error) {
	method, waited := http.MethodHead, false
	for {
		req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
		if err != nil {
			return 0, "", err
		}
		req.Header.Set("User-Agent", probeAgent)
		req.Header.Set("Accept", "*/*")
		if method == http.MethodGet {
			req.Header.Set("Range", "bytes=0-0")
		}
		res, err := p.transport.RoundTrip(req)
		if err != nil {
			return 0, "", err
		}
		_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // so that the connection may be used again
		_ = res.Body.Close()
		switch busy := res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable; {
		case busy && !waited:
			waited = true
			wait, ok := retryAfter(res.Header.Get("Retry-After"), time.Now())
			if !ok {
				return res.StatusCode, "", nil
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return 0, "", ctx.Err()
			}
		case !busy && method == http.MethodHead && res.StatusCode >= 400 && (res.StatusCode < 500 || res.StatusCode == http.StatusNotImplemented):
			method = http.MethodGet // what many a host says of HEAD is not so of GET
		case res.StatusCode == http.StatusRequestedRangeNotSatisfiable:
			return http.StatusOK, "", nil // an empty file
		default:
			return res.StatusCode, res.Header.Get("Location"), nil
		}
	}
}

// retryAfter returns how long a host asks to be left alone, if that is short enough to
// wait for.
func retryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	if seconds, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(min(seconds, 1<<20)) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = max(at.Sub(now), 0)
	} else {
		return 0, false
	}
	return wait, wait >= 0 && wait <= longestWait
}

// answerOf returns what an error of the network means.
func answerOf(err error) Answer {
	if p, ok := errors.AsType[*Problem](err); ok && p.Reason == notPublic {
		return Answer{NotAsked, notPublic, ""}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return Answer{Gone, "leads nowhere: there is no such host", ""}
	}
	switch p := problemOf(context.Background(), err); p.Reason {
	case "could not be fetched":
		return Answer{Unsure, "could not be checked: its host did not answer", ""}
	default:
		return Answer{Unsure, p.Reason, ""}
	}
}
