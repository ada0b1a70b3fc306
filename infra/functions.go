package main

import (
	"fmt"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/statemachine"
)

// part is what a function is for.
type part int

const (
	// answers a method of the API.
	answers part = iota
	// shows people pages.
	shows
	// steps is a step of the workflow.
	steps
	// looks after jobs, and events, that nothing else would move.
	looks
)

// spec is what a function is deployed as.
type spec struct {
	name string
	part part
	// operation is the API's name for what it answers; of a step, it is the name
	// that the workflow's definition has for the function.
	operation string
	memory    float64 // MiB; 1,769 is one processor
	timeout   float64 // seconds
}

// openAPI is the operation that stands in no table of the API: its own document.
const openAPI = "openapi"

// documentFunction answers requests for the document, and for methods that the API's
// paths lack.
const documentFunction = "openapi"

// functions lists all functions, each a folder of functions/.
//
// API functions end before API Gateway gives up (29 s). Steps end where the
// state machine's own limits are: 15 minutes is also the most that Lambda has.
//
// Memory sizes are computed, from what functions took on an x86 machine (their
// processor time and peak in exports of three sites with 1,071 pages together)
// and from the share of a processor that AWS documents for a size: 1,769 MB are
// one. The page about AWS has the table; `bindery memory` measures in an account.
// Calls need 16 MB and 20 ms, which is the least size and would take a cold
// start seconds: so they have twice that. Shards need 252 MB, which is 420 with
// room; but their time is work, which costs the same with more memory and ends
// sooner. An agent's step holds a repository's text in memory and checks its site,
// which took 393 MB and 11 seconds of a processor for 1,071 pages.
func functions() []spec {
	const (
		small, onePage, processor = 256, 512, 1769
		call, long, step          = 25, 120, 900
	)
	return []spec{
		{"startagentjob", answers, "startAgentJob", small, call},
		{"messageagentjob", answers, "messageAgentJob", small, call},
		{"getagentjob", answers, "getAgentJob", small, call},
		{"getagentmodels", answers, "getAgentModels", small, call},
		{"listagentjobs", answers, "listAgentJobs", small, call},
		{"listagentevents", answers, "listAgentEvents", small, call},
		{"cancelagentjob", answers, "cancelAgentJob", small, call},
		{"archiveagentjob", answers, "archiveAgentJob", small, call},
		{"startexport", answers, "startExport", small, call},
		{"getexport", answers, "getExport", small, call},
		{"generatebundle", answers, "generateBundle", small, call},
		{"listexports", answers, "listExports", small, call},
		{"cancelexport", answers, "cancelExport", small, call},
		{"listfindings", answers, "listFindings", small, call},
		{"listsnapshots", answers, "listSnapshots", small, call},
		{"restoresnapshot", answers, "restoreSnapshot", small, call},
		{"getlive", answers, "getLive", small, call},
		{"setlive", answers, "setLive", small, call},
		{"listlive", answers, "listLive", small, call},
		{"getorganisation", answers, "getOrganisation", small, call},
		{"listprojects", answers, "listProjects", small, call},
		{"getusage", answers, "getUsage", small, call},
		{"latestsnapshot", answers, "getLatestSnapshot", small, call},
		// Manifests of large sites are read and checked whole.
		{"createsnapshot", answers, "createSnapshot", onePage, call},
		{"publishsnapshot", answers, "publishSnapshot", processor, call},
		{"getwebhooks", answers, "getWebhooks", small, call},
		{"createwebhook", answers, "createWebhook", small, call},
		{"deletewebhook", answers, "deleteWebhook", small, call},
		{"rotatewebhooksecret", answers, "rotateWebhookSecret", small, call},
		{"listdeliveries", answers, "listDeliveries", small, call},
		{"redeliver", answers, "redeliver", small, call},
		{documentFunction, answers, openAPI, small, call},

		{dashboardFunction, shows, "", onePage, call},

		{"planexport", steps, statemachine.PlanFunction, processor, step},
		{"rendershard", steps, statemachine.RenderFunction, processor, step},
		{"assemblebundle", steps, statemachine.AssembleFunction, processor, step},
		{"failexport", steps, statemachine.FailFunction, onePage, long},

		{"agentprepare", steps, statemachine.AgentPrepareFunction, processor, step},
		{"agentwork", steps, statemachine.AgentWorkFunction, processor, step},
		{"agentreview", steps, statemachine.AgentReviewFunction, processor, step},
		{"agentpublish", steps, statemachine.AgentPublishFunction, processor, step},
		{"agentfail", steps, statemachine.AgentFailFunction, onePage, long},

		{"reconcile", looks, "", onePage, step},
		{webhooksFunction, looks, "", small, long},
	}
}

