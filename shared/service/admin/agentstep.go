package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// AgentInput is what the steps of a round need to know.
type AgentInput struct {
	Job      AgentJob
	Project  Project
	Limits   AgentLimits
	Messages []AgentMessage
	// Spent is what the round used apart from its turns; see SpendAgent.
	Spent AgentUsage
	// Commit is what RecordAgentCommit recorded for the round, zero before that.
	Commit AgentCommit
}

// agentStep is agentChange for a step. It returns CodeJobNotActive unless the job is
// active and in the step's round.
func (s *Service) agentStep(ctx context.Context, ref AgentRef, fn func(*agentTx) error) (AgentJob, error) {
	j, err := s.agentChange(ctx, ref.Project, ref.Job, func(tx *agentTx) error {
		if err := tx.job.inRound(ref); err != nil {
			return err
		}
		return fn(tx)
	})
	return j, gone(err)
}

// gone replaces CodeNotFound by CodeJobNotActive.
func gone(err error) error {
	if CodeOf(err) == CodeNotFound {
		return Errorf(CodeJobNotActive, "there is no such agent job")
	}
	return err
}

// inRound returns CodeJobNotActive for a job that is final or in another round.
func (j AgentJob) inRound(ref AgentRef) error {
	switch {
	case j.Final():
		return Errorf(CodeJobNotActive, "the agent job is %s", j.Status)
	case j.Round != ref.Round:
		return Errorf(CodeJobNotActive, "the agent job is in round %d, not %d", j.Round, ref.Round)
	}
	return nil
}

// working returns CodeCancelled if the job was cancelled, and CodeSuperseded if the
// round is no longer in the phase of Work.
func (tx *agentTx) working() error {
	if !tx.job.CancelledAt.IsZero() {
		return Errorf(CodeCancelled, "the agent job was cancelled")
	}
	if tx.job.Phase != AgentWorking {
		return Errorf(CodeSuperseded, "the round is %s", tx.job.Phase)
	}
	return nil
}

// AgentRound reads what a round's steps need. It moves a queued round to the phase
// preparing. It returns CodeJobNotActive if the job is final or in another round.
func (s *Service) AgentRound(ctx context.Context, ref AgentRef) (AgentInput, error) {
	j, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		if tx.job.Phase != AgentQueued {
			return errNothing
		}
		tx.phase(AgentPreparing)
		return nil
	})
	if err != nil {
		return AgentInput{}, err
	}
	project, plan, err := s.agentProject(ctx, j)
	if err != nil {
		return AgentInput{}, err
	}
	messages, err := s.agentMessages(ctx, ref, 0)
	if err != nil {
		return AgentInput{}, err
	}
	var spent AgentUsage
	first := agentSpentKey(ref, 0)
	usages, err := all[AgentUsage](ctx, s, store.Query{PK: first.PK, Prefix: first.SK[:len(first.SK)-len("000000")]})
	if err != nil {
		return AgentInput{}, err
	}
	for _, u := range usages {
		spent = spent.Add(u)
	}
	commit, _, err := readOr[AgentCommit](ctx, s, agentCommitKey(ref))
	limits := plan.lowered(project.Agent)
	limits.Cost = min(limits.Cost, cmp.Or(j.Reserved, limits.Cost))
	return AgentInput{Job: j, Project: project, Limits: limits, Messages: messages, Spent: spent, Commit: commit}, err
}

// agentProject reads the project of a job, and what its organisation's plan allows.
func (s *Service) agentProject(ctx context.Context, j AgentJob) (Project, AgentPlan, error) {
	p, _, err := read[Project](ctx, s, projectKey(j.Project))
	if err != nil {
		return Project{}, AgentPlan{}, err
	}
	o, _, err := read[Organisation](ctx, s, organisationKey(j.Organisation))
	return p, agentPlanOrPro(o.Plan), err
}

// phase moves a round to a phase.
func (tx *agentTx) phase(p AgentPhase) {
	tx.job.Phase = p
	tx.event(AgentEvent{Kind: AgentEventPhase, Text: string(p)})
}

// AgentMessages returns the messages of a round's job after the number after, in
// order. It returns CodeJobNotActive if the job is final or in another round.
func (s *Service) AgentMessages(ctx context.Context, ref AgentRef, after int) ([]AgentMessage, error) {
	if _, err := s.agentAt(ctx, ref); err != nil {
		return nil, err
	}
	return s.agentMessages(ctx, ref, after)
}

