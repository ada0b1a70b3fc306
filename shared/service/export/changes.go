package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Bounds of the comparison with the export before: a function has memory for
// main parts of that size and what is made of them, and time to read such bundles.
const (
	// MaxComparedBytes is the most that either bundle may have, compressed.
	MaxComparedBytes = 256 << 20
	// MaxComparedPages is the most pages that either may have.
	MaxComparedPages = 20_000
	// MaxComparedMain is the most that the main parts of pages may have, uncompressed:
	// of the old ones that are not the same byte for byte, and of the new ones that
	// differ in theirs.
	MaxComparedMain = 128 << 20
	// compareTime is how long it may take.
	compareTime = time.Minute
)

// compare returns what differs between a job's bundle, which is stored, and that of
// the export before it, and keeps the list of it. The zero value: there is none
// before it, or they can't be compared. An export never fails because of that.
func (s *Steps) compare(ctx context.Context, j admin.ExportJob, made admin.Bundle) admin.Changes {
	if until, ok := ctx.Deadline(); ok && time.Until(until) < compareTime+assembleReserve {
		return admin.Changes{}
	}
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	var changes admin.Changes
	err := s.opt.Admin.EarlierExports(ctx, j, func(before admin.ExportJob) (bool, error) {
		was := *before.Bundle
		if was.SHA256 == made.SHA256 {
			changes = admin.Changes{Job: before.ID, Version: before.Version}
			return false, nil
		}
		if !withinBounds(was) || !withinBounds(made) {
			return false, nil
		}
		result, err := diff.CompareStored(ctx, s.storedBundle(before.ID, was), s.storedBundle(j.ID, made), MaxComparedMain)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return true, nil // it was removed: so are those before it, but for copies
		case errors.Is(err, diff.ErrTooLarge):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("compare with %s: %w", before.ID, err)
		}
		result.Before.Name, result.After.Name = before.ID, j.ID
		data, err := json.Marshal(result)
		if err != nil {
			return false, err
		}
		_, err = s.opt.Objects.Put(ctx, admin.ChangesKey(j.ID), bytes.NewReader(data), store.PutOptions{ContentType: "application/json"})
		if err == nil {
			changes = countChanges(before, result)
		}
		return false, err
	})
	if err != nil {
		s.opt.Log.WarnContext(ctx, "an export was not compared with the one before", "job", j.ID, "error", err)
	}
	return changes
}

// unchanged is compare for a bundle that was not made anew: it reads none.
func (s *Steps) unchanged(ctx context.Context, j admin.ExportJob, made admin.Bundle) (changes admin.Changes) {
	err := s.opt.Admin.EarlierExports(ctx, j, func(before admin.ExportJob) (bool, error) {
		if before.Bundle.SHA256 == made.SHA256 {
			changes = admin.Changes{Job: before.ID, Version: before.Version}
		}
		return false, nil
	})
	if err != nil {
		s.opt.Log.WarnContext(ctx, "an export was not compared with the one before", "job", j.ID, "error", err)
	}
	return changes
}

// withinBounds reports whether a bundle is within the bounds, and of a release that
// noted where its lists are.
func withinBounds(b admin.Bundle) bool {
	return b.End > 0 && b.Size <= MaxComparedBytes && b.Pages <= MaxComparedPages
}

func (s *Steps) storedBundle(job string, b admin.Bundle) diff.Stored {
	return diff.Stored{Name: "the bundle of " + job, End: b.End, Open: func(ctx context.Context, offset int64) (io.ReadCloser, error) {
		return s.opt.Objects.Get(ctx, b.Key, offset, -1)
	}}
}

func countChanges(before admin.ExportJob, r *diff.Result) admin.Changes {
	return admin.Changes{
		Job: before.ID, Version: before.Version, Listed: true,
		PagesAdded: len(r.Pages.Added), PagesRemoved: len(r.Pages.Removed), PagesChanged: len(r.Pages.Changed),
		AddressesLost: len(r.LostAddresses), AnchorsLost: len(r.LostAnchors),
		FilesAdded: len(r.Files.Added), FilesRemoved: len(r.Files.Removed), FilesChanged: len(r.Files.Changed),
	}
}
