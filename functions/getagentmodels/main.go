// Command getagentmodels is the Lambda function for
// GET /v2/agent/{projectId}/models.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/named"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("getagentmodels", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "getAgentModels", nil, named.Open)
}
