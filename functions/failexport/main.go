// Command failexport is the step of the export workflow that marks a job as
// failed. The workflow calls it, and so does the event rule for executions that
// ended without having come that far.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("failexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, []string{config.ExportsBucket}, objects.Open)
	if err != nil {
		return nil, err
	}
	keeper := job.NewKeeper(job.Options{Admin: w.Admin, Objects: w.Objects, Log: f.Log, Annotate: cloud.Annotate})
	return w.Step(cloud.ExecutionEnded(job.Task(job.Silent(keeper.Fail)))), nil
}
