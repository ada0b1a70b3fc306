package export

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// fsCacheBytes is how many bytes of sources are kept while shards are
// rendered: those of the units in work, and snippets.
const fsCacheBytes = 16 << 20

// source is all that the shards of one job have in common. It is read once in
// a process and used by many goroutines.
type source struct {
	input admin.ExportInput
	site  *site.Site
	fs    files
	packs *snapshot.FS // fs, where it is a snapshot
	// reading is held while sources are read that several units may want.
	reading *sync.Mutex
	layout  layout
	pages   *page.Renderer
	views   *frame.Views
	finder  *frame.Finder // nil if the bundle has no search
	full    *frame.Full   // nil if the bundle gets no llms-full.txt of ours

	// kept are the values that are kept of the site; nil where nothing is.
	kept *kept.Store
	// digest is that of a file that pages may read, and around that of all that
	// stands around pages; nil where nothing is kept.
	digest func(name string) string
	around func() ([sha256.Size]byte, error)
}

// files are the files of a site, each with its digest and the time of its last
// commit.
type files interface {
	fs.FS
	Entry(name string) (snapshot.Entry, bool)
}

// openSnapshot opens the files of a job's snapshot.
func (s *Steps) openSnapshot(ctx context.Context, in admin.ExportInput) (*snapshot.FS, error) {
	data, err := s.read(ctx, in.Snapshot.ManifestKey(), snapshot.MaxManifestBytes)
	if errors.Is(err, store.ErrNotFound) {
		return nil, admin.Errorf(admin.CodeInconsistent, "the snapshot's manifest is gone").Wrap(err)
	}
	if err != nil {
		return nil, err
	}
	m, err := snapshot.Decode(bytes.NewReader(data))
	if err == nil {
		err = snapshot.CheckEntries(m)
	}
	if err != nil {
		return nil, admin.Errorf(admin.CodeInconsistent, "the snapshot's manifest can't be read").Wrap(err)
	}
	// Several steps may share the files, so that no step's end may end the
	// others' reads; each looks at its own context between two files.
	return snapshot.OpenFS(context.WithoutCancel(ctx), s.opt.Objects, in.Snapshot.PackKey, m, snapshot.FSOptions{CacheBytes: fsCacheBytes}), nil
}

// open reads what Plan wrote about a job, once for all shards.
func (s *Steps) open(ctx context.Context, in admin.ExportInput) (*source, error) {
	return s.sources.get(ctx, in.Job.ID, func() (*source, error) {
		p, err := s.readPlanned(ctx, in)
		if err != nil {
			return nil, err
		}
		src := &source{input: in, fs: p.fs, packs: p.fs, reading: new(sync.Mutex), site: p.site, kept: p.kept}
		src.layout = newLayout(src.site, p.fs)
		if err := s.prepare(src, src.kept != nil); err != nil {
			return nil, err
		}
		return src, nil
	})
}

// planned is what Plan read, for the steps after it.
type planned struct {
	job  string
	fs   *snapshot.FS
	site *site.Site
	kept *kept.Store
}

// readPlanned returns what Plan read: as it is where it was the last one in this
// process, for large sites take long to write and to read; else from its objects.
func (s *Steps) readPlanned(ctx context.Context, in admin.ExportInput) (*planned, error) {
	if p := s.planned.Load(); p != nil && p.job == in.Job.ID && s.planned.CompareAndSwap(p, nil) {
		return p, nil
	}
	fsys, err := s.openSnapshot(ctx, in)
	if err != nil {
		return nil, err
	}
	body, err := s.opt.Objects.Get(ctx, job.SiteKey(in.Job.ID), 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	p := &planned{job: in.Job.ID, fs: fsys, site: new(site.Site)}
	if err := json.NewDecoder(bufio.NewReaderSize(body, 64<<10)).Decode(p.site); err != nil {
		return nil, fmt.Errorf("read the plan of the site: %w", err)
	}
	p.kept, err = s.listedValues(ctx, in.Job)
	return p, err
}

// prepare makes what renders pages and what stands around them. Results have
// their inputs if they are kept.
func (s *Steps) prepare(src *source, kept bool) (err error) {
	src.views, err = frame.New(frame.Options{
		Site: src.site, Features: featuresOf(src.input), Icons: s.icons,
		Modified: func(name string) time.Time {
			entry, _ := src.fs.Entry(name)
			return entry.Modified
		},
	})
	if err != nil {
		return internal("the site's look could not be prepared", err)
	}
	src.finder, src.full = src.views.Finder(), src.views.Full()
	if kept {
		src.around = sync.OnceValues(src.views.Digest)
		src.digest = src.digests()
	}
	src.pages = s.renderer(src, kept)
	return nil
}

// digests returns what knows the digests of files that pages may read.
func (src *source) digests() func(name string) string {
	withheld := make(map[string]bool, len(src.site.Withheld))
	for _, w := range src.site.Withheld {
		withheld[w.Source] = true
	}
	return func(name string) string {
		entry, _ := src.fs.Entry(name)
		if withheld[name] {
			return ""
		}
		return entry.SHA256
	}
}

// renderer makes what renders the bodies of pages.
func (s *Steps) renderer(src *source, kept bool) *page.Renderer {
	var digest func(name string) string
	if kept {
		digest = src.digests()
	}
	return page.New(page.Options{
		Site: src.site, FS: src.site.Readable(src.fs), Highlighter: s.highlighter, Registry: s.registry, Log: s.opt.Log,
		Icons: src.views.Theme(), After: src.views.Directory, Diagrams: s.diagrams.For(src.site.Config.Fonts.Body.Family, src.site.Config.Fonts.Body.Source), Formulas: s.scripts, Islands: s.opt.Islands,
		Playground: src.input.Features.Playground,
		AirGapped:  src.input.Project.Kind == admin.KindAirGapped,
		Digest:     digest,
	})
}

// read reads an object of at most limit bytes.
func (s *Steps) read(ctx context.Context, key string, limit int64) ([]byte, error) {
	body, err := s.opt.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, internal("an object of the export is too large", fmt.Errorf("%s has more than %d bytes", key, limit))
	}
	return data, err
}

