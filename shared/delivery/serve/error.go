package serve

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Code distinguishes kinds of failures, for scripts and metrics.
type Code string

// Codes.
const (
	// CodeUsage: the settings can't work.
	CodeUsage Code = "usage"
	// CodeLinkExpired: the link is refused, as links are after their end.
	CodeLinkExpired Code = "link_expired"
	// CodeNotFound: there is nothing at the link.
	CodeNotFound Code = "not_found"
	// CodeUnreachable: the source did not answer, or not in a usable way.
	CodeUnreachable Code = "unreachable"
	// CodeCredentials: no identity for S3 was found, or it may not read.
	CodeCredentials Code = "credentials"
	// CodeDigest: the bundle has another SHA-256 than was asked for.
	CodeDigest Code = "wrong_digest"
	// CodeVersion: the bundle is of another version than was asked for.
	CodeVersion Code = "wrong_version"
	// CodeRefused: the archive is not a whole, safe bundle.
	CodeRefused Code = "refused_bundle"
	// CodeVolume: the data folder can't be used: full, read-only, damaged.
	CodeVolume Code = "volume"
	// CodeDamaged: the files on the volume are not what was exported.
	CodeDamaged Code = "damaged"
	// CodeListen: a port can't be listened on.
	CodeListen Code = "listen"
)

// Error is a failure as an operator sees it: what happened, and what to
// do. It never holds the link.
type Error struct {
	Code Code
	// Message says what happened.
	Message string
	// Advice says what to do about it.
	Advice string
	// Err is what lies below, already without the link; may be nil.
	Err error
}

func (e *Error) Error() string {
	s := e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Advice != "" {
		s += ". " + e.Advice
	}
	return s
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// codeOf returns the code of any error of this package.
func codeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeVolume
}

// refused says why an archive is not taken.
func refused(err error) error {
	if e, ok := errors.AsType[*bundle.Error](err); ok {
		return &Error{Code: CodeRefused, Message: "the bundle is refused (" + string(e.Fault) + ")", Err: e,
			Advice: "Nothing of it was kept. Export the site again, or generate a new link to the bundle"}
	}
	return volumeError("the bundle can't be unpacked", err)
}

// volumeError is a failure of the data folder.
func volumeError(message string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	advice := "Check the volume of the data folder"
	switch {
	case isDiskFull(err):
		advice = "The volume is full: it needs room for the archive, the unpacked site and its compressed forms, and for each old version that is kept"
	case errors.Is(err, fs.ErrPermission):
		advice = "The process may not write there: check the volume's owner and mode (in Kubernetes: fsGroup)"
	}
	return &Error{Code: CodeVolume, Message: message, Advice: advice, Err: err}
}

// wrongDigest says that an archive is not the expected one.
func wrongDigest(want, is string) error {
	return &Error{Code: CodeDigest, Message: fmt.Sprintf("the archive has SHA-256 %s, expected %s", is, want),
		Advice: "Nothing of it was kept. Set the digest that the export names for this bundle, or fetch the right bundle"}
}
