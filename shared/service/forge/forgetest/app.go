package forgetest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
)

// What the GitHub App of a Fake is known by.
const (
	appID        = "Iv1.bindery"
	installation = 42
)

// WithApp makes a fake of GitHub with a GitHub App that is installed for its
// repository: see [Fake.AppKey].
func WithApp() Option {
	return func(f *Fake) {
		f.tb.Helper()
		f.Kind = forge.GitHub
		var err error
		if f.app, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			f.tb.Fatal(err)
		}
	}
}

// AppKey is the key of the App, by which the fake's token is given out. Its Host is
// empty.
func (f *Fake) AppKey() forge.AppKey {
	return forge.AppKey{ID: appID, PEM: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(f.app)})}
}

// appCall returns the kind of a request of an App, "" for others.
func (f *Fake) appCall(r *http.Request) Call {
	switch {
	case f.app == nil:
	case r.Method == http.MethodGet && r.URL.Path == "/api/v3/repos/acme/docs/installation":
		return FindInstallation
	case r.Method == http.MethodPost && r.URL.Path == "/api/v3/app/installations/42/access_tokens":
		return AppToken
	}
	return ""
}

// answerApp answers a request of the App, which must prove that it is one.
func (f *Fake) answerApp(w http.ResponseWriter, r *http.Request, call Call) {
	if !f.proves(r) {
		refuse(w, http.StatusUnauthorized, "A JSON web token could not be decoded")
		return
	}
	if call == FindInstallation {
		f.reply(w, http.StatusOK, map[string]any{"id": installation})
		return
	}
	var in struct{ Repositories []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !slices.Equal(in.Repositories, []string{"docs"}) {
		refuse(w, http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
		return
	}
	f.reply(w, http.StatusCreated, map[string]any{"token": f.Token, "expires_at": f.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
}

// proves reports whether a request has a JSON Web Token of the App, by its key and of
// now.
func (f *Fake) proves(r *http.Request) bool {
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	if len(parts) != 3 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&f.app.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return false
	}
	var claims struct {
		Iat, Exp int64
		Iss      string
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	now := f.Now().Unix()
	return err == nil && json.Unmarshal(data, &claims) == nil && claims.Iss == appID && claims.Iat <= now && now < claims.Exp
}
