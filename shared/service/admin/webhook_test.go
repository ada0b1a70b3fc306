package admin_test

import (
	"cmp"
	"context"
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// hookAddress is an address of an endpoint, of which a part is a secret.
const hookAddress = "https://hooks.example.com/in-s3cr3t?token=s3cr3t"

func (w *world) hook(c admin.Caller) admin.NewWebhook {
	w.t.Helper()
	n, err := w.CreateWebhook(w.ctx, c, admin.CreateWebhook{URL: hookAddress, Events: admin.WebhookEvents()})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// TestWebhooksOfRoles: owners and admins manage webhooks, and nobody else sees
// them.
func TestWebhooksOfRoles(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.hook(operatorOf(x.ID))
	for role, code := range map[admin.Role]string{
		admin.RoleOwner: "", admin.RoleAdmin: "", admin.RoleMember: admin.CodeRole, admin.RoleViewer: admin.CodeRole,
	} {
		_, c := w.member(x.ID, string(role), role)
		made, err := w.CreateWebhook(w.ctx, c, admin.CreateWebhook{URL: hookAddress, Events: []string{admin.EventKeyCreated}})
		want(t, err, code)
		if err != nil {
			made = w.hook(operatorOf(x.ID))
		}
		if _, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "k"}); err != nil {
			t.Fatal(err)
		}
		sent, _, err := w.Deliveries(w.ctx, operatorOf(x.ID), admin.DeliveryList{Webhook: made.ID})
		if err != nil || len(sent) != 1 {
			t.Fatalf("%+v: %v", sent, err)
		}
		pending := cmp.Or(code, admin.CodeDeliveryPending)
		_, listed := w.Webhooks(w.ctx, c)
		_, _, read := w.Deliveries(w.ctx, c, admin.DeliveryList{Webhook: made.ID})
		_, rotated := w.RotateWebhookSecret(w.ctx, c, made.ID, "")
		_, again := w.Redeliver(w.ctx, c, made.ID, sent[0].ID, "")
		removed := w.DeleteWebhook(w.ctx, c, made.ID)
		for call, got := range map[string]error{"list": listed, "deliveries": read, "rotate": rotated, "remove": removed} {
			if admin.CodeOf(got) != code {
				t.Errorf("%s as %s: %v, want %q", call, role, got, code)
			}
		}
		want(t, again, pending)
		if code != "" { // it is still there
			want(t, w.DeleteWebhook(w.ctx, operatorOf(x.ID), made.ID), "")
		}
	}
}

