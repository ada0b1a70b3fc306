package dashboard_test

import (
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Exports that people start may go live, where they are of the whole site; the
// settings' form leaves the deploy mode as it is.
func TestExportsOfPeopleGoLive(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	w.publish(x, map[string]string{"docs.json": "{}"})
	b := w.as(x, "ada", admin.RoleAdmin)
	for _, c := range []struct {
		name string
		form []string
		live bool
	}{
		{"the whole site", nil, true},
		{"some paths", []string{"paths", "guides"}, false},
		{"a group of readers", []string{"groups", "staff"}, false},
	} {
		made := b.post("/org/"+x.ID+"/exports", append([]string{"domain", "docs.example.com"}, c.form...)...).says(t, c.name, 303)
		id, _, _ := strings.Cut(path.Base(made.header.Get("Location")), "?")
		j, err := w.FindExport(w.ctx, id)
		if err != nil || (j.GoLive != nil) != c.live {
			t.Errorf("%s: the job has %+v, %v", c.name, j.GoLive, err)
		}
	}

	set := admin.Configuration{Kind: x.project.Kind, Deploy: admin.DeployManual}
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, set); err != nil {
		t.Fatal(err)
	}
	b.post("/org/"+x.ID+"/projects/"+x.project.ID+"/settings", "kind", "air-gapped").says(t, "settings", 303)
	if p, err := w.GetProject(w.ctx, x.project.ID); err != nil || p.Kind != admin.KindAirGapped || p.Deploy != admin.DeployManual {
		t.Errorf("the project is %+v, %v", p, err)
	}
}

