// Command startagentjob is the Lambda function for
// POST /v2/agent/{projectId}/job.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/ready"
	"github.com/bindery-docs/bindery/functions/internal/wire/runner"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("startagentjob", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "startAgentJob", nil, ready.Open, runner.Open)
}
