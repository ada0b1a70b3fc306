package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// A damaged database is refused before anything is written to it, with the way out.
func TestADamagedDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	l, err := local.Open(t.Context(), local.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		rec := store.Record{Key: store.Key{PK: fmt.Sprint("p", i), SK: "s"}, Value: []byte(`{"x":"` + strings.Repeat("y", 500) + `"}`)}
		if err := l.Store().Write(t.Context(), []store.Record{rec}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "bindery.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	locked := func() error {
		l, err := local.Open(t.Context(), local.Options{Dir: dir})
		if err != nil {
			return err
		}
		return errors.Join(l.Lock(), l.Close(t.Context()))
	}
	if err := locked(); err != nil {
		t.Fatalf("a whole one: %v", err)
	}
	// The heads of pages in the second half.
	bad := append([]byte(nil), whole...)
	for at := len(bad) / 2 / 4096 * 4096; at < len(bad); at += 4096 {
		copy(bad[at:], "damaged here")
	}
	if err := os.WriteFile(file, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	err = locked()
	if !errors.Is(err, local.ErrDamaged) || !strings.Contains(err.Error(), ".recover") || !strings.Contains(err.Error(), "bindery.db") {
		t.Errorf("%v", err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(bad) {
		t.Errorf("it was written to (%v)", err)
	}
	// With the copy in its place, it is served again.
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := locked(); err != nil {
		t.Errorf("the copy: %v", err)
	}
}
