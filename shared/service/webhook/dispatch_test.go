package webhook_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Each event reaches each endpoint that subscribes to it, of its organisation
// alone, and shows the resource as its GET does, without links.
func TestEvents(t *testing.T) {
	onStores(t, func(t *testing.T, w *world) {
		x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
		all, keys := w.subscribe(x, "a"), w.subscribe(x, "b", admin.EventKeyCreated, admin.EventKeyRevoked)
		w.subscribe(other, "c")
		step := must[struct{}](t)
		do := func(err error) { t.Helper(); step(struct{}{}, err) }

		k := w.newKey(x)
		must[admin.Key](t)(w.RevokeKey(w.ctx, x.ID, k.ID))
		must[admin.Key](t)(w.RevokeKey(w.ctx, x.ID, k.ID)) // again: no event
		must[admin.Snapshot](t)(publish(w.ctx, w.Service, x.Caller, x.project.Domain))
		start := func(live bool) string {
			return must[admin.ExportJob](t)(w.StartExport(w.ctx, w.Operator(x.ID), admin.StartExport{Domain: x.project.Domain, GoLive: live})).ID
		}
		done, failed := start(true), start(false)
		do(w.BeginExport(w.ctx, done, admin.ExportPlan{Renderer: "r", Shards: 1, Pages: 3}))
		for range 2 { // the second changes nothing
			do(w.CompleteExport(w.ctx, done, admin.Bundle{Key: "exports/x", Size: 9, SHA256: strings.Repeat("c", 64), Pages: 3}))
			do(w.FailExport(w.ctx, failed, admin.CodeInvalidSite, "no docs.json"))
		}
		ready := admin.New(admin.Options{Store: w.store, Objects: w.objects, Now: w.Time, AgentReady: func(context.Context, admin.Project, string) (string, error) { return "m", nil }})
		for i, fail := range []bool{true, false} {
			p := w.project(x, fmt.Sprintf("agent%d.example.com", i))
			j := must[admin.AgentJob](t)(ready.StartAgentJob(w.ctx, x.Caller, admin.StartAgentJob{Project: p.ID, Prompt: "mend"}))
			if fail {
				do(w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, "again and again"))
				continue
			}
			must[admin.AgentBase](t)(w.BeginAgentRound(w.ctx, j.Current(), admin.AgentBase{Commit: "c"}))
			must[bool](t)(w.BeginAgentPublish(w.ctx, j.Current(), 1))
			_, _, err := w.CompleteAgent(w.ctx, j.Current(), admin.AgentResult{PRLink: "https://git.example.com/pull/1", PRNumber: 1, Branch: "b", Seen: 1, Title: "Mend it", Question: "All of it?", Review: admin.AgentReview{NewHosts: []string{"h.example"}, Findings: []string{"a.mdx:1: error: no"}}})
			do(err)
		}
		w.newKey(other)

		w.pass()
		var seen []string
		for _, r := range w.ends.got() {
			secret := all.Secret
			switch r.host {
			case "b.corp":
				secret = keys.Secret
			case "c.corp":
				seen = append(seen, r.host+" "+r.Type)
				continue
			}
			if err := r.verifies(secret); err != nil {
				t.Error(err)
			}
			if text := string(r.body); strings.Contains(text, `"url"`) || strings.Contains(text, "Url") || strings.Contains(text, "digest") || strings.Contains(text, "h.example") {
				t.Errorf("a link, a digest or a host: %s", text)
			}
			for _, want := range map[string][]string{
				admin.EventExportCompleted:   {`"status":"completed","progress":100,"pageCount":3`},
				admin.EventExportFailed:      {`"status":"failed"`, `"code":"invalid_site"`},
				admin.EventSnapshotPublished: {`"manifest":{"sha256":"` + strings.Repeat("a", 64) + `","sizeBytes":10}`, `"fileCount":2`},
				admin.EventSiteLive:          {`"domain":"`, `"fromJobId":null`, `"cause":"automatic"`, `"kind":"operator"`},
				admin.EventAgentCompleted:    {`"status":"completed"`, `"prLink":"https://git.example.com/pull/1"`, `"prompt":"mend","title":"Mend it"`, `"question":"All of it?"`, `"findings":["a.mdx:1: error: no"]`},
				admin.EventAgentFailed:       {`"status":"failed"`, `"code":"loop"`},
				admin.EventKeyCreated:        {`"name":"k"`, `"revokedAt":null`},
				admin.EventKeyRevoked:        {`"revokedAt":"2026-03-14T09:00:00Z"`},
			}[r.Type] {
				if !strings.Contains(string(r.body), want) {
					t.Errorf("%s is not in %s", want, r.body)
				}
			}
			seen = append(seen, r.host+" "+r.Type)
		}
		want := []string{"b.corp key.created", "b.corp key.revoked", "c.corp key.created"}
		for _, e := range admin.WebhookEvents() {
			want = append(want, "a.corp "+e)
		}
		slices.Sort(seen)
		slices.Sort(want)
		if d := cmp.Diff(want, seen); d != "" {
			t.Error(d)
		}
	})
}

