package forges_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/local"
)

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
	made, err := forges.New(a, forge.Options{AllowHosts: []string{"git.example.com"}})
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
		err = made.Ready(ctx, p)
		f, r, ferr := made.Forge(ctx, p)
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
