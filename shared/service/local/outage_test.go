package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

func opened(t *testing.T, dir string) *Local {
	t.Helper()
	l, err := Open(t.Context(), Options{Dir: dir, LockWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

// outageOf is the message of an outage, "" for other errors.
func outageOf(err error) string {
	if e, ok := errors.AsType[*store.Outage](err); ok {
		return e.SafeMessage()
	}
	return ""
}

// exec runs a statement on the connection of writes.
func (l *Local) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := l.writes.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// What an operator has to mend is named.
func TestOutages(t *testing.T) {
	write := func(l *Local, value string) error {
		return l.Store().Write(t.Context(), []store.Record{{Key: store.Key{PK: "p", SK: value[:1]}, Value: fmt.Appendf(nil, "%q", value)}}, nil)
	}
	t.Run("another process has locked the database", func(t *testing.T) {
		dir := t.TempDir()
		l, other := opened(t, dir), opened(t, dir)
		tx, err := other.writes.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := outageOf(write(l, "a")); got != store.OutageLocked {
			t.Errorf("got %q", got)
		}
		if err := errors.Join(tx.Rollback(), write(l, "a")); err != nil {
			t.Errorf("once it is free: %v", err)
		}
	})
	t.Run("no room", func(t *testing.T) {
		l := opened(t, t.TempDir())
		l.exec(t, "PRAGMA max_page_count = 1")
		if got := outageOf(write(l, "b"+strings.Repeat("x", 300_000))); got != store.OutageFull {
			t.Errorf("got %q", got)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		l := opened(t, t.TempDir())
		l.exec(t, "PRAGMA query_only = 1")
		if got := outageOf(write(l, "c")); got != store.OutageDenied {
			t.Errorf("got %q", got)
		}
	})
	for errno, want := range map[error]string{
		syscall.ENOSPC: store.OutageFull, syscall.EDQUOT: store.OutageFull, syscall.EACCES: store.OutageDenied, syscall.EROFS: store.OutageDenied,
		syscall.EIO: store.OutageDisk, syscall.ENOENT: "", store.ErrExists: "",
	} {
		if got := outageOf(portError(t.Context(), &fs.PathError{Op: "write", Path: "x", Err: errno})); got != want {
			t.Errorf("%v: %q", errno, got)
		}
	}
}

// An execution whose end can't be written down is not begun again: its end is
// written once that is possible.
func TestAnEndThatCanNotBeWritten(t *testing.T) {
	l := opened(t, t.TempDir())
	var plans, pauses atomic.Int64
	ended := make(chan store.Execution, 1)
	none := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	tasks := map[string]asl.Task{job.TaskRender: none, job.TaskAssemble: none, job.TaskFail: none}
	tasks[job.TaskPlan] = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		plans.Add(1)
		l.exec(t, "PRAGMA query_only = 1")
		return nil, portError(t.Context(), fmt.Errorf("put: %w", syscall.ENOSPC))
	}
	full := make(chan bool)
	err := l.Runner().Resume(t.Context(), tasks, RunnerOptions{
		Poll: time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Sleep: func(context.Context, time.Duration) error {
			if pauses.Add(1); pauses.Load() == 60 { // more than all steps' retries
				close(full)
			}
			time.Sleep(100 * time.Microsecond)
			return nil
		},
		OnEnd: func(_ context.Context, e store.Execution) error {
			ended <- e
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Runner().Start(t.Context(), store.WorkflowExport, "exp_1", []byte(`{"jobId":"exp_1"}`)); err != nil {
		t.Fatal(err)
	}
	<-full
	tried := plans.Load()
	l.exec(t, "PRAGMA query_only = 0")
	e := <-ended
	if e.State != store.Failed || e.Error != "temporary" || !strings.Contains(e.Cause, store.OutageFull) || plans.Load() != tried {
		t.Errorf("%+v after %d plans, and %d more", e, tried, plans.Load()-tried)
	}
}
