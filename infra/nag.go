package main

import (
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// explain says, where a rule of cdk-nag's pack AwsSolutions does not hold, why
// that is so. Each reason is as narrow as the rule allows: rules about
// wildcards name the wildcards.
func (s *stack) explain() {
	const (
		keysAreOurs = "Callers have admin keys of Bindery's own, which every handler checks: the same code as in a local Bindery, so that there is no second path. " +
			"People have sessions, which the dashboard checks likewise. What needs no key is the API's document, methods that paths of the API lack (405), and mocks (404)."
		tracing      = "X-Ray's calls take no resource."
		versionsStay = "An execution goes on with the function versions that it began with, also when there are newer ones."
		vendedLog    = "The calls by which Step Functions sets up its log delivery, and X-Ray's, take no resource."
	)
	on := func(construct any, suppressions ...*cdknag.NagPackSuppression) {
		cdknag.NagSuppressions_AddResourceSuppressions(construct, &suppressions, jsii.Bool(true))
	}
	on(s.gateway.api,
		because("AwsSolutions-APIG4", keysAreOurs),
		because("AwsSolutions-COG4", keysAreOurs),
		because("AwsSolutions-APIG2", "The gateway asks for the header with the key alone. All else handlers validate, and name the field that is wrong, which request validators can't."),
		because("AwsSolutions-IAM4", "The policy is the one that API Gateway documents for its account-wide logging role.",
			"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"),
	)
	if !s.waf {
		on(s.gateway.api.DeploymentStage(), because("AwsSolutions-APIG3", "A web ACL costs more than a stage that is idle; it is there in prod, and elsewhere by the context value waf."))
	}
	keys := because("AwsSolutions-IAM5",
		"Objects are named by organisation, digest and job, none of which is known when this is deployed; each function has the narrowest patterns of keys that cover its own.",
		`/^Resource::<(Sources|Exports)[0-9A-F]+\.Arn>\/(orgs|exports|agents|agentreviews|kept)\/.*\*.*$/g`)
	executions := because("AwsSolutions-IAM5", "Executions are named by jobs, which are not known when this is deployed; all are of this one machine.",
		`/^Resource::arn:.*:states:.*:execution:.*:\*$/g`)
	for _, f := range s.functions {
		on(f.role, because("AwsSolutions-IAM5", tracing, "Resource::*"), keys)
	}
	for _, signs := range s.signers {
		on(signs.role, keys)
	}
	on(s.functions["reconcile"].role, executions)
	on(s.functions["cancelexport"].role, executions)
	on(s.functions[dashboardFunction].role, executions)
	on(s.workflow.mapPolicy, executions)
	on(s.workflow.machine,
		because("AwsSolutions-IAM5", vendedLog, "Resource::*"),
		because("AwsSolutions-IAM5", versionsStay, `/^Resource::<(planexport|rendershard|assemblebundle|failexport)[0-9A-F]+\.Arn>:\*$/g`),
	)
	on(s.workflow.agent,
		because("AwsSolutions-IAM5", vendedLog, "Resource::*"),
		because("AwsSolutions-IAM5", versionsStay, `/^Resource::<agent(prepare|work|review|publish|fail)[0-9A-F]+\.Arn>:\*$/g`),
	)
	on(s.people.pool,
		because("AwsSolutions-COG2", "Whether people need a second factor is the operator's policy: each may have one, and the pool can ask all for it."),
		because("AwsSolutions-COG3", "Threat protection is of the plan Plus, in which each person costs from the first on; an operator can choose it."),
		because("AwsSolutions-COG8", "In the plan Plus each person costs from the first on, in Essentials from the 10,001st; an operator can choose it."),
	)
	on(s.people.secret, because("AwsSolutions-SMG4", "The secret is the identity provider's: only the provider makes others."))
	on(s.storage.modelKeys, because("AwsSolutions-SMG4", "The keys are those of the models' providers: only their own consoles make others."))
	on(s.storage.appKey, because("AwsSolutions-SMG4", "The key is GitHub's: only the page of the App makes others."))
}

// because is a rule that does not hold, with the reason. Findings, where a
// rule has many, are the ones that the reason covers; one between slashes is
// an expression.
func because(rule, reason string, findings ...string) *cdknag.NagPackSuppression {
	suppression := &cdknag.NagPackSuppression{Id: &rule, Reason: &reason}
	if len(findings) == 0 {
		return suppression
	}
	var covered []any
	for _, f := range findings {
		if f[0] == '/' {
			covered = append(covered, &cdknag.RegexAppliesTo{Regex: jsii.String(f)})
		} else {
			covered = append(covered, f)
		}
	}
	suppression.AppliesTo = &covered
	return suppression
}
