package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Limits of snapshots.
const (
	// MaxSnapshotBytes is what all packs of a snapshot may hold together.
	MaxSnapshotBytes = 20 << 30
	// MaxPackObject is the most bytes of one pack: what S3 takes in one PUT.
	// Packs of more than one file are smaller; package snapshot checks that.
	MaxPackObject = 5 << 30
	// MaxManifestBytes is the most bytes of a manifest: 200,000 pages with as
	// many other files, at what an entry takes.
	MaxManifestBytes = 128 << 20
	// MaxPacks is the most packs of one snapshot, so that its record stays
	// under store.MaxRecordBytes.
	MaxPacks = 4000
	// uploadLife is how long an upload's packs are kept for it; it can be
	// published until an hour before that.
	uploadLife    = 48 * time.Hour
	publishMargin = time.Hour
	// statConcurrency is how many objects are looked up at once.
	statConcurrency = 16
)

// PackPrefix is where an organisation's packs lie.
func PackPrefix(organisation string) string { return "orgs/" + organisation + "/packs/" }

// PackKey is the object key of a pack.
func PackKey(organisation, sha256 string) string { return PackPrefix(organisation) + sha256 }

// ManifestPrefix is where an organisation's manifests lie.
func ManifestPrefix(organisation string) string { return "orgs/" + organisation + "/manifests/" }

// ManifestKey is the object key of a manifest.
func ManifestKey(organisation, sha256 string) string {
	return ManifestPrefix(organisation) + sha256 + ".json"
}

// Blob is an object that is named by what is in it.
type Blob struct {
	SHA256 string // lower-case hex
	Size   int64  // in bytes
}

// MarshalText writes a blob as "digest:size": thousands of packs must fit into
// one record. The error is always nil.
func (b Blob) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%s:%d", b.SHA256, b.Size), nil
}

// UnmarshalText reads what MarshalText wrote. It returns an error for any other
// text.
func (b *Blob) UnmarshalText(text []byte) error {
	digest, size, ok := strings.Cut(string(text), ":")
	n, err := strconv.ParseInt(size, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q is not a digest and a size", text)
	}
	b.SHA256, b.Size = digest, n
	return nil
}

// SnapshotStatus is where a snapshot stands.
type SnapshotStatus string

// The states of a snapshot.
const (
	snapshotPending   SnapshotStatus = "pending"
	SnapshotPublished SnapshotStatus = "published"
)

// Snapshot is what a domain's site was at one moment.
type Snapshot struct {
	ID           string         `json:"id"` // sorts by time
	Organisation string         `json:"organisation"`
	Project      string         `json:"project"`
	Domain       string         `json:"domain"`
	Status       SnapshotStatus `json:"status"`
	// Base is the snapshot that this one was made from, or empty.
	Base     string `json:"base,omitempty"`
	Manifest Blob   `json:"manifest"`
	// Packs are those that the upload named, while pending, and those that the
	// manifest names once published. Records of earlier releases lack the
	// latter, and so do those of more packs than MaxPacks: the manifest has them.
	Packs       []Blob    `json:"packs,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	PublishedAt time.Time `json:"publishedAt,omitzero"`
	// PublishedBy is the id of the key or person who did; empty for operators and in
	// records of earlier releases.
	PublishedBy string `json:"publishedBy,omitempty"`
	// RestoredAt is when it was last made the newest again.
	RestoredAt time.Time `json:"restoredAt,omitzero"`
	// Files is the number of the site's files and Bytes their size together,
	// once published.
	Files int   `json:"files,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`
	// Exported says that an export was made from it: it is never let go.
	Exported bool `json:"exported,omitempty"`
	// Same is the newest snapshot that a pending one was found equal to when it was
	// published: it stands for it, and the upload goes as others do that were never
	// published.
	Same string `json:"same,omitempty"`
}

// ManifestKey is the object key of the snapshot's manifest.
func (p Snapshot) ManifestKey() string { return ManifestKey(p.Organisation, p.Manifest.SHA256) }

// PackKey is the object key of one of the snapshot's packs.
func (p Snapshot) PackKey(sha256 string) string { return PackKey(p.Organisation, sha256) }

// CreateSnapshot asks to upload a snapshot.
type CreateSnapshot struct {
	Domain string
	// Base is the snapshot that this one was made from: the newest, or empty
	// for the first.
	Base     string
	Manifest Blob
	// Packs are those that the manifest refers to.
	Packs          []Blob
	IdempotencyKey string
}

// UploadKind is what an upload is for.
type UploadKind string

// The kinds of uploads.
const (
	UploadPack     UploadKind = "pack"
	UploadManifest UploadKind = "manifest"
)

