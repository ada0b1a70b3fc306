package forge

import (
	"context"
	"fmt"
	"log/slog"
)

// Credential authenticates us to a forge. Printed, logged or encoded, it is the word
// "credential".
type Credential struct {
	// Username is sent with the token to Git; "" means the name that this kind of
	// forge expects.
	Username string
	Token    string
}

// String hides the credential.
func (Credential) String() string { return "credential" }

// GoString hides the credential from %#v.
func (Credential) GoString() string { return "credential" }

// Format hides the credential from every verb.
func (Credential) Format(s fmt.State, _ rune) { _, _ = fmt.Fprint(s, "credential") }

// MarshalJSON hides the credential.
func (Credential) MarshalJSON() ([]byte, error) { return []byte(`"credential"`), nil }

// LogValue hides the credential from logs.
func (Credential) LogValue() slog.Value { return slog.StringValue("credential") }

// username returns the name for requests of Git.
func (c Credential) username(k Kind) string {
	switch {
	case c.Username != "":
		return c.Username
	case k == GitHub:
		return "x-access-token"
	case k == GitLab:
		return "oauth2"
	}
	return "bindery"
}

// Credentials finds the credential for a repository. Errors should be of type
// *Error; others are treated as ErrUnreachable.
type Credentials interface {
	Credential(ctx context.Context, r Repository) (Credential, error)
}

// CredentialsFunc is a function that satisfies Credentials.
type CredentialsFunc func(ctx context.Context, r Repository) (Credential, error)

// Credential calls f.
func (f CredentialsFunc) Credential(ctx context.Context, r Repository) (Credential, error) {
	return f(ctx, r)
}

// Static returns Credentials with the same credential for all repositories.
func Static(c Credential) Credentials {
	return CredentialsFunc(func(context.Context, Repository) (Credential, error) { return c, nil })
}
