package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// sweepDue reports whether it is time to sweep, and notes that it is done. The
// note is a record: in the cloud each look may be another process's, and one
// that comes while a long sweep is at work must not begin a second.
func (k *Keeper) sweepDue(ctx context.Context) (bool, error) {
	if k.opt.SweepEvery < 0 {
		return false, nil
	}
	return k.opt.Admin.SweepDue(ctx, k.opt.SweepEvery)
}

// Sweep removes what nothing refers to any more: uploads that were never
// published, snapshots and bundles past their project's retention, and the
// packs and manifests that no kept snapshot needs.
func (k *Keeper) Sweep(ctx context.Context) error {
	organisations, err := k.opt.Admin.ListOrganisations(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, org := range organisations {
		if _, err := k.opt.Admin.ExpireSnapshots(ctx, org.ID); err != nil {
			faults = append(faults, err)
			continue
		}
		err := k.opt.Admin.Sweep(ctx, org.ID, func(ctx context.Context) error { return k.sweepPacks(ctx, org.ID) })
		if err != nil {
			faults = append(faults, fmt.Errorf("organisation %s: %w", org.ID, err))
		}
	}
	return errors.Join(append(faults, k.sweepBundles(ctx))...)
}

// sweepPacks removes an organisation's packs and manifests that no snapshot
// needs. An object that can't be read stops it: what it would name is unknown.
func (k *Keeper) sweepPacks(ctx context.Context, org string) error {
	var refs snapshot.References
	manifests := make(map[string]bool)
	read := make(map[string]bool)
	err := k.opt.Admin.KeptSnapshots(ctx, org, func(p admin.Snapshot) error {
		manifests[p.ManifestKey()] = true
		for _, b := range p.Packs {
			refs.AddPack(b.SHA256)
		}
		if p.Status != admin.SnapshotPublished || read[p.ManifestKey()] {
			return ctx.Err()
		}
		read[p.ManifestKey()] = true
		data, err := k.read(ctx, p.ManifestKey(), snapshot.MaxManifestBytes)
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
	now := k.opt.Now()
	if err := k.eachObject(ctx, admin.PackPrefix(org), func(list []store.ObjectInfo) []store.ObjectInfo {
		return snapshot.Unreferenced(list, &refs, now)
	}); err != nil {
		return err
	}
	return k.eachObject(ctx, admin.ManifestPrefix(org), func(list []store.ObjectInfo) []store.ObjectInfo {
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
func (k *Keeper) eachObject(ctx context.Context, prefix string, pick func([]store.ObjectInfo) []store.ObjectInfo) error {
	after := ""
	for {
		list, err := k.opt.Objects.List(ctx, prefix, after, 1000)
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
		if err := k.opt.Objects.Delete(ctx, keys...); err != nil {
			return err
		}
		k.opt.Log.InfoContext(ctx, "swept objects", "prefix", prefix, "count", len(keys))
	}
}

// sweepBundles removes bundles past their project's retention, and what a late
// step left of a job that is final: parts, and the bundle of one that failed.
func (k *Keeper) sweepBundles(ctx context.Context) error {
	jobs := make(map[string]admin.ExportJob) // the jobs of one page of the list
	projects := make(map[string]admin.Project)
	var fault error
	err := k.eachObject(ctx, AllObjects, func(list []store.ObjectInfo) []store.ObjectInfo {
		var gone []store.ObjectInfo
		clear(jobs)
		for _, o := range list {
			id, rest, _ := strings.Cut(strings.TrimPrefix(o.Key, AllObjects), "/")
			job, ok := jobs[id]
			if !ok {
				var err error
				if job, err = k.opt.Admin.FindExport(ctx, id); err != nil {
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
			if rest != bundleName || job.Status != admin.ExportCompleted {
				if k.opt.Now().Sub(job.UpdatedAt) > k.opt.MaxAge {
					gone = append(gone, o)
				}
				continue
			}
			project, ok := projects[job.Project]
			if !ok {
				var err error
				if project, err = k.opt.Admin.GetProject(ctx, job.Project); err != nil {
					fault = err
					continue
				}
				projects[job.Project] = project
			}
			if days := project.Retention.BundleDays; days > 0 && k.opt.Now().After(job.UpdatedAt.AddDate(0, 0, days)) {
				gone = append(gone, o)
			}
		}
		return gone
	})
	return errors.Join(err, fault)
}

// read reads an object that has at most limit bytes.
func (k *Keeper) read(ctx context.Context, key string, limit int64) ([]byte, error) {
	body, err := k.opt.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", key, limit)
	}
	return data, err
}
