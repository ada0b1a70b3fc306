package local_test

import (
	"context"
	"testing"

	"github.com/bindery-docs/bindery/shared/local"
	"github.com/bindery-docs/bindery/shared/store"
	"github.com/bindery-docs/bindery/shared/storetest"
)

// open opens a folder for a test, and closes it behind it.
func open(t *testing.T, dir string) *local.Local {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestStoreContract(t *testing.T) {
	l := open(t, t.TempDir())
	storetest.Store(t, func(*testing.T) store.Store { return l.Store() })
}
