package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// DeployMode decides whether a completed export with GoLive goes live automatically.
type DeployMode string

// The deploy modes. An empty one is DeployAuto.
const (
	DeployAuto   DeployMode = "auto"
	DeployManual DeployMode = "manual"
)

// GoLive marks an export job that may become the live version of its site.
type GoLive struct {
	// Change is the domain's count of changes of its newest snapshot (domainClaim) when
	// the job was made.
	Change int64 `json:"change"`
	// By started the job.
	By Actor `json:"by"`
}

// LiveCause says why a version went live.
type LiveCause string

// The causes of moves.
const (
	LiveAutomatic LiveCause = "automatic" // its export was completed
	LivePromote   LiveCause = "promote"
	LiveRollback  LiveCause = "rollback"
)

// LiveMove is one change of the live version of a site.
type LiveMove struct {
	// N counts the moves of a project, from 1.
	N        int    `json:"n"`
	Domain   string `json:"domain"`
	Job      string `json:"job"`
	Snapshot string `json:"snapshot"`
	Version  string `json:"version"`
	// From is the job that was live before; empty for the first.
	From  string    `json:"from,omitempty"`
	Cause LiveCause `json:"cause"`
	At    time.Time `json:"at"`
	// By moved it; for an automatic move, By started the job.
	By Actor `json:"by"`
	// Back is the number of the move that a roll back from here repeats; 0 where there
	// is none.
	Back int `json:"back,omitempty"`
	// Skipped are the versions before From that a roll back stepped over, the latest first.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a version that a roll back stepped over, since it can't be live any more.
type Skipped struct {
	Job    string     `json:"job"`
	Reason SkipReason `json:"reason"`
}

// SkipReason says why a version can't be live any more.
type SkipReason string

// The reasons.
const (
	SkipGone SkipReason = "bundle_gone"     // its bundle was removed, or is damaged
	SkipKind SkipReason = "deployment_kind" // it was made for another kind than the project has
)

// maxSteps is the number of moves that a roll back looks at. What is further back is for a
// promote.
const maxSteps = 100

// Hold says who stopped automatic moves of a site, and when.
type Hold struct {
	At time.Time `json:"at,omitzero"`
	By Actor     `json:"by,omitzero"`
}

// Live holds the live version of a domain.
type Live struct {
	Domain string
	Deploy DeployMode
	// Move made the current version live; the zero value where nothing is live.
	Move LiveMove
	// Hold is zero where automatic moves may happen.
	Hold Hold
	// URL is the address of the site; empty if no sites are served.
	URL string
}

// place orders jobs for automatic moves: by the change of the
// newest snapshot that it was made after, then by its own time.
type place struct {
	Change int64     `json:"change"`
	Made   time.Time `json:"made"`
	Job    string    `json:"job"`
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.Change, q.Change), p.Made.Compare(q.Made), strings.Compare(p.Job, q.Job))
}

// liveRecord holds the live version of a project. Each move changes it, and so does the
// end of the project: a transaction that read it before that fails.
type liveRecord struct {
	Move LiveMove `json:"move,omitzero"`
	Hold Hold     `json:"hold,omitzero"`
	// Top is the highest place that was ever live: no automatic move goes below it.
	Top place `json:"top,omitzero"`
	// Pinned are the archives of the last moves, the oldest first.
	Pinned []pinned `json:"pinned,omitempty"`
	// EndedAt is when the project ended. Nothing is live after that.
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// pinned is an archive that a move holds.
type pinned struct {
	N       int    `json:"n"`
	Archive string `json:"archive"`
}

// pinnedMoves is the number of a project's last moves that hold their archives, the live
// one among them.
const pinnedMoves = 10

// archive is the state of an export's archive. Each pin, and the end, changes the
// record: an archive with a pin can't go, and one that is gone gets no pin.
type archive struct {
	// State is empty while the archive may be there.
	State archiveState `json:"state,omitempty"`
	// Pins counts the rows of pins of the archive.
	Pins int `json:"pins,omitempty"`
}

type archiveState string

// archiveGone: the object is deleted, or is about to be. An archive is named by its
// job and never comes back.
const archiveGone archiveState = "gone"

// there returns CodeBundleGone for an archive that gets no pin.
func (a archive) there() error {
	if a.State != "" {
		return Errorf(CodeBundleGone, "the bundle was removed; start another export")
	}
	return nil
}

// archiveOf is the job under which a bundle is stored: the one that it belongs to, or
// one that lends its own.
func archiveOf(b Bundle) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(b.Key, AllExports), "/")
	return id
}

