package dashboard_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

func (b *browser) addr() netip.Addr { return netip.MustParseAddr("127.0.0.1") }

// byLink signs the machine's owner in.
func (b *browser) byLink(header ...string) answer {
	b.w.t.Helper()
	link, err := b.w.LocalLink(b.w.ctx)
	if err != nil {
		b.w.t.Fatal(err)
	}
	return b.do(http.MethodGet, "/sign-in/link?token="+url.QueryEscape(link), nil, header...)
}

func TestALinkSignsInOnce(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b, other := w.browser(), w.browser()
	link, err := w.LocalLink(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	in := b.get("/sign-in/link?token="+link).says(t, "the link", 303)
	cookie := in.header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, b.cookieName()+"=session_") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || strings.Contains(cookie, "Secure") {
		t.Errorf("the cookie on loopback: %s", cookie)
	}
	other.get("/sign-in/link?token="+link).says(t, "the link again", 401, "This link has ended")
	if log := w.log.String(); strings.Contains(log, link) || strings.Contains(log, b.token()) || !strings.Contains(log, "route=/sign-in/link") {
		t.Errorf("the log: %s", log)
	}
	if home := b.get("/").says(t, "home", 303); home.header.Get("Location") != "/org/"+x.ID+"/exports" {
		t.Errorf("home leads to %s", home.header.Get("Location"))
	}
	b.get("/org/"+x.ID+"/exports").says(t, "exports", 200, "What is left to do", "Owner of this machine")

	if link, err = w.LocalLink(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Minute)
	other.get("/sign-in/link?token="+link).says(t, "after a minute", 401)
	other.byLink("Host", "rebound.example.com").says(t, "another name", 404)
	far := newWorld(t, func(o *dashboard.Options) {
		o.ClientAddr = func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") }
	})
	far.browser().byLink().says(t, "from another machine", 404)
	off := newWorld(t, func(o *dashboard.Options) { o.Links = false })
	off.browser().byLink().says(t, "without links", 404)
}

func TestTheCookieOverHTTPS(t *testing.T) {
	w := newWorld(t, func(o *dashboard.Options) { o.URL = "https://docs.example.com" })
	w.tenant("Own", "docs.example.com")
	in := w.browser().byLink().says(t, "the link", 303)
	if c := in.header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-bindery=") || !strings.Contains(c, "Secure") || !strings.Contains(c, "Path=/;") || strings.Contains(c, "Domain") {
		t.Errorf("the cookie: %s", c)
	}
	if in.header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

// A token that somebody knew before a sign-in is worth nothing after it.
func TestATokenFromBeforeTheSignIn(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	evil := w.as(x, "evil", admin.RoleViewer)
	planted := evil.token()
	victim := w.browser()
	victim.setToken(planted)
	victim.byLink().says(t, "the sign-in", 303)
	if victim.token() == planted {
		t.Error("the token stayed")
	}
	evil.get("/me").says(t, "the planted token", 303)
	victim.setToken("session_made-up")
	victim.get("/me").says(t, "a made-up token", 303)
}

func TestAStolenCookieAfterSigningOut(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b, thief := w.as(x, "ada", admin.RoleOwner), w.browser()
	thief.setToken(b.token())
	thief.get("/me").says(t, "the thief", 200)
	out := b.post("/sign-out").says(t, "signing out", 303)
	if !strings.Contains(out.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("the cookie stays: %v", out.header)
	}
	thief.get("/me").says(t, "the thief", 303)
	thief.post("/org/"+x.ID+"/keys", "name", "x", "scopes", "read", "expiry", "7").says(t, "the thief's form", 401)
	b.get("/sign-out").says(t, "a link that signs out", 303) // it is no page: the sign-in
	if b.get("/sign-out").header.Get("Location") != "/sign-in?next=%2Fsign-out" {
		t.Error("a link signs out")
	}
}

func TestSessionsAreShownAndEnded(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b, other := w.as(x, "ada", admin.RoleOwner), w.as(x, "grace", admin.RoleOwner)
	phone := w.browser()
	phone.person = b.person
	w.Advance(time.Second)
	phone.signIn()
	b.get("/me").says(t, "the page", 200, "this one", "127.0.0.1")
	have, err := w.Sessions(w.ctx, b.person.ID)
	if err != nil || len(have) != 2 {
		t.Fatal(have, err)
	}
	other.post("/me/sessions/"+have[0].ID+"/end").says(t, "another's", 404)
	b.post("/me/sessions/"+have[0].ID+"/end").says(t, "the phone's", 303)
	phone.get("/me").says(t, "the phone", 303)
	b.get("/me").says(t, "the page", 200)
	b.post("/me/sessions/"+have[1].ID+"/end").says(t, "one's own", 303)
	b.get("/me").says(t, "the page", 303)
}

func TestWhereASignInMayLead(t *testing.T) {
	for next, want := range map[string]string{
		"/org/org_1/keys?cursor=x": "/org/org_1/keys?cursor=x", "/me": "/me", "/": "/",
		"": "/", "//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", "https://evil.example/me": "/", "javascript:alert(1)": "/",
		"/\t/evil.example": "/", "///evil.example": "/", "/me\r\nX: 1": "/", "me": "/", "/v1/projects": "/", "/sign-out": "/", "/sign-in/link?token=x": "/",
		"/%2f/evil.example": "/", "/%5cevil.example": "/", "http:/me": "/", "/org/" + strings.Repeat("x", 2000): "/",
	} {
		if got := dashboard.LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
	w := newWorld(t)
	w.tenant("Own", "docs.example.com")
	b := w.browser()
	link, err := w.LocalLink(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	in := b.get("/sign-in/link?token="+link+"&next=//evil.example/").says(t, "the link", 303)
	if in.header.Get("Location") != "/" {
		t.Errorf("leads to %s", in.header.Get("Location"))
	}
	in = b.get("/sign-in?next=https://evil.example/").says(t, "signed in already", 303)
	if in.header.Get("Location") != "/" {
		t.Errorf("leads to %s", in.header.Get("Location"))
	}
}

func TestSignInsOfOneAddressAreLimited(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	for range 30 {
		b.get("/sign-in/link?token=nonsense").says(t, "a guess", 401)
	}
	full := b.get("/sign-in/link?token=nonsense").says(t, "one too many", 429)
	if full.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	b.byLink().says(t, "even a good one", 429)
	w.Advance(10 * time.Minute)
	b.byLink().says(t, "later", 303)
}

func TestSomebodyWithoutAnOrganisation(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.byLink().says(t, "the link", 303)
	b.get("/").says(t, "home", 200, "No organisation yet", "bindery org create")
	b.get("/me").says(t, "the page", 200, "You are a member of none")
}
