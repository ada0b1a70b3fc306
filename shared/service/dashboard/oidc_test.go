package dashboard_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

// issuer is a provider that signs everybody in, and lies where a test says so.
type issuer struct {
	t      *testing.T
	server *httptest.Server
	key    *ecdsa.PrivateKey
	w      *world

	asked  url.Values     // the last request for a sign-in
	claims map[string]any // put over those that are right
	sign   *ecdsa.PrivateKey
	codes  map[string]bool // that were exchanged
}

func newIssuer(t *testing.T) (*issuer, func(*dashboard.Options)) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	is := &issuer{t: t, key: key, sign: key, codes: map[string]bool{}}
	about := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "1", Algorithm: oidc.ES256}}, Algorithms: []string{oidc.ES256}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", is.token)
	mux.Handle("/", about)
	is.server = httptest.NewServer(mux)
	t.Cleanup(is.server.Close)
	about.SetIssuer(is.server.URL)
	return is, func(o *dashboard.Options) {
		o.Provider = &dashboard.Provider{Issuer: is.server.URL, ClientID: "bindery", ClientSecret: "sesame"}
		o.Links = false
	}
}

// token exchanges a code, once, for whoever knows the verifier of its challenge.
func (is *issuer) token(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	code := r.FormValue("code")
	if id != "bindery" || secret != "sesame" || is.codes[code] || is.asked.Get("code_challenge_method") != "S256" ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != is.asked.Get("code_challenge") || r.FormValue("redirect_uri") != is.asked.Get("redirect_uri") {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	is.codes[code] = true
	claims := map[string]any{
		"iss": is.server.URL, "aud": "bindery", "sub": "ada", "nonce": is.asked.Get("nonce"), "email": "ada@example.com", "email_verified": true,
		"name": "Ada", "iat": is.w.Time().Unix(), "exp": is.w.Time().Add(time.Minute).Unix(),
	}
	maps.Copy(claims, is.claims)
	raw, err := json.Marshal(claims)
	if err != nil {
		is.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": oidctest.SignIDToken(crypto.PrivateKey(is.sign), "1", oidc.ES256, string(raw)),
	})
}

// begin goes to the provider, and returns the address that it would send the browser
// back to.
func (is *issuer) begin(b *browser, query string) string {
	is.t.Helper()
	to := b.get("/sign-in/start"+query).says(is.t, "the start", 303).header.Get("Location")
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, is.server.URL+"/auth?") {
		is.t.Fatalf("leads to %s (%v)", to, err)
	}
	is.asked = u.Query()
	return "/sign-in/callback?" + url.Values{"code": {rand.Text()}, "state": {is.asked.Get("state")}, "iss": {is.server.URL}}.Encode()
}

func TestSigningInAtAProvider(t *testing.T) {
	is, with := newIssuer(t)
	w := newWorld(t, with)
	is.w = w
	x := w.tenant("Own", "docs.example.com")
	if _, err := w.Invite(w.ctx, w.Operator(x.ID), "ada@example.com", admin.RoleMember); err != nil {
		t.Fatal(err)
	}
	b := w.browser()
	back := is.begin(b, "?next="+url.QueryEscape("/org/"+x.ID+"/usage"))
	if is.asked.Get("redirect_uri") != w.server.URL+"/sign-in/callback" || is.asked.Get("response_type") != "code" || len(is.asked.Get("nonce")) < 20 {
		t.Errorf("asked for %v", is.asked)
	}
	in := b.get(back).says(t, "the answer", 303)
	if in.header.Get("Location") != "/org/"+x.ID+"/usage" {
		t.Errorf("leads to %s", in.header.Get("Location"))
	}
	b.get("/org/"+x.ID+"/usage").says(t, "the page", 200, "Ada", "By month")

	// The same answer again, in the same browser and in another.
	b.get(back).says(t, "the answer again", 401, "used already")
	w.browser().get(back).says(t, "in another browser", 401, "used already")
}

