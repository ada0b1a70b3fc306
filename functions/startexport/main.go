// Command startexport is the Lambda function for
// POST /v1/static-export/jobs.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/runner"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("startexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "startExport", []string{config.StateMachine}, runner.Open)
}