var (
	buttons = regexp.MustCompile(`(?s)<a class="[^"]*(?:button|small)[^"]*" href="([^"]*)"[^>]*>(.*?)</a>|<form method="post" action="([^"]*)"[^>]*>(.*?)<button[^>]*>(.*?)</button>`)
	hidden  = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// press follows the link with a text, or sends the form of the button with it, as a
// browser without JavaScript does.
func (b *browser) press(page answer, text string) answer {
	b.w.t.Helper()
	_, main, _ := strings.Cut(page.body, "<main")
	for _, m := range buttons.FindAllStringSubmatch(main, -1) {
		if said := (answer{body: m[2] + m[5]}).text(); said != text {
			continue
		}
		if m[1] != "" {
			return b.get(html.UnescapeString(m[1]))
		}
		var fields []string
		for _, f := range hidden.FindAllStringSubmatch(m[4], -1) {
			fields = append(fields, html.UnescapeString(f[1]), html.UnescapeString(f[2]))
		}
		return b.post(html.UnescapeString(m[3]), fields...)
	}
	b.w.t.Fatalf("no button %q in %s", text, page.text())
	return answer{}
}

// offers lists the buttons of a project's page below its head.
func offers(page answer) (all []string) {
	_, main, _ := strings.Cut(page.body, "<section")
	for _, m := range buttons.FindAllStringSubmatch(main, -1) {
		all = append(all, (answer{body: m[2] + m[5]}).text())
	}
	return all
}

// after returns the page that a form leads to.
func (b *browser) after(a answer) answer {
	b.w.t.Helper()
	to := a.header.Get("Location")
	if a.status != 303 || to == "" {
		b.w.t.Fatalf("status %d: %s", a.status, a.text())
	}
	return b.get(to)
}

func projectPath(x tenant) string { return "/org/" + x.ID + "/projects/" + x.project.ID }

// The page of a project leads with what is live, and its buttons change that, each that
// changes what readers see after a question.
func TestWhatIsLiveIsShownAndChanged(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}"})
	first, second := w.deploy(x, "one"), w.deploy(x, "two")

	page := b.get(projectPath(x)).says(t, "the project", 200, "Live Visit Roll back Hold Address "+w.SiteURL(x.project), "Version two Snapshot "+second.Snapshot,
		"by itself, from an export that was started by an operator", "two live completed 1.0 s 10", "by an operator")
	if live, rest := strings.Index(page.body, `id="now"`), strings.Index(page.body, "Project id"); live < 0 || live > rest {
		t.Error("the page does not lead with what is live")
	}
	if !strings.Contains(page.body, `href="`+w.SiteURL(x.project)+`"`) {
		t.Error("the live site can't be visited")
	}
	if diff := cmp.Diff([]string{"Visit", "Roll back", "Hold", "Visit two", "Visit one", "Promote one"}, offers(page)); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}

	ask := b.press(page, "Roll back").says(t, "the question", 200, "Roll back?", "Readers of docs.example.com see one again, which went live on 14 Mar 2026, instead of two of 14 Mar 2026.", "The site is then held")
	if w.liveJob(x) != second.ID {
		t.Fatal("the question rolled back")
	}
	back := b.press(ask, "Roll back")
	page = b.after(back).says(t, "after a roll back", 200, "An earlier version is live again.", "rolled back by you", "Held since", "by you: no export goes live by itself")
	if w.liveJob(x) != first.ID {
		t.Errorf("%s is live", w.liveJob(x))
	}
	again := b.press(ask, "Roll back") // its form, sent twice
	if again.status != 303 || w.liveJob(x) != first.ID {
		t.Errorf("sent twice: %d, live is %s", again.status, w.liveJob(x))
	}
	b.get(projectPath(x)+"/rollback").says(t, "a roll back from the first version", 409, "There is no version before the one that is live.", "Deployments")

	page = b.after(b.press(page, "Release")).says(t, "released", 200, "The site is not held any more.")
	third := w.deploy(x, "three")
	if w.liveJob(x) != third.ID {
		t.Error("after the release, an export did not go live")
	}
	page = b.after(b.press(b.get(projectPath(x)), "Hold")).says(t, "held", 200, "The site is held: no export goes live by itself.")
	w.deploy(x, "four")
	page = b.get(projectPath(x))
	ask = b.press(page, "Promote four").says(t, "the question", 200, "Make this version live?", "Readers of docs.example.com see four of 14 Mar 2026, instead of three of 14 Mar 2026.")
	// Its form is of a page that was loaded before somebody else promoted another version.
	if _, err := w.SetLive(t.Context(), w.Operator(x.ID), admin.SetLive{Domain: "docs.example.com", Action: admin.ActPromote, Job: second.ID}); err != nil {
		t.Fatal(err)
	}
	b.press(ask, "Promote").says(t, "a promote from an old page", 409, "Another version has gone live since you looked; look again.")
	if w.liveJob(x) != second.ID {
		t.Errorf("%s is live", w.liveJob(x))
	}
	if _, err := w.SetLive(t.Context(), w.Operator(x.ID), admin.SetLive{Domain: "docs.example.com", Action: admin.ActPromote, Job: third.ID, From: second.ID}); err != nil {
		t.Fatal(err)
	}
	b.after(b.press(ask, "Promote")).says(t, "promoted", 200, "This version is live.", "Version four", "promoted by you")

	// Somebody else was faster.
	b.post(projectPath(x)+"/live", "action", "rollback", "from", first.ID).says(t, "a roll back of another version", 409, "Another version has gone live since you looked; look again.", "four live")
	b.post(projectPath(x)+"/live", "action", "forget").says(t, "no action", 400, "Must be promote, rollback, hold or release.")

	list := b.get(projectPath(x)+"/live").says(t, "the history", 200,
		"four live 14 Mar 2026, 09:00 UTC promoted you three", "three 14 Mar 2026, 09:00 UTC promoted an operator two", "two 14 Mar 2026, 09:00 UTC promoted an operator three", "three 14 Mar 2026, 09:00 UTC by itself an operator one", "one 14 Mar 2026, 09:00 UTC rolled back you two", "one 14 Mar 2026, 09:00 UTC by itself an operator nothing")
	if n := strings.Count(list.body, "<tr"); n != 1+7 {
		t.Errorf("the history has %d rows", n-1)
	}
}