// put writes an object.
func (s *Steps) put(ctx context.Context, key string, data []byte) error {
	_, err := s.opt.Objects.Put(ctx, key, bytes.NewReader(data), store.PutOptions{})
	return err
}

// streamBuffer is how many bytes of a stream are handed on at once: compressors
// write some hundred at a time, and each hand-over wakes another goroutine.
const streamBuffer = 128 << 10

// stream writes an object that fn produces as it goes.
func (s *Steps) stream(ctx context.Context, key string, opt store.PutOptions, fn func(w io.Writer) error) (store.ObjectInfo, error) {
	r, w := io.Pipe()
	type result struct {
		info store.ObjectInfo
		err  error
	}
	done := make(chan result, 1)
	go func() {
		info, err := s.opt.Objects.Put(ctx, key, r, opt)
		if err != nil {
			r.CloseWithError(err) // what fn writes from here on fails
		} else {
			r.Close()
		}
		done <- result{info, err}
	}()
	err := func() (err error) {
		// A panic must not leave the other side waiting.
		defer func() {
			if p := recover(); p != nil {
				w.CloseWithError(fmt.Errorf("panic: %v", p))
				<-done
				panic(p)
			}
		}()
		buffer := bufio.NewWriterSize(w, streamBuffer)
		if err := fn(buffer); err != nil {
			return err
		}
		return buffer.Flush()
	}()
	if err != nil {
		w.CloseWithError(err)
	} else {
		w.Close()
	}
	put := <-done
	if err != nil {
		return store.ObjectInfo{}, err
	}
	return put.info, put.err
}

// maxSources is how many jobs' sources a process keeps.
const maxSources = 2

// sourceCache keeps the sources of the jobs that were worked on last.
type sourceCache struct {
	mu      sync.Mutex
	entries []*sourceEntry // newest first
}

type sourceEntry struct {
	job  string
	lock chan struct{} // holds one token; whoever has it may read or make src
	src  *source
}

// get returns the source of a job, made by one caller at a time. A failure is
// not kept.
func (c *sourceCache) get(ctx context.Context, job string, create func() (*source, error)) (*source, error) {
	e := c.entry(job)
	select {
	case <-e.lock:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { e.lock <- struct{}{} }()
	if e.src != nil {
		return e.src, nil
	}
	src, err := create()
	if err != nil {
		return nil, err
	}
	e.src = src
	return src, nil
}

func (c *sourceCache) entry(job string) *sourceEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	var e *sourceEntry
	if i := slices.IndexFunc(c.entries, func(e *sourceEntry) bool { return e.job == job }); i >= 0 {
		e = c.entries[i]
		c.entries = slices.Delete(c.entries, i, i+1)
	} else {
		e = &sourceEntry{job: job, lock: make(chan struct{}, 1)}
		e.lock <- struct{}{}
	}
	c.entries = slices.Insert(c.entries, 0, e)
	c.entries = c.entries[:min(len(c.entries), maxSources)]
	return e
}

// forget drops a job's source.
func (c *sourceCache) forget(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = slices.DeleteFunc(c.entries, func(e *sourceEntry) bool { return e.job == job })
}

// stored reports whether a file is compressed already, by its name.
func stored(name string) bool {
	switch path.Ext(name) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".heic",
		".mp4", ".webm", ".mov", ".m4v", ".mp3", ".m4a", ".ogg", ".opus",
		".woff", ".woff2", ".zip", ".gz", ".tgz", ".br", ".zst", ".xz", ".bz2", ".7z", ".rar", ".pdf", ".docx", ".xlsx", ".pptx":
		return true
	}
	return false
}
