package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Bounds of a sweep's work.
const (
	// sweepSlice is how long one call of Reconcile sweeps: the next one resumes.
	// The last organisations that it began may take as long as a function lives.
	sweepSlice = 5 * time.Minute
	// sweepPage is how many organisations are swept between two notes of how
	// far the round has come, and sweepAtOnce how many of them at the same time.
	sweepPage   = 64
	sweepAtOnce = 8
	// bundlePage is how many objects are looked at between two notes.
	bundlePage = 1000
	// strayAgent is how old an object of agents has to be if no job of its name is
	// known: of an earlier version, or of a job that had no event since then.
	strayAgent = 14 * 24 * time.Hour
	// carefully is after how many tries at one place organisations are swept
	// one at a time, and hopeless after how many the one that is next is left
	// to the next round: whoever swept it did not live to say why.
	carefully = 3
	hopeless  = 6
)

// sweepSome goes on with the round of sweeping, if one is due or was left, for as
// long as one call may.
func (k *Keeper) sweepSome(ctx context.Context) error {
	if k.opt.SweepEvery < 0 {
		return nil
	}
	round, mine, err := k.opt.Admin.BeginSweep(ctx, k.opt.SweepEvery)
	if err == nil && mine {
		until := k.opt.Now().Add(sweepSlice)
		err = k.sweepRound(ctx, &round, func() bool { return k.opt.Now().Before(until) })
	}
	if err != nil {
		return err
	}
	k.opt.Annotate(ctx, slog.Int64("sweepAge", int64(k.opt.Now().Sub(round.Oldest()).Seconds())))
	return nil
}

// Sweep removes what nothing refers to any more: uploads that were never
// published, snapshots and bundles past their project's retention, objects of archived
// agent jobs, and the packs and manifests that no kept snapshot needs. It is a whole round
// at once, or the rest of one that was begun; Reconcile does the same in slices. It
// returns an error where another process sweeps, the store's errors, and one
// that counts the organisations that could not be swept.
func (k *Keeper) Sweep(ctx context.Context) error {
	round, mine, err := k.opt.Admin.BeginSweep(ctx, 0)
	if err != nil {
		return err
	}
	if !mine {
		return errors.New("another process is sweeping")
	}
	if err := k.sweepRound(ctx, &round, func() bool { return true }); err != nil {
		return err
	}
	if round.FinishedAt.IsZero() {
		return errors.New("another process has taken the sweep over")
	}
	if round.Failed > 0 {
		return fmt.Errorf("%d organisations and objects could not be swept; the log has each", round.Failed)
	}
	return nil
}

// sweepRound works on a round while there is time for it: bundles first, which are
// most of what is stored. It notes how far it is after each page, so that a
// process that dies costs a page.
func (k *Keeper) sweepRound(ctx context.Context, round *admin.SweepRound, more func() bool) error {
	note := func() error {
		round.Tries = 1
		return k.opt.Admin.NoteSweep(ctx, round)
	}
	failed := round.Failed
	for !round.BundlesDone && more() {
		if err := k.sweepBundles(ctx, round); err != nil {
			return err
		}
		if err := note(); err != nil {
			return taken(err)
		}
	}
	for round.BundlesDone && !round.AgentsDone && more() {
		if err := k.sweepAgents(ctx, round); err != nil {
			return err
		}
		if err := note(); err != nil {
			return taken(err)
		}
	}
	for round.BundlesDone && round.AgentsDone && round.FinishedAt.IsZero() && more() {
		if err := k.sweepOrganisations(ctx, round); err != nil {
			return err
		}
		if err := note(); err != nil {
			return taken(err)
		}
	}
	if n := round.Failed - failed; n > 0 {
		k.opt.Annotate(ctx, slog.Int("sweepFailures", n))
	}
	if !round.FinishedAt.IsZero() {
		k.opt.Log.InfoContext(ctx, "swept everything", "organisations", round.Swept, "failed", round.Failed, "began", round.StartedAt)
		return nil
	}
	round.Tries = 0
	return taken(k.opt.Admin.LeaveSweep(ctx, round))
}

// taken returns nil where another process has taken the round: that one resumes it.
func taken(err error) error {
	if _, conflict := errors.AsType[*store.ConflictError](err); conflict {
		return nil
	}
	return err
}

