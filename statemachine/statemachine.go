// Package statemachine holds the definition of each workflow, in Amazon States
// Language: the only one there is. AWS Step Functions and the interpreter of
// package asl run the same file.
//
// A definition is a template: ${Name} stands for what an installation puts in,
// such as the address of a function. CloudFormation fills it with definition
// substitutions; everybody else uses Fill. Before that the file is not JSON,
// because ${RenderConcurrency} stands for a number.
//
// What is the same in several states stands in a file of its own and is put in by
// Export and Agent, so that CloudFormation gets the whole.
//
// # The export
//
//	{"jobId"} → Plan → {"jobId", "renderer", "shards": [1, 2, …]}
//	          → Render, a distributed map over the shard numbers; a child gets
//	            {"jobId", "renderer", "shard"} and returns nothing
//	          → Assemble, gets {"jobId", "renderer"}
//	any error → Fail, gets {"jobId", "error": {"Error", "Cause"}}, and the
//	            execution fails with that error
//
// The plan of a job that is completed already, by an earlier run or with a bundle
// that was stored, has no shards, and Assemble only tidies up.
//
// # The agent
//
//	{"projectId", "jobId", "round"} → Prepare → Work ⟲ → Review → Publish, which
//	may go back to Work or to Review; a step gets these three and returns them
//	with "next": "work", "review", "publish", "done" or "wait". After "wait",
//	Work is called again at the time "waitUntil"
//	any error → Fail, gets the three and "error", as the export's does
//
// # What both have in common
//
// Each Resource is the address of a function, with its version, so that a
// state's input and output are the function's and error names are those that
// the function reports: codes of package admin. Cause is then a JSON document
// {"errorMessage", "errorType"}.
//
// Two errors hide what happened. A failed child ends Render as
// States.ExceedToleratedFailureThreshold without a word about the child, so
// the step must have recorded its failure itself. And States.ALL matches
// neither States.Runtime nor States.DataLimitExceeded, and nothing in a state
// machine sees its own time-out: whoever runs it tells of each execution that
// ends other than well.
//
// Retries go by the kind of error: the platform's own, which it asks to retry
// for long; a call that waits for others to end (Lambda.TooManyRequestsException),
// which is no fault and is repeated for most of an hour, as new accounts run ten
// functions at once where an export has forty shards in work; what a later try
// may not meet ("temporary", and functions that were cut off); and a fault of
// ours ("internal", or a process that ended, such as for want of memory), which
// is tried a little, because steps are idempotent and some faults pass. All
// others fail at once.
package statemachine

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Names that the definitions leave open.
const (
	PlanFunction      = "PlanFunctionArn"
	RenderFunction    = "RenderFunctionArn"
	AssembleFunction  = "AssembleFunctionArn"
	FailFunction      = "FailFunctionArn"
	RenderConcurrency = "RenderConcurrency" // a whole number; 0: as many as there are shards

	AgentPrepareFunction = "AgentPrepareFunctionArn"
	AgentWorkFunction    = "AgentWorkFunctionArn"
	AgentReviewFunction  = "AgentReviewFunctionArn"
	AgentPublishFunction = "AgentPublishFunctionArn"
	AgentFailFunction    = "AgentFailFunctionArn"
)

var (
	//go:embed export.asl.json
	export string
	//go:embed agent.asl.json
	agent string
	//go:embed retry.asl.json
	stepRetry string
	//go:embed failretry.asl.json
	failRetry string
)

// Export returns the definition of the export workflow, with its names open.
func Export() []byte { return whole(export) }

// Agent returns the definition of the agent's workflow, with its names open.
func Agent() []byte { return whole(agent) }

// whole puts into a definition what it shares with others.
func whole(definition string) []byte {
	var b strings.Builder
	for line := range strings.Lines(definition) {
		for name, part := range map[string]string{"${StepRetry}": stepRetry, "${FailRetry}": failRetry} {
			if key, end, ok := strings.Cut(line, name); ok {
				indent := key[:strings.IndexByte(key, '"')]
				line = key + strings.ReplaceAll(strings.TrimSpace(part), "\n", "\n"+indent) + end
			}
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

var variable = lazy.Regexp(`\$\{([A-Za-z0-9]+)\}`)

// Variables lists the names that a definition leaves open, sorted.
func Variables(definition []byte) []string {
	var names []string
	for _, m := range variable().FindAllSubmatch(definition, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Fill puts values in for the names that a definition leaves open. Each name
// needs a value and each value a name, and the result must be JSON; a value
// that stands in a string can't leave it.
func Fill(definition []byte, values map[string]string) ([]byte, error) {
	open := Variables(definition)
	for name := range values {
		if !slices.Contains(open, name) {
			return nil, fmt.Errorf("state machine: nothing is called ${%s}", name)
		}
	}
	for _, name := range open {
		v, ok := values[name]
		if !ok {
			return nil, fmt.Errorf("state machine: no value for ${%s}", name)
		}
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
			return nil, fmt.Errorf("state machine: the value for ${%s} has characters that JSON escapes", name)
		}
	}
	filled := variable().ReplaceAllFunc(definition, func(m []byte) []byte {
		return []byte(values[string(m[2:len(m)-1])])
	})
	if !json.Valid(filled) {
		return nil, fmt.Errorf("state machine: with its values filled in the definition is not JSON")
	}
	return filled, nil
}
