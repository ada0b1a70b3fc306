package review_test

import (
	"context"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// storage holds the records and objects of the step.
type storage struct {
	admin   *admin.Service
	objects store.Objects
}

func ports(t *testing.T) storage {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), BaseURL: "http://127.0.0.1:1", Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return storage{admin.New(admin.Options{Store: l.Store(), Objects: l.Objects()}), l.Objects()}
}