// sweepOrganisations sweeps the next page of organisations. One that can't be
// swept is counted and logged; the others are not held up by it.
func (k *Keeper) sweepOrganisations(ctx context.Context, round *admin.SweepRound) error {
	if round.Tries > carefully && round.Careful == 0 {
		round.Careful = sweepPage
	}
	page := sweepPage
	if round.Careful > 0 {
		page = 1
		round.Careful--
	}
	ids, next, err := k.opt.Admin.OrganisationIDs(ctx, round.Organisations, page)
	if err != nil {
		return err
	}
	faults := make([]error, len(ids))
	if round.Tries > hopeless {
		for i := range faults {
			faults[i] = fmt.Errorf("%d sweeps did not reach their end", round.Tries-1)
		}
	} else {
		var g errgroup.Group
		g.SetLimit(sweepAtOnce)
		for i, id := range ids {
			g.Go(func() error {
				faults[i] = k.sweepOrganisation(ctx, id)
				return nil
			})
		}
		_ = g.Wait() // the faults are kept one by one
	}
	if err := ctx.Err(); err != nil {
		return err // the page is swept again
	}
	for i, fault := range faults {
		round.Swept++
		if fault != nil {
			round.Swept--
			round.Failed++
			k.opt.Log.ErrorContext(ctx, "an organisation was not swept", "organisation", ids[i], "error", fault)
		}
	}
	if round.Organisations = next; next == "" {
		round.FinishedAt = k.opt.Now()
	}
	return nil
}

func (k *Keeper) sweepOrganisation(ctx context.Context, id string) error {
	if _, err := k.opt.Admin.ExpireSnapshots(ctx, id); err != nil {
		return err
	}
	return errors.Join(
		k.opt.Admin.Sweep(ctx, id, func(ctx context.Context) error { return k.sweepPacks(ctx, id) }),
		k.sweepKept(ctx, id),
	)
}

// sweepKept removes what an organisation's exports kept for later ones, once it is
// old. Exports that still need it make it again.
func (k *Keeper) sweepKept(ctx context.Context, org string) error {
	now := k.opt.Now()
	return k.eachObject(ctx, admin.OrganisationKept(org), func(list []store.ObjectInfo) []store.ObjectInfo {
		return slices.DeleteFunc(list, func(o store.ObjectInfo) bool { return now.Sub(o.Modified) <= admin.KeptFor })
	})
}

