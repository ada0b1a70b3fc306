// Command planexport is the first step of the export workflow: it reads the
// site and cuts it into shards.
package main

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/functions/internal/wire/objects"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
)

func main() { cloud.Main("planexport", handler) }

func handler(f *cloud.Function) (cloud.Handler, error) {
	w, err := wire.New(f, []string{config.SourcesBucket, config.ExportsBucket}, objects.Open)
	if err != nil {
		return nil, err
	}
	steps := export.New(export.Options{
		Admin: w.Admin, Objects: w.Objects, Fetcher: remote.New(remote.Options{Log: f.Log}), Log: f.Log, Annotate: cloud.Annotate,
		KeepInObjects: true,
	})
	return w.Step(job.Task(steps.Plan)), nil
}
