package admin

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// SnapshotList is a page of a domain's published snapshots.
type SnapshotList struct {
	// Snapshots are the latest uploads first.
	Snapshots []Snapshot
	// Newest is the id of the one that the next export is made from: another than
	// the first where an older one was restored. Empty where nothing was published.
	Newest string
	// Next is the cursor of the next page, empty at the end.
	Next string
}

// ListSnapshots returns a page of the published snapshots of a caller's domain.
// The cursor is the id of the last snapshot of the page before, empty for the
// first; limit 0 is DefaultPage.
// It returns CodeInvalid or CodeDomainNotFound.
func (s *Service) ListSnapshots(ctx context.Context, c Caller, domain, cursor string, limit int) (SnapshotList, error) {
	limit, err := checkPage(limit)
	if err != nil {
		return SnapshotList{}, err
	}
	if cursor != "" && (len(cursor) > MaxID || !snapshotForm().MatchString(cursor)) {
		return SnapshotList{}, FieldErrorf("cursor", "is not one that a list of snapshots returned")
	}
	project, claim, _, err := s.site(ctx, c, domain)
	if err != nil {
		return SnapshotList{}, err
	}
	q := store.Query{PK: projectKey(project.ID).PK, Prefix: prefixSnapshot, Limit: limit, Descending: true}
	if cursor != "" {
		q.Cursor = store.EncodeCursor(q, store.Record{Key: snapshotKey(project.ID, cursor)})
	}
	all := SnapshotList{Newest: claim.Newest}
	all.Snapshots, all.Next, err = pageOf(ctx, s, q, limit, maxLooked, func(rows []store.Record) ([]*Snapshot, error) {
		published := make([]*Snapshot, len(rows))
		for i, rec := range rows {
			var p Snapshot
			if err := json.Unmarshal(rec.Value, &p); err != nil {
				return nil, err
			}
			if p.Status == SnapshotPublished {
				published[i] = &p
			}
		}
		return published, nil
	})
	all.Next = strings.TrimPrefix(all.Next, prefixSnapshot)
	return all, err
}

// Snapshot returns a published snapshot of a caller's project, or CodeNotFound.
func (s *Service) Snapshot(ctx context.Context, c Caller, project, id string) (Snapshot, error) {
	if _, err := s.callersProject(ctx, c, project); err != nil {
		return Snapshot{}, err
	}
	p, _, err := s.projectSnapshot(ctx, project, id)
	if err == nil && p.Status != SnapshotPublished {
		err = notFound("snapshot")
	}
	return p, err
}

// RestoreSnapshot asks to make a published snapshot the newest of its domain
// again.
type RestoreSnapshot struct {
	Domain     string
	SnapshotID string
	// Base is the snapshot that the caller knows as the newest.
	Base           string
	IdempotencyKey string
}

// RestoreSnapshot makes an older snapshot of a caller's domain the newest again:
// the next export is made from it, and the next publish is based on it. Restoring
// the one that is the newest is success, whatever its base.
//
// It returns CodeInvalid, CodeDomainNotFound, CodeNotFound, CodeIncomplete for one
// that was never published, CodeOvertaken where Base is no longer the newest,
// CodeKeyReused or CodeKeyRunning.
func (s *Service) RestoreSnapshot(ctx context.Context, c Caller, in RestoreSnapshot) (Snapshot, error) {
	if err := c.person(ActionExport); err != nil {
		return Snapshot{}, err
	}
	if err := CheckDomain("domain", in.Domain); err != nil {
		return Snapshot{}, err
	}
	if in.Base == "" {
		return Snapshot{}, FieldErrorf("base", "is empty")
	}
	if err := checkBase(in.Base); err != nil {
		return Snapshot{}, err
	}
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (Snapshot, string, error) {
		var p Snapshot
		err := s.transact(ctx, func() error {
			project, claim, claimRevision, err := s.site(ctx, c, in.Domain)
			if err != nil {
				return err
			}
			var revision int64
			if p, revision, err = s.projectSnapshot(ctx, project.ID, in.SnapshotID); err != nil {
				return err
			}
			switch {
			case p.Status != SnapshotPublished:
				return Errorf(CodeIncomplete, "this snapshot was never published")
			case claim.Newest == p.ID:
				return nil
			case claim.Newest != in.Base:
				return Errorf(CodeOvertaken, "base: is no longer the newest snapshot of the domain")
			}
			claim.Newest, p.RestoredAt = p.ID, s.now()
			claim.Changes = max(claim.Changes+1, s.now().UnixMilli())
			var b batch
			// The snapshot is written too: one that its retention lets go at the
			// same time either stays or is not found.
			b.put(snapshotKey(p.Project, p.ID), revision, p)
			b.put(domainKey(p.Domain), claimRevision, claim)
			if err := s.notifyPublished(ctx, &b, p); err != nil {
				return err
			}
			s.audit(&b, c, p.Organisation, "snapshot.restored", p.ID, changed("newest", in.Base, p.ID)...)
			sl.settle(&b, p.ID)
			return sl.settled(s.write(ctx, &b))
		})
		return p, p.ID, err
	}
	replay := func(id string) (Snapshot, error) {
		p, _, err := s.snapshot(ctx, c, in.Domain, id)
		return p, err
	}
	return once(ctx, s, c, "restore-snapshot", key, in, run, replay)
}
