package admin

import (
	"context"
	"strings"
)

// BundleKey is the digest of all that a job's bundle follows from: what its
// snapshot's files are, who renders them, what was fetched from other hosts or
// could not be, and all that the job and its project say about them. Two jobs of a
// site with the same key have the same bundle, byte for byte.
//
// The snapshot's id is not among it, but the version is, which names it: a bundle
// says of which version it is.
func (in ExportInput) BundleKey(contents, renderer, remote string) string {
	first := in.Job.asQueued() // a step that runs again must find the same
	return digestOf(struct {
		Contents, Renderer, Remote string
		Domain, Version            string
		Paths, Groups              []string
		Kind                       Kind
		Settings                   Settings
		Features                   FeatureSet
		Repository                 string
	}{
		contents, renderer, remote,
		first.Domain, first.Version, first.Paths, first.Groups, first.Kind, first.Settings, in.Features, in.Project.Repository,
	})
}

// lends reports whether a job has a bundle that others may get copies of.
func (j ExportJob) lends() bool {
	return j.Status == ExportCompleted && j.Plan.Key != "" && !j.Bundle.Cut && strings.HasPrefix(j.Bundle.Key, AllExports+j.ID+"/")
}

// Lender returns a completed job of the same site and organisation whose bundle is
// the one that a queued job with this plan would make, and reports whether there is
// one. Its bundle may be gone. A job that has begun gets none: its shards may be in
// work.
// It returns the store's errors.
func (s *Service) Lender(ctx context.Context, j ExportJob, plan ExportPlan) (ExportJob, bool, error) {
	if j.Status != ExportQueued || j.Fresh {
		return ExportJob{}, false, nil
	}
	v, _, err := readOr[version](ctx, s, versionKey(j.Project, j.versionWith(plan.Remote)))
	if err != nil || v.Job == "" || v.Key != plan.Key {
		return ExportJob{}, false, err
	}
	lender, err := s.job(ctx, v.Job)
	if CodeOf(err) == CodeNotFound {
		return ExportJob{}, false, nil
	}
	is := err == nil && lender.lends() && lender.Plan.Key == plan.Key && lender.Organisation == j.Organisation && lender.Project == j.Project
	return lender, is, err
}

// ReuseExport completes a queued job with a bundle that a Lender made, in one
// transaction with all that CompleteExport does; what counts in the month's usage
// is that it was found, and what is stored for it. The bundle is a copy, or the
// lender's own. It reports whether the job is completed so: another run of its step
// may have begun it, and then it is rendered. Doing it again is success.
// It returns CodeJobNotActive for a job that has failed.
func (s *Service) ReuseExport(ctx context.Context, jobID string, plan ExportPlan, lender string, bundle Bundle) (bool, error) {
	reused := false
	var done completion
	err := s.transact(ctx, func() error {
		j, revision, err := s.stepJob(ctx, jobID)
		if err != nil {
			return err
		}
		reused = j.Status == ExportCompleted
		if reused {
			done.again(j)
		}
		if reused || j.Status == ExportRunning {
			return nil
		}
		if j.Status.Final() {
			return notActive(j)
		}
		var b batch
		if err := s.pinRemote(ctx, &b, &j, plan.Remote); err != nil {
			return err
		}
		plan.Shards = 0
		j.Status, j.UpdatedAt, j.Plan, j.Bundle, j.Done, j.Reused = ExportCompleted, s.now(), plan, &bundle, bundle.Pages, lender
		b.put(jobKey(jobID), revision, j)
		if err := s.finish(ctx, &b, j); err != nil {
			return err
		}
		of := ProjectUsage{Reused: 1}
		if j.lends() {
			of.BundleBytes = bundle.Size
		}
		if err := s.used(ctx, &b, j.exported(), j.UpdatedAt, of); err != nil {
			return err
		}
		reused = true
		return done.write(ctx, s, &b, j)
	})
	if err == nil {
		done.later(ctx, s)
	}
	return reused && err == nil, err
}
