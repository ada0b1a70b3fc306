package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (s *server) startAgentJob(ctx context.Context, c call) (answer, error) {
	req, err := decodeStartAgentJob(c.body)
	if err != nil {
		return answer{}, err
	}
	j, err := s.Admin.StartAgentJob(ctx, c.caller, admin.StartAgentJob{
		Project: c.params["projectId"], Prompt: req.Prompt, Ref: req.Ref, Model: req.Model, Draft: req.AsDraft, Attachments: attachments(req.Attachments), IdempotencyKey: c.key,
	})
	if err != nil {
		return answer{}, err
	}
	a := s.agentJob(j)
	a.status, a.job = http.StatusCreated, j.ID
	a.header.Set("Location", "/v2/agent/"+url.PathEscape(j.Project)+"/job/"+url.PathEscape(j.ID))
	return a, nil
}

func (s *server) messageAgentJob(ctx context.Context, c call) (answer, error) {
	req, err := decodeMessage(c.body)
	if err != nil {
		return answer{}, err
	}
	return s.agentAnswer(s.Admin.MessageAgentJob(ctx, c.caller, admin.MessageAgentJob{
		Project: c.params["projectId"], Job: c.params["id"], Prompt: req.Prompt, Attachments: attachments(req.Attachments), IdempotencyKey: c.key,
	}))
}

func attachments(all []Attachment) []admin.Attachment {
	return mapped(all, func(a Attachment) admin.Attachment { return admin.Attachment{Name: a.Name, Data: a.Data} })
}

func (s *server) getAgentJob(ctx context.Context, c call) (answer, error) {
	return s.agentAnswer(s.Admin.AgentJob(ctx, c.caller, c.params["projectId"], c.params["id"]))
}

func (s *server) cancelAgentJob(ctx context.Context, c call) (answer, error) {
	return s.agentAnswer(s.Admin.CancelAgentJob(ctx, c.caller, c.params["projectId"], c.params["id"], c.key))
}

func (s *server) archiveAgentJob(ctx context.Context, c call) (answer, error) {
	return s.agentAnswer(s.Admin.ArchiveAgentJob(ctx, c.caller, c.params["projectId"], c.params["id"], c.key))
}

func (s *server) listAgentJobs(ctx context.Context, c call) (answer, error) {
	q, err := c.asked("status", "cursor", "limit")
	if err != nil {
		return answer{}, err
	}
	limit, err := pageLimit(q)
	if err != nil {
		return answer{}, err
	}
	jobs, next, err := s.Admin.ListAgentJobs(ctx, c.caller, admin.AgentList{
		Project: c.params["projectId"], Status: admin.AgentStatus(q["status"]), Cursor: q["cursor"], Limit: limit,
	})
	return answer{status: http.StatusOK, body: AgentJobs{Jobs: mapped(jobs, agentJob), NextCursor: orNull(next)}}, err
}

func (s *server) getAgentModels(ctx context.Context, c call) (answer, error) {
	all, err := s.Admin.AgentModels(ctx, c.caller, c.params["projectId"])
	body := AgentModels{Models: mapped(all, agentModel)}
	for _, m := range all {
		if m.Default {
			body.Default = &m.Name
		}
	}
	return answer{status: http.StatusOK, body: body}, err
}

func agentModel(m admin.AgentModel) AgentModel {
	w := AgentModel{Name: m.Name, Model: m.Model, ContextTokens: m.Context, OutputTokens: m.Output}
	if m.Price != (admin.AgentPrice{}) {
		w.Price = &AgentPrice{m.Price.Input, m.Price.CacheWrite, m.Price.CacheRead, m.Price.Output}
	}
	return w
}

// asked returns the parameters of a request's query, each of which appears at
// most once. Others than those that are known are refused.
func (c call) asked(known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(c.query)
	if err != nil {
		return nil, admin.FieldErrorf("query", "can't be read")
	}
	q := make(map[string]string, len(values))
	for name, list := range values {
		switch {
		case !slices.Contains(known, name):
			return nil, admin.FieldErrorf(name, "is not known here")
		case len(list) > 1:
			return nil, admin.FieldErrorf(name, "must appear once")
		case list[0] == "":
			return nil, admin.FieldErrorf(name, "is empty")
		}
		q[name] = list[0]
	}
	return q, nil
}

