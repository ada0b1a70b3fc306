// Package asked provides functions with what another one knows of pull requests: one
// that can open the credentials of forges.
package asked

import (
	"context"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/invoke"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// Pull returns job.Options.Pull: nil where no function is named.
func Pull(w *wire.Wiring) func(context.Context, admin.AgentRef) (job.PullOutput, error) {
	if w.Env.PullFunction == "" {
		return nil
	}
	return func(ctx context.Context, ref admin.AgentRef) (out job.PullOutput, err error) {
		err = invoke.Function(ctx, w.AWS, w.Env.PullFunction, job.PullInput{AgentRef: ref, Pull: true}, &out)
		return out, err
	}
}
