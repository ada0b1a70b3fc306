package awsconfig

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Signer returns what signs requests, version 4, for a service in a region with
// cfg's credentials. bodySHA256 is the digest of a request's body in hexadecimal.
func Signer(cfg aws.Config, region, service string) func(ctx context.Context, r *http.Request, bodySHA256 string) error {
	signer := v4.NewSigner()
	return func(ctx context.Context, r *http.Request, bodySHA256 string) error {
		keys, err := cfg.Credentials.Retrieve(ctx)
		if err != nil {
			return err
		}
		return signer.SignHTTP(ctx, keys, r, bodySHA256, service, region, time.Now())
	}
}
