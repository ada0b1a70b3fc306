package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// settling is how long after an execution's end its job may still be moving:
// the record of one and the state of the other are written apart.
const settling = 2 * time.Minute

// Reconcile looks after what events and steps may have missed: it starts jobs
// that have no execution, fails those whose execution ended or takes too long,
// adds up calls of the API, and now and then sweeps objects that nothing refers to. It goes on past
// single failures and returns them joined.
func (k *Keeper) Reconcile(ctx context.Context) error {
	if k.opt.Runner == nil {
		return errors.New("reconcile needs a workflow runner")
	}
	var faults []error
	err := k.opt.Admin.ActiveExports(ctx, func(job admin.ExportJob) error {
		if err := k.reconcile(ctx, job); err != nil {
			faults = append(faults, fmt.Errorf("job %s: %w", job.ID, err))
		}
		return ctx.Err()
	})
	if err != nil {
		faults = append(faults, err)
	}
	_, err = k.opt.Admin.SettleCalls(ctx)
	faults = append(faults, err, k.sweepSome(ctx))
	return errors.Join(faults...)
}

func (k *Keeper) reconcile(ctx context.Context, job admin.ExportJob) error {
	now := k.opt.Now()
	execution, err := k.opt.Runner.Status(ctx, job.ID)
	if errors.Is(err, store.ErrNotFound) {
		if job.Status == admin.ExportQueued {
			return k.opt.Admin.Restart(ctx, job)
		}
		// A running job's execution can only be gone with its history, which
		// is kept longer than any export takes.
		return k.end(ctx, job, "the workflow of the export is gone")
	}
	if err != nil {
		return err
	}
	if execution.State == store.Running {
		if now.Sub(execution.StartedAt) > k.opt.MaxAge {
			return k.end(ctx, job, "the export took too long")
		}
		return nil
	}
	if now.Sub(execution.StoppedAt) < settling {
		return nil
	}
	k.opt.Log.WarnContext(ctx, "an execution ended without its job", "job", job.ID, "state", execution.State, "error", execution.Error, "cause", execution.Cause)
	return k.end(ctx, job, "the workflow of the export ended before it was done")
}

// end fails a job and stops its execution.
func (k *Keeper) end(ctx context.Context, job admin.ExportJob, message string) error {
	err := k.opt.Admin.FailExport(ctx, job.ID, admin.CodeInternal, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		return err
	}
	k.countFault(ctx, job.ID)
	if err := k.opt.Runner.Stop(ctx, job.ID, message); err != nil {
		return err
	}
	Clean(ctx, k.opt.Objects, k.opt.Log, job.ID, "")
	return nil
}
