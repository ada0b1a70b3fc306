package admin_test

import (
	"bytes"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// somebody signs in as a person with a role in an organisation.
func (w *world) somebody(x tenant, name string, role admin.Role) (admin.Person, string) {
	w.t.Helper()
	address := name + "@example.com"
	if _, err := w.Invite(w.ctx, w.Operator(x.ID), address, role); err != nil {
		w.t.Fatal(err)
	}
	p, err := w.SignIn(w.ctx, admin.Identity{Issuer: "https://id.example.com", Subject: name, Address: address, Verified: true}, netip.Addr{})
	if err != nil {
		w.t.Fatal(err)
	}
	token, _, err := w.BeginSession(w.ctx, admin.NewSession{Person: p.ID, Address: netip.MustParseAddr("192.0.2.9"), Agent: "Browser"})
	if err != nil {
		w.t.Fatal(err)
	}
	return p, token
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if got := admin.CodeOf(err); got != code {
		t.Errorf("%s: code %q (%v), want %q", what, got, err, code)
	}
}

func TestASessionEnds(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	p, token := w.somebody(x, "ada", admin.RoleOwner)

	for range 3 { // each request puts the end off
		w.Advance(11 * time.Hour)
		if _, _, err := w.SessionCaller(w.ctx, token, x.ID); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(12 * time.Hour)
	_, err := w.Session(w.ctx, token)
	wantCode(t, "idle for 12 hours", err, admin.CodeUnauthorized)

	token, sess, err := w.BeginSession(w.ctx, admin.NewSession{Person: p.ID})
	if err != nil {
		t.Fatal(err)
	}
	for w.Time().Sub(sess.SignedInAt) < 7*24*time.Hour-6*time.Hour {
		w.Advance(6 * time.Hour)
		if _, err := w.Session(w.ctx, token); err != nil {
			t.Fatalf("after %s: %v", w.Time().Sub(sess.SignedInAt), err)
		}
	}
	w.Advance(6 * time.Hour)
	_, err = w.Session(w.ctx, token)
	wantCode(t, "seven days old", err, admin.CodeUnauthorized)
}

func TestASessionOfSomebodyWhoWasRemoved(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("docs.example.com"), w.tenant("docs.example.net")
	w.somebody(x, "grace", admin.RoleOwner)
	p, token := w.somebody(x, "ada", admin.RoleMember)
	if _, _, err := w.SessionCaller(w.ctx, token, x.ID); err != nil {
		t.Fatal(err)
	}
	// The store lets the record go with the session, however often it is written.
	sess, err := w.Session(w.ctx, token)
	if err != nil || sess.Organisation != x.ID {
		t.Fatal(sess, err)
	}
	rec, err := w.store.Get(w.ctx, store.Key{PK: "session#" + sess.Digest, SK: "session"})
	if err != nil || !rec.ExpiresAt.Equal(begin.Add(7*24*time.Hour)) {
		t.Errorf("the record goes at %s, %v", rec.ExpiresAt, err)
	}
	_, _, err = w.SessionCaller(w.ctx, token, y.ID)
	wantCode(t, "a foreign organisation", err, admin.CodeNotFound)
	if err := w.RemoveMember(w.ctx, w.Operator(x.ID), p.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.SessionCaller(w.ctx, token, x.ID)
	wantCode(t, "after the membership", err, admin.CodeUnauthorized)
	_, err = w.Session(w.ctx, token)
	wantCode(t, "the session", err, admin.CodeUnauthorized)
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	p, first := w.somebody(x, "ada", admin.RoleOwner)
	other, theirs := w.somebody(x, "grace", admin.RoleOwner)
	w.Advance(time.Minute)
	second, _, err := w.BeginSession(w.ctx, admin.NewSession{Person: p.ID, Address: netip.MustParseAddr("2001:db8::1"), Agent: "Phone"})
	if err != nil {
		t.Fatal(err)
	}
	have, err := w.Sessions(w.ctx, p.ID)
	if err != nil || len(have) != 2 || have[0].Agent != "Phone" || have[1].Agent != "Browser" {
		t.Fatalf("sessions %+v, %v", have, err)
	}
	wantCode(t, "another's session", w.EndPersonSession(w.ctx, other.ID, have[0].ID), admin.CodeNotFound)
	if err := w.EndPersonSession(w.ctx, p.ID, have[1].ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.Session(w.ctx, first)
	wantCode(t, "the ended one", err, admin.CodeUnauthorized)

	// A new sign-in ends the session of the browser that it comes from.
	third, _, err := w.BeginSession(w.ctx, admin.NewSession{Person: p.ID, Old: second})
	if err != nil || third == second {
		t.Fatalf("%q, %v", third, err)
	}
	_, err = w.Session(w.ctx, second)
	wantCode(t, "the token from before the sign-in", err, admin.CodeUnauthorized)
	if _, err := w.Session(w.ctx, theirs); err != nil {
		t.Error(err)
	}

	for range 25 {
		w.Advance(time.Second)
		if _, _, err := w.BeginSession(w.ctx, admin.NewSession{Person: p.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if have, err = w.Sessions(w.ctx, p.ID); err != nil || len(have) != 20 {
		t.Errorf("%d sessions, %v", len(have), err)
	}
}

func TestATokenIsNowhereInTheStore(t *testing.T) {
	w := newWorld(t)
	_, token := w.somebody(w.tenant("docs.example.com"), "ada", admin.RoleOwner)
	link, err := w.LocalLink(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	flow, err := w.BeginFlow(w.ctx, admin.Flow{State: "s"})
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range []string{token, link, flow} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s is in %s", secret, d.Name())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestASignInIsTakenOnce(t *testing.T) {
	w := newWorld(t)
	w.tenant("docs.example.com")
	for name, c := range map[string]struct {
		begin func() (string, error)
		take  func(string) error
		life  time.Duration
	}{
		"link": {func() (string, error) { return w.LocalLink(w.ctx) },
			func(token string) error { _, err := w.TakeLink(w.ctx, token); return err }, time.Minute},
		"flow": {func() (string, error) { return w.BeginFlow(w.ctx, admin.Flow{State: "s", Nonce: "n"}) },
			func(token string) error { _, err := w.TakeFlow(w.ctx, token); return err }, 10 * time.Minute},
	} {
		token, err := c.begin()
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		took := 0
		for range 8 {
			wg.Go(func() {
				if c.take(token) == nil {
					mu.Lock()
					took++
					mu.Unlock()
				}
			})
		}
		if wg.Wait(); took != 1 {
			t.Errorf("%s: taken %d times", name, took)
		}
		wantCode(t, name+" again", c.take(token), admin.CodeUnauthorized)
		if token, err = c.begin(); err != nil {
			t.Fatal(err)
		}
		w.Advance(c.life)
		wantCode(t, name+" too late", c.take(token), admin.CodeUnauthorized)
		wantCode(t, name+" of nobody", c.take("nonsense"), admin.CodeUnauthorized)
	}
}

func TestTheLinkMakesTheMachinesOwner(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	var person string
	for range 2 {
		link, err := w.LocalLink(w.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if person, err = w.TakeLink(w.ctx, link); err != nil {
			t.Fatal(err)
		}
	}
	c, err := w.PersonCaller(w.ctx, person, x.ID)
	if err != nil || c.Role != admin.RoleOwner {
		t.Errorf("%+v, %v", c, err)
	}
	entries, _, err := w.Audit(w.ctx, w.Operator(x.ID), admin.AuditList{Action: "member"})
	if err != nil || len(entries) != 2 { // invited and joined, once
		t.Errorf("%+v, %v", entries, err)
	}
}

func TestSignInsAreLimitedByAddress(t *testing.T) {
	w := newWorld(t)
	at := func(addr string) time.Duration {
		t.Helper()
		wait, err := w.CountSignIn(w.ctx, netip.MustParseAddr(addr))
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	for i := range 30 {
		if wait := at("2001:db8::" + strings.Repeat("1", i%4+1)); wait != 0 {
			t.Fatalf("attempt %d waits %s", i, wait)
		}
	}
	w.Advance(time.Minute)
	if wait := at("2001:db8::beef"); wait != 9*time.Minute {
		t.Errorf("the 31st waits %s", wait)
	}
	if wait := at("2001:db8:0:1::1"); wait != 0 {
		t.Errorf("a neighbour waits %s", wait)
	}
	if wait := at("::ffff:192.0.2.1"); wait != 0 {
		t.Errorf("IPv4 waits %s", wait)
	}
	w.Advance(9 * time.Minute)
	if wait := at("2001:db8::1"); wait != 0 {
		t.Errorf("after the span: %s", wait)
	}
}

func TestRecentSignIn(t *testing.T) {
	w := newWorld(t)
	p, token := w.somebody(w.tenant("docs.example.com"), "ada", admin.RoleOwner)
	if _, sess, err := w.BeginSession(w.ctx, admin.NewSession{Person: p.ID, ProvedAt: begin.Add(-time.Hour)}); err != nil || w.Recent(sess) {
		t.Errorf("a provider's session of an hour ago: %+v, %v", sess, err)
	}
	w.Advance(15 * time.Minute)
	sess, err := w.Session(w.ctx, token)
	if err != nil || !w.Recent(sess) {
		t.Errorf("at 15 minutes: %+v, %v", sess, err)
	}
	w.Advance(time.Millisecond)
	if w.Recent(sess) {
		t.Error("after 15 minutes")
	}
}
