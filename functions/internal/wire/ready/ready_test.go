package ready

import (
	"context"
	"testing"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretrow"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

const table = `{"default": "best", "servers": {"one": {"base": "https://models.example.com", "auth": "none"}},
	"models": {"best": {"server": "one", "model": "m", "context": 1000, "output": 100}}}`

// TestReady: an agent can work where the table has the model, the host is one of
// the operator's, and there is a record of a credential, which can't be opened, or
// the operator's GitHub App serves the repository.
func TestReady(t *testing.T) {
	ctx := t.Context()
	l, err := local.Open(ctx, local.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	for _, c := range []struct {
		name, domain, table, repository, model string
		kind, appHost                          string
		credential                             bool
		want                                   string // a code; empty for ready
	}{
		{"ready", "a.example.com", table, "https://git.example.com/acme/docs", "", "gitea", "", true, ""},
		{"no models", "b.example.com", "", "https://git.example.com/acme/docs", "", "gitea", "", true, admin.CodeModelMissing},
		{"another model", "c.example.com", table, "https://git.example.com/acme/docs", "fast", "gitea", "", true, admin.CodeModelMissing},
		{"another host", "d.example.com", table, "https://github.com/acme/docs", "", "github", "", true, admin.CodeForgeMissing},
		{"no credential", "e.example.com", table, "https://git.example.com/acme/docs", "best", "gitea", "", false, admin.CodeForgeMissing},
		{"the App", "f.example.com", table, "https://git.example.com/acme/docs", "best", "github", "git.example.com", false, ""},
		{"the App and another kind of forge", "g.example.com", table, "https://git.example.com/acme/docs", "best", "gitea", "git.example.com", false, admin.CodeForgeMissing},
		{"an App of another host", "h.example.com", table, "https://git.example.com/acme/docs", "best", "github", "github.com", false, admin.CodeForgeMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &wire.Wiring{Records: l.Store(), Env: config.Function{ModelTable: c.table, ForgeHosts: []string{"git.example.com"}}}
			if c.appHost != "" {
				w.Env.GitHubApp, w.Env.GitHubAppHost = "17", c.appHost
			}
			if err := Open(w); err != nil {
				t.Fatal(err)
			}
			w.Admin = admin.New(admin.Options{Store: w.Records, Secrets: w.Secrets, AgentReady: w.AgentReady})
			o, err := w.Admin.CreateOrganisation(ctx, admin.Organisation{Name: "Acme", Plan: admin.PlanPro})
			if err != nil {
				t.Fatal(err)
			}
			p, err := w.Admin.CreateProject(ctx, admin.Project{
				Organisation: o.ID, Domain: c.domain, Repository: c.repository, Agent: admin.AgentSettings{Forge: c.kind},
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.credential {
				key := secretrow.Key(store.SecretOwner{Organisation: o.ID, Project: p.ID})
				if err := w.Records.Write(ctx, []store.Record{{Key: key, Value: []byte(`{"since":"2026-03-14T09:00:00Z","ciphertext":"eA=="}`)}}, nil); err != nil {
					t.Fatal(err)
				}
			}
			model, err := w.AgentReady(ctx, p, c.model)
			if admin.CodeOf(err) != c.want && c.want != "" || c.want == "" && (err != nil || model != "best") {
				t.Errorf("%q, %v; want %q", model, err, c.want)
			}
			if _, err := w.Admin.ForgeCredential(ctx, p.ID); err == nil {
				t.Error("the credential was opened")
			}
		})
	}
	for name, env := range map[string]config.Function{
		"a table that can't be read": {ModelTable: "{"},
		"a host that can't be":       {ForgePrivateHosts: []string{"https://git.example.com/x"}},
		"an App that can't be":       {GitHubApp: "17/8", GitHubAppHost: "github.com"},
	} {
		if err := Open(&wire.Wiring{Env: env}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
