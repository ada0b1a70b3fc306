// Command failexport is the step of the export workflow that marks a job as
// failed. The workflow calls it, and so does the event rule for executions that
// ended without having come that far.
package main

import (
	"context"
	"encoding/json"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("failexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table, config.ExportsBucket)
	if err != nil {
		return nil, err
	}
	aws, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	db := dynamo.New(aws, dynamo.Options{Table: env.Table})
	objects := s3store.New(aws, s3store.Options{Exports: env.ExportsBucket})
	service := admin.New(admin.Options{Store: db, Objects: objects, Log: f.Log})
	keeper := job.NewKeeper(job.Options{Admin: service, Objects: objects, Log: f.Log})
	fail := job.Task(job.Silent(keeper.Fail))
	return f.Step(env.Stage, func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		input, err := cloud.ExecutionEnded(input)
		if err != nil {
			return nil, err
		}
		return fail(ctx, input)
	}), nil
}
