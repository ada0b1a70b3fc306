package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// AgentStatus is where an agent job stands.
type AgentStatus string

// The states of an agent job: active → completed | failed; a final one →
// archived. A message makes a completed or failed one active again, in its next
// round.
const (
	AgentActive    AgentStatus = "active"
	AgentCompleted AgentStatus = "completed"
	AgentFailed    AgentStatus = "failed"
	AgentArchived  AgentStatus = "archived"
)

// AgentStatuses lists the states of an agent job.
func AgentStatuses() []AgentStatus {
	return []AgentStatus{AgentActive, AgentCompleted, AgentFailed, AgentArchived}
}

// AgentPhase is how far an active job's round is.
type AgentPhase string

// The phases of a round, in their order. A final job is in none.
const (
	AgentQueued     AgentPhase = "queued"
	AgentPreparing  AgentPhase = "preparing"
	AgentWorking    AgentPhase = "working"
	AgentPublishing AgentPhase = "publishing"
)

// after reports whether a round comes to phase p after it was in q.
func (p AgentPhase) after(q AgentPhase) bool {
	order := []AgentPhase{AgentQueued, AgentPreparing, AgentWorking, AgentPublishing}
	return slices.Index(order, p) > slices.Index(order, q)
}

// AgentJob is an agent's work on a docs repository.
type AgentJob struct {
	ID           string      `json:"id"`
	Organisation string      `json:"organisation"`
	Project      string      `json:"project"`
	Status       AgentStatus `json:"status"`
	// Repository is the full address of the source repository. Ref is the branch
	// or tag that was asked for, or the one that the first round found.
	Repository string `json:"repository"`
	Ref        string `json:"ref,omitempty"`
	// Model is the name that was asked for, or the default's; after the first
	// answer the model that answered. Asked stays what the request said.
	Model string `json:"model"`
	Asked string `json:"asked,omitempty"`
	// Prompt is the beginning of the job's first message.
	Prompt string `json:"prompt,omitempty"`
	// Title is that of the pull request, else of the last round that was completed.
	// Summary and Question are the agent's texts at the end of that round. A message
	// answers the question and removes it.
	Title    string `json:"title,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Question string `json:"question,omitempty"`
	// Draft asks for a draft pull request.
	Draft bool       `json:"draft,omitempty"`
	Round int        `json:"round"` // from 1
	Phase AgentPhase `json:"phase,omitempty"`
	// Queued is set while the round is in the queue and has no execution. Position is
	// its place in the queue, from 1. It is not stored: reading a job computes it.
	Queued   bool `json:"queued,omitempty"`
	Position int  `json:"-"`
	// RoundAt is when the round got its place; zero in records of older versions.
	RoundAt time.Time `json:"roundAt,omitzero"`
	// RetryAt is when a round asks the model again that could not answer; zero if it
	// does not wait. Tries counts such waits since the last answer, Waits those of the
	// round.
	RetryAt time.Time `json:"retryAt,omitzero"`
	Tries   int       `json:"tries,omitempty"`
	Waits   int       `json:"waits,omitempty"`
	// Fallback is the name of the model that answers in place of Asked in this round.
	Fallback string `json:"fallback,omitempty"`
	// Messages is how many there are; the prompt is number 1.
	Messages int `json:"messages"`
	// Attached is the total size of the files of its messages in bytes. It is zero after
	// they are removed.
	Attached int `json:"attached,omitempty"`
	// Seen is the number of the last message that a round which is over has read,
	// however it ended: the next one begins after it.
	Seen int `json:"seen,omitempty"`
	// Read is the number of the last message that the model has read and answered.
	Read int `json:"read,omitempty"`
	// CancelledAt is when the end of this round was asked for.
	CancelledAt time.Time `json:"cancelledAt,omitzero"`
	Failure     *Failure  `json:"failure,omitempty"`
	// Unfinished is set if the last round finished because its budget ended. Its pull
	// request is a draft that lists the remaining work.
	Unfinished bool `json:"unfinished,omitempty"`
	// PRLink and PRNumber are the pull request that a round has opened, Branch
	// is what was pushed to. Callers see the link of a final job alone.
	PRLink   string `json:"prLink,omitempty"`
	PRNumber int    `json:"prNumber,omitempty"`
	Branch   string `json:"branch,omitempty"`
	// Fork is the commit of the target branch at which Branch began; empty if that was
	// an earlier version's.
	Fork string `json:"fork,omitempty"`
	// Shown has the title and draft state that were last written, zero before that.
	Shown AgentShown `json:"shown,omitzero"`
	// Pull is what is known of the pull request since the job is final.
	Pull AgentPull `json:"pull,omitzero"`
	// Base is what this round stands on, once it is prepared.
	Base AgentBase `json:"base,omitzero"`
	// Merge has the changes of this round as Publish last merged them with those of
	// others; zero if it did not.
	Merge AgentMerge `json:"merge,omitzero"`
	// Returns are those of this round, in order; Back is set from one until the next turn.
	Returns []AgentReturn `json:"returns,omitempty"`
	Back    bool          `json:"back,omitempty"`
	// Fetches are the commits that this round asked for, in order.
	Fetches []AgentFetch `json:"fetches,omitempty"`
	// Usage and Turns are those of all rounds. RoundCost is what the current or
	// last one cost, in millionths of a US dollar.
	Usage     AgentUsage `json:"usage"`
	RoundCost int64      `json:"roundCost,omitempty"`
	// Reserved is the most that the current round may cost of the project's limit for
	// the month; 0 for a project without one.
	Reserved int64 `json:"reserved,omitempty"`
	Turns    int   `json:"turns"`
	// Changes are those of the last round that had any, Review is what a reader of
	// the pull request must know of all its rounds.
	Changes AgentChanges `json:"changes"`
	Review  AgentReview  `json:"review,omitzero"`
	// Pages are the pages of Changes, at most MaxAgentPages.
	Pages      []AgentPage `json:"pages,omitempty"`
	CreatedAt  time.Time   `json:"createdAt"`
	UpdatedAt  time.Time   `json:"updatedAt"`
	FinishedAt time.Time   `json:"finishedAt,omitzero"`
	ArchivedAt time.Time   `json:"archivedAt,omitzero"`
}

// Waiting reports whether the job's round waits for the model at that time.
func (j AgentJob) Waiting(at time.Time) bool { return !j.Final() && at.Before(j.RetryAt) }

// Final reports whether a job is in no round.
func (j AgentJob) Final() bool { return j.Status != AgentActive }

// maxAgentName is the most characters of a job's name.
const maxAgentName = 80

// Name tells people one job from another: its title, else the first line of its
// prompt, cut to 80 characters; empty for a job of an earlier version without a title.
func (j AgentJob) Name() string {
	name, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(j.Title, j.Prompt)), "\n")
	if r := []rune(name); len(r) > maxAgentName {
		name = string(r[:maxAgentName]) + "…"
	}
	return name
}

// Current names the job's current round.
func (j AgentJob) Current() AgentRef { return AgentRef{j.Project, j.ID, j.Round} }

// shown is the job as its callers see it: no link while it is active.
func (j AgentJob) shown() AgentJob {
	if !j.Final() {
		j.PRLink = ""
	}
	return j
}

// AgentRef names a round of a job. It is the input of the agent's workflow.
type AgentRef struct {
	Project string `json:"projectId"`
	Job     string `json:"jobId"`
	Round   int    `json:"round"`
}

// Execution is the name of the round's execution.
func (r AgentRef) Execution() string { return fmt.Sprintf("%s-%d", r.Job, r.Round) }

// AgentBase is what a round stands on.
type AgentBase struct {
	Commit   string `json:"commit"`
	Ref      string `json:"ref"`
	Manifest string `json:"manifest"` // key of the object that Prepare wrote
	// Previous is the commit on the job's own branch that this round continues,
	// or empty.
	Previous string `json:"previous,omitempty"`
}

// AgentPull is what the forge said of the pull request of a final job.
type AgentPull struct {
	// AskedAt is when the forge was last asked for it, NextAt when it will be.
	AskedAt time.Time `json:"askedAt,omitzero"`
	NextAt  time.Time `json:"nextAt,omitzero"`
	// ClosedAt is when it was merged or closed, zero while it is open.
	ClosedAt time.Time `json:"closedAt,omitzero"`
}

// AgentUsage is what a model was asked and answered.
type AgentUsage struct {
	// Tokens: read anew, written to the cache, read from the cache, answered.
	Input      int64 `json:"input"`
	CacheWrite int64 `json:"cacheWrite"`
	CacheRead  int64 `json:"cacheRead"`
	Output     int64 `json:"output"`
	Cost       int64 `json:"cost"` // in millionths of a US dollar
}

// Add returns the sum of two usages.
func (u AgentUsage) Add(v AgentUsage) AgentUsage {
	return AgentUsage{u.Input + v.Input, u.CacheWrite + v.CacheWrite, u.CacheRead + v.CacheRead, u.Output + v.Output, u.Cost + v.Cost}
}

// AgentChanges is the size of a change, in files and lines.
type AgentChanges struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// AgentPage is a page that a job's pull request changes.
type AgentPage struct {
	Path string `json:"path"` // in the repository
	// Change is one of AgentPageChanges.
	Change string `json:"change"`
	// From is the earlier path of a moved page.
	From string `json:"from,omitempty"`
}

// MaxAgentPages is the most pages in the record of a job.
const MaxAgentPages = 50

// The changes of pages.
const (
	AgentPageAdded   = "added"
	AgentPageChanged = "changed"
	AgentPageMoved   = "moved"
	AgentPageDeleted = "deleted"
)

// AgentPageChanges lists the changes of pages.
func AgentPageChanges() []string {
	return []string{AgentPageAdded, AgentPageChanged, AgentPageMoved, AgentPageDeleted}
}

// AgentMessage is what a caller asked: the prompt is number 1. Round is the one
// in which the message came.
type AgentMessage struct {
	N      int       `json:"n"`
	Round  int       `json:"round"`
	Prompt string    `json:"prompt"`
	At     time.Time `json:"at"`
	// By is the person who sent it, as "Ada Lovelace <ada@example.com>", if the project
	// names co-authors.
	By string `json:"by,omitempty"`
	// Attachments are the files of the message; see AgentAttachments.
	Attachments []AgentAttachment `json:"attachments,omitempty"`
}

// AgentTurn is one answer of the model and what was done about it.
type AgentTurn struct {
	N      int    `json:"n"`      // in its round, from 1
	Object string `json:"object"` // key of the checkpoint, under its digest
	Seen   int    `json:"seen"`   // number of messages read so far
	// Model is the one that answered.
	Model string     `json:"model,omitempty"`
	Usage AgentUsage `json:"usage"` // of this turn
	// Next is "publish" where the turn asked to finish, else empty.
	Next string `json:"next,omitempty"`
	// Fetches are the commits that the turn asked for.
	Fetches []AgentFetch `json:"fetches,omitempty"`
	At      time.Time    `json:"at"`
}

// AgentEvent is something that callers can follow. Its number is its place in
// the one sequence of its job.
type AgentEvent struct {
	N     int       `json:"n"`
	Round int       `json:"round"`
	At    time.Time `json:"at"`
	// Kind is one of AgentEventKinds.
	Kind  string          `json:"kind"`
	Text  string          `json:"text,omitempty"`
	Turn  int             `json:"turn,omitempty"`
	Tools []AgentToolCall `json:"tools,omitempty"`
	Plan  []AgentPlanItem `json:"plan,omitempty"`
	Usage *AgentUsage     `json:"usage,omitempty"`
	// Files are what a round changed, with the event of its check.
	Files []AgentFile `json:"files,omitempty"`
	// Attachments are the files of a message.
	Attachments []AgentAttachment `json:"attachments,omitempty"`
}

// AgentFile is a file that a round changed.
type AgentFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Diff is unified; empty where a round changed more than an event keeps.
	Diff string `json:"diff,omitempty"`
}

// The kinds of events.
const (
	AgentEventMessage = "message" // a caller's message came
	AgentEventPhase   = "phase"   // Text is the phase that the round is in
	AgentEventPlan    = "plan"    // the plan, and the states of its items
	AgentEventTurn    = "turn"    // what a turn did
	AgentEventCheck   = "check"   // what a check found
	AgentEventNote    = "note"    // something for the reader
	AgentEventUsage   = "usage"   // what was used so far
	AgentEventEnd     = "end"     // the job is final; Text says how
)

// AgentEventKinds lists the kinds of events.
func AgentEventKinds() []string {
	return []string{AgentEventMessage, AgentEventPhase, AgentEventPlan, AgentEventTurn, AgentEventCheck, AgentEventNote, AgentEventUsage, AgentEventEnd}
}

// AgentToolCall is one call of a tool in a turn.
type AgentToolCall struct {
	Name    string `json:"name"`
	File    string `json:"file,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
}

