package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// reuse completes a job with the bundle of another one that this plan would make
// again, and reports whether it did. The bundle may go at any moment until it is
// copied: then the job is rendered as any other, and what was copied by then gives
// way to what is rendered.
func (s *Steps) reuse(ctx context.Context, j admin.ExportJob, plan admin.ExportPlan) (bool, error) {
	lender, ok, err := s.opt.Admin.Lender(ctx, j, plan)
	if !ok || err != nil {
		return false, err
	}
	bundle := *lender.Bundle
	if j.Have == bundle.SHA256 {
		_, err = s.opt.Objects.Stat(ctx, bundle.Key)
	} else {
		bundle.Key = job.BundleKey(j.ID)
		err = s.opt.Objects.Copy(ctx, lender.Bundle.Key, bundle.Key)
	}
	if err == nil { // before the job is final, as Assemble does
		err = s.opt.Objects.Copy(ctx, admin.FindingsKey(lender.ID), admin.FindingsKey(j.ID))
	}
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reuse the bundle of %s: %w", lender.ID, err)
	}
	bundle.Changes = s.unchanged(ctx, j, bundle)
	reused, err := s.opt.Admin.ReuseExport(ctx, j.ID, plan, lender.ID, bundle)
	if reused {
		s.opt.Annotate(ctx, slog.String("reused", lender.ID), slog.Int64("bytes", bundle.Size))
	}
	return reused, err
}
