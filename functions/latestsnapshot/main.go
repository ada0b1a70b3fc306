// Command latestsnapshot is the Lambda function for
// GET /v1/sites/{domain}/snapshots/latest.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("latestsnapshot", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "getLatestSnapshot", []string{config.SourcesBucket}, objects.Open)
}