func (s *Service) agentMessages(ctx context.Context, ref AgentRef, after int) ([]AgentMessage, error) {
	q := store.Query{PK: agentStreamKey(ref.Job).PK, Prefix: prefixMessage}
	if after > 0 {
		q.Cursor = store.EncodeCursor(q, store.Record{Key: agentMessageKey(ref.Job, after)})
	}
	return all[AgentMessage](ctx, s, q)
}

// agentAt reads a job that must be in a round.
func (s *Service) agentAt(ctx context.Context, ref AgentRef) (AgentJob, error) {
	j, _, err := find[AgentJob](ctx, s, "agent job", agentJobKey(ref.Project, ref.Job), ref.Project, ref.Job)
	if err != nil {
		return AgentJob{}, gone(err)
	}
	return j, j.inRound(ref)
}

// BeginAgentRound ends a round's preparation and records its base. If it is called
// again, it returns the base that was recorded first. Errors are CodeCancelled and
// CodeJobNotActive.
func (s *Service) BeginAgentRound(ctx context.Context, ref AgentRef, base AgentBase, events ...AgentEvent) (AgentBase, error) {
	j, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		switch {
		case tx.job.Phase == AgentWorking || tx.job.Phase == AgentPublishing:
			return errNothing
		case !tx.job.CancelledAt.IsZero():
			return tx.working()
		}
		tx.job.Base = base
		if tx.job.Ref == "" {
			tx.job.Ref = base.Ref
		}
		tx.event(events...)
		tx.phase(AgentWorking)
		return nil
	})
	return j.Base, err
}

// LeaseAgentWork leases a round to one start of Work, after which earlier starts can't
// write turns. It ends the round's wait for its model. It returns CodeCancelled, CodeSuperseded if the round has left Work, or
// CodeJobNotActive.
func (s *Service) LeaseAgentWork(ctx context.Context, ref AgentRef) (AgentLease, error) {
	lease := AgentLease{Ref: ref}
	_, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		if err := tx.working(); err != nil {
			return err
		}
		held, revision, err := readOr[agentLease](ctx, s, agentLeaseKey(ref))
		if err != nil {
			return err
		}
		held.Attempt++
		tx.job.RetryAt = time.Time{}
		tx.put(agentLeaseKey(ref), revision, held)
		lease.Attempt = held.Attempt
		return nil
	})
	return lease, err
}

// CheckAgentLease returns nil if a turn can be written with the lease; errors of a
// start that can't don't matter. It returns CodeSuperseded if a newer start holds the
// lease or the round has left Work, CodeCancelled, or CodeJobNotActive.
func (s *Service) CheckAgentLease(ctx context.Context, lease AgentLease) error {
	j, err := s.agentAt(ctx, lease.Ref)
	if err != nil {
		return err
	}
	held, _, err := readOr[agentLease](ctx, s, agentLeaseKey(lease.Ref))
	if err == nil && held.Attempt != lease.Attempt {
		return Errorf(CodeSuperseded, "another start of the step has the lease")
	}
	if err != nil {
		return err
	}
	return (&agentTx{job: j}).working()
}

// AgentTurns returns the turns of a round, in order. It returns
// CodeJobNotActive if the job is final or in another round.
func (s *Service) AgentTurns(ctx context.Context, ref AgentRef) ([]AgentTurn, error) {
	return s.EarlierAgentTurns(ctx, ref, ref.Round)
}

// EarlierAgentTurns is AgentTurns for a round of the same job that is over; ref is the
// current one.
func (s *Service) EarlierAgentTurns(ctx context.Context, ref AgentRef, round int) ([]AgentTurn, error) {
	if _, err := s.agentAt(ctx, ref); err != nil {
		return nil, err
	}
	first := agentTurnKey(AgentRef{ref.Project, ref.Job, round}, 0)
	return all[AgentTurn](ctx, s, store.Query{PK: first.PK, Prefix: first.SK[:len(first.SK)-len("000000")]})
}

// AgentEnds returns how the rounds before ref ended, in order. It returns
// CodeJobNotActive if the job is final or in another round.
func (s *Service) AgentEnds(ctx context.Context, ref AgentRef) ([]AgentEnd, error) {
	if _, err := s.agentAt(ctx, ref); err != nil {
		return nil, err
	}
	first := agentEndKey(ref)
	ends, err := all[AgentEnd](ctx, s, store.Query{PK: first.PK, Prefix: first.SK[:len(first.SK)-len("0000")]})
	for i := range ends {
		ends[i].Round = i + 1 // each round that is over has a record
	}
	return ends, err
}

