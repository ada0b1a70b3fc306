package export

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options are what the steps work with. Admin and Objects are required, save for
// Live.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	// Log gets what callers must not see; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil means time.Now. It is never part of a bundle.
	Now func() time.Time

	// Shards, if above 0, is how many shards a plan has, as far as there are
	// units for them. By default the site's weight decides.
	Shards int
	// ShardWeight is the weight of a shard, in bytes of sources, about; 0 means 3 MiB.
	ShardWeight int64
	// MostShards, if above 0, is how many shards a plan has at most: for a machine
	// alone, where a shard more brings nothing but more objects.
	MostShards int
	// Concurrency is how many units are rendered at the same time in this
	// process, over all jobs; 0 means GOMAXPROCS.
	Concurrency int
	// MaxBundleBytes is the most that a bundle may have; 0 means the limit of
	// that name.
	MaxBundleBytes int64
	// PartBytes is the size of the parts of a bundle that has several; 0 means
	// 32 MiB.
	PartBytes int64
	// PartsACall is how many parts a call of Assemble writes before it asks for
	// another one; 0 means as many as there is time for.
	PartsACall int
	// Annotate, if not nil, is called with facts of the step that ctx belongs to, for
	// logs and metrics: its organisation, and how many pages and bytes it
	// wrote ("organisation", "pages", "bytes").
	Annotate func(ctx context.Context, facts ...slog.Attr)
	// Begin, if not nil, is told what is about to be worked on, a page by its
	// source or another part of a step, and ended once that is done: of a
	// process that died, what it was at is known.
	Begin func(place string) (ended func())
	// Islands shows what of pages needs JavaScript; nil leaves it out.
	Islands page.Islands
	// Fetcher fetches files of the hosts that projects allow; nil fetches none.
	// Plan alone needs it.
	Fetcher Fetcher
	// Kept keeps what pages are made into from one export of a site to the next. It
	// is for exports of one site of one organisation; nil keeps nothing.
	Kept *kept.Store
	// ByReference has shards name the units that lie in Kept instead of writing them
	// once more. It is for jobs that end with the process, one at a time: whoever
	// sweeps the folder takes the units away.
	ByReference bool
	// KeepInObjects keeps the values of each project among Objects, where Kept is
	// nil.
	KeepInObjects bool
	// Renderer replaces the digest of this program: one that was found before.
	Renderer string
}

// Steps are the steps of the export workflow. They may run at the same time.
type Steps struct {
	opt Options // with what its zero fields mean

	highlighter *highlight.Highlighter
	registry    *component.Registry
	icons       *icons.Set
	scripts     *script.Engine
	diagrams    *diagram.Drawer
	units       bundle.Writers
	slots       chan struct{} // one for each unit that may be in work
	buffers     sync.Pool     // of *bytes.Buffer
	documents   sync.Pool     // of *[]byte
	sources     sourceCache
	planned     atomic.Pointer[planned]
	whole       atomic.Int64 // units that were taken as they were kept, for tests
}

// New makes the steps.
func New(opt Options) *Steps {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	opt.MaxBundleBytes = cmp.Or(opt.MaxBundleBytes, MaxBundleBytes)
	opt.PartBytes = cmp.Or(opt.PartBytes, job.BundlePart)
	opt.ShardWeight = cmp.Or(opt.ShardWeight, shardWeight)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Annotate == nil {
		opt.Annotate = func(context.Context, ...slog.Attr) {}
	}
	if opt.Begin == nil {
		opt.Begin = func(string) func() { return func() {} }
	}
	if opt.Renderer == "" {
		opt.Renderer = Renderer()
	}
	return &Steps{
		opt:         opt,
		highlighter: highlight.New(highlight.Options{CacheBytes: highlightCacheBytes}),
		registry:    component.NewRegistry(append(component.Builtin().All(), frame.Components()...)...),
		icons:       icons.New(),
		scripts:     script.New(),
		diagrams:    diagram.New(),
		slots:       make(chan struct{}, cmp.Or(max(opt.Concurrency, 0), runtime.GOMAXPROCS(0))),
	}
}

// Tasks returns the steps by name in the form in which a workflow calls them:
// JSON in, JSON out. Errors have a code (store.Coded). What fails jobs is a
// job.Keeper's.
func (s *Steps) Tasks() map[string]func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	return map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){
		job.TaskPlan:     job.Task(s.Plan),
		job.TaskRender:   job.Task(job.Silent(s.Render)),
		job.TaskAssemble: job.Task(s.Assemble),
	}
}
