package server

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// agents opens a server with a forge and a model with a script, and a project of
// the forge's repository without a credential.
func agents(t *testing.T, f *forgetest.Fake, script ...modeltest.Step) (*Server, Seed, admin.Caller, admin.Project) {
	t.Helper()
	m := modeltest.New(t, script...)
	m.Key = "model-key"
	table, err := model.ParseTable([]byte(`{"default": "best", "servers": {"scripted": {"base": "` + m.URL + `", "allowHTTP": true, "auth": "x-api-key"}},
		"models": {"best": {"server": "scripted", "model": "scripted-1", "context": 200000, "output": 8000}}}`))
	if err != nil {
		t.Fatal(err)
	}
	models, err := models.New(table, models.Options{Key: func(s model.Server) (string, error) {
		if s.Name != "scripted" {
			t.Errorf("asked for the key of %q", s.Name)
		}
		return m.Key + "\n", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Addr: "127.0.0.1:0", Models: models, Forge: forge.Options{AllowPrivate: []string{u.Host}, AllowHTTP: true}})
	if err != nil {
		t.Fatal(err)
	}
	s.drain = 5 * time.Minute
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	have, err := s.Seed(t.Context(), SeedDomain)
	if err == nil {
		err = s.Serve(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Admin.CreateProject(t.Context(), admin.Project{
		Organisation: have.Organisation, Domain: "agent.example.com", Repository: f.Repository().URL, Agent: admin.AgentSettings{Forge: string(f.Kind)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, have, admin.Caller{OrganisationID: have.Organisation, Plan: admin.PlanEnterprise, Scopes: []admin.Scope{admin.ScopeWrite}}, p
}

// A prompt becomes a pull request: with the project's credential, the operator's
// model, and the workflow of this process.
func TestPromptToPullRequest(t *testing.T) {
	f := forgetest.New(t)
	f.Write("main", map[string]string{
		"docs.json": "{\n  \"name\": \"Acme\",\n  \"navigation\": {\"pages\": [\"index\"]}\n}\n",
		"index.mdx": "---\ntitle: Welcome\n---\n\nAcme makes widgits.\n",
	})
	s, have, who, p := agents(t, f,
		modeltest.Calls(modeltest.Call{Name: "edit", Input: map[string]any{"path": "index.mdx", "old": "widgits", "new": "widgets"}}),
		modeltest.Calls(modeltest.Call{Name: "finish", Input: map[string]any{"title": "Spell widgets right", "summary": "The start page said widgits."}}),
	)
	ctx, in := t.Context(), admin.StartAgentJob{Project: p.ID, Prompt: "Spell widgets right."}

	_, err := s.Admin.StartAgentJob(ctx, who, in)
	if admin.CodeOf(err) != admin.CodeForgeMissing {
		t.Fatalf("a start without a credential: %v", err)
	}
	if _, err := s.Admin.SetForgeCredential(ctx, p.ID, admin.ForgeCredential{Username: f.User, Token: f.Token}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Admin.StartAgentJob(ctx, who, admin.StartAgentJob{Project: p.ID, Prompt: "x", Model: "other"})
	if admin.CodeOf(err) != admin.CodeModelMissing {
		t.Fatalf("a start with a model that is not there: %v", err)
	}
	_, err = s.Admin.StartAgentJob(ctx, who, admin.StartAgentJob{Project: have.Project, Prompt: "x"})
	if admin.CodeOf(err) != admin.CodeForgeMissing {
		t.Fatalf("a start for another project: %v", err)
	}

	j, err := s.Admin.StartAgentJob(ctx, who, in)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if j, err = s.Admin.FindAgentJob(ctx, p.ID, j.ID); err != nil {
			t.Fatal(err)
		}
		if j.Final() {
			break
		}
	}
	pulls := f.Pulls()
	if j.Status != admin.AgentCompleted || len(pulls) != 1 || j.PRLink != pulls[0].URL {
		t.Fatalf("the job is %+v with the failure %v; the forge has %+v", j, j.Failure, pulls)
	}
	if got := f.Files(pulls[0].Head)["index.mdx"]; !strings.Contains(got, "makes widgets.") {
		t.Errorf("the branch has %q", got)
	}
	seen, err := caller(t, s, have).AgentJob(ctx, p.ID, j.ID)
	if err != nil || seen.PRLink == nil || *seen.PRLink != pulls[0].URL {
		t.Errorf("the API shows %+v, %v", seen, err)
	}
}

// A server that ends does not wait for callers that follow a job.
func TestStreamsEndWithTheServer(t *testing.T) {
	f := forgetest.New(t)
	f.Write("main", map[string]string{"docs.json": `{"name": "Acme", "navigation": {"pages": ["index"]}}`, "index.mdx": "# Acme"})
	s, have, who, p := agents(t, f, modeltest.RateLimited("900"))
	if _, err := s.Admin.SetForgeCredential(t.Context(), p.ID, admin.ForgeCredential{Username: f.User, Token: f.Token}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Admin.StartAgentJob(t.Context(), who, admin.StartAgentJob{Project: p.ID, Prompt: "Mend it."})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr().String()+"/v2/agent/"+p.ID+"/job/"+j.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+have.Key)
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	in := bufio.NewReader(res.Body)
	for said := ""; !strings.Contains(said, `"the model's server`); { // it waits for the model
		if said, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		t.Log(said)
	}
	if err := s.Close(); err != nil { // drain is five minutes
		t.Error(err)
	}
	if rest, err := io.ReadAll(in); err != nil || strings.Contains(string(rest), "event: end") {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
}
