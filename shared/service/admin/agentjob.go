package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// StartAgentJob are the parameters of a new agent job.
type StartAgentJob struct {
	Project string
	Prompt  string
	// Ref is the branch or tag to start from; empty for the repository's own.
	Ref string `json:",omitempty"`
	// Model is a name such as "best"; empty for the default.
	Model string `json:",omitempty"`
	// Draft asks for a draft pull request.
	Draft bool `json:",omitempty"`
	// Attachments are files for the agent to read.
	Attachments    []Attachment `json:",omitempty"`
	IdempotencyKey string
}

// Patterns of what callers send about agent jobs; the API's document has them too. A
// prompt is not blank and has no control characters but tabs and line breaks.
const (
	PromptPattern      = `^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$`
	RefPattern         = `^[A-Za-z0-9_][A-Za-z0-9_+@=#-]*(\.[A-Za-z0-9_+@=#-]+)*(/[A-Za-z0-9_+@=#-]+(\.[A-Za-z0-9_+@=#-]+)*)*$`
	ModelPattern       = `^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`
	AgentCursorPattern = `^agj_[0-9a-z]{1,60}$`
	EventCursorPattern = `^(0|[1-9][0-9]{0,7})$`
	MaxRef             = 200 // characters
	MaxModel           = 200 // characters
)

var (
	promptForm, refForm, modelForm   = lazy.Regexp(PromptPattern), lazy.Regexp(RefPattern), lazy.Regexp(ModelPattern)
	agentCursorForm, eventCursorForm = lazy.Regexp(AgentCursorPattern), lazy.Regexp(EventCursorPattern)
)

func checkPrompt(prompt string, plan AgentPlan) error {
	const field = "prompt"
	switch {
	case !utf8.ValidString(prompt):
		return FieldErrorf(field, "is not valid UTF-8")
	case len(prompt) > plan.Prompt:
		return FieldErrorf(field, "must be at most %d bytes", plan.Prompt)
	case !promptForm().MatchString(prompt):
		return FieldErrorf(field, "must not be blank or contain control characters other than line breaks and tabs")
	}
	return nil
}

func (in StartAgentJob) check(plan AgentPlan) error {
	if err := checkPrompt(in.Prompt, plan); err != nil {
		return err
	}
	if err := checkAttachments(in.Attachments); err != nil {
		return err
	}
	if in.Ref != "" && (len(in.Ref) > MaxRef || !refForm().MatchString(in.Ref)) {
		return FieldErrorf("ref", "must be the name of a branch or tag, of at most %d characters", MaxRef)
	}
	if in.Model != "" && (len(in.Model) > MaxModel || !modelForm().MatchString(in.Model)) {
		return FieldErrorf("model", `must be a name such as "best", of at most %d letters, digits and . _ : / @ -`, MaxModel)
	}
	return nil
}

// agentPlan returns what a caller's plan allows, or CodePlan.
func agentPlan(c Caller) (AgentPlan, error) {
	plan, ok := AgentPlanOf(c.Plan)
	if !ok {
		return plan, RequirePlan(c, PlanPro)
	}
	return plan, nil
}

// StartAgentJob creates an agent job in a caller's project and starts its first
// round. Once its records are written, the job will run: if the workflow can't be
// started now, the reconciler starts it under the same name.
//
// It returns CodePlan, CodeInvalid, CodeNotFound, CodeForgeMissing,
// CodeModelMissing, CodeTooManyAgents, CodeAgentCost, CodeKeyReused or CodeKeyRunning.
func (s *Service) StartAgentJob(ctx context.Context, c Caller, in StartAgentJob) (AgentJob, error) {
	if err := c.person(ActionAgent); err != nil {
		return AgentJob{}, err
	}
	plan, err := agentPlan(c)
	if err != nil {
		return AgentJob{}, err
	}
	if err := in.check(plan); err != nil {
		return AgentJob{}, err
	}
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (AgentJob, string, error) {
		j, err := s.queueAgent(ctx, c, plan, in, sl)
		if err == nil && !j.Queued {
			s.startAgent(ctx, j.Current())
		}
		return j, j.ID, err
	}
	replay := func(id string) (AgentJob, error) {
		if _, err := s.callersProject(ctx, c, in.Project); err != nil {
			return AgentJob{}, err
		}
		j, _, err := find[AgentJob](ctx, s, "agent job", agentJobKey(in.Project, id), id)
		if err == nil && j.Round == 1 && j.Phase == AgentQueued && !j.Queued {
			s.startAgent(ctx, j.Current())
		}
		was := j.asStarted(in)
		if was.Queued = j.Queued; err == nil {
			err = s.placed(ctx, &was)
		}
		return was, err
	}
	return once(ctx, s, c, "start-agent-job", key, in, run, replay)
}

