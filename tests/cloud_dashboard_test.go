package tests

import (
	"bufio"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/tests/outside"
)

// idProvider is an OpenID provider on this machine, on whose pages everybody is who
// they say.
type idProvider struct {
	port   string
	issuer string
	secret string
}

// newIDProvider takes a port for one; it begins with serve.
func newIDProvider(t *testing.T) idProvider {
	t.Helper()
	port := outside.Port(t)
	return idProvider{port: port, issuer: "http://127.0.0.1:" + port, secret: "sesame-of-the-dashboard"}
}

// serve runs the provider until the test ends, for a dashboard that people come back
// to at redirect.
func (p idProvider) serve(t *testing.T, redirect string) {
	t.Helper()
	library := filepath.Dir(filepath.Dir(outside.Tool(t, "an OpenID provider", "oidc", "node_modules", "oidc-provider", "package.json")))
	about, err := json.Marshal(map[string]any{"port": p.port, "client": "bindery", "secret": p.secret, "redirect": redirect, "groups": map[string][]string{"bob": {"writers"}}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), outside.Program(t, "node"), filepath.Join(outside.Checkout(t), "tests", "tools", "oidc", "provider.mjs"), library, string(about))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "listening" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	t.Fatal("the OpenID provider has ended")
}

// visitor is somebody at a browser without scripts, who follows where pages lead.
type visitor struct {
	*http.Client
	t    *testing.T
	base string // of the dashboard
}

// screen is a page as a visitor sees it.
type screen struct {
	status int
	at     *url.URL
	header http.Header
	body   string
}

func newVisitor(t *testing.T, base string) *visitor {
	jar, _ := cookiejar.New(nil) // it has no error
	return &visitor{&http.Client{Jar: jar, Timeout: time.Minute}, t, base}
}

func (v *visitor) do(method, address string, form url.Values) screen {
	v.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(v.t.Context(), method, address, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
	}
	res, err := v.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return screen{res.StatusCode, res.Request.URL, res.Header, string(text)}
}

// see reads a page of the dashboard, of which it wants a status and texts.
func (v *visitor) see(path string, status int, texts ...string) screen {
	v.t.Helper()
	return v.holds(v.do(http.MethodGet, v.base+path, nil), path, status, texts...)
}

// send sends a form of the dashboard, in pairs.
func (v *visitor) send(path string, status int, pairs ...string) screen {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.holds(v.do(http.MethodPost, v.base+path, form), path, status)
}

func (v *visitor) holds(s screen, path string, status int, texts ...string) screen {
	v.t.Helper()
	if s.status != status {
		v.t.Fatalf("%s: %d, want %d: %s", path, s.status, status, s.body)
	}
	for _, text := range texts {
		if !strings.Contains(s.body, text) {
			v.t.Errorf("%s lacks %q: %s", path, text, s.body)
		}
	}
	return s
}

var actionOf = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)

// signIn goes to the provider and comes back, to a page of the dashboard.
func (v *visitor) signIn(name, next string) screen {
	v.t.Helper()
	s := v.see("/sign-in?next="+url.QueryEscape(next), http.StatusOK, "Sign in")
	s = v.do(http.MethodGet, v.base+"/sign-in/start?next="+url.QueryEscape(next), nil)
	for _, prompt := range []string{"login", "consent"} {
		action := actionOf.FindStringSubmatch(s.body)
		if action == nil {
			v.t.Fatalf("the provider's %s has no form: %d %s %s", prompt, s.status, s.at, s.body)
		}
		s = v.do(http.MethodPost, html.UnescapeString(action[1]), url.Values{"prompt": {prompt}, "login": {name}, "password": {"any"}})
	}
	return s
}

var madeKey = regexp.MustCompile(`export BINDERY_ADMIN_KEY=([!-;=?-~]+)`)