// byEvents reports whether events call a function, whose errors nobody hears.
func (f spec) byEvents() bool {
	return f.part == looks || f.operation == statemachine.FailFunction || f.operation == statemachine.AgentFailFunction
}

// fetches reports whether a function fetches repositories of Git.
func (f spec) fetches() bool {
	return f.operation == statemachine.AgentPrepareFunction || f.operation == statemachine.AgentPublishFunction
}

// fetchedDisk is what such a function has for files, in MiB: more than one fetch
// takes from a forge (forge.DefaultMaxBytes).
const fetchedDisk = 2560

// memoryLimit is the variable by which Go's runtime collects garbage before a
// function's memory is full.
const memoryLimit = "GOMEMLIMIT"

// function is a deployed spec.
type function struct {
	spec
	logs awslogs.LogGroup
	role awsiam.Role
	// may is the one policy of the role.
	may awsiam.PolicyDocument
	fn  awslambda.Function
}

// policyName is what the one policy of a role is called. Policies of earlier
// releases are resources of their own, with other names: an update adds this
// one before it removes them.
const policyName = "may"

// newRole makes a role whose one policy is a property of it, and thus no
// resource beside it.
func (s *stack) newRole(id, about string, who awsiam.IPrincipal) (awsiam.Role, awsiam.PolicyDocument) {
	may := awsiam.NewPolicyDocument(nil)
	return awsiam.NewRole(s.Stack, &id, &awsiam.RoleProps{
		AssumedBy: who, Description: &about, MaxSessionDuration: awscdk.Duration_Hours(jsii.Number(1)),
		InlinePolicies: &map[string]awsiam.PolicyDocument{policyName: may},
	}), may
}

// allow is a statement of a policy.
func allow(resource *string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: &[]*string{resource}})
}

func (s *stack) newFunctions() {
	s.functions = make(map[string]*function)
	for _, spec := range functions() {
		s.functions[spec.name] = s.newFunction(spec)
	}
	s.functions["reconcile"].fn.AddEnvironment(jsii.String(config.PullFunction), s.functions["agentprepare"].fn.FunctionName(), nil)
	s.functions["reconcile"].fn.AddEnvironment(jsii.String(config.BundleDays), s.parameters.bundleDays.ValueAsString(), nil)
	s.bound("rendershard", "RenderIsBounded", s.parameters.renderReserved)
	s.bound("agentwork", "AgentIsBounded", s.parameters.agentReserved)
}

// bound keeps a step, over all jobs, to the part of the account's concurrency
// that a parameter says, so that jobs never take the API's: calls beyond it are
// refused, and the workflow repeats them for an hour. To reserve something for
// each function is impossible: Lambda wants 100 left unreserved, and a new account
// has 10 in all. So nothing is reserved unless an operator says so.
func (s *stack) bound(name, condition string, reserved awscdk.CfnParameter) {
	bounded := awscdk.NewCfnCondition(s.Stack, &condition, &awscdk.CfnConditionProps{
		Expression: awscdk.Fn_ConditionNot(awscdk.Fn_ConditionEquals(reserved.ValueAsNumber(), jsii.Number(0))),
	})
	function := s.functions[name].fn.Node().DefaultChild().(awslambda.CfnFunction)
	function.AddPropertyOverride(jsii.String("ReservedConcurrentExecutions"), map[string]any{"Fn::If": []any{
		*bounded.LogicalId(), map[string]any{"Ref": *reserved.LogicalId()}, map[string]any{"Ref": "AWS::NoValue"},
	}})
}

