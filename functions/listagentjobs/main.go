// Command listagentjobs is the Lambda function for
// GET /v2/agent/{projectId}/jobs.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("listagentjobs", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "listAgentJobs", nil)
}
