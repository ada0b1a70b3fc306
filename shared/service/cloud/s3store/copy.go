package s3store

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

const (
	// maxCopy is the largest object that S3 copies with one request; larger ones
	// are copied in parts of copyPart, so many at the same time.
	maxCopy        = 5 << 30
	copyPart       = 1 << 30
	copiesInFlight = 8
)

// Copy implements store.Objects: S3 copies, and no byte passes through here.
func (o *Objects) Copy(ctx context.Context, from, to string) error {
	return o.copy(ctx, from, to, maxCopy, copyPart)
}

// copy is Copy with other bounds.
func (o *Objects) copy(ctx context.Context, from, to string, whole, part int64) error {
	if err := cmp.Or(store.CheckObjectKey(from), store.CheckObjectKey(to)); err != nil {
		return err
	}
	head, err := o.head(ctx, from)
	if err != nil {
		return err
	}
	source := aws.String(*o.bucket(from) + "/" + strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(from)))
	size := aws.ToInt64(head.ContentLength)
	if size > whole {
		return o.copyParts(ctx, head, source, to, size, part)
	}
	_, err = o.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: o.bucket(to), Key: &to, CopySource: source, ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	})
	return copied(ctx, err, from)
}

// copied adds its kind to the error of a copy.
func copied(ctx context.Context, err error, from string) error {
	switch {
	case isMissing(err):
		return fmt.Errorf("object %s: %w", from, store.ErrNotFound)
	case err != nil:
		return call.Failure(ctx, err, "copy object %s", from)
	}
	return nil
}

// copyParts copies an object that is too large for one request. The parts are
// those of the object that head describes: one that takes its place meanwhile is
// another.
func (o *Objects) copyParts(ctx context.Context, head *s3.HeadObjectOutput, source *string, to string, size, part int64) (err error) {
	created, err := o.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: o.bucket(to), Key: &to, ContentType: head.ContentType, Metadata: head.Metadata,
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	})
	if err != nil {
		return call.Failure(ctx, err, "copy object to %s", to)
	}
	defer func() {
		if err != nil {
			(&upload{o: o, key: to}).abort(ctx, created.UploadId)
		}
	}()
	parts := make([]types.CompletedPart, (size+part-1)/part)
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(copiesInFlight)
	for i := range parts {
		group.Go(func() error {
			begin := int64(i) * part
			out, err := o.client.UploadPartCopy(gctx, &s3.UploadPartCopyInput{
				Bucket: o.bucket(to), Key: &to, UploadId: created.UploadId, PartNumber: aws.Int32(int32(i + 1)),
				CopySource: source, CopySourceIfMatch: head.ETag,
				CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", begin, min(begin+part, size)-1)),
			})
			if err != nil {
				return copied(gctx, err, *source)
			}
			parts[i] = types.CompletedPart{
				PartNumber: aws.Int32(int32(i + 1)), ETag: out.CopyPartResult.ETag, ChecksumSHA256: out.CopyPartResult.ChecksumSHA256,
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err = o.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: o.bucket(to), Key: &to, UploadId: created.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		return call.Failure(ctx, err, "copy object to %s", to)
	}
	return nil
}
