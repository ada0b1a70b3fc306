// Command assemblebundle is the last step of the export workflow: it makes the
// bundle and completes the job.
package main

import (
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("assemblebundle", handler) }

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
	steps := export.New(export.Options{Admin: service, Objects: objects, Log: f.Log, Annotate: cloud.Annotate})
	return f.Step(env.Stage, job.Task(job.Silent(steps.Assemble))), nil
}
