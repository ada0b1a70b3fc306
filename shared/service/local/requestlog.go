package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// requestMonths is for how many months the lines of requests are kept, the
// running one among them: the same month of last year can still be looked at.
const requestMonths = 13

// RequestLog keeps lines of the log in a file for each month (UTC), from which
// calls are counted. Only one process writes it, the server; any may read.
// A line that a power cut left in halves is not read as one.
type RequestLog struct {
	l *Local

	mu    sync.Mutex
	month string
	file  *os.File
}

// Kept is the first moment of the oldest month of which lines are kept.
func (r *RequestLog) Kept() time.Time { return oldestMonth(r.l.now()) }

func oldestMonth(now time.Time) time.Time {
	y, m, _ := now.UTC().Date()
	return time.Date(y, m+1-requestMonths, 1, 0, 0, 0, 0, time.UTC)
}

// RequestLog returns the log of requests.
func (l *Local) RequestLog() *RequestLog { return l.requests }

func (r *RequestLog) path(month string) string { return r.l.path("requests", month+".jsonl") }

// Write appends one line, which ends with a line break. It returns the errors of
// the file.
func (r *RequestLog) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	month := r.l.now().UTC().Format("2006-01")
	if month != r.month || r.file == nil {
		if err := r.open(month); err != nil {
			return 0, fmt.Errorf("local: log of requests: %w", err)
		}
	}
	return r.file.Write(line)
}

func (r *RequestLog) open(month string) error {
	if err := r.closeFile(); err != nil {
		return err
	}
	if err := os.MkdirAll(r.l.path("requests"), 0o700); err != nil {
		return err
	}
	r.sweep()
	f, err := os.OpenFile(r.path(month), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	// After half a line a new one begins on a line of its own.
	if size, err := f.Seek(0, io.SeekEnd); err == nil && size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err == nil && last[0] != '\n' {
			if _, err := f.Write([]byte("\n")); err != nil {
				return errors.Join(err, f.Close())
			}
		}
	}
	r.file, r.month = f, month
	return nil
}

// sweep removes the files of months that are no longer kept.
func (r *RequestLog) sweep() {
	oldest := oldestMonth(r.l.now()).Format("2006-01")
	names, _ := filepath.Glob(r.l.path("requests", "*.jsonl"))
	for _, name := range names {
		if filepath.Base(name) < oldest {
			if err := os.Remove(name); err != nil {
				r.l.log.Warn("could not remove an old log of requests", "error", err)
			}
		}
	}
}

func (r *RequestLog) closeFile() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

func (r *RequestLog) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closeFile()
}

// Lines calls each with every line of a month ("2006-01", UTC), in order and
// without its line break, until it returns an error. A month of which nothing
// is known has no lines. The line is valid until each returns.
func (r *RequestLog) Lines(ctx context.Context, month string, each func(line []byte) error) error {
	f, err := os.Open(r.path(month))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("local: log of requests: %w", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(s.Bytes()); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("local: log of requests: %w", err)
	}
	return nil
}
