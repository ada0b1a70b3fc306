package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

func backend(t *testing.T) *local.Local {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), BaseURL: "http://127.0.0.1"})
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

// Wrappers that never crash are a backend like any other.
func TestCrashNeverPassesTheContracts(t *testing.T) {
	outside.NoRace(t, "it makes one call after another")
	l := backend(t)
	c := storetest.CrashAfter(0, storetest.Before)
	storetest.Store(t, func(*testing.T) store.Store { return c.Store(l.Store()) })
	if c.Calls() == 0 || c.Crashed() {
		t.Errorf("%d calls, crashed: %v", c.Calls(), c.Crashed())
	}
}

// work makes every call of every port once, and stops at the first error.
func work(ctx context.Context, s store.Store, o store.Objects, r store.Runner) error {
	key := store.Key{PK: "p", SK: "s"}
	for _, call := range []func() error{
		func() error { return s.Write(ctx, []store.Record{{Key: key, Value: []byte(`1`)}}, nil) },
		func() error { _, err := s.Get(ctx, key); return err },
		func() error { _, err := s.Query(ctx, store.Query{PK: "p"}); return err },
		func() error {
			_, err := o.Put(ctx, "a/b", strings.NewReader("0123456789"), store.PutOptions{})
			return err
		},
		func() error { _, err := o.Stat(ctx, "a/b"); return err },
		func() error {
			r, err := o.Get(ctx, "a/b", 0, -1)
			if err != nil {
				return err
			}
			_, err = io.ReadAll(r)
			return errors.Join(err, r.Close())
		},
		func() error { _, err := o.List(ctx, "a/", "", 0); return err },
		func() error { _, err := o.PresignGet(ctx, "a/b", "", time.Minute); return err },
		func() error {
			_, err := o.PresignPut(ctx, "a/c", 0, strings.Repeat("0", 64), time.Minute)
			return err
		},
		func() error { return o.Delete(ctx, "a/b", "a/c") },
		func() error { return r.Start(ctx, store.WorkflowExport, "exp_1", []byte(`{}`)) },
		func() error { _, err := r.Status(ctx, store.WorkflowExport, "exp_1"); return err },
		func() error { return r.Stop(ctx, store.WorkflowExport, "exp_1", "") },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

var everyCall = []string{
	"Store.Write [{p s}]", "Store.Get p s", "Store.Query p ",
	"Objects.Put a/b", "Objects.Stat a/b", "Objects.Get a/b", "Objects.List a/", "Objects.PresignGet a/b", "Objects.PresignPut a/c", "Objects.Delete [a/b a/c]",
	"Runner.Start exp_1", "Runner.Status exp_1", "Runner.Stop exp_1",
}

// effects reads what work has done, on the backend itself: a record, an
// object, an execution and its state.
func effects(t *testing.T, l *local.Local) string {
	t.Helper()
	var s []string
	note := func(what string, err error) {
		switch {
		case err == nil:
			s = append(s, what)
		case !errors.Is(err, store.ErrNotFound):
			t.Fatal(err)
		}
	}
	_, err := l.Store().Get(t.Context(), store.Key{PK: "p", SK: "s"})
	note("record", err)
	info, err := l.Objects().Stat(t.Context(), "a/b")
	note(fmt.Sprintf("object of %d", info.Size), err)
	e, err := l.Runner().Status(t.Context(), store.WorkflowExport, "exp_1")
	note(string(e.State), err)
	return strings.Join(s, ", ")
}

func TestCrashAtEachCall(t *testing.T) {
	outside.NoRace(t, "it makes one call after another")
	// What is there after so many calls have had their effect.
	after := func(calls int) string {
		switch {
		case calls == 0:
			return ""
		case calls < 4:
			return "record"
		case calls < 10:
			return "record, object of 10"
		case calls == 10:
			return "record"
		case calls < 13:
			return "record, RUNNING"
		}
		return "record, ABORTED"
	}
	for n := 0; n <= len(everyCall); n++ {
		for _, moment := range storetest.Moments() {
			t.Run(fmt.Sprintf("%s call %d", moment, n), func(t *testing.T) {
				l := backend(t)
				c := storetest.CrashAfter(n, moment)
				ctx, cancel := c.Context(t.Context())
				defer cancel()
				s, o, r := c.Store(l.Store()), c.Objects(l.Objects()), c.Runner(l.Runner())
				err := work(ctx, s, o, r)
				if n == 0 {
					if err != nil || c.Crashed() || ctx.Err() != nil {
						t.Errorf("got %v, crashed: %v, context: %v", err, c.Crashed(), ctx.Err())
					}
					if diff := cmp.Diff(everyCall, c.Log()); diff != "" {
						t.Error(diff)
					}
					return
				}
				if !errors.Is(err, storetest.ErrCrashed) || !c.Crashed() || !errors.Is(context.Cause(ctx), storetest.ErrCrashed) {
					t.Errorf("got %v, crashed: %v, context: %v", err, c.Crashed(), context.Cause(ctx))
				}
				if diff := cmp.Diff(everyCall[:n], c.Log()); diff != "" {
					t.Error(diff)
				}
				done := n - 1
				if moment == storetest.After {
					done = n
				}
				if got, want := effects(t, l), after(done); got != want {
					t.Errorf("what is there: %q, want %q", got, want)
				}
				// The dead do nothing, even with a context of their own.
				if err := o.Delete(context.Background(), "a/b"); !errors.Is(err, storetest.ErrCrashed) {
					t.Errorf("after the crash: got %v", err)
				}
				if got, want := effects(t, l), after(done); got != want {
					t.Errorf("after the crash: %q, want %q", got, want)
				}
			})
		}
	}
}

// A file that was opened before the crash can't be read behind it.
func TestCrashEndsReading(t *testing.T) {
	l := backend(t)
	if _, err := l.Objects().Put(t.Context(), "k", strings.NewReader("data"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	c := storetest.CrashAfter(2, storetest.Before)
	o := c.Objects(l.Objects())
	r, err := o.Get(t.Context(), "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Stat(t.Context(), "k"); !errors.Is(err, storetest.ErrCrashed) {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); !errors.Is(err, storetest.ErrCrashed) || len(b) != 0 {
		t.Errorf("read %q, %v", b, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := c.Context(t.Context())
	defer cancel()
	if ctx.Err() == nil {
		t.Error("a context of the dead process still holds")
	}
}
