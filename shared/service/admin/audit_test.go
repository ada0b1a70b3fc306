package admin_test

import (
	"encoding/csv"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestTheAuditLogTellsOfEveryChange: who, what, on what, from where, what changed.
func TestTheAuditLogTellsOfEveryChange(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	ann, c := w.member(x.ID, "ann", admin.RoleOwner)
	c.Address = netip.MustParseAddr("192.0.2.7")
	w.Advance(time.Second)
	k, secret, err := w.As(c).CreateKey(w.ctx, admin.KeyRequest{Name: "=pipeline", Scopes: []admin.Scope{admin.ScopeManage}})
	want(t, err, "")
	w.Advance(time.Second)
	_, err = w.As(c).ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindClientHosted, Settings: admin.Settings{Search: "bundled"}})
	want(t, err, "")
	_, err = w.As(c).ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindClientHosted, Settings: admin.Settings{Search: "bundled"}})
	want(t, err, "") // nothing changed
	w.Advance(time.Second)
	w.publish(x)
	w.Advance(time.Second)
	j := w.start(x)
	w.Advance(time.Second)
	_, err = w.CancelExport(w.ctx, x.caller, j.ID, "")
	want(t, err, "")
	w.Advance(time.Second)
	_, err = w.As(c).RevokeKey(w.ctx, k.ID)
	want(t, err, "")
	w.Advance(time.Second)
	_, err = w.SetPlan(w.ctx, x.ID, admin.PlanPro)
	want(t, err, "")

	entries, next, err := w.Audit(w.ctx, c, admin.AuditList{})
	if err != nil || next != "" {
		t.Fatalf("%v, next %q", err, next)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.Join([]string{e.ActorKind, e.Action, e.Address}, " "))
		for _, ch := range e.Changes {
			if strings.Contains(ch.Before+ch.After, secret) || strings.Contains(ch.Before+ch.After, k.Digest) {
				t.Errorf("%s tells the key", e.Action)
			}
		}
	}
	wanted := []string{
		"operator organisation.changed ", "person key.revoked 192.0.2.7", "key export.cancelled 192.0.2.1", "key export.started 192.0.2.1",
		"key snapshot.published 192.0.2.1", "person project.configured 192.0.2.7", "person key.created 192.0.2.7",
	}
	if len(got) < len(wanted) || !slices.Equal(got[:len(wanted)], wanted) {
		t.Errorf("the log is\n%s", strings.Join(got, "\n"))
	}
	for _, action := range []string{"organisation.created", "project.created", "key.created", "member.invited", "member.joined"} {
		if !slices.ContainsFunc(entries, func(e admin.AuditEntry) bool { return e.Action == action }) {
			t.Errorf("%s is missing", action)
		}
	}
	configured := entries[5]
	if configured.Actor != ann.ID || configured.Target != x.project.ID || !slices.Equal(configured.Changes, []admin.AuditChange{
		{Field: "kind", Before: "cloud", After: "client-hosted"}, {Field: "settings.search", After: "bundled"},
	}) {
		t.Errorf("the entry is %+v", configured)
	}
	w.auditFilters(c, entries, ann.ID, k.ID)

	// Both forms have all of it; nothing is a formula.
	var lines, table strings.Builder
	want(t, w.WriteAudit(w.ctx, c, admin.AuditList{}, false, &lines), "")
	want(t, w.WriteAudit(w.ctx, c, admin.AuditList{}, true, &table), "")
	n := 0
	for dec := json.NewDecoder(strings.NewReader(lines.String())); dec.More(); n++ {
		var e admin.AuditEntry
		if err := dec.Decode(&e); err != nil || e.ID != entries[n].ID {
			t.Fatalf("line %d is %+v: %v", n, e, err)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || n != len(entries) || len(rows) != n+1 {
		t.Errorf("%d lines, %d rows, %d entries: %v", n, len(rows), len(entries), err)
	}

	// Nobody else reads it, and it ends by itself.
	y := w.tenant("other.example.com")
	_, theirs := w.member(y.ID, "bob", admin.RoleOwner)
	others, _, err := w.Audit(w.ctx, theirs, admin.AuditList{})
	if err != nil || slices.ContainsFunc(others, func(e admin.AuditEntry) bool { return strings.Contains(e.Target+e.Actor, k.ID) }) {
		t.Errorf("another organisation reads %+v: %v", others, err)
	}
	_, _, err = w.Audit(w.ctx, x.caller, admin.AuditList{})
	want(t, err, admin.CodeScope)
	w.Advance(401 * 24 * time.Hour)
	if left, _, err := w.Audit(w.ctx, c, admin.AuditList{}); err != nil || len(left) != 0 {
		t.Errorf("after 401 days there are %d entries: %v", len(left), err)
	}
}

// TestNothingIsLoggedThatDidNotHappen: an entry is there with its change or not at
// all.
func TestNothingIsLoggedThatDidNotHappen(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	before, _, err := w.Audit(w.ctx, operatorOf(x.ID), admin.AuditList{})
	want(t, err, "")
	_, err = w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"})
	want(t, err, admin.CodeDomainTaken)
	_, err = w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: "docs.example.com"})
	want(t, err, admin.CodeNoSnapshot)
	if _, err = w.RevokeKey(w.ctx, x.ID, x.key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err = w.RevokeKey(w.ctx, x.ID, x.key.ID); err != nil {
		t.Fatal(err)
	}
	after, _, err := w.Audit(w.ctx, operatorOf(x.ID), admin.AuditList{})
	if err != nil || len(after) != len(before)+1 {
		t.Errorf("%d entries, then %d: %v", len(before), len(after), err)
	}
}

