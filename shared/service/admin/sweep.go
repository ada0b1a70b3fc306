package admin

import (
	"context"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// SweepRound is one sweep of everything: the bundles, then organisation after
// organisation. It is a record, so that a round that one process begins and
// cannot end is resumed where it stopped, by whichever process looks next.
type SweepRound struct {
	StartedAt time.Time `json:"startedAt"`
	// FinishedAt is when it had seen everything; zero while it has not.
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// PreviousAt is when the last round that finished had begun: nothing has
	// waited for a sweep longer than since then. Zero while none has finished.
	PreviousAt time.Time `json:"previousAt,omitzero"`
	// LeasedUntil is until when the process that works on it has it alone.
	LeasedUntil time.Time `json:"leasedUntil,omitzero"`

	// Bundle is the key of the last object among the bundles that was looked
	// at, and BundlesDone reports whether all were.
	Bundle      string `json:"bundle,omitempty"`
	BundlesDone bool   `json:"bundlesDone,omitempty"`
	// Agent and AgentsDone are the same for the objects of agent jobs.
	Agent      string `json:"agent,omitempty"`
	AgentsDone bool   `json:"agentsDone,omitempty"`
	// Organisations is where the list of organisations is to be resumed.
	Organisations string `json:"organisations,omitempty"`
	// Tries is how often work at this place was begun: above 1, whoever began
	// it before did not live to note its end.
	Tries int `json:"tries,omitempty"`
	// Careful is how many organisations are still to be swept one at a time,
	// because processes died at this place.
	Careful int `json:"careful,omitempty"`
	// Swept is the number of organisations that were swept, Failed that of
	// organisations and objects that could not be.
	Swept  int `json:"swept,omitempty"`
	Failed int `json:"failed,omitempty"`

	revision int64
}

// Oldest returns since when something may wait for a sweep: since the begin of
// the last round that finished, or of the first.
func (r SweepRound) Oldest() time.Time {
	switch {
	case !r.FinishedAt.IsZero():
		return r.StartedAt
	case r.PreviousAt.IsZero():
		return r.StartedAt
	}
	return r.PreviousAt
}

// sweepLease is how long a process has a round alone after each note that it
// writes: as long as one organisation may take.
const sweepLease = sweepOver

// BeginSweep returns the round of sweeping as it is and reports whether the
// caller is to work on it: a new one where the last began as long ago as every,
// or one that nobody works on any more. Of several that ask at once, one is.
// It returns the store's errors.
func (s *Service) BeginSweep(ctx context.Context, every time.Duration) (SweepRound, bool, error) {
	round, revision, err := readOr[SweepRound](ctx, s, sweepsKey())
	if err != nil {
		return SweepRound{}, false, err
	}
	now := s.now()
	round.revision = revision
	switch {
	case now.Before(round.LeasedUntil) && !round.LeasedUntil.Add(-sweepLease).Before(s.opt.Since):
		return round, false, nil
	case revision == 0:
		round.StartedAt = now
	case !round.FinishedAt.IsZero():
		if now.Before(round.StartedAt.Add(every)) {
			return round, false, nil
		}
		round = SweepRound{StartedAt: now, PreviousAt: round.StartedAt, revision: revision}
	}
	round.Tries++
	err = s.NoteSweep(ctx, &round)
	if isConflict(err) {
		return round, false, nil
	}
	return round, err == nil, err
}

// NoteSweep writes how far a round has come, and leases what is left to the
// caller anew; a round that has its end is nobody's. It returns a
// *store.ConflictError where another process has taken the round, and the
// store's errors.
func (s *Service) NoteSweep(ctx context.Context, round *SweepRound) error {
	round.LeasedUntil = time.Time{}
	if round.FinishedAt.IsZero() {
		round.LeasedUntil = s.now().Add(sweepLease)
	}
	return s.writeSweep(ctx, round)
}

// LeaveSweep writes how far a round has come and lets the next who asks resume
// it at once. It returns the errors of NoteSweep.
func (s *Service) LeaveSweep(ctx context.Context, round *SweepRound) error {
	round.LeasedUntil = time.Time{}
	return s.writeSweep(ctx, round)
}

func (s *Service) writeSweep(ctx context.Context, round *SweepRound) error {
	err := s.put(ctx, sweepsKey(), round.revision, *round)
	if err == nil {
		round.revision++
	}
	return err
}

// OrganisationIDs returns one page of the ids of all organisations, also of
// those that were ended, and where the next page begins, which is empty after
// the last. It returns the store's errors.
func (s *Service) OrganisationIDs(ctx context.Context, cursor string, limit int) (ids []string, next string, err error) {
	page, err := s.opt.Store.Query(ctx, store.Query{PK: organisationRow("").PK, Cursor: cursor, Limit: limit})
	if err != nil {
		return nil, "", err
	}
	for _, rec := range page.Records {
		ids = append(ids, rec.Key.SK)
	}
	return ids, page.Cursor, nil
}

// NotePacks adds to a published snapshot's record the packs that its manifest
// names, where a record of an earlier release lacks them: a sweep that finds
// them there need not read the manifest. A record that has changed since is
// left alone. It returns the store's errors.
func (s *Service) NotePacks(ctx context.Context, p Snapshot, packs []Blob) error {
	current, revision, err := s.projectSnapshot(ctx, p.Project, p.ID)
	if CodeOf(err) == CodeNotFound {
		return nil
	}
	if err != nil || current.Packs != nil || len(packs) > MaxPacks {
		return err
	}
	current.Packs = packs
	err = s.put(ctx, snapshotKey(p.Project, p.ID), revision, current)
	if isConflict(err) {
		return nil
	}
	return err
}
