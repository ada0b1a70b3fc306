package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// PackError says that a pack of a snapshot is not there, or not in full. Its
// text is safe to show.
type PackError struct {
	// SHA256 names the pack.
	SHA256 string
	// Missing: there is no such object. Otherwise it has another size or digest.
	Missing bool
	// Reason says what is wrong, in words.
	Reason string
}

func (e *PackError) Error() string { return fmt.Sprintf("pack %s: %s", e.SHA256, e.Reason) }

// verifyParallel is how many packs Verify asks for at once: the question is a
// round trip and no work.
const verifyParallel = 8

// Verify checks that every pack of m is stored in full, with the size that m
// says, and (where the backend knows digests) with the digest. It returns a
// *PackError for the first that is not. packKey returns the key of a pack by
// its digest.
func Verify(ctx context.Context, objects store.Objects, packKey func(sha256 string) string, m *Manifest) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(verifyParallel)
	for _, pack := range m.Packs {
		group.Go(func() error {
			info, err := objects.Stat(ctx, packKey(pack.SHA256))
			switch {
			case errors.Is(err, store.ErrNotFound):
				return &PackError{SHA256: pack.SHA256, Missing: true, Reason: "it was not uploaded"}
			case err != nil:
				return fmt.Errorf("look at pack %s: %w", pack.SHA256, err)
			case info.Size != pack.Size:
				return &PackError{SHA256: pack.SHA256, Reason: fmt.Sprintf("it has %d bytes, not %d", info.Size, pack.Size)}
			case info.SHA256 != "" && info.SHA256 != pack.SHA256:
				return &PackError{SHA256: pack.SHA256, Reason: "its bytes have another digest"}
			}
			return nil
		})
	}
	return group.Wait()
}

// MinPackAge is how long a pack stays though nothing refers to it: an upload
// under way may be about to publish it.
const MinPackAge = 48 * time.Hour

// References collects the packs that something still needs.
type References struct{ packs map[string]struct{} }

// AddPack notes one pack by its digest, such as one that an unpublished
// upload of the last 48 hours named.
func (r *References) AddPack(sha256 string) {
	if r.packs == nil {
		r.packs = make(map[string]struct{})
	}
	r.packs[sha256] = struct{}{}
}

// Has reports whether something needs a pack.
func (r *References) Has(sha256 string) bool {
	_, ok := r.packs[sha256]
	return ok
}

// Unreferenced picks from stored packs those that may go: nothing refers to
// them and they are older than MinPackAge at the time now. The last element of
// a key is the pack's digest; keys of another form are left alone.
func Unreferenced(packs []store.ObjectInfo, refs *References, now time.Time) []store.ObjectInfo {
	var gone []store.ObjectInfo
	for _, info := range packs {
		digest := path.Base(info.Key)
		if !isDigest(digest) || refs.Has(digest) || now.Sub(info.Modified) <= MinPackAge {
			continue
		}
		gone = append(gone, info)
	}
	return gone
}
