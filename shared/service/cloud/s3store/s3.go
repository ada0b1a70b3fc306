// Package s3store is store.Objects on two buckets of S3.
//
//	s3.go      reading, listing, removing
//	upload.go  uploads, whole or in parts
//	copy.go    copies, which S3 makes itself
//	parts.go   uploads that several processes go on with
//	links.go   links, and the roles that sign them
package s3store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Objects is store.Objects on two buckets of S3: objects whose key begins with
// "exports/" are in one, all others in the other, so that what customers
// publish and what exports make have lives of their own.
//
// What is written once is written under the condition that nothing is there
// (If-None-Match), which S3 holds for whole uploads and at the end of those in
// parts. As in Store, each write carries a random name: an upload whose answer
// was lost finds itself.
type Objects struct {
	client  *s3.Client
	sources string
	exports string
	get     *signer
	put     *signer
	sleep   func(context.Context, time.Duration) error
}

var _ store.Objects = (*Objects)(nil)

// Options say where objects are and who signs their links.
type Options struct {
	// Sources and Exports are the names of the buckets; they may be one.
	Sources, Exports string
	// SignerRole is the ARN of a role that may read objects, which links to
	// read are signed as; empty: the credentials of the process. A link dies
	// with the credentials that signed it, and those of a function end at a
	// time that it can't see; those of a role that it assumes say when.
	SignerRole string
	// UploadSignerRole is the same for links to write.
	UploadSignerRole string
	// Now returns the time; nil for the clock.
	Now func() time.Time
}

const (
	// defaultType is the media type of an object that was stored without one.
	defaultType = "application/octet-stream"
	// maxListed is how many objects a listing returns at most, in S3.
	maxListed = 1000
	// maxDeleted is how many objects one request removes at most, in S3.
	maxDeleted = 1000

	// Metadata of objects.
	metaBy     = "bindery-by"     // names the call that wrote it
	metaSHA256 = "bindery-sha256" // the digest in hex, of uploads in parts, where it was known before
)

// New makes an Objects; it asks nothing of AWS.
func New(cfg aws.Config, opt Options) *Objects {
	cfg = call.WithRetries(cfg)
	now := opt.Now
	if now == nil {
		now = time.Now
	}
	o := &Objects{sources: opt.Sources, exports: opt.Exports, sleep: call.Sleep}
	o.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		// Host names for buckets need a name service; a local cloud has none.
		o.UsePathStyle = cfg.BaseEndpoint != nil
		// All uploads carry their SHA-256; another checksum is of no use.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	o.get = newSigner(cfg, o.client, opt.SignerRole, now)
	o.put = newSigner(cfg, o.client, opt.UploadSignerRole, now)
	return o
}

// exported are what the keys of the bucket of exports begin with.
var exported = [...]string{job.AllObjects, admin.AllKept}

// bucket returns the bucket of a key.
func (o *Objects) bucket(key string) *string {
	for _, begin := range exported {
		if strings.HasPrefix(key, begin) {
			return &o.exports
		}
	}
	return &o.sources
}

// Put implements store.Objects. What fits into one part goes up whole, the
// rest in parts.
func (o *Objects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return store.ObjectInfo{}, err
	}
	if opt.SHA256 != "" {
		if sum, err := hex.DecodeString(opt.SHA256); err != nil || len(sum) != sha256.Size {
			return store.ObjectInfo{}, fmt.Errorf("put object %s: %q is not a SHA-256 in hex", key, opt.SHA256)
		}
		opt.SHA256 = strings.ToLower(opt.SHA256)
	}
	opt.ContentType = cmp.Or(opt.ContentType, defaultType)
	u := &upload{
		o: o, key: key, opt: opt, by: rand.Text(),
		source: store.Until(ctx, r), digest: sha256.New(),
	}
	return u.run(ctx)
}

// Get implements store.Objects.
func (o *Objects) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, fmt.Errorf("get object %s: offset %d", key, offset)
	}
	if length == 0 { // a range has at least one byte
		return o.nothing(ctx, key, offset)
	}
	in := &s3.GetObjectInput{Bucket: o.bucket(key), Key: &key}
	switch end := offset + length; {
	case length > 0 && end > offset:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, end-1))
	case offset > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := o.client.GetObject(ctx, in)
	switch {
	case err == nil:
		return &body{ReadCloser: out.Body, ctx: ctx, key: key}, nil
	case isMissing(err):
		return nil, fmt.Errorf("object %s: %w", key, store.ErrNotFound)
	case call.ErrorCode(err) == "InvalidRange" || statusOf(err) == http.StatusRequestedRangeNotSatisfiable:
		return o.nothing(ctx, key, offset) // of an empty object any range is
	}
	return nil, call.Failure(ctx, err, "get object %s", key)
}

// nothing opens no bytes of an object, if they are its.
func (o *Objects) nothing(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	info, err := o.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	if offset >= info.Size && info.Size > 0 {
		return nil, fmt.Errorf("object %s of %d bytes from %d: %w", key, info.Size, offset, store.ErrRange)
	}
	return io.NopCloser(bytes.NewReader(nil)), nil
}

// body is an open object. A connection that breaks in the middle of it is
// something that a later try may not meet.
type body struct {
	io.ReadCloser
	ctx context.Context
	key string
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return n, err
	case b.ctx.Err() != nil:
		return n, fmt.Errorf("read object %s: %w", b.key, b.ctx.Err())
	}
	return n, call.Temporary(fmt.Errorf("read object %s: %w", b.key, err))
}