// dashboard is people's way through the deployed function: signing in at a provider,
// a key that is made, used and revoked, an export that is watched, and what others
// may not.
func (d *deployment) dashboard(t *testing.T) {
	ctx := t.Context()
	d.people.serve(t, d.stack.Outputs["OidcRedirectUrl"])
	org := d.organisation(t, admin.PlanEnterprise, "people.example.com")
	for address, role := range map[string]admin.Role{"ada@example.com": admin.RoleOwner, "bob@example.com": admin.RoleViewer} {
		if _, err := d.admin.Invite(ctx, d.admin.Operator(org.ID), address, role); err != nil {
			t.Fatal(err)
		}
	}
	at, home := "/org/"+org.ID, d.stack.Outputs["DashboardUrl"]
	ada, bob := newVisitor(t, home), newVisitor(t, home)
	if s := ada.see("/", http.StatusOK, "Sign in"); !strings.HasSuffix(s.at.Path, "/sign-in") {
		t.Errorf("the first page is at %s", s.at)
	}
	if s := ada.signIn("ada", "/"); s.status != http.StatusServiceUnavailable || !strings.Contains(s.body, "has set up yet") {
		t.Errorf("without the provider's secret: %d %s", s.status, s.body)
	}
	d.putSecret(t, "OidcSecretArn", d.people.secret+"\n")
	ada = newVisitor(t, home)
	if s := ada.signIn("ada", at+"/keys"); s.status != http.StatusOK || !strings.HasSuffix(s.at.Path, at+"/keys") || !strings.Contains(s.body, "people.example.com") {
		t.Fatalf("signed in, at %s: %d %s", s.at, s.status, s.body)
	}
	d.pageAssets(t, ada)

	made := ada.send(at+"/keys", http.StatusOK, "name", "pipeline", "scopes", "read", "scopes", "write", "expiry", "7")
	found := madeKey.FindStringSubmatch(html.UnescapeString(made.body))
	if found == nil {
		t.Fatalf("no key is shown: %s", made.body)
	}
	header := map[string]string{"Authorization": "Bearer " + found[1]}
	if status, code := d.ask(t, "GET", "/v1/organisation", "", header); status != http.StatusOK {
		t.Errorf("the key: %d %s", status, code)
	}

	d.exportsOfPeople(t, ada, at)
	d.agentsOfPeople(t, ada, org)

	if s := bob.signIn("bob", at+"/exports"); s.status != http.StatusOK {
		t.Fatalf("a viewer: %d %s", s.status, s.body)
	}
	bob.see(at+"/keys", http.StatusForbidden)
	bob.send(at+"/exports", http.StatusForbidden, "domain", "people.example.com")

	keys, err := d.admin.ListKeys(ctx, org.ID)
	pipeline := slices.IndexFunc(keys, func(k admin.Key) bool { return k.Name == "pipeline" })
	if err != nil || pipeline < 0 {
		t.Fatalf("the keys are %v, %v", keys, err)
	}
	ada.send(at+"/keys/"+keys[pipeline].ID+"/revoke", http.StatusOK)
	if status, code := d.ask(t, "GET", "/v1/organisation", "", header); status != http.StatusUnauthorized {
		t.Errorf("the revoked key: %d %s", status, code)
	}
	stolen := newVisitor(t, home)
	stolen.Jar.SetCookies(mustParse(t, home), ada.Jar.Cookies(mustParse(t, home)))
	ada.send("/sign-out", http.StatusOK)
	if s := stolen.see(at+"/keys", http.StatusOK, "Sign in"); !strings.HasSuffix(s.at.Path, "/sign-in") {
		t.Errorf("a cookie of before the sign-out leads to %s", s.at)
	}
	entries, _, err := d.admin.Audit(ctx, d.admin.Operator(org.ID), admin.AuditList{Action: "member.joined"})
	if err != nil || len(entries) != 2 || entries[0].Address == "" {
		t.Errorf("the audit log has %+v, %v", entries, err)
	}
	d.dashboardsRights(t)
}

