package s3store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Parts of an upload. S3 takes at most 10,000, each but the last of at least
// 5 MiB and at most 5 GiB. Where the size of an object is not known before,
// parts begin small and double after each thousand, which is enough for more
// than S3's largest object, and what is held in memory grows only with objects
// of many gigabytes.
const (
	firstPart     = 8 << 20
	partsOfSize   = 1000
	maxParts      = 10_000
	partsInFlight = 2
	// cleanUp is how long a failed upload may take to remove its parts, after
	// its own context has ended. Where that fails the bucket's rule for
	// uploads that were never completed removes them.
	cleanUp = 10 * time.Second
)

// partSize is the size of the n-th part, counted from 1, if it is not the last.
func partSize(n int) int { return firstPart << min((n-1)/partsOfSize, 9) }

// upload is one Put.
type upload struct {
	o      *Objects
	key    string
	opt    store.PutOptions
	by     string // the random name of this call
	source io.Reader
	digest hash.Hash
}

// run reads the first part, and decides by it how to go on.
func (u *upload) run(ctx context.Context) (store.ObjectInfo, error) {
	// The buffer grows with what is read: most objects are small.
	var first bytes.Buffer
	_, err := io.CopyN(io.MultiWriter(&first, u.digest), u.source, int64(partSize(1)))
	switch {
	case errors.Is(err, io.EOF):
		return u.putWhole(ctx, first.Bytes())
	case err != nil:
		return store.ObjectInfo{}, fmt.Errorf("put object %s: %w", u.key, err)
	}
	second, err := u.next(2, nil)
	switch {
	case err != nil:
		return store.ObjectInfo{}, fmt.Errorf("put object %s: %w", u.key, err)
	case len(second) == 0:
		return u.putWhole(ctx, first.Bytes())
	}
	return u.putParts(ctx, first.Bytes(), second)
}

// next reads the n-th part into buf, which it may make anew; a part that is
// shorter than partSize is the last, or nothing.
func (u *upload) next(n int, buf []byte) ([]byte, error) {
	size := partSize(n)
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	got, err := io.ReadFull(u.source, buf[:size])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	u.digest.Write(buf[:got])
	return buf[:got], err
}

// putWhole writes an object with one request.
func (u *upload) putWhole(ctx context.Context, body []byte) (store.ObjectInfo, error) {
	sum := u.digest.Sum(nil)
	if u.opt.SHA256 != "" && hex.EncodeToString(sum) != u.opt.SHA256 {
		return store.ObjectInfo{}, fmt.Errorf("put object %s: %w", u.key, store.ErrDigest)
	}
	for try := 1; ; try++ {
		_, err := u.o.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: u.o.bucket(u.key), Key: &u.key, Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
			ContentType: &u.opt.ContentType, IfNoneMatch: u.ifNoneMatch(),
			ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum)),
			Metadata:       map[string]string{metaBy: u.by},
		})
		if err == nil {
			return u.info(int64(len(body)), sum), nil
		}
		done, err := u.refused(ctx, err)
		if done {
			return u.info(int64(len(body)), sum), nil
		}
		// Two writes of one key at once: S3 asks to send the object again.
		if call.ErrorCode(err) != "ConditionalRequestConflict" || try == call.ConflictTries {
			return store.ObjectInfo{}, err
		}
		if err := u.o.sleep(ctx, mathrand.N(50*time.Millisecond<<try)); err != nil {
			return store.ObjectInfo{}, fmt.Errorf("put object %s: %w", u.key, err)
		}
	}
}

// ifNoneMatch is the condition of an object that is written once.
func (u *upload) ifNoneMatch() *string {
	if u.opt.IfAbsent {
		return aws.String("*")
	}
	return nil
}

// info describes what was written.
func (u *upload) info(size int64, sum []byte) store.ObjectInfo {
	return store.ObjectInfo{Key: u.key, Size: size, SHA256: hex.EncodeToString(sum), Modified: u.o.get.now().UTC()}
}

// refused adds its kind to the error of an upload. It is done where an earlier
// try, whose answer was lost, has written the object.
func (u *upload) refused(ctx context.Context, err error) (done bool, _ error) {
	switch {
	case isDigest(err):
		return false, fmt.Errorf("put object %s: %w: %w", u.key, store.ErrDigest, err)
	case call.ErrorCode(err) == "PreconditionFailed" || statusOf(err) == http.StatusPreconditionFailed:
		head, herr := u.o.head(ctx, u.key)
		_, temporary := errors.AsType[store.Coded](herr)
		switch {
		case herr == nil && head.Metadata[metaBy] == u.by:
			return true, nil
		case temporary, ctx.Err() != nil:
			return false, herr
		}
		// Another's, gone again, or nothing that we may look at: it was there.
		return false, fmt.Errorf("put object %s: %w", u.key, store.ErrExists)
	}
	return false, call.Failure(ctx, err, "put object %s", u.key)
}

