package job

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options are what a Keeper works with. Admin is required, Objects for all but
// FailAgent; Runner is needed by Reconcile alone.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	Runner  store.Runner
	// Pull asks the forge of a final agent job for its pull request. It is a step
	// of the agent's: a Keeper has no credential of a forge. nil means that nobody
	// asks, and jobs are archived by their age alone.
	Pull func(ctx context.Context, ref admin.AgentRef) (PullOutput, error)
	// Log gets what callers must not see; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// MaxAge is how long an execution may take before Reconcile ends it;
	// 0 means seven hours, one more than the workflow's own limit.
	MaxAge time.Duration
	// SweepEvery is how often Reconcile looks for objects that nothing refers
	// to; 0 means every six hours, below 0 never.
	SweepEvery time.Duration
	// BundleDays is after how many days bundles go of projects that say nothing of it;
	// 0 means that they stay.
	BundleDays int
	// Annotate, if not nil, gets what a Keeper counts: "exportFaults", jobs that
	// failed by no fault of their site; "agentFaults", rounds of agents that did; "sweepAge", in seconds since when
	// something may wait for a sweep; and "sweepFailures".
	Annotate func(ctx context.Context, attrs ...slog.Attr)
}

// Keeper looks after exports and agent jobs. It is safe for concurrent use.
type Keeper struct{ opt Options }

// NewKeeper makes a Keeper.
func NewKeeper(opt Options) *Keeper {
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Annotate == nil {
		opt.Annotate = func(context.Context, ...slog.Attr) {}
	}
	opt.MaxAge = cmp.Or(opt.MaxAge, 7*time.Hour)
	opt.SweepEvery = cmp.Or(opt.SweepEvery, 6*time.Hour)
	return &Keeper{opt}
}

// Clean removes what a job that is final no longer needs: all its objects but
// its findings and keep, the bundle of one that is completed, with the list of what
// it changed. What it misses goes
// to the log, and costs storage until the next sweep, nothing else.
func Clean(ctx context.Context, objects store.Objects, log *slog.Logger, job, keep string) {
	for {
		list, err := objects.List(ctx, Prefix(job), "", 1000)
		var keys []string
		for _, o := range list {
			if o.Key != keep && o.Key != admin.FindingsKey(job) && (keep == "" || o.Key != admin.ChangesKey(job)) {
				keys = append(keys, o.Key)
			}
		}
		if err == nil && len(keys) > 0 {
			err = objects.Delete(ctx, keys...)
		}
		if err != nil {
			log.WarnContext(ctx, "the parts of an export were not removed", "job", job, "error", err)
		}
		if err != nil || len(keys) == 0 {
			return
		}
	}
}
