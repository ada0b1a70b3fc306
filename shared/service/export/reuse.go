package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
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
	whole, err := bundle.Whole(ctx, s.opt.Objects)
	if err == nil && !whole {
		return false, nil // it is damaged
	}
	if err == nil && j.Have != bundle.SHA256 {
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
	return s.reuseBundle(ctx, j, plan, lender.ID, bundle)
}

// reuseBundle completes a job with a bundle that another job made.
func (s *Steps) reuseBundle(ctx context.Context, j admin.ExportJob, plan admin.ExportPlan, maker string, bundle admin.Bundle) (bool, error) {
	bundle.Changes = s.unchanged(ctx, j, bundle)
	reused, err := s.opt.Admin.ReuseExport(ctx, j.ID, plan, maker, bundle)
	if reused {
		s.opt.Annotate(ctx, slog.String("reused", maker), slog.Int64("bytes", bundle.Size))
	}
	return reused, err
}

// maxKeptBundle is the size of the largest bundle that is kept in a folder: a quarter
// of what a folder has.
const maxKeptBundle = kept.DefaultBytes / 4

// keptBundle is what is kept of a site's last export beside its bundle.
type keptBundle struct {
	Job      string
	Size     int64
	SHA256   string
	Pages    int
	End      int64
	Index    string
	Errors   int
	Warnings int
	Notices  int
	Infos    int
	Findings []byte
}

// keepBundle keeps the bundle of an export in a folder, for one of the same plan.
func (s *Steps) keepBundle(ctx context.Context, values *kept.Store, j admin.ExportJob, b admin.Bundle, findings []byte) {
	if values == nil || s.keepsInObjects() || j.Plan.Key == "" || b.Cut || b.Size > maxKeptBundle {
		return
	}
	var body io.ReadCloser
	var err error
	if here, ok := s.opt.Objects.(interface {
		File(ctx context.Context, key string) (*os.File, error)
	}); ok {
		body, err = here.File(ctx, b.Key) // which the system copies
	} else {
		body, err = s.opt.Objects.Get(ctx, b.Key, 0, -1)
	}
	if err != nil {
		return
	}
	defer body.Close()
	key := s.keyOf("bundle", []byte(j.Plan.Key))
	values.KeepFile(key, body)
	values.Put(key, kept.Append(nil, keptBundle{
		Job: j.ID, Size: b.Size, SHA256: b.SHA256, Pages: b.Pages, End: b.End, Index: b.Index,
		Errors: b.Diagnostics.Errors, Warnings: b.Diagnostics.Warnings, Notices: b.Diagnostics.Notices, Infos: b.Diagnostics.Infos, Findings: findings,
	}))
}

// recallBundle completes a job with the bundle that is kept of its plan, and reports
// whether there is one that is whole.
func (s *Steps) recallBundle(ctx context.Context, values *kept.Store, j admin.ExportJob, plan admin.ExportPlan) (bool, error) {
	if values == nil || s.keepsInObjects() || j.Fresh || j.Status != admin.ExportQueued {
		return false, nil
	}
	key := s.keyOf("bundle", []byte(plan.Key))
	data, ok := values.Get(key)
	var k keptBundle
	if !ok || kept.Read(data, &k) != nil {
		return false, nil
	}
	f, err := values.OpenFile(key)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	bundle := admin.Bundle{
		Key: job.BundleKey(j.ID), Size: k.Size, SHA256: k.SHA256, Pages: k.Pages, End: k.End, Index: k.Index,
		Diagnostics: admin.Diagnostics{Errors: k.Errors, Warnings: k.Warnings, Notices: k.Notices, Infos: k.Infos},
	}
	from := &failing{from: f}
	_, err = s.opt.Objects.Put(ctx, bundle.Key, from, store.PutOptions{SHA256: k.SHA256})
	if errors.Is(err, store.ErrDigest) || from.failed {
		values.Drop(key)
		return false, nil
	}
	if err == nil {
		_, err = s.opt.Objects.Put(ctx, admin.FindingsKey(j.ID), bytes.NewReader(k.Findings), store.PutOptions{})
	}
	if err != nil {
		return false, fmt.Errorf("store a bundle that was kept: %w", err)
	}
	return s.reuseBundle(ctx, j, plan, k.Job, bundle)
}

// failing notes whether a reader failed.
type failing struct {
	from   io.Reader
	failed bool
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	f.failed = f.failed || err != nil && err != io.EOF
	return n, err
}
