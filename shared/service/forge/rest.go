package forge

import (
	"cmp"
	"net/http"
	"strconv"
	"time"
)

// statusError is what an HTTP status means, nil if it is no failure.
func statusError(status int, header http.Header, c Credential) *Error {
	var e Error
	switch {
	case status < 400:
		return nil
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && limited(header):
		e = *ErrRateLimited
		e.temporary, e.RetryAfter = true, retryAfter(header)
	case status == http.StatusUnauthorized && c.Token == "":
		e = *ErrCredential.saying("the forge asks for a credential, and there is none")
	case status == http.StatusUnauthorized:
		e = *ErrCredential
	case status == http.StatusForbidden:
		e = *ErrCredential.saying("the credential may not do this")
	case status == http.StatusNotFound || status == http.StatusGone:
		e = *ErrNotFound
	default:
		e = *ErrUnreachable.saying("the forge answered with the status " + strconv.Itoa(status))
		e.temporary, e.RetryAfter = status >= 500 || status == http.StatusRequestTimeout, retryAfter(header)
	}
	e.status = status
	return &e
}

// limited reports whether a 403 is about the number of requests, as GitHub's are.
func limited(h http.Header) bool {
	return h.Get("Retry-After") != "" || h.Get("X-Ratelimit-Remaining") == "0"
}

// retryAfter is how long a forge asks to wait, 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return time.Duration(min(n, 1<<31)) * time.Second
	}
	now, at := time.Now(), time.Time{}
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		now = d
	}
	if t, err := http.ParseTime(text); err == nil {
		at = t
	} else if n, err := strconv.ParseInt(cmp.Or(h.Get("X-Ratelimit-Reset"), h.Get("Ratelimit-Reset")), 10, 64); err == nil && h.Get("X-Ratelimit-Remaining") == "0" {
		at = time.Unix(n, 0)
	}
	return max(0, at.Sub(now))
}
