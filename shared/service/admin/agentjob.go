package admin

import (
	"context"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// AgentStatus is where an agent job stands.
type AgentStatus string

// The states of an agent job: active → completed | failed; a final one →
// archived.
const (
	AgentActive    AgentStatus = "active"
	AgentCompleted AgentStatus = "completed"
	AgentFailed    AgentStatus = "failed"
	AgentArchived  AgentStatus = "archived"
)

// AgentJob is an agent's work on a docs repository.
type AgentJob struct {
	ID      string      `json:"id"`
	Project string      `json:"project"`
	Status  AgentStatus `json:"status"`
	// Repository is the full address of the source repository, Ref the branch
	// that the agent works on, empty where there is none yet.
	Repository string `json:"repository"`
	Ref        string `json:"ref,omitempty"`
	Model      string `json:"model"`
	// PRLink is the pull request, empty while active and where nothing changed.
	PRLink     string    `json:"prLink,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	ArchivedAt time.Time `json:"archivedAt,omitzero"`
}

// AgentJobRequest asks for a new agent job.
type AgentJobRequest struct {
	Project string
	// Repository is the project's if empty.
	Repository string
	// Ref may be empty.
	Ref   string
	Model string
}

// CreateAgentJob creates a job that is active. It returns CodeInvalid, or
// CodeNotFound for an unknown project.
func (s *Service) CreateAgentJob(ctx context.Context, in AgentJobRequest) (AgentJob, error) {
	if err := checkName("model", in.Model); err != nil {
		return AgentJob{}, err
	}
	if in.Ref != "" {
		if err := checkName("ref", in.Ref); err != nil {
			return AgentJob{}, err
		}
	}
	p, err := s.GetProject(ctx, in.Project)
	if err != nil {
		return AgentJob{}, err
	}
	if !p.RevokedAt.IsZero() {
		return AgentJob{}, notFound("project")
	}
	if in.Repository == "" {
		in.Repository = p.Repository
	} else if err := checkURL("repository", in.Repository, "https", "http", "ssh"); err != nil {
		return AgentJob{}, err
	}
	j := AgentJob{
		ID: s.opt.NewID(idAgentJob), Project: p.ID, Status: AgentActive,
		Repository: in.Repository, Ref: in.Ref, Model: in.Model, CreatedAt: s.now(),
	}
	return j, s.put(ctx, agentJobKey(p.ID, j.ID), 0, j)
}

// FinishAgentJob completes an active job. prLink is the pull request that the
// agent opened, or empty where it changed nothing. Doing it again with the
// same link is success.
// It returns CodeNotFound, and CodeJobNotActive for a job that ended otherwise.
func (s *Service) FinishAgentJob(ctx context.Context, project, id, prLink string) (AgentJob, error) {
	if prLink != "" {
		if err := checkURL("prLink", prLink, "https", "http"); err != nil {
			return AgentJob{}, err
		}
	}
	return s.changeAgentJob(ctx, project, id, func(j *AgentJob, _ *batch) (bool, error) {
		switch {
		case j.Status == AgentActive:
			j.Status, j.PRLink, j.FinishedAt = AgentCompleted, prLink, s.now()
			return true, nil
		case j.Status == AgentCompleted && j.PRLink == prLink:
			return false, nil
		}
		return false, Errorf(CodeJobNotActive, "the agent job is %s", j.Status)
	})
}

// FailAgentJob fails an active job. Doing it again is success.
func (s *Service) FailAgentJob(ctx context.Context, project, id string) (AgentJob, error) {
	return s.changeAgentJob(ctx, project, id, func(j *AgentJob, _ *batch) (bool, error) {
		switch j.Status {
		case AgentActive:
			j.Status, j.FinishedAt = AgentFailed, s.now()
			return true, nil
		case AgentFailed:
			return false, nil
		}
		return false, Errorf(CodeJobNotActive, "the agent job is %s", j.Status)
	})
}

// ArchiveAgentJob archives a job that is completed or failed; one that is
// active can't be (CodeJobRunning). Doing it again is success.
func (s *Service) ArchiveAgentJob(ctx context.Context, project, id string) (AgentJob, error) {
	return s.changeAgentJob(ctx, project, id, func(j *AgentJob, _ *batch) (bool, error) {
		switch j.Status {
		case AgentArchived:
			return false, nil
		case AgentActive:
			return false, Errorf(CodeJobRunning, "the agent job is active; only a final one can be archived")
		}
		j.Status, j.ArchivedAt = AgentArchived, s.now()
		return true, nil
	})
}

func (s *Service) changeAgentJob(ctx context.Context, project, id string, fn func(*AgentJob, *batch) (bool, error)) (AgentJob, error) {
	return change(ctx, s, "agent job", agentJobKey(project, id), []string{project, id}, fn)
}

// ListAgentJobs returns the jobs of a project, or CodeNotFound for an unknown
// one.
func (s *Service) ListAgentJobs(ctx context.Context, project string) ([]AgentJob, error) {
	if _, err := s.GetProject(ctx, project); err != nil {
		return nil, err
	}
	return all[AgentJob](ctx, s, store.Query{PK: projectKey(project).PK, Prefix: prefixAgentJob})
}

// AgentJob reads a job of one of the caller's projects, or returns
// CodeNotFound.
func (s *Service) AgentJob(ctx context.Context, c Caller, project, id string) (AgentJob, error) {
	p, err := s.GetProject(ctx, project)
	if CodeOf(err) == CodeNotFound || err == nil && p.Organisation != c.OrganisationID {
		return AgentJob{}, notFound("agent job")
	}
	if err != nil {
		return AgentJob{}, err
	}
	j, _, err := find[AgentJob](ctx, s, "agent job", agentJobKey(project, id), id)
	return j, err
}
