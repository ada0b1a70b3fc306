package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"github.com/bindery-docs/bindery/shared/store"
)

// ConfigFromEnv reads what a Lambda function finds in its environment: region
// and credentials of its role, and AWS_ENDPOINT_URL where a local cloud stands
// in for AWS. It asks neither files nor the network, and links nothing that
// could, which is what keeps functions small; operators' programs, which have
// profiles and sign-ons, get theirs from package stack. getenv is os.Getenv
// outside of tests.
func ConfigFromEnv(getenv func(string) string) (aws.Config, error) {
	region := getenv("AWS_REGION")
	if region == "" {
		region = getenv("AWS_DEFAULT_REGION")
	}
	if region == "" {
		return aws.Config{}, errors.New("AWS_REGION is not set")
	}
	keys := aws.Credentials{
		AccessKeyID:     getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    getenv("AWS_SESSION_TOKEN"),
		Source:          "environment",
	}
	if keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
		return aws.Config{}, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set")
	}
	cfg := aws.Config{
		Region:      region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil }),
	}
	if endpoint := getenv("AWS_ENDPOINT_URL"); endpoint != "" {
		cfg.BaseEndpoint = aws.String(endpoint)
	}
	return cfg, nil
}

// Retries of one call. The SDK waits a random time below a bound that doubles,
// so that callers who were throttled together do not come back together.
const (
	maxAttempts = 6
	maxBackoff  = 5 * time.Second
)

// withRetries gives cfg our retries, unless it has a retryer of its own.
func withRetries(cfg aws.Config) aws.Config {
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

// codeTemporary is the code of errors that a later try may not meet. It is
// package admin's, which this one does not import; a test holds them equal.
const codeTemporary = "temporary"

// temporaryError is what AWS could not do now: it throttled, was out of order,
// or could not be reached, for longer than the retries of one call.
type temporaryError struct{ err error }

var _ store.Coded = (*temporaryError)(nil)

func (e *temporaryError) Error() string { return "temporary: " + e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

// Code implements store.Coded.
func (e *temporaryError) Code() string { return codeTemporary }

// SafeMessage implements store.Coded.
func (e *temporaryError) SafeMessage() string { return "a service is busy; try again" }

// failure describes an error of AWS for the log and gives it its kind: that of
// the context where it has ended, temporary where the SDK would try again,
// else as it is.
func failure(ctx context.Context, err error, format string, args ...any) error {
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

// isTemporary tells whether a later try may not meet err.
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
	switch errorCode(err) {
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

// errorCode gives the code of an error that AWS has answered with, or "".
func errorCode(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}
