// Command getagentjob is the Lambda function for
// GET /v2/agent/{projectId}/job/{id}.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("getagentjob", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "getAgentJob", nil)
}
