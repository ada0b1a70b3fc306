// Command listdeliveries is the Lambda function for
// GET /v1/webhooks/{id}/deliveries.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire/answer"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("listdeliveries", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	return answer.Operation(f, "listDeliveries", nil)
}
