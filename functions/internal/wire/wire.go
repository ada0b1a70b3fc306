// Package wire is what the programs of Lambda functions have in common: from
// the environment to the rules of package admin on the ports that a function
// calls. It links the client of records alone; each package below it adds what
// only some functions call:
//
//	objects  the client of objects
//	runner   the client of executions
//	answer   functions that answer an operation of the API
//	ready    whether agents can work: for those that start a round
//	pulls    the agent's steps that have a forge's credential, or the App's key
//	works    the agent's step that has a model's key
//	reviews  the agent's step that has neither, and renders
//	asked    what another function, which has one, asks a forge
package wire

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Wiring is a function with what it works on. Objects, Runner, Secrets, AgentReady and
// AgentModels are nil without their Port.
type Wiring struct {
	*cloud.Function
	Env     config.Function
	AWS     aws.Config
	Records store.Store
	Admin   *admin.Service
	Objects store.Objects
	Runner  store.Runner
	Secrets store.Secrets
	// AgentReady is as of admin.Options. It may use Admin.
	AgentReady func(ctx context.Context, p admin.Project, model string) (string, error)
	// AgentModels is as of admin.Options.
	AgentModels func() []admin.AgentModel
}

// Port opens a port of the rules and puts it into a Wiring that has Env, AWS and
// Records already.
type Port func(*Wiring) error

// New wires a function up: records, further ports, and the rules on all of
// them. It fails where the environment lacks the table's name, a variable in
// needed, or what AWS needs, and with a Port's error.
func New(f *cloud.Function, needed []string, ports ...Port) (*Wiring, error) {
	env, err := config.FunctionFromEnv(f.Getenv, append([]string{config.Table}, needed...)...)
	if err != nil {
		return nil, err
	}
	cfg, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	w := &Wiring{Function: f, Env: env, AWS: cfg, Records: dynamo.New(cfg, dynamo.Options{Table: env.Table})}
	for _, open := range ports {
		if err := open(w); err != nil {
			return nil, err
		}
	}
	memory, _ := strconv.Atoi(f.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	w.Admin = admin.New(admin.Options{
		Store: w.Records, Objects: w.Objects, Runner: w.Runner, Secrets: w.Secrets, AgentReady: w.AgentReady, AgentModels: w.AgentModels,
		LinkLife: env.LinkLife, MaxRunning: env.MaxRunning, Callbacks: remote.Callbacks{Private: env.WebhookHosts}, MemoryMB: memory, Log: f.Log,
	})
	return w, nil
}

// Step adapts a step of the workflow: see cloud.Step.
func (w *Wiring) Step(run func(context.Context, json.RawMessage) (json.RawMessage, error)) cloud.Handler {
	return w.Function.Step(w.Env.Stage, run)
}
