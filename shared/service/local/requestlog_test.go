package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/local"
)

// Lines stand in the file of their month, survive a restart, and go after a year.
func TestRequestLog(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC)
	open := func() *local.Local {
		l, err := local.Open(t.Context(), local.Options{Dir: dir, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	write := func(l *local.Local, line string) {
		t.Helper()
		if _, err := l.RequestLog().Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(l *local.Local, month string, lines ...string) {
		t.Helper()
		var got []string
		err := l.RequestLog().Lines(t.Context(), month, func(line []byte) error {
			got = append(got, string(line))
			return nil
		})
		if diff := cmp.Diff(lines, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", month, err, diff)
		}
	}

	l := open()
	want(l, "2025-12")
	write(l, "a\n")
	now = now.Add(time.Second) // a new year
	write(l, "b\n")
	write(l, "c")
	want(l, "2025-12", "a")
	want(l, "2026-01", "b", "c")
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	l = open()
	write(l, "d\n") // not on the line that broke off
	want(l, "2026-01", "b", "c", "d")
	now = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	write(l, "e\n")
	want(l, "2025-12", "a")
	now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	write(l, "f\n")
	want(l, "2025-12")
	want(l, "2026-01", "b", "c", "d")

	stop := errors.New("enough")
	if err := l.RequestLog().Lines(t.Context(), "2026-01", func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("each's error is lost: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.RequestLog().Lines(ctx, "2026-01", func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("reading goes on without its context: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "requests", "2026-01.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the log: %v, %v", info, err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Requests that end at the same time do not mix their lines.
func TestRequestLogTakesManyWriters(t *testing.T) {
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close(context.Background()) }()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if _, err := l.RequestLog().Write([]byte("0123456789\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	n := 0
	if err := l.RequestLog().Lines(t.Context(), "1970-01", func(line []byte) error {
		if n++; string(line) != "0123456789" {
			t.Errorf("a line is %q", line)
		}
		return nil
	}); err != nil || n != 800 {
		t.Errorf("%d lines, %v", n, err)
	}
}
