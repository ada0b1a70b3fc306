package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// ExportInput is all that the steps of an export need to know.
type ExportInput struct {
	Job ExportJob
	// Project is the job's project with the kind and the settings that it had
	// when the job started.
	Project  Project
	Snapshot Snapshot
	Features FeatureSet
}

// ExportInput reads what the steps of a job need. The error is
// CodeJobNotActive where there is no such job, or it is final.
func (s *Service) ExportInput(ctx context.Context, jobID string) (ExportInput, error) {
	j, _, err := s.activeJob(ctx, jobID)
	if err != nil {
		return ExportInput{}, err
	}
	project, _, err := read[Project](ctx, s, projectKey(j.Project))
	if err != nil {
		return ExportInput{}, err
	}
	snapshot, _, err := read[Snapshot](ctx, s, snapshotKey(j.Project, j.Snapshot))
	if err != nil {
		return ExportInput{}, err
	}
	project.Domain, project.Kind, project.Settings = j.Domain, j.Kind, j.Settings
	return ExportInput{Job: j, Project: project, Snapshot: snapshot, Features: Features(j.Kind, j.Settings)}, nil
}

// notActive is the answer to a step that comes too late, or for nothing.
func notActive(j ExportJob) *Error {
	if j.ID == "" {
		return Errorf(CodeJobNotActive, "there is no such export job")
	}
	return Errorf(CodeJobNotActive, "the export job is %s", j.Status)
}

// activeJob reads a job that is queued or running.
func (s *Service) activeJob(ctx context.Context, id string) (ExportJob, int64, error) {
	j, revision, err := s.stepJob(ctx, id)
	if err == nil && j.Status.Final() {
		return ExportJob{}, 0, notActive(j)
	}
	return j, revision, err
}

// stepJob reads a job for a step: one that is not there is not active.
func (s *Service) stepJob(ctx context.Context, id string) (ExportJob, int64, error) {
	j, revision, err := s.jobRevision(ctx, id)
	if CodeOf(err) == CodeNotFound {
		return ExportJob{}, 0, notActive(ExportJob{})
	}
	return j, revision, err
}

// BeginExport turns a queued job into a running one. Doing it again with an
// equal plan is success; with another renderer, or another plan, it is
// CodeRendererChanged: the same renderer plans a snapshot in one way only.
func (s *Service) BeginExport(ctx context.Context, jobID string, plan ExportPlan) error {
	if plan.Renderer == "" || plan.Shards < 0 || plan.Pages < 0 {
		return Errorf(CodeInternal, "the export could not be planned")
	}
	return s.transact(ctx, func() error {
		j, revision, err := s.activeJob(ctx, jobID)
		if err != nil {
			return err
		}
		if j.Status == ExportRunning {
			if j.Plan != plan {
				return Errorf(CodeRendererChanged, "the renderer was changed during the export; start another one")
			}
			return nil
		}
		var b batch
		if err := s.pinRemote(ctx, &b, &j, plan.Remote); err != nil {
			return err
		}
		j.Status, j.Plan, j.UpdatedAt = ExportRunning, plan, s.now()
		b.put(jobKey(jobID), revision, j).Active = activeValue(j)
		return s.write(ctx, &b)
	})
}

// CheckRenderer refuses a step whose renderer is not the one that the running
// job was planned with.
func CheckRenderer(j ExportJob, renderer string) error {
	if j.Status == ExportRunning && j.Plan.Renderer != renderer {
		return Errorf(CodeRendererChanged, "the renderer was changed during the export; start another one")
	}
	return nil
}

// marker says that a shard is rendered.
type marker struct {
	Pages int       `json:"pages"`
	Bytes int64     `json:"bytes,omitempty"`
	At    time.Time `json:"at"`
}

type markers struct {
	pages, shards int
	bytes         int64
	latest        time.Time
}

// markers sums the markers of a job. They are only ever added, so neither
// sum falls.
func (s *Service) markers(ctx context.Context, job string) (markers, error) {
	var m markers
	q := store.Query{PK: jobKey(job).PK, Prefix: prefixShard}
	err := list(ctx, s, q, func(_ store.Record, v marker) error {
		m.pages += v.Pages
		m.bytes += v.Bytes
		m.shards++
		if v.At.After(m.latest) {
			m.latest = v.At
		}
		return nil
	})
	return m, err
}

