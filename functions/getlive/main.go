// Command getlive is the Lambda function for
// GET /v1/sites/{domain}/live.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("getlive", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "getLive", nil)
}
