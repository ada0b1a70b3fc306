package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/remote"
)

// ErrInTheClear is that of New for an address that would carry the key in the
// clear, where Options don't allow it.
var ErrInTheClear = errors.New("an address with http:// would send the admin key over the network unencrypted; use https://")

// Options say whose API is called, and how.
type Options struct {
	// BaseURL is where the API is: "https://admin.example.com", with a path
	// if it has one.
	BaseURL string
	// Key is the admin key. It is sent to BaseURL and nowhere else.
	Key string
	// HTTP makes the requests; default: a client of its own.
	HTTP *http.Client
	// Log takes retries and their reasons; default: nowhere.
	Log *slog.Logger
	// AllowHTTP takes an address that is remote.InTheClear.
	AllowHTTP bool
	// UserAgent names the caller in its requests.
	UserAgent string
	// Attempts is how often a request is made before its error is final;
	// default 5.
	Attempts int
	// Clock returns the time and waits; default: the system's.
	Clock clock
	// Patience is how long a transfer may stall, as of remote.Watch; default
	// remote.Patience.
	Patience time.Duration
	// AnswerTime is how long one answer of the API may take, from the request
	// to its last byte; default 1 min, twice what the API itself may take.
	AnswerTime time.Duration
}

// clock is time, as far as a client needs it.
type clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// Client calls the API. Many may use it at once.
type Client struct {
	base  *url.URL
	key   string
	http  *http.Client
	log   *slog.Logger
	agent string
	tries int
	clock clock

	patience, answerTime time.Duration
}

// New returns a client, or an error that names the wrong option.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the API's address must be an http or https URL without user, query and fragment")
	}
	if remote.InTheClear(base) && !o.AllowHTTP {
		return nil, ErrInTheClear
	}
	if o.Key == "" {
		return nil, errors.New("an admin key is missing")
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("the admin key contains a character that is never part of a key")
	}
	c := &Client{base: base, key: o.Key, http: o.HTTP, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), agent: cmp.Or(o.UserAgent, "bindery"), tries: o.Attempts, clock: o.Clock, patience: o.Patience, answerTime: o.AnswerTime}
	if c.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = 2 * time.Minute
		transport.MaxIdleConnsPerHost = uploadParallel
		c.http = &http.Client{Transport: transport}
	}
	if c.tries <= 0 {
		c.tries = 5
	}
	if c.clock == nil {
		c.clock = systemClock{}
	}
	if c.answerTime <= 0 {
		c.answerTime = time.Minute
	}
	return c, nil
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Error is an answer of the API other than success. Its text is what the
// service says, as of remote.Visible.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is the machine-readable code, empty if the answer had none.
	Code string
	// Message is the service's own.
	Message string
	// RequestID names the request in the service's log.
	RequestID string
	// RetryAfter is when the service asks to try again, 0 if it does not.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s (HTTP %d", cmp.Or(e.Message, http.StatusText(e.Status)), e.Status)
	if e.Code != "" {
		text += ", " + e.Code
	}
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text + ")"
}

// Codes of the API that this package acts upon.
const (
	codeNotFound           = "not_found"
	codeNoSnapshot         = "no_snapshot"
	codeOvertaken          = "snapshot_overtaken"
	codeIncomplete         = "snapshot_incomplete"
	codeIdempotencyRunning = "idempotency_running"
	codeTooManyAgents      = "too_many_agent_jobs"
	codeAgentCost          = "agent_cost_limit"
)

// hasCode reports whether err is an answer of the API with one of these codes.
func hasCode(err error, codes ...string) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// Limits of a request to the API and of its repetition.
const (
	maxAnswer    = 4 << 20
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 10 * time.Second
	// maxRetryAfter is the longest wait that a single call agrees to; whoever
	// is asked for more gets the error.
	maxRetryAfter = 60 * time.Second
	// maxLease bounds how long a request with the same key, which may have
	// died, is waited for.
	maxLease = 3 * time.Minute
)

// call is Client.call for an answer of which the header does not matter.
func call[T any](ctx context.Context, c *Client, method, path, idempotencyKey string, body any) (answer T, err error) {
	_, err = c.call(ctx, method, path, idempotencyKey, body, &answer)
	return answer, err
}

