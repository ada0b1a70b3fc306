package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// An upload in parts is a file in the folder of what is not finished, which each
// part is written into at its place. Its name, ID-PARTBYTES-TYPE in hex, is the
// upload's: it needs no row, and Sweep removes it an hour after its last part.
type upload struct {
	id          string // the file's name once it is whole
	partBytes   int64
	contentType string
	path        string
}

// upload reads an upload's name.
func (o *Objects) upload(key, name string) (upload, error) {
	missing := fmt.Errorf("upload %q of object %s: %w", name, key, store.ErrNotFound)
	if err := store.CheckObjectKey(key); err != nil {
		return upload{}, err
	}
	f := strings.Split(name, "-")
	if len(f) != 3 {
		return upload{}, missing
	}
	_, idErr := hex.DecodeString(f[0])
	size, sizeErr := strconv.ParseInt(f[1], 10, 64)
	contentType, typeErr := hex.DecodeString(f[2])
	if idErr != nil || sizeErr != nil || typeErr != nil || len(f[0]) != 32 || size < 1 {
		return upload{}, missing
	}
	return upload{f[0], size, string(contentType), filepath.Join(o.root, "tmp", "upload-"+name)}, nil
}

// BeginUpload implements store.Objects.
func (o *Objects) BeginUpload(ctx context.Context, key string, partBytes int64, opt store.PutOptions) (string, error) {
	var id [16]byte
	rand.Read(id[:]) // never fails
	name := fmt.Sprintf("%x-%d-%x", id, partBytes, cmp.Or(opt.ContentType, defaultType))
	u, err := o.upload(key, name)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(u.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", fmt.Errorf("upload of object %s: %w", key, portError(ctx, err))
	}
	return name, ctx.Err()
}

// UploadPart implements store.Objects.
func (o *Objects) UploadPart(ctx context.Context, key, name string, n int, data []byte) (store.Part, error) {
	u, err := o.upload(key, name)
	if err != nil {
		return store.Part{}, err
	}
	if n < 1 || int64(len(data)) > u.partBytes {
		return store.Part{}, fmt.Errorf("part %d of object %s: %d bytes of %d", n, key, len(data), u.partBytes)
	}
	if err := ctx.Err(); err != nil {
		return store.Part{}, err
	}
	f, err := os.OpenFile(u.path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Part{}, fmt.Errorf("part %d of object %s: %w", n, key, store.ErrNotFound)
	}
	if err == nil {
		if _, err = f.WriteAt(data, int64(n-1)*u.partBytes); err == nil {
			err = o.l.sync(f)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return store.Part{}, fmt.Errorf("part %d of object %s: %w", n, key, portError(ctx, err))
	}
	part := store.Part{Size: int64(len(data))}
	if !o.l.temporary { // as of Put
		sum := sha256.Sum256(data)
		part.SHA256 = hex.EncodeToString(sum[:])
	}
	return part, nil
}

// CompleteUpload implements store.Objects. The digest is the caller's: each part
// was held against its own when it was written.
func (o *Objects) CompleteUpload(ctx context.Context, key, name string, parts []store.Part, digest string) (store.ObjectInfo, error) {
	u, err := o.upload(key, name)
	if err != nil {
		return store.ObjectInfo{}, err
	}
	var size int64
	for _, p := range parts {
		size += p.Size
	}
	info, err := o.complete(ctx, key, u, size, digest)
	if err != nil {
		return store.ObjectInfo{}, fmt.Errorf("complete object %s: %w", key, portError(ctx, err))
	}
	return info, nil
}

func (o *Objects) complete(ctx context.Context, key string, u upload, size int64, digest string) (store.ObjectInfo, error) {
	file := u.id[:2] + "/" + u.id
	place := filepath.Join(o.root, filepath.FromSlash(file))
	stat, err := os.Stat(u.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// An earlier call, whose answer was lost, may have moved it, and may have
		// written its row.
		if s, err := o.find(ctx, key); err == nil && s.file == file {
			return s.ObjectInfo, nil
		}
		if stat, err = os.Stat(place); errors.Is(err, fs.ErrNotExist) {
			return store.ObjectInfo{}, store.ErrNotFound
		}
		if err == nil && stat.Size() != size {
			return store.ObjectInfo{}, store.ErrDigest
		}
	case err == nil && stat.Size() != size:
		return store.ObjectInfo{}, store.ErrDigest
	case err == nil:
		err = o.move(u.path, place)
	}
	if err != nil {
		return store.ObjectInfo{}, err
	}
	info := store.ObjectInfo{Key: key, Size: size, SHA256: strings.ToLower(digest), Modified: o.l.now().UTC()}
	return info, o.row(ctx, file, stored{ObjectInfo: info, contentType: u.contentType}, false)
}

// AbortUpload implements store.Objects.
func (o *Objects) AbortUpload(ctx context.Context, key, name string) error {
	u, err := o.upload(key, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = os.Remove(u.path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("abort the upload of object %s: %w", key, portError(ctx, err))
	}
	return nil
}
