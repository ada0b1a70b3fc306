package dashboard

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestSigningInAtACertifiedProvider: people come by way of a provider of its own
// making, which says addresses and groups in userinfo alone; an invitation finds its
// person, and groups are roles.
func TestSigningInAtACertifiedProvider(t *testing.T) {
	outside.Long(t, "starts an OpenID provider")
	ctx := t.Context()
	l, err := local.Open(ctx, local.Options{Dir: t.TempDir(), Temporary: true, BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	rules := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects()})
	org, err := rules.CreateOrganisation(ctx, admin.Organisation{Name: "Example", Plan: admin.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Invite(ctx, rules.Operator(org.ID), "ada@example.com", admin.RoleOwner); err != nil {
		t.Fatal(err)
	}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	p := harness.NewIDProvider(t)
	p.Serve(t, server.URL+"/sign-in/callback")
	var log strings.Builder
	handler, err = dashboard.New(dashboard.Options{Admin: rules, URL: server.URL, Log: slog.New(slog.NewTextHandler(&log, nil)), Provider: &dashboard.Provider{
		Issuer: p.Issuer, ClientID: "bindery", ClientSecret: p.Secret, GroupsClaim: "groups",
		Groups: dashboard.Groups{"writers": {org.ID: admin.RoleMember}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, status := range map[string]int{"ada": http.StatusOK, "bob": http.StatusForbidden, "eve": http.StatusNotFound} {
		v := harness.NewVisitor(t, server.URL)
		if s := v.SignIn(name, "/me"); s.Status != http.StatusOK || !strings.Contains(s.Body, name) {
			t.Fatalf("%s is at %s: %d %s\n%s", name, s.At, s.Status, s.Body, log.String())
		}
		v.See("/org/"+org.ID+"/keys", status)
	}
}
