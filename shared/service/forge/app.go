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
	"net/http"
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

// NewApp makes Credentials of a GitHub App: for each repository an installation
// token that is good for that repository alone, to read and write its content and
// its pull requests. id is the App's id or client id, key its private key in PEM.
// o is as for New; its Credentials are not looked at. The error has the code
// forge_credential.
func NewApp(o Options, id string, key []byte) (Credentials, error) {
	f, err := New(o)
	if err != nil {
		return nil, err
	}
	bad := ErrCredential.saying("the key of the GitHub App is not an RSA private key in PEM")
	block, _ := pem.Decode(key)
	if block == nil || id == "" {
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
	return &app{forge: f, id: id, key: private, tokens: map[Repository]appToken{}}, nil
}

// app are the Credentials of a GitHub App. Printed, it is "credential".
type app struct {
	forge *Forge
	id    string
	key   *rsa.PrivateKey

	mu     sync.Mutex
	tokens map[Repository]appToken
}

type appToken struct {
	Credential
	until time.Time
}

// String hides the key.
func (*app) String() string { return "credential" }

// GoString hides the key from %#v.
func (*app) GoString() string { return "credential" }

// Credential satisfies Credentials.
func (a *app) Credential(ctx context.Context, r Repository) (Credential, error) {
	if r.Kind != GitHub {
		return Credential{}, ErrCredential.saying("a GitHub App is known to GitHub alone")
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
	jwt, err := a.jwt(now)
	if err != nil {
		return Credential{}, ErrCredential.saying("the key of the GitHub App can't sign")
	}
	proof := Credential{Token: jwt}
	var installation struct {
		ID json.Number `json:"id"`
	}
	e := a.forge.call(ctx, http.MethodGet, r.api()+"/repos/"+r.project()+"/installation", "Bearer "+jwt, proof, nil, &installation)
	if e != nil {
		return Credential{}, ofApp(e)
	}
	var token struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	e = a.forge.call(ctx, http.MethodPost, r.api()+"/app/installations/"+installation.ID.String()+"/access_tokens", "Bearer "+jwt, proof, map[string]any{
		"repositories": []string{r.name()}, "permissions": map[string]string{"contents": "write", "pull_requests": "write"},
	}, &token)
	if e != nil {
		return Credential{}, ofApp(e)
	}
	if token.Token == "" {
		return Credential{}, ErrCredential.saying("the forge gave the GitHub App no token")
	}
	t = appToken{Credential{Token: token.Token}, token.ExpiresAt.Add(-appTokenSpare)}
	a.mu.Lock()
	a.tokens[r] = t
	a.mu.Unlock()
	return t.Credential, nil
}

// ofApp is an error of asking for a token.
func ofApp(e *Error) *Error {
	switch e.status {
	case http.StatusUnauthorized:
		return ErrCredential.saying("the forge does not accept the id or the key of the GitHub App").with(e.detail)
	case http.StatusNotFound, http.StatusGone:
		return ErrCredential.saying("the GitHub App is not installed for the repository").with(e.detail)
	case http.StatusUnprocessableEntity:
		return ErrCredential.saying("the GitHub App may not write content and pull requests of the repository").with(e.detail)
	}
	return e
}

// jwt is the proof of being the App: a JSON Web Token (RFC 7519) by RS256.
func (a *app) jwt(now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{"iat": now.Add(-jwtSkew).Unix(), "exp": now.Add(jwtLife).Unix(), "iss": a.id})
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
