package server

import (
	"context"
	"maps"
	"os"
	"path/filepath"

	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/pull"
	"github.com/bindery-docs/bindery/shared/service/agent/review"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/forges"
	"github.com/bindery-docs/bindery/shared/service/agent/setup/models"
)

// fetchedDir is the folder, in the data folder, of what is fetched from forges:
// it stays as long as a step runs.
const fetchedDir = "fetched"

// NotKept returns what a copy of a data folder needs not have of it: a server makes it
// when it starts.
func NotKept() []string { return []string{fetchedDir, callersFile} }

// addAgent adds the steps of the agent's workflow. They fail a job where no model
// is set up any more.
func (s *Server) addAgent(opt Options) error {
	of := opt.Forge
	of.Logger, of.TempDir = s.log, filepath.Join(s.dir, fetchedDir)
	// The folder is locked: what is there is a step's that died.
	if err := os.RemoveAll(of.TempDir); err != nil {
		return err
	}
	if err := os.MkdirAll(of.TempDir, 0o700); err != nil {
		return err
	}
	var err error
	if s.forges, err = forges.New(s.Admin, of); err != nil {
		return err
	}
	s.models = opt.Models
	find := func(string) (model.Choice, error) {
		_, err := models.Name(nil, "")
		return model.Choice{}, err
	}
	if s.models != nil {
		find = s.models.Model
	}
	// As in the cloud, what asks the model can't reach a forge, nor the other way
	// round, and the review can reach neither.
	fetches := pull.Options{Admin: s.Admin, Objects: s.local.Objects(), Forge: s.forges.Forge, Further: s.forges.Further, Log: s.log}
	if opt.Dashboard != nil && s.Public != s.URL { // else others would come to their own machine
		fetches.Dashboard = s.Public
	}
	fetch, err := pull.New(fetches)
	if err != nil {
		return err
	}
	work, err := agent.New(agent.Options{Admin: s.Admin, Objects: s.local.Objects(), Model: find, Log: s.log})
	if err != nil {
		return err
	}
	looks := review.Options{Admin: s.Admin, Objects: s.local.Objects(), Log: s.log}
	if opt.Program != "" {
		looks.Islands = island.New(island.Options{Program: opt.Program, Log: s.log})
	}
	look, err := review.New(looks)
	if err != nil {
		return err
	}
	s.pull = fetch.Pull
	maps.Copy(s.tasks, fetch.Tasks())
	maps.Copy(s.tasks, work.Tasks())
	maps.Copy(s.tasks, look.Tasks())
	return nil
}

// table returns the table of models, nil if there is none.
func (s *Server) table() *model.Table {
	if s.models == nil {
		return nil
	}
	return s.models.Table()
}

// agentReady is admin.Options.AgentReady.
func (s *Server) agentReady(ctx context.Context, p admin.Project, name string) (string, error) {
	name, err := models.Name(s.table(), name)
	if err == nil {
		err = s.forges.Ready(ctx, p)
	}
	return name, err
}