// call makes one call of the API and decodes its answer. POST requests carry
// an idempotency key, made here if none is given, so every call can be
// repeated: after a fault of the network, 408, 429, 502, 503, 504, and while the
// first request with the same key is still running.
func (c *Client) call(ctx context.Context, method, path, idempotencyKey string, body, answer any) (http.Header, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	if method != http.MethodGet && idempotencyKey == "" {
		idempotencyKey = rand.Text()
	}
	var header http.Header
	err := c.retry(ctx, method+" "+path, func() error {
		request, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(raw))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+c.key)
		request.Header.Set("Accept", "application/json")
		request.Header.Set("User-Agent", c.agent)
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		if idempotencyKey != "" {
			request.Header.Set("Idempotency-Key", idempotencyKey)
		}
		header, err = c.once(request, answer)
		return err
	})
	if _, ok := errors.AsType[*networkError](err); ok && ctx.Err() == nil {
		err = fmt.Errorf("%s did not answer: %w", c.base.Host, err)
	}
	return header, err
}

// once sends one request to the API.
func (c *Client) once(request *http.Request, answer any) (http.Header, error) {
	// The API never redirects, and the key must not follow where something
	// else does.
	direct := *c.http
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	slow := fmt.Errorf("no complete answer after %s", c.answerTime)
	ctx, cancel := context.WithTimeoutCause(request.Context(), c.answerTime, slow)
	defer cancel()
	response, err := direct.Do(request.WithContext(ctx))
	var raw []byte
	if err == nil {
		defer response.Body.Close()
		raw, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	}
	if err != nil {
		if context.Cause(ctx) == slow {
			err = slow
		}
		return nil, &networkError{err}
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return response.Header, c.failure(response, raw)
	}
	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if answer != nil {
		if err := basejson.UnmarshalKnown(raw, answer); err != nil {
			return nil, fmt.Errorf("the answer to %s %s is not what the API promises; is it the right address? %w", request.Method, request.URL.Path, err)
		}
		visible(reflect.ValueOf(answer))
	}
	return response.Header, nil
}

// visible makes the texts of an answer remote.Visible: whoever shows them need
// not know where they come from. What an honest service says stays the same.
func visible(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(remote.Visible(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			visible(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			visible(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				visible(v.Field(i))
			}
		}
	}
}

func (c *Client) failure(response *http.Response, raw []byte) *Error {
	e := &Error{
		Status:    response.StatusCode,
		Code:      remote.Visible(response.Header.Get("Bindery-Error-Code")),
		RequestID: remote.Visible(response.Header.Get("Request-Id")),
	}
	e.RetryAfter, _ = retryAfter(response.Header, c.clock.Now())
	var body struct {
		Error string `json:"error"`
	}
	if basejson.UnmarshalKnown(raw, &body) == nil {
		e.Message = remote.Visible(body.Error)
	}
	return e
}

// retryAfter reads the header Retry-After, in seconds or as a date; said is
// false if it is missing or broken.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, said bool) {
	text := header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < 1<<31 {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// networkError is a request that got no whole answer.
type networkError struct{ err error }

func (e *networkError) Error() string {
	// url.Error repeats method and address, which with a presigned link is a
	// secret for its lifetime.
	if inner, ok := errors.AsType[*url.Error](e.err); ok {
		return inner.Err.Error()
	}
	return e.err.Error()
}

func (e *networkError) Unwrap() error { return e.err }

// temporary reports whether trying again may help, and how long to wait before,
// 0 if the service does not say.
func temporary(err error) (time.Duration, bool) {
	if _, ok := errors.AsType[*networkError](err); ok {
		return 0, !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	var answer *Error
	if !errors.As(err, &answer) {
		return 0, false
	}
	if answer.Code == codeTooManyAgents || answer.Code == codeAgentCost { // minutes to weeks: the caller decides
		return answer.RetryAfter, false
	}
	switch answer.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return answer.RetryAfter, true
	}
	return answer.RetryAfter, answer.Code == codeIdempotencyRunning
}

// retry repeats fn while its error is temporary. The waits double and are
// spread at random, so that many callers do not come back together; a wait
// that the service asks for is kept. That of an idempotency key is what is left
// of a lease: the first request may end at any moment, so it is asked for now
// and then until the lease is over.
func (c *Client) retry(ctx context.Context, what string, fn func() error) error {
	backoff := firstBackoff
	var lease time.Time
	for try := 1; ; try++ {
		err := fn()
		wait, again := temporary(err)
		if hasCode(err, codeIdempotencyRunning) {
			now := c.clock.Now()
			if lease.IsZero() {
				lease = now.Add(min(wait, maxLease))
			}
			wait = 0
			if left := lease.Sub(now); left > 0 {
				try = 0
				if left <= backoff {
					wait = left
				}
			}
		}
		if err == nil || !again || try >= c.tries || wait > maxRetryAfter || ctx.Err() != nil {
			return err
		}
		if wait == 0 {
			wait = backoff/2 + mathrand.N(backoff/2)
			backoff = min(2*backoff, maxBackoff)
		}
		c.log.Debug("trying again", "request", what, "attempt", try, "wait", wait, "error", err)
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
