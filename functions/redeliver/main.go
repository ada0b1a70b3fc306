// Command redeliver is the Lambda function for
// POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("redeliver", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "redeliver", nil)
}
