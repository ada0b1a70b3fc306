package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// ExportStatus is where an export job stands.
type ExportStatus string

// The states of an export job: queued → running → completed | failed. A queued
// one may fail too. Nothing moves a final job back.
const (
	ExportQueued    ExportStatus = "queued"
	ExportRunning   ExportStatus = "running"
	ExportCompleted ExportStatus = "completed"
	ExportFailed    ExportStatus = "failed"
)

// Final reports whether a status never changes again.
func (st ExportStatus) Final() bool { return st == ExportCompleted || st == ExportFailed }

// Failure says why a job failed, in words that are safe to show.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Bundle is what a completed job made.
type Bundle struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`   // of the archive, in bytes
	SHA256 string `json:"sha256"` // of the archive, in lower-case hex
	Pages  int    `json:"pages"`  // number of pages in the bundle
	// End is where the bundle's last part begins (bundle.End), in bytes; 0 in
	// records of older versions.
	End int64 `json:"end,omitempty"`
	// Index is the place of the root of the bundle's index, as the text of a bundle.Place;
	// empty in bundles of older versions, and of sites that can't have one.
	Index string `json:"index,omitempty"`
	// Diagnostics counts them by severity.
	Diagnostics Diagnostics `json:"diagnostics"`
	// Cut reports that a fault of ours, or the clock, cost it something that
	// another export of the same may have: no other job gets it.
	Cut bool `json:"cut,omitempty"`
	// Changes is what differs from the export before; zero where there is none
	// that it could be compared with.
	Changes Changes `json:"changes,omitzero"`
}

// sameAs reports whether two runs of a step made the same bundle: what it was
// compared with may differ.
func (b Bundle) sameAs(other Bundle) bool {
	b.Changes = other.Changes
	return b == other
}

// Diagnostics is the number of diagnostics of each severity that an export found
// in a site.
type Diagnostics struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notices  int `json:"infos"` // named so in records of all releases
	Infos    int `json:"details,omitempty"`
}

// ExportJob is one static export: of one snapshot, with the settings that the
// project had when it started.
type ExportJob struct {
	ID           string       `json:"id"`
	Organisation string       `json:"organisation"`
	Project      string       `json:"project"`
	Domain       string       `json:"domain"`
	Snapshot     string       `json:"snapshot"`
	Version      string       `json:"version"`
	Paths        []string     `json:"paths,omitempty"`  // prefixes, without slashes at the ends; none: the whole site
	Groups       []string     `json:"groups,omitempty"` // of readers whose pages the bundle has
	Kind         Kind         `json:"kind"`
	Settings     Settings     `json:"settings"`
	Fresh        bool         `json:"fresh,omitempty"`  // it is rendered, whatever is stored
	Have         string       `json:"have,omitempty"`   // digest of the bundle that its caller has
	GoLive       *GoLive      `json:"goLive,omitempty"` // nil: it can't be the live version of its site
	Status       ExportStatus `json:"status"`
	CreatedAt    time.Time    `json:"createdAt"`
	UpdatedAt    time.Time    `json:"updatedAt"`
	// Plan is filled once running.
	Plan ExportPlan `json:"plan,omitzero"`
	// Done is the number of rendered pages and Reached the progress in percent,
	// as a final job keeps them. While a job runs, both follow from the markers
	// of its shards.
	Done    int      `json:"done,omitempty"`
	Reached int      `json:"reached,omitempty"`
	Bundle  *Bundle  `json:"bundle,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	// Reused is the job that made the bundle of a completed one which rendered
	// nothing. The bundle is a copy, unless the caller has it: then it is that
	// job's own, and goes when that goes.
	Reused string `json:"reused,omitempty"`
}

// Unchanged reports whether a completed job's bundle is the one that its caller
// has.
func (j ExportJob) Unchanged() bool {
	return j.Status == ExportCompleted && j.Have != "" && j.Have == j.Bundle.SHA256
}

