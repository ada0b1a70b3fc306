package local_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// open opens a folder for a test, and closes it behind it.
func open(t *testing.T, dir string) *local.Local {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: dir, LockWait: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, l) })
	return l
}

func shut(t *testing.T, l *local.Local) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

// serve puts the objects' handler on a server of the test's.
func serve(t *testing.T, l *local.Local) *http.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(local.LinkPath, l.Objects().Handler())
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	l.SetBaseURL(server.URL)
	return server.Client()
}

func TestStoreContract(t *testing.T) {
	l := open(t, t.TempDir())
	storetest.Store(t, func(*testing.T) store.Store { return l.Store() })
}

func TestObjectsContract(t *testing.T) {
	for _, temporary := range []bool{false, true} {
		t.Run(fmt.Sprintf("temporary %v", temporary), func(t *testing.T) {
			if temporary {
				outside.Long(t, "repeats the contract, which stores a hundred megabytes")
			}
			l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), Temporary: temporary})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { shut(t, l) })
			client := serve(t, l)
			storetest.Objects(t, func(*testing.T) (store.Objects, *http.Client) { return l.Objects(), client })
		})
	}
}

func TestSecretsContract(t *testing.T) {
	l := open(t, t.TempDir())
	storetest.Secrets(t, l.Secrets())
}

// A secret's file is its owner's alone to read, and what a process left of one
// that it did not finish goes.
func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	o := store.SecretOwner{Organisation: "org_1", Project: "prj_1"}
	file := filepath.Join(dir, "secrets", "org_1", "prj_1.json")
	left := file + "~1"
	if err := l.Secrets().Put(t.Context(), o, []byte("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(left, []byte("x"), 0o600), os.Chtimes(left, old, old), l.Secrets().Delete(t.Context(), o)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) > 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := os.WriteFile(file, []byte(`{"secret": sesame`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Secrets().Get(t.Context(), o); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestRunnerContract(t *testing.T) {
	storetest.Runner(t, func(t *testing.T, tasks storetest.Tasks) store.Runner {
		l := open(t, t.TempDir())
		if err := l.Runner().Resume(t.Context(), tasks, local.RunnerOptions{
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		}); err != nil {
			t.Fatal(err)
		}
		return l.Runner()
	})
}