// asStarted returns the job as it was when it was created, which a repeated start
// returns.
func (j AgentJob) asStarted(in StartAgentJob) AgentJob {
	return AgentJob{
		ID: j.ID, Organisation: j.Organisation, Project: j.Project, Status: AgentActive, Repository: j.Repository,
		Ref: in.Ref, Model: j.Asked, Asked: j.Asked, Prompt: cutText(in.Prompt, maxEventText), Draft: j.Draft, Round: 1, Phase: AgentQueued, Messages: 1,
		CreatedAt: j.CreatedAt, UpdatedAt: j.CreatedAt, RoundAt: j.CreatedAt,
	}
}

// queueAgent writes a job in one transaction with its conditions.
func (s *Service) queueAgent(ctx context.Context, c Caller, plan AgentPlan, in StartAgentJob, sl *slot) (AgentJob, error) {
	p, model, err := s.readyProject(ctx, c, in.Project, in.Model)
	if err != nil {
		return AgentJob{}, err
	}
	by, err := s.coAuthor(ctx, c, p)
	if err != nil {
		return AgentJob{}, err
	}
	var job AgentJob
	random := s.opt.NewID(idAgentJob)[len(idAgentJob)+1:]
	err = s.transact(ctx, func() error {
		now := s.now()
		tx := &agentTx{s: s, ctx: ctx, now: now, job: AgentJob{
			ID: idAgentJob + "_" + timePart(now) + random, Organisation: p.Organisation, Project: p.ID, Status: AgentActive,
			Repository: p.Repository, Ref: in.Ref, Model: model, Asked: model, Prompt: cutText(in.Prompt, maxEventText), Draft: in.Draft,
			Round: 1, Phase: AgentQueued, CreatedAt: now, RoundAt: now,
		}}
		if err := tx.message(in.Prompt, by, in.Attachments); err != nil {
			return err
		}
		tx.event(AgentEvent{Kind: AgentEventPhase, Text: string(AgentQueued)})
		if err := tx.take(p, plan); err != nil {
			return err
		}
		s.audit(&tx.batch, c, p.Organisation, "agent.started", tx.job.ID, changed("project", "", p.ID)...)
		sl.settle(&tx.batch, tx.job.ID)
		err := sl.settled(tx.write())
		job = tx.job
		return err
	})
	return job, err
}

// readyProject returns a caller's project for which an agent can work, and the name of
// the model to use.
func (s *Service) readyProject(ctx context.Context, c Caller, project, model string) (Project, string, error) {
	p, err := s.callersProject(ctx, c, project)
	if err == nil && !p.RevokedAt.IsZero() {
		err = notFound("project")
	}
	if err != nil {
		return Project{}, "", err
	}
	if s.opt.AgentReady == nil {
		return Project{}, "", Errorf(CodeForgeMissing, "no forge is set up for agent jobs")
	}
	model, err = s.opt.AgentReady(ctx, p, model)
	return p, model, err
}

// coAuthor returns the caller as a co-author of commits, or "" if the project names none
// or the caller is a key.
func (s *Service) coAuthor(ctx context.Context, c Caller, p Project) (string, error) {
	if !p.Agent.CoAuthors || c.Person == "" {
		return "", nil
	}
	who, err := s.GetPerson(ctx, c.Person)
	if err != nil || who.Address == "" {
		return "", err
	}
	clean := func(text string) string {
		return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if r == '<' || r == '>' || unicode.IsControl(r) {
				return ' '
			}
			return r
		}, text)), " ")
	}
	address := clean(who.Address)
	name, _, _ := strings.Cut(address, "@")
	return cmp.Or(clean(who.Name), name) + " <" + address + ">", nil
}

func (s *Service) callersProject(ctx context.Context, c Caller, id string) (Project, error) {
	p, err := s.GetProject(ctx, id)
	if err == nil && (p.Organisation != c.OrganisationID || c.outside(p.Domain)) {
		return Project{}, notFound("project")
	}
	return p, err
}

