package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxAnswer is the most bytes of an answer of a REST interface.
	maxAnswer = 8 << 20
	// maxRefusal is the most bytes of an answer that is an error.
	maxRefusal = 64 << 10
)

// call makes one request of a REST interface: in is sent as JSON unless it is
// nil, and the answer is read into out. authorization is the header of that name.
func (f *Forge) call(ctx context.Context, method, address, authorization string, c Credential, in, out any) *Error {
	var send io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return failed(err, c)
		}
		send = bytes.NewReader(data)
	}
	ctx, x := withExchange(ctx, maxAnswer)
	req, err := http.NewRequestWithContext(ctx, method, address, send)
	if err != nil {
		return failed(err, c)
	}
	req.Header.Set("User-Agent", "Bindery")
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := f.client.Do(req)
	if err != nil {
		return failed(err, c)
	}
	defer res.Body.Close()
	if e := statusError(res.StatusCode, res.Header, c); e != nil {
		data, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
		if err != nil { // what was read will do
			data = append(data, " "+err.Error()...)
		}
		return e.with(c.clean(reason(data)))
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media != "application/json" && !strings.HasSuffix(media, "+json") {
		return ErrUnreachable.saying("the REST interface did not answer with JSON").with(c.clean(media))
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		if x.exceeded() {
			return ErrUnreachable.saying("the forge's answer is too large")
		}
		e := failed(err, c)
		if e.cause == nil {
			e = e.saying("the forge's answer can't be read")
		}
		return e
	}
	return nil
}

// reason returns the text of an error: all texts of its JSON, else its beginning.
func reason(data []byte) string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return string(data[:min(len(data), maxDetail)])
	}
	var texts []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if v != "" && !strings.HasPrefix(v, "http") {
				texts = append(texts, v)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, name := range []string{"message", "error", "error_description", "errors", "source_branch", "target_branch", "base", "title", "draft"} {
				walk(v[name])
			}
		}
	}
	walk(v)
	return strings.Join(texts, ": ")
}

// statusError returns the error for an HTTP status, nil for success.
func statusError(status int, header http.Header, c Credential) *Error {
	var e Error
	switch {
	case status < 400:
		return nil
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && limited(header):
		e = *ErrRateLimited
		e.temporary, e.RetryAfter = true, retryAfter(header)
	case status == http.StatusUnauthorized && c.Token == "":
		e = *ErrCredential.saying("the forge requires a credential, and there is none")
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

// retryAfter returns how long a forge asks to wait, 0 if it doesn't say.
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
