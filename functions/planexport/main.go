// Command planexport is the first step of the export workflow: it reads the
// site and cuts it into shards.
package main

import (
	"github.com/bindery-docs/bindery/shared/admin"
	"github.com/bindery-docs/bindery/shared/cloud"
	"github.com/bindery-docs/bindery/shared/config"
	"github.com/bindery-docs/bindery/shared/export"
)

func main() { cloud.Main("planexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	env, err := config.FunctionFromEnv(f.Getenv, config.Table, config.SourcesBucket, config.ExportsBucket)
	if err != nil {
		return nil, err
	}
	aws, err := f.AWS()
	if err != nil {
		return nil, err
	}
	db := cloud.NewStore(aws, cloud.StoreOptions{Table: env.Table})
	objects := cloud.NewObjects(aws, cloud.ObjectsOptions{Sources: env.SourcesBucket, Exports: env.ExportsBucket})
	service := admin.New(admin.Options{Store: db, Objects: objects, Log: f.Log})
	steps := export.New(export.Options{Admin: service, Objects: objects, Log: f.Log, Annotate: cloud.Annotate})
	return f.Step(env.Stage, steps.Tasks()[export.TaskPlan]), nil
}