// auditFilters asks for parts of the log, in pages of one entry.
func (w *world) auditFilters(c admin.Caller, entries []admin.AuditEntry, ann, key string) {
	w.t.Helper()
	for _, f := range []struct {
		name string
		in   admin.AuditList
		want int
	}{
		{"of an action", admin.AuditList{Action: "key.revoked"}, 1},
		{"of a kind", admin.AuditList{Action: "key"}, 3},
		{"of an actor", admin.AuditList{Actor: ann}, 4}, // joining, too
		{"of a target", admin.AuditList{Target: key}, 2},
		{"since", admin.AuditList{Since: entries[1].At}, 2},
		{"until", admin.AuditList{Until: entries[1].At}, len(entries) - 2},
		{"between", admin.AuditList{Since: entries[2].At, Until: entries[1].At}, 1},
	} {
		n := 0
		for f.in.Limit = 1; ; {
			page, next, err := w.Audit(w.ctx, c, f.in)
			if err != nil {
				w.t.Fatal(err)
			}
			n += len(page)
			if f.in.Cursor = next; next == "" {
				break
			}
		}
		if n != f.want {
			w.t.Errorf("%s: %d entries, want %d", f.name, n, f.want)
		}
	}
}

// TestWhatPeopleAskOfAgentsIsLogged: all of it under one kind.
func TestWhatPeopleAskOfAgentsIsLogged(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	j := w.agent(x)
	w.Advance(time.Second)
	_, err := w.MessageAgentJob(w.ctx, x.caller, admin.MessageAgentJob{Project: x.project.ID, Job: j.ID, Prompt: "a secret wish"})
	want(t, err, "")
	w.Advance(time.Second)
	_, err = w.CancelAgentJob(w.ctx, x.caller, x.project.ID, j.ID, "")
	want(t, err, "")
	want(t, w.FailAgent(w.ctx, j.Current(), admin.CodeCancelled, "cancelled"), "")
	w.Advance(time.Second)
	_, err = w.ArchiveAgentJob(w.ctx, x.caller, x.project.ID, j.ID, "")
	want(t, err, "")
	entries, _, err := w.Audit(w.ctx, operatorOf(x.ID), admin.AuditList{Action: "agent", Target: j.ID})
	want(t, err, "")
	var got []string
	for _, e := range entries {
		got = append(got, e.Action)
		for _, ch := range e.Changes {
			if strings.Contains(ch.After, "wish") {
				t.Errorf("%s tells the message", e.Action)
			}
		}
	}
	if wanted := []string{"agent.archived", "agent.cancelled", "agent.messaged", "agent.started"}; !slices.Equal(got, wanted) {
		t.Errorf("the log has %q, want %q", got, wanted)
	}
}

// TestNumbersInTheAuditLog: as they were written, however large.
func TestNumbersInTheAuditLog(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	_, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{
		Kind: admin.KindCloud, Agent: admin.AgentSettings{MaxCost: 1_000_000}, Retention: admin.Retention{SnapshotDays: 30},
	})
	want(t, err, "")
	entries, _, err := w.Audit(w.ctx, operatorOf(x.ID), admin.AuditList{Action: "project.configured"})
	if err != nil || len(entries) != 1 || !slices.Equal(entries[0].Changes, []admin.AuditChange{
		{Field: "agent.maxCost", After: "1000000"}, {Field: "retention.snapshotDays", After: "30"},
	}) {
		t.Errorf("the log is %+v: %v", entries, err)
	}
}
