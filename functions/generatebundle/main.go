// Command generatebundle is the Lambda function for
// POST /v1/static-export/jobs/{jobId}/bundle. The link is signed by a role that
// may read bundles and do nothing else.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("generatebundle", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "generateBundle", []string{config.ExportsBucket, config.SignerRole}, objects.Open)
}
