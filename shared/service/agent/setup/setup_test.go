package setup_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/agent/setup"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/local"
)

// table is one of a single model, best, at this server.
func table(t *testing.T, server string) *model.Table {
	t.Helper()
	made, err := model.ParseTable([]byte(`{"default": "best", "servers": {"one": ` + server + `},
		"models": {"best": {"server": "one", "model": "m", "context": 1000, "output": 100}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestModelName(t *testing.T) {
	have := table(t, `{"base": "https://models.example.com", "auth": "none"}`)
	for _, name := range []string{"", "best"} {
		if got, err := setup.ModelName(have, name); err != nil || got != "best" {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	if _, err := setup.ModelName(have, "other"); admin.CodeOf(err) != admin.CodeModelMissing {
		t.Errorf("a name that is not there: %v", err)
	}
	if _, err := setup.ModelName(nil, ""); admin.CodeOf(err) != admin.CodeModelMissing {
		t.Errorf("no table: %v", err)
	}
}

func TestServersThatCannotBeAsked(t *testing.T) {
	noKey := setup.ModelOptions{Key: func(model.Server) (string, error) { return " \n", nil }}
	for want, server := range map[string]string{
		`model server "one": it has no key`:                `{"base": "https://models.example.com", "auth": "bearer"}`,
		`model server "one": nothing signs requests to it`: `{"base": "https://models.example.com", "auth": "sigv4", "region": "eu-central-1", "service": "bedrock"}`,
	} {
		if _, err := setup.NewModels(table(t, server), noKey); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}

// A server that wants signatures gets one that names its region and service.
func TestSigned(t *testing.T) {
	s := modeltest.New(t, modeltest.Text("Done."))
	m, err := setup.NewModels(table(t, `{"base": "`+s.URL+`", "allowHTTP": true, "auth": "sigv4", "region": "eu-central-1", "service": "bedrock"}`), setup.ModelOptions{
		Sign: func(s model.Server) (setup.Sign, error) {
			return func(_ context.Context, r *http.Request, digest string) error {
				r.Header.Set("Authorization", s.Region+" "+s.Service+" "+digest)
				return nil
			}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Model("")
	if err != nil || found.ID != "m" || found.MaxOutput != 100 {
		t.Fatalf("the model is %+v, %v", found, err)
	}
	if _, err := found.Client.Ask(t.Context(), model.Request{Model: found.ID, MaxTokens: 10, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Type: model.TypeText, Text: "x"}}},
	}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests()[0].Header.Get("Authorization"); !strings.HasPrefix(got, "eu-central-1 bedrock ") || len(got) < 80 {
		t.Errorf("the request came with %q", got)
	}
}

func TestForges(t *testing.T) {
	ctx := t.Context()
	l, err := local.Open(ctx, local.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	a := admin.New(admin.Options{Store: l.Store(), Secrets: l.Secrets()})
	o, err := a.CreateOrganisation(ctx, admin.Organisation{Name: "Acme", Plan: admin.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	forges, err := setup.NewForges(a, forge.Options{AllowHosts: []string{"git.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct {
		repository string
		kind       string
		credential bool
		want       string // in the message; empty for a project that is ready
	}{
		{"https://git.example.com/acme/docs", "gitea", true, ""},
		{"https://git.example.com/acme/docs", "gitea", false, "no credential"},
		{"https://git.example.com/acme/docs", "", true, "which kind of forge"},
		{"https://github.com/acme/docs", "", true, "not a host that the operator"},
		{"ssh://git.example.com/acme/docs", "gitea", true, "must begin with https"},
	} {
		p, err := a.CreateProject(ctx, admin.Project{
			Organisation: o.ID, Domain: fmt.Sprintf("docs%d.example.com", n), Repository: c.repository, Agent: admin.AgentSettings{Forge: c.kind},
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.credential {
			if _, err := a.SetForgeCredential(ctx, p.ID, admin.ForgeCredential{Token: "sesame"}); err != nil {
				t.Fatal(err)
			}
		}
		err = forges.Ready(ctx, p)
		f, r, ferr := forges.Forge(ctx, p)
		shown, _ := json.Marshal(fmt.Sprintf("%+v %#v %v %v", f, f, err, ferr))
		if strings.Contains(string(shown), "sesame") {
			t.Errorf("%s: the credential shows itself: %s", c.repository, shown)
		}
		if c.want == "" {
			if err != nil || ferr != nil || r.URL != c.repository {
				t.Errorf("%s: %v, %v", c.repository, err, ferr)
			}
			continue
		}
		if admin.CodeOf(err) != admin.CodeForgeMissing || !strings.Contains(err.Error(), c.want) || ferr == nil {
			t.Errorf("%s: %v, %v; want %s", c.repository, err, ferr, c.want)
		}
	}
}
