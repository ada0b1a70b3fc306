package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
)

// Names in the folder of downloads.
const (
	partName   = "bundle.part"
	recordName = "bundle.json"
)

// downloadRecord says of which bundle the bytes of a part are.
type downloadRecord struct {
	Source string `json:"source"`
	Total  int64  `json:"total"`
	validators
}

// downloader fetches a bundle into a folder.
type downloader struct {
	dir      string
	log      *slog.Logger
	limit    int64 // most bytes of an archive
	attempts int   // in a row without a new byte
	// patience is how long a download may stall before it counts as
	// interrupted, as of remote.Watch. A host, or a proxy in between, may keep
	// a connection alive that next to nothing comes over any more.
	patience time.Duration
	sleep    func(context.Context, time.Duration) error
	received *atomic.Int64 // bytes that came, for metrics; may be nil
	// wrap, for tests, stands between a download and its file.
	wrap func(io.Writer) io.Writer
}

// fetch downloads a remote bundle into a file and returns its path. known is what
// the source said of the newest version on the volume: errUnchanged when it
// still says so. What an earlier process or link left is gone on with, if the
// source says that it is of the same bundle.
func (d *downloader) fetch(ctx context.Context, source *bundleSource, known validators) (string, validators, error) {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return "", validators{}, volumeError("the folder of downloads can't be made", err)
	}
	path := filepath.Join(d.dir, partName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", validators{}, volumeError("the download can't be written", err)
	}
	defer f.Close()
	run := &transfer{downloader: d, source: source, file: f, known: known}
	err = run.all(ctx)
	if closed := f.Close(); err == nil && closed != nil {
		err = volumeError("the download can't be written", closed)
	}
	if err == nil {
		return path, run.record.validators, nil
	}
	// A part helps the next attempt, unless it fills the volume.
	if codeOf(err) == CodeVolume && ctx.Err() == nil || run.have == 0 {
		d.forget()
	}
	if temporary, ok := errors.AsType[*temporaryError](err); ok {
		err = temporary.err
	}
	return "", validators{}, err
}

// forget removes what there is of a download.
func (d *downloader) forget() {
	_ = os.Remove(filepath.Join(d.dir, partName))
	_ = os.Remove(filepath.Join(d.dir, recordName))
}

// transfer is one download.
type transfer struct {
	*downloader
	source *bundleSource
	file   *os.File
	have   int64
	record downloadRecord
	known  validators
}