// ArchiveKeys is the pattern of the partitions of archives and their pins.
const ArchiveKeys = "archive#*"

func liveHolder(project string, n int) string { return fmt.Sprintf("live#%s#%010d", project, n) }

// pin adds to a transaction that a holder needs an archive, or returns
// CodeBundleGone.
func (s *Service) pin(ctx context.Context, b *batch, of, holder string) error {
	a, revision, err := readIn[archive](ctx, s, b, archiveKey(of))
	if err == nil {
		err = a.there()
	}
	if err != nil {
		return err
	}
	a.Pins++
	b.put(archiveKey(of), revision, a)
	b.put(pinKey(of, holder), 0, presence{})
	return nil
}

// unpin adds to a transaction that a holder no longer needs an archive.
func (s *Service) unpin(ctx context.Context, b *batch, of, holder string) error {
	a, revision, err := readIn[archive](ctx, s, b, archiveKey(of))
	if err != nil {
		return err
	}
	a.Pins = max(0, a.Pins-1)
	b.put(archiveKey(of), revision, a)
	b.remove(pinKey(of, holder), 0)
	return nil
}

// ArchivePinned reports whether something needs the archive of a bundle. It returns the
// store's errors.
func (s *Service) ArchivePinned(ctx context.Context, b Bundle) (bool, error) {
	a, _, err := readOr[archive](ctx, s, archiveKey(archiveOf(b)))
	return a.Pins > 0, err
}

// LetArchiveGo writes that the archive of a job is gone, unless something needs it,
// and reports whether the caller may delete the object now. Nothing can need it
// after that. Doing it again is success.
// It returns the store's errors.
func (s *Service) LetArchiveGo(ctx context.Context, jobID string) (bool, error) {
	gone := false
	err := s.transact(ctx, func() error {
		a, revision, err := readOr[archive](ctx, s, archiveKey(jobID))
		if gone = a.State == archiveGone; err != nil || gone || a.Pins > 0 {
			return err
		}
		a.State = archiveGone
		if err := s.put(ctx, archiveKey(jobID), revision, a); err != nil {
			return err
		}
		gone = true
		return nil
	})
	return gone && err == nil, err
}

// checkGoLive returns CodeRole, CodeScope, CodePlan or CodeInvalid for an export that
// its caller can't mark as one that may go live.
func checkGoLive(c Caller, in StartExport) error {
	if err := c.mayDeploy(); err != nil {
		return err
	}
	if len(in.Paths)+len(in.Groups) > 0 {
		return FieldErrorf("goLive", "only an export of the whole site, without paths and groups, can go live")
	}
	return nil
}

// mayDeploy returns CodeRole, CodeScope or CodePlan for a caller that can't decide
// what is live.
func (c Caller) mayDeploy() error {
	if err := c.May(ActionDeploy); err != nil || c.Operator != "" {
		return err
	}
	return RequirePlan(c, PlanEnterprise)
}

// liveFor returns CodeInvalid for a job that can't be the live version of a project.
func (j ExportJob) liveFor(p Project) error {
	switch {
	case j.GoLive == nil:
		return FieldErrorf("jobId", "the export was not made to go live; start another one with goLive")
	case j.Kind != p.Kind:
		return FieldErrorf("jobId", "the export was made for a %s deployment, and the project is %s now", j.Kind, p.Kind)
	}
	return nil
}

func (j ExportJob) place() place { return place{j.GoLive.Change, j.CreatedAt, j.ID} }

