package forge

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
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// appTokenSpare is how long before its end a token is not used any more: it
	// must last for the longest fetch or push that begins with it.
	appTokenSpare = 10 * time.Minute
	// jwtLife is how long the proof of being the App is good; GitHub takes ten
	// minutes at most, by its own clock.
	jwtLife = 8 * time.Minute
	jwtSkew = time.Minute
)

// AppKey is what a GitHub App is known by. Printed, logged or encoded, it is the
// word "credential".
type AppKey struct {
	// ID is the App's id or client id, PEM its private key.
	ID  string
	PEM []byte
	// Installation is the id of the one installation that is used; "" finds the
	// repository's own.
	Installation string
	// Host is where the App is registered: other hosts are never asked. "" leaves
	// that to the repository.
	Host string
}

// String hides the key.
func (AppKey) String() string { return "credential" }

// Format hides the key from every verb.
func (AppKey) Format(s fmt.State, _ rune) { _, _ = fmt.Fprint(s, "credential") }

// MarshalJSON hides the key.
func (AppKey) MarshalJSON() ([]byte, error) { return []byte(`"credential"`), nil }

// LogValue hides the key from logs.
func (AppKey) LogValue() slog.Value { return slog.StringValue("credential") }

// App are the Credentials of a GitHub App: for each repository an installation
// token that is good for that repository alone, to read and write its content and
// its pull requests. A token is used again until shortly before its end. An App is
// safe for concurrent use; printed, it is "credential".
type App struct {
	forge *Forge
	known AppKey
	key   *rsa.PrivateKey

	mu     sync.Mutex
	tokens map[Repository]appToken
}

// NewApp makes an App. o is as for New; its Credentials are not looked at. The
// error has the code forge_credential where the key or an id can't be one.
func NewApp(o Options, k AppKey) (*App, error) {
	o.Credentials = nil
	f, err := New(o)
	if err != nil {
		return nil, err
	}
	switch {
	case k.ID == "" || strings.ContainsFunc(k.ID, notPlain):
		return nil, ErrCredential.saying("the id of the GitHub App is missing or has invalid characters")
	case strings.Trim(k.Installation, "0123456789") != "":
		return nil, ErrCredential.saying("the id of the GitHub App's installation is not a number")
	}
	bad := ErrCredential.saying("the key of the GitHub App is not an RSA private key in PEM")
	block, _ := pem.Decode(k.PEM)
	if block == nil {
		return nil, bad
	}
	private, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		other, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		ok := false
		if private, ok = other.(*rsa.PrivateKey); err != nil || !ok {
			return nil, bad
		}
	}
	return &App{forge: f, known: k, key: private, tokens: map[Repository]appToken{}}, nil
}

type appToken struct {
	Credential
	until time.Time
}

// String hides the key.
func (*App) String() string { return "credential" }

// GoString hides the key from %#v.
func (*App) GoString() string { return "credential" }

// Serves reports whether a repository is one that the App is asked for: on
// GitHub, and on the App's host.
func (a *App) Serves(r Repository) bool {
	if r.Kind != GitHub || a.known.Host == "" {
		return r.Kind == GitHub
	}
	api, err := url.Parse(r.API)
	return r.Host() == a.known.Host && err == nil && (r.API == "" || api.Host == a.known.Host)
}

// Credential satisfies Credentials.
func (a *App) Credential(ctx context.Context, r Repository) (Credential, error) {
	if !a.Serves(r) {
		return Credential{}, ErrCredential.saying("the GitHub App does not belong to the repository's host")
	}
	if err := a.forge.Allowed(r); err != nil {
		return Credential{}, err
	}
	now := a.forge.opt.Now()
	a.mu.Lock()
	t, ok := a.tokens[r]
	a.mu.Unlock()
	if ok && now.Before(t.until) {
		return t.Credential, nil
	}
	t, err := a.mint(ctx, r, now)
	if err != nil {
		return Credential{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.tokens, func(_ Repository, t appToken) bool { return !now.Before(t.until) })
	a.tokens[r] = t
	return t.Credential, nil
}

// mint asks the forge for a token.
func (a *App) mint(ctx context.Context, r Repository, now time.Time) (appToken, error) {
	jwt, err := a.jwt(now)
	if err != nil {
		return appToken{}, ErrCredential.saying("the key of the GitHub App can't sign")
	}
	proof, bearer := Credential{Token: jwt}, "Bearer "+jwt
	installation := a.known.Installation
	if installation == "" {
		var found struct {
			ID json.Number `json:"id"`
		}
		if e := a.forge.call(ctx, http.MethodGet, r.api()+"/repos/"+r.project()+"/installation", bearer, proof, nil, &found); e != nil {
			return appToken{}, ofApp(e, "the GitHub App is not installed for the repository")
		}
		installation = found.ID.String()
	}
	var token struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	e := a.forge.call(ctx, http.MethodPost, r.api()+"/app/installations/"+url.PathEscape(installation)+"/access_tokens", bearer, proof, map[string]any{
		"repositories": []string{r.name()}, "permissions": map[string]string{"contents": "write", "pull_requests": "write"},
	}, &token)
	if e != nil {
		return appToken{}, ofApp(e, "the GitHub App has no installation of this id")
	}
	if token.Token == "" {
		return appToken{}, ErrCredential.saying("the forge returned no token for the GitHub App")
	}
	return appToken{Credential{Token: token.Token}, token.ExpiresAt.Add(-appTokenSpare)}, nil
}

// ofApp is an error of asking for a token; missing says what is not there.
func ofApp(e *Error, missing string) *Error {
	switch e.status {
	case http.StatusUnauthorized:
		return ErrCredential.saying("the forge does not accept the id or the key of the GitHub App").with(e.detail)
	case http.StatusNotFound, http.StatusGone:
		return ErrCredential.saying(missing).with(e.detail)
	case http.StatusForbidden:
		if e.code == CodeCredential {
			return ErrCredential.saying("the installation of the GitHub App is suspended").with(e.detail)
		}
	case http.StatusUnprocessableEntity:
		return ErrCredential.saying("the installation of the GitHub App does not have the repository, or may not write its content and pull requests").with(e.detail)
	}
	return e
}

// jwt is the proof of being the App: a JSON Web Token (RFC 7519) by RS256.
func (a *App) jwt(now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{"iat": now.Add(-jwtSkew).Unix(), "exp": now.Add(jwtLife).Unix(), "iss": a.known.ID})
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + enc.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + enc.EncodeToString(signature), nil
}
