package s3store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Limits of links.
const (
	// maxLinkLife is the longest that S3 takes.
	maxLinkLife = 7 * 24 * time.Hour
	// sessionLife is how long the signer's credentials live: AWS allows no
	// more where one role assumes another.
	sessionLife = time.Hour
	// freshFor is the part of sessionLife within which credentials sign
	// links; older ones are fetched anew, so that a link for an hour lives
	// for at least fifty minutes.
	freshFor = 10 * time.Minute
)

// signer signs links, as a role that it assumes or as the process itself.
type signer struct {
	presign *s3.PresignClient
	own     aws.CredentialsProvider
	now     func() time.Time
	// assume fetches credentials of the role; nil where there is none.
	assume func(ctx context.Context) (aws.Credentials, error)

	mu      sync.Mutex
	session aws.Credentials
	fetched time.Time
}

func newSigner(cfg aws.Config, client *s3.Client, role string, now func() time.Time) *signer {
	s := &signer{own: cfg.Credentials, now: now}
	if role != "" {
		roles := sts.NewFromConfig(cfg)
		s.assume = func(ctx context.Context) (aws.Credentials, error) { return assumeRole(ctx, roles, role) }
	}
	s.presign = s3.NewPresignClient(client, func(o *s3.PresignOptions) {
		o.Presigner = &clockSigner{now: now, sign: v4.NewSigner(func(o *v4.SignerOptions) {
			// Headers that are promises stay headers: a parameter in their
			// place promises nothing to all services.
			o.DisableHeaderHoisting = true
			o.DisableURIPathEscaping = true // the key is escaped once, as S3 does
		})}
	})
	return s
}

// assumeRole fetches credentials of a role.
func assumeRole(ctx context.Context, client *sts.Client, role string) (aws.Credentials, error) {
	out, err := client.AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn: &role, RoleSessionName: aws.String("bindery-links"), DurationSeconds: aws.Int32(int32(sessionLife / time.Second)),
	})
	if err != nil {
		return aws.Credentials{}, call.Failure(ctx, err, "assume the role that signs links")
	}
	if out.Credentials == nil || out.Credentials.Expiration == nil {
		return aws.Credentials{}, errors.New("assume the role that signs links: the answer has no credentials that end")
	}
	return aws.Credentials{
		AccessKeyID: aws.ToString(out.Credentials.AccessKeyId), SecretAccessKey: aws.ToString(out.Credentials.SecretAccessKey),
		SessionToken: aws.ToString(out.Credentials.SessionToken), Source: "AssumeRole",
		CanExpire: true, Expires: *out.Credentials.Expiration,
	}, nil
}

// credentials returns what to sign with now.
func (s *signer) credentials(ctx context.Context) (aws.Credentials, error) {
	if s.assume == nil {
		c, err := s.own.Retrieve(ctx)
		if err != nil {
			return aws.Credentials{}, call.Failure(ctx, err, "credentials for links")
		}
		return c, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.fetched.IsZero() && now.Sub(s.fetched) < freshFor && now.Before(s.session.Expires) {
		return s.session, nil
	}
	c, err := s.assume(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	// Without its monotonic reading: that stands still while a function is
	// frozen, and the credentials' time passes.
	s.session, s.fetched = c, now.Round(0)
	return c, nil
}

// terms prepares a link: how to sign it, and when it ends, which is after life
// or with the credentials.
func (s *signer) terms(ctx context.Context, life time.Duration) (func(*s3.PresignOptions), time.Time, error) {
	c, err := s.credentials(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	// Links are signed at a whole second and live for whole seconds: rounded
	// down, none lives longer than was asked for.
	at := s.now().Truncate(time.Second)
	end := at.Add(min(life, maxLinkLife).Truncate(time.Second))
	if c.CanExpire && c.Expires.Before(end) {
		end = c.Expires.Truncate(time.Second)
	}
	if !end.After(at) {
		return nil, time.Time{}, fmt.Errorf("link: no time to live: %v asked for, credentials until %v", life, c.Expires)
	}
	return func(o *s3.PresignOptions) {
		o.Expires = end.Sub(at)
		o.ClientOptions = append(o.ClientOptions, func(o *s3.Options) {
			o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, nil })
		})
		if p, ok := o.Presigner.(*clockSigner); ok {
			o.Presigner = &clockSigner{now: func() time.Time { return at }, sign: p.sign}
		}
	}, end.UTC(), nil
}

// clockSigner signs at the time that now returns.
type clockSigner struct {
	now  func() time.Time
	sign *v4.Signer
}

// PresignHTTP implements s3.HTTPPresignerV4.
func (c *clockSigner) PresignHTTP(
	ctx context.Context, credentials aws.Credentials, r *http.Request, payloadHash, service, region string, _ time.Time,
	options ...func(*v4.SignerOptions),
) (string, http.Header, error) {
	return c.sign.PresignHTTP(ctx, credentials, r, payloadHash, service, region, c.now(), options...)
}

// PresignGet implements store.Objects. The link is as good as the credentials
// of Options.SignerRole.
func (o *Objects) PresignGet(ctx context.Context, key, filename string, life time.Duration) (store.Link, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return store.Link{}, err
	}
	in := &s3.GetObjectInput{Bucket: o.bucket(key), Key: &key}
	if filename != "" {
		in.ResponseContentDisposition = aws.String(store.Attachment(filename))
	}
	sign, end, err := o.get.terms(ctx, life)
	if err != nil {
		return store.Link{}, err
	}
	out, err := o.get.presign.PresignGetObject(ctx, in, sign)
	if err != nil {
		return store.Link{}, call.Failure(ctx, err, "link to read %s", key)
	}
	return store.Link{URL: out.URL, Header: http.Header{}, ExpiresAt: end}, nil
}

// checksumHeader carries the digest of an upload, in base64.
const checksumHeader = "X-Amz-Checksum-Sha256"

// PresignPut implements store.Objects. The length, the digest and the
// condition that nothing is there are headers that are signed: S3 refuses a
// request that lacks one or has another, and holds the body against them. The
// length is that of the request's body, so a caller need not name it.
func (o *Objects) PresignPut(ctx context.Context, key string, size int64, digest string, life time.Duration) (store.Link, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return store.Link{}, err
	}
	sum, err := store.CheckUpload(size, digest)
	if err != nil {
		return store.Link{}, err
	}
	sign, end, err := o.put.terms(ctx, life)
	if err != nil {
		return store.Link{}, err
	}
	checksum := base64.StdEncoding.EncodeToString(sum)
	out, err := o.put.presign.PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket: o.bucket(key), Key: &key, ContentLength: &size, ChecksumSHA256: &checksum, IfNoneMatch: aws.String("*"),
	}, sign)
	if err != nil {
		return store.Link{}, call.Failure(ctx, err, "link to write %s", key)
	}
	header := http.Header{}
	for name, values := range out.SignedHeader {
		if !strings.EqualFold(name, "Host") && !strings.EqualFold(name, "Content-Length") {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	// A promise that is not signed is not kept.
	for name, want := range map[string]string{checksumHeader: checksum, "If-None-Match": "*"} {
		if header.Get(name) != want {
			return store.Link{}, fmt.Errorf("link to write %s: the header %s was not signed", key, name)
		}
	}
	return store.Link{URL: out.URL, Header: header, ExpiresAt: end}, nil
}