// isDigest reports whether S3 says that the bytes are not those of the checksum.
func isDigest(err error) bool {
	switch call.ErrorCode(err) {
	case "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch":
		return true
	}
	return false
}

// putParts writes an object in parts, sending some while it reads the next.
func (u *upload) putParts(ctx context.Context, first, second []byte) (_ store.ObjectInfo, err error) {
	id, err := u.begin(ctx)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	defer func() {
		if err != nil {
			u.abort(ctx, id)
		}
	}()
	parts, size, err := u.sendParts(ctx, id, first, second)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	sum := u.digest.Sum(nil)
	if u.opt.SHA256 != "" && hex.EncodeToString(sum) != u.opt.SHA256 {
		return store.ObjectInfo{}, fmt.Errorf("put object %s: %w", u.key, store.ErrDigest)
	}
	if err := u.complete(ctx, id, parts); err != nil {
		return store.ObjectInfo{}, err
	}
	return u.info(size, sum), nil
}

// sendParts sends all parts and returns them in order, with their size together.
func (u *upload) sendParts(ctx context.Context, id *string, first, second []byte) ([]types.CompletedPart, int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sending, sctx := errgroup.WithContext(ctx)
	sending.SetLimit(partsInFlight)
	// As many buffers as parts in flight, and one to read into: the first two
	// are full already, the third is not made yet.
	free := make(chan []byte, partsInFlight+1)
	free <- nil
	var (
		size int64
		done []*types.CompletedPart
		err  error
	)
	for n := 1; sctx.Err() == nil; n++ {
		data := first
		switch {
		case n == 2:
			data = second
		case n > 2:
			if data, err = u.next(n, <-free); err == nil && n > maxParts && len(data) > 0 {
				err = store.ErrTooLarge
			}
		}
		if err != nil || len(data) == 0 {
			break
		}
		size += int64(len(data))
		sum := sha256.Sum256(data)
		part := &types.CompletedPart{
			PartNumber: aws.Int32(int32(n)), ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum[:])),
		}
		done = append(done, part)
		sending.Go(func() error {
			defer func() { free <- data[:0] }()
			tag, err := u.sendPart(sctx, id, n, data, sum)
			part.ETag = tag
			return err
		})
		if len(data) < partSize(n) {
			break
		}
	}
	if err != nil {
		cancel() // what is on its way is of no use
		_ = sending.Wait()
		return nil, 0, fmt.Errorf("put object %s: %w", u.key, err)
	}
	if err := sending.Wait(); err != nil {
		return nil, 0, err
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, fmt.Errorf("put object %s: %w", u.key, err)
	}
	parts := make([]types.CompletedPart, len(done))
	for i, p := range done {
		parts[i] = *p
	}
	return parts, size, nil
}

// partError adds its kind to the error of a part.
func (u *upload) partError(ctx context.Context, err error) error {
	if isDigest(err) {
		// The checksum is of the very bytes that were sent: the way broke them.
		return call.Temporary(fmt.Errorf("put object %s: %w", u.key, err))
	}
	return call.Failure(ctx, err, "put object %s", u.key)
}

// notCompleted adds its kind to the error of the end of an upload. It is done
// where an earlier try, whose answer was lost, has made the object.
func (u *upload) notCompleted(ctx context.Context, err error) (done bool, _ error) {
	switch call.ErrorCode(err) {
	case "NoSuchUpload":
		if head, herr := u.o.head(ctx, u.key); herr == nil && head.Metadata[metaBy] == u.by {
			return true, nil
		}
	case "ConditionalRequestConflict":
		// Another write of this key is running. The parts would have to be
		// sent again, and their source has been read.
		if _, herr := u.o.head(ctx, u.key); herr == nil && u.opt.IfAbsent {
			return false, fmt.Errorf("put object %s: %w", u.key, store.ErrExists)
		}
	}
	return u.refused(ctx, err)
}

// abort removes the parts of an upload that has failed.
func (u *upload) abort(ctx context.Context, id *string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	// What remains costs space until the bucket's rule removes it; the error
	// that led here is the one to return.
	_, _ = u.o.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: u.o.bucket(u.key), Key: &u.key, UploadId: id,
	})
}
