package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/archive"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// ranged is a version of a site that is read from its archive by ranges.
type ranged struct {
	*archive.Version
	record record
	root   bundle.Place
	link   string // empty for a file
	close  func()
}

// rangeTime limits one read of a range.
const rangeTime = 30 * time.Second

// remoteRanges reads ranges of an archive on a network.
type remoteRanges struct {
	source *bundleSource
	size   int64
	from   validators
	// lost is called where a read shows that the address no longer leads to the archive.
	lost func()
	// received counts bytes.
	received func(int64)
}

// ReadRange implements archive.Source.
func (r *remoteRanges) ReadRange(ctx context.Context, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 1 || length > r.size-offset {
		return nil, &bundle.Error{Fault: bundle.Truncated, Path: bundle.IndexPath, Message: "the index names bytes that the archive does not have"}
	}
	ctx, cancel := context.WithTimeout(ctx, rangeTime)
	defer cancel()
	b, err := r.read(ctx, offset, length)
	temporary := (*temporaryError)(nil)
	if errors.As(err, &temporary) && temporary.wait == 0 && ctx.Err() == nil {
		b, err = r.read(ctx, offset, length) // a connection that was closed meanwhile
	}
	switch {
	case err == nil:
		return b, nil
	case ctx.Err() != nil: // the reader has gone, or the source takes too long
		return nil, &site.Temporary{Err: err}
	case errors.As(err, &temporary):
		return nil, &site.Temporary{Err: err, After: temporary.wait}
	}
	r.lost()
	return nil, &site.Temporary{Err: err}
}

func (r *remoteRanges) read(ctx context.Context, offset, length int64) ([]byte, error) {
	p, err := r.source.remote.open(ctx, offset, length, r.from, false)
	if err != nil {
		return nil, err
	}
	defer p.body.Close()
	if p.offset != offset || p.total != r.size || !p.same(r.from) {
		return nil, errChanged
	}
	b := make([]byte, length)
	n, err := io.ReadFull(p.body, b)
	r.received(int64(n))
	if err != nil {
		return nil, &temporaryError{err: &Error{Code: CodeUnreachable, Message: "the source ended in the middle of a part of the bundle", Err: err, Advice: "Check the network"}}
	}
	return b, nil
}

// probe learns the size of an archive on a network, and what distinguishes it from the
// next one at its address.
func (s *bundleSource) probe(ctx context.Context) (size int64, from validators, err error) {
	p, err := s.remote.open(ctx, 1, 1, validators{}, false)
	if err != nil {
		return 0, from, err
	}
	defer p.body.Close()
	_, _ = io.CopyN(io.Discard, p.body, 1) // so that the connection can be used again
	switch {
	case p.offset != 1:
		return 0, from, &Error{Code: CodeUsage, Message: "the source does not send parts of a bundle", Advice: "Leave out BINDERY_RANGES, or use a source that answers requests with Range"}
	case p.ETag == "" || !p.same(p.validators):
		return 0, from, &Error{Code: CodeUsage, Message: "the source names no state of the bundle by which parts of two bundles can be told apart", Advice: "Leave out BINDERY_RANGES, or use a source that sends a strong ETag"}
	case p.total < 0:
		return 0, from, &Error{Code: CodeUnreachable, Message: "the source does not say how large the bundle is", Advice: "Leave out BINDERY_RANGES, or use another source"}
	}
	return p.total, p.validators, nil
}

