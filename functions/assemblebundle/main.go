// Command assemblebundle is the last step of the export workflow: it makes the
// bundle and completes the job.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("assemblebundle", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, []string{config.SourcesBucket, config.ExportsBucket}, objects.Open)
	if err != nil {
		return nil, err
	}
	steps := export.New(export.Options{Admin: w.Admin, Objects: w.Objects, Log: f.Log, Annotate: cloud.Annotate, KeepInObjects: true})
	return w.Step(job.Task(steps.Assemble)), nil
}
