package forges_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// TestGitHubApps: a project's own App goes before the operator's. The steps of jobs
// share a token until shortly before its end, and an App that takes another's place
// has a token of its own.
func TestGitHubApps(t *testing.T) {
	ctx := t.Context()
	var mu sync.Mutex
	now := time.Now().UTC().Truncate(time.Second)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	minted, used := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		installation, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/access_tokens"), "/api/v3/app/installations/")
		switch {
		case ok:
			minted++
			w.WriteHeader(http.StatusCreated)
			_, _ = fmt.Fprintf(w, `{"token":"ghs_%s_%d","expires_at":%q}`, installation, minted, now.Add(time.Hour).Format(time.RFC3339))
		case strings.HasSuffix(r.URL.Path, "/installation"):
			_, _ = io.WriteString(w, `{"id":7}`)
		default:
			used = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			_, _ = io.WriteString(w, `[]`)
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	options := forge.Options{AllowPrivate: []string{u.Host}, AllowHTTP: true, Now: clock}
	if options.Credentials, err = forge.NewApp(options, forge.AppKey{ID: "1", PEM: key, Host: u.Host}); err != nil {
		t.Fatal(err)
	}
	a, o := acme(t)
	create := func(domain, kind string) admin.Project {
		t.Helper()
		p, err := a.CreateProject(ctx, admin.Project{Organisation: o.ID, Domain: domain, Repository: server.URL + "/acme/docs", Agent: admin.AgentSettings{Forge: kind}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	forges, err := forges.New(a, options)
	if err != nil {
		t.Fatal(err)
	}
	github, gitea := create("a.example.com", "github"), create("b.example.com", "gitea")
	// ask makes a step's request of a forge, and returns the token that it had.
	ask := func() string {
		t.Helper()
		if err := forges.Ready(ctx, github); err != nil {
			t.Fatal(err)
		}
		f, r, err := forges.Forge(ctx, github)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.FindPull(ctx, r, "a", "main"); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		return used
	}
	own := func(installation string) {
		t.Helper()
		if _, err := a.SetForgeCredential(ctx, github.ID, admin.ForgeCredential{App: "2", Installation: installation, Key: string(key)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, want string
		before     func()
	}{
		{"the operator's", "ghs_7_1", func() {}},
		{"the next step", "ghs_7_1", func() {}},
		{"the project's own", "ghs_42_2", func() { own("42") }},
		{"the next step of it", "ghs_42_2", func() { own("42") }},
		{"another installation", "ghs_43_3", func() { own("43") }},
		{"shortly before the end", "ghs_43_4", func() { mu.Lock(); defer mu.Unlock(); now = now.Add(51 * time.Minute) }},
		{"the repository's installation", "ghs_7_5", func() { own("") }},
		{"the operator's again", "ghs_7_6", func() {
			if err := a.RemoveForgeCredential(ctx, github.ID); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		c.before()
		if got := ask(); got != c.want {
			t.Errorf("%s: the token is %q, want %q", c.name, got, c.want)
		}
	}
	if err := forges.Ready(ctx, gitea); admin.CodeOf(err) != admin.CodeForgeMissing {
		t.Errorf("a project on Gitea without a credential: %v", err)
	}
	if _, _, err := forges.Forge(ctx, gitea); admin.CodeOf(err) != forge.CodeCredential {
		t.Errorf("its forge: %v", err)
	}
	for _, bad := range []admin.ForgeCredential{
		{App: "2"}, {App: "2", Key: strings.Repeat("k", 4000)}, {App: "2", Key: "k", Token: "t"}, {App: "2", Key: "k", Installation: "x"}, {Key: "k"}, {Token: string(key)},
	} {
		if _, err := a.SetForgeCredential(ctx, github.ID, bad); admin.CodeOf(err) != admin.CodeInvalid {
			t.Errorf("a credential that can't be: %v", err)
		}
	}
}
