// Package kmsstore is store.Secrets on a key of KMS: the ciphertext of each
// secret is a record of its own. A function that may read records but not use the
// key can't read any secret.
package kmsstore

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretrow"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Secrets is store.Secrets on KMS.
type Secrets struct {
	secretrow.Rows
	client *kms.Client
	key    string
	now    func() time.Time
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
	return &Secrets{Rows: secretrow.Rows{Records: opt.Records}, client: kms.NewFromConfig(call.WithRetries(cfg)), key: opt.Key, now: opt.Now}
}

func encryptionContext(o store.SecretOwner) map[string]string {
	return map[string]string{secretrow.ContextOrganisation: o.Organisation, secretrow.ContextProject: o.Project}
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
	value, err := json.Marshal(secretrow.Row{Since: s.now().UTC().Truncate(time.Millisecond), Ciphertext: out.CiphertextBlob})
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		before, err := s.Records.Get(ctx, secretrow.Key(o))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		err = s.Records.Write(ctx, []store.Record{{Key: secretrow.Key(o), Revision: before.Revision, Value: value}}, nil)
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

// Get implements store.Secrets.
func (s *Secrets) Get(ctx context.Context, o store.SecretOwner) ([]byte, error) {
	r, err := s.Row(ctx, o)
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
