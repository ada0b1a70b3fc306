// Package runner provides functions with the executions of workflows.
package runner

import (
	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
)

// Open is the wire.Port of executions.
func Open(w *wire.Wiring) error {
	w.Runner = sfnrun.New(w.AWS, sfnrun.Options{StateMachine: w.Env.StateMachine, AgentMachine: w.Env.AgentMachine})
	return nil
}