// RenderedBytes is how large the bundle of a job is by now: the sum of what its
// rendered shards have in it. It returns the store's errors.
func (s *Service) RenderedBytes(ctx context.Context, jobID string) (int64, error) {
	m, err := s.markers(ctx, jobID)
	return m.bytes, err
}

// MarkShard says that a shard of a running job is rendered, with so many
// pages and bytes of the bundle. A shard counts once, however often it is marked. A job that is final
// refuses new markers with CodeJobNotActive.
func (s *Service) MarkShard(ctx context.Context, jobID string, shard, pages int, bytes int64) error {
	if marked, err := s.ShardMarked(ctx, jobID, shard); err != nil || marked {
		return err
	}
	j, _, err := s.activeJob(ctx, jobID)
	if err != nil {
		return err
	}
	if j.Status != ExportRunning {
		return notActive(j)
	}
	err = s.put(ctx, shardKey(jobID, shard), 0, marker{Pages: max(pages, 0), Bytes: bytes, At: s.now()})
	if conflictOn(err, shardKey(jobID, shard)) {
		return nil
	}
	if isConflict(err) {
		return Errorf(CodeTemporary, "the shard could not be marked; try again").Wrap(err)
	}
	return err
}

// ShardMarked reports whether a shard is rendered. It returns the store's errors.
func (s *Service) ShardMarked(ctx context.Context, jobID string, shard int) (bool, error) {
	if !validID(jobID) {
		return false, notActive(ExportJob{})
	}
	_, err := s.opt.Store.Get(ctx, shardKey(jobID, shard))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// finish adds to a batch what every final transition does: it frees the
// organisation's place, and the version's, and tells webhooks of it.
func (s *Service) finish(ctx context.Context, b *batch, j ExportJob) error {
	running, revision, err := readOr[counter](ctx, s, runningKey(j.Organisation))
	if err != nil {
		return err
	}
	running.Running = max(0, running.Running-1)
	b.put(runningKey(j.Organisation), revision, running)
	v, revision, err := readIn[version](ctx, s, b, versionKey(j.Project, j.Version))
	if err != nil {
		return err
	}
	v.Active = max(0, v.Active-1)
	v.Completed = v.Completed || j.Status == ExportCompleted
	if j.lends() {
		v.Job, v.Key = j.ID, j.Plan.Key
	}
	b.put(versionKey(j.Project, j.Version), revision, v)
	event := EventExportFailed
	if j.Status == ExportCompleted {
		event = EventExportCompleted
	}
	return s.notify(ctx, b, j.Organisation, event, j.ID, j)
}

// CompleteExport completes a running job, in one transaction with exact
// counts, the month's usage and the organisation's place. Doing it again with
// an equal bundle is success; a job that failed stays so (CodeJobNotActive).
//
// A job that may go live does so in the same transaction. It is completed also where
// that is impossible.
func (s *Service) CompleteExport(ctx context.Context, jobID string, bundle Bundle) error {
	var done completion
	err := s.transact(ctx, func() error {
		j, revision, err := s.stepJob(ctx, jobID)
		if err != nil {
			return err
		}
		if j.Status == ExportCompleted && j.Bundle.sameAs(bundle) {
			done.again(j)
			return nil
		}
		if j.Status != ExportRunning {
			return notActive(j)
		}
		j.Status, j.UpdatedAt, j.Bundle, j.Done = ExportCompleted, s.now(), &bundle, bundle.Pages
		var b batch
		b.put(jobKey(jobID), revision, j)
		if err := s.finish(ctx, &b, j); err != nil {
			return err
		}
		if err := s.used(ctx, &b, j.exported(), j.UpdatedAt, ProjectUsage{Exports: 1, Pages: int64(bundle.Pages), BundleBytes: bundle.Size}); err != nil {
			return err
		}
		return done.write(ctx, s, &b, j)
	})
	if err == nil {
		done.later(ctx, s)
	}
	return err
}

// FailExport fails a job that is queued or running. A cause that RecordFailure
// kept goes before the one given here: a workflow often knows only that
// something failed. Doing it again is success and changes nothing; a job that
// is completed stays so (CodeJobNotActive).
func (s *Service) FailExport(ctx context.Context, jobID, code, message string) error {
	return s.transact(ctx, func() error {
		j, revision, err := s.stepJob(ctx, jobID)
		if err != nil {
			return err
		}
		switch j.Status {
		case ExportFailed:
			return nil
		case ExportCompleted:
			return notActive(j)
		}
		failure, _, err := readOr[Failure](ctx, s, failureKey(jobID))
		if err != nil {
			return err
		}
		if failure.Code == "" || failure.Code == CodeTemporary && code != CodeTemporary {
			failure = safeFailure(code, message)
		}
		var b batch
		if err := s.fail(ctx, &b, &j, revision, failure); err != nil {
			return err
		}
		return s.write(ctx, &b)
	})
}

// fail adds to a batch the end of an active job, with what was rendered by then.
func (s *Service) fail(ctx context.Context, b *batch, j *ExportJob, revision int64, failure Failure) error {
	m, err := s.markers(ctx, j.ID)
	if err != nil {
		return err
	}
	j.Done = m.pages
	j.Reached = j.Progress()
	j.Status, j.UpdatedAt, j.Failure = ExportFailed, s.now(), &failure
	b.put(jobKey(j.ID), revision, *j)
	return s.finish(ctx, b, *j)
}

// RecordFailure keeps the first cause of a failing step for FailExport. Steps
// call it when they end with an error that no retry heals, or with one that
// names what has to be mended: that gives way to any other.
func (s *Service) RecordFailure(ctx context.Context, jobID, code, message string) error {
	if _, _, err := s.activeJob(ctx, jobID); err != nil {
		return err
	}
	kept, revision, err := readOr[Failure](ctx, s, failureKey(jobID))
	if err != nil || revision > 0 && kept.Code != CodeTemporary {
		return err
	}
	err = s.put(ctx, failureKey(jobID), revision, safeFailure(code, message))
	if isConflict(err) {
		return nil
	}
	return err
}

// maxFailure bounds a failure's message, in bytes.
const maxFailure = 2000

func safeFailure(code, message string) Failure {
	code, message = cmp.Or(code, CodeInternal), cmp.Or(message, "the export failed")
	return Failure{Code: code, Message: cutText(message, maxFailure)}
}

// cutText returns at most limit bytes of a text, with an ellipsis after them
// where there were more.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not inside a character
		cut--
	}
	return text[:cut] + "…"
}

