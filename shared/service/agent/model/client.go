package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options configure a Client.
type Options struct {
	// Base is the server's address: "https://api.example.com", with a path if
	// it has one. Requests go to Base + "/v1/messages", or to Base + Path.
	Base, Path string
	// AllowHTTP allows a Base that begins with http:// and is not this machine: keys
	// and texts then cross the network unencrypted.
	AllowHTTP bool
	// Header is sent with each request, and to no other host: the key, as
	// X-Api-Key or Authorization. Anthropic-Version is 2023-06-01 unless it is
	// here.
	Header http.Header
	// Body is added to the body of each request: members that a server or model needs
	// and Request doesn't have, such as "thinking".
	Body map[string]json.RawMessage
	// Sign, if not nil, signs each complete request; bodySHA256 is the digest of
	// its body in hexadecimal. Amazon Bedrock wants AWS's signature, version 4.
	Sign func(ctx context.Context, r *http.Request, bodySHA256 string) error
	// Client makes the requests; default: one of its own. It follows no
	// redirects, and its Timeout and Jar are not used.
	Client *http.Client
	// Logger receives failed attempts; nil discards them.
	Logger *slog.Logger
	// Attempts is how often a request is made before its error is final;
	// default 5.
	Attempts int
	// MaxWait is the longest wait between two attempts; default 1 min. A server
	// that asks for more is unavailable at once.
	MaxWait time.Duration
	// Stall is how long a server may send nothing, before its answer and within;
	// default 2 min. Servers without a graphics card may need longer to read a
	// prompt.
	Stall time.Duration
	// Now, Sleep and Random replace clock and randomness in tests. Random returns a
	// number in [0, 1).
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	opt     Options
	url     string
	secrets []string // what of the headers no error may repeat
}

// Progress is news about an answer that is under way.
type Progress struct {
	// Attempt counts from 1. When it changes, what was reported about the attempt
	// before is void.
	Attempt int
	// Text is new text of the answer, Tool the name of a call that begins.
	Text, Tool string
	// Usage is the attempt's usage so far.
	Usage Usage
	// Err is why the attempt failed; the next one begins after Wait.
	Err  error
	Wait time.Duration
}

// firstWait is the longest wait after the first attempt; it doubles with each.
const firstWait = time.Second

// errStalled is the cause of a context that Stall ended.
var errStalled = errors.New("the server sent nothing for too long")

// New returns a client, or an error that names the wrong option.
func New(o Options) (*Client, error) {
	address, err := o.address()
	if err != nil {
		return nil, err
	}
	if err := checkHeader(o.Header); err != nil {
		return nil, err
	}
	for name, value := range o.Body {
		if slices.Contains(ours, name) || name == "" || !json.Valid(value) {
			return nil, fmt.Errorf("the member %q can't be added to a request, or its value is not JSON", name)
		}
	}
	o.Header, o.Body = o.Header.Clone(), maps.Clone(o.Body)
	if o.Header == nil {
		o.Header = http.Header{}
	}
	for name, value := range map[string]string{"Anthropic-Version": "2023-06-01", "User-Agent": "bindery"} {
		o.Header.Set(name, cmp.Or(o.Header.Get(name), value))
	}
	o.Header.Set("Content-Type", "application/json")
	o.Header.Set("Accept", "text/event-stream")
	return &Client{opt: o.complete(), url: address, secrets: secrets(o.Header)}, nil
}

// address returns where requests go.
func (o Options) address() (string, error) {
	base, err := url.Parse(strings.TrimRight(o.Base, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return "", errors.New("the model's address must be an http or https URL without user, query and fragment")
	}
	if base.Scheme == "http" && !o.AllowHTTP && !own(base.Hostname()) {
		return "", errors.New("a model's address with http:// would send key and texts over the network unencrypted; use https://, or allow it")
	}
	o.Path = cmp.Or(o.Path, "/v1/messages")
	if path, err := url.Parse(o.Path); err != nil || !strings.HasPrefix(o.Path, "/") || path.Path != o.Path {
		return "", errors.New("the path of the model's address must begin with a slash and have no query")
	}
	return base.String() + o.Path, nil
}

// complete returns the options with their defaults.
func (o Options) complete() Options {
	client := http.Client{Transport: transport()}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Timeout, client.Jar = 0, nil // an answer may take long; see Stall
	o.Client = &client
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Attempts <= 0 {
		o.Attempts = 5
	}
	o.MaxWait, o.Stall = cmp.Or(max(o.MaxWait, 0), time.Minute), cmp.Or(max(o.Stall, 0), 2*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return o
}

// own reports whether a host is this machine.
func own(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// checkHeader returns an error for a header that can't be sent. The error doesn't
// contain the value, which may be a key.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if http.CanonicalHeaderKey(name) != name || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ':' || r >= 0x7f }) {
			return fmt.Errorf("the header %q is not in its canonical form", name)
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r >= 0x7f }) || strings.TrimSpace(v) != v {
				return fmt.Errorf("the header %q has a character that can't be sent", name)
			}
		}
	}
	return nil
}

// transport returns the default transport: HTTP/1.1, so that a broken connection
// affects one request, without compression, which would delay events.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = 64 << 10
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	return t
}