// ExportPlan is what the step Plan found: it turns a queued job into a running
// one.
type ExportPlan struct {
	// Renderer is the digest of the renderer that all steps must be of.
	Renderer string `json:"renderer"`
	Shards   int    `json:"shards"` // number of shards
	Pages    int    `json:"pages"`  // number of pages in all shards
	// Remote is the digest of what was fetched from other hosts, empty where
	// nothing was asked for: an input of the version, as the snapshot is.
	Remote string `json:"remote,omitempty"`
	// Key is the digest of all that the bundle follows from (ExportInput.BundleKey):
	// two jobs of one site with the same have the same bundle. Empty in records of
	// older versions.
	Key string `json:"key,omitempty"`
}

// PageCount is how many pages are rendered so far.
func (j ExportJob) PageCount() int { return j.Done }

// Progress is a whole number from 0 to 100. It never falls, and is 100 only
// for a completed job.
func (j ExportJob) Progress() int {
	switch {
	case j.Status == ExportCompleted:
		return 100
	case j.Status == ExportFailed:
		return j.Reached
	case j.Status == ExportRunning && j.Plan.Pages > 0:
		return max(0, min(99, j.Done*99/j.Plan.Pages))
	}
	return 0
}

// StartExport asks for a static export.
type StartExport struct {
	Domain string
	// Version is a label for the export; empty for one made of the snapshot's id.
	Version string
	// Paths are prefixes of the pages that the bundle has; none for all.
	Paths []string
	// Groups are groups of readers: what the site's author keeps for one of
	// them is in the bundle too. What is for others is not.
	Groups []string `json:",omitempty"` // requests without any keep their digest
	// Fresh has the bundle rendered, also where the same one is stored.
	Fresh bool `json:",omitempty"`
	// Have is the SHA-256 of a bundle that the caller has, in lower-case hex: where
	// the export would make that one and it is still stored, no copy is made. May be
	// empty.
	Have string `json:",omitempty"`
	// GoLive has the bundle become the live version of the site once it is there,
	// or lets it be promoted to that.
	GoLive bool `json:",omitempty"`
	// Newest is the snapshot that must be the domain's newest; empty for any.
	Newest         string `json:",omitempty"`
	IdempotencyKey string
}

// version is what a label of a domain means, and the job that uses it.
type version struct {
	// Content is the digest of snapshot, paths, groups, kind and settings.
	Content string `json:"content"`
	// Active counts jobs that are queued or running, Completed says that one
	// was completed. A label for which neither holds means nothing: all its
	// jobs failed, and it may be taken for other content.
	Active    int  `json:"active"`
	Completed bool `json:"completed,omitempty"`
	// Remote is the ExportPlan.Remote of the label's jobs that have begun.
	Remote string `json:"remote,omitempty"`
	// Job is the last one that got a bundle of its own, and Key its ExportPlan.Key:
	// a job with the same gets a copy.
	Job string `json:"job,omitempty"`
	Key string `json:"key,omitempty"`
}

// content is what a version means.
type content struct {
	Snapshot string   `json:"snapshot"`
	Paths    []string `json:"paths,omitempty"`
	Groups   []string `json:"groups,omitempty"`
	Kind     Kind     `json:"kind"`
	Settings Settings `json:"settings"`
}

// content is what the job's version means.
func (j ExportJob) content() content {
	return content{Snapshot: j.Snapshot, Paths: j.Paths, Groups: j.Groups, Kind: j.Kind, Settings: j.Settings}
}