// move adds to a transaction that a completed job becomes the live version of its
// project, with the pins of that. It returns CodeBundleGone.
func (s *Service) move(ctx context.Context, b *batch, l liveRecord, revision int64, j ExportJob, cause LiveCause, back int, skipped []Skipped, c Caller) (liveRecord, error) {
	before := l.Move.Version
	m := LiveMove{
		N: l.Move.N + 1, Domain: j.Domain, Job: j.ID, Snapshot: j.Snapshot, Version: j.Version, From: l.Move.Job,
		Cause: cause, At: s.now(), By: s.actor(c), Back: back, Skipped: skipped,
	}
	of := archiveOf(*j.Bundle)
	if err := s.pin(ctx, b, of, liveHolder(j.Project, m.N)); err != nil {
		return l, err
	}
	l.Move, l.Pinned = m, append(slices.Clone(l.Pinned), pinned{m.N, of})
	for len(l.Pinned) > pinnedMoves {
		first := l.Pinned[0]
		if err := s.unpin(ctx, b, first.Archive, liveHolder(j.Project, first.N)); err != nil {
			return l, err
		}
		l.Pinned = l.Pinned[1:]
	}
	if l.Top.compare(j.place()) < 0 {
		l.Top = j.place()
	}
	if cause != LiveAutomatic {
		l.Hold = Hold{m.At, m.By}
	}
	b.put(liveKey(j.Project), revision, l)
	b.put(liveMoveKey(j.Project, m.N), 0, m)
	s.audit(b, c, j.Organisation, "site."+string(cause), j.Domain, changed("job", m.From, m.Job, "version", before, m.Version)...)
	return l, s.notify(ctx, b, j.Organisation, EventSiteLive, j.Domain, m)
}

// moveByItself adds to a transaction that a completed job becomes live, and reports
// whether it does.
func (s *Service) moveByItself(ctx context.Context, b *batch, j ExportJob) (bool, error) {
	if j.Bundle.Cut {
		return false, nil
	}
	l, revision, err := readOr[liveRecord](ctx, s, liveKey(j.Project))
	if err != nil || !l.EndedAt.IsZero() || !l.Hold.At.IsZero() || j.place().compare(l.Top) <= 0 {
		return false, err
	}
	p, _, err := read[Project](ctx, s, projectKey(j.Project))
	if err != nil || !p.RevokedAt.IsZero() || p.DeployMode() != DeployAuto || j.liveFor(p) != nil {
		return false, err
	}
	claim, _, err := readOr[domainClaim](ctx, s, domainKey(j.Domain))
	if err != nil || claim.Project != j.Project {
		return false, err
	}
	o, err := s.activeOrganisation(ctx, j.Organisation)
	if CodeOf(err) == CodeNotFound || err == nil && RequirePlan(Caller{Plan: o.Plan}, PlanEnterprise) != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = s.move(ctx, b, l, revision, j, LiveAutomatic, l.Move.N, nil, j.GoLive.By.caller())
	return err == nil, err
}

// Bounds of what a completion does for live.
const (
	liveTries = 3
	liveLater = time.Second
)

// completion makes the move of a job that is being completed.
type completion struct {
	tries int
	// left is the completed job where it was written without its move, for an error.
	left *ExportJob
}

// write writes the transaction that completes a job, with the job's move where one is
// due. Whatever is wrong with the move, the job is completed without it: after a
// conflict the transaction is made a few times more, since another job may have gone
// live meanwhile.
func (c *completion) write(ctx context.Context, s *Service, b *batch, j ExportJob) error {
	if j.GoLive == nil || c.left != nil {
		return s.write(ctx, b)
	}
	c.tries++
	with := batch{puts: slices.Clone(b.puts), deletes: slices.Clone(b.deletes), err: b.err}
	moves, err := s.moveByItself(ctx, &with, j)
	switch {
	case err == nil && !moves:
		return s.write(ctx, b)
	case err == nil:
		if err = s.write(ctx, &with); err == nil {
			return nil
		}
	}
	if isConflict(err) && c.tries < liveTries {
		return err
	}
	s.opt.Log.WarnContext(ctx, "an export is completed without going live", "job", j.ID, "error", err)
	c.left = &j
	return s.write(ctx, b)
}