// PutAgentTurn is the commit point of a turn: the turn, its events and the job's sums
// are written in one transaction if the lease is still valid. (A lease is written
// together with the job, so the job's revision covers both.) Repeating it with the
// same lease and turn is success.
// It returns CodeSuperseded if a newer start holds the lease, the turn exists already
// or the round has left Work, CodeCancelled if the job was cancelled, and
// CodeJobNotActive.
func (s *Service) PutAgentTurn(ctx context.Context, lease *AgentLease, turn AgentTurn, events ...AgentEvent) error {
	ref := lease.Ref
	superseded := Errorf(CodeSuperseded, "another start of the step has this turn")
	_, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		held, _, err := readOr[agentLease](ctx, s, agentLeaseKey(ref))
		if err != nil {
			return err
		}
		if held.Attempt != lease.Attempt {
			return superseded
		}
		old, there, err := readOr[AgentTurn](ctx, s, agentTurnKey(ref, turn.N))
		if err != nil {
			return err
		}
		if there > 0 {
			if old.Object != turn.Object {
				return superseded
			}
			return errNothing
		}
		if err := tx.working(); err != nil {
			return err
		}
		turn.At = tx.now
		tx.put(agentTurnKey(ref, turn.N), 0, turn)
		tx.spend(turn.Usage)
		tx.job.Turns++
		tx.job.Tries = 0
		for _, f := range turn.Fetches {
			f.Turn = turn.N
			tx.job.Fetches = append(tx.job.Fetches, f)
		}
		tx.job.Read, tx.job.Back = max(tx.job.Read, turn.Seen), false
		if turn.Model != "" {
			tx.job.Model = turn.Model
		}
		tx.event(events...)
		return nil
	})
	return err
}

// SpendAgent adds the usage of answers that became no turn to the job's usage and to
// AgentInput.Spent: they broke off, were refused, or came too late. A start of Work
// does that once, at its end; repeating it is success. The lease need not be valid any
// more. If the turn was written after all, nothing is added.
// It returns CodeJobNotActive.
func (s *Service) SpendAgent(ctx context.Context, lease AgentLease, turn AgentTurn) error {
	_, err := s.agentStep(ctx, lease.Ref, func(tx *agentTx) error {
		kept, there, err := readOr[AgentTurn](ctx, s, agentTurnKey(lease.Ref, turn.N))
		if err != nil || there > 0 && kept.Object == turn.Object {
			return cmp.Or(err, errNothing)
		}
		key := agentSpentKey(lease.Ref, lease.Attempt)
		if _, there, err = readOr[AgentUsage](ctx, s, key); err != nil || there > 0 {
			return cmp.Or(err, errNothing)
		}
		tx.put(key, 0, turn.Usage)
		tx.spend(turn.Usage)
		return nil
	})
	return err
}

// BeginAgentPublish ends a round's Work, after which the round can't be cancelled. If
// the job has more messages than the first seen ones, or was given back and had no turn
// since, it returns true instead and the round goes on working. Repeating it is success.
// It returns CodeCancelled, or CodeJobNotActive.
func (s *Service) BeginAgentPublish(ctx context.Context, ref AgentRef, seen int) (unread bool, err error) {
	_, err = s.agentStep(ctx, ref, func(tx *agentTx) error {
		unread = false
		if tx.job.Phase == AgentPublishing {
			return errNothing
		}
		if err := tx.working(); err != nil {
			return err
		}
		if unread = tx.job.Messages > seen || tx.job.Back; unread {
			return errNothing
		}
		tx.phase(AgentPublishing)
		return nil
	})
	return unread, err
}

