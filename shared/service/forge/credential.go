package forge

import (
	"context"
	"fmt"
	"log/slog"
)

// Credential is what a forge knows us by. Printed, logged or encoded,
// it is the word "credential".
type Credential struct {
	// Username goes with the token to Git; "" means the name that the kind of
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

// username is the name that Git is asked with.
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
// *Error; others are taken for a forge that can't be reached.
type Credentials interface {
	Credential(ctx context.Context, r Repository) (Credential, error)
}

// CredentialsFunc is a function as Credentials.
type CredentialsFunc func(ctx context.Context, r Repository) (Credential, error)

// Credential calls f.
func (f CredentialsFunc) Credential(ctx context.Context, r Repository) (Credential, error) {
	return f(ctx, r)
}

// Static returns Credentials that are the same for each repository.
func Static(c Credential) Credentials {
	return CredentialsFunc(func(context.Context, Repository) (Credential, error) { return c, nil })
}
