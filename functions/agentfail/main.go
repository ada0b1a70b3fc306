// Command agentfail is the step of the agent's workflow that marks a round as
// failed. The workflow calls it, and so does the event rule for executions that
// ended without having come that far.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("agentfail", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, nil)
	if err != nil {
		return nil, err
	}
	keeper := job.NewKeeper(job.Options{Admin: w.Admin, Log: f.Log, Annotate: cloud.Annotate})
	return w.Step(cloud.ExecutionEnded(job.Task(job.Silent(keeper.FailAgent)))), nil
}