// A snapshot that is restored is published again, for endpoints and in the order of
// its domain; an export that is cancelled has failed. Doing either again causes no event.
func TestRestoredAndCancelled(t *testing.T) {
	onStores(t, func(t *testing.T, w *world) {
		x := w.tenant("docs.example.com")
		hook := w.subscribe(x, "a", admin.EventSnapshotPublished, admin.EventExportFailed, admin.EventExportCompleted)
		first := must[admin.Snapshot](t)(publish(w.ctx, w.Service, x.Caller, x.project.Domain))
		w.Advance(time.Second)
		second := must[admin.Snapshot](t)(publish(w.ctx, w.Service, x.Caller, x.project.Domain))
		w.Advance(time.Second)
		j := must[admin.ExportJob](t)(w.StartExport(w.ctx, x.Caller, admin.StartExport{Domain: x.project.Domain}))
		for range 2 {
			must[admin.Snapshot](t)(w.RestoreSnapshot(w.ctx, x.Caller, admin.RestoreSnapshot{Domain: x.project.Domain, SnapshotID: first.ID, Base: second.ID}))
			must[admin.ExportJob](t)(w.CancelExport(w.ctx, x.Caller, j.ID, ""))
		}
		w.pass()
		var published, ended []string
		for _, r := range w.ends.got() {
			if err := r.verifies(hook.Secret); err != nil {
				t.Error(err)
			}
			if r.Type == admin.EventSnapshotPublished {
				published = append(published, r.Data.SnapshotID)
				continue
			}
			ended = append(ended, r.subject())
			if !strings.Contains(string(r.body), `"status":"failed"`) || !strings.Contains(string(r.body), `"code":"cancelled"`) {
				t.Errorf("the cancelled export is %s", r.body)
			}
		}
		if d := cmp.Diff([][]string{{first.ID, second.ID, first.ID}, {admin.EventExportFailed + " " + j.ID + " "}}, [][]string{published, ended}); d != "" {
			t.Error(d)
		}
	})
}

// Without an endpoint that subscribes, a change writes what it would write without
// webhooks: here the key, its row in the list and the entry of the audit log.
func TestOthersPayNothing(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.subscribe(x, "a", admin.EventExportFailed)
	var wrote []string
	s := w.service(storetest.AroundStore(w.store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		if strings.HasPrefix(call.Name, "Store.Write") {
			wrote = append(wrote, call.Name)
		}
		return do(ctx)
	}))
	if _, _, err := s.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "k"}); err != nil {
		t.Fatal(err)
	}
	if len(wrote) != 1 || strings.Count(wrote[0], "{") != 3 || strings.Contains(wrote[0], "webhook") {
		t.Errorf("writes: %q", wrote)
	}
	if n := w.pass(); n != 0 {
		t.Errorf("%d attempts", n)
	}
}

