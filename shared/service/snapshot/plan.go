package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// File is a file that is to be in a snapshot.
type File struct {
	Path   string
	SHA256 string // lower-case hex
	Size   int64  // in bytes
	// Modified is the time of the last commit that changed the file; zero
	// if unknown.
	Modified time.Time
}

// Opener opens a file of the site by its path in the snapshot.
type Opener func(path string) (io.ReadCloser, error)

// Pack is a pack that is not stored yet: files one after another.
type Pack struct {
	// SHA256 is the digest of the pack's bytes, known after Plan.Seal.
	SHA256 string
	Size   int64 // in bytes
	// Files lie in the pack in this order.
	Files []File
}

const (
	// LargeFile is the size in bytes from which a file has a pack of its own. The
	// digest of such a pack is its file's: nothing is read again to know it.
	LargeFile = 1 << 20
	// maxAlone is the most packs of a snapshot up to which large files get their own.
	maxAlone = MaxPacks / 2
)

// Packs of a base are packed again when there get to be too many that are
// less than half full: a site that is published after every small change
// would else lie in thousands of packs, one file in each. Then the smaller
// half of them becomes one or a few packs. A publish therefore uploads, taken
// over many, at most about twice what changed. A pack with a large file
// counts as full, as long as there are at most maxAlone packs.
const (
	maxUnderfull  = 64
	underfullSize = MaxPackBytes / 2
)

// Plan says how a set of files becomes a snapshot: what of it lies in packs
// of the base already, and which new packs the rest goes into. The same files
// and base always make the same packs with the same bytes, so a publish that
// was interrupted finds what it uploaded.
type Plan struct {
	// New are the packs to upload.
	New []*Pack
	// Added, Changed, Unchanged and Removed count paths against the base.
	Added, Changed, Unchanged, Removed int
	// Repacked counts files that are uploaded again only to have fewer packs.
	Repacked int
	// Copy, if it is set, returns a writer for the bytes of a new pack, which Seal
	// reads, or nil. Writes that fail end Seal. Seal calls it for several packs at once.
	Copy func(*Pack) io.Writer

	entries []Entry            // sorted by path; place unknown for files of New
	kept    map[string]PackRef // packs of the base that stay in use
}

// NewPlan compares files with the newest snapshot's manifest, which may be
// nil. Faults of names come as PathErrors.
func NewPlan(files []File, base *Manifest) (*Plan, error) {
	base = cmp.Or(base, &Manifest{Format: Format})
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
		if f.Size < 0 || f.Size > MaxFileBytes {
			return nil, PathErrors{{f.Path, fmt.Sprintf("the file has %d bytes, more than %d", f.Size, int64(MaxFileBytes))}}
		}
		if !isDigest(f.SHA256) {
			return nil, PathErrors{{f.Path, "the digest is not a SHA-256 in lower-case hex"}}
		}
	}
	if err := CheckNames(paths); err != nil {
		return nil, err
	}

	p := &Plan{kept: make(map[string]PackRef)}
	old := indexBase(base)
	p.compare(files, base)
	repack := old.repack(files, len(base.Packs) <= maxAlone)

	refs := make(map[string]PackRef, len(base.Packs))
	for _, ref := range base.Packs {
		refs[ref.SHA256] = ref
	}
	var fresh []File
	queued := make(map[string]bool)
	p.entries = make([]Entry, len(files))
	for i, f := range files {
		e := Entry{Path: f.Path, SHA256: f.SHA256, Size: f.Size, Modified: modified(f)}
		place, stored := old[f.SHA256]
		switch {
		case f.Size == 0:
		case stored && place.Size == f.Size && !repack[place.Pack]:
			e.Pack, e.Offset = place.Pack, place.Offset
			p.kept[place.Pack] = refs[place.Pack]
		case !queued[f.SHA256]:
			queued[f.SHA256] = true
			fresh = append(fresh, f)
			if stored && repack[place.Pack] {
				p.Repacked++
			}
		}
		p.entries[i] = e
	}
	alone := len(repack) == 0 && len(p.kept)+large(fresh) <= maxAlone
	p.New = fill(fresh, alone)
	return p, nil
}

