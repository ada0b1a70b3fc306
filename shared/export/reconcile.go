package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/admin"
	"github.com/bindery-docs/bindery/shared/snapshot"
	"github.com/bindery-docs/bindery/shared/store"
)

// settling is how long after an execution's end its job may still be moving:
// the record of one and the state of the other are written apart.
const settling = 2 * time.Minute

// Reconcile looks after what events and steps may have missed: it starts jobs
// that have no execution, fails those whose execution ended or takes too long,
// and now and then sweeps objects that nothing refers to. It goes on past
// single failures and returns them joined.
func (s *Steps) Reconcile(ctx context.Context) error {
	if s.runner == nil {
		return errors.New("reconcile needs a workflow runner")
	}
	var faults []error
	err := s.admin.ActiveExports(ctx, func(job admin.ExportJob) error {
		if err := s.reconcile(ctx, job); err != nil {
			faults = append(faults, fmt.Errorf("job %s: %w", job.ID, err))
		}
		return ctx.Err()
	})
	if err != nil {
		faults = append(faults, err)
	}
	if s.sweepDue() {
		faults = append(faults, s.Sweep(ctx))
	}
	return errors.Join(faults...)
}

func (s *Steps) reconcile(ctx context.Context, job admin.ExportJob) error {
	now := s.now()
	execution, err := s.runner.Status(ctx, job.ID)
	if errors.Is(err, store.ErrNotFound) {
		if job.Status == admin.ExportQueued {
			return s.admin.Restart(ctx, job)
		}
		// A running job's execution can only be gone with its history, which
		// is kept longer than any export takes.
		return s.end(ctx, job, "the workflow of the export is gone")
	}
	if err != nil {
		return err
	}
	if execution.State == store.Running {
		if now.Sub(execution.StartedAt) > s.maxAge {
			return s.end(ctx, job, "the export took too long")
		}
		return nil
	}
	if now.Sub(execution.StoppedAt) < settling {
		return nil
	}
	s.log.WarnContext(ctx, "an execution ended without its job", "job", job.ID, "state", execution.State, "error", execution.Error, "cause", execution.Cause)
	return s.end(ctx, job, "the workflow of the export ended before it was done")
}

