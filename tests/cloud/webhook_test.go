package cloud

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// webhooks has endpoints in an organisation of their own, at a host that does not
// exist: what happens is written down for them, the function that delivers is woken
// and tries, and every operation does what it does.
func (d *deployment) webhooks(t *testing.T) {
	ctx := t.Context()
	org := d.organisation(t, admin.PlanFree)
	manager := d.newKey(t, org.ID, admin.ScopeManage)
	const hooks = "/v1/webhooks"
	body := fmt.Sprintf(`{"url":"https://hooks.example.invalid/in","events":[%q]}`, admin.EventKeyCreated)
	call := func(method, path, body string, want int, into any) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, d.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+manager)
		r.Header.Set("Content-Type", "application/json")
		res, err := d.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Fatalf("%s %s: %d, want %d: %s, %v", method, path, res.StatusCode, want, raw, err)
		}
		if into != nil {
			if err := json.Unmarshal(raw, into); err != nil {
				t.Fatal(err)
			}
		}
	}
	var made api.NewWebhook
	call("POST", hooks, body, http.StatusCreated, &made)
	var all api.Webhooks
	if call("GET", hooks, "", http.StatusOK, &all); len(all.Webhooks) != 1 || all.Webhooks[0].ID != made.ID {
		t.Errorf("the webhooks are %+v", all)
	}
	hook := hooks + "/" + made.ID
	if status, code := d.ask(t, "GET", hook+"/deliveries", "", map[string]string{"Authorization": "Bearer " + d.Key}); status != http.StatusForbidden || code != admin.CodeScope {
		t.Errorf("a key that may not manage: %d %s", status, code)
	}
	stranger := map[string]string{"Authorization": "Bearer " + d.newKey(t, d.organisation(t, admin.PlanFree).ID, admin.ScopeManage)}
	for _, c := range [][2]string{{"DELETE", hook}, {"POST", hook + "/secret"}, {"GET", hook + "/deliveries"}, {"POST", hook + "/deliveries/evt_0/redeliver"}} {
		if status, code := d.ask(t, c[0], c[1], "", stranger); status != http.StatusNotFound {
			t.Errorf("%s %s: another organisation gets %d %s, want 404", c[0], c[1], status, code)
		}
	}

	d.newKey(t, org.ID)
	var list api.Deliveries
	for until := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		call("GET", hook+"/deliveries?limit=1", "", http.StatusOK, &list)
		if len(list.Deliveries) == 1 && list.Deliveries[0].LastAttempt != nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("nobody tries: %+v", list)
		}
	}
	if a := list.Deliveries[0].LastAttempt; a.Error == nil || a.Status != nil {
		t.Errorf("the attempt at a host that does not exist is %+v", a)
	}
	call("POST", hook+"/deliveries/"+list.Deliveries[0].ID+"/redeliver", "", http.StatusConflict, nil)

	// Requests that fail half-way free their keys.
	ended := d.endedDelivery(t, org.ID)
	for _, c := range []struct{ name, path, body string }{
		{"create", hooks, body}, {"rotate", hook + "/secret", ""}, {"redeliver", ended, ""},
	} {
		header := map[string]string{"Authorization": "Bearer " + manager, "Idempotency-Key": "hook-" + c.name, "Content-Type": "application/json"}
		var met counter
		d.proxy.setFault(func(call awsCall) int {
			if call.operation == "TransactWriteItems" && !call.does("dynamodb:DeleteItem") && met.once("") {
				return refuse
			}
			return 0
		})
		first, _ := d.ask(t, "POST", c.path, c.body, header)
		d.proxy.setFault(nil)
		if second, code := d.ask(t, "POST", c.path, c.body, header); first < 500 || second > 299 {
			t.Errorf("%s: %d, then %d %s", c.name, first, second, code)
		}
	}
	call("DELETE", hook, "", http.StatusNoContent, nil)
	call("DELETE", hook, "", http.StatusNotFound, nil)
}

// endedDelivery is the path at which a delivery that has ended is asked for again,
// at an endpoint of its own: settled here, before another comes to it.
func (d *deployment) endedDelivery(t *testing.T, org string) string {
	t.Helper()
	owner := admin.Caller{OrganisationID: org}
	hook, err := d.admin.CreateWebhook(t.Context(), owner, admin.CreateWebhook{URL: "https://hooks.example.invalid/", Events: []string{admin.EventKeyRevoked}})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := d.admin.CreateKey(t.Context(), admin.KeyRequest{Organisation: org, Name: "event"})
	if err == nil {
		_, err = d.admin.RevokeKey(t.Context(), org, key.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(3 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		for shard := range admin.DueShards() {
			queues, _, err := d.admin.DueQueues(t.Context(), shard, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range queues {
				if q.Webhook != hook.ID {
					continue
				}
				l, ok, err := d.admin.LeaseDelivery(t.Context(), q)
				if err == nil && ok {
					_, err = d.admin.SettleDelivery(t.Context(), l, admin.DeliveryAttempt{At: time.Now(), Status: http.StatusOK})
				}
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					return "/v1/webhooks/" + hook.ID + "/deliveries/" + l.ID + "/redeliver"
				}
			}
		}
	}
	t.Fatal("no delivery could be taken")
	return ""
}
