package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// ForgeCredential authenticates us to the forge of a project: a token, or a GitHub
// App. It can't be printed, logged or encoded.
type ForgeCredential struct {
	// Username is sent with the token to Git; "" means the usual one of the forge.
	Username string
	Token    string
	// App is the id of a GitHub App, and Key its private key in PEM. Installation
	// is the id of its installation; "" means the repository's own.
	App, Installation, Key string
}

// String hides the credential.
func (ForgeCredential) String() string { return "credential" }

// Format hides the credential from every verb.
func (ForgeCredential) Format(s fmt.State, _ rune) { _, _ = fmt.Fprint(s, "credential") }

// MarshalJSON hides the credential.
func (ForgeCredential) MarshalJSON() ([]byte, error) { return []byte(`"credential"`), nil }

// LogValue hides the credential from logs.
func (ForgeCredential) LogValue() slog.Value { return slog.StringValue("credential") }

// storedCredential is the stored form of a credential.
type storedCredential struct {
	Username     string `json:"username,omitempty"`
	Token        string `json:"token,omitempty"`
	App          string `json:"app,omitempty"`
	Installation string `json:"installation,omitempty"`
	Key          string `json:"key,omitempty"`
}

// Limits of credentials, in bytes. Tokens of GitHub Apps may grow to some hundred.
// A key of 4,096 bits is some 3,300 bytes in PEM; with its ids it must fit into
// store.MaxSecretBytes.
const (
	maxToken    = 2000
	maxUsername = 200
	maxKey      = 3600
	maxAppID    = 100
)

func (c ForgeCredential) check() error {
	outside := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
	}
	if c.App != "" {
		switch {
		case c.Token != "" || c.Username != "":
			return FieldErrorf("app", "takes the place of a token and its user name")
		case len(c.App) > maxAppID || outside(c.App):
			return FieldErrorf("app", "must be the id of a GitHub App, at most %d characters", maxAppID)
		case len(c.Installation) > maxAppID || strings.Trim(c.Installation, "0123456789") != "":
			return FieldErrorf("installation", "must be a number")
		case c.Key == "" || len(c.Key) > maxKey:
			return FieldErrorf("key", "must be a private key of at most %d bytes", maxKey)
		}
		return nil
	}
	switch {
	case c.Installation != "" || c.Key != "" || strings.HasPrefix(c.Token, "-----BEGIN"):
		return FieldErrorf("app", "is missing: a private key is that of a GitHub App")
	case c.Token == "":
		return FieldErrorf("token", "is empty")
	case len(c.Token) > maxToken || outside(c.Token):
		return FieldErrorf("token", "must be at most %d characters of ASCII without spaces", maxToken)
	case len(c.Username) > maxUsername || outside(c.Username) || strings.Contains(c.Username, ":"):
		return FieldErrorf("username", "must be at most %d characters of ASCII without spaces and colons", maxUsername)
	}
	return nil
}

// CredentialInfo is what may be shown about a project's credential.
type CredentialInfo struct {
	Project string    `json:"projectId"`
	Since   time.Time `json:"since"`
}

func secretOwner(p Project) store.SecretOwner {
	return store.SecretOwner{Organisation: p.Organisation, Project: p.ID}
}

// SetForgeCredential sets a project's credential for its forge, in place of the
// one before. It returns CodeInvalid for an invalid one, and CodeNotFound for a
// project that is unknown or revoked.
func (s *Service) SetForgeCredential(ctx context.Context, project string, c ForgeCredential) (CredentialInfo, error) {
	if err := c.check(); err != nil {
		return CredentialInfo{}, err
	}
	p, err := s.credentialProject(ctx, project)
	if err == nil && !p.RevokedAt.IsZero() {
		err = notFound("project")
	}
	if err != nil {
		return CredentialInfo{}, err
	}
	raw, err := json.Marshal(storedCredential(c))
	if err == nil {
		err = s.opt.Secrets.Put(ctx, secretOwner(p), raw)
	}
	if err != nil {
		return CredentialInfo{}, err
	}
	// The project may have been revoked since it was read: then its credential
	// may have been removed before it was there.
	if p, err = s.GetProject(ctx, project); err == nil && !p.RevokedAt.IsZero() {
		err = errors.Join(notFound("project"), s.forgetCredential(ctx, p))
	}
	if err != nil {
		return CredentialInfo{}, err
	}
	return s.ForgeCredentialInfo(ctx, project)
}

// RemoveForgeCredential removes a project's credential. It succeeds if there is none. It returns CodeNotFound for an unknown project.
func (s *Service) RemoveForgeCredential(ctx context.Context, project string) error {
	p, err := s.credentialProject(ctx, project)
	if err != nil {
		return err
	}
	return s.forgetCredential(ctx, p)
}

func (s *Service) forgetCredential(ctx context.Context, p Project) error {
	if s.opt.Secrets == nil {
		return nil
	}
	return s.opt.Secrets.Delete(ctx, secretOwner(p))
}

// ForgeCredentialInfo returns since when a project has a credential, without reading
// it. It returns CodeNotFound for an unknown project and one without a credential.
func (s *Service) ForgeCredentialInfo(ctx context.Context, project string) (CredentialInfo, error) {
	p, err := s.credentialProject(ctx, project)
	if err != nil {
		return CredentialInfo{}, err
	}
	since, err := s.opt.Secrets.Since(ctx, secretOwner(p))
	if errors.Is(err, store.ErrNotFound) {
		err = notFound("credential")
	}
	return CredentialInfo{Project: p.ID, Since: since}, err
}

// ForgeCredential reads a project's credential. It returns CodeNotFound for an
// unknown project, and for one that is revoked or has no credential.
func (s *Service) ForgeCredential(ctx context.Context, project string) (ForgeCredential, error) {
	p, err := s.credentialProject(ctx, project)
	if err == nil && !p.RevokedAt.IsZero() {
		err = notFound("project")
	}
	if err != nil {
		return ForgeCredential{}, err
	}
	raw, err := s.opt.Secrets.Get(ctx, secretOwner(p))
	if errors.Is(err, store.ErrNotFound) {
		return ForgeCredential{}, notFound("credential")
	}
	if err != nil {
		return ForgeCredential{}, err
	}
	var c storedCredential
	if json.Unmarshal(raw, &c) != nil { // whose error may quote what it read
		return ForgeCredential{}, Errorf(CodeInternal, "the credential of %s is damaged", p.ID)
	}
	return ForgeCredential(c), nil
}

func (s *Service) credentialProject(ctx context.Context, id string) (Project, error) {
	p, err := s.GetProject(ctx, id)
	if err == nil && s.opt.Secrets == nil {
		err = errors.New("no place for credentials is set up")
	}
	return p, err
}
