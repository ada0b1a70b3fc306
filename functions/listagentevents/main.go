// Command listagentevents is the Lambda function for
// GET /v2/agent/{projectId}/job/{id}/events.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("listagentevents", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "listAgentEvents", nil)
}
