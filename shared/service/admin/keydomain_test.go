package admin_test

import (
	"net/netip"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// A key for one domain sees nothing of the organisation's others.
func TestAKeyForOneDomain(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "two.example.com", Repository: "https://git.example.com/two"})
	if err != nil {
		t.Fatal(err)
	}
	w.tenant("docs.example.net")
	for name, in := range map[string]admin.KeyRequest{
		"another's domain": {Domain: "docs.example.net"}, "no domain": {Domain: "no domain"}, "nobody's domain": {Domain: "x.example.org"},
		"with manage":             {Domain: "docs.example.com", Scopes: []admin.Scope{admin.ScopeManage}},
		"bundle without a domain": {Scopes: []admin.Scope{admin.ScopeBundle}},
		"bundle with read":        {Domain: "docs.example.com", Scopes: []admin.Scope{admin.ScopeBundle, admin.ScopeRead}},
		"bundle with write":       {Domain: "docs.example.com", Scopes: []admin.Scope{admin.ScopeWrite, admin.ScopeBundle}},
	} {
		in.Organisation, in.Name = x.ID, name
		_, _, err := w.CreateKey(w.ctx, in)
		wantCode(t, name, err, admin.CodeInvalid)
	}
	k, secret, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "one", Domain: "two.example.com"})
	if err != nil || k.Domain != "two.example.com" {
		t.Fatal(k, err)
	}
	c, err := w.Authenticate(w.ctx, "Bearer "+secret, netip.MustParseAddr("192.0.2.1"), admin.ScopeRead)
	if err != nil {
		t.Fatal(err)
	}
	w.publish(x)
	other := w.start(x).ID

	_, err = w.GetExport(w.ctx, c, other)
	wantCode(t, "GetExport", err, admin.CodeNotFound)
	_, err = w.CancelExport(w.ctx, c, other, "")
	wantCode(t, "CancelExport", err, admin.CodeNotFound)
	_, err = w.BundleLink(w.ctx, c, other, "")
	wantCode(t, "BundleLink", err, admin.CodeNotFound)
	_, _, err = w.Findings(w.ctx, c, admin.FindingList{Job: other})
	wantCode(t, "Findings", err, admin.CodeNotFound)
	for _, domain := range []string{"", "docs.example.com"} {
		if jobs, next, err := w.ListExports(w.ctx, c, admin.ExportList{Domain: domain}); len(jobs) != 0 || next != "" || err != nil {
			t.Errorf("ListExports of %q: %v, %v", domain, jobs, err)
		}
	}
	_, err = w.StartExport(w.ctx, c, admin.StartExport{Domain: "docs.example.com"})
	wantCode(t, "StartExport", err, admin.CodeDomainNotFound)
	_, err = w.LatestSnapshot(w.ctx, c, "docs.example.com")
	wantCode(t, "LatestSnapshot", err, admin.CodeDomainNotFound)
	_, err = w.ListSnapshots(w.ctx, c, "docs.example.com", "", 0)
	wantCode(t, "ListSnapshots", err, admin.CodeDomainNotFound)
	_, err = w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: x.project.ID, Prompt: "x"})
	wantCode(t, "StartAgentJob", err, admin.CodeNotFound)
	_, _, err = w.ListAgentJobs(w.ctx, c, admin.AgentList{Project: x.project.ID})
	wantCode(t, "ListAgentJobs", err, admin.CodeNotFound)
	_, err = w.MonthUsage(w.ctx, c, "")
	wantCode(t, "MonthUsage", err, admin.CodeScope)
	if own, _, err := w.OwnProjects(w.ctx, c, "", 0); err != nil || len(own) != 1 || own[0].ID != p.ID {
		t.Errorf("OwnProjects: %v, %v", own, err)
	}
	// A request of another key, repeated.
	all := x.caller
	all.Scopes = admin.Scopes()
	agent := admin.StartAgentJob{Project: x.project.ID, Prompt: "x", IdempotencyKey: "k"}
	if _, err := w.StartAgentJob(w.ctx, all, agent); err != nil {
		t.Fatal(err)
	}
	_, err = w.StartAgentJob(w.ctx, c, agent)
	wantCode(t, "StartAgentJob again", err, admin.CodeNotFound)
	export := admin.StartExport{Domain: "docs.example.com", IdempotencyKey: "k"}
	if _, err := w.StartExport(w.ctx, all, export); err != nil {
		t.Fatal(err)
	}
	_, err = w.StartExport(w.ctx, c, export)
	wantCode(t, "StartExport again", err, admin.CodeNotFound)

	// Its own domain, as any other key.
	_, err = w.LatestSnapshot(w.ctx, c, "two.example.com")
	wantCode(t, "its own domain", err, admin.CodeNotFound)
	_, err = w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: p.ID, Prompt: "x"})
	wantCode(t, "its own project", err, "")
}
