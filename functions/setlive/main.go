// Command setlive is the Lambda function for
// PUT /v1/sites/{domain}/live.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("setlive", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "setLive", []string{config.ExportsBucket}, objects.Open)
}