// Upload is one object to be written, by a link.
type Upload struct {
	Kind UploadKind
	Blob
	Link store.Link
}

// PendingSnapshot is a snapshot to be uploaded: Uploads are the objects that
// are not there yet.
type PendingSnapshot struct {
	Snapshot
	Uploads []Upload
}

func checkBlob(field string, b Blob, most int64) error {
	switch {
	case !digestForm().MatchString(b.SHA256):
		return FieldErrorf(field+".sha256", "must be a SHA-256 in lower-case hex")
	case b.Size < 1:
		return FieldErrorf(field+".sizeBytes", "must be at least 1")
	case b.Size > most:
		return Errorf(CodeTooLarge, "%s.sizeBytes: must be at most %d", field, most)
	}
	return nil
}

func checkBase(base string) error {
	if base != "" && (len(base) > MaxID || !snapshotForm().MatchString(base)) {
		return FieldErrorf("base", "must be the id of a snapshot")
	}
	return nil
}

func (in CreateSnapshot) check() error {
	if err := CheckDomain("domain", in.Domain); err != nil {
		return err
	}
	if err := checkBase(in.Base); err != nil {
		return err
	}
	if err := checkBlob("manifest", in.Manifest, MaxManifestBytes); err != nil {
		return err
	}
	if len(in.Packs) > MaxPacks {
		return Errorf(CodeTooLarge, "packs: must be at most %d", MaxPacks)
	}
	var total int64
	sizes := make(map[string]int64, len(in.Packs))
	for i, p := range in.Packs {
		if err := checkBlob(indexed("packs", i), p, MaxPackObject); err != nil {
			return err
		}
		if size, seen := sizes[p.SHA256]; seen {
			if size != p.Size {
				return Errorf(CodeInconsistent, "%s: the same digest appears with two sizes", indexed("packs", i))
			}
			continue
		}
		sizes[p.SHA256] = p.Size
		if total += p.Size; total > MaxSnapshotBytes {
			return Errorf(CodeTooLarge, "packs: hold more than %d bytes together", int64(MaxSnapshotBytes))
		}
	}
	return nil
}

// CreateSnapshot records a pending snapshot and makes links for what has to be
// uploaded. Objects that are there already need no link: a publish that was
// interrupted resumes where it stopped.
// It returns CodeInvalid, CodeTooLarge, CodeInconsistent, CodeDomainNotFound,
// CodeKeyReused or CodeKeyRunning.
func (s *Service) CreateSnapshot(ctx context.Context, c Caller, in CreateSnapshot) (PendingSnapshot, error) {
	if err := c.person(ActionExport); err != nil {
		return PendingSnapshot{}, err
	}
	if err := in.check(); err != nil {
		return PendingSnapshot{}, err
	}
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (PendingSnapshot, string, error) {
		project, _, _, err := s.site(ctx, c, in.Domain)
		if err != nil {
			return PendingSnapshot{}, "", err
		}
		now := s.now()
		p := Snapshot{
			ID:           s.opt.SnapshotID(in.Manifest.SHA256),
			Organisation: project.Organisation, Project: project.ID, Domain: project.Domain,
			Status: snapshotPending, Base: in.Base, Manifest: in.Manifest, CreatedAt: now,
		}
		seen := make(map[string]bool, len(in.Packs))
		for _, b := range in.Packs {
			if !seen[b.SHA256] {
				seen[b.SHA256] = true
				p.Packs = append(p.Packs, b)
			}
		}
		// The record is there before the packs are looked for: a sweep that
		// comes now knows that they are wanted.
		err = s.transact(ctx, func() error {
			var b batch
			b.put(snapshotKey(p.Project, p.ID), 0, p).ExpiresAt = now.Add(uploadLife)
			sl.settle(&b, p.ID)
			return sl.settled(s.write(ctx, &b))
		})
		if err != nil {
			return PendingSnapshot{}, "", err
		}
		pending, err := s.uploads(ctx, p)
		return pending, p.ID, err
	}
	replay := func(id string) (PendingSnapshot, error) {
		p, _, err := s.snapshot(ctx, c, in.Domain, id)
		if err != nil {
			return PendingSnapshot{}, err
		}
		return s.uploads(ctx, p)
	}
	return once(ctx, s, c, "create-snapshot", key, in, run, replay)
}

