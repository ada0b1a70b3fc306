package remote

import (
	"context"
	"fmt"
	"io"
	"time"
)

// What counts as a transfer that is still alive.
const (
	// Patience is how long another host may take for the next Stride bytes.
	Patience = 30 * time.Second
	// Stride is the number of bytes that count as progress: with Patience the
	// slowest rate that is put up with, about 1 kB a second. A host that sends
	// a byte now and then would otherwise hold a transfer for ever.
	Stride = 32 << 10
)

// StalledError says that a transfer was ended because too little came of it.
type StalledError struct{ After time.Duration }

func (e *StalledError) Error() string {
	return fmt.Sprintf("the transfer has stalled for %s", e.After)
}

// Watch ends a transfer that makes no progress.
type Watch struct {
	patience time.Duration
	ctx      context.Context
	end      context.CancelCauseFunc
	timer    *time.Timer
	moved    int // bytes since the timer began
}

// NewWatch returns a Watch and the context to make the request with, which ends
// once patience passes without Stride bytes; 0 means Patience. The caller must
// call Stop.
func NewWatch(ctx context.Context, patience time.Duration) (*Watch, context.Context) {
	if patience <= 0 {
		patience = Patience
	}
	w := &Watch{patience: patience}
	w.ctx, w.end = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(patience, func() { w.end(&StalledError{patience}) })
	return w, w.ctx
}

// Moved takes note of n bytes. It must not be called concurrently.
func (w *Watch) Moved(n int) {
	if w.moved += n; w.moved >= Stride {
		w.moved = 0
		w.timer.Reset(w.patience)
	}
}

// Sent notes that all bytes have been sent: what is left is the other side's
// answer, which may take four times as long.
func (w *Watch) Sent() { w.timer.Reset(4 * w.patience) }

// Stop ends the context and frees what the Watch holds.
func (w *Watch) Stop() {
	w.timer.Stop()
	w.end(nil)
}

// Cause returns err, which ended the transfer, or the *StalledError if that is
// why it ended. It has to be asked before Stop.
func (w *Watch) Cause(err error) error {
	if stalled, ok := context.Cause(w.ctx).(*StalledError); ok && err != nil && err != io.EOF {
		return stalled
	}
	return err
}

// Reader returns r with what is read from it noted.
func (w *Watch) Reader(r io.Reader) io.Reader { return &watched{r, w} }

type watched struct {
	io.Reader
	w *Watch
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.w.Moved(n)
	return n, r.w.Cause(err)
}