// ReturnAgent gives a publishing round back to Work, on another base if that is not
// zero, and drops the commit that was recorded for it. It returns false, and changes
// nothing, if the round was given back for this reason as often as it may be. Repeating
// it for the same turn is success; if a late start of Publish has begun again since, it
// ends that.
// It returns CodeJobNotActive.
func (s *Service) ReturnAgent(ctx context.Context, ref AgentRef, r AgentReturn, base AgentBase) (returned bool, err error) {
	_, err = s.agentStep(ctx, ref, func(tx *agentTx) error {
		returned = true
		had := 0
		for _, old := range tx.job.Returns {
			if old.Turn == r.Turn && tx.job.Phase == AgentPublishing {
				tx.phase(AgentWorking)
				return nil
			}
			if old.Turn == r.Turn {
				return errNothing
			}
			if old.Reason == r.Reason {
				had++
			}
		}
		if tx.job.Phase != AgentPublishing {
			return errNothing
		}
		if returned = had < r.Reason.Most(); !returned {
			return errNothing
		}
		commit, there, err := readOr[AgentCommit](ctx, s, agentCommitKey(ref))
		if err != nil {
			return err
		}
		if commit != (AgentCommit{}) {
			tx.put(agentCommitKey(ref), there, AgentCommit{})
		}
		if base != (AgentBase{}) {
			tx.job.Base = base
		}
		r.Text, tx.job.Merge = cutText(r.Text, maxReturn), AgentMerge{N: tx.job.Merge.N}
		tx.job.Returns, tx.job.Back = append(tx.job.Returns, r), true
		tx.event(AgentEvent{Kind: AgentEventNote, Text: r.Text})
		tx.phase(AgentWorking)
		return nil
	})
	return returned, err
}

// MergeAgent has Review look at the changes of a publishing round once more, because
// Publish merged them with those of others. It sets N of the merge. It returns false, and
// the last merge, if the round was merged MaxAgentMerges times. Repeating it for the last
// merge is success.
// It returns CodeTemporary if another start of Publish has recorded its commit, and
// CodeJobNotActive, also for a round that works again.
func (s *Service) MergeAgent(ctx context.Context, ref AgentRef, m AgentMerge) (last AgentMerge, again bool, err error) {
	j, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		if tx.job.Phase != AgentPublishing {
			return Errorf(CodeJobNotActive, "the round is %s", tx.job.Phase)
		}
		was := tx.job.Merge
		if again = was.Digest == m.Digest || was.N < MaxAgentMerges; !again || was.Digest == m.Digest {
			return errNothing
		}
		commit, _, err := readOr[AgentCommit](ctx, s, agentCommitKey(ref))
		if err != nil {
			return err
		}
		if commit != (AgentCommit{}) {
			return Errorf(CodeTemporary, "the round is being published by another step")
		}
		tx.job.Merge = AgentMerge{Digest: m.Digest, Manifest: m.Manifest, N: was.N + 1}
		return nil
	})
	return j.Merge, again, err
}

// maxReturn is the longest text of a return, in bytes.
const maxReturn = 6000

// RecordAgentCommit records what determines a round's commit, unless that was done
// before, and returns what is recorded. Its error is CodeJobNotActive.
func (s *Service) RecordAgentCommit(ctx context.Context, ref AgentRef, commit AgentCommit) (AgentCommit, error) {
	kept := commit
	_, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		old, there, err := readOr[AgentCommit](ctx, s, agentCommitKey(ref))
		if err != nil {
			return err
		}
		if old != (AgentCommit{}) {
			kept = old
			return errNothing
		}
		kept = commit
		tx.put(agentCommitKey(ref), there, commit)
		return nil
	})
	return kept, err
}

// ForgetAgentCommit drops the commit of that id which RecordAgentCommit recorded: it was
// not pushed, and never can be. Another one is left as it is. Its error is
// CodeJobNotActive.
func (s *Service) ForgetAgentCommit(ctx context.Context, ref AgentRef, id string) error {
	_, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		commit, there, err := readOr[AgentCommit](ctx, s, agentCommitKey(ref))
		if err != nil {
			return err
		}
		if commit.ID != id || id == "" {
			return errNothing
		}
		tx.put(agentCommitKey(ref), there, AgentCommit{})
		return nil
	})
	return err
}

// AgentResult is the result of a round.
type AgentResult struct {
	// PRLink, PRNumber and Branch are empty if the round changed nothing; the job
	// keeps those of an earlier round.
	PRLink   string
	PRNumber int
	Branch   string
	// Fork is the commit at which a new Branch begins, else empty.
	Fork    string
	Seen    int // number of messages that the round has read
	Changes AgentChanges
	// Review and Pages replace those of the job where Branch is not empty.
	Review AgentReview
	Pages  []AgentPage
	// Title, Summary and Question replace those of the job, cut to the size limit of a
	// record. Unfinished is set if the round finished because its budget ended.
	Title, Summary, Question string
	Unfinished               bool
	// RoundTitle is the round's own title; empty if it is Title.
	RoundTitle string
	// Sources are those of the round's statements.
	Sources []AgentSource
	// Reviewed is the digest in the record of Review that the changes were published with.
	Reviewed string
	// Shown replaces that of the job where its title is not empty.
	Shown  AgentShown
	Events []AgentEvent
}