// pageAssets: style sheet, script and icon come as text, below the stage's path.
func (d *deployment) pageAssets(t *testing.T, v *visitor) {
	t.Helper()
	page := v.see("/me", http.StatusOK)
	assets := regexp.MustCompile(` (?:href|src)="([^"]*/assets/[^"]*)"`).FindAllStringSubmatch(page.body, -1)
	if len(assets) < 3 {
		t.Fatalf("the page loads only %v", assets)
	}
	for _, asset := range assets {
		to, err := page.at.Parse(html.UnescapeString(asset[1]))
		if err != nil {
			t.Fatal(err)
		}
		if s := v.do(http.MethodGet, to.String(), nil); s.status != http.StatusOK || s.body == "" || !strings.Contains(s.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %v", to, s.status, s.header)
		}
	}
}

// exportsOfPeople starts an export, sees it end, and cancels another one.
func (d *deployment) exportsOfPeople(t *testing.T, v *visitor, at string) {
	t.Helper()
	const domain = "people.example.com"
	key := d.key
	d.key = d.newKey(t, strings.TrimPrefix(at, "/org/"))
	site := madeSite(t, 3)
	d.publish(t, site, domain)
	// A second snapshot, with something to find.
	page := filepath.Join(site, "lost.mdx")
	if err := os.WriteFile(page, []byte("---\ntitle: Lost\n---\n\n[Nowhere](/not-there)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.publish(t, site, domain)
	d.key = key
	start := func() string {
		t.Helper()
		s := v.send(at+"/exports", http.StatusOK, "domain", domain)
		path, ok := strings.CutPrefix(s.at.Path, strings.TrimSuffix(mustParse(t, v.base).Path, "/"))
		if !ok || !strings.Contains(path, "/exports/exp_") {
			t.Fatalf("the export is at %s", s.at)
		}
		return path
	}
	job := start()
	for until := time.Now().Add(2 * time.Minute); !strings.Contains(v.see(job, http.StatusOK).body, "completed"); time.Sleep(time.Second) {
		if time.Now().After(until) {
			t.Fatal("the export does not end")
		}
	}
	v.see(job+"/findings", http.StatusOK, "[Nowhere](/not-there)")
	link := regexp.MustCompile(`href="([^"]*bundle\.tar\.gz[^"]*)"`).FindStringSubmatch(v.send(job+"/bundle", http.StatusOK).body)
	if link == nil {
		t.Fatal("there is no link to the bundle")
	}
	if s := v.do(http.MethodGet, html.UnescapeString(link[1]), nil); s.status != http.StatusOK || len(s.body) < 1000 {
		t.Errorf("the bundle: %d, %d bytes", s.status, len(s.body))
	}
	id := job[strings.LastIndex(job, "/")+1:]
	for _, object := range []string{"exports/" + id + "/bundle.tar.gz", admin.FindingsKey(id)} {
		if err := d.objects().Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	v.send(job+"/bundle", http.StatusGone)
	v.see(job+"/findings", http.StatusGone)

	gate := d.hold("/diagnostics.jsonl")
	job = start()
	gate.met(t)
	v.see(job+"/cancel", http.StatusOK, "Cancel this export?")
	s := v.send(job+"/cancel", http.StatusOK)
	gate.open()
	if !strings.Contains(s.body, "cancelled") {
		t.Errorf("the cancelled export: %s", s.body)
	}
}

// agentsOfPeople asks an agent, and takes it back.
func (d *deployment) agentsOfPeople(t *testing.T, v *visitor, org admin.Organisation) {
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
	s := v.send(at+"/agents", http.StatusOK, "project", project.ID, "prompt", "Mend the spelling")
	job := s.at.Path[strings.LastIndex(s.at.Path, "/")+1:]
	if !strings.HasPrefix(job, "agj_") {
		t.Fatalf("the job is at %s: %s", s.at, s.body)
	}
	v.send(at+"/agents/"+project.ID+"/"+job+"/cancel", http.StatusOK)
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
