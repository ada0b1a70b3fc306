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
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// ErrNoKey is what AppKey.Read returns for a key that is not set up. It is one of the
// errors that ErrCredential stands for.
var ErrNoKey = ErrCredential.saying("the private key of the GitHub App is not set up")

const (
	// appTokenSpare is how long before it expires a token is no longer used: it must
	// last for the longest fetch or push that begins with it.
	appTokenSpare = 10 * time.Minute
	// jwtLife is how long the proof of being the App is valid; GitHub accepts ten
	// minutes at most, by its own clock.
	jwtLife = 8 * time.Minute
	jwtSkew = time.Minute
)

// AppKey identifies a GitHub App and proves that we are it. Printed, logged or encoded, it is the
// word "credential".
type AppKey struct {
	// ID is the App's id or client id, PEM its private key.
	ID  string
	PEM []byte
	// Read reads PEM where that is empty: when a token is first asked for, and again
	// after the forge has refused the key. Its errors should wrap an *Error, such as
	// ErrNoKey; what others report may pass.
	Read func(context.Context) ([]byte, error)
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

// App implements Credentials by a GitHub App: for each repository an installation
// token that is valid for that repository alone, to read and write its content and
// its pull requests. A token is reused until shortly before it expires. An App is
// safe for concurrent use; printed, it is "credential".
type App struct {
	forge *Forge
	known AppKey

	mu     sync.Mutex
	key    *rsa.PrivateKey // nil until it is read
	tokens map[Repository]appToken
}

// NewApp returns an App. o is as for New; its Credentials are ignored. The error has
// the code forge_credential if an id or PEM is not valid.
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
	k.Host = strings.ToLower(k.Host)
	a := &App{forge: f, known: k, tokens: map[Repository]appToken{}}
	if len(k.PEM) > 0 || k.Read == nil {
		if a.key, err = parseAppKey(k.PEM); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func parseAppKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block != nil {
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
		other, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if key, ok := other.(*rsa.PrivateKey); err == nil && ok {
			return key, nil
		}
	}
	return nil, ErrCredential.saying("the key of the GitHub App is not an RSA private key in PEM")
}

// private returns the key, and reads it if it is not there.
func (a *App) private(ctx context.Context) (*rsa.PrivateKey, error) {
	a.mu.Lock()
	key := a.key
	a.mu.Unlock()
	if key != nil {
		return key, nil
	}
	text, err := a.known.Read(ctx)
	if err != nil {
		detail := Credential{}.clean(err.Error())
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, e.with(detail)
		}
		e := ErrCredential.saying("the private key of the GitHub App could not be read").with(detail)
		e.temporary = true
		return nil, e
	}
	if key, err = parseAppKey(text); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.key = key
	return key, nil
}

type appToken struct {
	Credential
	until time.Time
}

// String hides the key.
func (*App) String() string { return "credential" }

// GoString hides the key from %#v.
func (*App) GoString() string { return "credential" }

// Serves reports whether the App can have tokens for a repository: it is on GitHub
// and on the App's host. It needs no key.
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
	key, err := a.private(ctx)
	if err != nil {
		return appToken{}, err
	}
	jwt, err := a.jwt(key, now)
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
			return appToken{}, a.refused(e, "the GitHub App is not installed for the repository")
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
		return appToken{}, a.refused(e, "the GitHub App has no installation of this id")
	}
	if token.Token == "" {
		return appToken{}, ErrCredential.saying("the forge returned no token for the GitHub App")
	}
	return appToken{Credential{Token: token.Token}, token.ExpiresAt.Add(-appTokenSpare)}, nil
}

// refused returns the error of a request for a token; missing says what is not there.
func (a *App) refused(e *Error, missing string) *Error {
	switch e.status {
	case http.StatusUnauthorized:
		if a.known.Read != nil { // there may be another one by now
			a.mu.Lock()
			a.key = nil
			a.mu.Unlock()
		}
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

// jwt returns the proof of being the App: a JSON Web Token (RFC 7519) by RS256.
func (a *App) jwt(key *rsa.PrivateKey, now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{"iat": now.Add(-jwtSkew).Unix(), "exp": now.Add(jwtLife).Unix(), "iss": a.known.ID})
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + enc.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + enc.EncodeToString(signature), nil
}
