// Package call is what all ports on AWS do alike with a call: how often it is
// tried, and what its error means to the callers of a port.
package call

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Retries of one call. The SDK waits a random time below a bound that doubles,
// so that callers who were throttled together do not come back together.
const (
	maxAttempts = 6
	maxBackoff  = 5 * time.Second
)

// ConflictTries is how often a write is made that meets another one of the
// same records or object, before the caller gets the error.
const ConflictTries = 4

// WithRetries adds our retries to cfg, unless it has a retryer of its own.
func WithRetries(cfg aws.Config) aws.Config {
	if cfg.Retryer == nil {
		cfg.Retryer = func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = maxAttempts
				o.MaxBackoff = maxBackoff
			})
		}
	}
	return cfg
}

// CodeTemporary is the code of errors that a later try may not meet. It is
// package admin's, which this one does not import; a test holds them equal.
const CodeTemporary = "temporary"

// temporaryError is what AWS could not do now: it throttled, was out of order,
// or could not be reached, for longer than the retries of one call.
type temporaryError struct{ err error }

var _ store.Coded = (*temporaryError)(nil)

func (e *temporaryError) Error() string { return "temporary: " + e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

// Code implements store.Coded.
func (e *temporaryError) Code() string { return CodeTemporary }

// SafeMessage implements store.Coded.
func (e *temporaryError) SafeMessage() string { return "a service is busy; try again" }

// Temporary marks an error as one that a later try may not meet, for the cases
// that Failure can't see by the error itself.
func Temporary(err error) error { return &temporaryError{err} }

// Failure describes an error of AWS for the log and adds its kind: that of
// the context where it has ended, temporary where the SDK would try again,
// else as it is.
func Failure(ctx context.Context, err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if cause := ctx.Err(); cause != nil {
		if errors.Is(err, cause) {
			return fmt.Errorf("%s: %w", what, err)
		}
		return fmt.Errorf("%s: %w: %w", what, cause, err)
	}
	if isTemporary(err) {
		return &temporaryError{fmt.Errorf("%s: %w", what, err)}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isTemporary reports whether a later try may succeed.
func isTemporary(err error) bool {
	if retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
		retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary {
		return true
	}
	var quota *retry.MaxAttemptsError
	var network net.Error
	if errors.As(err, &quota) || errors.As(err, &network) && network.Timeout() {
		return true
	}
	switch ErrorCode(err) {
	// In transactions these are reasons, not errors that the SDK knows.
	case "TransactionConflict", "TransactionConflictException", "ThrottlingError", "ProvisionedThroughputExceeded",
		// S3 on two writes of one key at once.
		"ConditionalRequestConflict", "OperationAborted",
		// Step Functions' quotas.
		"ExecutionLimitExceeded", "ServiceUnavailable":
		return true
	}
	return false
}

// ErrorCode returns the code of an error that AWS has answered with, or "".
func ErrorCode(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// Sleep waits, and returns ctx's error if it ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