// goOn begins the next round of a job, for messages that the last one did not read. If the
// project's limit for the month has no room for it, it fails at once.
func (tx *agentTx) goOn() error {
	p, plan, err := tx.s.agentProject(tx.ctx, tx.job)
	if err != nil {
		return err
	}
	if err := tx.charge(); err != nil {
		return err
	}
	full := tx.reserve(p, plan)
	if full != nil && CodeOf(full) != CodeAgentCost {
		return full
	}
	tx.reopen()
	if refused, ok := errors.AsType[*Error](full); ok {
		return tx.fail(tx.job.Current(), AgentEnd{Code: refused.Code(), Message: refused.SafeMessage()})
	}
	return nil
}

// CompleteAgent ends a publishing round as completed. If there are messages that the
// round has not read, the job stays active: the next round begins in the same
// transaction, its workflow is started afterwards, and reopened is true.
// Repeating it is success with the same result. For a round that ended otherwise it
// returns CodeJobNotActive.
func (s *Service) CompleteAgent(ctx context.Context, ref AgentRef, result AgentResult) (next AgentRef, reopened bool, err error) {
	if result.PRLink != "" {
		if err := checkURL("prLink", result.PRLink, "https", "http"); err != nil {
			return AgentRef{}, false, err
		}
	}
	j, err := s.agentChange(ctx, ref.Project, ref.Job, func(tx *agentTx) error {
		reopened = false
		if ended, there, err := readOr[AgentEnd](ctx, s, agentEndKey(ref)); err != nil {
			return err
		} else if there > 0 && ended.Code == "" {
			reopened = ended.Reopened
			return errNothing
		}
		if err := tx.job.inRound(ref); err != nil {
			return err
		}
		if tx.job.Phase != AgentPublishing {
			return Errorf(CodeJobNotActive, "the round is %s", tx.job.Phase)
		}
		tx.event(result.Events...)
		if result.PRLink != "" {
			tx.job.PRLink, tx.job.PRNumber = result.PRLink, result.PRNumber
		}
		if result.Branch != "" {
			tx.job.Branch, tx.job.Changes, tx.job.Review = result.Branch, result.Changes, result.Review
			tx.job.Pages = result.Pages[:min(len(result.Pages), MaxAgentPages)]
		}
		if result.Fork != "" {
			tx.job.Fork = result.Fork
		}
		if result.Shown.Title != "" {
			tx.job.Shown = result.Shown
		}
		tx.job.Title, tx.job.Summary = cutText(result.Title, maxEventText), cutText(result.Summary, maxEventText)
		tx.job.Question, tx.job.Unfinished = cutText(result.Question, maxEventText), result.Unfinished
		tx.job.Seen = result.Seen
		reopened = tx.job.Messages > result.Seen
		tx.put(agentEndKey(ref), 0, AgentEnd{
			Round: ref.Round, Reopened: reopened, Base: tx.job.Base, Seen: result.Seen, Branch: tx.job.Branch, Title: cutText(cmp.Or(result.RoundTitle, result.Title), maxEventText), Summary: tx.job.Summary, Reviewed: result.Reviewed,
			Sources: result.Sources[:min(len(result.Sources), MaxAgentSources)],
		})
		if reopened {
			return tx.goOn()
		}
		return tx.end(AgentCompleted, string(AgentCompleted))
	})
	if err != nil {
		return AgentRef{}, false, gone(err)
	}
	if reopened {
		next = AgentRef{ref.Project, ref.Job, ref.Round + 1}
		if j.Round == next.Round && j.Phase == AgentQueued {
			s.startAgent(ctx, next)
		}
	}
	return next, reopened, nil
}

// FailAgent ends a round as failed, with CodeCancelled if the job was cancelled.
// Repeating it is success and changes nothing. For a round that ended otherwise it
// returns CodeJobNotActive. The job keeps the pull request of an earlier round.
//
// The messages that the round has read count as seen, and all of them if the job was
// cancelled: the next round does not begin with them again.
func (s *Service) FailAgent(ctx context.Context, ref AgentRef, code, message string) error {
	return s.FailAgentIn(ctx, ref, "", AgentEnd{Code: code, Message: message})
}

