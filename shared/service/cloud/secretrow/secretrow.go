// Package secretrow is the records of encrypted secrets: who uses it sees which
// project has one and since when, and opens none. Package kmsstore opens them;
// this one links no client of KMS.
package secretrow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Partition begins the partition key of the records of secrets, before the
// organisation's id; the sort key is the project's.
const Partition = "secret#"

// Members of the encryption context. KMS decrypts a secret for the owner that it
// was encrypted for alone, notes the owner in its log, and grants can name it.
const (
	ContextOrganisation = "organisation"
	ContextProject      = "project"
)

// Row is the record of a secret.
type Row struct {
	Since      time.Time `json:"since"`
	Ciphertext []byte    `json:"ciphertext"`
}

// Key is the key of an owner's record.
func Key(o store.SecretOwner) store.Key {
	return store.Key{PK: Partition + o.Organisation, SK: o.Project}
}

// Rows is store.Secrets that can neither put a secret nor read one.
type Rows struct{ Records store.Store }

var _ store.Secrets = Rows{}

// errClosed is what Rows answers where the secret itself is asked for.
var errClosed = errors.New("secret: this program has no key to open secrets with")

// Put implements store.Secrets, as an error.
func (Rows) Put(context.Context, store.SecretOwner, []byte) error { return errClosed }

// Get implements store.Secrets, as an error.
func (Rows) Get(context.Context, store.SecretOwner) ([]byte, error) { return nil, errClosed }

// Row reads the record of a secret. It returns store.ErrNotFound where the owner
// has none.
func (r Rows) Row(ctx context.Context, o store.SecretOwner) (Row, error) {
	var row Row
	if err := store.CheckOwner(o); err != nil {
		return row, err
	}
	rec, err := r.Records.Get(ctx, Key(o))
	if err == nil {
		err = json.Unmarshal(rec.Value, &row)
	}
	if err != nil {
		return row, fmt.Errorf("secret of %s: %w", o.Project, err)
	}
	return row, nil
}

// Since implements store.Secrets.
func (r Rows) Since(ctx context.Context, o store.SecretOwner) (time.Time, error) {
	row, err := r.Row(ctx, o)
	return row.Since, err
}

// Delete implements store.Secrets.
func (r Rows) Delete(ctx context.Context, o store.SecretOwner) error {
	if err := store.CheckOwner(o); err != nil {
		return err
	}
	return r.Records.Write(ctx, nil, []store.Delete{{Key: Key(o)}})
}
