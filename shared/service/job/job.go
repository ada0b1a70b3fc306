// Package job is what all who have to do with a job agree on: the names and
// payloads of the workflows' steps, the keys of an export's objects, what a
// failed job says, and what happens to jobs beside their steps. It knows nothing
// of pages, so programs that only look after jobs are small.
//
//	job.go        the steps' names, inputs and outputs; the workflows' definitions
//	keys.go       the objects of a job
//	failure.go    what failed jobs say; Coded
//	keeper.go     Keeper and its options; Clean
//	findings.go   what failed jobs had found, kept with them
//	fail.go       Fail, FailAgent, Ended: the end of a job that can't be completed
//	reconcile.go  Reconcile: jobs whose execution never was, or ended without them
//	archive.go    agent jobs that are archived by their age or their pull request
//	audit.go      Audit: records have the objects that they need
//	sweep.go      Sweep: objects that nothing refers to
//	cost.go       what an export costs on AWS
//	agentcost.go  what an agent job costs
package job

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/statemachine"
)

// Names of the export's steps, on every runner that calls them by name.
const (
	TaskPlan     = "plan"
	TaskRender   = "render"
	TaskAssemble = "assemble"
	TaskFail     = "fail"
)

// Names of the steps of the agent's workflow.
const (
	TaskAgentPrepare = "agentprepare"
	TaskAgentWork    = "agentwork"
	TaskAgentReview  = "agentreview"
	TaskAgentPublish = "agentpublish"
	TaskAgentFail    = "agentfail"
)

// AgentOutput is what a step of a round, whose input is an admin.AgentRef, hands
// to the choice after it.
type AgentOutput struct {
	admin.AgentRef
	Next string `json:"next"` // one of NextWork, NextReview, NextPublish, NextDone, NextWait and NextPrepare
	// WaitUntil is when Work is called again after NextWait, in whole seconds.
	WaitUntil time.Time `json:"waitUntil,omitzero"`
}

// What comes after a step of a round. After NextPublish of Work, the workflow reviews the
// round before it publishes it. After NextPrepare, it fetches the commits that the round
// asked for.
const (
	NextWork    = "work"
	NextReview  = "review"
	NextPublish = "publish"
	NextDone    = "done"
	NextWait    = "wait"
	NextPrepare = "prepare"
)

// PullInput asks the step that reads repositories for the pull request of a final
// job, in place of what it does for a round.
type PullInput struct {
	admin.AgentRef
	Pull bool `json:"pull"` // true
}

// PullOutput is that step's answer about the pull request.
type PullOutput struct {
	// ClosedAt is when it was merged or closed, zero while it is open.
	ClosedAt time.Time `json:"closedAt,omitzero"`
}

// AgentFailInput names the round to fail, and the error that the workflow caught.
type AgentFailInput struct {
	admin.AgentRef
	Error ErrorNames `json:"error"`
}

// PlanOutput is what Plan, whose input is an admin.WorkflowInput, hands to the
// steps after it. Shards are numbered from 1.
type PlanOutput struct {
	JobID    string `json:"jobId"`
	Renderer string `json:"renderer"`
	Shards   []int  `json:"shards"`
}

// RenderInput names the shard to render.
type RenderInput struct {
	JobID    string `json:"jobId"`
	Renderer string `json:"renderer"`
	Shard    int    `json:"shard"`
}

// AssembleInput names the job to finish.
type AssembleInput struct {
	JobID    string `json:"jobId"`
	Renderer string `json:"renderer"`
}

// AssembleOutput is what Assemble hands to the choice after it.
type AssembleOutput struct {
	// More asks for another call: the bundle goes on where this one ended.
	More bool `json:"more"`
}

// FailInput names the job to fail, and the error that the workflow caught.
type FailInput struct {
	JobID string     `json:"jobId"`
	Error ErrorNames `json:"error"`
}

// ErrorNames is an error in the words of the States Language.
type ErrorNames struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// Task returns a step in the form in which a workflow calls it: JSON in, JSON
// out. Input that can't be read is an error of code admin.CodeInternal; all
// others are the step's own.
func Task[In, Out any](step func(context.Context, In) (Out, error)) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, admin.Errorf(admin.CodeInternal, "a step's input can't be read").Wrap(err)
		}
		out, err := step(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// Silent turns a step that only succeeds or fails into one for Task. Its output
// is an empty object.
func Silent[In any](step func(context.Context, In) error) func(context.Context, In) (struct{}, error) {
	return func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, step(ctx, in) }
}

// Definition returns the export workflow with a resource for each task, and so
// many shards rendered at once; 0 means all of them. It fails for a resource
// that JSON would have to escape.
func Definition(resource func(task string) string, concurrency int) ([]byte, error) {
	return statemachine.Fill(statemachine.Export(), map[string]string{
		statemachine.PlanFunction:      resource(TaskPlan),
		statemachine.RenderFunction:    resource(TaskRender),
		statemachine.AssembleFunction:  resource(TaskAssemble),
		statemachine.FailFunction:      resource(TaskFail),
		statemachine.RenderConcurrency: strconv.Itoa(concurrency),
	})
}

// AgentDefinition returns the agent's workflow with a resource for each task. It
// fails for a resource that JSON would have to escape.
func AgentDefinition(resource func(task string) string) ([]byte, error) {
	return statemachine.Fill(statemachine.Agent(), map[string]string{
		statemachine.AgentPrepareFunction: resource(TaskAgentPrepare),
		statemachine.AgentWorkFunction:    resource(TaskAgentWork),
		statemachine.AgentReviewFunction:  resource(TaskAgentReview),
		statemachine.AgentPublishFunction: resource(TaskAgentPublish),
		statemachine.AgentFailFunction:    resource(TaskAgentFail),
	})
}

// ByName is the resource of a task for runners that call tasks by their names.
func ByName(task string) string { return task }
