package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Audit is what a comparison of all records with the objects that they need found.
type Audit struct {
	Organisations int `json:"organisations"`
	Snapshots     int `json:"snapshots"` // published, whose manifest and packs were looked for
	Exports       int `json:"exports"`   // completed, whose bundle was looked for
	// Expired counts bundles that a retention has removed, as it should.
	Expired int `json:"expiredBundles"`
	// Faults are objects that a record needs and that are not as it says, at most
	// MaxFaults; FaultCount counts all.
	Faults     []Fault `json:"faults"`
	FaultCount int     `json:"faultCount"`
}

// Fault is an object that is not as a record says.
type Fault struct {
	Object string `json:"object"`
	// NeededBy is the id of a snapshot or an export.
	NeededBy string `json:"neededBy"`
	Reason   string `json:"reason"`
}

// MaxFaults is how many faults an Audit names.
const MaxFaults = 100

func (a *Audit) fault(object, neededBy, reason string) {
	a.FaultCount++
	if len(a.Faults) < MaxFaults {
		a.Faults = append(a.Faults, Fault{object, neededBy, reason})
	}
}

// look compares what is there with the size that a record says; size is below 0
// for nothing there.
func (a *Audit) look(object, neededBy string, size, want int64) {
	switch {
	case size < 0:
		a.fault(object, neededBy, "it is not there")
	case size != want:
		a.fault(object, neededBy, fmt.Sprintf("it has %d bytes, the record says %d", size, want))
	}
}

// Audit compares records with objects: the manifest and the packs of each
// published snapshot, and the bundle of each completed export are there, in the
// size that the record says. It changes nothing. Scan calls its argument with
// every record; bundleDays is after how many days a sweep removes bundles of projects
// that say nothing of it, 0 for never. It returns the errors of scan and of the stores; a
// fault that it finds is not an error.
func (k *Keeper) Audit(ctx context.Context, scan func(context.Context, func(store.Record) error) error, bundleDays int) (Audit, error) {
	a := Audit{Faults: []Fault{}}
	for cursor := ""; ; {
		ids, next, err := k.opt.Admin.OrganisationIDs(ctx, cursor, sweepPage)
		if err != nil {
			return a, err
		}
		for _, id := range ids {
			a.Organisations++
			if err := k.auditSnapshots(ctx, id, &a); err != nil {
				return a, err
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	known, with := newKnown(), *k
	with.opt.BundleDays = bundleDays
	err := scan(ctx, func(rec store.Record) error {
		j, is, err := admin.ExportOf(rec)
		if err != nil || !is || j.Status != admin.ExportCompleted || j.Bundle == nil {
			return err
		}
		a.Exports++
		size, err := k.sizeOf(ctx, j.Bundle.Key)
		if err != nil {
			return err
		}
		if size < 0 {
			known.jobs = map[string]admin.ExportJob{j.ID: j}
			gone, err := with.over(ctx, j.ID, bundleName, known)
			if err == nil && gone {
				pinned, failed := k.opt.Admin.ArchivePinned(ctx, *j.Bundle)
				gone, err = !pinned, failed
			}
			if err != nil {
				return err
			}
			if gone {
				a.Expired++
				return nil
			}
		}
		a.look(j.Bundle.Key, j.ID, size, j.Bundle.Size)
		return nil
	})
	return a, err
}

// sizeOf is an object's size in bytes, -1 if it is not there.
func (k *Keeper) sizeOf(ctx context.Context, key string) (int64, error) {
	info, err := k.opt.Objects.Stat(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return -1, nil
	}
	return info.Size, err
}

// auditSnapshots looks for what the published snapshots of an organisation need.
func (k *Keeper) auditSnapshots(ctx context.Context, org string, a *Audit) error {
	there := make(map[string]int64)
	for _, prefix := range []string{admin.PackPrefix(org), admin.ManifestPrefix(org)} {
		err := k.eachObject(ctx, prefix, func(list []store.ObjectInfo) []store.ObjectInfo {
			for _, o := range list {
				there[o.Key] = o.Size
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	size := func(key string) int64 {
		if n, ok := there[key]; ok {
			return n
		}
		return -1
	}
	return k.opt.Admin.KeptSnapshots(ctx, org, func(p admin.Snapshot) error {
		if p.Status != admin.SnapshotPublished {
			return ctx.Err()
		}
		a.Snapshots++
		manifest := p.ManifestKey()
		a.look(manifest, p.ID, size(manifest), p.Manifest.Size)
		packs := p.Packs
		if len(packs) == 0 && size(manifest) >= 0 {
			var err error
			if packs, err = k.manifestPacks(ctx, p); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				a.fault(manifest, p.ID, err.Error())
			}
		}
		for _, b := range packs {
			key := admin.PackKey(org, b.SHA256)
			a.look(key, p.ID, size(key), b.Size)
		}
		return ctx.Err()
	})
}
