package dashboard

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// deploymentsShown is the number of deployments on a project's page. They have a page of
// their own, too.
const deploymentsShown = 10

// liveView has the live version of a project, and the rights of its reader.
type liveView struct {
	admin.Live
	// Site is the address of the live site; empty if it can't be visited.
	Site       string
	By, HeldBy string
	// Over are the versions that a roll back to this one stepped over.
	Over []overView
	// Served reports whether this installation serves sites.
	Served bool
	// Decides reports whether the reader may change what is live.
	Decides bool
	// Refused says why nobody of the organisation can change it; empty if somebody can.
	Refused string
}

// Is reports whether a job is live.
func (v liveView) Is(job string) bool { return job != "" && v.Move.Job == job }

// Held reports whether automatic moves are stopped.
func (v liveView) Held() bool { return !v.Hold.At.IsZero() }

// Auto reports whether the next completed export goes live by itself.
func (v liveView) Auto() bool { return v.Deploy == admin.DeployAuto && !v.Held() }

// live reads what is live for a project.
func (q *request) live(p admin.Project) (liveView, error) {
	l, err := q.admin().Live(q.ctx(), q.caller, p.Domain)
	if err != nil {
		return liveView{}, err
	}
	v := liveView{Live: l, Served: q.admin().SiteURL(p) != ""}
	if admin.RequirePlan(q.caller, admin.PlanEnterprise) != nil {
		v.Refused = "Changing what is live needs the " + string(admin.PlanEnterprise) + " plan."
	}
	v.Decides = v.Refused == "" && q.may(admin.ActionDeploy)
	return v, nil
}

// describe adds the person who made a version live, and its address.
func (q *request) describe(v *liveView, p admin.Project) (err error) {
	names := q.actors()
	if v.Held() {
		if v.HeldBy, err = names(v.Hold.By); err != nil {
			return err
		}
	}
	if v.Move.Job == "" {
		return nil
	}
	if v.By, err = names(v.Move.By); err != nil {
		return err
	}
	if v.Over, err = q.over(v.Move.Skipped); err != nil {
		return err
	}
	j, err := q.admin().GetExport(q.ctx(), q.caller, v.Move.Job)
	if err == nil && v.visits(j) {
		v.Site = q.admin().SiteURL(p)
	}
	return err
}

// How returns the way by which the version went live, with the person's name.
func (v liveView) How() string {
	switch {
	case v.By == "":
		return causes[v.Move.Cause]
	case v.Move.Cause == admin.LiveAutomatic:
		return "by itself, from an export that was started by " + v.By
	}
	return causes[v.Move.Cause] + " by " + v.By
}

// actors returns how those who changed something are shown.
func (q *request) actors() func(admin.Actor) (string, error) {
	names := q.publishers()
	return func(a admin.Actor) (string, error) {
		if a.Kind == admin.ActorOperator {
			return "an operator", nil
		}
		return names(a.ID)
	}
}

// deploymentView is a deployment as a row of a list.
type deploymentView struct {
	admin.Deployment
	By   string
	Live bool
	// Took is how long the export ran; zero until it has ended.
	Took time.Duration
	// Visit and Promote report what its reader can do with it, and Why is the reason
	// that nobody can make it live.
	Visit, Promote bool
	Why            string
}

// deployment makes a row of the list of deployments.
func (v liveView) deployment(d admin.Deployment) deploymentView {
	row := deploymentView{Deployment: d, Live: v.Is(d.ID), Visit: v.visits(d.ExportJob)}
	if d.Status.Final() {
		row.Took = d.UpdatedAt.Sub(d.CreatedAt)
	}
	if d.Obstacle != nil {
		row.Why = sentence(plain(d.Obstacle))
		row.Visit = row.Visit && admin.CodeOf(d.Obstacle) == admin.CodeInvalid // it has its archive
	}
	row.Promote = d.Obstacle == nil && !row.Live && v.Decides
	return row
}

// visits reports whether an export has a host of its own, unless its archive is gone.
func (v liveView) visits(j admin.ExportJob) bool {
	return v.Served && j.Status == admin.ExportCompleted && j.Bundle.Index != ""
}

