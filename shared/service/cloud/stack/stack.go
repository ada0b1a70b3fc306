// Package stack finds a deployed Bindery for operators: it reads the outputs of
// its CloudFormation stack, with the credentials that the AWS tools of this
// machine use. Functions know their parts from their environment and do not
// link this package.
//
//	stack.go     the stack's parts, by its outputs
//	reports.go   what Lambda logs of calls, and the memory that they ask for
//	restore.go   the table, restored to a point in time into another
package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
)

// ErrNotFound: there is no such stack in this account and region.
var ErrNotFound = errors.New("no such stack")

// Names of the outputs. They are interface between the stack and operators.
const (
	OutputURL           = "ApiUrl"
	OutputTable         = "TableName"
	OutputSourcesBucket = "SourcesBucket"
	OutputExportsBucket = "ExportsBucket"
	OutputStateMachine  = "StateMachineArn"
	// OutputCredentialKey is the key that credentials are encrypted with. A stack
	// without an agent has none.
	OutputCredentialKey = "CredentialKeyArn"
)

const parameterBundleDays = "BundleRetentionDays"

// Stack is a deployed Bindery.
type Stack struct {
	// Name and Status are CloudFormation's.
	Name, Status string
	// URL is where the API is.
	URL string
	// Table, SourcesBucket, ExportsBucket and StateMachine are what
	// cloud.StoreOptions, cloud.ObjectsOptions and cloud.RunnerOptions ask for.
	Table, SourcesBucket, ExportsBucket, StateMachine string
	// Outputs are all outputs, by name.
	Outputs map[string]string
	// BundleDays is after how many days the sweep removes bundles of projects that say
	// nothing of it; 0 for never.
	BundleDays int
}

// Config reads what the AWS tools of this machine know: environment, profiles,
// sign-ons, roles of machines and pods. It returns an error if they can't be read or name no region.
func Config(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return aws.Config{}, fmt.Errorf("configuration of AWS: %w", err)
	}
	if cfg.Region == "" {
		return aws.Config{}, errors.New("configuration of AWS: no region; set AWS_REGION or AWS_PROFILE")
	}
	return cfg, nil
}

// Read reads the outputs of a stack. A stack that lacks one of those above is
// an error: it isn't ours, or was never deployed to the end.
func Read(ctx context.Context, cfg aws.Config, name string) (Stack, error) {
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		// CloudFormation has no code of its own for this: a stack that is not
		// there is a parameter that is not valid.
		api, ok := errors.AsType[smithy.APIError](err)
		var response interface{ HTTPStatusCode() int }
		if ok && api.ErrorCode() == "ValidationError" && errors.As(err, &response) && response.HTTPStatusCode() == http.StatusBadRequest {
			return Stack{}, fmt.Errorf("stack %s in %s: %w: %w", name, cfg.Region, ErrNotFound, err)
		}
		return Stack{}, fmt.Errorf("stack %s in %s: %w", name, cfg.Region, err)
	}
	if len(out.Stacks) == 0 {
		return Stack{}, fmt.Errorf("stack %s in %s: %w", name, cfg.Region, ErrNotFound)
	}
	return read(out.Stacks[0])
}

// read takes the answer apart.
func read(d types.Stack) (Stack, error) {
	s := Stack{Name: aws.ToString(d.StackName), Status: string(d.StackStatus), Outputs: map[string]string{}}
	for _, o := range d.Outputs {
		s.Outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	for _, p := range d.Parameters {
		if aws.ToString(p.ParameterKey) == parameterBundleDays {
			s.BundleDays, _ = strconv.Atoi(aws.ToString(p.ParameterValue)) // a number, which CloudFormation holds
		}
	}
	for _, o := range []struct {
		name string
		to   *string
	}{
		{OutputURL, &s.URL}, {OutputTable, &s.Table}, {OutputSourcesBucket, &s.SourcesBucket},
		{OutputExportsBucket, &s.ExportsBucket}, {OutputStateMachine, &s.StateMachine},
	} {
		if *o.to = s.Outputs[o.name]; *o.to == "" {
			return Stack{}, fmt.Errorf("stack %s (%s): it has no output %s", s.Name, s.Status, o.name)
		}
	}
	return s, nil
}
