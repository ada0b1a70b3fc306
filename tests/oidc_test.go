package tests

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
	p := newIDProvider(t)
	p.serve(t, server.URL+"/sign-in/callback")
	var log strings.Builder
	handler, err = dashboard.New(dashboard.Options{Admin: rules, URL: server.URL, Log: slog.New(slog.NewTextHandler(&log, nil)), Provider: &dashboard.Provider{
		Issuer: p.issuer, ClientID: "bindery", ClientSecret: p.secret, GroupsClaim: "groups",
		Groups: dashboard.Groups{"writers": {org.ID: admin.RoleMember}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, status := range map[string]int{"ada": http.StatusOK, "bob": http.StatusForbidden, "eve": http.StatusNotFound} {
		v := newVisitor(t, server.URL)
		if s := v.signIn(name, "/me"); s.status != http.StatusOK || !strings.Contains(s.body, name) {
			t.Fatalf("%s is at %s: %d %s\n%s", name, s.at, s.status, s.body, log.String())
		}
		v.see("/org/"+org.ID+"/keys", status)
	}
}
