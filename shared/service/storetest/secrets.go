package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Secrets runs the contract of store.Secrets on a backend, which may be one that
// was used before.
func Secrets(t *testing.T, s store.Secrets) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, context.Context, store.Secrets, store.SecretOwner)
	}{
		{"a secret comes back as it was put, until it is deleted", secretRoundTrip},
		{"a secret is its owner's alone", secretOwners},
		{"of many puts at once one is there, whole", secretPuts},
		{"what is no secret or no owner is refused", secretRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, testContext(t), s, store.SecretOwner{Organisation: "org_" + unique(), Project: "prj_" + unique()})
		})
	}
}

// holdsNoSecret fails unless the owner has none.
func holdsNoSecret(t *testing.T, ctx context.Context, s store.Secrets, o store.SecretOwner) {
	t.Helper()
	if got, err := s.Get(ctx, o); !errors.Is(err, store.ErrNotFound) || got != nil {
		t.Errorf("Get returned %q, %v; want ErrNotFound", got, err)
	}
	if _, err := s.Since(ctx, o); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Since returned %v; want ErrNotFound", err)
	}
}

// holdsSecret fails unless the owner has this one.
func holdsSecret(t *testing.T, ctx context.Context, s store.Secrets, o store.SecretOwner, want []byte) {
	t.Helper()
	if got, err := s.Get(ctx, o); err != nil || !bytes.Equal(got, want) {
		t.Errorf("Get returned %q, %v; want %q", got, err, want)
	}
}

func secretRoundTrip(t *testing.T, ctx context.Context, s store.Secrets, o store.SecretOwner) {
	holdsNoSecret(t, ctx, s, o)
	for _, secret := range [][]byte{[]byte("first"), {0, 0xff, '\n', '"'}, bytes.Repeat([]byte("x"), store.MaxSecretBytes)} {
		before := time.Now().Add(-time.Minute)
		if err := s.Put(ctx, o, secret); err != nil {
			t.Fatal(err)
		}
		holdsSecret(t, ctx, s, o, secret)
		since, err := s.Since(ctx, o)
		if err != nil || since.Before(before) || since.After(time.Now().Add(time.Minute)) || !since.Equal(since.Truncate(time.Millisecond)) {
			t.Errorf("Since returned %v, %v", since, err)
		}
	}
	for range 2 {
		if err := s.Delete(ctx, o); err != nil {
			t.Fatal(err)
		}
		holdsNoSecret(t, ctx, s, o)
	}
}

func secretOwners(t *testing.T, ctx context.Context, s store.Secrets, o store.SecretOwner) {
	other := store.SecretOwner{Organisation: "org_" + unique(), Project: o.Project}
	if err := s.Put(ctx, o, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	holdsNoSecret(t, ctx, s, other)
	holdsNoSecret(t, ctx, s, store.SecretOwner{Organisation: o.Organisation, Project: "prj_" + unique()})
	if err := s.Put(ctx, other, []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, other); err != nil {
		t.Fatal(err)
	}
	holdsSecret(t, ctx, s, o, []byte("mine"))
}

func secretPuts(t *testing.T, ctx context.Context, s store.Secrets, o store.SecretOwner) {
	const writers = 5
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			if err := s.Put(ctx, o, bytes.Repeat([]byte{'a' + byte(n)}, 500)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := s.Get(ctx, o)
	if err != nil || len(got) != 500 || strings.Trim(string(got), string(got[:1])) != "" {
		t.Errorf("Get returned %q, %v", got, err)
	}
}

func secretRefused(t *testing.T, ctx context.Context, s store.Secrets, o store.SecretOwner) {
	if err := s.Put(ctx, o, nil); err == nil {
		t.Error("an empty secret was put")
	}
	if err := s.Put(ctx, o, make([]byte, store.MaxSecretBytes+1)); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a secret that is too large: %v", err)
	}
	holdsNoSecret(t, ctx, s, o)
	for _, name := range []string{"", "..", "../x", "a/b", "a#b", "a b", "ä", strings.Repeat("x", 101)} {
		for _, bad := range []store.SecretOwner{{Organisation: name, Project: o.Project}, {Organisation: o.Organisation, Project: name}} {
			_, got := s.Get(ctx, bad)
			_, since := s.Since(ctx, bad)
			for what, err := range map[string]error{"Put": s.Put(ctx, bad, []byte("x")), "Get": got, "Since": since, "Delete": s.Delete(ctx, bad)} {
				if err == nil || errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s took the owner %q: %v", what, bad, err)
				}
			}
		}
	}
}