// AgentPlanItem is one item of the agent's plan.
type AgentPlanItem struct {
	Text  string `json:"text"`
	State string `json:"state"`
}

// AgentLease is the right to write a round's turns. The newest is the only one
// that holds.
type AgentLease struct {
	Ref     AgentRef
	Attempt int // from 1
}

// AgentCommit is what makes the commit of a round the same however often it is
// made.
type AgentCommit struct {
	ID     string    `json:"id"`
	Parent string    `json:"parent"`
	Branch string    `json:"branch"`
	When   time.Time `json:"when"`
	// Message is the commit's; empty in records of an earlier version.
	Message string `json:"message,omitempty"`
}

// AgentMerge has the changes of a round, merged with those that others pushed while it
// worked. Review looks at them before Publish pushes them.
type AgentMerge struct {
	Digest   string `json:"digest"`   // that the record of their review has
	Manifest string `json:"manifest"` // key of the object with the branch and the changes
	N        int    `json:"n"`        // of the round's merges, from 1
}

// MaxAgentMerges is how often a round that was merged goes back to Review.
const MaxAgentMerges = 3

// AgentReturn is why Publish gave a round back to Work.
type AgentReturn struct {
	// Turn is the number of the round's last turn then.
	Turn   int               `json:"turn"`
	Reason AgentReturnReason `json:"reason"`
	// Text tells the model what to do about it.
	Text string `json:"text"`
}

