package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// switchOff has an endpoint fail for days.
func (w *world) switchOff(x tenant) {
	w.t.Helper()
	_, err := w.CreateWebhook(w.ctx, w.Operator(x.ID), admin.CreateWebhook{URL: "https://hooks.example.com/in?token=sesame", Events: []string{admin.EventKeyCreated}})
	if err != nil {
		w.t.Fatal(err)
	}
	for range 12 {
		if _, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "event"}); err != nil {
			w.t.Fatal(err)
		}
		w.Advance(8 * time.Hour)
		for shard := range admin.DueShards() {
			queues, _, err := w.DueQueues(w.ctx, shard, "")
			if err != nil {
				w.t.Fatal(err)
			}
			for _, q := range queues {
				l, ok, err := w.LeaseDelivery(w.ctx, q)
				if err != nil {
					w.t.Fatal(err)
				}
				if !ok {
					continue
				}
				off, err := w.SettleDelivery(w.ctx, l, admin.DeliveryAttempt{At: w.Time(), Error: "it does not answer"})
				if err != nil {
					w.t.Fatal(err)
				}
				if off {
					return
				}
			}
		}
	}
	w.t.Fatal("the endpoint was not switched off")
}

// TestSwitchedOffEndpointsAreTold to those who can do something about it, on every
// page of the organisation, and in its audit log.
func TestSwitchedOffEndpointsAreTold(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("Own", "docs.example.com"), w.tenant("Other", "other.example.com")
	const told = "No events go to hooks.example.com"
	w.as(x, "ada", admin.RoleOwner).get("/org/"+x.ID+"/exports").says(t, "before", 200).lacks(t, "before", told)
	w.switchOff(x)
	for role, page := range map[admin.Role]answer{
		admin.RoleOwner: w.as(x, "ann", admin.RoleOwner).get("/org/" + x.ID + "/exports"),
		admin.RoleAdmin: w.as(x, "art", admin.RoleAdmin).get("/org/" + x.ID + "/projects"),
	} {
		page.says(t, string(role), 200, told, "About webhooks").lacks(t, string(role), "sesame")
	}
	for _, role := range []admin.Role{admin.RoleMember, admin.RoleViewer} {
		w.as(x, "of-"+string(role), role).get("/org/"+x.ID+"/exports").says(t, string(role), 200).lacks(t, string(role), told)
	}
	w.as(other, "eve", admin.RoleOwner).get("/org/"+other.ID+"/exports").says(t, "another organisation", 200).lacks(t, "another organisation", told)
	w.as(x, "ava", admin.RoleAdmin).get("/org/"+x.ID+"/audit").says(t, "the audit log", 200, "webhook.switched-off", "hooks.example.com")
}

// lacks fails the test where a page has a text.
func (a answer) lacks(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(a.text(), text) {
		t.Errorf("%s has %q", what, text)
	}
}
