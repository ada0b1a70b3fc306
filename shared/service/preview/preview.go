package preview

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/client"
	"github.com/bindery-docs/bindery/shared/service/export"
)

// Options configure a Server. Dir is required.
type Options struct {
	// Dir is the site's folder.
	Dir string
	// Domain, Groups, Kind and Settings are those of the export that the site is shown
	// as; files of other hosts are not fetched.
	Domain   string
	Groups   []string
	Kind     admin.Kind
	Settings admin.Settings
	// Islands runs the JavaScript of pages; nil runs none.
	Islands page.Islands
	// Report, if not nil, is called with what is found after each change, one call
	// after another.
	Report func(Report)
	// Open opens an editor at a place of a file, an absolute path. The address is of
	// an editor that browsers open instead; empty if one was opened. Nil opens none.
	Open func(file string, line, column int) (address string, err error)
	// Names are names of this machine that browsers may call it by, beside
	// "localhost" and addresses.
	Names []string
	// Log receives what does not concern authors; nil discards it.
	Log *slog.Logger
}

// Report is what is known of the site after a change.
type Report struct {
	// Fault is why the site as it is now can't be shown; nil if it can.
	Fault *Finding
	// Findings and Counts are those of all pages, and Pages is how many there are.
	// They are empty if Fault is set.
	Findings []check.Finding
	Counts   check.Counts
	Pages    int
	// Line returns a line of a file, "" if there is none. It may only be called until
	// the call with the report ends.
	Line func(file string, line int) string
}

// Server shows a site. It is safe for concurrent use.
type Server struct {
	opt   Options
	steps *export.Steps
	base  string // the path below which the site is, with slashes at both ends

	mu      sync.Mutex
	now     *moment
	fault   *Finding      // why the newest files are not shown
	changed chan struct{} // closed when any of these, or what a page has, changes
	times   map[string]time.Time

	assets atomic.Int64 // counts changes of files that pages load
	busy   atomic.Int64 // requests under way
}

// moment is the site as it was when it was last read.
type moment struct {
	live      *export.Live
	redirects *address.Redirects
	tree      *tree
	survey    *export.Survey // nil until all pages were looked through
	surveyed  *export.Live   // that survey is of
}

// tree is an open folder that several moments may read.
type tree struct {
	*client.Tree
	use    sync.RWMutex // held for reading by who reads the files
	closed bool
}

