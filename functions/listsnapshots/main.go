// Command listsnapshots is the Lambda function for
// GET /v1/sites/{domain}/snapshots.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("listsnapshots", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "listSnapshots", nil)
}