// again notes that a step found its job completed: the run that completed it may have
// ended before it could make the move.
func (c *completion) again(j ExportJob) {
	if j.GoLive != nil {
		c.left = &j
	}
}

// later makes the move that a completion was written without, if it can be made now.
func (c *completion) later(ctx context.Context, s *Service) {
	if c.left == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, liveLater)
	defer cancel()
	err := s.transact(ctx, func() error {
		// Another run of the step may have begun the job instead of completing it.
		j, _, err := s.stepJob(ctx, c.left.ID)
		if err != nil || j.Status != ExportCompleted || !j.Bundle.sameAs(*c.left.Bundle) {
			return err
		}
		var b batch
		moves, err := s.moveByItself(ctx, &b, j)
		if err != nil || !moves {
			return err
		}
		return s.write(ctx, &b)
	})
	if err != nil {
		s.opt.Log.WarnContext(ctx, "a completed export did not go live", "job", c.left.ID, "error", err)
	}
}

// endLive adds to a transaction that a project ends: nothing is live any more, nothing
// becomes live later, and the archives may go. The history stays.
func (s *Service) endLive(ctx context.Context, b *batch, project string) error {
	l, revision, err := readOr[liveRecord](ctx, s, liveKey(project))
	if err != nil {
		return err
	}
	for _, p := range l.Pinned {
		if err := s.unpin(ctx, b, p.Archive, liveHolder(project, p.N)); err != nil {
			return err
		}
	}
	l.Pinned, l.EndedAt = nil, s.now()
	b.put(liveKey(project), revision, l)
	return nil
}

// live reads the live version of a caller's domain.
func (s *Service) live(ctx context.Context, c Caller, domain string) (Project, liveRecord, int64, error) {
	p, _, _, err := s.site(ctx, c, domain)
	if err != nil {
		return Project{}, liveRecord{}, 0, err
	}
	l, revision, err := readOr[liveRecord](ctx, s, liveKey(p.ID))
	if err == nil && !l.EndedAt.IsZero() {
		err = Errorf(CodeDomainNotFound, "domain not found")
	}
	return p, l, revision, err
}

func (s *Service) liveOf(p Project, l liveRecord) Live {
	return Live{Domain: p.Domain, Deploy: p.DeployMode(), Move: l.Move, Hold: l.Hold, URL: s.SiteURL(p)}
}

// Live returns what is live for a caller's domain. It returns CodeInvalid or
// CodeDomainNotFound.
func (s *Service) Live(ctx context.Context, c Caller, domain string) (Live, error) {
	p, l, _, err := s.live(ctx, c, domain)
	if err != nil {
		return Live{}, err
	}
	return s.liveOf(p, l), nil
}

// LiveCursorPattern is the form of the cursors of LiveHistory.
const LiveCursorPattern = `^[0-9]{10}$`

var liveCursorForm = lazy.Regexp(LiveCursorPattern)

// LiveHistory returns a page of the moves of a caller's domain, newest first, and the
// cursor of the next page, which is empty at the end. The cursor is empty for the
// first page; limit 0 is DefaultPage.
// It returns CodeInvalid or CodeDomainNotFound.
func (s *Service) LiveHistory(ctx context.Context, c Caller, domain, cursor string, limit int) ([]LiveMove, string, error) {
	limit, err := checkPage(limit)
	if err != nil {
		return nil, "", err
	}
	if cursor != "" && !liveCursorForm().MatchString(cursor) {
		return nil, "", FieldErrorf("cursor", "is not one that a history returned")
	}
	p, _, _, err := s.site(ctx, c, domain)
	if err != nil {
		return nil, "", err
	}
	q := store.Query{PK: projectKey(p.ID).PK, Prefix: prefixLiveMove, Limit: limit, Descending: true}
	if cursor != "" {
		q.Cursor = store.EncodeCursor(q, store.Record{Key: store.Key{PK: q.PK, SK: prefixLiveMove + cursor}})
	}
	moves, next, err := pageOf(ctx, s, q, limit, maxLooked, func(rows []store.Record) ([]*LiveMove, error) {
		moves := make([]*LiveMove, len(rows))
		for i, rec := range rows {
			if err := json.Unmarshal(rec.Value, &moves[i]); err != nil {
				return nil, err
			}
		}
		return moves, nil
	})
	return moves, strings.TrimPrefix(next, prefixLiveMove), err
}

