package admin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// ExportCursorPattern is the form of the cursors of ListExports.
const ExportCursorPattern = `^[0-9a-z]{10}\.exp_[0-9a-z]{1,60}$`

var exportCursorForm = lazy.Regexp(ExportCursorPattern)

// ExportStatuses lists the states of export jobs.
func ExportStatuses() []ExportStatus {
	return []ExportStatus{ExportQueued, ExportRunning, ExportCompleted, ExportFailed}
}

// ExportList asks for a page of an organisation's export jobs.
type ExportList struct {
	// Domain and Status, where not empty, are those that jobs have.
	Domain string
	Status ExportStatus
	// Cursor is where the page before ended; empty for the first.
	Cursor string
	Limit  int // 0: DefaultPage
}

// maxExportsLooked is how many jobs are read for one page: with a filter it may
// hold fewer than there are.
const maxExportsLooked = 2 * MaxPage

// ListExports returns the jobs of a caller's organisation, newest first, with
// their progress, and the cursor of the next page, which is empty at the end. A
// page may hold fewer jobs than its limit, or none, where more follow.
// It returns CodeInvalid.
func (s *Service) ListExports(ctx context.Context, c Caller, in ExportList) ([]ExportJob, string, error) {
	if in.Domain != "" {
		if err := CheckDomain("domain", in.Domain); err != nil {
			return nil, "", err
		}
	}
	if in.Status != "" && !slices.Contains(ExportStatuses(), in.Status) {
		return nil, "", FieldErrorf("status", "must be queued, running, completed or failed")
	}
	if in.Domain == "" {
		in.Domain = c.Domain
	} else if c.outside(in.Domain) {
		return []ExportJob{}, "", nil
	}
	return s.listExports(ctx, c, in.Domain, in)
}

// listExports is ListExports of those that have rows of a domain, or of a project.
func (s *Service) listExports(ctx context.Context, c Caller, of string, in ExportList) ([]ExportJob, string, error) {
	limit, err := checkPage(in.Limit)
	if err != nil {
		return nil, "", err
	}
	q := store.Query{PK: exportsPK(c.OrganisationID, of), Limit: limit, Descending: true}
	if in.Cursor != "" {
		if !exportCursorForm().MatchString(in.Cursor) {
			return nil, "", FieldErrorf("cursor", "is not one that a list of exports returned")
		}
		q.Cursor = store.EncodeCursor(q, store.Record{Key: store.Key{PK: q.PK, SK: in.Cursor}})
	}
	if in.Status != "" { // most rows may be of jobs in other states
		q.Limit = max(limit, DefaultPage)
	}
	return pageOf(ctx, s, q, limit, maxExportsLooked, func(rows []store.Record) ([]*ExportJob, error) {
		some, err := s.listed(ctx, c, rows)
		wanted := make([]*ExportJob, len(some))
		for i, j := range some {
			if in.Status == "" || j.Status == in.Status {
				wanted[i] = &j
			}
		}
		return wanted, err
	})
}

