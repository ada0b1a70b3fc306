// Command reconcile is called by a schedule. It looks after jobs and objects
// that events and steps may have missed.
package main

import (
	"context"
	"encoding/json"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/asked"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/functions/internal/wire/runner"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("reconcile", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, []string{config.SourcesBucket, config.ExportsBucket, config.StateMachine}, objects.Open, runner.Open)
	if err != nil {
		return nil, err
	}
	keeper := job.NewKeeper(job.Options{Admin: w.Admin, Objects: w.Objects, Runner: w.Runner, Pull: asked.Pull(w), BundleDays: w.Env.BundleDays, Log: f.Log, Annotate: cloud.Annotate})
	return w.Step(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return nil, keeper.Reconcile(ctx)
	}), nil
}
