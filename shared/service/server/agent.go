package server

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/setup"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// fetchedDir is the folder, in the data folder, of what is fetched from forges:
// it stays as long as a step runs.
const fetchedDir = "fetched"

// addAgent adds the steps of the agent's workflow. They fail a job where no model
// is set up any more.
func (s *Server) addAgent(opt Options) error {
	forges := opt.Forge
	forges.Logger, forges.TempDir = s.log, filepath.Join(s.dir, fetchedDir)
	// The folder is locked: what is there is a step's that died.
	if err := os.RemoveAll(forges.TempDir); err != nil {
		return err
	}
	if err := os.MkdirAll(forges.TempDir, 0o700); err != nil {
		return err
	}
	var err error
	if s.forges, err = setup.NewForges(s.Admin, forges); err != nil {
		return err
	}
	s.models = opt.Models
	find := func(string) (agent.Model, error) {
		_, err := setup.ModelName(nil, "")
		return agent.Model{}, err
	}
	if s.models != nil {
		find = s.models.Model
	}
	// As in the cloud, what asks the model can't reach a forge, nor the other way
	// round.
	fetch, err := agent.New(agent.Options{Admin: s.Admin, Objects: s.local.Objects(), Forge: s.forges.Forge, Log: s.log})
	if err != nil {
		return err
	}
	work, err := agent.New(agent.Options{Admin: s.Admin, Objects: s.local.Objects(), Model: find, Log: s.log})
	if err != nil {
		return err
	}
	s.pull = fetch.Pull
	for name, task := range fetch.Tasks() {
		s.tasks[name] = task
	}
	s.tasks[job.TaskAgentWork] = work.Tasks()[job.TaskAgentWork]
	return nil
}

// agentReady is admin.Options.AgentReady.
func (s *Server) agentReady(ctx context.Context, p admin.Project, name string) (string, error) {
	var table *model.Table
	if s.models != nil {
		table = s.models.Table()
	}
	name, err := setup.ModelName(table, name)
	if err == nil {
		err = s.forges.Ready(ctx, p)
	}
	return name, err
}