// ActiveExports calls fn with every job that is queued or running, oldest
// first. It reads an index that may lag: each job is read again before it is
// given, and one that is final by then is left out.
// It returns the first error of fn or of the store.
func (s *Service) ActiveExports(ctx context.Context, fn func(ExportJob) error) error {
	q := store.Query{Index: store.ByActive, Prefix: activePrefix}
	return list(ctx, s, q, func(rec store.Record, _ json.RawMessage) error {
		j, _, err := read[ExportJob](ctx, s, rec.Key)
		if errors.Is(err, store.ErrNotFound) || err == nil && j.Status.Final() {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(j)
	})
}

// ExportOf returns the export that a record of the store is, and reports whether
// it is one: for who reads all records. It returns an error where the record is
// damaged.
func ExportOf(rec store.Record) (ExportJob, bool, error) {
	if rec.Key.SK != skJob || rec.Key != jobKey(strings.TrimPrefix(rec.Key.PK, "export#")) {
		return ExportJob{}, false, nil
	}
	var j ExportJob
	if err := json.Unmarshal(rec.Value, &j); err != nil {
		return ExportJob{}, false, fmt.Errorf("record %s/%s: %w", rec.Key.PK, rec.Key.SK, err)
	}
	return j, true, nil
}

// FindExport reads a job for operators and the reconciler, whoever's it is, or
// returns CodeNotFound.
func (s *Service) FindExport(ctx context.Context, id string) (ExportJob, error) {
	return s.job(ctx, id)
}

// WorkflowInput is what an execution of the export workflow begins with.
type WorkflowInput struct {
	JobID string `json:"jobId"`
}

// Restart starts a job's workflow under the job's id. One that was started
// before is success.
// It returns the errors of Runner.Start.
func (s *Service) Restart(ctx context.Context, j ExportJob) error {
	if s.opt.Runner == nil {
		return errors.New("no workflow runner is configured")
	}
	input, err := json.Marshal(WorkflowInput{JobID: j.ID})
	if err != nil {
		return err
	}
	return s.opt.Runner.Start(ctx, store.WorkflowExport, j.ID, input)
}
