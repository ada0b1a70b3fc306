// Command agentreview is the step of the agent's workflow that renders the changed pages
// and records their hosts and code.
package main

import (
	"os"

	"github.com/bindery-docs/bindery/functions/internal/wire/reviews"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	cloud.Main("agentreview", handler)
}

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, steps, err := reviews.Steps(f)
	if err != nil {
		return nil, err
	}
	return w.Step(job.Task(steps.Review)), nil
}
