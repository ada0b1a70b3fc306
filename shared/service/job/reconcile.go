package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// settling is how long after an execution's end its job may still be moving:
// the record of one and the state of the other are written apart.
const settling = 2 * time.Minute

// Reconcile looks after what events and steps may have missed: it starts jobs
// that have no execution, fails those whose execution ended or takes too long,
// archives agent jobs by their age or their pull request, adds up calls of the API, and now and then
// sweeps objects that nothing refers to. It goes on past
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
	queues := map[string]bool{} // organisations with jobs that wait for a place
	err = k.opt.Admin.ActiveAgents(ctx, func(job admin.AgentJob) error {
		if job.Queued {
			queues[job.Organisation] = true
			return ctx.Err()
		}
		if err := k.reconcileAgent(ctx, job); err != nil {
			faults = append(faults, fmt.Errorf("agent job %s: %w", job.ID, err))
		}
		return ctx.Err()
	})
	for organisation := range queues {
		if err := k.opt.Admin.AdmitAgents(ctx, organisation); err != nil {
			faults = append(faults, fmt.Errorf("agent jobs of %s: %w", organisation, err))
		}
	}
	if err == nil {
		err = k.archive(ctx)
	}
	faults = append(faults, err)
	_, err = k.opt.Admin.SettleCalls(ctx)
	faults = append(faults, err, k.sweepSome(ctx))
	return errors.Join(faults...)
}

func (k *Keeper) reconcile(ctx context.Context, job admin.ExportJob) error {
	verdict, err := k.judge(ctx, store.WorkflowExport, job.ID, job.Status == admin.ExportQueued)
	switch {
	case err != nil || verdict == fine:
		return err
	case verdict == notStarted:
		return k.opt.Admin.Restart(ctx, job)
	}
	return k.end(ctx, job, fmt.Sprintf(string(verdict), "export"))
}

func (k *Keeper) reconcileAgent(ctx context.Context, job admin.AgentJob) error {
	ref := job.Current()
	verdict, err := k.judge(ctx, store.WorkflowAgent, ref.Execution(), job.Phase == admin.AgentQueued)
	switch {
	case err != nil || verdict == fine:
		return err
	case verdict == notStarted:
		return k.opt.Admin.RestartAgent(ctx, ref)
	}
	message := fmt.Sprintf(string(verdict), "agent")
	err = k.opt.Admin.FailAgent(ctx, ref, admin.CodeInternal, message)
	if admin.CodeOf(err) == admin.CodeJobNotActive {
		return nil
	}
	if err != nil {
		return err
	}
	k.opt.Annotate(ctx, slog.Int("agentFaults", 1))
	return k.opt.Runner.Stop(ctx, store.WorkflowAgent, ref.Execution(), message)
}

// verdict is what is to become of a job by its execution: it is fine, it has to
// be started, or it ends with these words about what it is.
type verdict string

const (
	fine       verdict = ""
	notStarted verdict = "not started"
	// A running job's execution can only be gone with its history, which is kept
	// longer than any takes.
	lost    verdict = "the workflow of the %s is gone"
	tooLong verdict = "the %s took too long"
	ended   verdict = "the workflow of the %s ended before it was done"
)

func (k *Keeper) judge(ctx context.Context, workflow, name string, queued bool) (verdict, error) {
	execution, err := k.opt.Runner.Status(ctx, workflow, name)
	switch {
	case errors.Is(err, store.ErrNotFound) && queued:
		return notStarted, nil
	case errors.Is(err, store.ErrNotFound):
		return lost, nil
	case err != nil:
		return fine, err
	}
	now := k.opt.Now()
	if execution.State == store.Running {
		if now.Sub(execution.StartedAt) > k.opt.MaxAge {
			return tooLong, nil
		}
		return fine, nil
	}
	if now.Sub(execution.StoppedAt) < settling {
		return fine, nil
	}
	k.opt.Log.WarnContext(ctx, "an execution ended without its job", "execution", name, "state", execution.State, "error", execution.Error, "cause", execution.Cause)
	return ended, nil
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
	if err := k.opt.Runner.Stop(ctx, store.WorkflowExport, job.ID, message); err != nil {
		return err
	}
	k.clear(ctx, job.ID)
	return nil
}
