package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// webhooksFunction delivers events to endpoints.
const webhooksFunction = "deliverwebhooks"

// newWebhooks wakes the function that delivers events: the table's stream where
// one waits, and a schedule, which finds those whose time has come again and those
// that no stream told of. What is due is a record each time, so the stream needs
// no retry: a batch that fails is left, and holds up nothing. A
// restored table has another stream, unknown to this stack: then the schedule alone
// finds events, within a minute.
func (s *stack) newWebhooks() {
	f := s.functions[webhooksFunction]
	if stream := s.storage.table.TableStreamArn(); stream != nil {
		waits := awslambda.FilterCriteria_Filter(&map[string]any{
			"eventName": awslambda.FilterRule_IsEqual(jsii.String("INSERT")),
			"dynamodb": map[string]any{"Keys": map[string]any{"sk": map[string]any{
				"S": awslambda.FilterRule_BeginsWith(jsii.String(admin.PendingRows)),
			}}},
		})
		awslambda.NewEventSourceMapping(s.Stack, jsii.String("Outbox"), &awslambda.EventSourceMappingProps{
			Target: f.fn, EventSourceArn: stream, StartingPosition: awslambda.StartingPosition_LATEST,
			BatchSize: jsii.Number(1000), MaxBatchingWindow: awscdk.Duration_Seconds(jsii.Number(1)),
			RetryAttempts: jsii.Number(0), MaxRecordAge: awscdk.Duration_Minutes(jsii.Number(5)),
			Filters: &[]*map[string]any{waits},
		})
	}
	schedule := awsevents.NewRule(s.Stack, jsii.String("Webhooks"), &awsevents.RuleProps{
		Description: jsii.String("Starts the delivery of events that are due"),
		Schedule:    awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(1))),
	})
	schedule.AddTarget(awseventstargets.NewLambdaFunction(f.fn, &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: s.workflow.deadLetters,
		MaxEventAge:     awscdk.Duration_Minutes(jsii.Number(5)), RetryAttempts: jsii.Number(1),
		Event: awsevents.RuleTargetInput_FromObject(map[string]any{}),
	}))
}