// LiveAction changes the live version of a site.
type LiveAction string

// The actions.
const (
	ActPromote  LiveAction = "promote"
	ActRollback LiveAction = "rollback"
	ActHold     LiveAction = "hold"
	ActRelease  LiveAction = "release"
)

// LiveActions lists the actions.
func LiveActions() []LiveAction {
	return []LiveAction{ActPromote, ActRollback, ActHold, ActRelease}
}

// SetLive asks for a change of what is live for a domain.
type SetLive struct {
	Domain string
	Action LiveAction
	// Job is the completed job that ActPromote makes live.
	Job string
	// From is the job that the caller knows as the live one. ActRollback requires it: a roll
	// back that is asked for twice goes back once. ActPromote replaces any job without it.
	From string
	// To is the job that the caller of ActRollback expects to be live after it, as
	// RollbackTarget says. Empty: any.
	To string `json:",omitempty"`
	// IdempotencyKey makes a repeated call safe. Empty: none.
	IdempotencyKey string
}

func (in SetLive) check() error {
	if !slices.Contains(LiveActions(), in.Action) {
		return FieldErrorf("action", "must be promote, rollback, hold or release")
	}
	for _, f := range []struct {
		name, value string
		of, also    LiveAction // also does not require it
	}{{"jobId", in.Job, ActPromote, ""}, {"from", in.From, ActRollback, ActPromote}, {"to", in.To, "", ActRollback}} {
		switch {
		case f.of == in.Action && f.value == "":
			return FieldErrorf(f.name, "is required for %s", f.of)
		case f.of != in.Action && f.also != in.Action && f.value != "":
			return FieldErrorf(f.name, "is not for %s", in.Action)
		}
	}
	return nil
}

// SetLive promotes a job, rolls back to the version before, or holds or releases what
// is live for a caller's domain. A promote and a roll back hold too: no automatic move
// undoes them before a release. A roll back steps over versions that can't be live any
// more. Doing the same again is success, and changes nothing if
// nothing else has changed; with the same Idempotency-Key it changes nothing in any case,
// and returns what is live by then.
//
// It returns CodeRole, CodeScope, CodePlan, CodeInvalid, CodeDomainNotFound,
// CodeNotFound for an unknown job, CodeJobRunning, CodeJobFailed, CodeBundleGone,
// CodeNotLive if there is nothing to go back to that can be live, CodeLiveMoved if another job than
// From is live or another one than To would be, CodeKeyReused or CodeKeyRunning.
func (s *Service) SetLive(ctx context.Context, c Caller, in SetLive) (Live, error) {
	if err := c.mayDeploy(); err != nil {
		return Live{}, err
	}
	if err := in.check(); err != nil {
		return Live{}, err
	}
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (Live, string, error) {
		var p Project
		var l liveRecord
		err := s.transact(ctx, func() (err error) {
			var revision int64
			if p, l, revision, err = s.live(ctx, c, in.Domain); err != nil {
				return err
			}
			var b batch
			if l, err = s.setLive(ctx, &b, c, in, p, l, revision); err != nil || len(b.puts) == 0 {
				return err
			}
			sl.settle(&b, p.ID)
			return sl.settled(s.write(ctx, &b))
		})
		if err != nil {
			return Live{}, "", err
		}
		return s.liveOf(p, l), p.ID, nil
	}
	return once(ctx, s, c, "set-live", key, in, run, func(string) (Live, error) { return s.Live(ctx, c, in.Domain) })
}

