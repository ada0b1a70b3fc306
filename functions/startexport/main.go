// Command startexport is the Lambda function behind
// POST /v1/static-export/jobs.
package main

import (
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
)

func main() { cloud.Main("startexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table, config.StateMachine)
	if err != nil {
		return nil, err
	}
	aws, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	service := admin.New(admin.Options{
		Store:      dynamo.New(aws, dynamo.Options{Table: env.Table}),
		Runner:     sfnrun.New(aws, sfnrun.Options{StateMachine: env.StateMachine}),
		MaxRunning: env.MaxRunning,
		Log:        f.Log,
	})
	return f.HTTP(env.Stage, api.HeaderErrorCode, api.Alone(api.Options{Admin: service, Log: f.Log, Annotate: cloud.Annotate}, "startExport")), nil
}
