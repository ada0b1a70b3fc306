// Command getagentjob is the Lambda function behind
// GET /v2/agent/{projectId}/job/{id}.
package main

import (
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
)

func main() { cloud.Main("getagentjob", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table)
	if err != nil {
		return nil, err
	}
	aws, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	service := admin.New(admin.Options{Store: dynamo.New(aws, dynamo.Options{Table: env.Table}), Log: f.Log})
	return f.HTTP(env.Stage, api.HeaderErrorCode, api.Alone(api.Options{Admin: service, Log: f.Log, Annotate: cloud.Annotate}, "getAgentJob")), nil
}
