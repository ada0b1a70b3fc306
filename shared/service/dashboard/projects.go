package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

type projectsView struct {
	Projects []admin.Project
	// Newest is the newest export of each domain that has one.
	Newest map[string]*admin.ExportJob
	Next   string
	Steps  []step
}

func projectsPage(q *request) error {
	projects, next, err := q.admin().OwnProjects(q.ctx(), q.caller, q.value("cursor"), pageLimit)
	if err != nil {
		return err
	}
	v := projectsView{Projects: projects, Next: next}
	var domains []string
	for _, p := range projects {
		domains = append(domains, p.Domain)
	}
	if v.Newest, err = q.admin().NewestExports(q.ctx(), q.caller, domains); err != nil {
		return err
	}
	if next == "" && q.value("cursor") == "" {
		if v.Steps, err = q.stepsLeft(projects, v.Newest); err != nil {
			return err
		}
	}
	return q.page("projects", "Projects", v)
}

var kindMeaning = map[admin.Kind]string{
	admin.KindCloud:        "Cloud: for readers on the internet",
	admin.KindClientHosted: "Client-hosted: on a customer's own servers",
	admin.KindAirGapped:    "Air-gapped: for readers without a network",
}

func kinds(chosen string) []choice {
	all := make([]choice, 0, 3)
	for _, k := range admin.Kinds() {
		all = append(all, choice{string(k), kindMeaning[k], string(k) == chosen})
	}
	return all
}

func (q *request) newProject(code int, p *problem) error {
	kind := q.r.PostFormValue("kind")
	if kind == "" {
		kind = string(admin.KindCloud)
	}
	return q.show(code, "newproject", "New project", kinds(kind), p)
}

func newProjectPage(q *request) error { return q.newProject(http.StatusOK, nil) }

func createProject(q *request) error {
	p, err := q.as().CreateProject(q.ctx(), admin.Project{Domain: q.value("domain"), Repository: q.value("repository"), Kind: admin.Kind(q.value("kind")), Agent: admin.NewAgentSettings()})
	if err != nil {
		return q.again(err, q.newProject)
	}
	return q.leave(q.path("projects", p.ID), "created")
}

// project reads the project of the address that has not ended.
func (q *request) project() (admin.Project, error) {
	p, err := q.as().Project(q.ctx(), q.r.PathValue("project"))
	if err == nil && !p.RevokedAt.IsZero() {
		err = admin.Errorf(admin.CodeNotFound, "the project was ended")
	}
	return p, err
}

// featureRow is a feature of a project: what the table of deployments says of each
// kind, and whether it is on.
type featureRow struct {
	Name  string
	Cells []featureCell
	On    bool
	// Why says what decides, where the cell leaves it open or has an exception.
	Why string
}

type featureCell struct {
	admin.Availability
	Own bool // of the project's kind
}

// features is the table of features by deployment, for a project.
func features(p admin.Project) []featureRow {
	on := admin.Features(p.Kind, p.Settings)
	var rows []featureRow
	for _, f := range []struct {
		feature admin.Feature
		name    string
		on      bool
		setting string
	}{
		{admin.FeatureSearch, "Search", on.Search, "Search"}, {admin.FeatureAssistant, "AI assistant", on.Assistant, "AI assistant"},
		{admin.FeatureAnalytics, "Web analytics", on.Analytics, "Web analytics"},
		{admin.FeaturePlayground, "API playground", on.Playground, "API playground"}, {admin.FeatureExport, "Static export", on.Export, ""},
	} {
		row := featureRow{Name: f.name, On: f.on}
		for _, k := range admin.Kinds() {
			row.Cells = append(row.Cells, featureCell{admin.AvailabilityOf(k, f.feature), k == p.Kind})
		}
		switch at := admin.AvailabilityOf(p.Kind, f.feature); {
		case at == admin.Configurable && f.on:
			row.Why = "by the setting “" + f.setting + "”"
		case at == admin.Configurable:
			row.Why = "until the setting “" + f.setting + "” is filled in"
		case at == admin.Unavailable && f.on:
			row.Why = "by an index inside the bundle"
		}
		rows = append(rows, row)
	}
	return rows
}

type projectView struct {
	admin.Project
	Kinds    []admin.Kind
	Features []featureRow
	Newest   *admin.ExportJob // the domain's newest export
	Snapshot *admin.Snapshot
	Live     liveView
	// Steps are those to a first live version; none once there is one.
	Steps       []step
	Deployments []deploymentView
	More        bool // deployments
	Running     int  // of those that are shown
}

func projectPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	return q.showProject(p)(http.StatusOK, nil)
}

