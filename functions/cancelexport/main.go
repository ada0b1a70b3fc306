// Command cancelexport is the Lambda function for
// POST /v1/static-export/jobs/{jobId}/cancel.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/runner"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("cancelexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "cancelExport", []string{config.StateMachine}, runner.Open)
}