// pageLimit reads the parameter limit, 0 where there is none.
func pageLimit(q map[string]string) (int, error) {
	text, ok := q["limit"]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > admin.MaxPage {
		return 0, admin.FieldErrorf("limit", "must be a whole number from 1 to %d", admin.MaxPage)
	}
	return n, nil
}

// agentAnswer answers with a job, or refuses.
func (s *server) agentAnswer(j admin.AgentJob, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return s.agentJob(j), nil
}

// agentJob answers with a job; while it is active, with the pace to ask again.
func (s *server) agentJob(j admin.AgentJob) answer {
	a := answer{status: http.StatusOK, body: agentJob(j), header: http.Header{}}
	if !j.Final() {
		a.header.Set("Retry-After", seconds(s.Admin.AgentPace()))
	}
	return a
}

func agentJob(j admin.AgentJob) AgentJob {
	a := AgentJob{
		ID: j.ID, Status: j.Status, Source: AgentSource{Repository: j.Repository, Ref: orNull(j.Ref)},
		Model: j.Model, AsDraft: j.Draft, Round: j.Round, Phase: orNull(string(j.Phase)), MessageCount: j.Messages, TurnCount: j.Turns,
		Usage: agentUsage(j.Usage), RoundCostMicros: j.RoundCost, Changes: AgentChanges{Files: j.Changes.Files, Added: j.Changes.Added, Removed: j.Changes.Removed},
		PRLink: orNull(j.PRLink), Branch: orNull(j.Branch), Prompt: orNull(j.Prompt), Title: orNull(j.Title), Summary: orNull(j.Summary), Question: orNull(j.Question),
		Unfinished: j.Unfinished, Findings: append([]string{}, j.Review.Findings...), Pages: mapped(j.Pages, agentPage), CreatedAt: j.CreatedAt.UTC(), UpdatedAt: j.UpdatedAt.UTC(),
		CancelledAt: timeOrNull(j.CancelledAt), FinishedAt: timeOrNull(j.FinishedAt), ArchivedAt: timeOrNull(j.ArchivedAt),
	}
	if !j.Final() {
		a.Queued, a.Waiting, a.RetryAt = j.Queued, !j.RetryAt.IsZero(), timeOrNull(j.RetryAt)
	}
	if j.Position > 0 {
		a.Position = &j.Position
	}
	if j.Failure != nil {
		a.Failure = &Failure{Code: j.Failure.Code, Message: j.Failure.Message}
	}
	return a
}

func agentPage(p admin.AgentPage) AgentPage {
	return AgentPage{Path: p.Path, Change: p.Change, From: orNull(p.From)}
}

func agentUsage(u admin.AgentUsage) AgentUsage {
	return AgentUsage{InputTokens: u.Input + u.CacheWrite, CachedTokens: u.CacheRead, OutputTokens: u.Output, CostMicros: u.Cost}
}

func agentEvent(e admin.AgentEvent) AgentEvent {
	w := AgentEvent{N: e.N, Round: e.Round, At: e.At.UTC(), Kind: e.Kind, Text: e.Text, Turn: e.Turn}
	for _, t := range e.Tools {
		w.Tools = append(w.Tools, AgentToolCall{Name: t.Name, File: t.File, Outcome: t.Outcome, Failed: t.Failed})
	}
	for _, p := range e.Plan {
		w.Plan = append(w.Plan, AgentPlanItem{Text: p.Text, State: p.State})
	}
	if e.Usage != nil {
		u := agentUsage(*e.Usage)
		w.Usage = &u
	}
	for _, a := range e.Attachments {
		w.Attachments = append(w.Attachments, AgentAttachment{Name: a.Name, SizeBytes: a.Size, Picture: a.Picture})
	}
	return w
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