// TestTheAuditLogHasWebhooks: what was done to an endpoint, and of its address the
// host alone.
func TestTheAuditLogHasWebhooks(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	_, c := w.member(x.ID, "ann", admin.RoleAdmin)
	c.Address = netip.MustParseAddr("192.0.2.7")
	in := admin.CreateWebhook{URL: hookAddress, Events: []string{admin.EventKeyRevoked, admin.EventKeyCreated}, IdempotencyKey: "once"}
	var made admin.NewWebhook
	for range 2 { // a request that is repeated makes no other entry
		w.Advance(time.Second)
		var err error
		made, err = w.CreateWebhook(w.ctx, c, in)
		want(t, err, "")
	}
	w.Advance(time.Second)
	changed, err := w.RotateWebhookSecret(w.ctx, x.caller, made.ID, "")
	want(t, err, "")
	w.Advance(time.Second)
	want(t, w.DeleteWebhook(w.ctx, c, made.ID), "")
	want(t, w.DeleteWebhook(w.ctx, c, made.ID), admin.CodeNotFound)
	w.Advance(time.Second)
	last := w.hook(c)
	w.Advance(time.Second)
	if _, err := w.RevokeOrganisation(w.ctx, x.ID); err != nil {
		t.Fatal(err)
	}

	entries, _, err := w.Audit(w.ctx, operatorOf(x.ID), admin.AuditList{Action: "webhook"})
	want(t, err, "")
	var got []string
	for _, e := range entries {
		line := strings.Join([]string{e.ActorKind, e.Action, e.Target, e.Address}, " ")
		for _, ch := range e.Changes {
			line += " " + ch.Field + ":" + ch.Before + "→" + ch.After
		}
		if strings.Contains(line, "s3cr3t") || strings.Contains(line, made.Secret) || strings.Contains(line, changed.Secret) {
			t.Errorf("a secret is in %s", line)
		}
		got = append(got, line)
	}
	const host = " host:hooks.example.com→"
	wanted := []string{
		"operator webhook.removed " + last.ID + " " + host,
		"person webhook.created " + last.ID + " 192.0.2.7 host:→hooks.example.com events:→" + strings.Join(slices.Sorted(slices.Values(admin.WebhookEvents())), ","),
		"person webhook.removed " + made.ID + " 192.0.2.7" + host,
		"key webhook.rotated " + made.ID + " 192.0.2.1",
		"person webhook.created " + made.ID + " 192.0.2.7 host:→hooks.example.com events:→key.created,key.revoked",
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

// partitions notes the partitions that are read and written.
type partitions struct {
	store.Store
	mu   sync.Mutex
	seen map[string]bool
}

func (p *partitions) note(pk string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[pk] = true
}

func (p *partitions) Get(ctx context.Context, key store.Key) (store.Record, error) {
	p.note(key.PK)
	return p.Store.Get(ctx, key)
}

func (p *partitions) Query(ctx context.Context, q store.Query) (store.Page, error) {
	p.note(q.PK)
	return p.Store.Query(ctx, q)
}

func (p *partitions) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	for _, rec := range puts {
		p.note(rec.Key.PK)
	}
	for _, d := range deletes {
		p.note(d.Key.PK)
	}
	return p.Store.Write(ctx, puts, deletes)
}

// TestAgentStepsKeepToTheirPartitions: what steps read and write is what AgentKeys
// names, also where endpoints hear of it. The secrets of endpoints are not in it.
func TestAgentStepsKeepToTheirPartitions(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	hook := w.hook(x.caller)
	watched := &partitions{Store: w.store, seen: map[string]bool{}}
	steps := admin.New(admin.Options{Store: watched, Objects: w.objects, Runner: w.runner, Now: w.Time, AgentReady: ready})

	ref := w.agent(x).Current()
	if _, err := steps.AgentRound(w.ctx, ref); err != nil {
		t.Fatal(err)
	}
	if _, err := steps.BeginAgentRound(w.ctx, ref, admin.AgentBase{Commit: "c", Ref: "main"}); err != nil {
		t.Fatal(err)
	}
	lease, err := steps.LeaseAgentWork(w.ctx, ref)
	want(t, err, "")
	want(t, steps.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "o", Seen: 1, Model: "best"}), "")
	_, err = steps.BeginAgentPublish(w.ctx, ref, 1)
	want(t, err, "")
	_, _, err = steps.CompleteAgent(w.ctx, ref, admin.AgentResult{PRLink: "https://git.example.com/pull/1", PRNumber: 1, Branch: "b", Seen: 1})
	want(t, err, "")
	want(t, steps.FailAgent(w.ctx, w.agent(x).Current(), admin.CodeLoop, "again and again"), "")

	for pk := range watched.seen {
		if !slices.ContainsFunc(admin.AgentKeys(), func(pattern string) bool { ok, _ := path.Match(pattern, pk); return ok }) {
			t.Errorf("steps use the partition %s", pk)
		}
	}
	sent, _, err := w.Deliveries(w.ctx, x.caller, admin.DeliveryList{Webhook: hook.ID})
	if err != nil || len(sent) != 2 {
		t.Errorf("the endpoint hears of %+v: %v", sent, err)
	}
	secret := "hooksecret#" + hook.ID
	if _, err := w.store.Get(w.ctx, store.Key{PK: secret, SK: "secret"}); err != nil {
		t.Error(err)
	}
	for _, pattern := range admin.AgentKeys() {
		if ok, _ := path.Match(pattern, secret); ok {
			t.Errorf("steps may read %s", secret)
		}
	}
}
