// Command deletewebhook is the Lambda function for
// DELETE /v1/webhooks/{id}.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("deletewebhook", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "deleteWebhook", nil)
}
