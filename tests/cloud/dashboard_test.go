package cloud

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/tests/harness"
)

var madeKey = regexp.MustCompile(`export BINDERY_ADMIN_KEY=([!-;=?-~]+)`)

// dashboard is people's way through the deployed function: signing in at a provider,
// a key that is made, used and revoked, an export that is watched, and what others
// may not.
func (d *deployment) dashboard(t *testing.T) {
	ctx := t.Context()
	d.people.Serve(t, d.stack.Outputs["OidcRedirectUrl"])
	org := d.organisation(t, admin.PlanEnterprise, "people.example.com")
	for address, role := range map[string]admin.Role{"ada@example.com": admin.RoleOwner, "bob@example.com": admin.RoleViewer} {
		if _, err := d.admin.Invite(ctx, d.admin.Operator(org.ID), address, role); err != nil {
			t.Fatal(err)
		}
	}
	at, home := "/org/"+org.ID, d.stack.Outputs["DashboardUrl"]
	ada, bob := harness.NewVisitor(t, home), harness.NewVisitor(t, home)
	if s := ada.See("/", http.StatusOK, "Sign in"); !strings.HasSuffix(s.At.Path, "/sign-in") {
		t.Errorf("the first page is at %s", s.At)
	}
	if s := ada.SignIn("ada", "/"); s.Status != http.StatusServiceUnavailable || !strings.Contains(s.Body, "has set up yet") {
		t.Errorf("without the provider's secret: %d %s", s.Status, s.Body)
	}
	d.putSecret(t, "OidcSecretArn", d.people.Secret+"\n")
	ada = harness.NewVisitor(t, home)
	if s := ada.SignIn("ada", at+"/keys"); s.Status != http.StatusOK || !strings.HasSuffix(s.At.Path, at+"/keys") || !strings.Contains(s.Body, "people.example.com") {
		t.Fatalf("signed in, at %s: %d %s", s.At, s.Status, s.Body)
	}
	d.pageAssets(t, ada)

	if s := ada.SignInAgain("ada", at+"/keys/new"); s.Status != http.StatusOK || !strings.HasSuffix(s.At.Path, at+"/keys/new") {
		t.Fatalf("signed in again, at %s: %d %s", s.At, s.Status, s.Body)
	}
	made := ada.Send(at+"/keys", http.StatusOK, "name", "pipeline", "scopes", "read", "scopes", "write", "expiry", "7")
	found := madeKey.FindStringSubmatch(html.UnescapeString(made.Body))
	if found == nil {
		t.Fatalf("no key is shown: %s", made.Body)
	}
	header := map[string]string{"Authorization": "Bearer " + found[1]}
	if status, code := d.ask(t, "GET", "/v1/organisation", "", header); status != http.StatusOK {
		t.Errorf("the key: %d %s", status, code)
	}

	d.exportsOfPeople(t, ada, at)
	d.agentsOfPeople(t, ada, org)
	d.folderOfPeople(t, ada, org)

	if s := bob.SignIn("bob", at+"/exports"); s.Status != http.StatusOK {
		t.Fatalf("a viewer: %d %s", s.Status, s.Body)
	}
	bob.See(at+"/keys", http.StatusForbidden)
	bob.Send(at+"/exports", http.StatusForbidden, "domain", "people.example.com")

	keys, err := d.admin.ListKeys(ctx, org.ID)
	pipeline := slices.IndexFunc(keys, func(k admin.Key) bool { return k.Name == "pipeline" })
	if err != nil || pipeline < 0 {
		t.Fatalf("the keys are %v, %v", keys, err)
	}
	ada.Send(at+"/keys/"+keys[pipeline].ID+"/revoke", http.StatusOK)
	if status, code := d.ask(t, "GET", "/v1/organisation", "", header); status != http.StatusUnauthorized {
		t.Errorf("the revoked key: %d %s", status, code)
	}
	stolen := harness.NewVisitor(t, home)
	stolen.Jar.SetCookies(mustParse(t, home), ada.Jar.Cookies(mustParse(t, home)))
	ada.Send("/sign-out", http.StatusOK)
	if s := stolen.See(at+"/keys", http.StatusOK, "Sign in"); !strings.HasSuffix(s.At.Path, "/sign-in") {
		t.Errorf("a cookie of before the sign-out leads to %s", s.At)
	}
	entries, _, err := d.admin.Audit(ctx, d.admin.Operator(org.ID), admin.AuditList{Action: "member.joined"})
	if err != nil || len(entries) != 2 || entries[0].Address == "" {
		t.Errorf("the audit log has %+v, %v", entries, err)
	}
	d.dashboardsRights(t)
}