// MessageAgentJob are the parameters of a caller's message to a job.
type MessageAgentJob struct {
	Project, Job, Prompt string
	// Attachments are files for the agent to read.
	Attachments    []Attachment `json:",omitempty"`
	IdempotencyKey string
}

// MessageAgentJob sends a message to a caller's job. An active job reads it between
// its turns; a completed or failed one becomes active again, in its next round. For one
// that waits for the model, the next round begins at once: it asks again, and goes on
// from the changes of this one.
//
// It returns CodePlan, CodeInvalid, CodeNotFound, CodeArchived, CodeBudget where
// the job has as many messages as the plan allows, CodeJobRunning while it is
// being cancelled, CodeForgeMissing, CodeModelMissing, CodeTooManyAgents, CodeAgentCost,
// CodeKeyReused or CodeKeyRunning.
func (s *Service) MessageAgentJob(ctx context.Context, c Caller, in MessageAgentJob) (AgentJob, error) {
	if err := c.person(ActionAgent); err != nil {
		return AgentJob{}, err
	}
	plan, err := agentPlan(c)
	if err != nil {
		return AgentJob{}, err
	}
	if err := checkPrompt(in.Prompt, plan); err != nil {
		return AgentJob{}, err
	}
	if err := checkAttachments(in.Attachments); err != nil {
		return AgentJob{}, err
	}
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (AgentJob, string, error) {
		j, err := s.addMessage(ctx, c, plan, in, sl)
		return j, in.Job, err
	}
	replay := func(string) (AgentJob, error) { return s.AgentJob(ctx, c, in.Project, in.Job) }
	return once(ctx, s, c, "message-agent-job", key, in, run, replay)
}

func (s *Service) addMessage(ctx context.Context, c Caller, plan AgentPlan, in MessageAgentJob, sl *slot) (AgentJob, error) {
	opened := false
	job, err := s.callersAgent(ctx, c, in.Project, in.Job, func(tx *agentTx, p Project) error {
		opened = false
		by, err := s.coAuthor(ctx, c, p)
		if err != nil {
			return err
		}
		switch {
		case tx.job.Status == AgentArchived:
			return Errorf(CodeArchived, "the agent job is archived; start another one")
		case tx.job.Messages >= plan.Messages:
			return Errorf(CodeBudget, "a job has at most %d messages; start another one", plan.Messages)
		case tx.job.Final():
			if _, _, err := s.readyProject(ctx, c, in.Project, tx.job.Asked); err != nil {
				return err
			}
			if err := tx.take(p, plan); err != nil {
				return err
			}
			opened = true
			tx.reopen()
			if err := tx.message(in.Prompt, by, in.Attachments); err != nil {
				return err
			}
		case !tx.job.CancelledAt.IsZero():
			return Errorf(CodeJobRunning, "the agent job is being cancelled; wait for its end").After(s.opt.PollAfter)
		case tx.job.Waiting(tx.now):
			if err := tx.interrupt(p, plan); err != nil {
				return err
			}
			opened = true
			if err := tx.message(in.Prompt, by, in.Attachments); err != nil {
				return err
			}
		default:
			if err := tx.message(in.Prompt, by, in.Attachments); err != nil {
				return err
			}
			if err := s.placed(ctx, &tx.job); err != nil {
				return err
			}
		}
		s.audit(&tx.batch, c, c.OrganisationID, "agent.messaged", in.Job)
		sl.settle(&tx.batch, tx.job.ID)
		tx.wrote = sl.settled
		return nil
	})
	if err != nil {
		return AgentJob{}, err
	}
	if opened && !job.Queued {
		s.startAgent(ctx, job.Current())
	}
	return job, nil
}

