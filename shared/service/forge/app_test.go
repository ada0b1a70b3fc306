package forge_test

import (
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
