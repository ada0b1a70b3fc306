// Package invoke calls Lambda functions and waits for their answers. A call is one
// signed request: the SDK's client would be a part of each cold start of a function
// that makes it seldom.
package invoke

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
)

// maxAnswer bounds an answer, in bytes: it is Lambda's own bound.
const maxAnswer = 6 << 20

// Function invokes a function by its name with cfg's credentials, and reads what it
// returns into out, a pointer. It doesn't try again. Its errors are those of the
// network, Lambda's refusals, and the function's own, of which they hold type and
// message.
func Function(ctx context.Context, cfg aws.Config, name string, in, out any) error {
	if err := function(ctx, cfg, name, in, out); err != nil {
		return fmt.Errorf("invoke the function %s: %w", name, err)
	}
	return nil
}

func function(ctx context.Context, cfg aws.Config, name string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	res, err := awsconfig.Post(ctx, cfg, "lambda", "/2015-03-31/functions/"+name+"/invocations", http.Header{"Content-Type": {"application/json"}}, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	kind := res.Header.Get("X-Amz-Function-Error")
	switch {
	case res.StatusCode >= 300:
		return fmt.Errorf("%s %s", res.Status, res.Header.Get("X-Amzn-Errortype"))
	case kind != "":
		var fault struct {
			Type    string `json:"errorType"`
			Message string `json:"errorMessage"`
		}
		_ = json.Unmarshal(raw, &fault) // one that died may say nothing
		return fmt.Errorf("%s: %s", cmp.Or(fault.Type, kind), fault.Message)
	}
	return json.Unmarshal(raw, out)
}
