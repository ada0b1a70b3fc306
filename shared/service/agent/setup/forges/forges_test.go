package forges_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/local"
)

func TestForges(t *testing.T) {
	ctx := t.Context()
	a, o := acme(t)
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

// acme returns a service and an organisation that may have agents.
func acme(t *testing.T) (*admin.Service, admin.Organisation) {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	a := admin.New(admin.Options{Store: l.Store(), Secrets: l.Secrets()})
	o, err := a.CreateOrganisation(t.Context(), admin.Organisation{Name: "Acme", Plan: admin.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	return a, o
}

// roundTrip answers requests without a network.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// A further repository is asked with the project's credential on the host of its own
// repository alone, never with the operator's App, and without a credential only on
// public hosts.
func TestFurther(t *testing.T) {
	ctx := t.Context()
	a, o := acme(t)
	var asked []string // address and whether there was a credential
	options := forge.Options{
		AllowHosts: []string{"git.example.com", "other.example.com", "github.com"}, AllowPrivate: []string{"git.internal:8443", "Git.Intranet"}, AllowHTTP: true, Retry: forge.Retry{Attempts: 1},
		Client: &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
			asked = append(asked, fmt.Sprintf("%s%s %v", r.URL.Host, r.URL.Path, r.Header.Get("Authorization") != ""))
			return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}
		})},
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	if options.Credentials, err = forge.NewApp(options, forge.AppKey{ID: "1", PEM: key, Host: "github.com"}); err != nil {
		t.Fatal(err)
	}
	made, err := forges.New(a, options)
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: "a.example.com", Repository: "https://git.example.com/acme/docs", Agent: admin.AgentSettings{Forge: "gitea"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.SetForgeCredential(ctx, own.ID, admin.ForgeCredential{Token: "sesame"}); err != nil {
		t.Fatal(err)
	}
	inside, err := a.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: "c.example.com", Repository: "https://git.internal:8443/acme/docs", Agent: admin.AgentSettings{Forge: "gitea"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.SetForgeCredential(ctx, inside.ID, admin.ForgeCredential{Token: "sesame"}); err != nil {
		t.Fatal(err)
	}
	app, err := a.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: "b.example.com", Repository: "https://github.com/acme/docs"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		project admin.Project
		address string
		want    string // what is asked, or in the error
	}{
		{own, "https://git.example.com/acme/cli", "git.example.com/acme/cli.git/info/refs true"},
		{own, "https://GIT.example.com:443/acme/cli", "git.example.com/acme/cli.git/info/refs true"},
		{own, "https://other.example.com/acme/cli", "other.example.com/acme/cli/info/refs false"},
		{own, "https://github.com/acme/cli", "github.com/acme/cli.git/info/refs false"},
		{own, "https://git.internal:8443/acme/cli", "no credential for git.internal:8443"},
		{own, "https://git.intranet/acme/cli", "no credential for git.intranet"},
		{own, "https://evil.example/acme/cli", "not a host that the operator"},
		{own, "http://git.example.com/acme/cli", "not a host that the operator"},
		{inside, "https://git.internal:8443/acme/cli", "git.internal:8443/acme/cli.git/info/refs true"},
		{inside, "http://git.internal:8443/acme/cli", "no credential for git.internal:8443"},
		{app, "https://github.com/other/secret", "github.com/other/secret.git/info/refs false"},
	} {
		asked = nil
		f, r, err := made.Further(ctx, c.project, c.address)
		got := fmt.Sprint(err)
		if err == nil {
			if _, err := f.Fetch(ctx, r, "main"); admin.CodeOf(err) != forge.CodeNotFound {
				t.Errorf("%s: %v", c.address, err)
			}
			got = strings.Join(asked, "; ")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.address, got, c.want)
		}
	}
}