// Stat implements store.Objects.
func (o *Objects) Stat(ctx context.Context, key string) (store.ObjectInfo, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return store.ObjectInfo{}, err
	}
	head, err := o.head(ctx, key)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	info := store.ObjectInfo{Key: key, Size: aws.ToInt64(head.ContentLength), Modified: aws.ToTime(head.LastModified).UTC()}
	// The checksum of an upload in parts is one of the parts' checksums.
	sum, err := base64.StdEncoding.DecodeString(aws.ToString(head.ChecksumSHA256))
	if head.ChecksumType != types.ChecksumTypeComposite && err == nil && len(sum) == sha256.Size {
		info.SHA256 = hex.EncodeToString(sum)
	} else {
		info.SHA256 = head.Metadata[metaSHA256]
	}
	return info, nil
}

func (o *Objects) head(ctx context.Context, key string) (*s3.HeadObjectOutput, error) {
	head, err := o.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: o.bucket(key), Key: &key, ChecksumMode: types.ChecksumModeEnabled,
	})
	if isMissing(err) {
		return nil, fmt.Errorf("object %s: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return nil, call.Failure(ctx, err, "object %s", key)
	}
	return head, nil
}

// isMissing reports whether S3 answered that the object does not exist. A HEAD
// has no body, so that its errors have only a status.
func isMissing(err error) bool {
	var noBucket *types.NoSuchBucket
	switch {
	case err == nil, errors.As(err, &noBucket) || call.ErrorCode(err) == "NoSuchBucket":
		return false
	case call.ErrorCode(err) == "NoSuchKey":
		return true
	}
	return statusOf(err) == http.StatusNotFound && call.ErrorCode(err) == "NotFound"
}

// statusOf returns the HTTP status of an answer that is an error, or 0.
func statusOf(err error) int {
	if r, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return r.HTTPStatusCode()
	}
	return 0
}

// List implements store.Objects. A prefix that both buckets may have keys for
// is listed in both.
func (o *Objects) List(ctx context.Context, prefix, after string, limit int) ([]store.ObjectInfo, error) {
	if limit < 0 {
		return nil, fmt.Errorf("list objects: limit %d", limit)
	}
	if limit == 0 || limit > maxListed {
		limit = maxListed
	}
	bucket := o.bucket(prefix)
	list, err := o.list(ctx, bucket, prefix, after, limit)
	inBoth := slices.ContainsFunc(exported[:], func(begin string) bool { return strings.HasPrefix(begin, prefix) })
	if err != nil || bucket == &o.exports || o.sources == o.exports || !inBoth {
		return list, err
	}
	more, err := o.list(ctx, &o.exports, prefix, after, limit)
	if err != nil {
		return nil, err
	}
	list = append(list, more...)
	slices.SortFunc(list, func(a, b store.ObjectInfo) int { return strings.Compare(a.Key, b.Key) })
	return list[:min(limit, len(list))], nil
}

// list returns exactly limit objects of a bucket, or all.
func (o *Objects) list(ctx context.Context, bucket *string, prefix, after string, limit int) ([]store.ObjectInfo, error) {
	var list []store.ObjectInfo
	// Answers repeat after, which XML may not be able to hold as it is.
	in := &s3.ListObjectsV2Input{Bucket: bucket, Prefix: &prefix, EncodingType: types.EncodingTypeUrl}
	if after != "" {
		in.StartAfter = &after
	}
	for {
		in.MaxKeys = aws.Int32(int32(limit - len(list)))
		out, err := o.client.ListObjectsV2(ctx, in)
		if err != nil {
			return nil, call.Failure(ctx, err, "list objects")
		}
		for _, c := range out.Contents {
			key, err := url.QueryUnescape(aws.ToString(c.Key))
			if err != nil {
				return nil, fmt.Errorf("list objects: %w", err)
			}
			list = append(list, store.ObjectInfo{
				Key: key, Size: aws.ToInt64(c.Size), Modified: aws.ToTime(c.LastModified).UTC(),
			})
		}
		if len(list) >= limit || !aws.ToBool(out.IsTruncated) || aws.ToString(out.NextContinuationToken) == "" {
			return list, nil
		}
		in.ContinuationToken = out.NextContinuationToken
	}
}

// Delete implements store.Objects.
func (o *Objects) Delete(ctx context.Context, keys ...string) error {
	perBucket := map[*string][]types.ObjectIdentifier{}
	for _, key := range keys {
		if err := store.CheckObjectKey(key); err != nil {
			return err
		}
		b := o.bucket(key)
		perBucket[b] = append(perBucket[b], types.ObjectIdentifier{Key: aws.String(key)})
	}
	for bucket, objects := range perBucket {
		for chunk := range slices.Chunk(objects, maxDeleted) {
			out, err := o.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
				Bucket: bucket, Delete: &types.Delete{Objects: chunk, Quiet: aws.Bool(true)},
			})
			if err != nil {
				return call.Failure(ctx, err, "delete objects")
			}
			for _, e := range out.Errors {
				switch code := aws.ToString(e.Code); code {
				case "NoSuchKey":
				case "InternalError", "SlowDown", "ServiceUnavailable":
					return call.Temporary(fmt.Errorf("delete object %s: %s", aws.ToString(e.Key), code))
				default:
					return fmt.Errorf("delete object %s: %s: %s", aws.ToString(e.Key), code, aws.ToString(e.Message))
				}
			}
		}
	}
	return nil
}
