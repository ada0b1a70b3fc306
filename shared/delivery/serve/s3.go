package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// s3Remote is a bundle in S3. The identity is whatever the SDK's chain finds:
// the environment, a workload identity (web identity token, pod identity), the
// machine's role.
type s3Remote struct {
	bucket, key string
	pathStyle   bool
	transport   *http.Transport
	agent       string

	mu     sync.Mutex
	client *s3.Client
}

func newS3Remote(bucket, key string, o sourceOptions) (*s3Remote, error) {
	transport, err := newTransport(o)
	if err != nil {
		return nil, err
	}
	return &s3Remote{bucket: bucket, key: key, pathStyle: o.PathStyle, transport: transport, agent: o.Agent}, nil
}

// connect reads the SDK's configuration when it is needed first.
func (r *s3Remote) connect(ctx context.Context) (*s3.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		return r.client, nil
	}
	// With AWS_CA_BUNDLE set, the SDK takes no client but one of its own kind.
	base := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.DialContext, t.ResponseHeaderTimeout = r.transport.DialContext, r.transport.ResponseHeaderTimeout
		t.DisableCompression, t.IdleConnTimeout = r.transport.DisableCompression, r.transport.IdleConnTimeout
		if trusted := r.transport.TLSClientConfig; trusted != nil {
			t.TLSClientConfig = trusted.Clone()
			t.TLSClientConfig.RootCAs = trusted.RootCAs.Clone() // the SDK adds to it
		}
	})
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(base), config.WithRetryMaxAttempts(1), config.WithAppID(r.agent))
	if err != nil {
		return nil, credentials("the configuration for AWS can't be read", err)
	}
	if cfg.Region == "" {
		return nil, credentials("no region is set for S3", nil)
	}
	if built, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		base = built
	}
	r.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.HTTPClient = &http.Client{
			Transport: base.GetTransport(),
			// S3 sends no reader elsewhere; a redirect is about the region.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		o.UsePathStyle = r.pathStyle
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	return r.client, nil
}

func credentials(message string, err error) error {
	return &Error{Code: CodeCredentials, Message: message, Err: err,
		Advice: "Set AWS_REGION, and give the pod's service account a role that may do s3:GetObject on the object (and kms:Decrypt on its key)"}
}

func (r *s3Remote) open(ctx context.Context, offset, length int64, known validators, fresh bool) (*part, error) {
	client, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	input := &s3.GetObjectInput{Bucket: aws.String(r.bucket), Key: aws.String(r.key)}
	switch {
	case offset > 0 || length > 0:
		input.Range = aws.String(byteRange(offset, length))
		if known.ETag != "" {
			input.IfMatch = aws.String(known.ETag)
		}
	case fresh && known.ETag != "":
		input.IfNoneMatch = aws.String(known.ETag)
	}
	out, err := client.GetObject(ctx, input)
	if err != nil {
		return nil, r.failure(ctx, err)
	}
	p := &part{body: out.Body, total: aws.ToInt64(out.ContentLength), validators: validators{ETag: aws.ToString(out.ETag)}}
	if span := aws.ToString(out.ContentRange); span != "" {
		first, total, ok := contentRange(span)
		if !ok || first != offset {
			out.Body.Close()
			return nil, &Error{Code: CodeUnreachable, Message: "the store returned a part of the bundle other than the requested one"}
		}
		p.offset, p.total = first, total
	}
	return p, nil
}

// failure returns the error that an answer of S3 means.
func (r *s3Remote) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer := (*awshttp.ResponseError)(nil)
	// The SDK also wraps requests that got no answer in one, without a status.
	if !errors.As(err, &answer) || answer.HTTPStatusCode() == 0 {
		if _, ok := errors.AsType[*aws.MissingRegionError](err); ok {
			return credentials("no region is set for S3", nil)
		}
		// Neither a key nor a token is in the SDK's errors; what is missing is.
		// It has no type of error for an identity that is not found.
		if strings.Contains(err.Error(), "get credentials") {
			return &temporaryError{err: credentials("the process has no identity for S3", err)}
		}
		return &temporaryError{err: &Error{Code: CodeUnreachable, Message: "S3 can't be reached", Err: err,
			Advice: "Check the network, the proxy (HTTPS_PROXY, NO_PROXY), the network policy, AWS_REGION and, for a store of your own, AWS_ENDPOINT_URL_S3 and BINDERY_S3_PATH_STYLE"}}
	}
	switch status := answer.HTTPStatusCode(); status {
	case http.StatusNotModified, http.StatusRequestedRangeNotSatisfiable, http.StatusPreconditionFailed, http.StatusNotFound:
		return statusError(status, 0)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusBadRequest, http.StatusMovedPermanently:
		return credentials(fmt.Sprintf("S3 denies this identity access to the object (status %d)", status), nil)
	default:
		return statusError(status, 0)
	}
}