// The question before a roll back names the version that it leads to, over those that
// can't be live any more, and the roll back leads to no other.
func TestARollBackLeadsWhereItSays(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}"})
	first, second, third, last := w.deploy(x, "one"), w.deploy(x, "two"), w.deploy(x, "three"), w.deploy(x, "four")
	lose := func(j admin.ExportJob) {
		t.Helper()
		if err := w.objects.Delete(w.ctx, bundleKey(j)); err != nil {
			t.Fatal(err)
		}
	}
	old := b.get(projectPath(x)+"/rollback").says(t, "the question", 200, "see three again").lacking(t, "the question", "Stepped over")
	lose(third)
	const reason = "since its bundle was removed or is damaged"
	b.press(old, "Roll back").says(t, "a question of before", 409, "A roll back leads to another version than when you looked; look again.")
	if w.liveJob(x) != last.ID {
		t.Fatalf("%s is live", w.liveJob(x))
	}
	ask := b.get(projectPath(x)+"/rollback").says(t, "the question", 200, "see two again, which went live on 14 Mar 2026, instead of four of 14 Mar 2026. Stepped over: three, "+reason+".")
	b.after(b.press(ask, "Roll back")).says(t, "afterwards", 200, "An earlier version is live again.", "Version two", "Stepped over three , "+reason)
	if w.liveJob(x) != second.ID {
		t.Errorf("%s is live", w.liveJob(x))
	}
	b.get(projectPath(x)+"/live").says(t, "the history", 200, "rolled back over three , "+reason)
	lose(first)
	b.get(projectPath(x)+"/rollback").says(t, "with none left", 409, "No version before the one that is live can be live again").lacks(t, "with none left", "Roll back?")
}

// liveJob is the job that is live.
func (w *world) liveJob(x tenant) string {
	w.t.Helper()
	l, err := w.Live(w.ctx, w.Operator(x.ID), x.project.Domain)
	if err != nil {
		w.t.Fatal(err)
	}
	return l.Move.Job
}

// Who may not decide what is live sees it without buttons, and is refused.
func TestWhoMayChangeWhatIsLive(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("Own", "docs.example.com"), w.tenant("Other", "other.example.com")
	w.publish(x, map[string]string{"docs.json": "{}"})
	first, second := w.deploy(x, "one"), w.deploy(x, "two")
	vic, ada, eve := w.as(x, "vic", admin.RoleViewer), w.as(x, "ada", admin.RoleOwner), w.as(y, "eve", admin.RoleOwner)
	promote := "/org/" + x.ID + "/exports/" + first.ID + "/promote"
	const refused = "Changing what is live needs the enterprise plan."
	forms := func(b *browser, status int, text string) {
		t.Helper()
		b.post(promote).says(t, "promote", status, text)
		b.post(projectPath(x)+"/live", "action", "rollback", "from", second.ID).says(t, "roll back", status, text)
		b.post(projectPath(x)+"/live", "action", "hold").says(t, "hold", status, text)
	}

	page := vic.get(projectPath(x)).says(t, "a viewer", 200, "Version two").lacking(t, "a viewer", refused)
	if got := offers(page); !slices.Equal(got, []string{"Visit", "Visit two", "Visit one"}) {
		t.Errorf("a viewer is offered %q", got)
	}
	vic.get("/org/"+x.ID+"/exports/"+first.ID).says(t, "an export", 200, "Visit").lacks(t, "an export", "Promote")
	ada.get("/org/"+x.ID+"/exports/"+first.ID).says(t, "an export", 200, "Visit Promote")
	forms(vic, 403, "Your role in this organisation does not allow this.")
	vic.get(promote).says(t, "the question", 403)
	forms(eve, 404, "Not found")
	eve.get("/org/"+y.ID+"/exports/"+first.ID+"/promote").says(t, "another organisation's job", 404)
	eve.post("/org/"+y.ID+"/exports/"+first.ID+"/promote").says(t, "another organisation's job", 404)
	eve.get("/org/"+y.ID+"/exports/"+first.ID+"/visit").says(t, "another organisation's job", 404)

	if _, err := w.SetPlan(w.ctx, x.ID, admin.PlanPro); err != nil {
		t.Fatal(err)
	}
	page = ada.get(projectPath(x)).says(t, "on the Pro plan", 200, refused)
	if got := offers(page); !slices.Equal(got, []string{"Visit", "Visit two", "Visit one", "End the project"}) {
		t.Errorf("on the Pro plan an owner is offered %q", got)
	}
	forms(ada, 403, "This needs the enterprise plan.")
	if w.liveJob(x) != second.ID {
		t.Errorf("%s is live", w.liveJob(x))
	}
}