// CancelAgentJob cancels a caller's active job: its round soon fails with
// CodeCancelled, even in the middle of the model's answer, and one that waits for a
// place or for the model fails at once. Repeating it is success.
// It returns CodeNotFound, CodePublishing if it is too late, CodeArchived,
// CodeJobNotActive for a job that ended otherwise, CodeKeyReused or CodeKeyRunning.
func (s *Service) CancelAgentJob(ctx context.Context, c Caller, project, id, idempotencyKey string) (AgentJob, error) {
	return s.moveAgent(ctx, c, "cancel-agent-job", "agent.cancelled", project, id, idempotencyKey, func(tx *agentTx) error {
		j := &tx.job
		switch {
		case j.Status == AgentArchived:
			return Errorf(CodeArchived, "the agent job is archived")
		case j.Status == AgentFailed && j.Failure != nil && j.Failure.Code == CodeCancelled:
			return errNothing
		case j.Final():
			return Errorf(CodeJobNotActive, "the agent job is %s", j.Status)
		case j.Phase == AgentPublishing:
			return Errorf(CodePublishing, "the agent job is opening its pull request; it can't be cancelled any more")
		case !j.CancelledAt.IsZero():
			return errNothing
		}
		j.CancelledAt = tx.now
		if j.Queued || j.Waiting(tx.now) { // no step runs that could end it soon
			return tx.fail(j.Current(), AgentEnd{})
		}
		tx.event(AgentEvent{Kind: AgentEventNote, Text: "cancelling"})
		return nil
	})
}

// ArchiveAgentJob archives a caller's completed or failed job. For an active one it
// returns CodeJobRunning. Repeating it is success.
// It returns CodeNotFound for a job that is not the caller's, CodeKeyReused or
// CodeKeyRunning.
func (s *Service) ArchiveAgentJob(ctx context.Context, c Caller, project, id, idempotencyKey string) (AgentJob, error) {
	return s.moveAgent(ctx, c, "archive-agent-job", "agent.archived", project, id, idempotencyKey, (*agentTx).archive)
}

// moveAgent is callersAgent for calls that are made once for an Idempotency-Key. The
// action is for the audit log.
func (s *Service) moveAgent(ctx context.Context, c Caller, operation, action, project, id, key string, fn func(*agentTx) error) (AgentJob, error) {
	if err := c.person(ActionAgent); err != nil {
		return AgentJob{}, err
	}
	run := func(*slot) (AgentJob, string, error) {
		j, err := s.callersAgent(ctx, c, project, id, func(tx *agentTx, _ Project) error {
			err := fn(tx)
			if err == nil {
				s.audit(&tx.batch, c, c.OrganisationID, action, id)
			}
			return err
		})
		return j, id, err
	}
	replay := func(string) (AgentJob, error) { return s.AgentJob(ctx, c, project, id) }
	return once(ctx, s, c, operation, key, []string{project, id}, run, replay)
}

func (tx *agentTx) archive() error {
	switch {
	case tx.job.Status == AgentArchived:
		return errNothing
	case !tx.job.Final():
		return Errorf(CodeJobRunning, "the agent job is active; only a final one can be archived").After(tx.s.opt.PollAfter)
	}
	tx.job.Status, tx.job.ArchivedAt = AgentArchived, tx.now
	return nil
}

// callersAgent is agentChange for a job of a caller's project, as callers see it.
func (s *Service) callersAgent(ctx context.Context, c Caller, project, id string, fn func(*agentTx, Project) error) (AgentJob, error) {
	p, err := s.agentsProject(ctx, c, project)
	if err != nil {
		return AgentJob{}, err
	}
	j, err := s.agentChange(ctx, project, id, func(tx *agentTx) error { return fn(tx, p) })
	if err != nil {
		return AgentJob{}, err
	}
	return j.shown(), nil
}

// agentsProject is callersProject for calls that name a job: what is not found is the
// job.
func (s *Service) agentsProject(ctx context.Context, c Caller, project string) (Project, error) {
	p, err := s.callersProject(ctx, c, project)
	if CodeOf(err) == CodeNotFound {
		return Project{}, notFound("agent job")
	}
	return p, err
}

// AgentJob reads a job of one of the caller's projects, or returns
// CodeNotFound. The link to its pull request is empty while it is active.
func (s *Service) AgentJob(ctx context.Context, c Caller, project, id string) (AgentJob, error) {
	if _, err := s.agentsProject(ctx, c, project); err != nil {
		return AgentJob{}, err
	}
	j, _, err := find[AgentJob](ctx, s, "agent job", agentJobKey(project, id), id)
	if err == nil {
		err = s.placed(ctx, &j)
	}
	return j.shown(), err
}

// Limits of a page of a list.
const (
	DefaultPage = 50
	MaxPage     = 200
	// maxLooked is how many records are read for one page, so that with a filter a
	// page may be short.
	maxLooked = 1000
)

func checkPage(limit int) (int, error) {
	if limit == 0 {
		return DefaultPage, nil
	}
	if limit < 1 || limit > MaxPage {
		return 0, FieldErrorf("limit", "must be a whole number from 1 to %d", MaxPage)
	}
	return limit, nil
}

