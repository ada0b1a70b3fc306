package forge_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// An App proves itself with its key, and gets a token for the one repository,
// which it uses until shortly before its end.
func TestApp(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	tokens, status := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if status != 0 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"message":"no"}`)
			return
		}
		proves(t, r, &key.PublicKey, now)
		switch r.Method + " " + r.URL.Path {
		case "GET /api/v3/repos/acme/docs/installation", "GET /api/v3/repos/acme/other/installation":
			_, _ = io.WriteString(w, `{"id":42,"app_id":1}`)
		case "POST /api/v3/app/installations/42/access_tokens":
			body, _ := io.ReadAll(r.Body)
			if want := `{"permissions":{"contents":"write","pull_requests":"write"},"repositories":["`; !strings.HasPrefix(string(body), want) {
				t.Errorf("asked for %s", body)
			}
			tokens++
			w.WriteHeader(http.StatusCreated)
			_, _ = fmt.Fprintf(w, `{"token":"ghs_%d","expires_at":%q}`, tokens, now.Add(time.Hour).Format(time.RFC3339))
		default:
			t.Errorf("asked was %s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := forge.Options{AllowPrivate: []string{u.Host}, AllowHTTP: true, Now: func() time.Time { return now }}
	for _, block := range []*pem.Block{{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}, {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if _, err := forge.NewApp(o, forge.AppKey{ID: "Iv1.abc", PEM: pem.EncodeToMemory(block)}); err != nil {
			t.Errorf("%s: %v", block.Type, err)
		}
	}
	for _, bad := range []string{"", "secret-key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret-key")}))} {
		if _, err := forge.NewApp(o, forge.AppKey{ID: "Iv1.abc", PEM: []byte(bad)}); !errors.Is(err, forge.ErrCredential) || strings.Contains(err.Error(), "secret-key") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	known := forge.AppKey{ID: "Iv1.abc", PEM: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})}
	for _, wrong := range []forge.AppKey{{PEM: known.PEM}, {ID: "a/b", PEM: known.PEM}, {ID: "1", Installation: "42/..", PEM: known.PEM}} {
		if _, err := forge.NewApp(o, wrong); !errors.Is(err, forge.ErrCredential) {
			t.Errorf("id %q, installation %q: %v", wrong.ID, wrong.Installation, err)
		}
	}
	app, err := forge.NewApp(o, known)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(known)
	if text := fmt.Sprintf("%v %+v %#v %v %+v %#v %s", app, app, app, known, known, known, encoded); err != nil || strings.Contains(text, "PRIVATE") || len(text) > 100 {
		t.Errorf("the App prints as %.200s, %v", text, err)
	}
	docs := forge.Repository{Kind: forge.GitHub, URL: server.URL + "/acme/docs"}
	other := forge.Repository{Kind: forge.GitHub, URL: server.URL + "/acme/other"}
	for i, c := range []struct {
		r     forge.Repository
		after time.Duration
		want  string
	}{{docs, 0, "ghs_1"}, {docs, 49 * time.Minute, "ghs_1"}, {other, 0, "ghs_2"}, {docs, 2 * time.Minute, "ghs_3"}} {
		now = now.Add(c.after)
		if got, err := app.Credential(t.Context(), c.r); err != nil || got.Token != c.want {
			t.Errorf("%d: %q, %v", i, got.Token, err)
		}
	}
	now = now.Add(2 * time.Hour)
	// With an installation that is named, none is looked for, here or elsewhere.
	known.Installation, known.Host = "42", u.Host
	named, err := forge.NewApp(o, known)
	if err != nil {
		t.Fatal(err)
	}
	unlisted := forge.Repository{Kind: forge.GitHub, URL: server.URL + "/acme/unlisted"}
	if got, err := named.Credential(t.Context(), unlisted); err != nil || got.Token != "ghs_4" || !named.Serves(unlisted) {
		t.Errorf("of a named installation: %q, %v", got.Token, err)
	}
	for _, r := range []forge.Repository{
		{Kind: forge.GitHub, URL: "https://github.com/acme/docs"}, {Kind: forge.Gitea, URL: docs.URL}, {Kind: forge.GitHub, URL: docs.URL, API: "https://elsewhere.example/api/v3"},
	} {
		if _, err := named.Credential(t.Context(), r); !errors.Is(err, forge.ErrCredential) || named.Serves(r) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, c := range []struct {
		status int
		want   *forge.Error
	}{{401, forge.ErrCredential}, {403, forge.ErrCredential}, {404, forge.ErrCredential}, {422, forge.ErrCredential}, {500, forge.ErrUnreachable}, {429, forge.ErrRateLimited}} {
		status = c.status
		if _, err := app.Credential(t.Context(), docs); !errors.Is(err, c.want) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if _, err := app.Credential(t.Context(), forge.Repository{Kind: forge.Gitea, URL: server.URL + "/acme/docs"}); !errors.Is(err, forge.ErrCredential) {
		t.Errorf("at Gitea: %v", err)
	}
	if _, err := app.Credential(t.Context(), forge.Repository{Kind: forge.GitHub, URL: "https://elsewhere.example/acme/docs"}); !errors.Is(err, forge.ErrHost) {
		t.Errorf("elsewhere: %v", err)
	}
}

// An App reads its key when a token is first asked for, again after the forge has
// refused it, and not where a token is left.
func TestAppReadsItsKey(t *testing.T) {
	fake, other := forgetest.New(t, forgetest.WithApp()), forgetest.New(t, forgetest.WithApp())
	now := time.Now()
	reads, text, fault := 0, []byte(nil), error(nil)
	known := fake.AppKey()
	right := known.PEM
	fake.Now = func() time.Time { return now }
	known.PEM, known.Host = nil, strings.ToUpper(fake.Repository().Host())
	known.Read = func(context.Context) ([]byte, error) { reads++; return text, fault }
	o := fake.Options()
	o.Now, o.Retry.Attempts = fake.Now, 1
	app, err := forge.NewApp(o, known)
	if err != nil || reads != 0 || !app.Serves(fake.Repository()) {
		t.Fatalf("%v after %d reads", err, reads)
	}
	o.Credentials = app
	f, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		text      []byte
		fault     error
		after     time.Duration
		reads     int
		want      string // the message; empty for a token
		temporary bool
	}{
		{"a secret that can't be read now", nil, errors.New("throttled"), 0, 1, "the private key of the GitHub App could not be read", true},
		{"no key", nil, fmt.Errorf("%w: AccessDenied", forge.ErrNoKey), 0, 1, "the private key of the GitHub App is not set up", false},
		{"no key in it", []byte("sesame"), nil, 0, 1, "the key of the GitHub App is not an RSA private key in PEM", false},
		{"another App's", other.AppKey().PEM, nil, 0, 1, "the forge does not accept the id or the key of the GitHub App", false},
		{"the right one", right, nil, 0, 1, "", false},
		{"a token is left", nil, errors.New("not read"), 0, 0, "", false},
		{"the key is known", nil, errors.New("not read"), time.Hour, 0, "", false},
	} {
		reads, text, fault, now = 0, c.text, c.fault, now.Add(c.after)
		_, _, err := f.FindPull(t.Context(), fake.Repository(), "a", "main")
		e, _ := errors.AsType[*forge.Error](err)
		switch {
		case reads != c.reads:
			t.Errorf("%s: read %d times, want %d", c.name, reads, c.reads)
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "":
		case e == nil || e.Code() != forge.CodeCredential || e.SafeMessage() != c.want || e.Temporary() != c.temporary || strings.Contains(e.Error(), "sesame"):
			t.Errorf("%s: %v", c.name, err)
		case c.fault != nil && !strings.Contains(e.Error(), c.fault.Error()):
			t.Errorf("%s: the log would not say why: %v", c.name, err)
		}
	}
}

// proves checks that a request comes from the App.
func proves(t *testing.T, r *http.Request, key *rsa.PublicKey, now time.Time) {
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	if len(parts) != 3 {
		t.Errorf("the proof is %d parts", len(parts))
		return
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err == nil {
		err = rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature)
	}
	var claims struct {
		Iat, Exp int64
		Iss      string
	}
	data, err2 := base64.RawURLEncoding.DecodeString(parts[1])
	if err2 == nil {
		err2 = json.Unmarshal(data, &claims)
	}
	if err != nil || err2 != nil || claims.Iss != "Iv1.abc" || claims.Iat > now.Unix() || claims.Exp <= now.Unix() || claims.Exp-claims.Iat > 600 {
		t.Errorf("%v, %v, %+v", err, err2, claims)
	}
}