// A delivery that fails is tried with growing pauses for 24 hours; then it is dead
// and releases the next of its resource, which has waited so long. Other resources
// wait for none of that.
func TestRetriesAndDeath(t *testing.T) {
	onStores(t, func(t *testing.T, w *world) {
		x := w.tenant("docs.example.com")
		hook := w.subscribe(x, "a")
		bad := w.newKey(x)
		must[admin.Key](t)(w.RevokeKey(w.ctx, x.ID, bad.ID))
		w.Advance(time.Millisecond)
		w.newKey(x)
		w.ends.answers(func(_ int, r request) int {
			if r.Data.ID == bad.ID && r.Type == admin.EventKeyCreated {
				return 500
			}
			return 200
		})
		want := []time.Duration{
			0, 5 * time.Second, 35 * time.Second, 155 * time.Second, 755 * time.Second, 2555 * time.Second, 6155 * time.Second, 13355 * time.Second,
			27755 * time.Second, 42155 * time.Second, 56555 * time.Second, 70955 * time.Second, 85355 * time.Second, 24 * time.Hour,
		}
		var at []time.Duration
		for w.Time().Before(begin.Add(25 * time.Hour)) {
			w.pass()
			now := w.Time().Sub(begin)
			for _, r := range w.ends.got() {
				if !r.ok {
					at = append(at, now.Truncate(time.Second))
				} else if r.Type == admin.EventKeyRevoked && now < 24*time.Hour {
					t.Errorf("the next one came after %s", now)
				}
			}
			// A pass each five seconds where an attempt is near, and each five
			// minutes where none is: 25 hours have 18,000 times five seconds.
			step := 5 * time.Minute
			for _, next := range want {
				if wait := next - now.Truncate(time.Second); wait > -15*time.Second {
					step = min(step, max(wait-15*time.Second, 5*time.Second))
				}
			}
			w.Advance(step)
		}
		if d := cmp.Diff(want, at); d != "" {
			t.Error(d)
		}
		var lines []string
		for _, d := range w.deliveries(x, hook.ID) {
			lines = append(lines, summary(d))
		}
		slices.Sort(lines)
		if d := cmp.Diff([]string{"1 key.created dead 14", "1 key.created delivered 1", "2 key.revoked delivered 1"}, lines); d != "" {
			t.Error(d)
		}
		if left := w.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// left lists what still waits: queues that are due.
func (w *world) left() (keys []string) {
	for shard := range admin.DueShards() {
		page, err := w.store.Query(w.ctx, store.Query{PK: fmt.Sprintf("due#%02d", shard)})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, rec := range page.Records {
			keys = append(keys, rec.Key.SK)
		}
	}
	return keys
}

// Ten failures in a row over three days switch an endpoint off; one success in
// between, or fewer days, do not. What waits is given up, and what comes is not
// written. A redelivery that succeeds switches it on again.
func TestSwitchedOff(t *testing.T) {
	outside.NoRace(t, "it makes one call after another")
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	hook := w.subscribe(x, "a")
	status := 500
	w.ends.answers(func(int, request) int { return status })
	first := w.newKey(x)
	isOff := func() bool { return !must[[]admin.Webhook](t)(w.Webhooks(w.ctx, x.Caller))[0].OffAt.IsZero() }
	run := func(d time.Duration) {
		for end := w.Time().Add(d); w.Time().Before(end) && !isOff(); w.Advance(10 * time.Minute) {
			w.pass()
		}
	}
	run(25 * time.Hour) // 14 failures: dead
	status = 200
	ok := w.newKey(x)
	run(time.Hour)
	status = 500
	since := w.Time()
	for range 3 {
		w.newKey(x)
		run(25 * time.Hour)
	}
	if !isOff() || w.Time().Sub(since) < 72*time.Hour || w.Time().Sub(since) > 77*time.Hour {
		t.Fatalf("off: %v after %s", isOff(), w.Time().Sub(since))
	}
	w.newKey(x) // nobody hears of it
	w.pass()
	w.Advance(5 * time.Hour)
	w.pass()
	w.ends.got()
	all := w.deliveries(x, hook.ID)
	for _, d := range all {
		if want := map[bool]admin.DeliveryStatus{true: admin.DeliveryDelivered, false: admin.DeliveryDead}[d.Resource == ok.ID]; d.Status != want {
			t.Errorf("%s is %s", d.Resource, d.Status)
		}
	}
	if len(all) != 5 || len(w.left()) > 0 {
		t.Fatalf("%d deliveries, left %v", len(all), w.left())
	}
	again := func(key string) (admin.Delivery, error) {
		return w.Redeliver(w.ctx, x.Caller, hook.ID, all[0].ID, key)
	}
	must[admin.Delivery](t)(again("once"))
	must[admin.Delivery](t)(again("once"))
	if _, err := again(""); admin.CodeOf(err) != admin.CodeDeliveryPending {
		t.Error(err)
	}
	w.pass() // fails: still off
	if !isOff() || len(w.ends.got()) != 1 {
		t.Error("a failure switched it on, or was not tried")
	}
	status = 200
	w.Advance(5 * time.Second)
	w.pass()
	got := w.ends.got()
	if isOff() || len(got) != 1 || got[0].ID != all[0].ID || got[0].Data.ID != first.ID {
		t.Errorf("off: %v, got %+v", isOff(), got)
	}
	w.newKey(x)
	if w.pass(); len(w.ends.got()) != 1 {
		t.Error("it hears of nothing")
	}
	entries, _, err := w.Audit(w.ctx, w.Operator(x.ID), admin.AuditList{Target: hook.ID})
	var log []string
	for _, e := range entries {
		log = append(log, e.Actor+" "+e.Action)
	}
	if d := cmp.Diff([]string{"bindery webhook.switched-on", "bindery webhook.switched-off", "operator webhook.created"}, log); err != nil || d != "" {
		t.Error(d, err)
	}
}

// What waits for an endpoint that is removed, or whose organisation was ended, is
// given up; nothing of it stays due.
func TestRemoved(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("docs.example.com"), w.tenant("other.example.com")
	hook := w.subscribe(x, "a")
	w.subscribe(y, "b")
	w.newKey(x)
	w.newKey(y)
	if err := w.DeleteWebhook(w.ctx, x.Caller, hook.ID); err != nil {
		t.Fatal(err)
	}
	must[admin.Organisation](t)(w.RevokeOrganisation(w.ctx, y.ID))
	w.newKey(x)
	w.pass()
	if got, left := w.ends.got(), w.left(); len(got) > 0 || len(left) > 0 {
		t.Errorf("got %+v, left %v", got, left)
	}
	if _, err := w.store.Get(w.ctx, store.Key{PK: "hooksecret#" + hook.ID, SK: "secret"}); err == nil {
		t.Error("its secret stays")
	}
}

// TestTenants: nobody reaches another's endpoint, by any call, and nobody hears of
// another's events.
func TestTenants(t *testing.T) {
	w := newWorld(t)
	names := []string{"a", "b", "c"}
	var tenants []tenant
	hooks, deliveries, keys := map[string]string{}, map[string]string{}, map[string]string{}
	for _, name := range names {
		x := w.tenant(name + ".example.com")
		tenants = append(tenants, x)
		hooks[x.ID] = w.subscribe(x, name).ID
		keys[name+".corp"] = w.newKey(x).ID
	}
	w.pass()
	for _, r := range w.ends.got() {
		if r.Data.ID != keys[r.host] {
			t.Errorf("%s heard of %s", r.host, r.Data.ID)
		}
	}
	for _, x := range tenants {
		deliveries[x.ID] = w.deliveries(x, hooks[x.ID])[0].ID
	}
	for _, x := range tenants {
		for _, owner := range tenants {
			want := admin.CodeNotFound
			if owner.ID == x.ID {
				want = ""
			}
			hook := hooks[owner.ID]
			_, _, listed := w.Deliveries(w.ctx, x.Caller, admin.DeliveryList{Webhook: hook})
			_, rotated := w.RotateWebhookSecret(w.ctx, x.Caller, hook, "")
			_, again := w.Redeliver(w.ctx, x.Caller, hook, deliveries[owner.ID], "")
			_, mixed := w.Redeliver(w.ctx, x.Caller, hooks[x.ID], deliveries[owner.ID], "")
			if owner.ID == x.ID {
				mixed = nil // it is pending now
			}
			for call, err := range map[string]error{"deliveries": listed, "secret": rotated, "redeliver": again, "redeliver at one's own": mixed} {
				if got := admin.CodeOf(err); got != want {
					t.Errorf("%s of %s by %s: %q", call, owner.Name, x.Name, got)
				}
			}
			if err := w.DeleteWebhook(w.ctx, x.Caller, hook); owner.ID != x.ID && admin.CodeOf(err) != want {
				t.Errorf("delete of %s by %s: %v", owner.Name, x.Name, err)
			} else if owner.ID == x.ID {
				hooks[x.ID] = w.subscribe(x, strings.TrimSuffix(x.Name, ".example.com")).ID
				must[admin.Key](t)(w.newKey(x), nil)
				w.pass()
				deliveries[x.ID] = w.deliveries(x, hooks[x.ID])[0].ID
			}
		}
		if list := must[[]admin.Webhook](t)(w.Webhooks(w.ctx, x.Caller)); len(list) != 1 || list[0].ID != hooks[x.ID] {
			t.Errorf("%s sees %+v", x.Name, list)
		}
	}
}

// What callers may ask for.
func TestCreateWebhook(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	for _, c := range []struct {
		url, field string
		events     []string
	}{
		{"http://example.com/", "url", []string{admin.EventKeyCreated}},
		{"https://169.254.169.254/latest", "url", []string{admin.EventKeyCreated}},
		{"https://example.com/", "events", nil},
		{"https://example.com/", "events[1]", []string{admin.EventKeyCreated, "key.*"}},
	} {
		_, err := w.CreateWebhook(w.ctx, x.Caller, admin.CreateWebhook{URL: c.url, Events: c.events})
		if e, ok := err.(*admin.Error); !ok || e.Field != c.field || e.Code() != admin.CodeInvalid {
			t.Errorf("%v: %v", c, err)
		}
	}
	in := admin.CreateWebhook{URL: "https://example.com/in?token=1", Events: []string{admin.EventKeyRevoked, admin.EventKeyCreated, admin.EventKeyRevoked}, IdempotencyKey: "k"}
	made := must[admin.NewWebhook](t)(w.CreateWebhook(w.ctx, x.Caller, in))
	if again := must[admin.NewWebhook](t)(w.CreateWebhook(w.ctx, x.Caller, in)); !cmp.Equal(made, again) {
		t.Errorf("a repeated request makes %+v, not %+v", again, made)
	}
	if d := cmp.Diff([]string{admin.EventKeyCreated, admin.EventKeyRevoked}, made.Events); d != "" {
		t.Error(d)
	}
	in.IdempotencyKey = ""
	for range admin.MaxWebhooks - 1 {
		must[admin.NewWebhook](t)(w.CreateWebhook(w.ctx, x.Caller, in))
	}
	if _, err := w.CreateWebhook(w.ctx, x.Caller, in); admin.CodeOf(err) != admin.CodeTooManyWebhooks {
		t.Error(err)
	}
	w.newKey(x) // as many outbox rows as there may be
}

// A record that is damaged holds up nothing but its own queue.
func TestDamagedRecord(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	hook := w.subscribe(x, "a")
	bad := w.newKey(x)
	rec := must[store.Record](t)(w.store.Get(w.ctx, store.Key{PK: "webhook#" + hook.ID, SK: "delivery#" + w.deliveries(x, hook.ID)[0].ID}))
	rec.Value = []byte(strings.Replace(string(rec.Value), admin.EventKeyCreated, "key.unheard", 1))
	if err := w.store.Write(w.ctx, []store.Record{rec}, nil); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		w.newKey(x)
	}
	for range 3 {
		_, err := w.dispatcher(w.Service).Pass(w.ctx)
		if err == nil || !strings.Contains(err.Error(), "key.unheard") {
			t.Errorf("the pass says %v", err)
		}
		w.Advance(time.Minute)
	}
	got := w.ends.got()
	for _, r := range got {
		if r.Data.ID == bad.ID {
			t.Error("the damaged one came")
		}
	}
	if len(got) != 20 {
		t.Errorf("%d came, want 20", len(got))
	}
}

// A queue is one process's for a minute: nobody else takes it, and whoever comes
// back after it has lost the queue changes nothing.
func TestLease(t *testing.T) {
	onStores(t, func(t *testing.T, w *world) {
		x := w.tenant("docs.example.com")
		hook := w.subscribe(x, "a")
		k := w.newKey(x)
		must[admin.Key](t)(w.RevokeKey(w.ctx, x.ID, k.ID))
		due := func() (all []admin.DueQueue) {
			for shard := range admin.DueShards() {
				queues, _, err := w.DueQueues(w.ctx, shard, "")
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, queues...)
			}
			return all
		}
		lease := func(q admin.DueQueue, want bool) admin.LeasedDelivery {
			t.Helper()
			l, ok, err := w.LeaseDelivery(w.ctx, q)
			if err != nil || ok != want {
				t.Fatalf("taken: %v, %v, want %v", ok, err, want)
			}
			return l
		}
		settle := func(l admin.LeasedDelivery) {
			t.Helper()
			must[bool](t)(w.SettleDelivery(w.ctx, l, admin.DeliveryAttempt{At: w.Time(), Status: 200}))
		}
		states := func() (all []string) {
			for _, d := range w.deliveries(x, hook.ID) {
				all = append(all, summary(d))
			}
			slices.Sort(all)
			return all
		}
		first := due()
		if len(first) != 1 {
			t.Fatalf("due: %+v", first)
		}
		late := lease(first[0], true)
		lease(first[0], false)
		if again := due(); len(again) > 0 {
			t.Errorf("still due: %+v", again)
		}
		w.Advance(time.Minute)
		next := lease(due()[0], true)
		if next.ID != late.ID || len(next.Secrets) != 1 {
			t.Errorf("taken again: %+v", next)
		}
		settle(late)
		if d := cmp.Diff([]string{"1 key.created pending 0", "2 key.revoked pending 0"}, states()); d != "" {
			t.Error(d)
		}
		settle(next)
		settle(next)
		if d := cmp.Diff([]string{"1 key.created delivered 1", "2 key.revoked pending 0"}, states()); d != "" {
			t.Error(d)
		}
		settle(lease(due()[0], true))
		if d := cmp.Diff([]string{"1 key.created delivered 1", "2 key.revoked delivered 1"}, states()); d != "" || len(w.left()) > 0 {
			t.Error(d, w.left())
		}
	})
}
