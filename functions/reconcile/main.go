// Command reconcile is called by a schedule. It looks after jobs and objects
// that events and steps may have missed.
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
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("reconcile", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table, config.SourcesBucket, config.ExportsBucket, config.StateMachine)
	if err != nil {
		return nil, err
	}
	aws, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	db := dynamo.New(aws, dynamo.Options{Table: env.Table})
	objects := s3store.New(aws, s3store.Options{Sources: env.SourcesBucket, Exports: env.ExportsBucket})
	runner := sfnrun.New(aws, sfnrun.Options{StateMachine: env.StateMachine})
	service := admin.New(admin.Options{Store: db, Objects: objects, Runner: runner, Log: f.Log})
	keeper := job.NewKeeper(job.Options{Admin: service, Objects: objects, Runner: runner, Log: f.Log})
	return f.Step(env.Stage, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return nil, keeper.Reconcile(ctx)
	}), nil
}