// lacking is lacks, for chains.
func (a answer) lacking(t *testing.T, what, text string) answer {
	t.Helper()
	a.lacks(t, what, text)
	return a
}

// A deployment that can't be promoted says why, and has no button for it.
func TestDeploymentsThatCanNotBePromoted(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}"})
	w.deploy(x, "live")
	b.post(projectPath(x)+"/live", "action", "hold").says(t, "hold", 303)
	export := func(j admin.ExportJob) answer { return b.get("/org/" + x.ID + "/exports/" + j.ID) }

	gone := w.deploy(x, "gone")
	if err := w.objects.Delete(w.ctx, bundleKey(gone)); err != nil {
		t.Fatal(err)
	}
	old := w.deploy(x, "old", func(b *admin.Bundle) { b.Index = "" })
	failed := w.start(x, admin.StartExport{Version: "failed", GoLive: true})
	if err := w.FailExport(w.ctx, failed.ID, admin.CodeInternal, "x"); err != nil {
		t.Fatal(err)
	}
	w.export(x, "download")
	running := w.start(x, admin.StartExport{Version: "running", GoLive: true})

	page := b.get(projectPath(x)).says(t, "the project", 200, "running queued 0 %", "1 export has not ended yet.", "The export is queued: there is no bundle yet.", "The export failed: there is no bundle.", "The bundle was removed; start another export.")
	if !strings.Contains(page.body, `id="live" data-live="3000"`) {
		t.Error("the page does not follow what runs")
	}
	if got := offers(page); !slices.Equal(got, []string{"Visit", "Release", "Promote old", "Visit live"}) {
		t.Errorf("the list offers %q", got)
	}
	if strings.Contains(page.body, "download") {
		t.Error("an export that may not go live is listed")
	}
	for _, c := range []struct {
		job      admin.ExportJob
		promote  int
		says     string
		visit    int
		visiting string
	}{
		{gone, 410, "Live The bundle was removed; start another export.", 410, "The bundle was removed; start another export."},
		{failed, 409, "Live The export failed: there is no bundle.", 409, "The export failed: there is no bundle."},
		{running, 409, "Live when it is completed and somebody promotes it", 409, "The export is queued: there is no bundle yet."},
		{old, 303, "Live no", 410, "Nothing serves this export"},
	} {
		shown := export(c.job).says(t, c.job.Version, 200, c.says)
		path := "/org/" + x.ID + "/exports/" + c.job.ID
		if strings.Contains(shown.body, path+"/visit") || strings.Contains(shown.body, path+"/promote") != (c.promote == 303) {
			t.Errorf("%s has the wrong buttons", c.job.Version)
		}
		b.get(path+"/visit").says(t, "visit "+c.job.Version, c.visit, c.visiting, "Version "+c.job.Version)
		b.post(path+"/promote").says(t, "promote "+c.job.Version, c.promote)
	}
	// What is live now has an archive of an older release: it has no host.
	page = b.get(projectPath(x)).says(t, "the project", 200, "Version old")
	if strings.Contains(page.body, w.SiteURL(x.project)) {
		t.Error("a site that nothing serves can be visited")
	}

	set := admin.Configuration{Kind: admin.KindAirGapped, Deploy: admin.DeployManual}
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, set); err != nil {
		t.Fatal(err)
	}
	page = b.get(projectPath(x)).says(t, "of another kind", 200, "The export was made for a cloud deployment, and the project is air-gapped now.", "New exports go live when somebody promotes them")
	if strings.Contains(page.body, "/promote") {
		t.Error("an export of another kind can be promoted")
	}
}