// deployments reads a page of a project's deployments.
func (q *request) deployments(p admin.Project, l liveView, cursor string, limit int) ([]deploymentView, string, error) {
	list, next, err := q.admin().Deployments(q.ctx(), q.caller, p, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	names := q.actors()
	rows := make([]deploymentView, len(list))
	for i, d := range list {
		rows[i] = l.deployment(d)
		if rows[i].By, err = names(d.GoLive.By); err != nil {
			return nil, "", err
		}
	}
	return rows, next, nil
}

type deploymentsView struct {
	Project     admin.Project
	Live        liveView
	Deployments []deploymentView
	Next        string
}

func deploymentsPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	v := deploymentsView{Project: p}
	if v.Live, err = q.live(p); err == nil {
		v.Deployments, v.Next, err = q.deployments(p, v.Live, q.value("cursor"), pageLimit)
	}
	if err != nil {
		return err
	}
	return q.page("deployments", "Deployments of "+p.Domain, v)
}

// causes has the words for each cause of a move.
var causes = map[admin.LiveCause]string{
	admin.LiveAutomatic: "by itself", admin.LivePromote: "promoted", admin.LiveRollback: "rolled back",
}

type moveView struct {
	admin.LiveMove
	By, How string
	// Before is the version that was live before; empty for the first one.
	Before string
	// Over are the versions that a roll back stepped over.
	Over []overView
}

type historyView struct {
	Project admin.Project
	Live    admin.Live
	Moves   []moveView
	Next    string
}

func historyPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	v := historyView{Project: p}
	if v.Live, err = q.admin().Live(q.ctx(), q.caller, p.Domain); err != nil {
		return err
	}
	moves, next, err := q.admin().LiveHistory(q.ctx(), q.caller, p.Domain, q.value("cursor"), pageLimit)
	if err != nil {
		return err
	}
	v.Next = next
	names := q.actors()
	for i, m := range moves {
		row := moveView{LiveMove: m, How: causes[m.Cause]}
		if row.By, err = names(m.By); err != nil {
			return err
		}
		if row.Over, err = q.over(m.Skipped); err != nil {
			return err
		}
		switch {
		case m.From == "":
		case i+1 < len(moves):
			row.Before = moves[i+1].Version
		default:
			before, err := q.admin().GetExport(q.ctx(), q.caller, m.From)
			if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
				return err
			}
			row.Before = cmp.Or(before.Version, m.From)
		}
		v.Moves = append(v.Moves, row)
	}
	return q.page("history", "What was live for "+p.Domain, v)
}

// visit leads to an export on the host that it has for itself.
func visit(q *request) error {
	id := q.r.PathValue("job")
	link, err := q.admin().PreviewLink(q.ctx(), q.caller, id)
	if err == nil && link == "" {
		err = admin.Errorf(admin.CodeBundleGone, "nothing serves this export: either no sites are served here, or its bundle is of an older release; start another export")
	}
	if err != nil {
		return q.undone(err, func(code int, p *problem) error { return q.export(nil, code, p) })
	}
	return q.leave(link, "")
}

// undone shows a page with the reason that a button of it did nothing.
func (q *request) undone(err error, show func(int, *problem) error) error {
	if own, ok := errors.AsType[*admin.Error](err); ok && own.Code() == admin.CodeLiveMoved && own.Field == "to" {
		err = admin.Errorf(admin.CodeLiveMoved, "a roll back leads to another version than when you looked; look again")
	} else if admin.CodeOf(err) == admin.CodeLiveMoved {
		err = admin.Errorf(admin.CodeLiveMoved, "another version has gone live since you looked; look again")
	}
	return q.again(err, func(code int, p *problem) error {
		p.Field = "" // it is one of the API's
		return show(code, p)
	})
}

// instead returns a sentence about the version that is replaced.
func (v liveView) instead() string {
	if v.Move.Job == "" {
		return ""
	}
	return ", instead of " + v.Move.Version + " of " + v.Move.At.UTC().Format("2 Jan 2006")
}

// holds ends the question of a promote and of a roll back.
const holds = " The site is then held: no export goes live by itself until somebody releases it."