// FailAgentIn is FailAgent for the step of a phase, with the Code, Message, Seen and
// Refused of end. If the round has left the phase, another start of the step has
// succeeded: nothing is changed, and the error is CodeSuperseded.
func (s *Service) FailAgentIn(ctx context.Context, ref AgentRef, phase AgentPhase, end AgentEnd) error {
	_, err := s.agentChange(ctx, ref.Project, ref.Job, func(tx *agentTx) error {
		if tx.job.Round == ref.Round && tx.job.Final() && tx.job.Failure != nil {
			return errNothing
		}
		if err := tx.job.inRound(ref); err != nil {
			return err
		}
		if phase != "" && tx.job.Phase.after(phase) {
			return Errorf(CodeSuperseded, "the round is %s", tx.job.Phase)
		}
		return tx.fail(ref, end)
	})
	return gone(err)
}

// fail ends the job's round as failed, with the Code, Message, Seen and Refused of end.
func (tx *agentTx) fail(ref AgentRef, end AgentEnd) error {
	failure := safeFailure(end.Code, end.Message)
	seen := max(tx.job.Seen, tx.job.Read, end.Seen)
	if !tx.job.CancelledAt.IsZero() {
		failure = safeFailure(CodeCancelled, "the agent job was cancelled")
		seen = tx.job.Messages
	}
	tx.job.Failure, tx.job.Seen = &failure, seen
	tx.put(agentEndKey(ref), 0, AgentEnd{Round: ref.Round, Code: failure.Code, Message: failure.Message, Base: tx.job.Base, Seen: seen, Refused: end.Refused, Branch: tx.job.Branch})
	return tx.end(AgentFailed, failure.Message)
}

// AgentWait has the round of a lease ask its model again at a time, and tells callers
// why. asked is the number of the last message that the model was asked: if another one
// came since, the next round begins instead, and the error is CodeJobNotActive, or
// CodeAgentCost if the project's limit has no room for that round. It also returns
// CodeSuperseded if a newer start holds the lease or the round has left Work, and
// CodeCancelled.
func (s *Service) AgentWait(ctx context.Context, lease AgentLease, asked int, until time.Time, why string) error {
	var next AgentRef
	err := s.leased(ctx, lease, func(tx *agentTx) error {
		next = AgentRef{}
		tx.event(AgentEvent{Kind: AgentEventNote, Text: why})
		if tx.job.Messages > asked {
			p, plan, err := s.agentProject(ctx, tx.job)
			if err != nil {
				return err
			}
			if err := tx.interrupt(p, plan); err != nil {
				return err
			}
			next = tx.job.Current()
			return nil
		}
		tx.job.RetryAt = until
		tx.job.Tries++
		tx.job.Waits++
		return nil
	})
	if err == nil && next != (AgentRef{}) {
		s.startAgent(ctx, next)
		return Errorf(CodeJobNotActive, "the agent job is in round %d", next.Round)
	}
	return err
}

// AgentFallback has another model answer for the rest of a lease's round, and tells
// callers why. It returns the errors of AgentWait.
func (s *Service) AgentFallback(ctx context.Context, lease AgentLease, model, why string) error {
	return s.leased(ctx, lease, func(tx *agentTx) error {
		tx.job.Fallback, tx.job.Tries = model, 0
		tx.event(AgentEvent{Kind: AgentEventNote, Text: why})
		return nil
	})
}

// leased changes the job of a lease that is still valid.
func (s *Service) leased(ctx context.Context, lease AgentLease, fn func(*agentTx) error) error {
	_, err := s.agentStep(ctx, lease.Ref, func(tx *agentTx) error {
		held, _, err := readOr[agentLease](ctx, s, agentLeaseKey(lease.Ref))
		if err != nil {
			return err
		}
		if held.Attempt != lease.Attempt {
			return Errorf(CodeSuperseded, "another start of the step has the lease")
		}
		if err := tx.working(); err != nil {
			return err
		}
		return fn(tx)
	})
	return err
}

// AgentNote appends events to a round. It returns CodeJobNotActive if the job is final
// or in another round.
func (s *Service) AgentNote(ctx context.Context, ref AgentRef, events ...AgentEvent) error {
	_, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		if len(events) == 0 {
			return errNothing
		}
		tx.event(events...)
		return nil
	})
	return err
}

