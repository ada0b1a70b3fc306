package main

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/statemachine"
)

// workflow is what runs exports and agent jobs, and what looks after them.
type workflow struct {
	machine awsstepfunctions.StateMachine
	// agent is the machine of agent jobs; agentEnded tells agentfail of it as
	// ended does failexport.
	agent      awsstepfunctions.StateMachine
	agentEnded awsevents.Rule
	// ended tells failexport of executions that ended other than well;
	// schedule starts the reconciler, which finds what no event told.
	ended, schedule awsevents.Rule
	deadLetters     awssqs.Queue
	mapPolicy       awsiam.Policy
}

// newDeadLetters makes the queue of events that no function could handle.
func newDeadLetters(s *stack) awssqs.Queue {
	return awssqs.NewQueue(s.Stack, jsii.String("DeadLetters"), &awssqs.QueueProps{
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)), RemovalPolicy: s.removal(),
	})
}

// exportWorkflow is the id of the workflow of exports in the template.
const exportWorkflow = "Workflow"

// newMachine makes a state machine of a definition whose steps are functions of
// the stack, in the versions of this deployment. Its parts are called by id, in
// small letters where it is a part's prefix. A machine that has a distributed map
// gets the right to start its own children, in a policy of its own.
func (s *stack) newMachine(id string, definition []byte, substitutions map[string]*string, maps bool) (awsstepfunctions.StateMachine, awsiam.Policy) {
	prefix := strings.ToLower(id)
	// In prod the log group outlives the stack, and the next stack of that name,
	// which could not be made where the group's name was the same: so this one
	// ends with what is unique of the stack's id, and, but for the first
	// workflow's, with the machine's.
	name := []*string{
		jsii.String("/aws/vendedlogs/states/"), s.StackName(), jsii.String("-"),
		awscdk.Fn_Select(jsii.Number(2), awscdk.Fn_Split(jsii.String("/"), s.StackId(), nil)),
	}
	if id != exportWorkflow {
		name = append(name, jsii.String("-"+prefix))
	}
	logs := awslogs.NewLogGroup(s.Stack, jsii.String(prefix+"-logs"), &awslogs.LogGroupProps{
		// Step Functions can't write to groups whose policy grows too long;
		// names under /aws/vendedlogs/ are exempt from that limit.
		LogGroupName:  awscdk.Fn_Join(jsii.String(""), &name),
		Retention:     s.logLife(),
		RemovalPolicy: s.removal(),
	})
	open := statemachine.Variables(definition)
	var called []awslambda.Function
	for _, spec := range functions() {
		if spec.part == steps && slices.Contains(open, spec.operation) {
			fn := s.functions[spec.name].fn
			called = append(called, fn)
			substitutions[spec.operation] = fn.CurrentVersion().FunctionArn()
		}
	}
	machine := awsstepfunctions.NewStateMachine(s.Stack, &id, &awsstepfunctions.StateMachineProps{
		DefinitionBody:          awsstepfunctions.DefinitionBody_FromString(jsii.String(string(definition))),
		DefinitionSubstitutions: &substitutions,
		StateMachineType:        awsstepfunctions.StateMachineType_STANDARD,
		TracingEnabled:          jsii.Bool(true),
		// Inputs and outputs stay out of the log: an error's cause may quote
		// a site.
		Logs:          &awsstepfunctions.LogOptions{Destination: logs, Level: awsstepfunctions.LogLevel_ALL, IncludeExecutionData: jsii.Bool(false)},
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	for _, fn := range called {
		// The function and all its versions: an execution that began before a
		// deployment calls the versions of then.
		fn.GrantInvoke(machine)
	}
	if !maps {
		return machine, nil
	}
	// A distributed map starts its children as executions of its own machine.
	// In the role's first policy, which the machine waits for, that would be a
	// circle.
	return machine, awsiam.NewPolicy(s.Stack, jsii.String(prefix+"-map"), &awsiam.PolicyProps{
		Roles: &[]awsiam.IRole{machine.Role()},
		Statements: &[]awsiam.PolicyStatement{
			allow(machine.StateMachineArn(), "states:StartExecution"),
			allow(executions(machine, "*"), "states:DescribeExecution", "states:StopExecution"),
		},
	})
}

// newEnded makes the rule that tells a function of executions of a machine that
// ended other than well. The function gets the event as it is, and reads it: see
// cloud.ExecutionEnded.
func (s *stack) newEnded(id, about string, machine awsstepfunctions.StateMachine, function string) awsevents.Rule {
	ended := awsevents.NewRule(s.Stack, &id, &awsevents.RuleProps{
		Description: &about,
		EventPattern: &awsevents.EventPattern{
			Source:     jsii.Strings("aws.states"),
			DetailType: jsii.Strings("Step Functions Execution Status Change"),
			Detail: &map[string]any{
				"stateMachineArn": []*string{machine.StateMachineArn()},
				"status":          []string{"FAILED", "TIMED_OUT", "ABORTED"},
			},
		},
	})
	ended.AddTarget(awseventstargets.NewLambdaFunction(s.functions[function].fn, &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: s.workflow.deadLetters,
	}))
	return ended
}

// newWorkflow makes the workflows of exports and of agent jobs, and what looks
// after them.
func (s *stack) newWorkflow() {
	machine, mapPolicy := s.newMachine(exportWorkflow, statemachine.Export(), map[string]*string{
		statemachine.RenderConcurrency: s.parameters.renderConcurrency.ValueAsString(),
	}, true)
	s.workflow.machine, s.workflow.mapPolicy = machine, mapPolicy
	for _, name := range []string{"startexport", dashboardFunction, "cancelexport", "reconcile"} {
		s.functions[name].fn.AddEnvironment(jsii.String(config.StateMachine), machine.StateMachineArn(), nil)
	}

	agent, _ := s.newMachine("AgentWorkflow", statemachine.Agent(), map[string]*string{}, false)
	s.workflow.agent = agent
	// Publish, which opens a round where a message came too late for this one, is
	// not told: the machine needs the function's version, and the version what its
	// function is told. The reconciler starts that round.
	for _, name := range []string{"startagentjob", "messageagentjob", dashboardFunction, "reconcile"} {
		s.functions[name].fn.AddEnvironment(jsii.String(config.AgentMachine), agent.StateMachineArn(), nil)
	}

	s.workflow.ended = s.newEnded("ExportEnded", "Executions of the export that failed, took too long or were stopped", machine, "failexport")
	s.workflow.agentEnded = s.newEnded("AgentEnded", "Executions of agent jobs that failed, took too long or were stopped", agent, "agentfail")
	schedule := awsevents.NewRule(s.Stack, jsii.String("Reconciler"), &awsevents.RuleProps{
		Description: jsii.String("Starts the reconciler"),
		Schedule:    awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(1))),
	})
	schedule.AddTarget(awseventstargets.NewLambdaFunction(s.functions["reconcile"].fn, &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: s.workflow.deadLetters,
		// A look that is late is as good as the next one.
		MaxEventAge: awscdk.Duration_Minutes(jsii.Number(5)), RetryAttempts: jsii.Number(1),
		Event: awsevents.RuleTargetInput_FromObject(map[string]any{}),
	}))
	s.workflow.schedule = schedule
}

// executions is the address of executions of a machine by name.
func executions(machine awsstepfunctions.StateMachine, name string) *string {
	return machine.Stack().FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("states"), Resource: jsii.String("execution"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
		ResourceName: awscdk.Fn_Join(jsii.String(":"), &[]*string{machine.StateMachineName(), &name}),
	})
}