// compare counts what a reader of the numbers wants to know.
func (p *Plan) compare(files []File, base *Manifest) {
	found := 0
	for _, f := range files {
		e, ok := base.Entry(f.Path)
		if ok {
			found++
		}
		switch {
		case !ok:
			p.Added++
		case e.SHA256 == f.SHA256:
			p.Unchanged++
		default:
			p.Changed++
		}
	}
	p.Removed = len(base.Entries) - found
}

// baseIndex finds files of the base by digest: a place where the bytes lie.
type baseIndex map[string]Entry

func indexBase(base *Manifest) baseIndex {
	b := make(baseIndex, len(base.Entries))
	for _, e := range base.Entries {
		if _, ok := b[e.SHA256]; !ok {
			b[e.SHA256] = e
		}
	}
	return b
}

// modified returns a file's time as a manifest has it: zero if unknown. The time
// of a publish is none of a file's: the same files would make other bytes
// tomorrow.
func modified(f File) time.Time {
	t := f.Modified.UTC().Truncate(time.Second)
	if !f.Modified.IsZero() && (t.Year() < 1970 || t.Year() > 9999) {
		// Broken clocks write such commits; an archive can't.
		return time.Unix(0, 0).UTC()
	}
	return t
}

// repack picks the packs of the base that are better packed again. If alone is set, a
// pack with a large file counts as full.
func (b baseIndex) repack(files []File, alone bool) map[string]bool {
	live := make(map[string]int64)
	counted := make(map[string]bool)
	for _, f := range files {
		if e, ok := b[f.SHA256]; ok && e.Pack != "" && !counted[f.SHA256] {
			counted[f.SHA256] = true
			live[e.Pack] += e.Size
			if alone && e.Size >= LargeFile {
				live[e.Pack] += underfullSize
			}
		}
	}
	var small []string
	for pack, size := range live {
		if size < underfullSize {
			small = append(small, pack)
		}
	}
	if len(small) <= maxUnderfull {
		return nil
	}
	slices.SortFunc(small, func(x, y string) int {
		return cmp.Or(cmp.Compare(live[x], live[y]), cmp.Compare(x, y))
	})
	again := make(map[string]bool)
	for _, pack := range small[:len(small)-maxUnderfull/2] {
		again[pack] = true
	}
	return again
}

// large counts files of LargeFile or more.
func large(files []File) int {
	n := 0
	for _, f := range files {
		if f.Size >= LargeFile {
			n++
		}
	}
	return n
}

// fill puts files, in order of path, into packs. Files of one folder lie together, as
// they are read together; if alone is set, without the large ones.
func fill(files []File, alone bool) []*Pack {
	var packs []*Pack
	var open *Pack
	for _, f := range files {
		if f.Size > MaxPackBytes || alone && f.Size >= LargeFile {
			packs = append(packs, &Pack{Size: f.Size, Files: []File{f}})
			continue
		}
		if open == nil || open.Size+f.Size > MaxPackBytes {
			open = &Pack{}
			packs = append(packs, open)
		}
		open.Files = append(open.Files, f)
		open.Size += f.Size
	}
	return packs
}

// sealParallel is how many packs Seal reads at once.
const sealParallel = 4

