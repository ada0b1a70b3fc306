package dashboard_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

var whsec = regexp.MustCompile(`whsec_[A-Za-z0-9+/=]{40,}`)

func TestWebhooksAreAddedFollowedAndRemoved(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleAdmin)
	base := "/org/" + x.ID + "/webhooks"
	b.get(base).says(t, "no webhooks", 200, "There is no webhook yet")
	b.get(base+"/new").says(t, "the form", 200, "export.completed", "an export ended well")

	wrong := b.post(base, "url", "http://hooks.example.com/x", "events", "key.created")
	wrong.says(t, "http", 400, "https")
	for _, kept := range []string{`value="http://hooks.example.com/x"`, `value="key.created" checked`} {
		if !strings.Contains(wrong.body, kept) {
			t.Errorf("the form lost %q", kept)
		}
	}
	if strings.Contains(wrong.body, `value="export.failed" checked`) {
		t.Error("the form has an event that was not chosen")
	}
	b.post(base, "url", "https://10.0.0.1/x", "events", "key.created").says(t, "a private address", 400)
	b.post(base, "url", "https://hooks.example.com/x").says(t, "no event", 400, "Must name at least one event.")
	b.post(base, "url", "https://hooks.example.com/x", "events", "all").says(t, "no such event", 400, "Is not the name of an event.")

	form := []string{"url", "https://hooks.example.com/x?token=1", "events", "key.created", "events", "key.revoked", "once", strings.Repeat("B", 26)}
	shown := b.post(base, form...).says(t, "a webhook", 303).header.Get("Location")
	secret := whsec.FindString(b.get(shown).says(t, "its secret", 200, "Copy the secret now", "hooks.example.com").text())
	if reloaded := b.get(shown).says(t, "its secret, reloaded", 200, "was shown once"); whsec.MatchString(reloaded.body) {
		t.Error("a secret is shown twice")
	}
	again := b.post(base, form...).says(t, "the form sent twice", 303).header.Get("Location")
	if got := whsec.FindString(b.get(again).text()); got != secret || secret == "" {
		t.Error("sending a form twice made two webhooks")
	}
	list := b.get(base).says(t, "the list", 200, "https://hooks.example.com/x", "key.created, key.revoked", "on")
	path := regexp.MustCompile(`href="([^"]+/webhooks/whk_[^"]+)"`).FindStringSubmatch(list.body)[1]
	b.get(path).says(t, "the webhook", 200, "No event yet")

	const events = 25
	for i := range events {
		w.Advance(time.Second)
		if _, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: fmt.Sprint("key", i)}); err != nil {
			t.Fatal(err)
		}
	}
	page := b.get(path).says(t, "deliveries", 200, "key.created", "pending", "Next page")
	if strings.Contains(page.text(), secret) || strings.Contains(page.body, "Deliver again") {
		t.Error("the page shows the secret, or delivers again what waits")
	}
	rows := strings.Count(page.body, "<th role=\"rowheader\" scope=\"row\"><code>key.created")
	next := nextPage.FindStringSubmatch(page.body)
	rows += strings.Count(b.get(next[1]).says(t, "the second page", 200).body, "<th role=\"rowheader\" scope=\"row\"><code>key.created")
	if rows != events {
		t.Errorf("%d deliveries on two pages, want %d", rows, events)
	}
	b.get(path+"?cursor=x%20y").says(t, "a made-up cursor", 400)

	w.deliver(false)
	page = b.get(path).says(t, "a failed attempt", 200, "The receiver answered 500.", "next")
	w.Advance(25 * time.Hour)
	b.signIn() // the session has ended
	w.deliver(false)
	page = b.get(path).says(t, "dead ones", 200, "dead", "2 attempts", "Deliver again")
	redeliver := regexp.MustCompile(`action="([^"]+/redeliver)"`).FindStringSubmatch(page.body)[1]
	b.post(redeliver).says(t, "delivering again", 303)
	b.post(redeliver).says(t, "delivering again what waits", 409, "The delivery has not ended yet.")
	w.Advance(time.Second)
	w.deliver(true)
	b.get(path).says(t, "delivered", 200, "delivered", "204")

	b.get(path+"/rotate").says(t, "the question", 200, "signed with both for 24 hours")
	rotated := b.post(path+"/rotate").says(t, "a new secret", 303).header.Get("Location")
	if s := whsec.FindString(b.get(rotated).says(t, "the new secret", 200, "The one before signs beside it").text()); s == "" || s == secret {
		t.Errorf("the new secret is %q", s)
	}
	b.get(path).says(t, "the webhook", 200, "Secret changed")
	b.get(path+"/remove").says(t, "the question", 200, "Remove this webhook?")
	b.post(path+"/remove").says(t, "removing", 303)
	b.get(path).says(t, "a removed webhook", 404)
	for i := range admin.MaxWebhooks {
		b.post(base, "url", fmt.Sprintf("https://hooks.example.com/%d", i), "events", "key.created").says(t, "another", 303)
	}
	b.post(base, "url", "https://hooks.example.com/more", "events", "key.created").says(t, "one too many", 409, "the most that it may have")
	if strings.Contains(b.get(base).body, "New webhook") {
		t.Error("a full list offers one more")
	}
}

// deliver settles an attempt of everything that is due.
func (w *world) deliver(success bool) {
	w.t.Helper()
	attempt := admin.DeliveryAttempt{At: w.Time(), Took: 80 * time.Millisecond, Status: 204}
	if !success {
		attempt.Status, attempt.Error = 500, "the receiver answered 500"
	}
	for shard := range admin.DueShards() {
		due, _, err := w.DueQueues(w.ctx, shard, "")
		if err != nil {
			w.t.Fatal(err)
		}
		for _, d := range due {
			l, taken, err := w.LeaseDelivery(w.ctx, d)
			if err != nil || !taken {
				w.t.Fatal(taken, err)
			}
			if _, err := w.SettleDelivery(w.ctx, l, attempt); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}
