package serve

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bindery-docs/bindery/shared/base/filelock"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Names in the data folder.
const (
	versionsDir = "versions"
	currentName = "current"
	lockName    = "lock"
	siteDir     = "site"
	recordFile  = "record.json"
	newPrefix   = ".new-"
)

// record is what the volume knows of a version.
type record struct {
	// Digest is the SHA-256 of the archive, in hex, and the folder's name.
	Digest string `json:"sha256"`
	// Size is that of the archive in bytes.
	Size    int64  `json:"size"`
	Version string `json:"version"`
	Domain  string `json:"domain"`
	Pages   int    `json:"pages"` // number of pages
	Files   int    `json:"files"` // number of unpacked files
	Bytes   int64  `json:"bytes"` // size of the unpacked files together
	// Source says where it came from, without what signs a link, and From
	// what the source said of it.
	Source string     `json:"source"`
	From   validators `json:"from"`
	// State is SHA-256's before the archive's end, which proves the digest.
	State []byte `json:"state,omitempty"`
}

// volume is the folder of versions.
type volume struct {
	dir    string
	limits bundle.Limits
	log    *slog.Logger
	// known are digests that the volume was not asked for: the pinned one, and
	// those of archives that this process has read.
	known map[string]bool
}

func (v *volume) know(digest string) {
	if v.known == nil {
		v.known = map[string]bool{}
	}
	v.known[digest] = true
}

func (v *volume) path(parts ...string) string {
	return filepath.Join(append([]string{v.dir}, parts...)...)
}

func (v *volume) version(digest string) string { return v.path(versionsDir, digest) }