// Seal reads the files of the new packs, fills in the packs' digests and
// returns the manifest. A file that is no longer what the plan was made from is
// a *ChangedError.
func (p *Plan) Seal(ctx context.Context, open Opener) (*Manifest, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sealParallel)
	for _, pack := range p.New {
		if len(pack.Files) == 1 {
			pack.SHA256 = pack.Files[0].SHA256
		}
		if pack.SHA256 == "" || p.Copy != nil {
			group.Go(func() error { return p.seal(ctx, pack, open) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}

	places := make(map[string]Entry)
	refs := make(map[string]PackRef, len(p.kept)+len(p.New))
	maps.Copy(refs, p.kept)
	for _, pack := range p.New {
		refs[pack.SHA256] = PackRef{SHA256: pack.SHA256, Size: pack.Size}
		var offset int64
		for _, f := range pack.Files {
			places[f.SHA256] = Entry{Pack: pack.SHA256, Offset: offset}
			offset += f.Size
		}
	}
	m := &Manifest{Format: Format, Entries: slices.Clone(p.entries)}
	for i := range m.Entries {
		if e := &m.Entries[i]; e.Size > 0 && e.Pack == "" {
			place := places[e.SHA256]
			e.Pack, e.Offset = place.Pack, place.Offset
		}
	}
	for _, ref := range refs {
		m.Packs = append(m.Packs, ref)
	}
	slices.SortFunc(m.Packs, func(a, b PackRef) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return m, CheckEntries(m)
}

// seal reads a pack once, for its digest and for Copy.
func (p *Plan) seal(ctx context.Context, pack *Pack, open Opener) error {
	var to []io.Writer
	sum := sha256.New()
	if pack.SHA256 == "" {
		to = append(to, sum)
	}
	if p.Copy != nil {
		if w := p.Copy(pack); w != nil {
			to = append(to, w)
		}
	}
	if len(to) == 0 {
		return nil
	}
	r := pack.Reader(ctx, open)
	defer r.Close()
	if _, err := io.Copy(io.MultiWriter(to...), r); err != nil {
		return err
	}
	if pack.SHA256 == "" {
		pack.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return nil
}

// ChangedError says that a file was changed while it was being published. Its
// text is safe to show.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return printable(e.Path) + ": the file changed while it was read; publish again"
}

// Reader streams the pack's bytes, one file after another, and checks each
// file's size and digest on the way: a *ChangedError when they are not those
// of the plan. It holds one file open at a time.
func (pk *Pack) Reader(ctx context.Context, open Opener) io.ReadCloser {
	return &packReader{ctx: ctx, open: open, files: pk.Files}
}

type packReader struct {
	ctx context.Context

	mu    sync.Mutex // a transport may close a body that it still reads
	open  Opener
	files []File
	cur   io.ReadCloser
	left  int64
	sum   hash.Hash
	err   error
}

func (r *packReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.err != nil {
			return 0, r.err
		}
		if err := r.ctx.Err(); err != nil {
			r.err = err
			continue
		}
		if len(p) == 0 {
			return 0, nil
		}
		if r.cur == nil {
			if len(r.files) == 0 {
				return 0, io.EOF
			}
			cur, err := r.open(r.files[0].Path)
			if err != nil {
				r.err = fmt.Errorf("open %s: %w", printable(r.files[0].Path), err)
				continue
			}
			r.cur, r.left, r.sum = cur, r.files[0].Size, sha256.New()
		}
		n, err := r.cur.Read(p)
		if int64(n) > r.left {
			r.err = &ChangedError{r.files[0].Path}
			continue
		}
		r.left -= int64(n)
		r.sum.Write(p[:n])
		switch {
		case errors.Is(err, io.EOF):
			if r.left > 0 || hex.EncodeToString(r.sum.Sum(nil)) != r.files[0].SHA256 {
				r.err = &ChangedError{r.files[0].Path}
			}
			r.cur.Close()
			r.cur, r.files = nil, r.files[1:]
		case err != nil:
			r.err = fmt.Errorf("read %s: %w", printable(r.files[0].Path), err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

// Close closes the file that is being read.
func (r *packReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = io.ErrClosedPipe
	}
	if r.cur == nil {
		return nil
	}
	cur := r.cur
	r.cur = nil
	return cur.Close()
}
