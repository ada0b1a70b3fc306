package dashboard

import (
	"net/http"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

type agentsView struct {
	Projects []choice
	Project  string
	Statuses []choice
	Jobs     []admin.AgentJob
	Next     string
}

// ownProjects lists projects to choose from, and returns the chosen one: the first
// where none is named.
func (q *request) ownProjects(chosen string) ([]choice, string, error) {
	projects, _, err := q.admin().OwnProjects(q.ctx(), q.caller, "", pageLimit)
	if err != nil {
		return nil, "", err
	}
	if chosen == "" && len(projects) > 0 {
		chosen = projects[0].ID
	}
	var all []choice
	for _, p := range projects {
		all = append(all, choice{p.ID, p.Domain, p.ID == chosen})
	}
	return all, chosen, nil
}

func agentsPage(q *request) error {
	var v agentsView
	var err error
	if v.Projects, v.Project, err = q.ownProjects(q.value("project")); err != nil {
		return err
	}
	status := admin.AgentStatus(q.value("status"))
	v.Statuses = []choice{{"", "All", status == ""}}
	for _, s := range admin.AgentStatuses() {
		v.Statuses = append(v.Statuses, choice{string(s), string(s), s == status})
	}
	if v.Project != "" {
		if v.Jobs, v.Next, err = q.admin().ListAgentJobs(q.ctx(), q.caller, admin.AgentList{Project: v.Project, Status: status, Cursor: q.value("cursor"), Limit: pageLimit}); err != nil {
			return err
		}
	}
	return q.page("agents", "Agent jobs", v)
}

type newAgentView struct {
	Once     string
	Upload   upload
	Projects []choice
	Models   []choice
}

func (q *request) newAgent(code int, p *problem) error {
	v := newAgentView{Once: once(), Upload: q.upload()}
	var err error
	var project string
	if v.Projects, project, err = q.ownProjects(q.value("project")); err != nil {
		return err
	}
	if project != "" {
		models, err := q.admin().AgentModels(q.ctx(), q.caller, project)
		if err != nil && admin.CodeOf(err) != admin.CodeNotFound { // the address may name any project
			return err
		}
		for _, m := range models {
			name := m.Name
			if m.Default {
				name = ""
			}
			v.Models = append(v.Models, choice{name, m.Name + ", " + m.Model, name == q.value("model")})
		}
	}
	return q.show(code, "newagent", "Ask an agent", v, p)
}

func newAgentPage(q *request) error { return q.newAgent(http.StatusOK, nil) }

func startAgent(q *request) error {
	j, err := q.admin().StartAgentJob(q.ctx(), q.caller, admin.StartAgentJob{
		Project: q.value("project"), Prompt: prompt(q), Ref: q.value("ref"), Model: q.value("model"), Draft: q.checked("draft"), Attachments: q.files, IdempotencyKey: q.onceOf(),
	})
	if err != nil {
		return q.again(err, q.newAgent)
	}
	return q.leave(q.path("agents", j.Project, j.ID), "asked")
}

// prompt is a text as browsers send it, with the line ends of the web.
func prompt(q *request) string { return lineEnds.Replace(q.value("prompt")) }

type agentView struct {
	admin.AgentJob
	Events []admin.AgentEvent
	Next   string // cursor of later events, if there may be any
	Once   string
	Upload upload
}

// diffLine is a line of a unified diff.
type diffLine struct{ Kind, Text string }

// diffLines are the lines of a diff without those that name its file.
func diffLines(diff string) []diffLine {
	var all []diffLine
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case all == nil && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")):
		case strings.HasPrefix(line, "@@"):
			all = append(all, diffLine{"hunk", line})
		case strings.HasPrefix(line, "+"):
			all = append(all, diffLine{"added", line})
		case strings.HasPrefix(line, "-"):
			all = append(all, diffLine{"removed", line})
		default:
			all = append(all, diffLine{"same", line})
		}
	}
	return all
}

// agentEvents is how many events a page shows.
const agentEvents = 200

func (q *request) agent(code int, p *problem) error {
	project, id := q.r.PathValue("project"), q.r.PathValue("job")
	j, err := q.admin().AgentJob(q.ctx(), q.caller, project, id)
	if err != nil {
		return err
	}
	v := agentView{AgentJob: j, Once: once(), Upload: q.upload()}
	cursor := q.r.URL.Query().Get("cursor")
	if v.Events, v.Next, err = q.admin().AgentEvents(q.ctx(), q.caller, project, id, cursor, agentEvents); err != nil {
		return err
	}
	if len(v.Events) < agentEvents {
		v.Next = ""
	}
	return q.show(code, "agent", "Agent job", v, p)
}

func agentPage(q *request) error { return q.agent(http.StatusOK, nil) }

func messageAgent(q *request) error {
	j, err := q.admin().MessageAgentJob(q.ctx(), q.caller, admin.MessageAgentJob{
		Project: q.r.PathValue("project"), Job: q.r.PathValue("job"), Prompt: prompt(q), Attachments: q.files, IdempotencyKey: q.onceOf(),
	})
	if err != nil {
		return q.again(err, q.agent)
	}
	return q.leave(q.path("agents", j.Project, j.ID), "sent")
}

func cancelAgentPage(q *request) error {
	j, err := q.admin().AgentJob(q.ctx(), q.caller, q.r.PathValue("project"), q.r.PathValue("job"))
	if err != nil {
		return err
	}
	return q.page("ask", "Cancel this agent job?", question{
		Text:   "Its round ends as failed, even in the middle of an answer. A message begins another one.",
		Action: q.path("agents", j.Project, j.ID, "cancel"), Yes: "Cancel the job", No: q.path("agents", j.Project, j.ID), Danger: true,
	})
}

func cancelAgent(q *request) error {
	j, err := q.admin().CancelAgentJob(q.ctx(), q.caller, q.r.PathValue("project"), q.r.PathValue("job"), "")
	if err != nil {
		return err
	}
	return q.leave(q.path("agents", j.Project, j.ID), "cancelled")
}

func archiveAgent(q *request) error {
	j, err := q.admin().ArchiveAgentJob(q.ctx(), q.caller, q.r.PathValue("project"), q.r.PathValue("job"), "")
	if err != nil {
		return err
	}
	return q.leave(q.path("agents", j.Project, j.ID), "archived")
}