// AgentReturnReason is a reason to give a round back to Work.
type AgentReturnReason string

// The reasons of returns.
const (
	AgentRefused    AgentReturnReason = "refused"  // the changes may not be published
	AgentConflicted AgentReturnReason = "conflict" // others changed the same lines
)

// Most returns how often a round is given back to Work for a reason.
func (r AgentReturnReason) Most() int {
	if r == AgentConflicted {
		return 2
	}
	return 1
}

// AgentReview is what the reader of a pull request must know: hosts that the site
// did not name before, code that it did not run, files that are no parts of the site,
// findings that are left, places that conflict with what others changed, and pages that
// nobody could look at as readers get them.
type AgentReview struct {
	NewHosts   []string `json:"newHosts,omitempty"`
	Executable []string `json:"executable,omitempty"`
	Others     []string `json:"others,omitempty"` // files that are no parts of the site, with the reasons
	Findings   []string `json:"findings,omitempty"`
	Conflicts  []string `json:"conflicts,omitempty"`
	Unseen     []string `json:"unseen,omitempty"`
}

// IsZero reports whether there is nothing to know.
func (r AgentReview) IsZero() bool {
	return len(r.NewHosts)+len(r.Executable)+len(r.Others)+len(r.Findings)+len(r.Conflicts)+len(r.Unseen) == 0
}

