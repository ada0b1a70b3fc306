package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/tests/outside"
)

// full is an organisation with more of everything than a page shows, and the
// addresses of one of each.
func full(w *world) (tenant, *browser, *strings.Replacer) {
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	hook, err := w.CreateWebhook(w.ctx, w.Operator(x.ID), admin.CreateWebhook{URL: "https://hooks.example.com/", Events: []string{admin.EventKeyCreated}})
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.PersonCaller(w.ctx, b.person.ID, x.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	var snapshot admin.Snapshot
	var job admin.ExportJob
	var agent admin.AgentJob
	var key admin.Key
	var findings []admin.Finding
	for n := range 120 {
		findings = append(findings, admin.Finding{Severity: "warning", Code: "link-missing", File: fmt.Sprintf("f%03d.mdx", n), Line: 1, Message: "x"})
	}
	for i := range 25 {
		name := fmt.Sprint("n", i)
		if key, _, err = w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: name}); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: name + ".example.com", Repository: "https://git.example.com/docs"}); err != nil {
			w.t.Fatal(err)
		}
		w.as(x, name, admin.RoleMember)
		if _, err := w.Invite(w.ctx, w.Operator(x.ID), "more"+name+"@example.com", admin.RoleViewer); err != nil {
			w.t.Fatal(err)
		}
		site := map[string]string{"docs.json": "{}", "index.mdx": name, name + ".mdx": "x"}
		snapshot = w.publish(x, site)
		job = w.export(x, name, findings...)
		if agent, err = w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: x.project.ID, Prompt: "x", Ref: name}); err != nil {
			w.t.Fatal(err)
		}
		if err := w.FailAgent(w.ctx, agent.Current(), admin.CodeInternal, "x"); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range 25 {
		job = w.deploy(x, fmt.Sprint("v", i), listed)
	}
	w.find(job, findings...)
	w.change(job, 60)
	return x, b, strings.NewReplacer("{org}", x.ID, "{project}", x.project.ID, "{key}", key.ID, "{webhook}", hook.ID, "{person}", b.person.ID,
		"{$}", "", "/exports/{job}", "/exports/"+job.ID, "{job}", agent.ID, "{snapshot}", snapshot.ID, "{delivery}", "evt_none")
}

// Every page is a query or two and a few reads, and what it lists costs one read an
// entry at most: nothing that an organisation collects makes a page slow.
func TestPagesAskLittleOfTheStore(t *testing.T) {
	outside.NoRace(t, "it asks for one page after another")
	w := newWorld(t)
	_, b, fill := full(w)
	// Pages of lists read each entry, or who made it.
	lists := map[string]int64{
		"/org/{org}/projects/{project}": 13, "/org/{org}/projects/{project}/deployments": 20, "/org/{org}/projects/{project}/live": 20,
		"/org/{org}/keys": 2 * 20, "/org/{org}/keys/new": 100, "/org/{org}/projects": 2 * 20, "/org/{org}/exports": 20, "/org/{org}/exports/new": 20,
		"/org/{org}/projects/{project}/snapshots": 20, "/org/{org}/agents": 20, "/org/{org}/agents/new": 20, "/org/{org}/members": 20, "/org/{org}/audit": 50,
	}
	// The newest export of each project that is shown is a query and a read.
	asked := map[string]int64{"/org/{org}/projects": 20}
	for _, r := range dashboard.Routes(t) {
		if r.Method != http.MethodGet || r.Action == "" || strings.HasSuffix(r.Path, ".csv") || strings.HasSuffix(r.Path, ".jsonl") {
			continue
		}
		b.signIn()
		w.calls.take()
		page := b.get(fill.Replace(r.Path))
		gets, queries, writes := w.calls.take()
		// Who asks, and of which organisation, is five.
		if want := 5 + 10 + lists[r.Path]; page.status != 200 && page.status != 303 || gets > want || queries > 2+asked[r.Path] || writes > 1 {
			t.Errorf("%s: status %d, %d reads (at most %d), %d queries, %d writes", r.Path, page.status, gets, want, queries, writes)
		}
	}
}

// A page is at most 60 kB beside what the records say, which a full list is the
// worst of.
func TestPagesAreSmall(t *testing.T) {
	outside.NoRace(t, "it asks for one page after another")
	w := newWorld(t)
	_, b, fill := full(w)
	for _, r := range dashboard.Routes(t) {
		if r.Method == http.MethodGet && r.Action != "" && !strings.Contains(r.Path, "audit.") {
			if page := b.get(fill.Replace(r.Path)); len(page.body) > 60_000 {
				t.Errorf("%s has %d bytes", r.Path, len(page.body))
			}
		}
	}
}
