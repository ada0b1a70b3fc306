// Command rendershard is the step of the export workflow that renders a shard.
package main

import (
	"os"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/cloud"
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
	w, err := wire.New(f, []string{config.SourcesBucket, config.ExportsBucket}, objects.Open)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	islands := island.New(island.Options{Program: program, Log: f.Log})
	steps := export.New(export.Options{Admin: w.Admin, Objects: w.Objects, Islands: islands, Log: f.Log, Annotate: cloud.Annotate, KeepInObjects: true})
	return w.Step(job.Task(job.Silent(steps.Render))), nil
}
