// Command restoresnapshot is the Lambda function for
// POST /v1/sites/{domain}/snapshots/{snapshotId}/restore.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("restoresnapshot", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "restoreSnapshot", []string{config.SourcesBucket}, objects.Open)
}
