package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/base/config"
)

// stack is a Bindery.
type stack struct {
	awscdk.Stack
	settings

	parameters parameters
	storage    storage
	signers    map[string]signing
	functions  map[string]*function
	workflow   workflow
	gateway    gateway
	people     people
}

// parameters are what an operator may set at each deployment without another
// template.
type parameters struct {
	renderConcurrency awscdk.CfnParameter
	renderReserved    awscdk.CfnParameter
	agentReserved     awscdk.CfnParameter
	models            awscdk.CfnParameter
	forgeHosts        awscdk.CfnParameter
	forgePrivateHosts awscdk.CfnParameter
	githubApp         awscdk.CfnParameter
	githubAppHost     awscdk.CfnParameter
	bundleDays        awscdk.CfnParameter
	rate, burst       awscdk.CfnParameter
	maxRunning        awscdk.CfnParameter
	linkMinutes       awscdk.CfnParameter
	webhookHosts      awscdk.CfnParameter

	oidcIssuer, oidcClientID, oidcGroupsClaim, oidcGroups awscdk.CfnParameter
	localURL                                              awscdk.CfnParameter // nil but for local clouds
}

func newStack(scope constructs.Construct, set settings) *stack {
	s := &stack{
		Stack: awscdk.NewStack(scope, jsii.String("Bindery"), &awscdk.StackProps{
			StackName:             jsii.String(set.stack),
			Description:           jsii.String("Bindery: static exports of documentation sites"),
			TerminationProtection: jsii.Bool(set.keep),
		}),
		settings: set,
	}
	awscdk.Tags_Of(s.Stack).Add(jsii.String("bindery:stage"), jsii.String(string(set.stage)), nil)
	awscdk.Tags_Of(s.Stack).Add(jsii.String("application"), jsii.String("bindery"), nil)

	s.parameters = newParameters(s)
	s.storage = newStorage(s)
	s.workflow.deadLetters = newDeadLetters(s)
	s.newFunctions()
	s.newSigners()
	s.newWorkflow()
	s.newWebhooks()
	s.grant()
	s.newGateway()
	s.newPeople()
	s.newWatch()
	s.explain()

	for _, out := range []struct {
		name, about string
		value       *string
	}{
		{"ApiUrl", "Address of the API", s.gateway.address(s.settings)},
		{"ApiId", "Id of the REST API: local clouds need it in their addresses", s.gateway.api.RestApiId()},
		{"ApiStage", "Stage of the REST API", s.gateway.api.DeploymentStage().StageName()},
		{"TableName", "Table of all records", s.storage.table.TableName()},
		{"SourcesBucket", "Bucket of published sites", s.storage.sources.BucketName()},
		{"ExportsBucket", "Bucket of bundles", s.storage.exports.BucketName()},
		{"StateMachineArn", "State machine of exports", s.workflow.machine.StateMachineArn()},
		{"AgentStateMachineArn", "State machine of agent jobs", s.workflow.agent.StateMachineArn()},
		{"AgentEventRule", "Rule that tells of executions of agent jobs that ended other than well", s.workflow.agentEnded.RuleName()},
		{"AgentWorkRole", "Role of the function that asks models: it needs rights to models of Amazon Bedrock where the table names some", s.functions["agentwork"].role.RoleName()},
		{"CredentialKeyArn", "Key that credentials of forges are encrypted with", s.storage.credentials.KeyArn()},
		{"ModelSecretArn", "Secret for the keys of models", s.storage.modelKeys.AttrId()},
		{"GitHubAppSecretArn", "Secret for the private key of the GitHub App", s.storage.appKey.AttrId()},
		{"SignerRole", "Role that links to bundles are signed with", s.signers[signer].role.RoleArn()},
		{"ReconcilerRule", "Rule that starts the reconciler", s.workflow.schedule.RuleName()},
		{"EventRule", "Rule that tells of executions that ended other than well", s.workflow.ended.RuleName()},
		{"RequestLogGroups", "Log groups of the functions that answer requests", s.requestLogs()},
		{"DeadLetterQueue", "Queue of events that could not be handled", s.workflow.deadLetters.QueueUrl()},
	} {
		awscdk.NewCfnOutput(s.Stack, jsii.String("Out"+out.name), &awscdk.CfnOutputProps{
			Value: out.value, Description: jsii.String(out.about),
		}).OverrideLogicalId(jsii.String(out.name))
	}
	if s.domain != "" {
		awscdk.NewCfnOutput(s.Stack, jsii.String("OutDomainTarget"), &awscdk.CfnOutputProps{
			Value: s.gateway.domain.DomainNameAliasDomainName(), Description: jsii.String("What the domain's record in DNS must point at"),
		}).OverrideLogicalId(jsii.String("DomainTarget"))
	}
	return s
}