// AgentEnd is how a round ended. Those of earlier versions have Code and Reopened alone.
type AgentEnd struct {
	Round int `json:"round,omitempty"`
	// Code and Message are those of its failure, empty for one that was completed.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Reopened is set if the next round began in the same transaction.
	Reopened bool `json:"reopened,omitempty"`
	// Base is the commit that the round began from, zero if it was not prepared.
	Base AgentBase `json:"base,omitzero"`
	// Seen is the number of the last message that it has read. Refused is the number
	// of the first one that the model refused, with those up to Seen; 0 for none.
	Seen    int `json:"seen,omitempty"`
	Refused int `json:"refused,omitempty"`
	// Branch is the job's own one after the round, empty if there was none.
	Branch string `json:"branch,omitempty"`
	// Title and Summary are those of a completed round. Reviewed is the digest in the
	// record of Review that its changes were published with.
	Title    string `json:"title,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Reviewed string `json:"reviewed,omitempty"`
	// Sources are those of a completed round's statements, MaxAgentSources at most.
	Sources []AgentSource `json:"sources,omitempty"`
}

// MaxAgentSources is the most sources in the record of a round.
const MaxAgentSources = 50

// AgentSource names where a statement in the changes of a round comes from: a file of the
// repository (Line is one of its lines, or 0), a commit, or a message by its number.
type AgentSource struct {
	Statement string `json:"statement"`
	Path      string `json:"path,omitempty"`
	Line      int    `json:"line,omitempty"`
	Commit    string `json:"commit,omitempty"`
	Message   int    `json:"message,omitempty"`
	// URL is the address of a file of a fetched commit, empty for other files and where
	// the forge shows none.
	URL string `json:"url,omitempty"`
}

// AgentShown is the state of a pull request as the job last wrote it at the forge.
type AgentShown struct {
	Title string `json:"title"`
	Draft bool   `json:"draft,omitempty"`
	// Theirs is set if a person has changed the draft state since.
	Theirs bool `json:"theirs,omitempty"`
}

// Rows of the partition agent#<agj>.
type (
	// agentStream has the project, by which the job of an object is found. Jobs that
	// had their last event in an earlier version lack it.
	agentStream struct {
		Next    int    `json:"next"` // number of the next event
		Project string `json:"project,omitempty"`
	}
	agentLease struct {
		Attempt int `json:"attempt"`
	}
)

// Limits of what an event keeps, in bytes and in items.
const (
	maxEventText  = 4000
	maxEventItems = 40
	maxEventDiff  = 8 << 10  // of a file
	maxEventDiffs = 24 << 10 // of all files
	maxEvents     = 50       // of one transaction
)

// Prefixes of jobs in the index of active records: those that are active, and those that
// wait to be archived, by the time at which they are due. An archived job stays there until
// the files of its messages are removed.
const (
	activeAgents = "agent#"
	finalAgents  = "agentdone#"
)

// How long a final job stays before it is archived.
const (
	agentKept = 90 * 24 * time.Hour
	// pullKept is how long after its pull request was merged or closed. So a pull
	// request that is open needs no look for as long.
	pullKept = 30 * 24 * time.Hour
	// pullAgain is how long after a look that failed the next one is.
	pullAgain = 24 * time.Hour
)

// due is when something is to be done for a final job: it is archived then, or
// its pull request is looked at.
func (j AgentJob) due() time.Time {
	due, next := j.FinishedAt.Add(agentKept), j.Pull.NextAt
	if !j.Pull.ClosedAt.IsZero() {
		// A round that ended later is a reason to keep the job, too.
		next = later(j.Pull.ClosedAt, j.FinishedAt).Add(pullKept)
	} else if next.IsZero() {
		next = j.FinishedAt.Add(pullKept)
	}
	if j.PRNumber > 0 && next.Before(due) {
		return next
	}
	return due
}

// over reports whether a final job is to be archived: it is due, and not for a
// look at its pull request.
func (j AgentJob) over(now time.Time) bool {
	return !now.Before(j.due()) && (!j.Pull.ClosedAt.IsZero() || !now.Before(j.FinishedAt.Add(agentKept)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// agentTx is a transaction on one job: what was read, and what will be written.
// The job's record is always written, so whatever else is written holds for the
// job as it was read.
type agentTx struct {
	batch
	s    *Service
	ctx  context.Context
	job  AgentJob
	now  time.Time
	rev  int64 // of job's record
	news []AgentEvent
	// quiet leaves the time of the last change as it is: callers see none.
	quiet bool
	// freed is set if the job gave up its place, so that a queued job may begin.
	freed bool
	// use is the record of the job's project, nil until it is read. ended has the usage of
	// rounds that end in this transaction.
	use         *agentUse
	useRevision int64
	ended       ProjectUsage
	// wrote, if not nil, sees how the write ended and may change its error.
	wrote func(error) error
}

// errNothing ends a transaction that has nothing to write, as success.
var errNothing = errors.New("nothing to write")

// spend adds what an answer used.
func (tx *agentTx) spend(u AgentUsage) {
	tx.job.Usage = tx.job.Usage.Add(u)
	tx.job.RoundCost += u.Cost
}

// agentChange finds a job and writes what fn makes of it. fn may be called
// again after a conflict.
func (s *Service) agentChange(ctx context.Context, project, id string, fn func(*agentTx) error) (AgentJob, error) {
	var job AgentJob
	freed := false
	err := s.transact(ctx, func() error {
		freed = false
		j, revision, err := find[AgentJob](ctx, s, "agent job", agentJobKey(project, id), project, id)
		if err != nil {
			return err
		}
		tx := &agentTx{s: s, ctx: ctx, job: j, rev: revision, now: s.now()}
		if err := fn(tx); errors.Is(err, errNothing) {
			job = j
			return nil
		} else if err != nil {
			return err
		}
		job, freed = tx.job, tx.freed
		return tx.write()
	})
	if err == nil && freed {
		if err := s.AdmitAgents(ctx, job.Organisation); err != nil {
			s.opt.Log.ErrorContext(ctx, "the next agent job not started yet", "organisation", job.Organisation, "error", err)
		}
	}
	return job, err
}

// write writes the transaction.
func (tx *agentTx) write() error {
	if !tx.quiet {
		tx.job.UpdatedAt = tx.now
	}
	if tx.use != nil {
		tx.put(projectAgentsKey(tx.job.Project), tx.useRevision, tx.use)
	}
	if tx.ended.AgentRounds > 0 {
		p, _, err := read[Project](tx.ctx, tx.s, projectKey(tx.job.Project))
		if err == nil {
			err = tx.s.used(tx.ctx, &tx.batch, p, tx.now, tx.ended)
		}
		if err != nil {
			return err
		}
	}
	rec := tx.put(agentJobKey(tx.job.Project, tx.job.ID), tx.rev, tx.job)
	rec.Active = activeAgentValue(tx.job)
	if err := tx.number(); err != nil {
		return err
	}
	err := tx.s.write(tx.ctx, &tx.batch)
	if tx.wrote != nil {
		return tx.wrote(err)
	}
	return err
}

// activeAgentValue is a job's place in the index of active records.
func activeAgentValue(j AgentJob) string {
	switch j.Status {
	case AgentActive:
		return activeAgents + timePart(j.CreatedAt) + "#" + j.ID
	case AgentArchived:
		if j.Attached == 0 {
			return ""
		}
		return finalAgents + timePart(j.ArchivedAt) + "#" + j.ID
	}
	return finalAgents + timePart(j.due()) + "#" + j.ID
}

// event adds events to what the transaction appends.
func (tx *agentTx) event(events ...AgentEvent) {
	for _, e := range events {
		e.Round, e.At = tx.job.Round, tx.now
		tx.news = append(tx.news, e)
	}
}

// number numbers the events: the stream's record makes them one sequence without
// gaps, so a reader who has come to a number has missed none.
func (tx *agentTx) number() error {
	if len(tx.news) == 0 {
		return nil
	}
	if len(tx.news) > maxEvents {
		return Errorf(CodeInternal, "%d events at once, at most %d", len(tx.news), maxEvents)
	}
	stream, revision, err := readOr[agentStream](tx.ctx, tx.s, agentStreamKey(tx.job.ID))
	if err != nil {
		return err
	}
	for _, e := range tx.news {
		stream.Next++
		e.N = stream.Next
		tx.put(agentEventKey(tx.job.ID, e.N), 0, e.bounded())
	}
	stream.Project = tx.job.Project
	tx.put(agentStreamKey(tx.job.ID), revision, stream)
	return nil
}

// bounded is the event in a size that a record takes.
func (e AgentEvent) bounded() AgentEvent {
	e.Text = cutText(e.Text, maxEventText)
	e.Tools = append([]AgentToolCall(nil), e.Tools[:min(len(e.Tools), maxEventItems)]...)
	for i := range e.Tools {
		t := &e.Tools[i]
		t.Name, t.File, t.Outcome = cutText(t.Name, 100), cutText(t.File, 500), cutText(t.Outcome, 300)
	}
	e.Plan = append([]AgentPlanItem(nil), e.Plan[:min(len(e.Plan), maxEventItems)]...)
	for i := range e.Plan {
		e.Plan[i].Text, e.Plan[i].State = cutText(e.Plan[i].Text, 300), cutText(e.Plan[i].State, 100)
	}
	e.Files = slices.Clone(e.Files[:min(len(e.Files), maxEventItems)])
	left := maxEventDiffs
	for i := range e.Files {
		f := &e.Files[i]
		if f.Diff = cutText(f.Diff, maxEventDiff); len(f.Diff) > left {
			f.Diff = ""
		}
		f.Path, left = cutText(f.Path, 300), left-len(f.Diff)
	}
	return e
}

// end makes the job final, frees its place and tells webhooks of it.
func (tx *agentTx) end(status AgentStatus, text string) error {
	tx.job.Status, tx.job.Phase, tx.job.FinishedAt, tx.job.RetryAt = status, "", tx.now, time.Time{}
	tx.event(AgentEvent{Kind: AgentEventEnd, Text: text})
	if err := tx.leave(); err != nil {
		return err
	}
	event := EventAgentFailed
	if status == AgentCompleted {
		event = EventAgentCompleted
	}
	ended := tx.job
	// Of the review, callers see the findings alone, and no returns.
	ended.UpdatedAt, ended.Review, ended.Returns, ended.Merge = tx.now, AgentReview{Findings: ended.Review.Findings}, nil, AgentMerge{}
	return tx.s.notify(tx.ctx, &tx.batch, ended.Organisation, event, ended.ID, ended)
}

// message adds a caller's message.
func (tx *agentTx) message(prompt, by string, files []Attachment) error {
	attached, err := tx.attach(files)
	if err != nil {
		return err
	}
	tx.job.Messages++
	m := AgentMessage{N: tx.job.Messages, Round: tx.job.Round, Prompt: prompt, At: tx.now, By: by, Attachments: attached}
	tx.put(agentMessageKey(tx.job.ID, m.N), 0, m)
	tx.event(AgentEvent{Kind: AgentEventMessage, Text: prompt, Attachments: attached})
	return nil
}

// interrupt ends a round that waits for the model, and begins the next one of project p in
// its place. It returns CodeAgentCost if the month's limit has no room for it.
func (tx *agentTx) interrupt(p Project, plan AgentPlan) error {
	j := &tx.job
	if err := tx.charge(); err != nil {
		return err
	}
	if err := tx.reserve(p, plan); err != nil {
		return err
	}
	j.Seen = max(j.Seen, j.Read)
	tx.put(agentEndKey(j.Current()), 0, AgentEnd{
		Round: j.Round, Code: CodeModelDown, Message: "the model's server could not answer", Reopened: true, Base: j.Base, Seen: j.Seen, Branch: j.Branch,
	})
	tx.reopen()
	return nil
}

// reopen begins the job's next round.
func (tx *agentTx) reopen() {
	j := &tx.job
	j.Round++
	j.Status, j.Phase, j.Failure, j.Question, j.Unfinished = AgentActive, AgentQueued, nil, "", false
	j.Base, j.CancelledAt, j.FinishedAt, j.Pull, j.RoundCost, j.Returns, j.Back, j.Fetches = AgentBase{}, time.Time{}, time.Time{}, AgentPull{}, 0, nil, false, nil
	j.RoundAt, j.RetryAt, j.Tries, j.Waits, j.Fallback, j.Merge = tx.now, time.Time{}, 0, 0, "", AgentMerge{}
	tx.event(AgentEvent{Kind: AgentEventPhase, Text: string(AgentQueued)})
}

// AgentKeys returns patterns of the partitions that the steps of agents read and
// write, for rights to them alone. The end of a round is an event of webhooks.
func AgentKeys() []string {
	return []string{projectKey("*").PK, organisationKey("*").PK, agentStreamKey("*").PK, webhookKey("*", "").PK, dueKeys}
}

// startAgent starts the workflow of a job's round. A failure is only logged: the
// round stays queued, and the reconciler starts it.
func (s *Service) startAgent(ctx context.Context, ref AgentRef) {
	if s.opt.Runner == nil {
		return // the program can't, as the function of Publish on AWS
	}
	if err := s.RestartAgent(ctx, ref); err != nil {
		s.opt.Log.ErrorContext(ctx, "agent job not started yet", "job", ref.Job, "round", ref.Round, "error", err)
	}
}

// RestartAgent starts a round's workflow under the round's name. Starting it again
// is success.
// It returns the errors of Runner.Start.
func (s *Service) RestartAgent(ctx context.Context, ref AgentRef) error {
	if s.opt.Runner == nil {
		return errors.New("no workflow runner is configured")
	}
	input, err := json.Marshal(ref)
	if err != nil {
		return err
	}
	return s.opt.Runner.Start(ctx, store.WorkflowAgent, ref.Execution(), input)
}
