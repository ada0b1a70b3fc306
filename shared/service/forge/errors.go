package forge

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
)

// Codes of errors. Failures of jobs contain them, and the workflow uses them as the
// names of errors: add some, but don't rename any.
const (
	CodeInvalid      = "repository_invalid"     // the address, or what is at it, can't be used
	CodeHost         = "host_not_allowed"       // the operator does not allow the host
	CodeUnreachable  = "repository_unreachable" // the forge does not answer, or not sensibly
	CodeNotFound     = "repository_not_found"   // no such repository for this credential
	CodeCredential   = "forge_credential"       // the credential is missing, wrong, expired, or may not do this
	CodeDenied       = "push_denied"            // the forge refuses the push: a protected branch, a hook
	CodeMoved        = "branch_moved"           // the branch is not where the push expects it
	CodeRef          = "ref_not_found"          // no such branch, tag or commit
	CodePath         = "path_not_found"         // no such file in the tree
	CodeTooLarge     = "repository_too_large"   // over MaxBytes or MaxFiles
	CodeRateLimited  = "forge_rate_limited"     // the forge asks to wait: RetryAfter
	CodePullRefused  = "pull_refused"           // the forge refuses the pull request
	CodePullNotFound = "pull_not_found"         // no pull request of that number
	CodeNoPulls      = "pulls_unsupported"      // a plain Git server has no pull requests
)

// Errors to compare with errors.Is; each stands for all errors of its code.
var (
	ErrHost         = &Error{code: CodeHost, message: "the operator does not allow this host"}
	ErrUnreachable  = &Error{code: CodeUnreachable, message: "the forge can't be reached"}
	ErrNotFound     = &Error{code: CodeNotFound, message: "the repository does not exist, or the credential may not see it"}
	ErrCredential   = &Error{code: CodeCredential, message: "the forge does not accept the credential"}
	ErrDenied       = &Error{code: CodeDenied, message: "the forge refused the push"}
	ErrMoved        = &Error{code: CodeMoved, message: "the branch has commits that the push does not include"}
	ErrRefNotFound  = &Error{code: CodeRef, message: "the repository has no such branch, tag or commit"}
	ErrPath         = &Error{code: CodePath, message: "the commit has no such file"}
	ErrTooLarge     = &Error{code: CodeTooLarge, message: "the repository is too large"}
	ErrRateLimited  = &Error{code: CodeRateLimited, message: "the forge asks to wait before the next request"}
	ErrPullRefused  = &Error{code: CodePullRefused, message: "the forge refused the pull request"}
	ErrPullNotFound = &Error{code: CodePullNotFound, message: "there is no such pull request"}
	ErrNoPulls      = &Error{code: CodeNoPulls, message: "a plain Git server has no pull requests"}
)

// Error is the type of all errors of this package. It contains no credential:
// whatever a forge or the network said has been cleaned. It satisfies store.Coded.
type Error struct {
	// RetryAfter is how long the forge asks to wait, 0 if it doesn't say.
	RetryAfter time.Duration

	code, message string
	status        int    // of HTTP, 0 without an answer
	detail        string // for logs, cleaned
	temporary     bool
	cause         error // the end of a context, nothing else
}

// Error returns the message and its cause, for logs.
func (e *Error) Error() string {
	if e.detail == "" {
		return e.message
	}
	return e.message + ": " + e.detail
}

// Code returns one of the codes of this package.
func (e *Error) Code() string { return e.code }

// SafeMessage returns a sentence for the people of the project.
func (e *Error) SafeMessage() string { return e.message }

// Temporary reports whether the same call may succeed later with nothing
// changed: the forge was away, busy, or asked to wait.
func (e *Error) Temporary() bool { return e.temporary }

// Is reports whether target is an Error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.code == e.code
}

// Unwrap returns the error of the context that ended the call, else nil.
func (e *Error) Unwrap() error { return e.cause }

// with returns a copy of e with a detail for the log, which must be clean.
func (e *Error) with(detail string) *Error {
	c := *e
	c.detail = detail
	return &c
}

// saying returns a copy of e with another message.
func (e *Error) saying(message string) *Error {
	c := *e
	c.message = message
	return &c
}

// failed converts an error of the network, of HTTP or of Git to an *Error without c.
// It returns an *Error as it is.
func failed(err error, c Credential) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	detail := c.clean(err.Error())
	if _, ok := errors.AsType[*remote.Problem](err); ok {
		return ErrHost.saying("the forge's host has an address that is not public, and the operator does not allow it").with(detail)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return ErrUnreachable.saying("the certificate of the forge's host is not valid").with(detail)
	}
	e := ErrUnreachable.with(detail)
	switch {
	case errors.Is(err, context.Canceled):
		e.cause = context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		e.cause = context.DeadlineExceeded
	}
	e.temporary = e.cause == nil
	return e
}

// maxDetail is how many bytes of a forge's answer are logged.
const maxDetail = 500

// clean returns a text from a forge or the network that may be logged and shown: the
// credential is removed in every form in which it is sent, and so are other secrets in
// addresses and control characters. Long texts are cut.
func (c Credential) clean(text string) string {
	secrets := []string{}
	if c.Token != "" {
		secrets = append(secrets, c.Token, url.QueryEscape(c.Token), url.PathEscape(c.Token), url.UserPassword("", c.Token).String())
		for _, user := range []string{c.Username, string(c.Username) + ":"} {
			secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(user+c.Token)), base64.URLEncoding.EncodeToString([]byte(user+c.Token)))
		}
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(c.Token)))
	}
	for _, s := range secrets {
		if s = strings.TrimPrefix(s, ":"); s != "" {
			text = strings.ReplaceAll(text, s, "•••")
		}
	}
	text = remote.Visible(remote.Shown(text))
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "…"
	}
	return text
}