// uploads makes links for the objects of a snapshot that are not there yet.
func (s *Service) uploads(ctx context.Context, p Snapshot) (PendingSnapshot, error) {
	all := make([]Upload, 0, len(p.Packs)+1)
	for _, b := range p.Packs {
		all = append(all, Upload{Kind: UploadPack, Blob: b})
	}
	all = append(all, Upload{Kind: UploadManifest, Blob: p.Manifest})
	missing := make([]bool, len(all))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(statConcurrency)
	for i := range all {
		g.Go(func() error {
			u := &all[i]
			key := p.PackKey(u.SHA256)
			if u.Kind == UploadManifest {
				key = p.ManifestKey()
			}
			info, err := s.opt.Objects.Stat(gctx, key)
			if err == nil {
				if info.Size != u.Size {
					return Errorf(CodeInconsistent, "%s %s: is %d bytes, not %d", u.Kind, u.SHA256, info.Size, u.Size)
				}
				return nil
			}
			if !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("look for %s: %w", key, err)
			}
			missing[i] = true
			u.Link, err = s.opt.Objects.PresignPut(gctx, key, u.Size, u.SHA256, s.opt.UploadLinkLife)
			if err != nil {
				return fmt.Errorf("link to write %s: %w", key, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return PendingSnapshot{}, err
	}
	out := PendingSnapshot{Snapshot: p, Uploads: []Upload{}}
	for i, u := range all {
		if missing[i] {
			out.Uploads = append(out.Uploads, u)
		}
	}
	return out, nil
}

// snapshot reads a snapshot of a caller's domain. A pending one that can no
// longer be published is not found.
func (s *Service) snapshot(ctx context.Context, c Caller, domain, id string) (Snapshot, int64, error) {
	project, _, _, err := s.site(ctx, c, domain)
	if err != nil {
		return Snapshot{}, 0, err
	}
	return s.projectSnapshot(ctx, project.ID, id)
}

func (s *Service) projectSnapshot(ctx context.Context, project, id string) (Snapshot, int64, error) {
	p, revision, err := find[Snapshot](ctx, s, "snapshot", snapshotKey(project, id), id)
	if err == nil && p.Status == snapshotPending && s.now().After(p.CreatedAt.Add(uploadLife-publishMargin)) {
		return Snapshot{}, 0, notFound("snapshot")
	}
	return p, revision, err
}

// LatestSnapshot returns the newest published snapshot of a caller's domain:
// CodeDomainNotFound, or CodeNotFound where nothing was published yet.
func (s *Service) LatestSnapshot(ctx context.Context, c Caller, domain string) (Snapshot, error) {
	project, claim, _, err := s.site(ctx, c, domain)
	if err != nil {
		return Snapshot{}, err
	}
	if claim.Newest == "" {
		return Snapshot{}, Errorf(CodeNotFound, "nothing has been published for this domain yet")
	}
	p, _, err := s.projectSnapshot(ctx, project.ID, claim.Newest)
	return p, err
}

// ManifestLink makes a link to read a snapshot's manifest. It returns the errors
// of Objects.PresignGet.
func (s *Service) ManifestLink(ctx context.Context, p Snapshot) (store.Link, error) {
	return s.opt.Objects.PresignGet(ctx, p.ManifestKey(), p.ID+".json", s.opt.LinkLife)
}

// Contents are the facts that a check of a snapshot found.
type Contents struct {
	Files int    // number of files
	Bytes int64  // their size together
	Packs []Blob // those that the manifest names
}

// Publish asks to make a snapshot the newest of its domain.
type Publish struct {
	Domain         string
	SnapshotID     string
	IdempotencyKey string
	// Check reads the manifest and looks at every pack: this package knows
	// nothing of their formats. What it refuses is not published.
	Check func(ctx context.Context, p Snapshot) (Contents, error)
}

// publishKey is what distinguishes one publish from another.
type publishKey struct{ Domain, SnapshotID string }

// Publish makes a pending snapshot the newest of its domain, if it is based on
// the one that is: CodeOvertaken if not. Publishing it again is success. One that
// has the manifest of the newest does not become a new one: the result is the
// newest, also when the call is repeated.
func (s *Service) Publish(ctx context.Context, c Caller, in Publish) (Snapshot, error) {
	if err := c.person(ActionExport); err != nil {
		return Snapshot{}, err
	}
	if err := CheckDomain("domain", in.Domain); err != nil {
		return Snapshot{}, err
	}
	run := func(*slot) (Snapshot, string, error) {
		p, err := s.publish(ctx, c, in)
		return p, p.ID, err
	}
	replay := func(id string) (Snapshot, error) {
		p, _, err := s.snapshot(ctx, c, in.Domain, id)
		return p, err
	}
	return once(ctx, s, c, "publish-snapshot", in.IdempotencyKey, publishKey{in.Domain, in.SnapshotID}, run, replay)
}

func (s *Service) publish(ctx context.Context, c Caller, in Publish) (Snapshot, error) {
	overtaken := Errorf(CodeOvertaken, "another snapshot was published since the one that this is based on")
	// Before the work: say what is certain already. The domain is read first, so
	// that one that names this snapshot is not taken for another's.
	var p Snapshot
	var known bool
	err := s.transact(ctx, func() error {
		project, claim, _, err := s.site(ctx, c, in.Domain)
		if err != nil {
			return err
		}
		var revision int64
		p, revision, err = s.projectSnapshot(ctx, project.ID, in.SnapshotID)
		if known = p.Status == SnapshotPublished; err != nil || known {
			return err
		}
		same, is, err := s.sameAs(ctx, p, revision, claim.Newest)
		if known = is; is {
			p = same
		} else if err == nil && claim.Newest != p.Base {
			return overtaken
		}
		return err
	})
	if err != nil {
		return Snapshot{}, err
	}
	if known {
		return p, nil
	}
	contents, err := in.Check(ctx, p)
	if err != nil {
		return Snapshot{}, err
	}
	err = s.transact(ctx, func() error {
		project, claim, claimRevision, err := s.site(ctx, c, in.Domain)
		if err != nil {
			return err
		}
		var revision int64
		p, revision, err = s.projectSnapshot(ctx, project.ID, in.SnapshotID)
		if err != nil || p.Status == SnapshotPublished {
			return err
		}
		if claim.Newest != p.Base {
			return overtaken
		}
		if err := s.notSwept(ctx, p); err != nil {
			return err
		}
		now := s.now()
		p.Status, p.PublishedAt, p.Packs = SnapshotPublished, now, nil
		p.PublishedBy = cmp.Or(c.Person, c.KeyID)
		p.Files, p.Bytes = contents.Files, contents.Bytes
		if len(contents.Packs) <= MaxPacks {
			p.Packs = contents.Packs
		}
		claim.Newest = p.ID
		claim.Changes = max(claim.Changes+1, s.now().UnixMilli())
		var b batch
		b.put(snapshotKey(p.Project, p.ID), revision, p)
		b.put(domainKey(p.Domain), claimRevision, claim)
		s.audit(&b, c, p.Organisation, "snapshot.published", p.ID, changed("newest", p.Base, p.ID)...)
		if err := s.notifyPublished(ctx, &b, p); err != nil {
			return err
		}
		return s.write(ctx, &b)
	})
	if CodeOf(err) == CodeOvertaken { // maybe by the same files
		return s.publish(ctx, c, in)
	}
	if err != nil {
		return Snapshot{}, err
	}
	return p, nil
}

// sameAs returns the snapshot that a pending one stands for: the one that it was
// found equal to before, or the newest where that has the same manifest. It
// reports whether there is one. The newest was checked when it was published.
func (s *Service) sameAs(ctx context.Context, p Snapshot, revision int64, newest string) (Snapshot, bool, error) {
	id := cmp.Or(p.Same, newest)
	if id == "" {
		return Snapshot{}, false, nil
	}
	same, _, err := s.projectSnapshot(ctx, p.Project, id)
	if err != nil || p.Same != "" {
		return same, err == nil, err
	}
	if same.Manifest != p.Manifest {
		return Snapshot{}, false, nil
	}
	p.Same = id
	var b batch
	b.put(snapshotKey(p.Project, p.ID), revision, p).ExpiresAt = p.CreatedAt.Add(uploadLife)
	if err := s.write(ctx, &b); err != nil {
		return Snapshot{}, false, err
	}
	return same, true, nil
}

// notifyPublished adds to a transaction that a snapshot is the newest of its
// domain.
func (s *Service) notifyPublished(ctx context.Context, b *batch, p Snapshot) error {
	p.Packs = nil // thousands, which callers don't see
	return s.notify(ctx, b, p.Organisation, EventSnapshotPublished, p.Domain, p)
}

// KeptSnapshots calls fn with every snapshot of an organisation whose packs
// must stay: all published ones, and uploads of the last 48 hours.
// It returns the first error of fn or of the store.
func (s *Service) KeptSnapshots(ctx context.Context, organisation string, fn func(Snapshot) error) error {
	return s.eachSnapshot(ctx, organisation, func(_ Project, _ int64, p Snapshot) error {
		if p.Status == snapshotPending && !s.now().Before(p.CreatedAt.Add(uploadLife)) {
			return nil
		}
		return fn(p)
	})
}

func (s *Service) eachSnapshot(ctx context.Context, organisation string, fn func(Project, int64, Snapshot) error) error {
	projects, err := s.ListProjects(ctx, organisation)
	if err != nil {
		return err
	}
	for _, project := range projects {
		q := store.Query{PK: projectKey(project.ID).PK, Prefix: prefixSnapshot}
		err := list(ctx, s, q, func(rec store.Record, p Snapshot) error { return fn(project, rec.Revision, p) })
		if err != nil {
			return err
		}
	}
	return nil
}

// ExpireSnapshots lets go of the records that are over: uploads that were
// never published, and published snapshots past their project's retention.
// The newest of a domain and any that an export was made from stay. It returns
// how many went.
// It returns the store's errors, with those that went before.
func (s *Service) ExpireSnapshots(ctx context.Context, organisation string) (int, error) {
	gone := 0
	err := s.eachSnapshot(ctx, organisation, func(project Project, revision int64, p Snapshot) error {
		now := s.now()
		if p.Status == snapshotPending {
			if now.Before(p.CreatedAt.Add(uploadLife)) {
				return nil
			}
		} else {
			days := project.Retention.SnapshotDays
			if days == 0 || p.Exported || now.Before(p.PublishedAt.AddDate(0, 0, days)) {
				return nil
			}
			claim, _, err := readOr[domainClaim](ctx, s, domainKey(p.Domain))
			if err != nil {
				return err
			}
			if claim.Project == p.Project && claim.Newest == p.ID {
				return nil
			}
		}
		var b batch
		b.remove(snapshotKey(p.Project, p.ID), revision)
		err := s.write(ctx, &b)
		if isConflict(err) {
			return nil // an export began meanwhile, or it is gone already
		}
		if err == nil {
			gone++
		}
		return err
	})
	return gone, err
}

// sweepMark says when an organisation's packs were last looked through.
type sweepMark struct {
	StartedAt time.Time `json:"startedAt"`
	// FinishedAt is when nothing of it can be running any more; zero while it
	// runs, and for good where it died.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Bounds of a sweep. One that died can't report its end: by sweepOver it is
// over all the same, or nothing could be published until the next one.
const (
	// sweepLife is how long a sweep may take: as long as a function lives.
	sweepLife = 15 * time.Minute
	// sweepOver is sweepLife and room for clocks that differ.
	sweepOver = sweepLife + 2*time.Minute
	// sweepEcho is how long a call that a sweep gave up on may still be running.
	sweepEcho = 30 * time.Second
	// sweepNote is how long a sweep that failed may take to say so.
	sweepNote = 5 * time.Second
)

// Sweep runs fn, which lists the packs of an organisation, asks KeptSnapshots
// which are wanted, and deletes the rest. While it runs, no snapshot that was
// begun before it is published: fn may have missed it. Its context ends after
// fifteen minutes, so that a sweep that died is known to be over soon after.
//
// The mark is written before fn looks: a snapshot that is created later is
// either seen by fn, or finds a mark older than itself and waits.
//
// It returns fn's error and the store's.
func (s *Service) Sweep(ctx context.Context, organisation string, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, sweepLife)
	defer cancel()
	key := sweepKey(organisation)
	mark := sweepMark{StartedAt: s.now()}
	var begun int64
	err := s.transact(ctx, func() error {
		_, revision, err := readOr[sweepMark](ctx, s, key)
		if err != nil {
			return err
		}
		begun = revision + 1
		return s.put(ctx, key, revision, mark)
	})
	if err != nil {
		return err
	}
	swept := fn(ctx)
	mark.FinishedAt = s.now()
	if swept != nil { // it may be the context that ended, and a call with it
		mark.FinishedAt = mark.FinishedAt.Add(sweepEcho)
	}
	note, cancelNote := context.WithTimeout(context.WithoutCancel(ctx), sweepNote)
	defer cancelNote()
	err = s.put(note, key, begun, mark)
	if isConflict(err) {
		err = nil // another sweep began; it will say when it is done
	}
	return errors.Join(swept, err)
}

// notSwept refuses to publish a snapshot while a sweep is running that began
// before the snapshot was recorded.
func (s *Service) notSwept(ctx context.Context, p Snapshot) error {
	mark, revision, err := readOr[sweepMark](ctx, s, sweepKey(p.Organisation))
	if err != nil || revision == 0 {
		return err
	}
	over := mark.FinishedAt
	if over.IsZero() && !mark.StartedAt.Before(s.opt.Since) {
		over = mark.StartedAt.Add(sweepOver)
	}
	if s.now().Before(over) && !mark.StartedAt.After(p.CreatedAt) {
		return Errorf(CodeTemporary, "the organisation's packs are being swept; try again").After(5 * time.Second)
	}
	return nil
}
