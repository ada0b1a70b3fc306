package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

func agentJobs(project string) string { return "/v2/agent/" + url.PathEscape(project) + "/job" }

func agentJob(project, id string) string { return agentJobs(project) + "/" + url.PathEscape(id) }

// AgentJob reads an agent job of a project. It returns an *Error with the code
// not_found if there is none.
func (c *Client) AgentJob(ctx context.Context, projectID, id string) (api.AgentJob, error) {
	job, _, err := c.agentPaced(ctx, projectID, id)
	return job, err
}

// agentPaced is AgentJob with when the service asks to be asked again, negative if
// it does not say.
func (c *Client) agentPaced(ctx context.Context, projectID, id string) (job api.AgentJob, pace time.Duration, err error) {
	header, err := c.call(ctx, http.MethodGet, agentJob(projectID, id), "", nil, &job)
	pace, said := retryAfter(header, c.clock.Now())
	if !said {
		pace = -1
	}
	return job, pace, err
}

// StartAgentJob starts an agent job of a project, once, however often the request
// has to be repeated. It returns an *Error if the API refuses it.
func (c *Client) StartAgentJob(ctx context.Context, projectID string, request api.StartAgentJobRequest) (api.AgentJob, error) {
	return call[api.AgentJob](ctx, c, http.MethodPost, agentJobs(projectID), "", request)
}

// MessageAgentJob sends a message to an agent job. It returns an *Error if the API
// refuses it, with the code job_archived for an archived job.
func (c *Client) MessageAgentJob(ctx context.Context, projectID, id string, request api.MessageRequest) (api.AgentJob, error) {
	return call[api.AgentJob](ctx, c, http.MethodPost, agentJob(projectID, id)+"/message", "", request)
}

// CancelAgentJob asks for the end of an active agent job. It returns an *Error with
// the code job_publishing where it is too late.
func (c *Client) CancelAgentJob(ctx context.Context, projectID, id string) (api.AgentJob, error) {
	return call[api.AgentJob](ctx, c, http.MethodPost, agentJob(projectID, id)+"/cancel", "", nil)
}

// ArchiveAgentJob archives a final agent job. It returns an *Error with the code
// job_running for an active one.
func (c *Client) ArchiveAgentJob(ctx context.Context, projectID, id string) (api.AgentJob, error) {
	return call[api.AgentJob](ctx, c, http.MethodPost, agentJob(projectID, id)+"/archive", "", nil)
}

// AgentJobs returns a page of a project's agent jobs, newest first. An empty status
// means all; the cursor is that of the page before, or empty; limit 0 leaves the
// size to the service.
func (c *Client) AgentJobs(ctx context.Context, projectID, status, cursor string, limit int) (api.AgentJobs, error) {
	return call[api.AgentJobs](ctx, c, http.MethodGet, agentJobs(projectID)+"s"+query("status", status, "cursor", cursor, "limit", number(limit)), "", nil)
}

// AgentModels returns the models that a project's agents can use. It returns an *Error
// with the code not_found if there is no such project.
func (c *Client) AgentModels(ctx context.Context, projectID string) (api.AgentModels, error) {
	return call[api.AgentModels](ctx, c, http.MethodGet, "/v2/agent/"+url.PathEscape(projectID)+"/models", "", nil)
}

// AgentEvents returns a page of an agent job's events after a cursor, oldest first.
func (c *Client) AgentEvents(ctx context.Context, projectID, id, cursor string, limit int) (api.AgentEvents, error) {
	return call[api.AgentEvents](ctx, c, http.MethodGet, agentJob(projectID, id)+"/events"+query("cursor", cursor, "limit", number(limit)), "", nil)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// query writes the parameters that have a value, in pairs of name and value.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// AgentFailedError reports that an agent job failed.
type AgentFailedError struct{ Job api.AgentJob }

func (e *AgentFailedError) Error() string {
	if e.Job.Failure == nil {
		return fmt.Sprintf("agent job %s failed", e.Job.ID)
	}
	return fmt.Sprintf("agent job %s failed: %s (%s)", e.Job.ID, e.Job.Failure.Message, e.Job.Failure.Code)
}

// FollowOptions say how an agent job is followed.
type FollowOptions struct {
	// Cursor is where to begin; empty for the job's first event.
	Cursor string
	// Limit is how long the job is followed; 0 for as long as it takes.
	Limit time.Duration
	// Event, if not nil, is called with each event, in order.
	Event func(api.AgentEvent)
}

// FollowAgent reads the events of an agent job until it is final. It returns an
// *AgentFailedError for one that failed and a *TimeoutError when the time is up.
// A service that does not answer for a while is asked again.
func (c *Client) FollowAgent(ctx context.Context, projectID, id string, o FollowOptions) (api.AgentJob, error) {
	deadline := c.clock.Now().Add(o.Limit)
	pause := firstPause
	for {
		// The job first: what it had appended by then is read after it.
		job, pace, err := c.agentPaced(ctx, projectID, id)
		for err == nil {
			var page api.AgentEvents
			if page, err = c.AgentEvents(ctx, projectID, id, o.Cursor, 0); err != nil || len(page.Events) == 0 {
				break
			}
			o.Cursor = page.NextCursor
			pause = firstPause
			for _, e := range page.Events {
				if o.Event != nil {
					o.Event(e)
				}
			}
		}
		switch {
		case err != nil:
			if _, again := temporary(err); !again || ctx.Err() != nil {
				return job, err
			}
			c.log.Warn("the agent job can't be read at the moment", "job", id, "error", err)
		case job.Status == "failed":
			return job, &AgentFailedError{job}
		case job.Status != "active":
			return job, nil
		}
		if pace <= 0 {
			pace = pause
			pause = min(2*pause, maxPause)
		}
		if o.Limit > 0 {
			left := deadline.Sub(c.clock.Now())
			if left <= 0 {
				return job, &TimeoutError{JobID: id, After: o.Limit, Last: err}
			}
			pace = min(pace, left)
		}
		if err := c.clock.Sleep(ctx, pace); err != nil {
			return job, err
		}
	}
}
