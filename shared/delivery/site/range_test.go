package site

import (
	"context"
	"errors"
	"io/fs"
	"testing"
)

// oneForm is a form of a few bytes.
type oneForm string

func (f oneForm) Size() int64 { return int64(len(f)) }
func (f oneForm) Part(context.Context, int64) ([]byte, int64, error) {
	return []byte(f), 0, nil
}
func (oneForm) Close() error { return nil }

// For several ranges, http.ServeContent reads in a goroutine that may outlive the answer.
// Nothing is read from a form after that: it is closed then.
func TestReaderEnds(t *testing.T) {
	p := &reader{ctx: t.Context(), form: oneForm("text")}
	b := make([]byte, 2)
	if n, err := p.ReadAt(b, 1); n != 2 || err != nil || string(b) != "ex" {
		t.Fatalf("%d bytes %q, %v", n, b, err)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
	if _, err := p.ReadAt(b, 1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
