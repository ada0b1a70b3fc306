package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// updater decides which version is shown.
type updater struct {
	options  *Options
	log      *slog.Logger
	volume   *volume
	download *downloader
	handler  *handler
	status   *status
	metrics  *metrics
	now      func() time.Time
	want     want

	closing sync.WaitGroup // versions that are no longer shown, until they are closed
	failed  int            // looks at the source that failed, in a row
	refused refusal

	lastLost atomic.Int64  // when lost had the source looked at, in nanoseconds since 1970
	damage   chan struct{} // has a value while a damaged file waits to be healed, or a link to be renewed
	// spoilt is the digest of the version on the volume that must be unpacked
	// again, or "".
	spoilt string
}

// refusal is the bundle of a source that was refused last: it is not fetched
// again as long as the source says that it is the same.
type refusal struct {
	source string // its key
	from   validators
	err    error
}

// again looks for another version while one is shown. What goes wrong is reported
// in the log, the status and the metrics; the site stays. When an operator asked
// for it, what was refused is looked at once more.
func (u *updater) again(ctx context.Context, asked bool) {
	if asked {
		u.refused = refusal{}
	}
	s := u.handler.shown.Load()
	switch {
	case s != nil && s.damage.count() > 0:
		u.heal(ctx, s)
	case s != nil && u.want.pinned() && u.want.takes(s.record):
		u.log.Info("the version is pinned and shown; there is nothing to look for", "version", u.want.version)
	default:
		_ = u.update(ctx, false)
	}
}

// retryAfter is when to look again: after the interval, or sooner after a
// failure.
func (u *updater) retryAfter() time.Duration {
	s := u.handler.shown.Load()
	// A pinned version that is read by ranges needs its source like any other.
	damaged := s != nil && s.damage.count() > 0 || u.options.Ranges && u.failed > 0
	if !damaged && (u.failed == 0 || u.want.pinned()) {
		return u.options.Refresh
	}
	wait := time.Minute << max(0, min(u.failed-1, 4))
	if u.options.Refresh > 0 {
		wait = min(wait, u.options.Refresh)
	}
	return wait
}

// found notes a file of a site that differs on the volume, and has it healed.
func (u *updater) found(s *unpacked, f *file, err error) {
	n, first := s.damage.add(f)
	if !first {
		return
	}
	u.metrics.damage.Add(1)
	u.log.Error("a file on the volume is not what was exported; it is not sent", "path", f.facts.Name, "version", s.record.Version, "error", err)
	if u.handler.shown.Load() == s {
		u.status.damaged(n, false)
	}
	select {
	case u.damage <- struct{}{}:
	default: // one that waits is enough
	}
}

// heal unpacks a version of which files differ on the volume once more, from
// its source, and shows it anew. While the source has no bundle the site stays
// without those files.
func (u *updater) heal(ctx context.Context, s *unpacked) {
	release, err := u.volume.lock(ctx)
	if err != nil {
		_ = u.note(ctx, err)
		return
	}
	defer release()
	u.volume.sweep()
	u.spoilt = s.record.Digest
	// Another server that shares the volume may have healed it.
	if err = u.show(ctx, s.record.Digest); err != nil && ctx.Err() == nil {
		err = u.fromSource(ctx, false)
		_ = u.note(ctx, err)
	}
	u.spoilt = ""
	now := u.handler.shown.Load()
	if err != nil || now == s {
		return
	}
	u.log.Info("the files on the volume are what was exported again", "version", now.record.Version, "sha256", now.record.Digest)
	select { // what was set aside goes with its last request, or later
	case <-s.closed:
		u.volume.sweep()
	case <-time.After(u.options.lastRequest):
	case <-ctx.Done():
	}
	u.metrics.healed.Add(1)
}

// patrol compares the files of the version that is shown again and again, until
// ctx ends.
func (u *updater) patrol(ctx context.Context) {
	for u.options.Verify > 0 && sleepContext(ctx, u.options.Verify) == nil {
		if s := u.handler.acquire(); s != nil {
			u.inspect(ctx, s)
			s.Release()
		}
	}
}

func (u *updater) inspect(ctx context.Context, s *unpacked) {
	differ := map[*file]bool{}
	whole := s.inspect(ctx, func() bool { return u.handler.shown.Load() == s }, func(f *file, err error) {
		if !damaged(err) {
			u.log.Error("a file of the site can't be compared", "path", f.facts.Name, "error", err)
			return
		}
		differ[f] = true
		u.found(s, f, err)
	})
	if whole {
		u.status.damaged(s.damage.set(differ), true)
	}
}