// setLive adds to a transaction what SetLive asks for: nothing where it holds already.
func (s *Service) setLive(ctx context.Context, b *batch, c Caller, in SetLive, p Project, l liveRecord, revision int64) (liveRecord, error) {
	held := !l.Hold.At.IsZero()
	hold := func(set Hold, action string) (liveRecord, error) {
		l.Hold = set
		b.put(liveKey(p.ID), revision, l)
		s.audit(b, c, p.Organisation, "site."+action, p.Domain, changed("held", strconv.FormatBool(held), strconv.FormatBool(!set.At.IsZero()))...)
		return l, nil
	}
	switch in.Action {
	case ActHold:
		if held {
			return l, nil
		}
		return hold(Hold{s.now(), s.actor(c)}, "held")
	case ActRelease:
		if !held {
			return l, nil
		}
		return hold(Hold{}, "released")
	case ActPromote:
		switch {
		case l.Move.Job == in.Job && held:
			return l, nil
		case l.Move.Job == in.Job:
			return hold(Hold{s.now(), s.actor(c)}, "held")
		case in.From != "" && l.Move.Job != in.From:
			return l, Errorf(CodeLiveMoved, "from: is not live; %s is", l.Move.Job)
		}
		j, err := s.promotable(ctx, c, p, in.Job)
		if err != nil {
			return l, err
		}
		return s.move(ctx, b, l, revision, j, LivePromote, l.Move.N, nil, c)
	}
	switch m := l.Move; {
	case m.Job != in.From && m.Cause == LiveRollback && m.From == in.From:
		return l, nil // it was done
	case m.Job == "":
		return l, Errorf(CodeNotLive, "nothing is live for this domain yet")
	case m.Job != in.From:
		return l, Errorf(CodeLiveMoved, "from: is not live; %s is", m.Job)
	}
	return s.rollBack(ctx, b, c, in, p, l, revision)
}

// rollBack adds to a transaction that the version before the live one becomes live. A
// version that can't be live any more is stepped over.
func (s *Service) rollBack(ctx context.Context, b *batch, c Caller, in SetLive, p Project, l liveRecord, revision int64) (liveRecord, error) {
	moved := l
	err := s.stepBack(ctx, c, p, l, func(to LiveMove, j ExportJob, skipped []Skipped) (err error) {
		if moved, err = s.move(ctx, b, l, revision, j, LiveRollback, to.Back, skipped, c); err == nil && in.To != "" && in.To != j.ID {
			return &Error{code: CodeLiveMoved, message: "to: a roll back goes to " + j.ID, Field: "to"}
		}
		return err
	})
	if err != nil {
		return l, err
	}
	return moved, nil
}

// stepBack takes the latest version before the live one that take does not refuse with
// CodeBundleGone, and that can be live as far as its job says. Those before it are stepped
// over. It returns CodeNotLive if none is left.
func (s *Service) stepBack(ctx context.Context, c Caller, p Project, l liveRecord, take func(to LiveMove, j ExportJob, skipped []Skipped) error) error {
	var skipped []Skipped
	passed := map[string]bool{l.Move.Job: true} // it may have been live before what is stepped over, too
	for back, steps := l.Move.Back, 0; back != 0 && steps < maxSteps; steps++ {
		to, _, err := read[LiveMove](ctx, s, liveMoveKey(p.ID, back))
		if err != nil {
			return err
		}
		back = to.Back
		if passed[to.Job] {
			continue
		}
		passed[to.Job] = true
		j, err := s.promotable(ctx, c, p, to.Job)
		if err == nil {
			err = take(to, j, skipped)
		}
		switch CodeOf(err) {
		case CodeBundleGone:
			skipped = append(skipped, Skipped{to.Job, SkipGone})
		case CodeInvalid: // of a field that this request does not have
			skipped = append(skipped, Skipped{to.Job, SkipKind})
		default:
			return err
		}
	}
	if len(skipped) == 0 {
		return Errorf(CodeNotLive, "there is no version before the one that is live")
	}
	return Errorf(CodeNotLive, "no version before the one that is live can be live again: their bundles were removed, or made for another kind of deployment than the project has now; promote another job")
}

// RollbackTarget is the version that a roll back leads to.
type RollbackTarget struct {
	// Live is the state before the roll back.
	Live Live
	// Move made the version live the last time.
	Move LiveMove
	Job  ExportJob
	// Skipped are the versions that the roll back steps over, the latest first.
	Skipped []Skipped
}

