// Command agentwork is the step of the agent's workflow that asks the model and
// does what it says.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/works"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("agentwork", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, steps, err := works.Steps(f)
	if err != nil {
		return nil, err
	}
	return w.Step(job.Task(steps.Work)), nil
}