// AgentList are the parameters of a list of a project's agent jobs.
type AgentList struct {
	Project string
	// Status, if not empty, selects jobs with this status.
	Status AgentStatus
	// Cursor is the cursor that came with the previous page, empty for the first.
	Cursor string
	Limit  int // 0: DefaultPage
}

// ListAgentJobs returns the jobs of a caller's project, newest first, and the
// cursor of the next page, which is empty at the end. A page may have fewer jobs
// than its limit although more follow.
// It returns CodeInvalid or CodeNotFound.
func (s *Service) ListAgentJobs(ctx context.Context, c Caller, in AgentList) ([]AgentJob, string, error) {
	limit, err := checkPage(in.Limit)
	if err != nil {
		return nil, "", err
	}
	if in.Status != "" && !slices.Contains(AgentStatuses(), in.Status) {
		return nil, "", FieldErrorf("status", "must be active, completed, failed or archived")
	}
	q := store.Query{PK: projectKey(in.Project).PK, Prefix: prefixAgentJob, Limit: limit, Descending: true}
	if in.Cursor != "" {
		if !agentCursorForm().MatchString(in.Cursor) {
			return nil, "", FieldErrorf("cursor", "is not a cursor of a list of agent jobs")
		}
		q.Cursor = store.EncodeCursor(q, store.Record{Key: agentJobKey(in.Project, in.Cursor)})
	}
	if _, err := s.callersProject(ctx, c, in.Project); err != nil {
		return nil, "", err
	}
	jobs, next, err := pageOf(ctx, s, q, limit, maxLooked, func(rows []store.Record) ([]*AgentJob, error) {
		wanted := make([]*AgentJob, len(rows))
		for i, rec := range rows {
			var j AgentJob
			if err := json.Unmarshal(rec.Value, &j); err != nil {
				return nil, err
			}
			if in.Status == "" || j.Status == in.Status {
				j = j.shown()
				wanted[i] = &j
			}
		}
		return wanted, nil
	})
	if err == nil {
		all := make([]*AgentJob, len(jobs))
		for i := range jobs {
			all[i] = &jobs[i]
		}
		err = s.placed(ctx, all...)
	}
	return jobs, strings.TrimPrefix(next, prefixAgentJob), err
}

// AgentEvents returns the events of a caller's job after a cursor, oldest first,
// and the cursor after the last of them, which is the same if there are none. The
// empty cursor is the beginning. No event is ever skipped between two pages.
// It returns CodeInvalid or CodeNotFound.
func (s *Service) AgentEvents(ctx context.Context, c Caller, project, id, cursor string, limit int) ([]AgentEvent, string, error) {
	events, next, _, err := s.AgentNews(ctx, c, project, id, cursor, limit)
	return events, next, err
}

// AgentNews is AgentEvents for callers who follow a job. If final is true, the job was
// final before the events were read: there will be no more in this round.
func (s *Service) AgentNews(ctx context.Context, c Caller, project, id, cursor string, limit int) (events []AgentEvent, next string, final bool, err error) {
	if limit, err = checkPage(limit); err != nil {
		return nil, "", false, err
	}
	after := 0
	if cursor != "" {
		if !eventCursorForm().MatchString(cursor) {
			return nil, "", false, FieldErrorf("cursor", "is not a cursor of a list of events")
		}
		after, _ = strconv.Atoi(cursor) // the form is a number's
	}
	j, err := s.AgentJob(ctx, c, project, id)
	if err != nil {
		return nil, "", false, err
	}
	q := store.Query{PK: agentStreamKey(id).PK, Prefix: prefixEvent, Limit: limit}
	if after > 0 {
		q.Cursor = store.EncodeCursor(q, store.Record{Key: agentEventKey(id, after)})
	}
	page, err := s.opt.Store.Query(ctx, q)
	if err != nil {
		return nil, "", false, err
	}
	events = []AgentEvent{}
	for _, rec := range page.Records {
		var e AgentEvent
		if err := json.Unmarshal(rec.Value, &e); err != nil {
			return nil, "", false, err
		}
		events = append(events, e)
		after = e.N
	}
	return events, strconv.Itoa(after), j.Final(), nil
}

// AgentPace is how long callers who follow a job are asked to wait between reads.
func (s *Service) AgentPace() time.Duration { return s.opt.PollAfter }
