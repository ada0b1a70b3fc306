// Package kmsstore is store.Secrets on a key of KMS: the ciphertext of each
// secret is a record of its own. A function that may read records but not use the
// key can't read any secret.
package kmsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Members of the encryption context. KMS decrypts a secret for the owner that it
// was encrypted for alone, notes the owner in its log, and grants can name it.
const (
	ContextOrganisation = "organisation"
	ContextProject      = "project"
)

// Partition begins the partition key of the records of secrets, before the
// organisation's id; the sort key is the project's.
const Partition = "secret#"

// Secrets is store.Secrets on KMS.
type Secrets struct {
	client  *kms.Client
	key     string
	records store.Store
	now     func() time.Time
}

var _ store.Secrets = (*Secrets)(nil)

// Options are what Secrets work with. Records is required.
type Options struct {
	// Key is the id, alias or ARN of the key. Without one, nothing can be put;
	// what is there knows its key.
	Key string
	// Records are where ciphertext is kept.
	Records store.Store
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// New makes Secrets; it asks nothing of AWS.
func New(cfg aws.Config, opt Options) *Secrets {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Secrets{client: kms.NewFromConfig(call.WithRetries(cfg)), key: opt.Key, records: opt.Records, now: opt.Now}
}

// row is the record of a secret.
type row struct {
	Since      time.Time `json:"since"`
	Ciphertext []byte    `json:"ciphertext"`
}

func rowKey(o store.SecretOwner) store.Key {
	return store.Key{PK: Partition + o.Organisation, SK: o.Project}
}

func encryptionContext(o store.SecretOwner) map[string]string {
	return map[string]string{ContextOrganisation: o.Organisation, ContextProject: o.Project}
}

// Put implements store.Secrets.
func (s *Secrets) Put(ctx context.Context, o store.SecretOwner, secret []byte) error {
	if err := store.CheckSecret(o, secret); err != nil {
		return err
	}
	if s.key == "" {
		return errors.New("secret: there is no key to encrypt it with")
	}
	out, err := s.client.Encrypt(ctx, &kms.EncryptInput{KeyId: &s.key, Plaintext: secret, EncryptionContext: encryptionContext(o)})
	if err != nil {
		return call.Failure(ctx, err, "encrypt the secret of %s", o.Project)
	}
	value, err := json.Marshal(row{s.now().UTC().Truncate(time.Millisecond), out.CiphertextBlob})
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		before, err := s.records.Get(ctx, rowKey(o))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		err = s.records.Write(ctx, []store.Record{{Key: rowKey(o), Revision: before.Revision, Value: value}}, nil)
		if _, conflict := errors.AsType[*store.ConflictError](err); !conflict {
			return err
		}
		if try == maxTries {
			return call.Temporary(err)
		}
	}
}

// maxTries is how often a Put that met another one is made.
const maxTries = 10

func (s *Secrets) row(ctx context.Context, o store.SecretOwner) (row, error) {
	var r row
	if err := store.CheckOwner(o); err != nil {
		return r, err
	}
	rec, err := s.records.Get(ctx, rowKey(o))
	if err == nil {
		err = json.Unmarshal(rec.Value, &r)
	}
	if err != nil {
		return r, fmt.Errorf("secret of %s: %w", o.Project, err)
	}
	return r, nil
}

// Get implements store.Secrets.
func (s *Secrets) Get(ctx context.Context, o store.SecretOwner) ([]byte, error) {
	r, err := s.row(ctx, o)
	if err != nil {
		return nil, err
	}
	in := &kms.DecryptInput{CiphertextBlob: r.Ciphertext, EncryptionContext: encryptionContext(o)}
	if s.key != "" { // refuses what another key has encrypted
		in.KeyId = &s.key
	}
	out, err := s.client.Decrypt(ctx, in)
	if err != nil {
		return nil, call.Failure(ctx, err, "decrypt the secret of %s", o.Project)
	}
	return out.Plaintext, nil
}

// Since implements store.Secrets. It asks nothing of KMS.
func (s *Secrets) Since(ctx context.Context, o store.SecretOwner) (time.Time, error) {
	r, err := s.row(ctx, o)
	return r.Since, err
}

// Delete implements store.Secrets. It asks nothing of KMS.
func (s *Secrets) Delete(ctx context.Context, o store.SecretOwner) error {
	if err := store.CheckOwner(o); err != nil {
		return err
	}
	return s.records.Write(ctx, nil, []store.Delete{{Key: rowKey(o)}})
}
