package dashboard_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

// TestGroupsOfAProvider: the claim's groups are roles, the greatest of several,
// for as long as the provider says so.
func TestGroupsOfAProvider(t *testing.T) {
	is, with := newIssuer(t)
	groups := dashboard.Groups{}
	w := newWorld(t, with, func(o *dashboard.Options) {
		o.Provider.Groups, o.Provider.GroupsClaim = groups, "https://example.com/groups"
	})
	is.w = w
	x := w.tenant("Own", "docs.example.com")
	if _, err := w.Invite(w.ctx, w.Operator(x.ID), "root@example.com", admin.RoleOwner); err != nil {
		t.Fatal(err)
	}
	groups["CN=Writers, OU=Docs"] = map[string]admin.Role{x.ID: admin.RoleMember}
	groups["leads"] = map[string]admin.Role{x.ID: admin.RoleAdmin}
	for _, c := range []struct {
		name   string
		claim  any
		status int // of a form for admins
	}{
		{"a list", []string{"everybody", "CN=Writers, OU=Docs", "leads"}, 200},
		{"one text", "CN=Writers, OU=Docs", 403},
		{"no text", []any{1, map[string]any{"leads": "leads"}}, 404},
		{"one again", "leads", 200},
		{"none", []string{}, 404},
		{"another claim", nil, 404},
	} {
		is.claims = map[string]any{"https://example.com/groups": c.claim, "groups": []string{"leads"}, "email_verified": false}
		b := w.browser()
		b.get(is.begin(b, "")).says(t, c.name, 303)
		b.get("/org/"+x.ID+"/webhooks/new").says(t, c.name, c.status)
	}
	is.claims = map[string]any{
		"_claim_names":   map[string]string{"https://example.com/groups": "src1"},
		"_claim_sources": map[string]any{"src1": map[string]string{"endpoint": "https://graph.example.com/groups"}},
	}
	b := w.browser()
	b.get(is.begin(b, "")).says(t, "too many groups", 401, "You are not signed in")
	if log := w.log.String(); !strings.Contains(log, "too many groups") {
		t.Errorf("the log does not say why: %s", log)
	}
}

func TestTablesOfGroups(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": {"org_1": "owner", "org_2": "viewer"}}`: "",
		`{}`:                          "",
		`{"a": {"org_1": "king"}}`:    "none of owner",
		`{"a": {"docs": "owner"}}`:    "not the id",
		`{"a": "owner"}`:              "not an object",
		`[]`:                          "not an object",
		`{} {}`:                       "more than one",
		`{"a": {"org_1": "owner"}} x`: "more than one",
	} {
		_, err := dashboard.ParseGroups([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestTheSecretIsReadOnce, at the first sign-in that gets so far, and again only
// where that failed.
func TestTheSecretIsReadOnce(t *testing.T) {
	is, with := newIssuer(t)
	reads := 0
	w := newWorld(t, with, func(o *dashboard.Options) {
		o.Provider.ClientSecret = ""
		o.Provider.ReadSecret = func(context.Context) (string, error) {
			if reads++; reads == 1 {
				return "{}", admin.Errorf(admin.CodeTemporary, "nobody has put it there")
			}
			return "sesame", nil
		}
	})
	is.w = w
	for i, status := range []int{503, 303, 303} {
		b := w.browser()
		if b.get(is.begin(b, "?next="+url.QueryEscape("/me"))).says(t, "the answer", status); reads != min(i+1, 2) {
			t.Errorf("%d: read %d times", i, reads)
		}
	}
}