// What a project's page shows of a running export is inside the part that its script
// renews, and this part is there after the end, too: its absence means the end.
func TestAProjectFollowsItsExports(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}"})
	j := w.start(x, admin.StartExport{Version: "one", GoLive: true})
	renewed := func() string {
		t.Helper()
		_, part, begins := strings.Cut(b.get(projectPath(x)).says(t, "the project", 200).body, `<div id="live"`)
		part, _, ends := strings.Cut(part, "</div>\n<h2>The project</h2>")
		if !begins || !ends {
			t.Fatal("the page has no part that is renewed")
		}
		return (answer{body: "<div" + part}).text()
	}
	for _, text := range []string{"Nothing is live yet", "1 export has not ended yet.", "one queued 0 %"} {
		if part := renewed(); !strings.Contains(part, text) {
			t.Errorf("what is renewed lacks %q: %s", text, part)
		}
	}
	w.put(bundleKey(j), "archive")
	w.complete(j, admin.Bundle{Size: 7, Index: "1-2-c"})
	if part := renewed(); !strings.Contains(part, "Version one") || !strings.Contains(part, "one live completed") {
		t.Errorf("after the end: %s", part)
	}
	if page := b.get(projectPath(x)); strings.Contains(page.body, "data-live") {
		t.Error("the page follows what has ended")
	}
}

// Visiting leads to the export's own host, by a link that is in no log and in no cache.
func TestVisit(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "vic", admin.RoleViewer)
	w.publish(x, map[string]string{"docs.json": "{}"})
	j := w.deploy(x, "one")
	visited := b.press(b.get("/org/"+x.ID+"/exports/"+j.ID), "Visit").says(t, "visit", 303)
	to := visited.header.Get("Location")
	host := "http://" + strings.ReplaceAll(j.ID, "_", "-") + ".sites.example:8787" + admin.PreviewPath + "?token="
	if !strings.HasPrefix(to, host) || visited.header.Get("Cache-Control") != "no-store" || visited.header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("leads to %s, %v", to, visited.header)
	}
	if _, ok := w.CheckPreview(strings.ReplaceAll(j.ID, "_", "-"), strings.TrimPrefix(to, host)); !ok {
		t.Error("the link does not open the export")
	}
	if strings.Contains(w.log.String(), "token") {
		t.Error("the log has the link")
	}
	w.browser().get("/org/"+x.ID+"/exports/"+j.ID+"/visit").says(t, "nobody", 303)
}

// An export that was not to go live has a host too, as long as its bundle is there.
func TestAnExportWithoutItsBundleIsNotVisited(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "vic", admin.RoleViewer)
	w.publish(x, map[string]string{"docs.json": "{}"})
	j := w.start(x, admin.StartExport{Version: "one"})
	w.put(bundleKey(j), "archive")
	w.complete(j, admin.Bundle{Size: 7, Index: "1-2-c"})
	export := "/org/" + x.ID + "/exports/" + j.ID
	if page := b.get(export).says(t, "with its bundle", 200); !strings.Contains(page.body, export+"/visit") {
		t.Error("the export can't be visited")
	}
	if err := w.objects.Delete(w.ctx, bundleKey(j)); err != nil {
		t.Fatal(err)
	}
	if page := b.get(export).says(t, "without it", 200); strings.Contains(page.body, export+"/visit") {
		t.Error("a bundle that is gone can be visited")
	}
}

// Where no sites are served, nothing can be visited, and the rest is as elsewhere.
func TestNoSitesAreServed(t *testing.T) {
	w := newWorldAt(t, admin.Sites{})
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}"})
	b.get("/org/"+x.ID+"/projects").says(t, "projects", 200, "What is left to do").lacks(t, "projects", "See it live")
	first := w.deploy(x, "one")
	w.deploy(x, "two")
	page := b.get(projectPath(x)).says(t, "the project", 200, "Live Roll back Hold Version two")
	if got := offers(page); !slices.Equal(got, []string{"Roll back", "Hold", "Promote one"}) {
		t.Errorf("the page offers %q", got)
	}
	b.get("/org/"+x.ID+"/exports/"+first.ID+"/visit").says(t, "visit", 410, "Nothing serves this export")
	b.get("/org/"+x.ID+"/projects").says(t, "projects", 200).lacks(t, "projects", "What is left to do")
}

