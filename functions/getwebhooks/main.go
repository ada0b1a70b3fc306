// Command getwebhooks is the Lambda function for
// GET /v1/webhooks.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("getwebhooks", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "getWebhooks", nil)
}
