package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// secretsDir is the name of the folder of secrets. A secret's file is
// <organisation>/<project>.json in it, of mode 0600.
const secretsDir = "secrets"

// leftAfter is how old a copy is that no living process can still be writing.
const leftAfter = time.Minute

// secretFile is what a file of a secret holds.
type secretFile struct {
	Since  time.Time `json:"since"`
	Secret []byte    `json:"secret"`
}

// secrets is store.Secrets on files.
type secrets struct{ l *Local }

var _ store.Secrets = (*secrets)(nil)

// Secrets returns the secrets of projects.
func (l *Local) Secrets() store.Secrets { return &secrets{l} }

func (s *secrets) folder(o store.SecretOwner) string { return s.l.path(secretsDir, o.Organisation) }
func (s *secrets) file(o store.SecretOwner) string {
	return filepath.Join(s.folder(o), o.Project+".json")
}

// Put implements store.Secrets.
func (s *secrets) Put(ctx context.Context, o store.SecretOwner, secret []byte) (err error) {
	if err := errors.Join(ctx.Err(), store.CheckSecret(o, secret)); err != nil {
		return err
	}
	raw, err := json.Marshal(secretFile{Since: s.l.now().UTC().Truncate(time.Millisecond), Secret: secret})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.folder(o), 0o700); err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	if err := s.sweep(o); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.folder(o), o.Project+".json~*") // mode 0600
	if err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), s.file(o))
	}
	if err = errors.Join(err, syncDir(s.folder(o))); err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	return nil
}

// sweep removes copies that a process left when it died while it wrote them.
func (s *secrets) sweep(o store.SecretOwner) error {
	left, err := filepath.Glob(s.file(o) + "~*") // a fault of the pattern alone
	for _, name := range left {
		if info, serr := os.Lstat(name); serr == nil && time.Since(info.ModTime()) > leftAfter {
			if rerr := os.Remove(name); !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, rerr)
			}
		}
	}
	return err
}

func (s *secrets) read(ctx context.Context, o store.SecretOwner) (secretFile, error) {
	var f secretFile
	if err := errors.Join(ctx.Err(), store.CheckOwner(o)); err != nil {
		return f, err
	}
	raw, err := os.ReadFile(s.file(o))
	if errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("secret of %s: %w", o.Project, store.ErrNotFound)
	}
	if err != nil {
		return f, fmt.Errorf("secret: %w", err)
	}
	if json.Unmarshal(raw, &f) != nil || len(f.Secret) == 0 { // whose error may quote what it read
		return f, fmt.Errorf("secret of %s: its file is damaged", o.Project)
	}
	return f, nil
}

// Get implements store.Secrets.
func (s *secrets) Get(ctx context.Context, o store.SecretOwner) ([]byte, error) {
	f, err := s.read(ctx, o)
	return f.Secret, err
}

// Since implements store.Secrets.
func (s *secrets) Since(ctx context.Context, o store.SecretOwner) (time.Time, error) {
	f, err := s.read(ctx, o)
	return f.Since, err
}

// Delete implements store.Secrets.
func (s *secrets) Delete(ctx context.Context, o store.SecretOwner) error {
	if err := errors.Join(ctx.Err(), store.CheckOwner(o)); err != nil {
		return err
	}
	err := os.Remove(s.file(o))
	if err == nil {
		err = syncDir(s.folder(o))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("secret: %w", err)
	}
	return s.sweep(o)
}
