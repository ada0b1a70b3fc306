// Command rendershard is the step of the export workflow that renders a shard.
package main

import (
	"os"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() {
	if island.IsWorker(os.Getenv) {
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	cloud.Main("rendershard", handler)
}

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
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	islands := island.New(island.Options{Program: program, Log: f.Log})
	steps := export.New(export.Options{Admin: service, Objects: objects, Islands: islands, Log: f.Log, Annotate: cloud.Annotate})
	return f.Step(env.Stage, job.Task(job.Silent(steps.Render))), nil
}