// showProject shows the page of a project.
func (q *request) showProject(p admin.Project) func(int, *problem) error {
	return func(code int, wrong *problem) error {
		v, err := q.projectView(p)
		if err != nil {
			return err
		}
		return q.show(code, "project", p.Domain, v, wrong)
	}
}

func (q *request) projectView(p admin.Project) (projectView, error) {
	v := projectView{Project: p, Kinds: admin.Kinds(), Features: features(p)}
	jobs, _, err := q.admin().ListExports(q.ctx(), q.caller, admin.ExportList{Domain: p.Domain, Limit: 1})
	if err != nil {
		return v, err
	}
	if len(jobs) > 0 {
		v.Newest = &jobs[0]
	}
	newest, err := q.admin().LatestSnapshot(q.ctx(), q.caller, p.Domain)
	switch code := admin.CodeOf(err); {
	case code == "":
		v.Snapshot = &newest
	case code != admin.CodeNotFound && code != admin.CodeNoSnapshot:
		return v, err
	}
	if v.Live, err = q.live(p); err != nil {
		return v, err
	}
	if err := q.describe(&v.Live, p); err != nil {
		return v, err
	}
	next := ""
	if v.Deployments, next, err = q.deployments(p, v.Live, "", deploymentsShown); err != nil {
		return v, err
	}
	v.More = next != ""
	for _, d := range v.Deployments {
		if !d.Status.Final() {
			v.Running++
		}
	}
	if v.Live.Move.Job == "" {
		v.Steps = q.projectSteps(p, v.Snapshot != nil, v.Live, v.Deployments)
	}
	return v, nil
}

type settingsView struct {
	admin.Project
	Kinds []choice
}

func (q *request) settings(p admin.Project) func(int, *problem) error {
	return func(code int, wrong *problem) error {
		kind := string(p.Kind)
		if sent := q.r.PostFormValue("kind"); sent != "" {
			kind = sent
		}
		return q.show(code, "settings", "Settings of "+p.Domain, settingsView{p, kinds(kind)}, wrong)
	}
}

func settingsPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	return q.settings(p)(http.StatusOK, nil)
}

func configureProject(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	in := admin.Configuration{Kind: admin.Kind(q.value("kind")), Settings: p.Settings, Retention: p.Retention, Agent: p.Agent, Deploy: p.Deploy}
	t := &in.Settings
	t.Search, t.Assistant, t.AnalyticsID, t.Feedback = q.value("settings.search"), q.value("settings.assistant"), q.value("settings.analyticsId"), q.value("settings.feedback")
	t.SiteAnalytics, t.Playground, t.CanonicalHTML = q.checked("settings.siteAnalytics"), q.checked("settings.playground"), q.checked("settings.canonicalHtml")
	if t.BasePath, err = admin.NormalBasePath(q.value("settings.basePath")); err == nil {
		t.AllowHosts, err = admin.NormalHosts(lines(q.value("settings.allowHosts")))
	}
	if err == nil {
		in.Agent.Root, in.Agent.ReadRepository = strings.Trim(q.value("agent.root"), "/"), q.checked("agent.readRepository")
		in.Agent.Repositories = strings.Join(lines(q.value("agent.repositories")), ", ")
		in.Retention.SnapshotDays, err = q.days("retention.snapshotDays")
	}
	if err == nil {
		in.Retention.BundleDays, err = q.days("retention.bundleDays")
	}
	if err == nil {
		_, err = q.as().ConfigureProject(q.ctx(), p.ID, in)
	}
	if err != nil {
		return q.again(err, q.settings(p))
	}
	return q.leave(q.path("projects", p.ID), "configured")
}

func (q *request) checked(name string) bool { return q.r.PostFormValue(name) != "" }

// days reads a number of days; empty is none.
func (q *request) days(name string) (int, error) {
	text := q.value(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 36500 {
		return 0, admin.FieldErrorf(name, "must be a whole number of days, or empty to keep for ever")
	}
	return n, nil
}

func endProjectPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	return q.page("ask", "End this project?", question{
		Text:   "The domain " + p.Domain + " is free for others from then on. What was published and exported stays until its retention.",
		Action: q.path("projects", p.ID, "end"), Yes: "End the project", No: q.path("projects", p.ID), Danger: true,
	})
}

func endProject(q *request) error {
	if _, err := q.as().RevokeProject(q.ctx(), q.r.PathValue("project")); err != nil {
		return err
	}
	return q.leave(q.path("projects"), "ended")
}

func contains(values []string, v string) bool { return slices.Contains(values, v) }
