package api

import (
	"context"
	"net/http"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// page reads the query of a list: what it may be filtered by, cursor and limit.
func (c call) page(filters ...string) (q map[string]string, limit int, err error) {
	if q, err = c.asked(append(filters, "cursor", "limit")...); err == nil {
		limit, err = pageLimit(q)
	}
	return q, limit, err
}

func (s *server) listExports(ctx context.Context, c call) (answer, error) {
	q, limit, err := c.page("domain", "status")
	if err != nil {
		return answer{}, err
	}
	jobs, next, err := s.Admin.ListExports(ctx, c.caller, admin.ExportList{
		Domain: q["domain"], Status: admin.ExportStatus(q["status"]), Cursor: q["cursor"], Limit: limit,
	})
	return answer{status: http.StatusOK, body: ExportJobs{Jobs: mapped(jobs, exportJob), NextCursor: orNull(next)}}, err
}

func (s *server) cancelExport(ctx context.Context, c call) (answer, error) {
	j, err := s.Admin.CancelExport(ctx, c.caller, c.params["jobId"], c.key)
	return answer{status: http.StatusOK, body: exportJob(j)}, err
}

func (s *server) listFindings(ctx context.Context, c call) (answer, error) {
	q, limit, err := c.page("severity", "code", "file")
	if err != nil {
		return answer{}, err
	}
	found, next, err := s.Admin.Findings(ctx, c.caller, admin.FindingList{
		Job: c.params["jobId"], Severity: q["severity"], Code: q["code"], File: q["file"], Cursor: q["cursor"], Limit: limit,
	})
	return answer{status: http.StatusOK, body: Findings{Findings: mapped(found, finding), NextCursor: orNull(next)}}, err
}

func finding(f admin.Finding) Finding {
	w := Finding{Severity: f.Severity, Code: f.Code, File: f.File, Message: f.Message}
	if f.Line > 0 {
		w.Line = &f.Line
	}
	if f.Column > 0 {
		w.Column = &f.Column
	}
	return w
}

func (s *server) listSnapshots(ctx context.Context, c call) (answer, error) {
	q, limit, err := c.page()
	if err != nil {
		return answer{}, err
	}
	all, err := s.Admin.ListSnapshots(ctx, c.caller, c.params["domain"], q["cursor"], limit)
	summary := func(p admin.Snapshot) SnapshotSummary {
		return SnapshotSummary{
			SnapshotID: p.ID, Newest: p.ID == all.Newest, Base: orNull(p.Base), FileCount: p.Files, SizeBytes: p.Bytes,
			CreatedAt: p.CreatedAt.UTC(), PublishedAt: p.PublishedAt.UTC(), RestoredAt: timeOrNull(p.RestoredAt),
		}
	}
	return answer{status: http.StatusOK, body: Snapshots{Snapshots: mapped(all.Snapshots, summary), NextCursor: orNull(all.Next)}}, err
}

func (s *server) restoreSnapshot(ctx context.Context, c call) (answer, error) {
	base, err := decodeText(c.body, "base")
	if err != nil {
		return answer{}, err
	}
	p, err := s.Admin.RestoreSnapshot(ctx, c.caller, admin.RestoreSnapshot{
		Domain: c.params["domain"], SnapshotID: c.params["snapshotId"], Base: base, IdempotencyKey: c.key,
	})
	if err != nil {
		return answer{}, err
	}
	return s.snapshot(ctx, p)
}

func (s *server) getOrganisation(ctx context.Context, c call) (answer, error) {
	if _, err := c.asked(); err != nil {
		return answer{}, err
	}
	a, err := s.Admin.Account(ctx, c.caller)
	return answer{status: http.StatusOK, body: Organisation{
		OrganisationID: a.ID, Name: a.Name, Plan: a.Plan, CreatedAt: a.CreatedAt.UTC(),
		Limits: OrganisationLimits{
			RunningExports: a.RunningExports, MaxRunningExports: a.MaxRunningExports,
			ActiveAgentJobs: a.ActiveAgents, MaxActiveAgentJobs: a.MaxActiveAgents,
		},
	}}, err
}

func (s *server) listProjects(ctx context.Context, c call) (answer, error) {
	q, limit, err := c.page()
	if err != nil {
		return answer{}, err
	}
	projects, next, err := s.Admin.OwnProjects(ctx, c.caller, q["cursor"], limit)
	return answer{status: http.StatusOK, body: Projects{Projects: mapped(projects, project), NextCursor: orNull(next)}}, err
}

func project(p admin.Project) Project {
	return Project{
		ProjectID: p.ID, Domain: p.Domain, Repository: p.Repository, Kind: p.Kind,
		Features: Features(admin.Features(p.Kind, p.Settings)), CreatedAt: p.CreatedAt.UTC(),
	}
}

func (s *server) getUsage(ctx context.Context, c call) (answer, error) {
	q, err := c.asked("month")
	if err != nil {
		return answer{}, err
	}
	u, err := s.Admin.MonthUsage(ctx, c.caller, q["month"])
	if u.Calls.ByOperation == nil {
		u.Calls.ByOperation = map[string]int64{}
	}
	return answer{status: http.StatusOK, body: Usage{
		Month: u.Month, Exports: u.Exports, Reused: u.Reused, Pages: u.Pages, BundleBytes: u.BundleBytes,
		AgentRounds: u.AgentRounds, AgentCost: u.AgentCost, Calls: Calls(u.Calls),
	}}, err
}