func (t *transfer) all(ctx context.Context) error {
	if err := t.resume(); err != nil {
		return volumeError("the rest of an earlier download can't be read", err)
	}
	most := t.have // that ever was there: what comes again is not progress
	for failures := 0; ; {
		if t.have > 0 && !t.record.same(t.record.validators) {
			// Nothing would show whether the rest is of the same bundle.
			if err := t.restart(); err != nil {
				return err
			}
		}
		done, err := t.once(ctx)
		if done || err == nil && t.record.Total >= 0 && t.have == t.record.Total {
			return nil
		}
		if t.have >= most+remote.Stride { // a byte for each request is not progress
			most, failures = t.have, 0
		}
		temporary := (*temporaryError)(nil)
		switch {
		case errors.Is(err, errChanged):
			t.log.Info("the bundle at the source has changed since the download began; fetching all of it")
			if err := t.restart(); err != nil {
				return err
			}
			if failures++; failures >= t.attempts {
				return &Error{Code: CodeUnreachable, Message: "the bundle at the source keeps changing"}
			}
			continue
		case !errors.As(err, &temporary):
			return err
		}
		if failures++; failures >= t.attempts {
			return err
		}
		wait := max(temporary.wait, min(time.Second<<(failures-1)/2, 15*time.Second))
		t.log.Warn("the download was interrupted; resuming it", "from", t.source.Where, "bytes", t.have, "of", t.record.Total, "error", temporary.err, "wait", wait.String())
		if err := t.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// resume looks at what an earlier download left.
func (t *transfer) resume() error {
	raw, err := os.ReadFile(filepath.Join(t.dir, recordName))
	if err == nil && json.Unmarshal(raw, &t.record) == nil && t.record.Source == t.source.key &&
		t.record.same(t.record.validators) {
		info, err := t.file.Stat()
		if err != nil {
			return err
		}
		if info.Size() > 0 && info.Size() <= t.record.Total {
			t.have = info.Size()
			if t.have == t.record.Total {
				// All of it is there. Its last byte is asked for again, to
				// learn whether the source still has the same bundle.
				t.have--
			}
			if err := t.file.Truncate(t.have); err != nil {
				return err
			}
			_, err = t.file.Seek(t.have, io.SeekStart)
			return err
		}
	}
	return t.restart()
}

func (t *transfer) restart() error {
	t.have, t.record = 0, downloadRecord{Source: t.source.key, Total: -1}
	_ = os.Remove(filepath.Join(t.dir, recordName))
	if err := t.file.Truncate(0); err != nil {
		return volumeError("the download can't be written", err)
	}
	_, err := t.file.Seek(0, io.SeekStart)
	return err
}

// once makes one request and appends what comes. It is done when a bundle of
// unknown size has ended.
func (t *transfer) once(ctx context.Context) (done bool, err error) {
	known := t.known
	if t.have > 0 {
		known = t.record.validators
	}
	watch, receiving := remote.NewWatch(ctx, t.patience)
	defer watch.Stop()
	p, err := t.source.remote.open(receiving, t.have, 0, known, t.have == 0)
	if stalled := (*remote.StalledError)(nil); errors.As(watch.Cause(err), &stalled) && ctx.Err() == nil {
		return false, t.interrupted(stalled)
	}
	if err != nil {
		return false, err
	}
	defer p.body.Close()
	switch {
	case t.have > 0 && p.offset == t.have && (!p.same(t.record.validators) || p.total != t.record.Total):
		return false, errChanged
	case t.have > 0 && p.offset == 0: // the source sends all of it
		if err := t.restart(); err != nil {
			return false, err
		}
	}
	if p.total > t.limit {
		return false, t.tooLarge()
	}
	if t.have == 0 {
		if err := t.note(p); err != nil {
			return false, err
		}
		t.log.Info("fetching the bundle", "from", t.source.Where, "bytes", p.total)
	} else {
		t.log.Info("resuming the download", "from", t.source.Where, "bytes", t.have, "of", t.record.Total)
	}
	limit := t.limit
	if p.total >= 0 {
		limit = p.total
	}
	w := &countingFile{t: t, w: io.Writer(t.file)}
	if t.wrap != nil {
		w.w = t.wrap(t.file)
	}
	_, err = io.CopyBuffer(w, io.LimitReader(watch.Reader(p.body), limit-t.have+1), make([]byte, 256<<10))
	switch {
	case w.err != nil:
		return false, volumeError("the download can't be written", w.err)
	case ctx.Err() != nil:
		return false, ctx.Err()
	case t.have > limit && p.total >= 0:
		return false, &Error{Code: CodeUnreachable, Message: fmt.Sprintf("the source sent more than the %d bytes that it announced", limit)}
	case t.have > limit:
		return false, t.tooLarge()
	case t.have == p.total, err == nil && p.total < 0:
		return true, nil // whatever became of the connection then
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return false, t.interrupted(err)
}

// note writes down of which bundle the part is.
func (t *transfer) note(p *part) error {
	t.record.Total, t.record.validators = p.total, p.validators
	raw, err := json.Marshal(t.record)
	if err == nil {
		err = os.WriteFile(filepath.Join(t.dir, recordName), raw, 0o600)
	}
	if err != nil {
		return volumeError("the download can't be written", err)
	}
	return nil
}

// interrupted returns the error of a download that can be resumed.
func (t *transfer) interrupted(err error) error {
	return &temporaryError{err: &Error{Code: CodeUnreachable, Err: err,
		Message: fmt.Sprintf("the download stopped after %d of %d bytes", t.have, t.record.Total),
		Advice:  "The partial download is kept: the next attempt resumes it"}}
}

func (t *transfer) tooLarge() error {
	return &Error{Code: CodeRefused, Message: fmt.Sprintf("the archive has more than the %d bytes that a bundle may have", t.limit),
		Advice: "Check that the address leads to a bundle"}
}

// countingFile counts what was written and keeps the disk's errors apart from
// the network's.
type countingFile struct {
	t   *transfer
	w   io.Writer
	err error
}

func (c *countingFile) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.t.have += int64(n)
	if c.t.received != nil {
		c.t.received.Add(int64(n))
	}
	if err != nil {
		c.err = err
	}
	return n, err
}

// sleepContext waits, or until ctx ends.
func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