// newFunction makes a function with a log group and a role that may write to
// it, trace, and nothing else. The rest is in the table of grants.
func (s *stack) newFunction(spec spec) *function {
	logs := awslogs.NewLogGroup(s.Stack, jsii.String(spec.name+"-logs"), &awslogs.LogGroupProps{
		Retention: s.logLife(), RemovalPolicy: s.removal(),
	})
	role, may := s.newRole(spec.name+"-role", "What the function "+spec.name+" may do", awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil))
	may.AddStatements(
		allow(logs.LogGroupArn(), "logs:CreateLogStream", "logs:PutLogEvents"),
		allow(jsii.String("*"), "xray:PutTraceSegments", "xray:PutTelemetryRecords"), // they take no resource
	)

	// The rest is for what Go does not count.
	memory := jsii.String(fmt.Sprintf("%.0fMiB", spec.memory*17/20))
	props := &awslambda.FunctionProps{
		Code:         awslambda.Code_FromAsset(jsii.String(filepath.Join(s.settings.functions, spec.name)), nil),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Handler:      jsii.String("bootstrap"),
		Architecture: s.arch,
		Description:  jsii.String("Bindery: " + spec.name),
		MemorySize:   &spec.memory,
		Timeout:      awscdk.Duration_Seconds(&spec.timeout),
		Tracing:      awslambda.Tracing_ACTIVE,
		Role:         role.WithoutPolicyUpdates(nil), // the policy is written here
		LogGroup:     logs,
		Environment: &map[string]*string{
			config.Stage:         jsii.String(string(s.stage)),
			config.Table:         s.storage.table.TableName(),
			config.SourcesBucket: s.storage.sources.BucketName(),
			config.ExportsBucket: s.storage.exports.BucketName(),
			memoryLimit:          memory,
		},
	}
	if spec.part == answers || spec.part == shows {
		(*props.Environment)[config.MaxRunning] = s.parameters.maxRunning.ValueAsString()
		(*props.Environment)[config.LinkLife] = awscdk.Fn_Join(jsii.String(""), &[]*string{s.parameters.linkMinutes.ValueAsString(), jsii.String("m")})
	}
	if spec.name == "createwebhook" || spec.name == webhooksFunction || spec.part == shows {
		(*props.Environment)[config.WebhookHosts] = s.parameters.webhookHosts.ValueAsString()
	}
	for name, value := range s.agentEnvironment(spec) {
		(*props.Environment)[name] = value
	}
	if spec.name == "openapi" { // it answers from its own memory
		props.Environment = &map[string]*string{config.Stage: jsii.String(string(s.stage)), memoryLimit: memory}
	}
	if spec.part == shows {
		props.FunctionName = awscdk.Fn_Sub(jsii.String(s.dashboardName()), nil)
	}
	if spec.part == steps {
		// A running execution goes on with the versions that it began with, so
		// versions stay when there is a newer one.
		props.CurrentVersionOptions = &awslambda.VersionOptions{RemovalPolicy: awscdk.RemovalPolicy_RETAIN}
	}
	if spec.fetches() {
		props.EphemeralStorageSize = awscdk.Size_Mebibytes(jsii.Number(fetchedDisk))
	}
	if spec.byEvents() {
		props.DeadLetterQueue = s.workflow.deadLetters
		props.RetryAttempts = jsii.Number(2)
		may.AddStatements(allow(s.workflow.deadLetters.QueueArn(), "sqs:SendMessage"))
	}
	return &function{spec: spec, logs: logs, role: role, may: may, fn: awslambda.NewFunction(s.Stack, &spec.name, props)}
}

// agentEnvironment is what a function that has to do with agents is told besides.
func (s *stack) agentEnvironment(spec spec) map[string]*string {
	p, own := s.parameters, map[string]*string{}
	starts := spec.name == "startagentjob" || spec.name == "messageagentjob" || spec.part == shows
	if starts || spec.fetches() {
		own[config.ForgeHosts], own[config.ForgePrivateHosts] = p.forgeHosts.ValueAsString(), p.forgePrivateHosts.ValueAsString()
		own[config.GitHubApp], own[config.GitHubAppHost] = p.githubApp.ValueAsString(), p.githubAppHost.ValueAsString()
	}
	if starts || spec.operation == "getAgentModels" || spec.operation == statemachine.AgentWorkFunction {
		own[config.ModelTable] = p.models.ValueAsString()
	}
	if spec.operation == statemachine.AgentWorkFunction {
		own[config.ModelSecret] = s.storage.modelKeys.AttrId()
	}
	if spec.fetches() {
		own[config.CredentialKey], own[config.GitHubAppSecret] = s.storage.credentials.KeyArn(), s.storage.appKey.AttrId()
		if s.domain != "" { // the API's own address names functions that start the workflow, and so this one
			own[config.DashboardURL] = s.dashboardAddress()
		}
	}
	return own
}

// requestLogs names the log groups of functions that answer requests, without
// that of the API's own document.
func (s *stack) requestLogs() *string {
	var names []*string
	for _, spec := range functions() {
		if spec.part == shows || spec.part == answers && spec.operation != openAPI {
			names = append(names, s.functions[spec.name].logs.LogGroupName())
		}
	}
	return awscdk.Fn_Join(jsii.String(" "), &names)
}