func promotePage(q *request) error {
	j, err := q.admin().GetExport(q.ctx(), q.caller, q.r.PathValue("job"))
	if err != nil {
		return err
	}
	l, err := q.admin().Live(q.ctx(), q.caller, j.Domain)
	if err != nil {
		return err
	}
	return q.page("ask", "Make this version live?", question{
		Text:   "Readers of " + j.Domain + " see " + j.Version + " of " + j.CreatedAt.UTC().Format("2 Jan 2006") + liveView{Live: l}.instead() + "." + holds,
		Action: q.path("exports", j.ID, "promote"), Yes: "Promote", No: q.path("projects", j.Project),
		Fields: map[string]string{"from": l.Move.Job},
	})
}

func promote(q *request) error {
	j, err := q.admin().GetExport(q.ctx(), q.caller, q.r.PathValue("job"))
	if err != nil {
		return err
	}
	if _, err := q.admin().SetLive(q.ctx(), q.caller, admin.SetLive{Domain: j.Domain, Action: admin.ActPromote, Job: j.ID, From: q.value("from")}); err != nil {
		return q.undone(err, func(code int, p *problem) error { return q.export(nil, code, p) })
	}
	return q.leave(q.path("projects", j.Project), "promoted")
}

func rollbackPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	to, err := q.admin().RollbackTarget(q.ctx(), q.caller, p.Domain)
	if admin.CodeOf(err) == admin.CodeNotLive {
		return q.undone(err, q.showProject(p))
	}
	if err != nil {
		return err
	}
	text := "Readers of " + p.Domain + " see " + to.Job.Version + " again, which went live on " + to.Move.At.UTC().Format("2 Jan 2006") + liveView{Live: to.Live}.instead() + "."
	over, err := q.over(to.Skipped)
	if err != nil {
		return err
	}
	for _, o := range over {
		text += " Stepped over: " + o.Version + ", since " + o.Why + "."
	}
	return q.page("ask", "Roll back?", question{
		Text:   text + holds,
		Action: q.path("projects", p.ID, "live"), Yes: "Roll back", No: q.path("projects", p.ID), Danger: true,
		Fields: map[string]string{"action": string(admin.ActRollback), "from": to.Live.Move.Job, "to": to.Job.ID},
	})
}

// overView is a version that a roll back stepped over.
type overView struct{ Job, Version, Why string }

// skips say why a version can't be live any more.
var skips = map[admin.SkipReason]string{
	admin.SkipGone: "its bundle was removed or is damaged", admin.SkipKind: "it was made for another kind of deployment than the project had",
}

// over reads the versions that a roll back stepped over.
func (q *request) over(skipped []admin.Skipped) ([]overView, error) {
	var all []overView
	for _, o := range skipped {
		j, err := q.admin().GetExport(q.ctx(), q.caller, o.Job)
		if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
			return nil, err
		}
		all = append(all, overView{o.Job, cmp.Or(j.Version, o.Job), skips[o.Reason]})
	}
	return all, nil
}

// setLive rolls back, holds or releases.
func setLive(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	in := admin.SetLive{Domain: p.Domain, Action: admin.LiveAction(q.value("action")), From: q.value("from"), To: q.value("to")}
	if _, err := q.admin().SetLive(q.ctx(), q.caller, in); err != nil {
		return q.undone(err, q.showProject(p))
	}
	return q.leave(q.path("projects", p.ID), string(in.Action))
}

// step is one of the steps to a live site.
type step struct {
	Name, Text string
	// To is the address of the step's page, or of its result; empty if the reader's role
	// does not allow it. Link is the text of the link.
	To, Link string
	Done     bool
}

// newOrganisation is the most projects that an organisation has which is shown the steps
// that are left.
const newOrganisation = 5