// secrets returns the values of headers that may be keys, with and without a
// scheme before them.
func secrets(h http.Header) []string {
	var all []string
	for name, values := range h {
		switch name {
		case "Anthropic-Version", "Anthropic-Beta", "Content-Type", "Accept", "User-Agent":
			continue
		}
		for _, v := range values {
			_, token, _ := strings.Cut(v, " ")
			all = append(all, v, token)
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool { return len(v) < 6 })
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// hide returns a server's text without the keys that were sent to it.
func (c *Client) hide(text string) string {
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "…")
	}
	return text
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ask makes a request and returns its whole answer. Attempts that fail in a way
// that may pass are repeated after a wait, which is chosen at random below a
// bound that doubles, or is the one that the server asks for. The error is an
// *Error, or that of ctx, which ends all at once; the Answer then has only
// Wasted. progress, if not nil, is called from the same goroutine, and must
// return soon: while it runs, nothing is read.
func (c *Client) Ask(ctx context.Context, r Request, progress func(Progress)) (Answer, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	if r.Model == "" || r.MaxTokens <= 0 || len(r.Messages) == 0 {
		return Answer{}, &Error{Kind: Invalid, Reason: "it has no model, no message or no limit of tokens"}
	}
	body, err := r.body(c.opt.Body)
	if err != nil {
		return Answer{}, &Error{Kind: Invalid, Reason: "it can't be written as JSON", Err: err}
	}
	var wasted Usage
	for n := 1; ; n++ {
		answer, e := c.once(ctx, body, n, progress)
		if e == nil {
			answer.Wasted = wasted
			return answer, nil
		}
		wasted = wasted.Plus(answer.Usage)
		if err := ctx.Err(); err != nil {
			return Answer{Wasted: wasted}, err
		}
		e.Attempts = n
		wait, again := c.wait(ctx, e)
		if !again {
			return Answer{Wasted: wasted}, e
		}
		c.opt.Logger.WarnContext(ctx, "asking a model failed; trying again", "attempt", n, "wait", wait, "error", e)
		progress(Progress{Attempt: n, Err: e, Wait: wait})
		if err := c.opt.Sleep(ctx, wait); err != nil {
			return Answer{Wasted: wasted}, err
		}
	}
}

// wait returns how long to wait before the next attempt, or false if there is
// none.
func (c *Client) wait(ctx context.Context, e *Error) (time.Duration, bool) {
	if !e.temporary() || e.Attempts >= c.opt.Attempts || e.RetryAfter > c.opt.MaxWait {
		return 0, false
	}
	most := min(firstWait<<min(e.Attempts-1, 10), c.opt.MaxWait)
	wait := time.Duration(c.opt.Random() * float64(most))
	if e.RetryAfter > 0 {
		// Not all clients that were sent the same time should come back at once.
		wait = e.RetryAfter + wait/8
	}
	deadline, ok := ctx.Deadline()
	return wait, !ok || wait < time.Until(deadline)
}

// once makes one attempt. With an error, the Answer has the Usage as far as known.
func (c *Client) once(ctx context.Context, body []byte, attempt int, progress func(Progress)) (Answer, *Error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	watch := time.AfterFunc(c.opt.Stall, func() { end(errStalled) })
	defer watch.Stop()

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, &Error{Kind: Invalid, Err: err}
	}
	r.Header = c.opt.Header.Clone()
	if c.opt.Sign != nil {
		digest := sha256.Sum256(body)
		if err := c.opt.Sign(ctx, r, hex.EncodeToString(digest[:])); err != nil {
			return Answer{}, &Error{Kind: Unreachable, Reason: "the request could not be signed", Err: err}
		}
	}
	resp, err := c.opt.Client.Do(r)
	if err != nil {
		return Answer{}, unreachable(ctx, err)
	}
	defer resp.Body.Close()
	watch.Reset(c.opt.Stall)
	if resp.StatusCode != http.StatusOK {
		return Answer{}, refusal(resp, c.opt.Now(), c.hide)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return Answer{}, &Error{Kind: Broken, Reason: "the server's answer is not a stream of events"}
	}
	a := &assembly{attempt: attempt, tell: progress, hide: c.hide, at: map[int]*building{}, calls: map[string]bool{}}
	return a.receive(ctx, resp.Body, func() { watch.Reset(c.opt.Stall) })
}

// unreachable returns the error of a request that got no answer.
func unreachable(ctx context.Context, err error) *Error {
	e := &Error{Kind: Unreachable, Err: err}
	if address, ok := errors.AsType[*url.Error](err); ok {
		e.Err = address.Err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Reason, e.final = "its certificate is not one that is trusted here", true
	}
	if context.Cause(ctx) == errStalled {
		e.Err = errStalled
	}
	return e
}

// receive reads a stream to the end of its answer. alive is called whenever
// something came. With an error, the Answer has the Usage as far as known.
func (a *assembly) receive(ctx context.Context, body io.Reader, alive func()) (Answer, *Error) {
	stop := errors.New("whole")
	stream := events{emit: func(name string, data []byte) error {
		if err := a.take(name, data); err != nil || !a.whole {
			return err
		}
		return stop
	}}
	chunk, total := make([]byte, 32<<10), 0
	for {
		n, err := body.Read(chunk)
		if n > 0 {
			alive()
			if total += n; total > maxAnswer {
				return a.answer, &Error{Kind: Broken, Reason: "the answer is too long", final: true}
			}
			if err := stream.feed(chunk[:n]); err != nil {
				if err == stop {
					return a.answer, nil
				}
				return a.answer, broken(err)
			}
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return a.answer, broken(err)
		}
	}
}

// broken returns err as an *Error: what ended the reading of a stream.
func broken(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: Broken, Err: err, final: err == errLongEvent}
}
