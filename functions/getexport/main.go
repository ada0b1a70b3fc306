// Command getexport is the Lambda function for
// GET /v1/static-export/jobs/{jobId}.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("getexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "getExport", nil)
}