// update shows another version if there is one. The first time, when the server
// starts, it shows the pinned one, else the source's, else what the volume has.
func (u *updater) update(ctx context.Context, first bool) error {
	if u.options.Ranges {
		return u.note(ctx, u.fromSource(ctx, first))
	}
	if first && u.showPinned(ctx) {
		return nil
	}
	release, err := u.volume.lock(ctx)
	if err != nil {
		return u.note(ctx, err)
	}
	defer release()
	u.volume.sweep()
	pinned, ok := u.pinned()
	if ok && u.samePlace(pinned) {
		err := u.show(ctx, pinned.Digest)
		if err == nil {
			u.log.Info(pinnedShown, "version", pinned.Version, "sha256", pinned.Digest)
			u.volume.prune(u.options.Keep)
			return nil
		}
		u.discard(pinned.Digest, err)
		ok = false
	}
	err = u.fromSource(ctx, first)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ok && elsewhere(err) {
		// The new address can't be read: it may have another bundle.
		if shown := u.show(ctx, pinned.Digest); shown == nil {
			u.log.Warn("the source has no usable bundle; the pinned version is on the volume and is shown", "version", pinned.Version, "sha256", pinned.Digest, "code", codeOf(err), "error", err)
			u.volume.prune(u.options.Keep)
			return nil
		} else if ctx.Err() == nil {
			u.discard(pinned.Digest, shown)
		}
	}
	_ = u.note(ctx, err)
	if err == nil {
		u.volume.prune(u.options.Keep)
		return nil
	}
	if !first || u.want.pinned() {
		return err
	}
	for _, r := range u.volume.list() {
		if shown := u.show(ctx, r.Digest); shown != nil {
			u.discard(r.Digest, shown)
			continue
		}
		u.log.Warn("the source has no usable bundle; the version on the volume is shown", "version", r.Version, "sha256", r.Digest, "code", codeOf(err))
		return nil
	}
	return err
}

const pinnedShown = "the pinned version is on the volume; it is not fetched"

// pinned returns the pinned version of the volume.
func (u *updater) pinned() (record, bool) {
	if !u.want.pinned() {
		return record{}, false
	}
	return u.volume.find(u.want)
}

// samePlace reports whether a version on the volume came from where the bundle's
// address leads now. Another address may lead to another bundle, which must not pass
// for the pinned one. What can't be read as an address is nowhere else.
func (u *updater) samePlace(r record) bool {
	link, err := readLink(u.options.Link, u.options.LinkFile)
	if err != nil {
		return true
	}
	source, err := parseSource(link, u.options.source())
	return err != nil || source.key == r.Source
}

// showPinned shows the pinned version if it is on the volume, without waiting
// for a server that just now fetches another one: readers would wait as well.
// What is open is not removed, and what can't be opened is looked at again by
// who has the folder.
func (u *updater) showPinned(ctx context.Context) bool {
	r, ok := u.pinned()
	if !ok || !u.samePlace(r) || u.show(ctx, r.Digest) != nil {
		return false
	}
	u.log.Info(pinnedShown, "version", r.Version, "sha256", r.Digest)
	if release, err := u.volume.lockNow(); err == nil && release != nil {
		defer release()
		u.volume.sweep()
		u.volume.prune(u.options.Keep)
	}
	return true
}

// note records how asking the source ended.
func (u *updater) note(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	u.status.checked(err)
	if err == nil {
		u.failed = 0
		return nil
	}
	u.failed++
	u.metrics.check(string(codeOf(err)), false, u.now())
	u.log.Error("no bundle from the source", "code", codeOf(err), "error", err)
	return err
}

// fromSource shows the source's bundle: that at the bundle's address, or at a fresh
// link where the address gives none.
func (u *updater) fromSource(ctx context.Context, first bool) error {
	link, err := readLink(u.options.Link, u.options.LinkFile)
	if err != nil {
		return err
	}
	err = u.fromLink(ctx, link, first)
	if err == nil || ctx.Err() != nil || !elsewhere(err) {
		return err
	}
	if u.options.Renew.File != "" {
		if fresh, ok := u.fromFile(link); ok {
			u.log.Warn("no bundle at its address; trying the fresh link in the file", "code", codeOf(err), "error", err)
			return u.fromLink(ctx, fresh, first)
		}
	}
	if u.options.Renew.API == "" {
		return err
	}
	u.log.Warn("no bundle at its address; asking the API for a fresh link", "code", codeOf(err), "error", err, "job", u.options.Renew.Job)
	if link, err = u.renew(ctx); err != nil {
		return err
	}
	return u.fromLink(ctx, link, first)
}

