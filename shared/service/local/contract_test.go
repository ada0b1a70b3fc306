package local_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// open opens a folder for a test, and closes it behind it.
func open(t *testing.T, dir string) *local.Local {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, l) })
	return l
}

func shut(t *testing.T, l *local.Local) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
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
	l := open(t, t.TempDir())
	client := serve(t, l)
	storetest.Objects(t, func(*testing.T) (store.Objects, *http.Client) { return l.Objects(), client })
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