// pageAssets: style sheet, script and icon come as text, below the stage's path.
func (d *deployment) pageAssets(t *testing.T, v *harness.Visitor) {
	t.Helper()
	page := v.See("/me", http.StatusOK)
	assets := regexp.MustCompile(` (?:href|src)="([^"]*/assets/[^"]*)"`).FindAllStringSubmatch(page.Body, -1)
	if len(assets) < 3 {
		t.Fatalf("the page loads only %v", assets)
	}
	for _, asset := range assets {
		to, err := page.At.Parse(html.UnescapeString(asset[1]))
		if err != nil {
			t.Fatal(err)
		}
		if s := v.Ask(http.MethodGet, to.String(), nil); s.Status != http.StatusOK || s.Body == "" || !strings.Contains(s.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %v", to, s.Status, s.Header)
		}
	}
}

// exportsOfPeople starts two exports, sees them end and what the second one changed,
// makes the first one live again, and cancels another one.
func (d *deployment) exportsOfPeople(t *testing.T, v *harness.Visitor, at string) {
	t.Helper()
	const domain = "people.example.com"
	key := d.Key
	d.Key = d.newKey(t, strings.TrimPrefix(at, "/org/"))
	site := harness.MadeSite(t, 3)
	d.publish(t, site, domain)
	first := d.exportOfPeople(t, v, at, domain)
	// A second snapshot, with something to find.
	page := filepath.Join(site, "lost.mdx")
	if err := os.WriteFile(page, []byte("---\ntitle: Lost\n---\n\n[Nowhere](/not-there)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.publish(t, site, domain)
	d.Key = key
	job := d.exportOfPeople(t, v, at, domain)
	v.See(job, http.StatusOK, "What changed for readers", "/lost")
	v.Send(first+"/promote", http.StatusOK)
	v.See(first, http.StatusOK, ">live</span> since")
	v.See(job+"/findings", http.StatusOK, "[Nowhere](/not-there)")
	link := regexp.MustCompile(`href="([^"]*bundle\.tar\.gz[^"]*)"`).FindStringSubmatch(v.Send(job+"/bundle", http.StatusOK).Body)
	if link == nil {
		t.Fatal("there is no link to the bundle")
	}
	if s := v.Ask(http.MethodGet, html.UnescapeString(link[1]), nil); s.Status != http.StatusOK || len(s.Body) < 1000 {
		t.Errorf("the bundle: %d, %d bytes", s.Status, len(s.Body))
	}
	id := job[strings.LastIndex(job, "/")+1:]
	for _, object := range []string{"exports/" + id + "/bundle.tar.gz", admin.FindingsKey(id)} {
		if err := d.objects().Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	v.Send(job+"/bundle", http.StatusGone)
	v.See(job+"/findings", http.StatusGone)

	gate := d.hold("/diagnostics.jsonl")
	job = d.startOfPeople(t, v, at, domain)
	gate.met(t)
	v.See(job+"/cancel", http.StatusOK, "Cancel this export?")
	s := v.Send(job+"/cancel", http.StatusOK)
	gate.open()
	if !strings.Contains(s.Body, "cancelled") {
		t.Errorf("the cancelled export: %s", s.Body)
	}
}

// startOfPeople starts an export and returns the path of its page.
func (d *deployment) startOfPeople(t *testing.T, v *harness.Visitor, at, domain string) string {
	t.Helper()
	s := v.Send(at+"/exports", http.StatusOK, "domain", domain)
	path, ok := strings.CutPrefix(s.At.Path, strings.TrimSuffix(mustParse(t, v.Base).Path, "/"))
	if !ok || !strings.Contains(path, "/exports/exp_") {
		t.Fatalf("the export is at %s", s.At)
	}
	return path
}

// exportOfPeople is startOfPeople, and waits until the export is completed.
func (d *deployment) exportOfPeople(t *testing.T, v *harness.Visitor, at, domain string) string {
	t.Helper()
	job := d.startOfPeople(t, v, at, domain)
	for until := time.Now().Add(2 * time.Minute); !strings.Contains(v.See(job, http.StatusOK).Body, ">completed</span>"); time.Sleep(time.Second) {
		if time.Now().After(until) {
			t.Fatal("the export does not end")
		}
	}
	return job
}

// folderOfPeople publishes a folder as the script of the page does, through links that
// the bucket takes from the dashboard's pages.
func (d *deployment) folderOfPeople(t *testing.T, v *harness.Visitor, org admin.Organisation) {
	t.Helper()
	project, err := d.admin.CreateProject(t.Context(), admin.Project{Organisation: org.ID, Domain: "dropped.example.com", Repository: "https://git.example.com/docs"})
	if err != nil {
		t.Fatal(err)
	}
	at := "/org/" + org.ID + "/projects/" + project.ID + "/publish"
	policy := v.See(at, http.StatusOK, "Publish a folder").Header.Get("Content-Security-Policy")
	texts := []string{`{"name": "Dropped", "navigation": {"pages": ["index"]}}`, "# Hello\n"}
	var files []map[string]any
	for i, name := range []string{"docs.json", "index.mdx"} {
		files = append(files, map[string]any{"path": name, "size": len(texts[i]), "sha256": harness.Digest([]byte(texts[i]))})
	}
	var around struct{ Files []int }
	v.SendJSON(at+"/look", map[string]any{"root": true, "folders": []string{".git"}, "files": []string{"docs.json", "index.mdx", ".env"}}, &around)
	if !slices.Equal(around.Files, []int{0, 1}) {
		t.Errorf("published are the files %v", around.Files)
	}
	var plan struct{ Base, Once string }
	v.SendJSON(at+"/plan", map[string]any{"files": files}, &plan)
	pack := texts[0] + texts[1]
	var begun struct {
		Snapshot string
		Uploads  []struct {
			Method, URL string
			Headers     map[string]string
		}
	}
	v.SendJSON(at+"/begin", map[string]any{"base": plan.Base, "files": files, "packs": []string{harness.Digest([]byte(pack))}}, &begun)
	if len(begun.Uploads) != 1 {
		t.Fatalf("%d packs are missing", len(begun.Uploads))
	}
	u := begun.Uploads[0]
	if to := mustParse(t, u.URL); !strings.Contains(policy, "connect-src 'self' "+to.Scheme+"://"+to.Host+";") {
		t.Errorf("the policy lets the page not send to %s: %s", to.Host, policy)
	}
	origin := mustParse(t, v.Base)
	send := func(method string, header map[string]string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, u.URL, strings.NewReader(pack))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin.Scheme+"://"+origin.Host)
		for name, value := range header {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	asked := slices.Sorted(maps.Keys(u.Headers))
	if a := send(http.MethodOptions, map[string]string{"Access-Control-Request-Method": u.Method, "Access-Control-Request-Headers": strings.ToLower(strings.Join(asked, ","))}); a.StatusCode != http.StatusOK || a.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("the bucket answers the page's question with %d %v", a.StatusCode, a.Header)
	}
	if a := send(u.Method, u.Headers); a.StatusCode != http.StatusOK {
		t.Fatalf("the upload: %s", a.Status)
	}
	var end struct{ Page string }
	v.SendJSON(at+"/finish", map[string]any{"snapshot": begun.Snapshot, "once": plan.Once}, &end)
	if base := strings.TrimSuffix(origin.Path, "/"); !strings.HasPrefix(end.Page, base+"/org/"+org.ID+"/exports/exp_") {
		t.Errorf("the export is at %s", end.Page)
	}
	if p, err := d.admin.LatestSnapshot(t.Context(), d.admin.Operator(org.ID), "dropped.example.com"); err != nil || p.ID != begun.Snapshot || p.Files != 2 {
		t.Errorf("the newest snapshot is %+v, %v", p, err)
	}
}

// agentsOfPeople asks an agent, and takes it back.
func (d *deployment) agentsOfPeople(t *testing.T, v *harness.Visitor, org admin.Organisation) {
	t.Helper()
	project, err := d.admin.CreateProject(t.Context(), admin.Project{
		Organisation: org.ID, Domain: "asked.example.com", Repository: d.agents.url + "/acme/docs", Agent: admin.AgentSettings{Forge: string(d.agents.forge.Kind)},
	})
	if err != nil {
		t.Fatal(err)
	}
	records := dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table})
	keeper := admin.New(admin.Options{Store: records, Secrets: kmsstore.New(d.aws, kmsstore.Options{Key: d.stack.Outputs["CredentialKeyArn"], Records: records})})
	if _, err := keeper.SetForgeCredential(t.Context(), project.ID, admin.ForgeCredential{Username: d.agents.forge.User, Token: d.agents.forge.Token}); err != nil {
		t.Fatal(err)
	}
	d.putSecret(t, "ModelSecretArn", `{"scripted":"`+agentModelKey+`"}`)
	at := "/org/" + org.ID
	// A picture is no text: the gateway must leave its bytes as they are.
	picture := []byte("\x89PNG\r\n\x1a\n\x00\xff\xfe\x80")
	s := v.SendFile(at+"/agents", http.StatusOK, "a.png", picture, "project", project.ID, "prompt", "Mend the spelling")
	job := s.At.Path[strings.LastIndex(s.At.Path, "/")+1:]
	if !strings.HasPrefix(job, "agj_") {
		t.Fatalf("the job is at %s: %s", s.At, s.Body)
	}
	if !strings.Contains(s.Body, "a.png") || !strings.Contains(s.Body, "picture, 12 B") {
		t.Errorf("the job's page lacks its file: %s", s.Body)
	}
	v.Send(at+"/agents/"+project.ID+"/"+job+"/cancel", http.StatusOK)
	for until := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		j, err := d.admin.FindAgentJob(t.Context(), project.ID, job)
		if err != nil {
			t.Fatal(err)
		}
		if j.Status == admin.AgentFailed && j.Failure.Code == admin.CodeCancelled {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("the job is %+v", j)
		}
	}
}

// dashboardsRights holds the function's calls against what it is granted, both ways,
// as grantedIsCalled does for all.
func (d *deployment) dashboardsRights(t *testing.T) {
	t.Helper()
	granted, called := d.grantedRights(t)["dashboard"], d.calledRights(t)["dashboard"]
	for c := range called {
		if !slices.ContainsFunc(granted, func(g right) bool { return g.covers(c) }) {
			t.Errorf("it calls %s on %s, which it is not granted", c.action, c.resource)
		}
	}
	for _, g := range granted {
		covered := false
		for c := range called {
			covered = covered || g.covers(c)
		}
		if !covered {
			t.Errorf("it is granted %s on %s and never calls it", g.action, g.resource)
		}
	}
	t.Logf("%d rights, %d different calls", len(granted), len(called))
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