func TestAnswersThatAreRefused(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answer func(string) string
		claims map[string]any
		sign   *ecdsa.PrivateKey
	}{
		"another state":     {answer: func(s string) string { return s + "&state=x" }, claims: nil},
		"a changed state":   {answer: func(s string) string { return strings.Replace(s, "state=", "state=x", 1) }},
		"another issuer":    {answer: func(s string) string { return strings.Replace(s, "iss=", "iss=x", 1) }},
		"an error":          {answer: func(s string) string { return s + "&error=access_denied%0d%0aforged" }},
		"another nonce":     {claims: map[string]any{"nonce": "x"}},
		"no nonce":          {claims: map[string]any{"nonce": nil}},
		"another audience":  {claims: map[string]any{"aud": "other"}},
		"a token of others": {claims: map[string]any{"iss": "https://id.example.com"}},
		"an old token":      {claims: map[string]any{"exp": 1}},
		"another key":       {sign: other},
	} {
		t.Run(name, func(t *testing.T) {
			is, with := newIssuer(t)
			w := newWorld(t, with)
			is.w, is.claims = w, c.claims
			if c.sign != nil {
				is.sign = c.sign
			}
			b := w.browser()
			back := is.begin(b, "")
			if name == "another state" { // the first one counts
				back = strings.Replace(back, "state=", "was=", 1)
			}
			if c.answer != nil {
				back = c.answer(back)
			}
			b.get(back).says(t, name, 401, "You are not signed in")
			if b.token() != "" {
				t.Error("there is a session")
			}
			if log := w.log.String(); strings.Contains(log, "\nforged") || !strings.Contains(log, "a sign-in was refused") {
				t.Errorf("the log: %s", log)
			}
			b.get(is.begin(w.browser(), "")).says(t, "the flow of another browser", 401)
		})
	}
}

func TestAnAddressThatNobodyVerified(t *testing.T) {
	for _, verified := range []any{false, nil, "false", 1} {
		is, with := newIssuer(t)
		w := newWorld(t, with)
		is.w, is.claims = w, map[string]any{"email_verified": verified}
		x := w.tenant("Own", "docs.example.com")
		if _, err := w.Invite(w.ctx, w.Operator(x.ID), "ada@example.com", admin.RoleOwner); err != nil {
			t.Fatal(err)
		}
		b := w.browser()
		b.get(is.begin(b, "")).says(t, "the answer", 303)
		b.get("/").says(t, "home", 200, "No organisation yet")
		b.get("/org/"+x.ID+"/keys").says(t, "the keys", 404)
	}
}

func TestSigningInAgain(t *testing.T) {
	is, with := newIssuer(t)
	w := newWorld(t, with)
	is.w = w
	x := w.tenant("Own", "docs.example.com")
	if _, err := w.Invite(w.ctx, w.Operator(x.ID), "ada@example.com", admin.RoleOwner); err != nil {
		t.Fatal(err)
	}
	b := w.browser()
	// The provider remembers a sign-in of this morning: a session, but no fresh one.
	is.claims = map[string]any{"auth_time": w.Time().Add(-time.Hour).Unix()}
	b.get(is.begin(b, "")).says(t, "the answer", 303)
	first := b.token()
	again := b.get("/org/"+x.ID+"/keys/new").says(t, "the form", 403, "Sign in again")
	if !strings.Contains(again.body, `href="/sign-in/start?again=1&amp;next=%2Forg%2F`+x.ID+`%2Fkeys%2Fnew"`) {
		t.Error(again.body)
	}
	back := is.begin(b, "?again=1&next=/org/"+x.ID+"/keys/new")
	if is.asked.Get("prompt") != "login" || is.asked.Get("max_age") != "0" {
		t.Errorf("asked for %v", is.asked)
	}
	is.claims = map[string]any{"auth_time": w.Time().Unix()}
	b.get(back).says(t, "the answer", 303)
	b.get("/org/"+x.ID+"/keys/new").says(t, "the form", 200)
	if b.token() == first {
		t.Error("the token stayed")
	}
}

