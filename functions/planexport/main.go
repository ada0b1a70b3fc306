// Command planexport is the first step of the export workflow: it reads the
// site and cuts it into shards.
package main

import (
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("planexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table, config.SourcesBucket, config.ExportsBucket)
	if err != nil {
		return nil, err
	}
	aws, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	db := dynamo.New(aws, dynamo.Options{Table: env.Table})
	objects := s3store.New(aws, s3store.Options{Sources: env.SourcesBucket, Exports: env.ExportsBucket})
	service := admin.New(admin.Options{Store: db, Objects: objects, Log: f.Log})
	steps := export.New(export.Options{Admin: service, Objects: objects, Fetcher: remote.New(remote.Options{Log: f.Log}), Log: f.Log, Annotate: cloud.Annotate})
	return f.Step(env.Stage, job.Task(steps.Plan)), nil
}