func digestOf(v any) string {
	b, _ := json.Marshal(v) // structs of strings and booleans always encode
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// versionOf is the version of an export without a label: its snapshot's id,
// with a digest of paths, groups, kind and settings where one is not the default.
func versionOf(c content) string {
	if len(c.Paths)+len(c.Groups) == 0 && c.Kind == KindCloud && c.Settings == (Settings{}) {
		return c.Snapshot
	}
	id := c.Snapshot
	c.Snapshot = ""
	return id + "-" + digestOf(c)[:12]
}

// remoteSuffix is what the version of an export without a label ends with where
// files of other hosts belong to it.
func remoteSuffix(remote string) string {
	if remote == "" {
		return ""
	}
	return "-r" + remote[:min(len(remote), 12)]
}

// versionWith is the version of a job that has not begun, where files of other
// hosts with that digest belong to it.
func (j ExportJob) versionWith(remote string) string {
	if j.Version != versionOf(j.content()) {
		return j.Version // a label
	}
	return j.Version + remoteSuffix(remote)
}

// pinRemote makes what was fetched for a job that begins a part of its version.
// A label that means other files already refuses it; an export without a label
// gets a version that identifies them.
func (s *Service) pinRemote(ctx context.Context, b *batch, j *ExportJob, remote string) error {
	if remote == "" {
		return nil
	}
	what := j.content()
	v, revision, err := readOr[version](ctx, s, versionKey(j.Project, j.Version))
	if err != nil {
		return err
	}
	if j.versionWith(remote) == j.Version {
		if v.Remote != remote && v.Remote != "" && (v.Completed || v.Active > 1) {
			return Errorf(CodeVersionTaken, "version: %s of this domain was made with other files of other hosts; they have changed since", j.Version)
		}
		v.Remote = remote
		b.put(versionKey(j.Project, j.Version), revision, v)
		return nil
	}
	v.Active = max(0, v.Active-1)
	b.put(versionKey(j.Project, j.Version), revision, v)
	j.Version = j.versionWith(remote)
	own, revision, err := readOr[version](ctx, s, versionKey(j.Project, j.Version))
	if err != nil {
		return err
	}
	meaning := digestOf(struct {
		content
		Remote string `json:"remote"`
	}{what, remote})
	if own.Content != meaning {
		if own.Active > 0 || own.Completed {
			return Errorf(CodeVersionTaken, "version: %s of this domain has other content", j.Version)
		}
		own = version{Content: meaning, Remote: remote}
	}
	own.Active++
	b.put(versionKey(j.Project, j.Version), revision, own)
	return nil
}

// counter is the value of a record that counts.
type counter struct {
	Running int `json:"running"`
}

// StartExport queues an export of the newest snapshot of a caller's domain and
// starts it. Two equal calls make two jobs, unless they carry the same
// Idempotency-Key.
//
// The job is there for good once the records are written: where the workflow
// can't be started now, the reconciler starts it by the same name.
//
// It returns CodeInvalid, CodeDomainNotFound, CodeNoSnapshot, CodeVersionTaken,
// CodeTooManyExports, CodeKeyReused or CodeKeyRunning; with GoLive also CodeRole,
// CodeScope or CodePlan; with Newest also CodeOvertaken.
func (s *Service) StartExport(ctx context.Context, c Caller, in StartExport) (ExportJob, error) {
	if err := c.person(ActionExport); err != nil {
		return ExportJob{}, err
	}
	if err := CheckDomain("domain", in.Domain); err != nil {
		return ExportJob{}, err
	}
	if in.Version != "" {
		if err := checkVersion("version", in.Version); err != nil {
			return ExportJob{}, err
		}
	}
	paths, err := NormalPaths("paths", in.Paths)
	if err != nil {
		return ExportJob{}, err
	}
	groups, err := normalGroups("groups", in.Groups)
	if err != nil {
		return ExportJob{}, err
	}
	if in.Have != "" && !digestForm().MatchString(in.Have) {
		return ExportJob{}, FieldErrorf("have", "must be a SHA-256 in lower-case hex")
	}
	in.Paths, in.Groups = paths, groups
	if in.GoLive {
		if err := checkGoLive(c, in); err != nil {
			return ExportJob{}, err
		}
	}
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (ExportJob, string, error) {
		j, err := s.queue(ctx, c, in, sl)
		if err == nil {
			s.start(ctx, j)
		}
		return j, j.ID, err
	}
	replay := func(id string) (ExportJob, error) {
		j, err := s.callersJob(ctx, c, id)
		if err != nil {
			return ExportJob{}, err
		}
		if j.Status == ExportQueued {
			s.start(ctx, j)
		}
		return j.asQueued(), nil
	}
	return once(ctx, s, c, "start-export", key, in, run, replay)
}

// asQueued is the job as it was when it was made: what a repeated start shows.
func (j ExportJob) asQueued() ExportJob {
	j.Status, j.UpdatedAt = ExportQueued, j.CreatedAt
	if suffix := remoteSuffix(j.Plan.Remote); suffix != "" {
		if first := versionOf(j.content()); j.Version == first+suffix {
			j.Version = first
		}
	}
	j.Plan, j.Done, j.Reached, j.Bundle, j.Failure, j.Reused = ExportPlan{}, 0, 0, nil, nil, ""
	return j
}

// queue writes a job, in one transaction with all that must hold for it.
func (s *Service) queue(ctx context.Context, c Caller, in StartExport, sl *slot) (ExportJob, error) {
	id := s.opt.NewID(idExport)
	var j ExportJob
	err := s.transact(ctx, func() error {
		project, claim, _, err := s.site(ctx, c, in.Domain)
		if err != nil {
			return err
		}
		if claim.Newest == "" {
			return Errorf(CodeNoSnapshot, "nothing has been published for this domain yet")
		}
		if in.Newest != "" && in.Newest != claim.Newest {
			return Errorf(CodeOvertaken, "another snapshot of this domain was published meanwhile")
		}
		snapshot, snapshotRevision, err := read[Snapshot](ctx, s, snapshotKey(project.ID, claim.Newest))
		if err != nil {
			return err
		}
		now := s.now()
		j = ExportJob{
			ID: id, Organisation: c.OrganisationID, Project: project.ID, Domain: project.Domain,
			Snapshot: snapshot.ID, Version: in.Version, Paths: in.Paths, Groups: in.Groups, Kind: project.Kind, Settings: project.Settings,
			Fresh: in.Fresh, Have: in.Have, Status: ExportQueued, CreatedAt: now, UpdatedAt: now,
		}
		if in.GoLive {
			j.GoLive = &GoLive{Change: claim.Changes, By: s.actor(c)}
		}
		what := j.content()
		if j.Version == "" {
			j.Version = versionOf(what)
		}
		v, versionRevision, err := readOr[version](ctx, s, versionKey(project.ID, j.Version))
		if err != nil {
			return err
		}
		if meaning := digestOf(what); v.Content != meaning {
			if v.Active > 0 || v.Completed {
				return Errorf(CodeVersionTaken, "version: %s of this domain is another snapshot, or has other paths, groups or settings", j.Version)
			}
			v = version{Content: meaning}
		}
		v.Active++
		running, runningRevision, err := readOr[counter](ctx, s, runningKey(c.OrganisationID))
		if err != nil {
			return err
		}
		if running.Running >= s.opt.MaxRunning {
			return Errorf(CodeTooManyExports, "%d exports of your organisation are queued or running; wait until one is done", running.Running).After(s.busyPause())
		}
		running.Running++

		var b batch
		b.put(jobKey(j.ID), 0, j).Active = activeValue(j)
		b.put(versionKey(project.ID, j.Version), versionRevision, v)
		b.put(runningKey(c.OrganisationID), runningRevision, running)
		for _, row := range exportRows(j) {
			b.put(row, 0, presence{})
		}
		s.audit(&b, c, j.Organisation, "export.started", j.ID, changed("domain", "", j.Domain, "version", "", j.Version)...)
		if !snapshot.Exported {
			snapshot.Exported = true
			b.put(snapshotKey(project.ID, snapshot.ID), snapshotRevision, snapshot)
		}
		sl.settle(&b, j.ID)
		return sl.settled(s.write(ctx, &b))
	})
	if err != nil {
		return ExportJob{}, err
	}
	return j, nil
}

// busyPause is when a caller over the limit may try again: exports take at
// least a few polls.
func (s *Service) busyPause() time.Duration { return 2 * s.opt.PollAfter }

// activeValue is a job's place in the index of active jobs: oldest first.
func activeValue(j ExportJob) string { return activePrefix + timePart(j.CreatedAt) + "#" + j.ID }

const activePrefix = "export#"

// start begins the workflow of a job. That it failed is for the log: the job
// stays queued, and the reconciler starts it.
func (s *Service) start(ctx context.Context, j ExportJob) {
	if err := s.Restart(ctx, j); err != nil {
		s.opt.Log.ErrorContext(ctx, "export not started yet", "job", j.ID, "error", err)
	}
}

// job reads a job as it is stored.
func (s *Service) job(ctx context.Context, id string) (ExportJob, error) {
	j, _, err := s.jobRevision(ctx, id)
	return j, err
}

func (s *Service) jobRevision(ctx context.Context, id string) (ExportJob, int64, error) {
	return find[ExportJob](ctx, s, "export job", jobKey(id), id)
}

// callersJob reads a job of a caller's organisation.
func (s *Service) callersJob(ctx context.Context, c Caller, id string) (ExportJob, error) {
	j, err := s.job(ctx, id)
	if err == nil && (j.Organisation != c.OrganisationID || c.outside(j.Domain)) {
		return ExportJob{}, notFound("export job")
	}
	return j, err
}

// GetExport reads a caller's job with its progress, or returns CodeNotFound.
func (s *Service) GetExport(ctx context.Context, c Caller, id string) (ExportJob, error) {
	j, err := s.callersJob(ctx, c, id)
	if err != nil || j.Status != ExportRunning {
		return j, err
	}
	m, err := s.markers(ctx, id)
	if err != nil {
		return ExportJob{}, err
	}
	j.Done = m.pages
	if m.latest.After(j.UpdatedAt) {
		j.UpdatedAt = m.latest
	}
	return j, nil
}

// Whole reports whether a bundle's object has the size in the bundle's record. It returns
// store.ErrNotFound if the object is missing.
func (b Bundle) Whole(ctx context.Context, objects store.Objects) (bool, error) {
	info, err := objects.Stat(ctx, b.Key)
	return err == nil && info.Size == b.Size, err
}

// BundleLink is a link to a finished bundle.
type BundleLink struct {
	Job  ExportJob
	Link store.Link
	// Changes is a link to the list of what the bundle changed; the zero value
	// where there is no list.
	Changes store.Link
}

// BundleLink makes a fresh link to the bundle of a caller's job: CodeJobRunning
// while there is none yet, CodeJobFailed where there never will be one,
// CodeBundleGone where it was removed or is damaged.
func (s *Service) BundleLink(ctx context.Context, c Caller, jobID, idempotencyKey string) (BundleLink, error) {
	link := func() (BundleLink, error) {
		j, err := s.callersJob(ctx, c, jobID)
		if err != nil {
			return BundleLink{}, err
		}
		if err := s.bundleThere(ctx, j); err != nil {
			return BundleLink{}, err
		}
		l, err := s.opt.Objects.PresignGet(ctx, j.Bundle.Key, j.Domain+"-"+j.Version+".tar.gz", s.opt.LinkLife)
		if err != nil {
			return BundleLink{}, fmt.Errorf("link to bundle of %s: %w", j.ID, err)
		}
		changes, err := s.changesLink(ctx, j)
		if err != nil {
			return BundleLink{}, fmt.Errorf("link to changes of %s: %w", j.ID, err)
		}
		return BundleLink{Job: j, Link: l, Changes: changes}, nil
	}
	if !validID(jobID) {
		return BundleLink{}, notFound("export job")
	}
	run := func(*slot) (BundleLink, string, error) {
		l, err := link()
		return l, jobID, err
	}
	return once(ctx, s, c, "generate-bundle", idempotencyKey, jobID, run, func(string) (BundleLink, error) { return link() })
}
