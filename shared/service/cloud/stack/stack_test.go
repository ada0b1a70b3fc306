package stack_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/cloud/cloudtest"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

// deploy makes a stack with these outputs, and one resource, which it must have.
func deploy(t *testing.T, cfg aws.Config, name string, outputs map[string]string) {
	t.Helper()
	client := cloudformation.NewFromConfig(cfg)
	var b strings.Builder
	b.WriteString(`{"Resources": {"Any": {"Type": "AWS::SNS::Topic"}}, "Outputs": {`)
	for i, output := range slices.Sorted(maps.Keys(outputs)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + output + `": {"Value": "` + outputs[output] + `"}`)
	}
	b.WriteString(`}}`)
	if _, err := client.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &name, TemplateBody: aws.String(b.String())}); err != nil {
		t.Fatal(err)
	}
	done := cloudformation.NewStackCreateCompleteWaiter(client, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	})
	if err := done.Wait(t.Context(), &cloudformation.DescribeStacksInput{StackName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	c := cloudtest.MiniStack(t)
	outputs := map[string]string{
		"ApiUrl": "https://api.example.com/", "TableName": "records", "SourcesBucket": "sources", "ExportsBucket": "exports",
		"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:export", "Other": "something",
	}
	deploy(t, c.Config, "bindery", outputs)
	got, err := stack.Read(t.Context(), c.Config, "bindery")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stack.Stack{
		Name: "bindery", Status: "CREATE_COMPLETE", URL: "https://api.example.com/", Table: "records",
		SourcesBucket: "sources", ExportsBucket: "exports",
		StateMachine: "arn:aws:states:us-east-1:000000000000:stateMachine:export", Outputs: outputs,
	}, got); diff != "" {
		t.Error(diff)
	}
	delete(outputs, "TableName")
	deploy(t, c.Config, "other", outputs)
	if got, err := stack.Read(t.Context(), c.Config, "other"); err == nil || !strings.Contains(err.Error(), "TableName") {
		t.Errorf("a stack without a table: %+v, %v", got, err)
	}
	if got, err := stack.Read(t.Context(), c.Config, "nothing"); !errors.Is(err, stack.ErrNotFound) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("no such stack: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := stack.Read(ctx, c.Config, "bindery"); !errors.Is(err, context.Canceled) {
		t.Errorf("context ended: %v", err)
	}
}

// The configuration is that of the AWS tools: here, of the environment.
func TestConfig(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "", "AWS_CONFIG_FILE": t.TempDir() + "/none",
		"AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	cfg, err := stack.Config(t.Context())
	if err != nil || cfg.Region != "eu-west-1" {
		t.Errorf("got region %q, %v", cfg.Region, err)
	}
	t.Setenv("AWS_REGION", "")
	if _, err := stack.Config(t.Context()); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("without a region: %v", err)
	}
	t.Setenv("AWS_PROFILE", "nobody")
	if _, err := stack.Config(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a profile that is not there: %v", err)
	}
}
