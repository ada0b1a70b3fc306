package awsconfig

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
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

// Post makes one request of a service in cfg's region, signed with cfg's
// credentials, and doesn't repeat it. It is for services of which a function makes
// one kind of request: their client in the SDK would be a part of each of its cold
// starts. The caller closes the answer's body. path is without characters that an
// address has to escape.
func Post(ctx context.Context, cfg aws.Config, service, path string, header http.Header, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint(cfg, service)+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header.Clone()
	sum := sha256.Sum256(body)
	if err := Signer(cfg, cfg.Region, service)(ctx, r, hex.EncodeToString(sum[:])); err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(r)
}

// endpoint is where a service is asked, without a slash at the end.
func endpoint(cfg aws.Config, service string) string {
	if cfg.BaseEndpoint != nil {
		return strings.TrimSuffix(*cfg.BaseEndpoint, "/")
	}
	host := service + "." + cfg.Region + ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		host += ".cn"
	}
	return "https://" + host
}
