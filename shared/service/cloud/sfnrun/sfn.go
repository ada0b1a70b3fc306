// Package sfnrun is store.Runner on state machines of Step Functions.
package sfnrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/bindery-docs/bindery/shared/service/cloud/internal/call"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Runner is store.Runner on a standard state machine for each workflow.
type Runner struct {
	client   *sfn.Client
	machines map[string]string
}

var _ store.Runner = (*Runner)(nil)

// Options say which state machines a Runner runs.
type Options struct {
	// StateMachine is the ARN of the export workflow, AgentMachine of the
	// agent's; where one is empty, its workflow is refused.
	StateMachine, AgentMachine string
}

// New makes a Runner; it asks nothing of AWS.
func New(cfg aws.Config, opt Options) *Runner {
	return &Runner{client: sfn.NewFromConfig(call.WithRetries(cfg)), machines: map[string]string{
		store.WorkflowExport: opt.StateMachine, store.WorkflowAgent: opt.AgentMachine,
	}}
}

func (r *Runner) machine(workflow string) (string, error) {
	if arn := r.machines[workflow]; arn != "" {
		return arn, nil
	}
	return "", fmt.Errorf("no state machine is known for the workflow %q", workflow)
}

// isExecutionName reports whether Step Functions takes a name: it has up to 80
// letters, digits, "-" and "_". (Others that it takes spoil its logs.)
func isExecutionName(name string) bool {
	return name != "" && len(name) <= 80 && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

// Start implements store.Runner. AWS takes a second start with the same input
// for the first one while that runs, and refuses it later: both are success.
func (r *Runner) Start(ctx context.Context, workflow, name string, input []byte) error {
	machine, err := r.machine(workflow)
	switch {
	case err != nil:
		return fmt.Errorf("start execution %s: %w", name, err)
	case !isExecutionName(name):
		return fmt.Errorf("start execution: the name %q is not 1 to 80 letters, digits, - and _", name)
	case len(input) > store.MaxStateBytes:
		return fmt.Errorf("start execution %s: %d bytes of input, at most %d: %w", name, len(input), store.MaxStateBytes, store.ErrTooLarge)
	case !json.Valid(input):
		return fmt.Errorf("start execution %s: the input is not JSON", name)
	}
	_, err = r.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String(machine), Name: aws.String(name), Input: aws.String(string(input)),
	})
	var exists *types.ExecutionAlreadyExists
	if err == nil || errors.As(err, &exists) {
		return nil
	}
	return call.Failure(ctx, err, "start execution %s", name)
}

// Status implements store.Runner.
func (r *Runner) Status(ctx context.Context, workflow, name string) (store.Execution, error) {
	machine, err := r.machine(workflow)
	if err != nil {
		return store.Execution{}, fmt.Errorf("execution %q: %w", name, err)
	}
	if !isExecutionName(name) {
		return store.Execution{}, fmt.Errorf("execution %q: %w", name, store.ErrNotFound)
	}
	out, err := r.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: aws.String(execution(machine, name))})
	if _, ok := errors.AsType[*types.ExecutionDoesNotExist](err); ok {
		return store.Execution{}, fmt.Errorf("execution %s: %w", name, store.ErrNotFound)
	}
	if err != nil {
		return store.Execution{}, call.Failure(ctx, err, "execution %s", name)
	}
	e := store.Execution{
		Workflow: workflow, Name: name, Input: aws.ToString(out.Input), State: executionState(out.Status), Error: aws.ToString(out.Error), Cause: aws.ToString(out.Cause),
		StartedAt: aws.ToTime(out.StartDate).UTC(),
	}
	if out.StopDate != nil && e.State != store.Running {
		e.StoppedAt = out.StopDate.UTC()
	}
	return e, nil
}

// executionState reads AWS's states. One that waits to be run again from where
// it failed is as good as running.
func executionState(s types.ExecutionStatus) store.ExecutionState {
	if s == types.ExecutionStatusPendingRedrive {
		return store.Running
	}
	return store.ExecutionState(s)
}

// maxCause is how many characters of a reason Step Functions keeps.
const maxCause = 32768

// Stop implements store.Runner.
func (r *Runner) Stop(ctx context.Context, workflow, name, reason string) error {
	// What has ended keeps its end: not every service that speaks this
	// protocol sees to that by itself.
	e, err := r.Status(ctx, workflow, name)
	if errors.Is(err, store.ErrNotFound) || err == nil && e.State != store.Running {
		return nil
	}
	if err != nil {
		return err
	}
	reason = strings.ToValidUTF8(reason, "�")
	if len(reason) > maxCause {
		reason = strings.ToValidUTF8(reason[:maxCause], "")
	}
	_, err = r.client.StopExecution(ctx, &sfn.StopExecutionInput{
		ExecutionArn: aws.String(execution(r.machines[workflow], name)), Cause: aws.String(reason),
	})
	var missing *types.ExecutionDoesNotExist
	if err == nil || errors.As(err, &missing) {
		return nil
	}
	return call.Failure(ctx, err, "stop execution %s", name)
}

// execution returns the ARN of an execution: that of its machine, with another
// resource type, and its name.
func execution(machine, name string) string {
	return strings.Replace(machine, ":stateMachine:", ":execution:", 1) + ":" + name
}
