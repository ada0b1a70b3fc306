package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Kind is the kind of an error.
type Kind int

// The kinds of errors. The first five are temporary; such requests were repeated.
const (
	// Unreachable is a server that can't be reached.
	Unreachable Kind = iota
	// Broken is an answer that broke off, stalled or was invalid.
	Broken
	// Failed is a fault of the server.
	Failed
	// Overloaded is a server with too much to do.
	Overloaded
	// RateLimited is a caller that has sent too many requests.
	RateLimited
	// Key is a key that is wrong, or not allowed to make the request.
	Key
	// Missing is a model or an address that doesn't exist.
	Missing
	// Invalid is a request that the server refuses as invalid.
	Invalid
	// TooLong is a conversation that is over the model's limit.
	TooLong
	// Refused is a model that would not answer; Ask returns it as an Answer.
	Refused
)

// The codes of errors, for programs and for jobs that failed.
const (
	CodeUnavailable = "model_unavailable"
	CodeKey         = "model_key"
	CodeInvalid     = "model_invalid"
	CodeContext     = "model_context"
	CodeRefused     = "model_refused"
)

// kinds has the code and the message of each Kind.
var kinds = [...]struct {
	code, message string
	again         bool
}{
	Unreachable: {CodeUnavailable, "the model's server can't be reached", true},
	Broken:      {CodeUnavailable, "the model's answers kept breaking off", true},
	Failed:      {CodeUnavailable, "the model's server failed", true},
	Overloaded:  {CodeUnavailable, "the model's server is overloaded", true},
	RateLimited: {CodeUnavailable, "the model's server has reached its limit of requests for this key", true},
	Key:         {CodeKey, "the model's server refuses the key", false},
	Missing:     {CodeInvalid, "the model's server doesn't know the model or the address", false},
	Invalid:     {CodeInvalid, "the model's server refuses the request as invalid", false},
	TooLong:     {CodeContext, "the conversation is longer than the model can read", false},
	Refused:     {CodeRefused, "the model refused to answer", false},
}

// Error is the error of a request.
type Error struct {
	Kind Kind
	// Status is the HTTP status, 0 if there was none or a stream broke off.
	Status int
	// RetryAfter is when the server asks to try again, 0 if it doesn't say.
	RetryAfter time.Duration
	// Attempts is how often the request was made.
	Attempts int
	// Reason is the server's own, cleaned and short, and safe to show; often
	// empty.
	Reason string
	// RequestID is the server's name for the request.
	RequestID string
	// Err is the cause, for the log only.
	Err error

	final bool // no attempt more, whatever the kind
}

var _ store.Coded = (*Error)(nil)

// Code returns one of the codes above.
func (e *Error) Code() string { return kinds[e.Kind].code }

// SafeMessage returns what callers may see: no key, no address.
func (e *Error) SafeMessage() string {
	text := kinds[e.Kind].message
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; it asks to wait for %s", e.RetryAfter.Round(time.Second))
	}
	return text
}

// Error returns the message for the log.
func (e *Error) Error() string {
	text := e.Code() + ": " + e.SafeMessage()
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" after %d attempts", e.Attempts)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// temporary reports whether another attempt may help.
func (e *Error) temporary() bool { return kinds[e.Kind].again && !e.final }

// Passing reports whether the server may answer minutes or hours later: it has too much
// to do, has reached a limit, can't be reached, or says when to come back.
func (e *Error) Passing() bool {
	busy := e.Kind == Unreachable || e.Kind == Overloaded || e.Kind == RateLimited
	return e.temporary() && (busy || e.RetryAfter > 0)
}

// wireError is an error in a body or an event.
type wireError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// inStream returns the error that an event of a stream stands for.
func (w wireError) inStream() *Error {
	status, known := map[string]int{
		"invalid_request_error": 400,
		"authentication_error":  401,
		"billing_error":         402,
		"permission_error":      403,
		"not_found_error":       404,
		"request_too_large":     413,
		"rate_limit_error":      429,
		"timeout_error":         504,
		"overloaded_error":      529,
	}[w.Type]
	if !known {
		status = 500
	}
	e := w.classify(status)
	e.Status = 0
	return e
}

// tooLong matches messages about conversations over the limit: the vendor has no type
// of its own for them, and llama.cpp and vLLM have their own words.
var tooLong = lazy.Regexp(`(?i)(?:prompt|input) is too long|exceeds? (?:the )?(?:available |maximum |model'?s )?(?:maximum )?context|maximum context length|exceed_context_size`)

// keyLike matches what may be a key or a token.
var keyLike = lazy.Regexp(`\b(?:sk|pk|key|ghp|glpat|AKIA|ASIA)[-_A-Za-z0-9]{12,}|[A-Za-z0-9_+/=-]{40,}`)

// classify returns the error of an answer with that status.
func (w wireError) classify(status int) *Error {
	e := &Error{Status: status, Reason: clean(w.Message)}
	switch {
	case status == 401 || status == 402 || status == 403:
		e.Kind, e.Reason = Key, "" // some servers repeat the key
	case status == 404:
		e.Kind = Missing
	case status == 413 || status == 400 && tooLong().MatchString(w.Type+" "+w.Message):
		e.Kind = TooLong
	case status == 429:
		e.Kind = RateLimited
	case status == 503 || status == 529:
		e.Kind = Overloaded
	case status == 408 || status == 409 || status == 424 || status == 425 || status >= 500 && status != 501 && status != 505:
		e.Kind = Failed
	default:
		e.Kind = Invalid
	}
	return e
}

// maxErrorBody bounds what is read of an error's body, in bytes.
const maxErrorBody = 64 << 10

// refusal returns the error for an answer with a status other than 200. hide removes
// keys from a text.
func refusal(resp *http.Response, now time.Time, hide func(string) string) *Error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what could be read has to do
	var body struct {
		Error   wireError `json:"error"`
		Message string    `json:"message"` // as services of AWS have it
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Message == "" {
		body.Error.Message = body.Message
	}
	body.Error.Message = hide(body.Error.Message)
	e := body.Error.classify(resp.StatusCode)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.Reason = "it answers with a redirect, which is not followed"
	}
	e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), now)
	for _, name := range []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid"} {
		if id := resp.Header.Get(name); id != "" && e.RequestID == "" {
			e.RequestID = requestID().FindString(id)
		}
	}
	return e
}

var requestID = lazy.Regexp(`^[A-Za-z0-9_-]{1,64}$`)

// maxRetryAfter is the longest time of a Retry-After; longer ones are cut to it.
const maxRetryAfter = 30 * 24 * time.Hour

// retryAfter parses a Retry-After: seconds or a date. It returns 0 for anything else.
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