// NewestExports returns the newest export of each domain of a caller's organisation
// that has one: a query and a read a domain. At most MaxPage domains are asked
// about; more are CodeInvalid.
func (s *Service) NewestExports(ctx context.Context, c Caller, domains []string) (map[string]*ExportJob, error) {
	if len(domains) > MaxPage {
		return nil, FieldErrorf("domains", "must be at most %d", MaxPage)
	}
	found := make([][]ExportJob, len(domains))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(statConcurrency)
	for i, domain := range domains {
		g.Go(func() (err error) {
			found[i], _, err = s.ListExports(gctx, c, ExportList{Domain: domain, Limit: 1})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	newest := make(map[string]*ExportJob, len(domains))
	for i, jobs := range found {
		if len(jobs) > 0 {
			newest[domains[i]] = &jobs[0]
		}
	}
	return newest, nil
}

// NewestCompleted returns the newest completed export of a project, or the zero job. It reads
// at most the jobs of one page of the list.
func (s *Service) NewestCompleted(ctx context.Context, p Project) (ExportJob, error) {
	jobs, _, err := s.ListExports(ctx, s.Operator(p.Organisation), ExportList{Domain: p.Domain, Status: ExportCompleted, Limit: 1})
	for _, j := range jobs {
		if j.Project == p.ID { // the domain may be another project's now
			return j, nil
		}
	}
	return ExportJob{}, err
}

// listed reads the jobs of rows, as their callers see them.
func (s *Service) listed(ctx context.Context, c Caller, rows []store.Record) ([]ExportJob, error) {
	jobs := make([]ExportJob, len(rows))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(statConcurrency)
	for i, row := range rows {
		g.Go(func() (err error) {
			_, id, _ := strings.Cut(row.Key.SK, ".")
			jobs[i], err = s.GetExport(gctx, c, id)
			return err
		})
	}
	return jobs, g.Wait()
}

// CancelExport ends a caller's job that is queued or running: it is failed, with
// CodeCancelled, whatever its steps have said by then. The pages that were
// rendered are metered, and nothing else. Its workflow is stopped after that,
// which takes its parts away; where it can't be stopped now, its next step finds
// the job final. Cancelling it again is success.
//
// It returns CodeNotFound, CodeJobNotActive for a job that is completed or failed
// in another way, CodeKeyReused or CodeKeyRunning.
func (s *Service) CancelExport(ctx context.Context, c Caller, id, idempotencyKey string) (ExportJob, error) {
	if err := c.person(ActionExport); err != nil {
		return ExportJob{}, err
	}
	run := func(sl *slot) (ExportJob, string, error) {
		var j ExportJob
		err := s.transact(ctx, func() (err error) {
			var revision int64
			if j, revision, err = s.jobRevision(ctx, id); err != nil {
				return err
			}
			switch {
			case j.Organisation != c.OrganisationID || c.outside(j.Domain):
				return notFound("export job")
			case j.Status == ExportFailed && j.Failure.Code == CodeCancelled:
				return nil
			case j.Status.Final():
				return notActive(j)
			}
			var b batch
			if err := s.fail(ctx, &b, &j, revision, Failure{Code: CodeCancelled, Message: "the export was cancelled"}); err != nil {
				return err
			}
			if j.Done > 0 {
				if err := s.used(ctx, &b, j.exported(), j.UpdatedAt, ProjectUsage{Pages: int64(j.Done)}); err != nil {
					return err
				}
			}
			s.audit(&b, c, j.Organisation, "export.cancelled", id, changed("domain", "", j.Domain)...)
			sl.settle(&b, id)
			return sl.settled(s.write(ctx, &b))
		})
		if err != nil {
			return ExportJob{}, "", err
		}
		s.stop(ctx, j)
		return j, id, nil
	}
	replay := func(string) (ExportJob, error) { return s.callersJob(ctx, c, id) }
	return once(ctx, s, c, "cancel-export", idempotencyKey, id, run, replay)
}

// stop ends the workflow of a job that is final. That it failed is for the log:
// the workflow's next step ends it.
func (s *Service) stop(ctx context.Context, j ExportJob) {
	err := errors.New("no workflow runner is configured")
	if s.opt.Runner != nil {
		err = s.opt.Runner.Stop(ctx, store.WorkflowExport, j.ID, CodeCancelled)
	}
	if err != nil {
		s.opt.Log.WarnContext(ctx, "the workflow of a cancelled export was not stopped", "job", j.ID, "error", err)
	}
}

// scanner is a store that can read all of its records.
type scanner interface {
	// Scan calls fn with every record, in no order, and returns its first error.
	Scan(ctx context.Context, fn func(store.Record) error) error
}

var backfillKey = store.Key{PK: "backfills", SK: "exports"}

// Backfill writes the rows by which export jobs of earlier releases are listed, and
// returns how many jobs had none. It reads all records, which a function's role may
// not; so it does nothing after the first time, unless again is set: an earlier
// release may have made jobs since.
// It returns the store's errors.
func (s *Service) Backfill(ctx context.Context, again bool) (int, error) {
	switch _, _, err := read[presence](ctx, s, backfillKey); {
	case errors.Is(err, store.ErrNotFound):
	case err != nil || !again:
		return 0, err
	}
	all, ok := s.opt.Store.(scanner)
	if !ok {
		return 0, errors.New("this store can't read all of its records")
	}
	added := 0
	err := all.Scan(ctx, func(rec store.Record) error {
		j, is, err := ExportOf(rec)
		if err != nil || !is {
			return err
		}
		missing := false
		for _, row := range exportRows(j) {
			switch err := s.put(ctx, row, 0, json.RawMessage("{}")); {
			case err == nil:
				missing = true
			case !isConflict(err):
				return err
			}
		}
		if missing {
			added++
		}
		return nil
	})
	if err == nil {
		if err = s.put(ctx, backfillKey, 0, presence{}); isConflict(err) {
			err = nil
		}
	}
	return added, err
}
