// Command listlive is the Lambda function for
// GET /v1/sites/{domain}/live/history.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("listlive", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "listLive", nil)
}
