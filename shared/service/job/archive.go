package job

import (
	"context"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Bounds of one call of Reconcile: what is left is due in the next one.
const (
	maxPulls  = 20               // pull requests that are asked for
	pullTime  = 30 * time.Second // for one of them
	pullsTime = 2 * time.Minute  // until the last one is asked for
)

// archive archives the agent jobs that are due.
func (k *Keeper) archive(ctx context.Context) error {
	var look admin.PullLook
	if k.opt.Pull != nil {
		asked, until := 0, k.opt.Now().Add(pullsTime)
		look = func(ctx context.Context, j admin.AgentJob) (time.Time, bool, error) {
			if asked == maxPulls || k.opt.Now().After(until) {
				return time.Time{}, false, admin.ErrEnough
			}
			asked++
			asking, cancel := context.WithTimeout(ctx, pullTime)
			defer cancel()
			out, err := k.opt.Pull(asking, j.Current())
			if err == nil || ctx.Err() != nil {
				return out.ClosedAt, true, ctx.Err()
			}
			k.opt.Log.WarnContext(ctx, "the pull request of an agent job was not found out about", "job", j.ID, "error", err)
			return time.Time{}, false, nil
		}
	}
	return k.opt.Admin.ArchiveAgents(ctx, look)
}