func newParameters(s *stack) parameters {
	number := func(name, about string, value, least, most float64) awscdk.CfnParameter {
		return awscdk.NewCfnParameter(s.Stack, jsii.String(name), &awscdk.CfnParameterProps{
			Type: jsii.String("Number"), Default: value, MinValue: &least, MaxValue: &most, Description: &about,
		})
	}
	text := func(name, about string, most float64) awscdk.CfnParameter {
		return awscdk.NewCfnParameter(s.Stack, jsii.String(name), &awscdk.CfnParameterProps{
			Type: jsii.String("String"), Default: "", MaxLength: &most, Description: &about,
		})
	}
	// like is a text that CloudFormation refuses unless it matches.
	like := func(name, about, value, pattern, must string, most float64) awscdk.CfnParameter {
		return awscdk.NewCfnParameter(s.Stack, jsii.String(name), &awscdk.CfnParameterProps{
			Type: jsii.String("String"), Default: value, MaxLength: &most, Description: &about, AllowedPattern: &pattern, ConstraintDescription: &must,
		})
	}
	var localURL awscdk.CfnParameter
	if s.stage == stageLocal { // each has its own way to say where an API is
		localURL = like("LocalUrl", "Where the local cloud has the API, with {ApiId} for its id",
			"http://127.0.0.1:4566/restapis/{ApiId}/local/_user_request_", `https?://.*\{ApiId\}.*`, "must be an address with {ApiId} in it", 200)
	}
	return parameters{
		localURL: localURL,
		oidcIssuer: like("OidcIssuer", "Address of an OpenID provider that signs people in to the dashboard; empty for a user pool of the stack",
			"", `(https?://[^\s"]+)?`, "must be an address", 300),
		oidcClientID:      text("OidcClientId", "What that provider knows the dashboard as; its secret is in the stack's output OidcSecretArn", 100),
		oidcGroupsClaim:   like("OidcGroupsClaim", "Claim of that provider with a person's groups", "groups", `[^\s"]+`, "must be the name of a claim", 100),
		oidcGroups:        text("OidcGroups", `Roles that groups at the provider have, as JSON such as {"writers":{"org_…":"member"}}; empty for none`, 1000),
		renderConcurrency: number("RenderConcurrency", "How many shards of one export are rendered at the same time", 40, 1, 1000),
		renderReserved:    number("RenderReserved", "How many shards of all exports together are rendered at the same time, which Lambda keeps apart for that; 0 for no bound of its own", 0, 0, 10000),
		agentReserved:     number("AgentReserved", "How many agent jobs work at the same time, which Lambda keeps apart for that; 0 for no bound of its own", 0, 0, 10000),
		// Lambda takes 4 KB of environment in all.
		models:            text("Models", "Table of models that agents ask, as JSON without keys; empty for no agents", 2500),
		forgeHosts:        text("ForgeHosts", "Hosts of forges that agents may work with, with commas between them; empty for github.com, gitlab.com, codeberg.org and gitea.com", 400),
		forgePrivateHosts: text("ForgePrivateHosts", "Hosts of forges with private addresses, likewise, where functions can reach them", 400),
		githubApp: like("GitHubApp", "Id or client id of a GitHub App for projects that have no credential of their own; empty for none",
			"", `[A-Za-z0-9._-]*`, "must be the id or the client id of a GitHub App", 40),
		githubAppHost: like("GitHubAppHost", "Host that the App is registered at", config.DefaultGitHubHost,
			`[A-Za-z0-9.-]+(:[0-9]+)?`, "must be a host, with its port unless that is the usual one", 100),
		bundleDays:  number("BundleRetentionDays", "After how many days bundles of projects without a retention of their own are removed, unless they are live or one of the last ten versions; 0 keeps them", 0, 0, 3650),
		rate:        number("RequestRate", "Requests a second that the API takes on average, over all callers", 100, 1, 10000),
		burst:       number("RequestBurst", "Requests that the API takes at once", 200, 1, 5000),
		maxRunning:  number("MaxRunning", "How many exports of an organisation may be queued or running", 10, 1, 1000),
		linkMinutes: number("LinkMinutes", "How many minutes links to bundles and for uploads live", 60, 1, 60),
		webhookHosts: awscdk.NewCfnParameter(s.Stack, jsii.String("WebhookHosts"), &awscdk.CfnParameterProps{
			Type: jsii.String("String"), Default: jsii.String(""), Description: jsii.String("Hosts of your own network that webhooks may have, with commas between them"),
		}),
	}
}
