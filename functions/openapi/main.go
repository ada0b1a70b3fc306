// Command openapi is the Lambda function of GET /openapi.json: the
// document, to everybody.
package main

import (
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

func main() { cloud.Main("openapi", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	return f.HTTP(env.Stage, api.HeaderErrorCode, api.DocumentHandler(api.Options{Annotate: cloud.Annotate})), nil
}
