// Command messageagentjob is the Lambda function for
// POST /v2/agent/{projectId}/job/{id}/message.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/ready"
	"github.com/bindery-docs/bindery/functions/internal/wire/runner"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("messageagentjob", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "messageAgentJob", nil, ready.Open, runner.Open)
}