// After the end of a project its exports are shown, and nothing can be made live.
func TestExportsOfAnEndedProject(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	w.publish(x, map[string]string{"docs.json": "{}"})
	first := w.deploy(x, "one")
	w.deploy(x, "two")
	b.post(projectPath(x)+"/end").says(t, "the end", 303)
	export := "/org/" + x.ID + "/exports/" + first.ID
	b.get(export).says(t, "an export", 200, "one").lacks(t, "an export", "Promote")
	for _, path := range []string{export + "/promote", projectPath(x), projectPath(x) + "/deployments", projectPath(x) + "/live", projectPath(x) + "/rollback"} {
		b.get(path).says(t, path, 404)
	}
	b.post(export+"/promote").says(t, "promote", 404)
	b.post(projectPath(x)+"/live", "action", "hold").says(t, "hold", 404)
	// The domain is another project's now: what was exported before is not its own.
	if _, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"}); err != nil {
		t.Fatal(err)
	}
	b.post(export+"/promote").says(t, "promote an export of the project before", 404)
}

// The pages of deployments and of what was live have each of them once.
func TestDeploymentsHavePages(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}"})
	const n = 45
	for i := range n {
		w.deploy(x, fmt.Sprintf("entry%02d", i))
	}
	if page := b.get(projectPath(x)).says(t, "the project", 200, "All deployments"); strings.Count(page.body, "/visit") != 10 {
		t.Errorf("the project's page has %d deployments", strings.Count(page.body, "/visit"))
	}
	row := regexp.MustCompile(`scope="row"[^>]*><a href="[^"]*">(entry\d\d)</a>`)
	for _, path := range []string{"/deployments", "/live"} {
		var seen []string
		pages := 0
		for at := projectPath(x) + path; at != "" && pages < 10; pages++ {
			page := b.get(at).says(t, at, 200)
			for _, m := range row.FindAllStringSubmatch(page.body, -1) {
				seen = append(seen, m[1])
			}
			at = ""
			if m := nextPage.FindStringSubmatch(page.body); m != nil {
				at = html.UnescapeString(m[1])
			}
			if path == "/live" && at != "" { // its last row names the version of the next page
				older := seen[len(seen)-1]
				var i int
				fmt.Sscanf(older, "entry%d", &i)
				page.says(t, path, 200, "an operator "+fmt.Sprintf("entry%02d", i-1))
			}
		}
		slices.Reverse(seen)
		if len(slices.Compact(seen)) != n || pages != 3 || !slices.IsSorted(seen) {
			t.Errorf("%s: %d on %d pages: %v", path, len(seen), pages, seen)
		}
		b.get(projectPath(x)+path+"?cursor=x").says(t, path, 400)
	}
}

// An export shows which passages of which pages it changed.
func TestWhatAnExportChanged(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "vic", admin.RoleViewer)
	w.publish(x, map[string]string{"docs.json": "{}"})
	j := w.deploy(x, "one", listed)
	path := "/org/" + x.ID + "/exports/" + j.ID
	b.get(projectPath(x)).says(t, "the list", 200, "60 pages changed, 1 page added")
	b.get(path).says(t, "a list that is gone", 200, "What changed for readers", "The list went with the bundle.")
	w.change(j, 60)
	page := b.get(path).says(t, "the list", 200, "Addresses that lead nowhere /old Old. A redirect to /new would save it", "60 pages changed /page00 Page +4 −2 words",
		"… the words removed: old <b> added: new after …", "added: second", "/page24", "And 35 other pages.", "1 page added /new New")
	page.lacks(t, "the list", "fourth")
	page.lacks(t, "the list", "/page25")
	w.change(j, 0)
	b.get(path).lacks(t, "a short list", "other pages")
	if !strings.Contains(b.get(path).body, `<details class="changes" open>`) {
		t.Error("a short list is not open")
	}
	for text, want := range map[string]string{
		"{}":                              "No text of a page differs.",
		"x":                               "The list can't be read at the moment.",
		strings.Repeat(" ", 8<<20) + "{}": "The list is too long for this page.",
	} {
		w.put(admin.ChangesKey(j.ID), text)
		b.get(path).says(t, want, 200, want)
	}
	frame := w.deploy(x, "frame", func(b *admin.Bundle) { b.Changes = admin.Changes{Job: j.ID, Version: "one", Listed: true} })
	b.get(projectPath(x)).says(t, "a change of the frame", 200, "frame live completed 1.0 s 10 nothing that readers see")
	w.put(admin.ChangesKey(frame.ID), "{}")
	same := w.deploy(x, "two", func(b *admin.Bundle) { b.Changes = admin.Changes{Job: j.ID, Version: "one"} })
	b.get("/org/"+x.ID+"/exports/"+same.ID).says(t, "no changes", 200, "since one : nothing").lacks(t, "no changes", "What changed for readers")
}

