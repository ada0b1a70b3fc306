// Command agentpublish is the step of the agent's workflow that pushes the
// changes and opens the pull request. It starts no execution: the next round of a
// job that got a message too late is the reconciler's to start.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/pulls"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("agentpublish", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, steps, err := pulls.Steps(f)
	if err != nil {
		return nil, err
	}
	return w.Step(job.Task(steps.Publish)), nil
}