// sweepPacks removes an organisation's packs and manifests that no snapshot
// needs. An object that can't be read stops it: what it would name is unknown.
func (k *Keeper) sweepPacks(ctx context.Context, org string) error {
	var refs snapshot.References
	manifests := make(map[string]bool)
	read := make(map[string][]admin.Blob)
	err := k.opt.Admin.KeptSnapshots(ctx, org, func(p admin.Snapshot) error {
		manifests[p.ManifestKey()] = true
		for _, b := range p.Packs {
			refs.AddPack(b.SHA256)
		}
		if p.Status != admin.SnapshotPublished || len(p.Packs) > 0 {
			return ctx.Err()
		}
		packs, known := read[p.ManifestKey()]
		if !known {
			var err error
			if packs, err = k.manifestPacks(ctx, p); err != nil {
				return err
			}
			read[p.ManifestKey()] = packs
		}
		for _, b := range packs {
			refs.AddPack(b.SHA256)
		}
		return k.opt.Admin.NotePacks(ctx, p, packs)
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

// manifestPacks reads which packs a snapshot's manifest names.
func (k *Keeper) manifestPacks(ctx context.Context, p admin.Snapshot) ([]admin.Blob, error) {
	data, err := k.read(ctx, p.ManifestKey(), snapshot.MaxManifestBytes)
	if err != nil {
		return nil, fmt.Errorf("manifest of snapshot %s: %w", p.ID, err)
	}
	m, err := snapshot.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("manifest of snapshot %s: %w", p.ID, err)
	}
	packs := make([]admin.Blob, len(m.Packs))
	for i, ref := range m.Packs {
		packs[i] = admin.Blob(ref)
	}
	return packs, nil
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

// sweepBundles looks at the next page of objects of exports and removes bundles
// past their project's retention that nothing needs, and what a late step left of a
// job that is final: parts, and the bundle of one that failed.
func (k *Keeper) sweepBundles(ctx context.Context, round *admin.SweepRound) error {
	list, err := k.opt.Objects.List(ctx, AllObjects, round.Bundle, bundlePage)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		round.BundlesDone = true
		return nil
	}
	known := newKnown()
	var gone []string
	for _, o := range list {
		id, rest, _ := strings.Cut(strings.TrimPrefix(o.Key, AllObjects), "/")
		over, err := k.over(ctx, id, rest, known)
		if j := known.jobs[id]; over && j.Status == admin.ExportCompleted {
			switch {
			case rest == bundleName:
				over, err = k.opt.Admin.LetArchiveGo(ctx, id)
			case j.Bundle != nil: // what is beside the bundle stays as long as that
				var pinned bool
				pinned, err = k.opt.Admin.ArchivePinned(ctx, *j.Bundle)
				over = err == nil && !pinned
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			round.Failed++
			k.opt.Log.ErrorContext(ctx, "an object was not swept", "object", o.Key, "error", err)
		case over:
			gone = append(gone, o.Key)
		}
	}
	if len(gone) > 0 {
		if err := k.opt.Objects.Delete(ctx, gone...); err != nil {
			return err
		}
		k.opt.Log.InfoContext(ctx, "swept objects", "prefix", AllObjects, "count", len(gone))
	}
	round.Bundle = list[len(list)-1].Key
	return nil
}

// sweepAgents looks at the next page of objects of agent jobs and removes those of jobs
// that are archived.
func (k *Keeper) sweepAgents(ctx context.Context, round *admin.SweepRound) error {
	list, err := k.opt.Objects.List(ctx, allAgents, round.Agent, bundlePage)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		round.AgentsDone = true
		return nil
	}
	jobs := make(map[string]bool) // whether a job is archived
	var gone []string
	for _, o := range list {
		_, rest, _ := strings.Cut(o.Key, "/")
		id, _, _ := strings.Cut(rest, "/")
		archived, known := jobs[id]
		if !known {
			j, err := k.opt.Admin.FindAgent(ctx, id)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case admin.CodeOf(err) == admin.CodeNotFound:
				archived = k.opt.Now().Sub(o.Modified) > strayAgent
			case err != nil:
				round.Failed++
				k.opt.Log.ErrorContext(ctx, "an object was not swept", "object", o.Key, "error", err)
				continue
			default:
				archived = j.Status == admin.AgentArchived
				jobs[id] = archived
			}
		}
		if archived {
			gone = append(gone, o.Key)
		}
	}
	if len(gone) > 0 {
		if err := k.opt.Objects.Delete(ctx, gone...); err != nil {
			return err
		}
		k.opt.Log.InfoContext(ctx, "swept objects", "prefix", allAgents, "count", len(gone))
	}
	round.Agent = list[len(list)-1].Key
	return nil
}

// known has what was read already, for the objects that follow.
type known struct {
	jobs     map[string]admin.ExportJob
	projects map[string]admin.Project
	newest   map[string]admin.ExportJob // of a project, completed
}

func newKnown() known {
	return known{map[string]admin.ExportJob{}, map[string]admin.Project{}, map[string]admin.ExportJob{}}
}

// over reports whether an object of an export, by its name among those of the job,
// may go. A bundle goes only if LetArchiveGo agrees, and never that of the newest completed
// export of a project.
func (k *Keeper) over(ctx context.Context, id, name string, known known) (bool, error) {
	job, ok := known.jobs[id]
	if !ok {
		var err error
		if job, err = k.opt.Admin.FindExport(ctx, id); err != nil && admin.CodeOf(err) != admin.CodeNotFound {
			return false, err
		}
		known.jobs[id] = job
	}
	if job.ID == "" || !job.Status.Final() {
		return false, nil
	}
	key := Prefix(id) + name
	kept := job.Status == admin.ExportCompleted && (name == bundleName || key == admin.ChangesKey(id)) || key == admin.FindingsKey(id)
	if !kept {
		return k.opt.Now().Sub(job.UpdatedAt) > k.opt.MaxAge, nil
	}
	project, ok := known.projects[job.Project]
	if !ok {
		var err error
		if project, err = k.opt.Admin.GetProject(ctx, job.Project); err != nil {
			return false, err
		}
		known.projects[job.Project] = project
	}
	days := cmp.Or(project.Retention.BundleDays, k.opt.BundleDays)
	if days == 0 || !k.opt.Now().After(job.UpdatedAt.AddDate(0, 0, days)) {
		return false, nil
	}
	newest, ok := known.newest[project.ID]
	if !ok {
		var err error
		if newest, err = k.opt.Admin.NewestCompleted(ctx, project); err != nil {
			return false, err
		}
		known.newest[project.ID] = newest
	}
	// An export that changed nothing has the archive of an older one.
	return newest.ID != id && (newest.Bundle == nil || newest.Bundle.Key != BundleKey(id)), nil
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
