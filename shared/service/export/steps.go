package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/export/upkeep"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options are what the steps work with. Admin and Objects are required; Runner
// is needed by Reconcile alone.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	Runner  store.Runner
	// Log gets what callers must not see; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil means time.Now. It is never part of a bundle.
	Now func() time.Time

	// Shards, if above 0, is how many shards a plan has, as far as there are
	// units for them. By default the site's weight decides.
	Shards int
	// Concurrency is how many units are rendered at the same time in this
	// process, over all jobs; 0 means GOMAXPROCS.
	Concurrency int
	// Annotate, if not nil, is told facts of the step that ctx belongs to, for
	// logs and metrics: its organisation, and how many pages and bytes it
	// wrote ("organisation", "pages", "bytes").
	Annotate func(ctx context.Context, facts ...slog.Attr)
	// Islands shows what of pages needs JavaScript; nil leaves it out.
	Islands page.Islands
	// Fetcher fetches files of the hosts that projects allow; nil fetches none.
	// Plan alone needs it.
	Fetcher Fetcher
	// Renderer replaces the digest of this program; for tests.
	Renderer string
	// MaxAge is how long an execution may take before Reconcile ends it;
	// 0 means seven hours, one more than the workflow's own limit.
	MaxAge time.Duration
	// SweepEvery is how often Reconcile looks for objects that nothing refers
	// to; 0 means every six hours, below 0 never.
	SweepEvery time.Duration
}

// Steps are the steps of the export workflow, and what looks after exports
// beside them. They may run at the same time.
type Steps struct {
	*upkeep.Keeper

	admin    *admin.Service
	objects  store.Objects
	log      *slog.Logger
	now      func() time.Time
	shards   int
	renderer string

	highlighter *highlight.Highlighter
	registry    *component.Registry
	icons       *icons.Set
	scripts     *script.Engine
	islands     page.Islands
	fetcher     Fetcher
	units       bundle.Writers
	slots       chan struct{} // one for each unit that may be in work
	buffers     sync.Pool     // of *bytes.Buffer
	documents   sync.Pool     // of *[]byte
	sources     sourceCache

	annotate func(context.Context, ...slog.Attr)
}

// New makes the steps.
func New(opt Options) *Steps {
	s := &Steps{
		admin: opt.Admin, objects: opt.Objects, log: opt.Log, now: opt.Now,
		shards: opt.Shards, renderer: opt.Renderer, islands: opt.Islands, fetcher: opt.Fetcher,
		highlighter: highlight.New(highlight.Options{CacheBytes: highlightCacheBytes}), registry: component.Builtin(), icons: icons.New(),
	}
	if s.log == nil {
		s.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	s.scripts = script.New(script.Options{Log: s.log})
	if s.now == nil {
		s.now = time.Now
	}
	s.annotate = opt.Annotate
	if s.annotate == nil {
		s.annotate = func(context.Context, ...slog.Attr) {}
	}
	if s.renderer == "" {
		s.renderer = Renderer()
	}
	n := opt.Concurrency
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	s.slots = make(chan struct{}, n)
	s.Keeper = upkeep.New(upkeep.Options{
		Admin: opt.Admin, Objects: opt.Objects, Runner: opt.Runner, Log: s.log, Now: s.now,
		MaxAge: opt.MaxAge, SweepEvery: opt.SweepEvery,
	})
	return s
}

// PlanInput is what the workflow begins with.
type PlanInput struct {
	JobID string `json:"jobId"`
}

// PlanOutput is what Plan hands to the steps behind it. Shards are numbered
// from 1.
type PlanOutput struct {
	JobID    string `json:"jobId"`
	Renderer string `json:"renderer"`
	Shards   []int  `json:"shards"`
}

// RenderInput names the shard to render.
type RenderInput struct {
	JobID    string `json:"jobId"`
	Renderer string `json:"renderer"`
	Shard    int    `json:"shard"`
}

// AssembleInput names the job to finish.
type AssembleInput struct {
	JobID    string `json:"jobId"`
	Renderer string `json:"renderer"`
}

// FailInput tells of an error that the workflow caught.
type FailInput = upkeep.FailInput

// ErrorNames is an error in the words of the States Language.
type ErrorNames = upkeep.ErrorNames

// Names of the steps in Tasks.
const (
	TaskPlan     = "plan"
	TaskRender   = "render"
	TaskAssemble = "assemble"
	TaskFail     = "fail"
)

// Tasks gives the steps by name in the form in which a workflow calls them:
// JSON in, JSON out. Errors have a code (store.Coded).
func (s *Steps) Tasks() map[string]func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	return map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){
		TaskPlan: task(s.Plan),
		TaskRender: task(func(ctx context.Context, in RenderInput) (struct{}, error) {
			return struct{}{}, s.Render(ctx, in)
		}),
		TaskAssemble: task(func(ctx context.Context, in AssembleInput) (struct{}, error) {
			return struct{}{}, s.Assemble(ctx, in)
		}),
		TaskFail: func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			return s.FailTask(ctx, input)
		},
	}
}

func task[In, Out any](fn func(context.Context, In) (Out, error)) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, admin.Errorf(admin.CodeInternal, "a step got an input that it can't read").Wrap(err)
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// Keys of a job's objects.

func jobPrefix(job string) string      { return upkeep.Prefix(job) }
func siteKey(job string) string        { return jobPrefix(job) + "site.json" }
func diagnosticsKey(job string) string { return jobPrefix(job) + "diagnostics.jsonl" }
func shardKey(job string, n int) string {
	return fmt.Sprintf("%sshards/%d.json", jobPrefix(job), n)
}
func unitsKey(job string, n int) string { return fmt.Sprintf("%sunits/%d.gz", jobPrefix(job), n) }
func filesKey(job string, n int) string { return fmt.Sprintf("%sfiles/%d.jsonl", jobPrefix(job), n) }
func factsKey(job string, n int) string { return fmt.Sprintf("%sfacts/%d.jsonl", jobPrefix(job), n) }

// BundleKey is the object that a job's bundle is.
func BundleKey(job string) string { return upkeep.BundleKey(job) }