// A new organisation sees the steps to its first live site, those that are done ticked,
// until the site is live.
func TestStepsOfANewOrganisation(t *testing.T) {
	w := newWorld(t)
	o, err := w.CreateOrganisation(w.ctx, admin.Organisation{Name: "New", Plan: admin.PlanEnterprise})
	if err != nil {
		t.Fatal(err)
	}
	x := tenant{Organisation: o}
	ada, mia, vic := w.as(x, "ada", admin.RoleOwner), w.as(x, "mia", admin.RoleMember), w.as(x, "vic", admin.RoleViewer)
	step := regexp.MustCompile(`(?s)<li(?: class="(done)")?><p><strong>([^<]*)</strong>.*?(?:<a href="([^"]*)">([^<]*)</a>)?</p></li>`)
	steps := func(page answer) string {
		t.Helper()
		page.says(t, "a page", 200)
		var all []string
		for _, m := range step.FindAllStringSubmatch(page.body, -1) {
			if m[3] != "" && ada.get(html.UnescapeString(m[3])).status != 200 {
				t.Errorf("%s leads to %s", m[2], m[3])
			}
			all = append(all, strings.Join(strings.Fields(m[1]+" "+m[2]+": "+m[4]), " "))
		}
		return strings.Join(all, "\n")
	}
	wants := func(what string, owner, member string) {
		t.Helper()
		for _, page := range []string{"/projects", "/exports"} {
			if page == "/exports" && strings.Contains(owner, "Exports") {
				continue // it lists them
			}
			for name, c := range map[string]struct {
				b    *browser
				want string
			}{"owner": {ada, owner}, "member": {mia, member}, "viewer": {vic, ""}} {
				if diff := cmp.Diff(c.want, steps(c.b.get("/org/"+o.ID+page))); diff != "" {
					t.Errorf("%s, %s, %s (-want +got):\n%s", what, page, name, diff)
				}
			}
		}
	}
	wants("nothing", "Create a project: New project\nPublish its site:\nExport it:\nSee it live:", "Create a project:\nPublish its site:\nExport it:\nSee it live:")

	if x.project, err = w.CreateProject(w.ctx, admin.Project{Organisation: o.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"}); err != nil {
		t.Fatal(err)
	}
	wants("a project", "done Create a project: docs.example.com\nPublish its site: Publish a folder\nExport it: New export\nSee it live: What is live",
		"done Create a project: docs.example.com\nPublish its site: Publish a folder\nExport it: New export\nSee it live: What is live")
	if got, want := steps(ada.get(projectPath(x))), "Publish the site: Publish a folder\nExport it: New export\nGo live:"; got != want {
		t.Errorf("the project's steps are %s", got)
	}

	w.publish(x, map[string]string{"docs.json": "{}"})
	published := "done Create a project: docs.example.com\ndone Publish its site: Snapshots\nExport it: New export\nSee it live: What is live"
	wants("a snapshot", published, published)

	w.export(x, "download")
	exported := "done Create a project: docs.example.com\ndone Publish its site: Snapshots\ndone Export it: Exports\nSee it live: What is live"
	wants("an export", exported, exported)

	w.deploy(x, "one")
	wants("live", "", "")
	if page := ada.get(projectPath(x)).says(t, "the project", 200); strings.Contains(page.body, `class="steps"`) {
		t.Error("the project has steps left")
	}
}

// An organisation with many projects is not new, whatever they have.
func TestNoStepsForManyProjects(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	for i := range 5 {
		b.get("/org/"+x.ID+"/projects").says(t, fmt.Sprint(i+1), 200, "What is left to do")
		if _, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: fmt.Sprintf("n%d.example.com", i), Repository: "https://git.example.com/docs"}); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Second)
	}
	for _, page := range []string{"/projects", "/exports"} {
		b.get("/org/"+x.ID+page).says(t, page, 200).lacks(t, page, "What is left to do")
	}
}