// fromLink shows the bundle at an address.
func (u *updater) fromLink(ctx context.Context, link string, first bool) error {
	source, err := parseSource(link, u.options.source())
	if err != nil {
		return err
	}
	u.status.asks(source.Where)
	if !source.Encrypted && u.want.digest == "" && !u.options.AllowHTTP {
		return &Error{Code: CodeUsage, Message: "the bundle's address is not encrypted: anyone on the network path could replace the site",
			Advice: "Use https, or set BINDERY_BUNDLE_SHA256 so that another bundle is refused, or BINDERY_ALLOW_HTTP=true"}
	}
	if u.options.Ranges {
		return u.readRanges(ctx, source, link)
	}
	if source.File != "" {
		return u.switchTo(ctx, source.File, source, validators{})
	}
	versions := u.volume.list()
	known := u.known(versions, source)
	refused := u.refused.err != nil && u.refused.source == source.key
	if refused {
		known = u.refused.from
	}
	u.download.attempts = fetchAttempts
	if _, ok := u.pinned(); first && (ok || len(versions) > 0 && !u.want.pinned()) {
		u.download.attempts = fetchAttemptsWithSite
	}
	path, from, err := u.download.fetch(ctx, source, known)
	if errors.Is(err, errUnchanged) && refused {
		return u.refused.err
	}
	if errors.Is(err, errUnchanged) {
		for _, r := range versions {
			if r.Source == source.key && r.From == known {
				if err := u.show(ctx, r.Digest); err != nil {
					u.discard(r.Digest, err)
					break
				}
				u.metrics.check("unchanged", true, u.now())
				return nil
			}
		}
		// What was known can't be shown: all of it once more.
		path, from, err = u.download.fetch(ctx, source, validators{})
	}
	if err != nil {
		return err
	}
	err = u.switchTo(ctx, path, source, from)
	if ctx.Err() == nil {
		u.download.forget()
	}
	u.refused = refusal{}
	switch codeOf(err) {
	case CodeRefused, CodeDigest, CodeVersion:
		u.refused = refusal{source.key, from, err}
	}
	return err
}

// known is what the source said of the newest version that need not be fetched.
func (u *updater) known(versions []record, source *bundleSource) validators {
	for _, r := range versions {
		if r.Source == source.key && u.want.takes(r) && r.Digest != u.spoilt {
			return r.From
		}
	}
	return validators{}
}

// How often a download is tried without a new byte in between.
const (
	fetchAttempts         = 6
	fetchAttemptsWithSite = 2 // at the start, when the volume has a site to show
)

// switchTo shows the version that an archive holds. One that is on the volume
// already may be damaged there: then it is unpacked anew, once.
func (u *updater) switchTo(ctx context.Context, archive string, source *bundleSource, from validators) error {
	var failed error
	for range 2 {
		r, err := u.volume.add(ctx, archive, u.want, source, from, u.spoilt)
		if err != nil {
			return err
		}
		result := "updated"
		if s := u.handler.shown.Load(); s != nil && s.record.Digest == r.Digest {
			result = "unchanged"
		}
		if failed = u.show(ctx, r.Digest); failed == nil {
			u.metrics.check(result, true, u.now())
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		u.discard(r.Digest, failed)
		u.spoilt = r.Digest
	}
	return volumeError("the version can't be shown", failed)
}

// show opens a version, switches readers to it and makes it the volume's
// active one.
func (u *updater) show(ctx context.Context, digest string) error {
	if s := u.handler.shown.Load(); s != nil && s.record.Digest == digest && digest != u.spoilt {
		u.activate(digest)
		return nil
	}
	began := u.now()
	s, err := u.volume.openSite(ctx, digest)
	if err != nil {
		return err
	}
	u.log.Info("every file was compared with the bundle's list", "sha256", digest, "files", s.record.Files, "bytes", s.record.Bytes, "took", u.now().Sub(began).String())
	u.activate(digest)
	old := u.handler.show(s, u.volume.leftovers(ctx, digest))
	u.spoilt = ""
	u.status.show(s.record)
	u.log.Info("the site is shown", "version", s.record.Version, "sha256", digest, "domain", s.record.Domain, "pages", s.record.Pages, "files", s.record.Files)
	if old != nil {
		u.closing.Go(func() {
			old.Release()
			<-old.closed
			u.log.Info("the last request of an older version has ended", "version", old.record.Version)
		})
	}
	return nil
}

// activate has the volume remember which version is shown. Readers get it
// also where that fails.
func (u *updater) activate(digest string) {
	if err := u.volume.activate(digest); err != nil {
		u.log.Error("the version is shown, but a server that starts later will not know", "sha256", digest, "error", err)
	}
}

// discard removes a version that can't be shown since it is damaged, so that it
// is fetched again.
func (u *updater) discard(digest string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	if !damaged(err) {
		u.log.Error("a version on the volume can't be shown", "sha256", digest, "error", err)
		return
	}
	u.log.Error("a version on the volume is damaged; it is removed", "sha256", digest, "error", err)
	if err := u.volume.remove(digest); err != nil {
		u.log.Error("it can't be removed", "sha256", digest, "error", err)
	}
}

// close lets go of the version that is shown.
func (u *updater) close() {
	if r := u.handler.ranged.Swap(nil); r != nil {
		r.close()
	}
	if s := u.handler.shown.Swap(nil); s != nil {
		s.Release()
		<-s.closed
	}
	u.closing.Wait()
}