// Only a sign-in that was asked for is fresh, and only if the provider says when it was.
func TestOnlyASignInThatWasAskedForIsFresh(t *testing.T) {
	for _, c := range []struct {
		name, query string
		claims      func(now time.Time) map[string]any
		answer      int
		form        int
		says        string
	}{
		{"the provider did not ask the person", "", func(time.Time) map[string]any { return nil }, 303, 403, "Sign in again"},
		{"it says that it did, and nobody asked for that", "", func(now time.Time) map[string]any { return map[string]any{"auth_time": now.Unix()} }, 303, 403, "Sign in again"},
		{"asked for, and it does not say when", "?again=1", func(time.Time) map[string]any { return nil }, 303, 403, "its id token has no auth_time"},
		{"asked for, and it was before", "?again=1", func(now time.Time) map[string]any { return map[string]any{"auth_time": now.Add(-2 * time.Hour).Unix()} }, 303, 403, "Sign in again"},
		{"asked for, and in the future", "?again=1", func(now time.Time) map[string]any { return map[string]any{"auth_time": now.Add(time.Hour).Unix()} }, 401, 303, ""},
		{"not asked for, and in the future", "", func(now time.Time) map[string]any { return map[string]any{"auth_time": now.Add(time.Hour).Unix()} }, 401, 303, ""},
		{"asked for, by a clock that is a little ahead", "?again=1", func(now time.Time) map[string]any {
			return map[string]any{"auth_time": now.Add(30 * time.Second).Unix()}
		}, 303, 200, ""},
		{"asked for", "?again=1", func(now time.Time) map[string]any { return map[string]any{"auth_time": now.Unix()} }, 303, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is, with := newIssuer(t)
			w := newWorld(t, with)
			is.w = w
			x := w.tenant("Own", "docs.example.com")
			if _, err := w.Invite(w.ctx, w.Operator(x.ID), "ada@example.com", admin.RoleOwner); err != nil {
				t.Fatal(err)
			}
			b := w.browser()
			is.claims = c.claims(w.Time())
			b.get(is.begin(b, c.query)).says(t, "the answer", c.answer)
			form := b.get("/org/"+x.ID+"/keys/new").says(t, "the form", c.form)
			if !strings.Contains(form.text(), c.says) {
				t.Errorf("the page does not say %q: %s", c.says, form.text())
			}
		})
	}
}

// A company behind one address can sign in, whoever begins how many sign-ins there:
// failures are counted.
func TestACompanyBehindOneAddressSignsIn(t *testing.T) {
	is, with := newIssuer(t)
	w := newWorld(t, with, func(o *dashboard.Options) { o.Links = true })
	is.w = w
	x := w.tenant("Own", "docs.example.com")
	if _, err := w.Invite(w.ctx, w.Operator(x.ID), "ada@example.com", admin.RoleOwner); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		w.browser().get("/sign-in/start").says(t, "a start", 303)
	}
	for range 40 {
		b := w.browser()
		b.get(is.begin(b, "")).says(t, "a sign-in", 303)
	}
	for range 30 {
		w.browser().get("/sign-in/callback?code=x&state=y").says(t, "a guess", 401)
	}
	b := w.browser()
	b.get(is.begin(b, "")).says(t, "after too many failures", 429)
	w.browser().byLink().says(t, "a link has a limit of its own", 303)
}

// Guesses count against the address that a request comes from, which behind a proxy is
// the one that the proxy names.
func TestGuessesCountByTheClientsAddress(t *testing.T) {
	is, with := newIssuer(t)
	client := "203.0.113.9"
	w := newWorld(t, with, func(o *dashboard.Options) {
		o.ClientAddr = func(*http.Request) netip.Addr { return netip.MustParseAddr(client) }
	})
	is.w = w
	guess := func(what string, status int) {
		t.Helper()
		w.browser().get("/sign-in/callback?code=x&state=y").says(t, what, status)
	}
	for range 30 {
		guess("a guess", 401)
	}
	guess("one too many", 429)
	client = "198.51.100.1"
	guess("from another address", 401)
}

func TestAProviderThatIsDown(t *testing.T) {
	is, with := newIssuer(t)
	w := newWorld(t, with)
	is.server.Close()
	w.browser().get("/sign-in/start").says(t, "the start", 503, "The identity provider does not answer")
	if log := w.log.String(); !strings.Contains(log, "connection refused") {
		t.Errorf("the log does not say why: %s", log)
	}
}