// New opens a site. One that can't be read is not an error: the server says what is
// wrong with it, and shows it once it is mended. The caller runs Watch, and ends the
// use of the server with Close.
func New(ctx context.Context, opt Options) (*Server, error) {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	opt.Groups = slices.Sorted(slices.Values(opt.Groups))
	s := &Server{
		opt: opt, base: "/", changed: make(chan struct{}), times: map[string]time.Time{},
		steps: export.New(export.Options{Log: opt.Log, Islands: opt.Islands, Renderer: "preview"}),
	}
	if opt.Settings.BasePath != "" {
		s.base = "/" + opt.Settings.BasePath + "/"
	}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Base returns the path that the site's root has, with slashes at both ends.
func (s *Server) Base() string { return s.base }

// Close ends the use of the folder.
func (s *Server) Close() error {
	s.mu.Lock()
	m := s.now
	s.now = nil
	s.mu.Unlock()
	if m == nil {
		return nil
	}
	return m.tree.close()
}

func (t *tree) close() error {
	t.use.Lock()
	defer t.use.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	return t.Close()
}

// read reads the whole site. The error is about reading files.
func (s *Server) read(ctx context.Context) error {
	open, err := client.OpenTree(ctx, s.opt.Dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	before, times := s.now, s.times
	s.mu.Unlock()
	in := export.LiveInput{
		Files: open, Paths: open.Paths, Domain: s.opt.Domain, Groups: s.opt.Groups, Kind: s.opt.Kind, Settings: s.opt.Settings,
		Modified: func(name string) time.Time { return times[name] },
	}
	for _, r := range open.Refused {
		in.Refused = append(in.Refused, check.Refused(r))
	}
	if before != nil {
		in.Before = before.live
	}
	live, err := s.steps.Live(ctx, in)
	if err != nil {
		defer open.Close()
		if unusable, ok := errors.AsType[*site.ConfigError](err); ok {
			s.failed(unusable, open)
			return nil
		}
		return err
	}
	next := &moment{live: live, tree: &tree{Tree: open}}
	if next.redirects, err = address.NewRedirects(live.Redirects()); err != nil {
		defer open.Close()
		s.failed(&site.ConfigError{File: live.Site().ConfigFile, Message: err.Error()}, open)
		return nil
	}
	if before != nil {
		next.survey, next.surveyed = before.survey, before.surveyed // until there is a newer one
	}
	s.set(next)
	if before != nil {
		go func() { _ = before.tree.close() }() // once nobody reads it
	}
	return nil
}

// failed notes why the site can't be shown.
func (s *Server) failed(e *site.ConfigError, files fs.FS) {
	f := findingOf(check.Finding{Level: mdx.Error, Code: "config-unusable", File: e.File, Line: e.Line, Column: e.Column, Message: e.Message}, lines(files))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = &f
	s.tell()
}

// set shows another moment.
func (s *Server) set(m *moment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.fault = m, nil
	s.tell()
}

// tell wakes all who wait for a change. The caller holds mu.
func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// view returns the site as it is now, and the channel that is closed when that
// changes. m is nil if there never was one that can be shown; otherwise the caller
// calls done after it has read its files.
func (s *Server) view() (m *moment, fault *Finding, changed <-chan struct{}, done func()) {
	for {
		s.mu.Lock()
		m, fault, changed = s.now, s.fault, s.changed
		s.mu.Unlock()
		if m == nil {
			return nil, fault, changed, func() {}
		}
		m.tree.use.RLock()
		if !m.tree.closed {
			return m, fault, changed, m.tree.use.RUnlock
		}
		m.tree.use.RUnlock()
	}
}

// settle is how long nothing must change before the whole site is looked through.
const settle = 150 * time.Millisecond

// Watch follows the folder until ctx ends. The error is about watching it.
func (s *Server) Watch(ctx context.Context) error {
	w, err := newWatcher(s.opt.Dir, s.opt.Log)
	if err != nil {
		return err
	}
	defer w.close()
	changes := make(chan []string)
	var workers sync.WaitGroup
	defer workers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers.Go(func() { w.run(ctx, changes) })
	again := make(chan struct{}, 1)
	workers.Go(func() { s.surveys(ctx, again) })
	workers.Go(func() { s.readTimes(ctx, again) })
	again <- struct{}{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case names, ok := <-changes:
			if !ok {
				return w.err
			}
			s.change(ctx, names)
			select {
			case again <- struct{}{}:
			default:
			}
		}
	}
}

// change follows a change of these files; nil are any.
func (s *Server) change(ctx context.Context, names []string) {
	m, fault, _, done := s.view()
	if m != nil {
		m.live.Changed(names)
	}
	if m != nil && fault == nil && len(names) > 0 && s.small(m, names) {
		next := *m
		next.live = m.live.Again()
		done()
		s.set(&next)
		return
	}
	done()
	s.assets.Add(1)
	if err := s.reread(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.LogAttrs(ctx, slog.LevelError, "the site could not be read", slog.Any("error", err))
	}
}

// reread reads the site, which may change meanwhile: files go as they are read.
func (s *Server) reread(ctx context.Context) (err error) {
	for range 5 {
		if err = s.read(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// small reports whether a change of files leaves the navigation and the list of files
// as they are.
func (s *Server) small(m *moment, names []string) bool {
	files := m.live.Site().Files
	loaded := false
	for _, name := range names {
		if _, ok := slices.BinarySearch(m.tree.Paths, name); !ok {
			return false
		}
		if _, err := fs.Stat(m.tree, name); err != nil {
			return false
		}
		switch path.Ext(name) {
		case ".mdx", ".md":
			if !m.live.SameHead(name) {
				return false
			}
		case ".json", ".yaml", ".yml":
			return false
		default:
			loaded = loaded || slices.Contains(files, name)
		}
	}
	if loaded {
		s.assets.Add(1)
	}
	return true
}

// surveys looks through the whole site after changes.
func (s *Server) surveys(ctx context.Context, again <-chan struct{}) {
	first := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
		}
		for quiet := first; !quiet; {
			select {
			case <-ctx.Done():
				return
			case <-again:
			case <-time.After(settle):
				quiet = true
			}
		}
		if !first {
			if err := s.reread(ctx); err != nil {
				s.opt.Log.LogAttrs(ctx, slog.LevelError, "the site could not be read", slog.Any("error", err))
				continue
			}
		}
		first = false
		s.survey(ctx, again)
	}
}

// errSuperseded ends a survey of a site that changed meanwhile.
var errSuperseded = errors.New("the site changed")

// survey looks through the whole site.
func (s *Server) survey(ctx context.Context, again <-chan struct{}) {
	m, fault, _, done := s.view()
	defer done()
	if fault != nil || m == nil {
		if fault != nil && s.opt.Report != nil {
			s.opt.Report(Report{Fault: fault, Line: func(string, int) string { return fault.Excerpt }})
		}
		return
	}
	m.live.Warm()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found, err := m.live.Survey(ctx, func() {
		for s.busy.Load() > 0 { // readers first
			time.Sleep(time.Millisecond)
		}
		if len(again) > 0 {
			cancel(errSuperseded)
		}
		runtime.Gosched()
	})
	if err != nil {
		if ctx.Err() == nil {
			s.opt.Log.LogAttrs(ctx, slog.LevelError, "the site could not be looked through", slog.Any("error", err))
		}
		return
	}
	s.mu.Lock()
	if s.now != nil && s.now.tree == m.tree {
		next := *s.now
		next.survey, next.surveyed = found, m.live
		s.now = &next
		s.tell()
	}
	s.mu.Unlock()
	if s.opt.Report != nil {
		s.opt.Report(Report{Findings: found.Findings, Counts: found.Counts, Pages: found.Pages, Line: lines(m.tree)})
	}
}

// readTimes asks Git when files were committed, which may take long.
func (s *Server) readTimes(ctx context.Context, again chan<- struct{}) {
	m, _, _, done := s.view()
	if m == nil {
		return
	}
	times, err := m.tree.Modified(ctx)
	done()
	if err != nil {
		s.opt.Log.LogAttrs(ctx, slog.LevelWarn, "Git could not be asked for times", slog.Any("error", err))
	}
	if len(times) == 0 {
		return
	}
	s.mu.Lock()
	s.times = times
	s.mu.Unlock()
	select {
	case again <- struct{}{}:
	default:
	}
}
