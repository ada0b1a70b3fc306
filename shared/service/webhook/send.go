package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

const (
	// timeout is how long an endpoint may take, from the look-up of its name to the
	// end of its answer.
	timeout = 10 * time.Second
	// maxAnswer is how much of an answer is read, in bytes, and of its head.
	maxAnswer = 64 << 10
)

// SenderOptions are what a Sender works with. The zero value is for use.
type SenderOptions struct {
	// Callbacks is which addresses are called.
	Callbacks remote.Callbacks
	// Resolver and Dial are those of remote.Dialer.
	Resolver remote.Resolver
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is how endpoints prove who they are; nil means by the system's roots.
	TLS *tls.Config
	// Timeout is how long an endpoint may take; default 10 s.
	Timeout time.Duration
}

// Sender sends messages to endpoints. It is safe for concurrent use.
type Sender struct {
	opt    SenderOptions
	client *http.Client
}

// NewSender makes a Sender. Each message has a connection of its own, so that an
// endpoint's name is looked up for each, and what it leads to is checked.
func NewSender(o SenderOptions) *Sender {
	o.Timeout = cmp.Or(o.Timeout, timeout)
	dialer := remote.Dialer{Resolver: o.Resolver, Dial: o.Dial, Private: o.Callbacks.PrivateHost}
	return &Sender{o, &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // one would look names up itself
			DialContext:            dialer.DialContext,
			TLSClientConfig:        o.TLS.Clone(),
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Send makes one attempt: a success is an answer with a status of 2xx. Redirects
// are not followed. It says in safe words why an attempt failed.
func (s *Sender) Send(ctx context.Context, address string, body []byte, header http.Header) (status int, problem string) {
	u, problem := s.opt.Callbacks.Parse(address)
	if problem != "" {
		return 0, "the address " + problem
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, "the address can't be called"
	}
	req.Header = header
	res, err := s.client.Do(req)
	if err != nil {
		return 0, s.problem(ctx, err)
	}
	defer res.Body.Close()
	// The connection is not used again: what is read is for endpoints that fail
	// where nobody reads their answer.
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return res.StatusCode, fmt.Sprintf("the endpoint answered %d: redirects are not followed", res.StatusCode)
	case res.StatusCode < 200 || res.StatusCode >= 300:
		return res.StatusCode, fmt.Sprintf("the endpoint answered %d", res.StatusCode)
	case err != nil || ctx.Err() != nil: // the end of an answer may arrive as the connection is closed
		return res.StatusCode, s.problem(ctx, err)
	}
	return res.StatusCode, ""
}

// problem says what an error of the network means, in words that show nothing of
// the network that this process is in.
func (s *Sender) problem(ctx context.Context, err error) string {
	if p, ok := errors.AsType[*remote.Problem](err); ok {
		return "the address " + p.Reason
	}
	if ctx.Err() != nil {
		return fmt.Sprintf("the endpoint took more than %s", s.opt.Timeout)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return "the address is on a host that does not exist"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the address is on a host that does not prove its name"
	}
	return "the endpoint could not be reached"
}

// attempt makes one attempt at a delivery.
func (s *Sender) attempt(ctx context.Context, l admin.LeasedDelivery, now func() time.Time) (admin.DeliveryAttempt, error) {
	at, began := now(), time.Now()
	raw, header, err := message(l.Delivery, l.Secrets, at)
	if err != nil {
		return admin.DeliveryAttempt{}, err
	}
	a := admin.DeliveryAttempt{At: at.UTC().Truncate(time.Millisecond)}
	a.Status, a.Error = s.Send(ctx, l.Webhook.URL, raw, header)
	a.Took = time.Since(began)
	return a, nil
}
