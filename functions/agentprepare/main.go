// Command agentprepare is the step of the agent's workflow that reads the
// repository. The reconciler, which has no credential of a forge, asks it for pull
// requests.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/pulls"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("agentprepare", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, steps, err := pulls.Steps(f)
	if err != nil {
		return nil, err
	}
	return w.Step(steps.Tasks()[job.TaskAgentPrepare]), nil
}
