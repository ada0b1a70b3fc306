package webhook_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/webhook"
)

// The vector is that of the specification's own libraries; what is signed here the
// Go library takes, and what it signs is the same.
func TestSign(t *testing.T) {
	const secret, id = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
	at, body := time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)
	got, err := webhook.Sign(secret, id, at, body)
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	lib, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := lib.Sign(id, at, body); err != nil || got != want {
		t.Errorf("%s, the library has %s, %v", got, want, err)
	}
	for _, damaged := range []string{"", "whsec_", "whsec_!"} {
		if _, err := webhook.Sign(damaged, id, at, body); err == nil || damaged != "" && strings.Contains(err.Error(), damaged) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

// Each message is verified by the library, by both secrets for a day after a
// change, and by the new one alone after it. Attempts at one event have one id and
// one body.
func TestMessagesAreSigned(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	hook := w.subscribe(x, "a")
	if !strings.HasPrefix(hook.Secret, "whsec_") || len(hook.Secret) != len("whsec_")+44 {
		t.Errorf("the secret is %q", hook.Secret)
	}
	w.ends.answers(func(n int, _ request) int { return map[bool]int{true: 503, false: 200}[n == 1] })
	k := w.newKey(x)
	w.pass()
	w.Advance(time.Minute)
	w.pass()
	got := w.ends.got()
	if len(got) != 2 || got[0].ID != got[1].ID || !bytes.Equal(got[0].body, got[1].body) || got[0].header.Get(webhook.HeaderTimestamp) == got[1].header.Get(webhook.HeaderTimestamp) {
		t.Fatalf("requests: %+v", got)
	}
	r := got[1]
	if err := r.verifies(hook.Secret); err != nil || r.Type != admin.EventKeyCreated || r.Data.ID != k.ID || !r.Timestamp.Equal(begin) || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v: %s %v", err, r.body, r.header)
	}
	if strings.Contains(string(r.body), k.Digest) || strings.Contains(string(r.body), "organisation") {
		t.Errorf("the body shows too much: %s", r.body)
	}
	r.body = append(r.body, ' ')
	if r.verifies(hook.Secret) == nil {
		t.Error("a changed body verifies")
	}

	w.ends.answers(func(int, request) int { return 200 })
	changed := must[admin.NewWebhook](t)(w.RotateWebhookSecret(w.ctx, x.Caller, hook.ID, ""))
	if changed.Secret == hook.Secret || changed.ID != hook.ID || changed.ChangedAt.IsZero() {
		t.Errorf("changed: %+v", changed)
	}
	for _, c := range []struct {
		after time.Duration
		old   bool
	}{{0, true}, {24*time.Hour - time.Second, true}, {time.Second, false}} {
		w.Advance(c.after)
		w.newKey(x)
		w.pass()
		got := w.ends.got()
		if len(got) != 1 || got[0].verifies(changed.Secret) != nil || (got[0].verifies(hook.Secret) == nil) != c.old {
			t.Errorf("after %s: %+v", c.after, got)
		}
	}
}