// readRanges shows the archive at an address without fetching it.
func (u *updater) readRanges(ctx context.Context, source *bundleSource, link string) error {
	var src archive.Source
	var size int64
	var from validators
	done := func() {}
	if source.File != "" {
		f, err := archive.OpenFile(source.File)
		if err != nil {
			return &Error{Code: CodeNotFound, Message: "the bundle can't be opened", Err: err, Advice: "Check BINDERY_BUNDLE_URL"}
		}
		src, size, done = f, f.Size(), func() { _ = f.Close() }
	} else {
		var err error
		if size, from, err = source.probe(ctx); err != nil {
			return err
		}
		old := u.handler.ranged.Load()
		if old != nil && old.link == link && old.record.From.same(from) && old.record.Size == size {
			u.metrics.check("unchanged", true, u.now())
			return nil
		}
		src = &remoteRanges{source: source, size: size, from: from, lost: u.lost, received: func(n int64) { u.metrics.fetched.Add(n) }}
	}
	r, err := u.openRanges(ctx, src, size)
	if err != nil {
		done()
		return err
	}
	r.record.Source, r.record.From, r.close = source.key, from, done
	if source.File == "" {
		r.link = link
	}
	old := u.handler.ranged.Load()
	same := old != nil && old.root == r.root && old.record.Size == size && old.record.Version == r.record.Version
	if same && source.File != "" {
		u.metrics.check("unchanged", true, u.now())
		done()
		return nil
	}
	u.handler.ranged.Store(r)
	if same { // by a fresh link
		u.metrics.check("unchanged", true, u.now())
	} else {
		u.metrics.check("updated", true, u.now())
		u.status.show(r.record)
		u.log.Info("the site is shown from its archive", "version", r.record.Version, "domain", r.record.Domain, "pages", r.record.Pages, "bytes", size)
	}
	if old != nil {
		// Answers that are being sent read from it. None takes longer than the server lets it;
		// at the end of the process, its files are closed anyway.
		u.closing.Go(func() {
			select {
			case <-time.After(answerTime + time.Minute):
				old.close()
			case <-ctx.Done():
			}
		})
	}
	return nil
}

// openRanges reads the index of an archive, and its description for the version.
func (u *updater) openRanges(ctx context.Context, src archive.Source, size int64) (*ranged, error) {
	footer, err := archive.Footer(ctx, src, size)
	if errors.Is(err, bundle.ErrNoIndex) {
		return nil, &Error{Code: CodeRefused, Message: "the bundle can't be read by ranges: it has no index", Advice: "Export it again, or leave out BINDERY_RANGES"}
	}
	if err != nil {
		return nil, refusedRanges(err)
	}
	v, err := archive.Open(ctx, src, footer.Root, u.handler.answers.Cache)
	if err != nil {
		return nil, refusedRanges(err)
	}
	info, err := bundle.ReadLists(ctx, &rangeReader{ctx: ctx, src: src, at: footer.Lists, end: size}, u.options.Limits, func(string, io.Reader) error { return nil })
	if err != nil {
		return nil, refusedRanges(err)
	}
	if !u.want.takesVersion(info.Version) {
		return nil, u.want.wrongVersion(info.Version)
	}
	return &ranged{Version: v, root: footer.Root, record: record{Size: size, Version: info.Version, Domain: info.Domain, Pages: info.Pages, Files: info.Files, Bytes: info.Bytes}, close: func() {}}, nil
}

// refusedRanges is the error of an archive that can't be read.
func refusedRanges(err error) error {
	if _, ok := errors.AsType[*bundle.Error](err); ok {
		return &Error{Code: CodeRefused, Message: "the bundle is not whole", Err: err, Advice: "Export it again"}
	}
	if t, ok := errors.AsType[*site.Temporary](err); ok {
		return t.Err
	}
	return &Error{Code: CodeUnreachable, Message: "the bundle can't be read", Err: err, Advice: "Check the source"}
}

// lostWait is the least time between two looks that lost asks for.
const lostWait = 5 * time.Second

// lost has the source looked at again soon.
func (u *updater) lost() {
	now, last := u.now().UnixNano(), u.lastLost.Load()
	if now-last < int64(lostWait) || !u.lastLost.CompareAndSwap(last, now) {
		return
	}
	select {
	case u.damage <- struct{}{}:
	default: // one look that waits is enough
	}
}

// rangeReader reads a range of an archive from its beginning to its end.
type rangeReader struct {
	ctx     context.Context
	src     archive.Source
	at, end int64
	part    []byte
}

// Read implements io.Reader.
func (r *rangeReader) Read(p []byte) (int, error) {
	if len(r.part) == 0 {
		n := min(r.end-r.at, bundle.ChunkBytes)
		if n <= 0 {
			return 0, io.EOF
		}
		part, err := r.src.ReadRange(r.ctx, r.at, n)
		if err != nil {
			return 0, fmt.Errorf("read the lists: %w", err)
		}
		r.part, r.at = part, r.at+n
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	return n, nil
}
