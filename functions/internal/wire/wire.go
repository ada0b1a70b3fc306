// Package wire is what the programs of Lambda functions have in common: from
// the environment to the rules of package admin on the ports that a function
// calls. It links the client of records alone; each package below it adds what
// only some functions call:
//
//	objects  the client of objects
//	runner   the client of executions
//	answer   functions that answer an operation of the API
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

// Wiring is a function with what it works on. Objects and Runner are nil
// without their Port.
type Wiring struct {
	*cloud.Function
	Env     config.Function
	AWS     aws.Config
	Admin   *admin.Service
	Objects store.Objects
	Runner  store.Runner
}

// Port opens a port of package store and puts it into a Wiring that has Env and
// AWS already.
type Port func(*Wiring)

// New wires a function up: records, further ports, and the rules on all of
// them. It fails where the environment lacks the table's name, a variable in
// needed, or what AWS needs.
func New(f *cloud.Function, needed []string, ports ...Port) (*Wiring, error) {
	env, err := config.FunctionFromEnv(f.Getenv, append([]string{config.Table}, needed...)...)
	if err != nil {
		return nil, err
	}
	cfg, err := awsconfig.FromEnv(f.Getenv)
	if err != nil {
		return nil, err
	}
	w := &Wiring{Function: f, Env: env, AWS: cfg}
	for _, open := range ports {
		open(w)
	}
	memory, _ := strconv.Atoi(f.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	w.Admin = admin.New(admin.Options{
		Store: dynamo.New(cfg, dynamo.Options{Table: env.Table}), Objects: w.Objects, Runner: w.Runner,
		LinkLife: env.LinkLife, MaxRunning: env.MaxRunning, Callbacks: remote.Callbacks{Private: env.WebhookHosts}, MemoryMB: memory, Log: f.Log,
	})
	return w, nil
}

// Step adapts a step of the workflow: see cloud.Step.
func (w *Wiring) Step(run func(context.Context, json.RawMessage) (json.RawMessage, error)) cloud.Handler {
	return w.Function.Step(w.Env.Stage, run)
}
