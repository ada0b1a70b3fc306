package dashboard

import (
	"errors"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

type exportsView struct {
	Jobs     []admin.ExportJob
	Next     string
	Domain   string
	Statuses []choice
	Filtered bool
	Steps    []step
}

func exportsPage(q *request) error {
	in := admin.ExportList{Domain: q.value("domain"), Status: admin.ExportStatus(q.value("status")), Cursor: q.value("cursor"), Limit: pageLimit}
	v := exportsView{Domain: in.Domain, Filtered: in.Domain != "" || in.Status != ""}
	v.Statuses = []choice{{"", "All", in.Status == ""}}
	for _, s := range admin.ExportStatuses() {
		v.Statuses = append(v.Statuses, choice{string(s), string(s), s == in.Status})
	}
	show := func(code int, p *problem) error { return q.show(code, "exports", "Exports", v, p) }
	var err error
	if v.Jobs, v.Next, err = q.admin().ListExports(q.ctx(), q.caller, in); err != nil {
		return q.again(err, show)
	}
	if len(v.Jobs) == 0 && !v.Filtered && in.Cursor == "" { // people begin at this page
		projects, _, err := q.admin().OwnProjects(q.ctx(), q.caller, "", newOrganisation+1)
		if err != nil {
			return err
		}
		if v.Steps, err = q.stepsLeft(projects, nil); err != nil {
			return err
		}
	}
	return show(http.StatusOK, nil)
}

type newExportView struct {
	Once    string
	Domains []string
}

func (q *request) newExport(code int, p *problem) error {
	v := newExportView{Once: q.onceOf()}
	projects, _, err := q.admin().OwnProjects(q.ctx(), q.caller, "", pageLimit)
	if err != nil {
		return err
	}
	for _, p := range projects {
		v.Domains = append(v.Domains, p.Domain)
	}
	if p != nil {
		v.Once = once() // what was wrong is another request
	}
	return q.show(code, "newexport", "New export", v, p)
}

func newExportPage(q *request) error { return q.newExport(http.StatusOK, nil) }

func startExport(q *request) error {
	err := admin.RequirePlan(q.caller, admin.PlanEnterprise)
	var j admin.ExportJob
	if err == nil {
		in := admin.StartExport{
			Domain: q.value("domain"), Version: q.value("version"), Paths: lines(q.value("paths")), Groups: lines(q.value("groups")), IdempotencyKey: q.onceOf(),
		}
		in.GoLive = len(in.Paths)+len(in.Groups) == 0 && q.caller.May(admin.ActionDeploy) == nil
		j, err = q.admin().StartExport(q.ctx(), q.caller, in)
	}
	if admin.CodeOf(err) == admin.CodeDomainNotFound {
		err = admin.FieldErrorf("domain", "no project of this organisation has it")
	}
	if err != nil {
		return q.again(err, q.newExport)
	}
	return q.leave(q.path("exports", j.ID), "started")
}

type exportView struct {
	admin.ExportJob
	// CPU is how long the steps ran together.
	CPU time.Duration
	// Link is a link to the bundle that was just made; nil before it is asked for.
	Link *store.Link
	// Deployment has the live state of an export that may go live; nil for others, and
	// after the end of the project.
	Deployment *deploymentView
	Live       liveView
	// Visit reports whether the export has a host of its own.
	Visit   bool
	Changes *changesView
}

func (q *request) export(link *store.Link, code int, p *problem) error {
	j, err := q.admin().GetExport(q.ctx(), q.caller, q.r.PathValue("job"))
	if err != nil {
		return err
	}
	v := exportView{ExportJob: j, Link: link}
	if j.Status.Final() {
		times, err := q.admin().StepTimes(q.ctx(), j.ID)
		if err != nil {
			return err
		}
		for _, t := range times {
			v.CPU += t.Took()
		}
	}
	if err := q.addLive(&v); err != nil {
		return err
	}
	v.Changes = q.changes(j)
	return q.show(code, "export", "Export of "+j.Domain, v, p)
}

// addLive adds what can be done with an export as a version of its site.
func (q *request) addLive(v *exportView) error {
	p, err := q.as().Project(q.ctx(), v.Project)
	if admin.CodeOf(err) == admin.CodeNotFound || err == nil && !p.RevokedAt.IsZero() {
		return nil
	}
	if err == nil {
		v.Live, err = q.live(p)
	}
	if err != nil {
		return err
	}
	if v.GoLive == nil {
		if v.Visit = v.Live.visits(v.ExportJob); v.Visit && q.d.opt.Objects != nil {
			v.Visit, err = v.Bundle.Whole(q.ctx(), q.d.opt.Objects)
		}
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	d, err := q.admin().Deployment(q.ctx(), p, v.ExportJob)
	if err != nil {
		return err
	}
	row := v.Live.deployment(d)
	v.Deployment, v.Visit = &row, row.Visit
	return nil
}

func exportPage(q *request) error {
	if q.value("link") == "" {
		return q.export(nil, http.StatusOK, nil)
	}
	l, err := q.admin().BundleLink(q.ctx(), q.caller, q.r.PathValue("job"), "")
	if err != nil {
		return q.again(err, func(code int, p *problem) error { return q.export(nil, code, p) })
	}
	return q.export(&l.Link, http.StatusOK, nil)
}

func bundleLink(q *request) error {
	if _, err := q.admin().BundleLink(q.ctx(), q.caller, q.r.PathValue("job"), ""); err != nil {
		return q.again(err, func(code int, p *problem) error { return q.export(nil, code, p) })
	}
	// The page makes the link: it is signed anew each time, and nothing is kept.
	return q.leave(query(q.path("exports", q.r.PathValue("job")), "link", "1"), "")
}

func cancelExportPage(q *request) error {
	j, err := q.admin().GetExport(q.ctx(), q.caller, q.r.PathValue("job"))
	if err != nil {
		return err
	}
	return q.page("ask", "Cancel this export?", question{
		Text:   "The export of " + j.Domain + " ends as failed. Pages that were rendered count as used.",
		Action: q.path("exports", j.ID, "cancel"), Yes: "Cancel the export", No: q.path("exports", j.ID), Danger: true,
	})
}

func cancelExport(q *request) error {
	j, err := q.admin().CancelExport(q.ctx(), q.caller, q.r.PathValue("job"), "")
	if err != nil {
		return err
	}
	return q.leave(q.path("exports", j.ID), "cancelled")
}