// stepsLeft are the steps of an organisation to its first live site, of its projects and
// their newest exports; none once it has one, or if the reader can't do them.
func (q *request) stepsLeft(projects []admin.Project, newest map[string]*admin.ExportJob) ([]step, error) {
	if len(projects) > newOrganisation || !q.may(admin.ActionExport) {
		return nil, nil
	}
	var first admin.Project // that the next step is about
	if len(projects) > 0 {
		first = projects[0]
	}
	published, completed := len(newest) > 0, false
	for _, p := range projects {
		j := newest[p.Domain]
		switch {
		case j != nil:
			l, err := q.admin().Live(q.ctx(), q.caller, p.Domain)
			if err != nil {
				return nil, err
			}
			if l.Move.Job != "" {
				return nil, nil
			}
			if first = p; j.Status == admin.ExportCompleted {
				completed = true
			}
		case !published:
			_, err := q.admin().LatestSnapshot(q.ctx(), q.caller, p.Domain)
			if code := admin.CodeOf(err); err != nil && code != admin.CodeNotFound && code != admin.CodeNoSnapshot {
				return nil, err
			}
			if published = err == nil; published {
				first = p
			}
		}
	}
	served := first.ID != "" && q.admin().SiteURL(first) != ""
	if len(newest) > 0 && !served {
		return nil, nil // it uses the bundles, and nothing is live here
	}
	project := step{Name: "Create a project", Text: "A domain, and the repository that its site is written in.", Done: first.ID != ""}
	publish := step{Name: "Publish its site", Text: "Drop its folder on a page, or publish it from CI with a key.", Done: published}
	export := step{Name: "Export it", Text: "An export makes one archive of the site.", Done: completed}
	see := step{Name: "See it live", Text: "An export of the whole site goes live when it is completed."}
	own := q.path("projects", first.ID)
	switch {
	case project.Done:
		project.To, project.Link = own, first.Domain
	case q.may(admin.ActionProjects):
		project.To, project.Link = q.path("projects", "new"), "New project"
	}
	if project.Done {
		switch {
		case publish.Done:
			publish.To, publish.Link = q.path("projects", first.ID, "snapshots"), "Snapshots"
		default:
			publish.To, publish.Link = q.path("projects", first.ID, "publish"), "Publish a folder"
		}
		export.To, export.Link = query(q.path("exports", "new"), "domain", first.Domain), "New export"
		if export.Done {
			export.To, export.Link = query(q.path("exports"), "domain", first.Domain), "Exports"
		}
		see.To, see.Link = own, "What is live"
	}
	all := []step{project, publish, export}
	if !project.Done || served {
		all = append(all, see)
	}
	return all, nil
}

// projectSteps are the steps of a project to its first live version.
func (q *request) projectSteps(p admin.Project, published bool, l liveView, newest []deploymentView) []step {
	publish := step{Name: "Publish the site", Text: "Drop its folder on a page, or use the command below, which needs a key.", Done: published}
	switch {
	case published:
		publish.Text, publish.To, publish.Link = "", q.path("projects", p.ID, "snapshots"), "Snapshots"
	case q.may(admin.ActionExport):
		publish.To, publish.Link = q.path("projects", p.ID, "publish"), "Publish a folder"
	}
	export := step{Name: "Export it", Text: "The whole site, without paths and groups of readers.", Done: len(newest) > 0 && newest[0].Status == admin.ExportCompleted}
	if q.may(admin.ActionExport) {
		export.To, export.Link = query(q.path("exports", "new"), "domain", p.Domain), "New export"
	}
	live := step{Name: "Go live", Text: "The export goes live when it is completed."}
	switch {
	case l.Deploy == admin.DeployManual:
		live.Text = "Exports of this project don't go live by themselves: promote one below."
	case l.Held():
		live.Text = "The site is held: release it, or promote a version below."
	case export.Done:
		live.Text = "This one did not go live by itself. Promote it below."
	}
	return []step{publish, export, live}
}

// changedText counts what a bundle changed, in the fewest words.
func changedText(c admin.Changes) string {
	if !c.Listed {
		return "nothing"
	}
	var parts []string
	for _, kind := range []struct {
		one, many               string
		added, changed, removed int
	}{{"page", "pages", c.PagesAdded, c.PagesChanged, c.PagesRemoved}, {"file", "files", c.FilesAdded, c.FilesChanged, c.FilesRemoved}} {
		for _, n := range []struct {
			n    int
			what string
		}{{kind.changed, "changed"}, {kind.added, "added"}, {kind.removed, "removed"}} {
			if n.n > 0 {
				parts = append(parts, count(n.n, kind.one, kind.many)+" "+n.what)
			}
		}
	}
	if c.AddressesLost > 0 {
		parts = append(parts, count(c.AddressesLost, "address leads", "addresses lead")+" nowhere")
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing that readers see")
}