// ActiveAgents calls fn with every active agent job, oldest first. Its index may lag,
// so each job is read again, and skipped if it is final by then.
// It returns the first error of fn or of the store.
func (s *Service) ActiveAgents(ctx context.Context, fn func(AgentJob) error) error {
	return s.indexedAgents(ctx, activeAgents, func(j AgentJob) error {
		if j.Final() {
			return nil
		}
		return fn(j)
	})
}

// A PullLook asks a forge for the pull request of a job, and returns when it was
// merged or closed, zero while it is open. known is false if the forge did not answer:
// it is asked again a day later. An error ends ArchiveAgents.
type PullLook func(ctx context.Context, j AgentJob) (closed time.Time, known bool, err error)

// ErrEnough is the error of a PullLook that leaves the other jobs to the next call of
// ArchiveAgents, which returns no error for it.
var ErrEnough = errors.New("enough pull requests were looked at")

// ArchiveAgents archives jobs that have been final for 90 days, and those with a pull
// request that was merged or closed 30 days ago. look, if not nil, is called to find
// out; as an open pull request need not be looked at for 30 days, that is at most twice
// for a job if the forge answers. ArchiveAgents removes the files that are attached to
// messages of jobs that were archived before, also by callers. A job that can't be
// changed doesn't hold up the others: it returns the errors of all such jobs, and the
// first error of look or of reading the store, which ends it.
func (s *Service) ArchiveAgents(ctx context.Context, look PullLook) error {
	now := s.now()
	var failed []error
	next := func(j AgentJob, err error) error {
		if err != nil {
			failed = append(failed, fmt.Errorf("agent job %s: %w", j.ID, err))
		}
		return ctx.Err()
	}
	err := s.indexedAgents(ctx, finalAgents, func(j AgentJob) error {
		switch {
		case !j.Final():
			return nil // the index lags
		case j.Status == AgentArchived:
			return next(j, s.forgetAttachments(ctx, j))
		}
		if now.Before(j.due()) {
			return errNothing // all others are due later
		}
		pull := j.Pull
		if !j.over(now) {
			pull.NextAt = now.Add(pullKept)
			if look != nil {
				closed, known, err := look(ctx, j)
				if err != nil {
					return err
				}
				if pull.AskedAt, pull.ClosedAt = now, closed; !known {
					pull.NextAt = now.Add(pullAgain)
				}
			}
		}
		_, err := s.agentChange(ctx, j.Project, j.ID, func(tx *agentTx) error {
			if !tx.job.Final() || tx.job.Round != j.Round || tx.job.Status == AgentArchived {
				return errNothing
			}
			if tx.job.Pull = pull; tx.job.over(now) {
				return tx.archive()
			}
			tx.quiet = true
			return nil
		})
		return next(j, err)
	})
	if errors.Is(err, errNothing) || errors.Is(err, ErrEnough) {
		err = nil
	}
	return errors.Join(append(failed, err)...)
}

// indexedAgents calls fn with the jobs of the index of active records below a
// prefix, as they are now.
func (s *Service) indexedAgents(ctx context.Context, prefix string, fn func(AgentJob) error) error {
	q := store.Query{Index: store.ByActive, Prefix: prefix}
	return list(ctx, s, q, func(rec store.Record, _ json.RawMessage) error {
		j, _, err := read[AgentJob](ctx, s, rec.Key)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(j)
	})
}

// FindAgentJob reads a job of any organisation, for the reconciler, or returns
// CodeNotFound.
func (s *Service) FindAgentJob(ctx context.Context, project, id string) (AgentJob, error) {
	j, _, err := find[AgentJob](ctx, s, "agent job", agentJobKey(project, id), project, id)
	return j, err
}

// FindAgent is FindAgentJob for a job of any project. It does not find jobs that had
// their last event in a version that did not note the project.
func (s *Service) FindAgent(ctx context.Context, id string) (AgentJob, error) {
	stream, _, err := readOr[agentStream](ctx, s, agentStreamKey(id))
	if err != nil {
		return AgentJob{}, err
	}
	if stream.Project == "" {
		return AgentJob{}, notFound("agent job")
	}
	return s.FindAgentJob(ctx, stream.Project, id)
}

// FindAgentEvents returns all events of a job of any organisation, in order. It
// returns the store's errors.
func (s *Service) FindAgentEvents(ctx context.Context, id string) ([]AgentEvent, error) {
	return all[AgentEvent](ctx, s, store.Query{PK: agentStreamKey(id).PK, Prefix: prefixEvent})
}