// lock waits until the folder is this process's to change.
func (v *volume) lock(ctx context.Context) (release func(), err error) {
	for said := false; ; said = true {
		if release, err = v.lockNow(); err != nil || release != nil {
			return release, err
		}
		if !said {
			v.log.Info("another server changes the data folder; waiting for it")
		}
		if err := sleepContext(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// lockNow is lock without waiting: release is nil while another process has the
// folder.
func (v *volume) lockNow() (release func(), err error) {
	if err := os.MkdirAll(v.path(versionsDir), 0o755); err != nil {
		return nil, volumeError("the data folder can't be made", err)
	}
	f, err := os.OpenFile(v.path(lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, volumeError("the data folder can't be written to", err)
	}
	ok, err := filelock.Try(f, false)
	if err != nil {
		err = volumeError("the data folder can't be locked", err)
	}
	if !ok {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// use keeps others from removing a version until release is called.
func (v *volume) use(digest string) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(v.version(digest), lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	ok, err := filelock.Try(f, true)
	if err == nil && !ok {
		err = errors.New("another server is removing this version")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// sweep removes what a process that was killed left half made. The folder must
// be locked.
func (v *volume) sweep() {
	entries, err := os.ReadDir(v.path(versionsDir))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newPrefix) {
			v.clear(v.path(versionsDir, e.Name()))
		}
		if !isDigest(e.Name()) {
			continue
		}
		// Nobody finds a version by a damaged record: it only takes room. One
		// without any may be another machine's, which a shared volume does not
		// show as a whole yet.
		if _, _, err := v.record(e.Name()); err != nil && damaged(err) && !errors.Is(err, fs.ErrNotExist) {
			v.log.Error("the record of a version on the volume is damaged; the version is removed", "sha256", e.Name(), "error", err)
			if err := v.remove(e.Name()); err != nil {
				v.log.Error("it can't be removed", "sha256", e.Name(), "error", err)
			}
		}
	}
}

// clear removes a folder that is out of sight, unless a server still shows what
// is in it.
func (v *volume) clear(dir string) {
	if f, err := os.Open(filepath.Join(dir, lockName)); err == nil {
		defer f.Close()
		if ok, err := filelock.Try(f, false); err != nil || !ok {
			return
		}
	}
	_ = os.RemoveAll(dir)
}

// count is how many versions there are.
func (v *volume) count() (n int) {
	entries, err := os.ReadDir(v.path(versionsDir))
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if isDigest(e.Name()) {
			n++
		}
	}
	return n
}

// damaged reports whether what was found on the volume is at fault, and not what
// the process may do or has just now: a version must not be removed because
// there was no file descriptor left, or another user may read it alone.
func damaged(err error) bool {
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	errno := syscall.Errno(0)
	return !errors.As(err, &errno) || errors.Is(err, fs.ErrNotExist) || errno == syscall.ENOTDIR
}

// list returns the versions of the volume, the one that was activated last
// first. What can't be read is left out.
func (v *volume) list() []record {
	entries, err := os.ReadDir(v.path(versionsDir))
	if err != nil {
		return nil
	}
	type dated struct {
		record
		active time.Time
	}
	var all []dated
	for _, e := range entries {
		if !isDigest(e.Name()) {
			continue
		}
		r, at, err := v.record(e.Name())
		if err != nil {
			v.log.Warn("a version on the volume can't be read", "sha256", e.Name(), "error", err)
			continue
		}
		all = append(all, dated{r, at})
	}
	current := v.current()
	slices.SortStableFunc(all, func(a, b dated) int {
		switch {
		case a.Digest == current:
			return -1
		case b.Digest == current:
			return 1
		}
		return b.active.Compare(a.active)
	})
	out := make([]record, len(all))
	for i, d := range all {
		out[i] = d.record
	}
	return out
}

func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func (v *volume) record(digest string) (record, time.Time, error) {
	path := filepath.Join(v.version(digest), recordFile)
	info, err := os.Stat(path)
	if err != nil {
		return record{}, time.Time{}, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return record{}, time.Time{}, err
	}
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return record{}, time.Time{}, err
	}
	if r.Digest != digest {
		return record{}, time.Time{}, errors.New("its record is of another version")
	}
	return r, info.ModTime(), nil
}

// current is the digest of the active version, or "".
func (v *volume) current() string {
	target, err := os.Readlink(v.path(currentName))
	if err != nil {
		return ""
	}
	if digest := filepath.Base(target); isDigest(digest) {
		return digest
	}
	return ""
}

// find returns the newest version on the volume that is wanted.
func (v *volume) find(w want) (record, bool) {
	for _, r := range v.list() {
		if w.takes(r) {
			return r, true
		}
	}
	return record{}, false
}

// add checks and unpacks an archive into the volume and returns its record. The
// folder must be locked. After an error nothing of it is there. A version that
// is there already is taken as it is, unless it is the one that is spoilt.
func (v *volume) add(ctx context.Context, archive string, w want, source *bundleSource, from validators, spoilt string) (record, error) {
	if r, ok, err := v.present(ctx, archive, w, source, spoilt); err != nil {
		return record{}, err
	} else if ok {
		r.Source, r.From = source.key, from
		return r, v.writeRecord(v.version(r.Digest), r)
	}
	f, err := os.Open(archive)
	if err != nil {
		return record{}, archiveError(archive, source, err)
	}
	defer f.Close()
	temporary, err := os.MkdirTemp(v.path(versionsDir), newPrefix)
	if err != nil {
		return record{}, volumeError("the bundle can't be unpacked", err)
	}
	kept := false
	defer func() {
		if !kept {
			_ = os.RemoveAll(temporary)
		}
	}()
	if err := os.Chmod(temporary, 0o755); err != nil {
		return record{}, volumeError("the bundle can't be unpacked", err)
	}
	sum := sha256.New()
	count := &countWriter{w: sum}
	reader := io.TeeReader(bufio.NewReaderSize(f, 1<<20), count)
	info, end, err := bundle.Unpack(ctx, reader, filepath.Join(temporary, siteDir), v.limits)
	if err != nil {
		if ctx.Err() != nil {
			return record{}, ctx.Err()
		}
		return record{}, refused(err)
	}
	if _, err := io.Copy(io.Discard, reader); err != nil { // what the checker need not read
		return record{}, archiveError(archive, source, err)
	}
	r := record{
		Digest: hex.EncodeToString(sum.Sum(nil)), Size: count.n, Version: info.Version, Domain: info.Domain,
		Pages: info.Pages, Files: info.Files, Bytes: info.Bytes, Source: source.key, From: from,
	}
	if w.digest != "" && r.Digest != w.digest {
		return record{}, wrongDigest(w.digest, r.Digest)
	}
	if !w.takesVersion(r.Version) {
		return record{}, w.wrongVersion(r.Version)
	}
	if _, err := address.NewRedirects(info.Redirects); err != nil {
		return record{}, refused(&bundle.Error{Fault: bundle.Corrupt, Path: bundle.InfoPath, Message: err.Error()})
	}
	if err := v.keepProof(ctx, archive, temporary, end, &r); err != nil {
		return record{}, err
	}
	if err := pack(ctx, temporary, info.FileList); err != nil {
		return record{}, err
	}
	if err := v.writeRecord(temporary, r); err != nil {
		return record{}, err
	}
	if err := syncVolume(temporary); err != nil {
		return record{}, volumeError("the unpacked bundle can't be kept", err)
	}
	if err := v.place(temporary, r.Digest); err != nil {
		return record{}, err
	}
	kept = true
	v.know(r.Digest)
	return r, nil
}

// present returns the version that an archive is of, if it is on the volume and
// not the spoilt one: reading an archive is cheaper than unpacking it.
func (v *volume) present(ctx context.Context, archive string, w want, source *bundleSource, spoilt string) (r record, ok bool, err error) {
	if len(v.list()) == 0 {
		return record{}, false, nil
	}
	digest, err := digestFile(ctx, archive, source)
	if err != nil {
		return record{}, false, err
	}
	if w.digest != "" && digest != w.digest {
		return record{}, false, wrongDigest(w.digest, digest)
	}
	v.know(digest)
	r, _, err = v.record(digest)
	if err != nil || digest == spoilt || !w.takesVersion(r.Version) {
		return record{}, false, nil // it is unpacked again, and may be refused then
	}
	return r, true, nil
}

// place gives an unpacked version its name. What is there under it is damaged,
// and a server may still show it.
func (v *volume) place(dir, digest string) error {
	aside := dir + "-" + digest
	if err := os.Rename(v.version(digest), aside); err == nil {
		v.clear(aside)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return volumeError("a damaged version can't be set aside", err)
	}
	if err := os.Rename(dir, v.version(digest)); err != nil {
		return volumeError("the unpacked bundle can't be kept", err)
	}
	return nil
}

func archiveError(archive string, source *bundleSource, err error) error {
	if source.File != "" && errors.Is(err, fs.ErrNotExist) {
		return &Error{Code: CodeNotFound, Message: "there is no file " + archive, Advice: "Check the address and the volume or image that is mounted there"}
	}
	return volumeError("the archive can't be read", err)
}

func (v *volume) writeRecord(dir string, r record) error {
	const failed = "the version's record can't be written"
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, recordFile+".")
	if err != nil {
		return volumeError(failed, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(append(raw, '\n'))
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return volumeError(failed, err)
	}
	if err := os.Rename(temporary.Name(), filepath.Join(dir, recordFile)); err != nil {
		return volumeError(failed, err)
	}
	return nil
}

// activate makes a version the one that a server which starts later shows
// when it can't learn of another, in one step. The folder need not be locked.
func (v *volume) activate(digest string) error {
	now := time.Now()
	if err := os.Chtimes(filepath.Join(v.version(digest), recordFile), now, now); err != nil {
		return volumeError("the version can't be activated", err)
	}
	if v.current() == digest {
		return nil
	}
	temporary := v.path(versionsDir, fmt.Sprintf("%s%s-%x", newPrefix, currentName, rand.Uint64()))
	if err := os.Symlink(filepath.Join(versionsDir, digest), temporary); err != nil {
		return volumeError("the version can't be activated", err)
	}
	if err := os.Rename(temporary, v.path(currentName)); err != nil {
		_ = os.Remove(temporary)
		return volumeError("the version can't be activated", err)
	}
	return nil
}

// prune removes old versions but the newest keep ones and those that some
// server shows. The folder must be locked.
func (v *volume) prune(keep int) {
	for i, r := range v.list() {
		if i <= keep { // the first is the active one
			continue
		}
		if err := v.remove(r.Digest); err != nil {
			v.log.Warn("an old version can't be removed", "sha256", r.Digest, "error", err)
		}
	}
}

// remove takes a version out of the volume unless a server shows it.
func (v *volume) remove(digest string) error {
	f, err := os.OpenFile(filepath.Join(v.version(digest), lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	ok, err := filelock.Try(f, false)
	if err != nil || !ok {
		return errors.Join(err, f.Close())
	}
	// Out of sight first: what is half removed must not look like a version.
	gone := v.path(versionsDir, newPrefix+digest)
	_ = os.RemoveAll(gone)
	err = os.Rename(v.version(digest), gone)
	if err == nil {
		err = os.RemoveAll(gone)
		v.log.Info("removed an old version", "sha256", digest)
	}
	return errors.Join(err, f.Close())
}

// digestFile returns the SHA-256 of a source's archive.
func digestFile(ctx context.Context, path string, source *bundleSource) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", archiveError(path, source, err)
	}
	defer f.Close()
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", archiveError(path, source, err)
		}
	}
}

type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}
