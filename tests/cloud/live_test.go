package cloud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/harness"
)

// live has versions of a site go live, by themselves and by people, until each
// function that moves takes the pin of an old version away.
func (d *deployment) live(t *testing.T) {
	const domain = "live.example.com"
	org := d.organisation(t, admin.PlanEnterprise, domain)
	owner := deployment{Up: harness.Up{URL: d.URL, Key: d.newKey(t, org.ID, admin.ScopeRead, admin.ScopeWrite, admin.ScopeDeploy)}, client: d.client}
	const path = "/v1/sites/" + domain + "/live"
	deploy := func(fresh bool) string {
		t.Helper()
		status, job, _ := owner.Call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q,"goLive":true,"fresh":%t}`, domain, fresh))
		if status != http.StatusAccepted {
			t.Fatalf("start: %d %v", status, job)
		}
		id, _ := job["jobId"].(string)
		if job := owner.wait(t, id, 4*time.Minute); job["status"] != "completed" {
			t.Fatalf("the job is %v", job)
		}
		return id
	}
	set := func(body string) {
		t.Helper()
		if status, answer, _ := owner.Call(t, "PUT", path, body); status != http.StatusOK {
			t.Fatalf("%s: %d %v", body, status, answer)
		}
	}
	expect := func(job string, cause admin.LiveCause, moves int) {
		t.Helper()
		_, answer, _ := owner.Call(t, "GET", path, "")
		text, _ := json.Marshal(answer["live"])
		var now struct {
			JobID  string
			Cause  admin.LiveCause
			Number int
		}
		if err := json.Unmarshal(text, &now); err != nil || now.JobID != job || now.Cause != cause || now.Number != moves {
			t.Fatalf("live is %s, want %s, %s, as move %d: %v", text, job, cause, moves, err)
		}
	}
	owner.publishText(t, domain, "The first text.")
	first := deploy(true)
	expect(first, admin.LiveAutomatic, 1)
	owner.publishText(t, domain, "The second text.")
	second := deploy(true)
	expect(second, admin.LiveAutomatic, 2)
	set(`{"action":"rollback","from":"` + second + `"}`)
	expect(first, admin.LiveRollback, 3)
	for i := range 8 { // the last one takes a pin away
		set(`{"action":"promote","jobId":"` + []string{second, first}[i%2] + `"}`)
	}
	expect(first, admin.LivePromote, 11)
	set(`{"action":"release"}`)
	owner.publishText(t, domain, "The third text.")
	expect(deploy(true), admin.LiveAutomatic, 12)
	expect(deploy(false), admin.LiveAutomatic, 13) // a bundle that is stored, which Plan finds
	if status, history, _ := owner.Call(t, "GET", path+"/history?limit=50", ""); status != http.StatusOK || len(history["moves"].([]any)) != 13 {
		t.Errorf("the history: %d %v", status, history)
	}
	if err := d.objects().Delete(t.Context(), "exports/"+second+"/bundle.tar.gz"); err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Authorization": "Bearer " + owner.Key, "Content-Type": "application/json"}
	if status, code := d.ask(t, "PUT", path, `{"action":"promote","jobId":"`+second+`"}`, header); status != http.StatusGone || code != admin.CodeBundleGone {
		t.Errorf("a promote of what is gone: %d %s", status, code)
	}
	if status, code := d.ask(t, "GET", path, "", map[string]string{"Authorization": "Bearer " + d.Key}); status != http.StatusNotFound || code != admin.CodeDomainNotFound {
		t.Errorf("another organisation reads what is live: %d %s", status, code)
	}
	d.sites(t, org, domain, func(text string) string {
		owner.publishText(t, domain, text)
		return deploy(true)
	})
}