// end fails a job and stops its execution.
func (s *Steps) end(ctx context.Context, job admin.ExportJob, message string) error {
	err := s.admin.FailExport(ctx, job.ID, admin.CodeInternal, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.runner.Stop(ctx, job.ID, message); err != nil {
		return err
	}
	s.clean(ctx, job.ID, "")
	return nil
}

// sweepDue tells whether it is time to sweep, and notes that it is done.
func (s *Steps) sweepDue() bool {
	if s.sweepEvery < 0 {
		return false
	}
	s.sweepMu.Lock()
	defer s.sweepMu.Unlock()
	now := s.now()
	if !s.swept.IsZero() && now.Sub(s.swept) < s.sweepEvery {
		return false
	}
	s.swept = now
	return true
}

// Sweep removes what nothing refers to any more: uploads that were never
// published, snapshots and bundles past their project's retention, and the
// packs and manifests that no kept snapshot needs.
func (s *Steps) Sweep(ctx context.Context) error {
	organisations, err := s.admin.ListOrganisations(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, org := range organisations {
		if _, err := s.admin.ExpireSnapshots(ctx, org.ID); err != nil {
			faults = append(faults, err)
			continue
		}
		err := s.admin.Sweep(ctx, org.ID, func(ctx context.Context) error { return s.sweepPacks(ctx, org.ID) })
		if err != nil {
			faults = append(faults, fmt.Errorf("organisation %s: %w", org.ID, err))
		}
	}
	return errors.Join(append(faults, s.sweepBundles(ctx))...)
}

// sweepPacks removes an organisation's packs and manifests that no snapshot
// needs. An object that can't be read stops it: what it would name is unknown.
func (s *Steps) sweepPacks(ctx context.Context, org string) error {
	var refs snapshot.References
	manifests := make(map[string]bool)
	read := make(map[string]bool)
	err := s.admin.KeptSnapshots(ctx, org, func(p admin.Snapshot) error {
		manifests[p.ManifestKey()] = true
		for _, b := range p.Packs {
			refs.AddPack(b.SHA256)
		}
		if p.Status != admin.SnapshotPublished || read[p.ManifestKey()] {
			return ctx.Err()
		}
		read[p.ManifestKey()] = true
		data, err := s.read(ctx, p.ManifestKey(), snapshot.MaxManifestBytes)
		if err != nil {
			return fmt.Errorf("manifest of snapshot %s: %w", p.ID, err)
		}
		m, err := snapshot.Decode(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("manifest of snapshot %s: %w", p.ID, err)
		}
		refs.Add(m)
		return nil
	})
	if err != nil {
		return err
	}
	now := s.now()
	if err := s.eachObject(ctx, admin.PackPrefix(org), func(list []store.ObjectInfo) []store.ObjectInfo {
		return snapshot.Unreferenced(list, &refs, now)
	}); err != nil {
		return err
	}
	return s.eachObject(ctx, admin.ManifestPrefix(org), func(list []store.ObjectInfo) []store.ObjectInfo {
		var gone []store.ObjectInfo
		for _, o := range list {
			if !manifests[o.Key] && now.Sub(o.Modified) > snapshot.MinPackAge {
				gone = append(gone, o)
			}
		}
		return gone
	})
}

// eachObject deletes what pick picks among the objects under a prefix.
func (s *Steps) eachObject(ctx context.Context, prefix string, pick func([]store.ObjectInfo) []store.ObjectInfo) error {
	after := ""
	for {
		list, err := s.objects.List(ctx, prefix, after, 1000)
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1].Key
		var keys []string
		for _, o := range pick(list) {
			keys = append(keys, o.Key)
		}
		if len(keys) == 0 {
			continue
		}
		if err := s.objects.Delete(ctx, keys...); err != nil {
			return err
		}
		s.log.InfoContext(ctx, "swept objects", "prefix", prefix, "count", len(keys))
	}
}

// sweepBundles removes bundles past their project's retention, and what a late
// step left behind a job that is final: parts, and the bundle of one that failed.
func (s *Steps) sweepBundles(ctx context.Context) error {
	const prefix = "exports/"
	jobs := make(map[string]admin.ExportJob) // the jobs of one page of the list
	projects := make(map[string]admin.Project)
	var fault error
	err := s.eachObject(ctx, prefix, func(list []store.ObjectInfo) []store.ObjectInfo {
		var gone []store.ObjectInfo
		clear(jobs)
		for _, o := range list {
			id, rest, _ := strings.Cut(strings.TrimPrefix(o.Key, prefix), "/")
			job, ok := jobs[id]
			if !ok {
				var err error
				if job, err = s.admin.FindExport(ctx, id); err != nil {
					if admin.CodeOf(err) != admin.CodeNotFound {
						fault = err
					}
					job = admin.ExportJob{}
				}
				jobs[id] = job
			}
			if job.ID == "" || !job.Status.Final() {
				continue
			}
			if rest != "bundle.tar.gz" || job.Status != admin.ExportCompleted {
				if s.now().Sub(job.UpdatedAt) > s.maxAge {
					gone = append(gone, o)
				}
				continue
			}
			project, ok := projects[job.Project]
			if !ok {
				var err error
				if project, err = s.admin.GetProject(ctx, job.Project); err != nil {
					fault = err
					continue
				}
				projects[job.Project] = project
			}
			if days := project.Retention.BundleDays; days > 0 && s.now().After(job.UpdatedAt.AddDate(0, 0, days)) {
				gone = append(gone, o)
			}
		}
		return gone
	})
	return errors.Join(err, fault)
}
