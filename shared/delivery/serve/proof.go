package serve

import (
	"context"
	"crypto/sha256"
	states "encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// A version on the volume proves what it is. Beside the unpacked files there is
// the end of the archive that they came from, and the record has the state of
// SHA-256 before that end. Hashed on from there, the end must lead to the
// digest by which the version is known: pinned, or computed when it was
// fetched. A state and an end of one's own that lead there would be a preimage
// of SHA-256's compression function. The end has the description, which names
// the digest of the list of files, which has that of every file.
//
// Where no digest is pinned, a version that an earlier process left can be
// replaced by another whole bundle: nothing says which one it was.

// endFile is the end of the archive, in a version's folder.
const endFile = "end"

// keepProof keeps what shows later of which archive a version is.
func (v *volume) keepProof(ctx context.Context, archive, dir string, end bundle.End, r *record) error {
	in, err := os.Open(archive)
	if err != nil {
		return volumeError("the archive can't be read", err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(dir, endFile))
	if err != nil {
		return volumeError("the archive's end can't be kept", err)
	}
	defer out.Close()
	sum := sha256.New()
	if _, err := io.CopyN(sum, in, end.Offset); err != nil {
		return volumeError("the archive can't be read", err)
	}
	if r.State, err = sum.(states.BinaryMarshaler).MarshalBinary(); err != nil {
		return err
	}
	if _, err := io.Copy(io.MultiWriter(out, sum), in); err != nil {
		return volumeError("the archive's end can't be kept", err)
	}
	if err := out.Close(); err != nil {
		return volumeError("the archive's end can't be kept", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != r.Digest {
		return &Error{Code: CodeVolume, Message: "the archive was changed while it was read", Advice: "Write a new archive beside the old one and rename it"}
	}
	described, err := proven(ctx, dir, *r, v.limits)
	if err == nil && described != end.SHA256 {
		err = errors.New("it has another description than the whole")
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case end.Offset > 0: // its members do not end where its files do
		return v.keepProof(ctx, archive, dir, bundle.End{SHA256: end.SHA256}, r)
	}
	return refused(&bundle.Error{Fault: bundle.Corrupt, Path: bundle.InfoPath, Message: "the archive's end can't be read alone", Err: err})
}

// proven returns the digest of the description of the archive that a version in
// dir is of.
func proven(ctx context.Context, dir string, r record, limits bundle.Limits) (string, error) {
	f, err := os.Open(filepath.Join(dir, endFile))
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if err := sum.(states.BinaryUnmarshaler).UnmarshalBinary(r.State); err != nil {
		return "", fmt.Errorf("the record has no state of the digest: %w", err)
	}
	described, err := bundle.ReadEnd(ctx, io.TeeReader(f, sum), limits)
	if err != nil {
		return "", err
	}
	if hex.EncodeToString(sum.Sum(nil)) != r.Digest {
		return "", errors.New("the end of its archive is not that of the archive with its digest")
	}
	return described, nil
}

// lists reads what a version's files must be. Each text is compared with the
// digest that stands in the one above it.
func (v *volume) lists(ctx context.Context, digest string) (record, *bundle.Info, []bundle.File, error) {
	fail := func(err error) (record, *bundle.Info, []bundle.File, error) { return record{}, nil, nil, err }
	r, _, err := v.record(digest)
	if err != nil {
		return fail(err)
	}
	described, err := proven(ctx, v.version(digest), r, v.limits)
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.State == nil && !v.known[digest]:
		// Of a server before proofs were kept, and nobody says which digest it
		// must have.
	case errors.Is(err, fs.ErrNotExist) && r.State == nil:
		return fail(&Error{Code: CodeDamaged, Message: "the version on the volume is of an older server and does not prove its digest", Advice: "It is unpacked again from the bundle's source"})
	case err != nil:
		return fail(err)
	}
	dir := filepath.Join(v.version(digest), siteDir)
	raw, err := readMost(filepath.Join(dir, bundle.InfoPath), bundle.MaxInfoBytes)
	if err != nil {
		return fail(err)
	}
	if sum := sha256.Sum256(raw); described != "" && hex.EncodeToString(sum[:]) != described {
		return fail(fmt.Errorf("%s: %w", bundle.InfoPath, site.ErrDamaged))
	}
	info, err := bundle.ParseInfo(raw)
	if err != nil {
		return fail(err)
	}
	list, err := readFileList(dir, info.FileList)
	if err != nil {
		return fail(err)
	}
	if len(list) != info.Files || info.Version != r.Version {
		return fail(errors.New("the version's files are not those of its record"))
	}
	// The record is only as good as the volume; these are the bundle's.
	r.Domain, r.Pages, r.Files, r.Bytes = info.Domain, info.Pages, info.Files, info.Bytes
	return r, info, list, nil
}

// readMost reads a file of at most so many bytes.
func readMost(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s: %w", filepath.Base(name), site.ErrDamaged)
	}
	return raw, err
}

// readFileList reads a version's list of files and compares it with its digest.
func readFileList(dir string, want bundle.ListInfo) ([]bundle.File, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(bundle.FilesPath)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var files []bundle.File
	sum := sha256.New()
	for file, err := range json.Values[bundle.File](io.TeeReader(io.LimitReader(f, want.Size+1), sum)) {
		if err != nil {
			return nil, fmt.Errorf("the list of files can't be read: %w", err)
		}
		files = append(files, *file)
	}
	if hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return nil, fmt.Errorf("%s: %w", bundle.FilesPath, site.ErrDamaged)
	}
	return files, nil
}
