package rules

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// awsErrorNames are the names of errors that AWS gives and our workflow may
// retry or catch: those of the Amazon States Language, those that the Lambda
// integration of Step Functions documents, and Lambda's own for a process that
// ended.
var awsErrorNames = []string{
	"States.ALL", "States.Timeout", "Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
	"Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException", "Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError",
	"Runtime.OutOfMemory",
}

// TestWorkflowNamesErrorsThatExist: a name in a Retry or Catch that nobody ever
// gives is a rule that looks alive and is dead.
func TestWorkflowNamesErrorsThatExist(t *testing.T) {
	whole, err := job.Definition(job.ByName, 3)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := job.AgentDefinition(job.ByName)
	if err != nil {
		t.Fatal(err)
	}
	steps := append(slices.Collect(maps.Keys((&export.Steps{}).Tasks())), job.TaskFail)
	for _, w := range []struct {
		name       string
		definition []byte
		steps      []string
	}{
		{"export", whole, steps},
		{"agent", agent, []string{job.TaskAgentPrepare, job.TaskAgentWork, job.TaskAgentReview, job.TaskAgentPublish, job.TaskAgentFail}},
	} {
		machine, err := asl.Load(w.definition)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, list := range regexp.MustCompile(`"ErrorEquals": \[([^]]*)\]`).FindAllSubmatch(w.definition, -1) {
			for name := range strings.SplitSeq(string(list[1]), ",") {
				names = append(names, strings.Trim(name, " \n\""))
			}
		}
		if len(names) < 5 {
			t.Errorf("the workflow %s names only %v", w.name, names)
		}
		for _, name := range names {
			if !slices.Contains(admin.Codes(), name) && !slices.Contains(awsErrorNames, name) {
				t.Errorf("the workflow %s names the error %q, which is neither a code of package admin nor AWS's", w.name, name)
			}
		}
		slices.Sort(w.steps)
		if resources := slices.Sorted(slices.Values(machine.Resources())); !slices.Equal(resources, w.steps) {
			t.Errorf("the workflow %s runs %v, the steps are %v", w.name, resources, w.steps)
		}
	}
}

// TestAShardThatTakesTooMuchMemory: a function that runs out of memory is tried
// once more, and then fails its job with that reason, which it can't record
// itself.
func TestAShardThatTakesTooMuchMemory(t *testing.T) {
	definition, err := job.Definition(job.ByName, 1)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := asl.Load(definition)
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	var told []job.FailInput
	none := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	_, err = machine.Run(t.Context(), "x", json.RawMessage(`{"jobId": "x"}`), asl.Options{
		Sleep: func(context.Context, time.Duration) error { return nil },
		Tasks: map[string]asl.Task{
			job.TaskPlan: func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{"jobId": "x", "renderer": "r", "shards": [1]}`), nil
			},
			job.TaskRender: func(context.Context, json.RawMessage) (json.RawMessage, error) {
				tries++
				return nil, admin.Errorf("Runtime.OutOfMemory", "signal: killed")
			},
			job.TaskAssemble: none,
			job.TaskFail: job.Task(job.Silent(func(_ context.Context, in job.FailInput) error {
				told = append(told, in)
				return nil
			})),
		},
	})
	if tries != 2 || len(told) == 0 || told[0].JobID != "x" || told[0].Error.Error != "Runtime.OutOfMemory" {
		t.Errorf("%d tries, told of %+v, %v", tries, told, err)
	}
}

// TestTheLargestPlanFitsIntoAState: the list of shard numbers travels through
// the workflow, whose states are bounded. Half of the bound is kept free for
// what the workflow adds.
func TestTheLargestPlanFitsIntoAState(t *testing.T) {
	plan := job.PlanOutput{JobID: strings.Repeat("j", admin.MaxID), Renderer: strings.Repeat("r", 64)}
	for shard := range export.MaxShards {
		plan.Shards = append(plan.Shards, shard+1)
	}
	state, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(state) > store.MaxStateBytes/2 {
		t.Errorf("a plan of %d shards takes %d bytes, and a state may have %d", export.MaxShards, len(state), store.MaxStateBytes)
	}
}