// RollbackTarget returns the version that a roll back of a caller's domain would lead to
// now. It changes nothing.
// It returns CodeInvalid, CodeDomainNotFound, or CodeNotLive if there is none.
func (s *Service) RollbackTarget(ctx context.Context, c Caller, domain string) (RollbackTarget, error) {
	p, l, _, err := s.live(ctx, c, domain)
	if err != nil {
		return RollbackTarget{}, err
	}
	t := RollbackTarget{Live: s.liveOf(p, l)}
	err = s.stepBack(ctx, c, p, l, func(to LiveMove, j ExportJob, skipped []Skipped) error {
		a, _, err := readOr[archive](ctx, s, archiveKey(archiveOf(*j.Bundle)))
		if err == nil {
			err = a.there()
		}
		t.Move, t.Job, t.Skipped = to, j, skipped
		return err
	})
	if err != nil {
		return RollbackTarget{}, err
	}
	return t, nil
}

// promotable reads a job that a caller wants to be live for a project.
func (s *Service) promotable(ctx context.Context, c Caller, p Project, id string) (ExportJob, error) {
	j, err := s.callersJob(ctx, c, id)
	switch {
	case err != nil:
		return ExportJob{}, err
	case j.Project != p.ID:
		return ExportJob{}, notFound("export job")
	}
	return j, s.obstacle(ctx, p, j)
}

// obstacle returns CodeInvalid, CodeJobRunning, CodeJobFailed or CodeBundleGone for a
// job that can't be the live version of its project now.
func (s *Service) obstacle(ctx context.Context, p Project, j ExportJob) error {
	if err := j.liveFor(p); err != nil {
		return err
	}
	return s.bundleThere(ctx, j)
}

// Deployment is an export that may go live.
type Deployment struct {
	ExportJob
	// Obstacle is the reason why it can't be live now; nil if it can.
	Obstacle *Error
}

// Deployments returns a page of the exports of a caller's project that may go live,
// as ListExports does.
// It returns CodeInvalid.
func (s *Service) Deployments(ctx context.Context, c Caller, p Project, cursor string, limit int) ([]Deployment, string, error) {
	if p.Organisation != c.OrganisationID || c.outside(p.Domain) {
		return []Deployment{}, "", nil
	}
	jobs, next, err := s.listExports(ctx, c, p.ID, ExportList{Cursor: cursor, Limit: limit})
	if err != nil {
		return nil, "", err
	}
	all := make([]Deployment, len(jobs))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(statConcurrency)
	for i, j := range jobs {
		g.Go(func() (err error) {
			all[i], err = s.Deployment(gctx, p, j)
			return err
		})
	}
	return all, next, g.Wait()
}

// Deployment returns what is in the way of a job that the caller has read, and of its
// project. It returns the store's errors.
func (s *Service) Deployment(ctx context.Context, p Project, j ExportJob) (Deployment, error) {
	err := s.obstacle(ctx, p, j)
	own, ok := errors.AsType[*Error](err)
	if err != nil && !ok {
		return Deployment{}, err
	}
	return Deployment{j, own}, nil
}

// bundleThere returns CodeJobRunning, CodeJobFailed or CodeBundleGone for a job that
// has no whole bundle.
func (s *Service) bundleThere(ctx context.Context, j ExportJob) error {
	switch j.Status {
	case ExportCompleted:
	case ExportFailed:
		return Errorf(CodeJobFailed, "the export failed: there is no bundle")
	default:
		return Errorf(CodeJobRunning, "the export is %s: there is no bundle yet", j.Status).After(s.opt.PollAfter)
	}
	switch whole, err := j.Bundle.Whole(ctx, s.opt.Objects); {
	case errors.Is(err, store.ErrNotFound):
		return Errorf(CodeBundleGone, "the bundle was removed; start another export")
	case err != nil:
		return fmt.Errorf("look for bundle of %s: %w", j.ID, err)
	case !whole:
		return Errorf(CodeBundleGone, "the bundle is damaged: it does not have the size that was stored; start another export")
	}
	return nil
}
