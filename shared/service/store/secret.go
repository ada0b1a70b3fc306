package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// MaxSecretBytes is the most bytes of a secret: KMS encrypts no more at once.
const MaxSecretBytes = 4096

// SecretOwner says whose a secret is. Both names are letters, digits, hyphens and
// underscores.
type SecretOwner struct{ Organisation, Project string }

// Secrets keeps one secret for each owner, apart from records: who reads those,
// lists them or has a copy of them has no secret. A secret of one owner can't be
// read as another's, even if what is stored is moved.
type Secrets interface {
	// Put stores a secret of 1 to MaxSecretBytes bytes in place of the one before.
	Put(ctx context.Context, owner SecretOwner, secret []byte) error
	// Get reads the secret, or returns ErrNotFound.
	Get(ctx context.Context, owner SecretOwner) ([]byte, error)
	// Since returns when the secret was put, in whole milliseconds, or ErrNotFound.
	// It doesn't read the secret, nor need the right to.
	Since(ctx context.Context, owner SecretOwner) (time.Time, error)
	// Delete removes the secret; one that does not exist is not an error.
	Delete(ctx context.Context, owner SecretOwner) error
}

// CheckOwner refuses an owner that is not named as it must be.
func CheckOwner(o SecretOwner) error {
	for _, name := range []string{o.Organisation, o.Project} {
		if name == "" || len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
		}) {
			return fmt.Errorf("secret: %q is not the name of an owner", name)
		}
	}
	return nil
}

// CheckSecret refuses an owner or a secret that no backend takes: ErrTooLarge over
// the limit.
func CheckSecret(o SecretOwner, secret []byte) error {
	switch err := CheckOwner(o); {
	case err != nil:
		return err
	case len(secret) == 0:
		return fmt.Errorf("secret of %s: it is empty", o.Project)
	case len(secret) > MaxSecretBytes:
		return fmt.Errorf("secret of %s: %d bytes, at most %d: %w", o.Project, len(secret), MaxSecretBytes, ErrTooLarge)
	}
	return nil
}
