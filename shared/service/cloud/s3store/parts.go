package s3store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Uploads that several processes go on with. The name of one is the random name
// that its object will carry and what S3 calls the upload: an answer to its end
// that was lost is found by the first.

// resumed is an upload by its name.
func (o *Objects) resumed(key, name string) (*upload, *string, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return nil, nil, err
	}
	by, id, ok := strings.Cut(name, "/")
	if !ok || id == "" {
		return nil, nil, fmt.Errorf("upload %q of object %s: %w", name, key, store.ErrNotFound)
	}
	return &upload{o: o, key: key, by: by}, &id, nil
}

// BeginUpload implements store.Objects. What nobody completes, the bucket's rule
// for uploads removes.
func (o *Objects) BeginUpload(ctx context.Context, key string, _ int64, opt store.PutOptions) (string, error) {
	if err := store.CheckObjectKey(key); err != nil {
		return "", err
	}
	u := &upload{o: o, key: key, by: rand.Text(), opt: store.PutOptions{ContentType: cmp.Or(opt.ContentType, defaultType)}}
	id, err := u.begin(ctx)
	if err != nil {
		return "", err
	}
	return u.by + "/" + aws.ToString(id), nil
}

// UploadPart implements store.Objects.
func (o *Objects) UploadPart(ctx context.Context, key, name string, n int, data []byte) (store.Part, error) {
	u, id, err := o.resumed(key, name)
	if err != nil {
		return store.Part{}, err
	}
	sum := sha256.Sum256(data)
	tag, err := u.sendPart(ctx, id, n, data, sum)
	if call.ErrorCode(err) == "NoSuchUpload" {
		return store.Part{}, fmt.Errorf("part %d of object %s: %w", n, key, store.ErrNotFound)
	}
	return store.Part{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Tag: aws.ToString(tag)}, err
}

// CompleteUpload implements store.Objects.
func (o *Objects) CompleteUpload(ctx context.Context, key, name string, parts []store.Part, digest string) (store.ObjectInfo, error) {
	u, id, err := o.resumed(key, name)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	sum, err := hex.DecodeString(digest)
	if err != nil || len(sum) != sha256.Size {
		return store.ObjectInfo{}, fmt.Errorf("complete object %s: %q is not a SHA-256 in hex", key, digest)
	}
	var size int64
	done := make([]types.CompletedPart, len(parts))
	for i, p := range parts {
		b, err := hex.DecodeString(p.SHA256)
		if err != nil {
			return store.ObjectInfo{}, fmt.Errorf("complete object %s: part %d: %w", key, i+1, store.ErrDigest)
		}
		done[i] = types.CompletedPart{PartNumber: aws.Int32(int32(i + 1)), ETag: aws.String(p.Tag), ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(b))}
		size += p.Size
	}
	switch err := u.complete(ctx, id, done); call.ErrorCode(err) {
	case "":
		if err != nil {
			return store.ObjectInfo{}, err
		}
		return u.info(size, sum), nil
	case "NoSuchUpload":
		return store.ObjectInfo{}, fmt.Errorf("complete object %s: %w", key, store.ErrNotFound)
	case "InvalidPart", "InvalidPartOrder":
		return store.ObjectInfo{}, fmt.Errorf("complete object %s: %w: %w", key, store.ErrDigest, err)
	default:
		return store.ObjectInfo{}, err
	}
}

// AbortUpload implements store.Objects.
func (o *Objects) AbortUpload(ctx context.Context, key, name string) error {
	u, id, err := o.resumed(key, name)
	if err != nil {
		return nil // no name of an upload: there is none
	}
	_, err = o.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: o.bucket(key), Key: &u.key, UploadId: id})
	if err != nil && call.ErrorCode(err) != "NoSuchUpload" {
		return call.Failure(ctx, err, "abort the upload of object %s", key)
	}
	return nil
}

// begin begins an upload in parts.
func (u *upload) begin(ctx context.Context) (*string, error) {
	in := &s3.CreateMultipartUploadInput{
		Bucket: u.o.bucket(u.key), Key: &u.key, ContentType: &u.opt.ContentType,
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, Metadata: map[string]string{metaBy: u.by},
	}
	if u.opt.SHA256 != "" {
		in.Metadata[metaSHA256] = u.opt.SHA256
	}
	created, err := u.o.client.CreateMultipartUpload(ctx, in)
	if err != nil {
		return nil, call.Failure(ctx, err, "put object %s", u.key)
	}
	return created.UploadId, nil
}

// sendPart sends one part and returns its tag.
func (u *upload) sendPart(ctx context.Context, id *string, n int, data []byte, sum [sha256.Size]byte) (*string, error) {
	out, err := u.o.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: u.o.bucket(u.key), Key: &u.key, UploadId: id, PartNumber: aws.Int32(int32(n)),
		Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))), ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])),
	})
	if err != nil {
		return nil, u.partError(ctx, err)
	}
	return out.ETag, nil
}

// complete makes the object of its parts.
func (u *upload) complete(ctx context.Context, id *string, parts []types.CompletedPart) error {
	_, err := u.o.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: u.o.bucket(u.key), Key: &u.key, UploadId: id, IfNoneMatch: u.ifNoneMatch(),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		if done, err := u.notCompleted(ctx, err); !done {
			return err
		}
	}
	return nil
}
