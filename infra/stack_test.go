package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/config"
	outputs "github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/statemachine"
	"github.com/bindery-docs/bindery/tests/outside"
)

var stages = []stage{stageDev, stageProd, stageLocal}

// everyStage runs a test for each stage.
func everyStage(t *testing.T, test func(t *testing.T, s *synthesized, name stage)) {
	for _, name := range stages {
		t.Run(string(name), func(t *testing.T) { test(t, synth(t, name), name) })
	}
}

func TestEveryFunctionOfTheFolderIsDeployed(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("..", "functions"))
	if err != nil {
		t.Fatal(err)
	}
	var folder, table []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join("..", "functions", e.Name(), "main.go")); err == nil {
			folder = append(folder, e.Name())
		}
	}
	for _, f := range functions() {
		table = append(table, f.name)
	}
	slices.Sort(table)
	if diff := cmp.Diff(folder, table); diff != "" {
		t.Errorf("functions/ and the table of functions differ:\n%s", diff)
	}
}

func TestFunctions(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		for _, f := range functions() {
			id, r := s.named(t, "AWS::Lambda::Function", f.name)
			want := "arm64"
			if name == stageLocal {
				want = "x86_64"
			}
			for property, want := range (object{
				"Architectures": []any{want}, "Runtime": "provided.al2023", "Handler": "bootstrap",
				"TracingConfig": object{"Mode": "Active"}, "MemorySize": f.memory, "Timeout": f.timeout,
			}) {
				if diff := cmp.Diff(want, r.Properties[property]); diff != "" {
					t.Errorf("%s: %s:\n%s", f.name, property, diff)
				}
			}
			switch {
			case f.part == answers && f.timeout >= 29:
				t.Errorf("%s: API Gateway gives up after 29 s, the function after %v", f.name, f.timeout)
			case f.timeout > 900:
				t.Errorf("%s: Lambda has no more than 15 minutes", f.name)
			}
			if group := at(r.Properties, "LoggingConfig", "LogGroup", "Ref"); group == nil {
				t.Errorf("%s has no log group of the stack", f.name)
			} else if days := s.Resources[group.(string)].Properties["RetentionInDays"]; days == nil {
				t.Errorf("%s: its log is kept for ever", f.name)
			}
			byEvents := f.byEvents()
			if has := at(r.Properties, "DeadLetterConfig", "TargetArn") != nil; has != byEvents {
				t.Errorf("%s: dead letters: %v, want %v (%s)", f.name, has, byEvents, id)
			}
		}
	})
}

// TestRenderingLeavesTheAPIItsShare: over all exports, shards, and over all jobs,
// agents take no more than
// the parameter says, and without it nothing is reserved: a new account, which
// has ten in all, could not be deployed to.
func TestRenderingLeavesTheAPIItsShare(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for _, f := range functions() {
			id, r := s.named(t, "AWS::Lambda::Function", f.name)
			var want any
			switch f.name {
			case "rendershard":
				want = object{"Fn::If": []any{"RenderIsBounded", object{"Ref": "RenderReserved"}, object{"Ref": "AWS::NoValue"}}}
			case "agentwork":
				want = object{"Fn::If": []any{"AgentIsBounded", object{"Ref": "AgentReserved"}, object{"Ref": "AWS::NoValue"}}}
			}
			if diff := cmp.Diff(want, r.Properties["ReservedConcurrentExecutions"]); diff != "" {
				t.Errorf("%s reserves:\n%s", id, diff)
			}
		}
		for condition, parameter := range map[string]string{"RenderIsBounded": "RenderReserved", "AgentIsBounded": "AgentReserved"} {
			if diff := cmp.Diff(object{"Fn::Not": []any{object{"Fn::Equals": []any{object{"Ref": parameter}, 0.0}}}}, s.Conditions[condition]); diff != "" {
				t.Errorf("the condition:\n%s", diff)
			}
			if got := s.Parameters[parameter]["Default"]; got != 0.0 {
				t.Errorf("%v are reserved by default: %s", got, parameter)
			}
		}
	})
}

// TestStepsHaveTheWorkflowsTime: a function that goes on behind its state's
// limit works for nobody, and one that ends before it hides the limit.
func TestStepsHaveTheWorkflowsTime(t *testing.T) {
	filled := []any{
		fill(t, statemachine.Export(), map[string]string{
			statemachine.PlanFunction: "planexport", statemachine.RenderFunction: "rendershard",
			statemachine.AssembleFunction: "assemblebundle", statemachine.FailFunction: "failexport", statemachine.RenderConcurrency: "1",
		}),
		fill(t, statemachine.Agent(), map[string]string{
			statemachine.AgentPrepareFunction: "agentprepare", statemachine.AgentWorkFunction: "agentwork", statemachine.AgentReviewFunction: "agentreview",
			statemachine.AgentPublishFunction: "agentpublish", statemachine.AgentFailFunction: "agentfail",
		}),
	}
	timeouts := map[string]float64{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["Type"] == "Task" {
				timeouts[v["Resource"].(string)] = v["TimeoutSeconds"].(float64)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(filled)
	if len(timeouts) != 9 {
		t.Fatalf("%d tasks in the workflows, want 9", len(timeouts))
	}
	for _, f := range functions() {
		if f.part == steps && timeouts[f.name] != f.timeout {
			t.Errorf("%s: the state waits %v s, the function runs %v s", f.name, timeouts[f.name], f.timeout)
		}
	}
}

func fill(t *testing.T, definition []byte, values map[string]string) any {
	t.Helper()
	raw, err := statemachine.Fill(definition, values)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWorkflowsNameVersionsThatStay: a deployment in the middle of a job does not
// mix versions of its steps.
func TestWorkflowsNameVersionsThatStay(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for _, c := range []struct {
			workflow   string
			definition []byte
			steps      map[string]string
		}{
			{"Workflow", statemachine.Export(), map[string]string{
				statemachine.PlanFunction: "planexport", statemachine.RenderFunction: "rendershard",
				statemachine.AssembleFunction: "assemblebundle", statemachine.FailFunction: "failexport",
			}},
			{"AgentWorkflow", statemachine.Agent(), map[string]string{
				statemachine.AgentPrepareFunction: "agentprepare", statemachine.AgentWorkFunction: "agentwork", statemachine.AgentReviewFunction: "agentreview",
				statemachine.AgentPublishFunction: "agentpublish", statemachine.AgentFailFunction: "agentfail",
			}},
		} {
			_, machine := s.named(t, "AWS::StepFunctions::StateMachine", c.workflow)
			if got := machine.Properties["DefinitionString"]; got != string(c.definition) {
				t.Errorf("%s: the definition is not that of package statemachine", c.workflow)
			}
			substitutions, _ := machine.Properties["DefinitionSubstitutions"].(object)
			var names []string
			for name := range substitutions {
				names = append(names, name)
			}
			slices.Sort(names)
			if diff := cmp.Diff(statemachine.Variables(c.definition), names); diff != "" {
				t.Errorf("%s: substitutions:\n%s", c.workflow, diff)
			}
			for variable, function := range c.steps {
				id, _ := at(substitutions, variable, "Ref").(string)
				version := s.Resources[id]
				if version.Type != "AWS::Lambda::Version" || !strings.HasPrefix(id, function) {
					t.Errorf("%s is %v, want a version of %s", variable, substitutions[variable], function)
				}
				if version.DeletionPolicy != "Retain" || version.UpdateReplacePolicy != "Retain" {
					t.Errorf("the version of %s goes with the next: %s, %s", function, version.DeletionPolicy, version.UpdateReplacePolicy)
				}
			}
			if at(machine.Properties, "TracingConfiguration", "Enabled") != true || at(machine.Properties, "LoggingConfiguration", "Level") != "ALL" ||
				at(machine.Properties, "LoggingConfiguration", "IncludeExecutionData") != false {
				t.Errorf("%s: tracing and logs: %v %v", c.workflow, machine.Properties["TracingConfiguration"], machine.Properties["LoggingConfiguration"])
			}
		}
		_, machine := s.named(t, "AWS::StepFunctions::StateMachine", "Workflow")
		if diff := cmp.Diff(object{"Ref": "RenderConcurrency"}, at(machine.Properties, "DefinitionSubstitutions", statemachine.RenderConcurrency)); diff != "" {
			t.Errorf("concurrency:\n%s", diff)
		}
		if p := s.Parameters["RenderConcurrency"]; p["MinValue"] != 1.0 {
			t.Errorf("concurrency has no bound: %v", p)
		}
		// The right to start its own children is in a policy that the machine
		// does not wait for: else the two would wait for each other.
		id, _ := s.named(t, "AWS::IAM::Policy", "workflowmap")
		if depends, _ := json.Marshal(machine.DependsOn); strings.Contains(string(depends), id) {
			t.Error("machine and policy of the map wait for each other")
		}
	})
}

func TestStorage(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		_, table := s.named(t, "AWS::DynamoDB::Table", "Table")
		for property, want := range (object{
			"BillingMode":                      "PAY_PER_REQUEST",
			"KeySchema":                        []any{object{"AttributeName": "pk", "KeyType": "HASH"}, object{"AttributeName": "sk", "KeyType": "RANGE"}},
			"PointInTimeRecoverySpecification": object{"PointInTimeRecoveryEnabled": true},
			"TimeToLiveSpecification":          object{"AttributeName": "expires", "Enabled": true},
			"DeletionProtectionEnabled":        name == stageProd,
		}) {
			if diff := cmp.Diff(want, table.Properties[property]); diff != "" {
				t.Errorf("table: %s:\n%s", property, diff)
			}
		}
		// The stream wakes who delivers events, where one begins to wait, and holds
		// up nothing.
		_, outbox := s.named(t, "AWS::Lambda::EventSourceMapping", "Outbox")
		for property, want := range (object{
			"MaximumRetryAttempts": 0.0, "StartingPosition": "LATEST",
			"FilterCriteria": object{"Filters": []any{object{"Pattern": `{"dynamodb":{"Keys":{"sk":{"S":[{"prefix":"pending#"}]}}},"eventName":["INSERT"]}`}}},
		}) {
			if diff := cmp.Diff(want, outbox.Properties[property]); diff != "" {
				t.Errorf("outbox: %s:\n%s", property, diff)
			}
		}
		if at(table.Properties, "StreamSpecification", "StreamViewType") != "KEYS_ONLY" {
			t.Errorf("the stream is %v", table.Properties["StreamSpecification"])
		}
		kept := map[bool]string{true: "Retain", false: "Delete"}[name == stageProd]
		if table.DeletionPolicy != kept {
			t.Errorf("table: %s, want %s", table.DeletionPolicy, kept)
		}

		buckets := s.of("AWS::S3::Bucket")
		if len(buckets) != 3 {
			t.Fatalf("%d buckets, want sources, exports and their logs", len(buckets))
		}
		for id, b := range buckets {
			if b.DeletionPolicy != kept {
				t.Errorf("%s: %s, want %s", id, b.DeletionPolicy, kept)
			}
			if diff := cmp.Diff(object{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true},
				b.Properties["PublicAccessBlockConfiguration"]); diff != "" {
				t.Errorf("%s: public access:\n%s", id, diff)
			}
			if at(b.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0) == nil {
				t.Errorf("%s is not encrypted", id)
			}
			if !s.tlsOnly(id) {
				t.Errorf("%s takes requests without TLS", id)
			}
			rules, _ := at(b.Properties, "LifecycleConfiguration", "Rules").([]any)
			if at(b.Properties, "LifecycleConfiguration", "Rules", 0, "AbortIncompleteMultipartUpload", "DaysAfterInitiation") != 2.0 {
				t.Errorf("%s keeps uploads that were broken off: %v", id, rules)
			}
			for i := range rules {
				ages := at(rules, i, "ExpirationInDays") != nil || at(rules, i, "ExpirationDate") != nil || at(rules, i, "NoncurrentVersionExpiration") != nil
				if ages && strings.HasPrefix(id, "Sources") {
					t.Errorf("%s: a pack of last year may hold a page of today, and a job goes on from rounds of months ago, but: %v", id, rules[i])
				}
				if ages && strings.HasPrefix(id, "Exports") {
					t.Errorf("%s: a bundle of last year may be live, but: %v", id, rules[i])
				}
			}
		}
		_, reconcile := s.named(t, "AWS::Lambda::Function", "reconcile")
		if got := at(reconcile.Properties, "Environment", "Variables", config.BundleDays, "Ref"); got != "BundleRetentionDays" {
			t.Errorf("the sweep is told %v of the retention of bundles", got)
		}
		if got := s.Parameters["BundleRetentionDays"]["Default"]; got != 0.0 {
			t.Errorf("bundles are kept %v days by default, want for ever", got)
		}
	})
}

// TestWhatBecomesOfData when the stack is deleted: dev leaves nothing behind,
// which for buckets takes a function that empties them; prod leaves everything,
// and is protected itself. A local cloud can't run that function.
func TestWhatBecomesOfData(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		if s.protected != (name == stageProd) {
			t.Errorf("the stack is protected: %v", s.protected)
		}
		emptied := map[string]bool{}
		for _, r := range s.of("Custom::S3AutoDeleteObjects") {
			emptied[at(r.Properties, "BucketName", "Ref").(string)] = true
		}
		for _, kind := range []string{"AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup", "AWS::KMS::Key", "AWS::SecretsManager::Secret"} {
			for id, r := range s.of(kind) {
				want := map[bool]string{true: "Retain", false: "Delete"}[name == stageProd]
				// A log group of CDK's own function goes by CDK's rule.
				if !strings.HasPrefix(id, "Custom") && (r.DeletionPolicy != want || r.UpdateReplacePolicy != want) {
					t.Errorf("%s: %s, and when it is replaced %s; want %s", id, r.DeletionPolicy, r.UpdateReplacePolicy, want)
				}
				if kind == "AWS::S3::Bucket" && emptied[id] != (name == stageDev) {
					t.Errorf("%s is emptied: %v", id, emptied[id])
				}
			}
		}
	})
}

// TestTags: all that can have tags says whose it is.
func TestTags(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		tagged := 0
		for _, kind := range []string{"AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Lambda::Function", "AWS::StepFunctions::StateMachine", "AWS::SQS::Queue", "AWS::ApiGateway::RestApi"} {
			for id, r := range s.of(kind) {
				has := map[any]any{}
				tags, _ := r.Properties["Tags"].([]any)
				for _, tag := range tags {
					has[at(tag, "Key")] = at(tag, "Value")
				}
				if kind == "AWS::Lambda::Function" && strings.HasPrefix(id, "Custom") {
					continue // CDK's own
				}
				tagged++
				if has["application"] != "bindery" || has["bindery:stage"] != string(name) {
					t.Errorf("%s has the tags %v", id, has)
				}
			}
		}
		if tagged < 18 {
			t.Errorf("only %d resources were looked at", tagged)
		}
	})
}

// tlsOnly tells whether a bucket's policy refuses what does not come over TLS.
func (s *synthesized) tlsOnly(bucket string) bool {
	for _, p := range s.of("AWS::S3::BucketPolicy") {
		if at(p.Properties, "Bucket", "Ref") != bucket {
			continue
		}
		statements, _ := at(p.Properties, "PolicyDocument", "Statement").([]any)
		for i := range statements {
			if at(statements, i, "Effect") == "Deny" && at(statements, i, "Condition", "Bool", "aws:SecureTransport") == "false" {
				return true
			}
		}
	}
	return false
}

func TestRules(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		_, ended := s.named(t, "AWS::Events::Rule", "ExportEnded")
		if diff := cmp.Diff([]any{"FAILED", "TIMED_OUT", "ABORTED"}, at(ended.Properties, "EventPattern", "detail", "status")); diff != "" {
			t.Errorf("executions that are told of:\n%s", diff)
		}
		if machine := at(ended.Properties, "EventPattern", "detail", "stateMachineArn", 0, "Ref"); machine == nil {
			t.Error("the rule is not about this machine alone")
		}
		// The sample in the folder events, which tests replay, is what is sent.
		if target, _ := at(ended.Properties, "Targets", 0).(map[string]any); target["InputTransformer"] != nil || target["Input"] != nil || target["InputPath"] != nil {
			t.Errorf("the event reaches its function changed: %v", target)
		}
		_, looks := s.named(t, "AWS::Events::Rule", "Reconciler")
		if got := looks.Properties["ScheduleExpression"]; got != "rate(1 minute)" {
			t.Errorf("the reconciler looks at %v", got)
		}
		_, webhooks := s.named(t, "AWS::Events::Rule", "Webhooks")
		if got := webhooks.Properties["ScheduleExpression"]; got != "rate(1 minute)" {
			t.Errorf("webhooks are looked at %v", got)
		}
		_, agentEnded := s.named(t, "AWS::Events::Rule", "AgentEnded")
		machine, _ := s.named(t, "AWS::StepFunctions::StateMachine", "AgentWorkflow")
		fails, _ := s.named(t, "AWS::Lambda::Function", "agentfail")
		if diff := cmp.Diff([]any{
			object{"detail": object{"stateMachineArn": []any{object{"Ref": machine}}, "status": []any{"FAILED", "TIMED_OUT", "ABORTED"}},
				"detail-type": []any{"Step Functions Execution Status Change"}, "source": []any{"aws.states"}},
			fails,
		}, []any{agentEnded.Properties["EventPattern"], at(agentEnded.Properties, "Targets", 0, "Arn", "Fn::GetAtt", 0)}); diff != "" {
			t.Errorf("the rule about agent jobs:\n%s", diff)
		}
		for name, rule := range map[string]resourceOf{"ended": ended, "agentended": agentEnded, "reconciler": looks, "webhooks": webhooks} {
			if at(rule.Properties, "Targets", 0, "DeadLetterConfig", "Arn") == nil {
				t.Errorf("%s: an event that can't be delivered is lost", name)
			}
		}
	})
}

// TestAlarmsPointAtTheRunbook: each has a section of its own there.
func TestAlarmsPointAtTheRunbook(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "operate", "runbook.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(page), -1) {
		anchors[strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		math := 0
		for id, a := range s.of("AWS::CloudWatch::Alarm") {
			about, _ := a.Properties["AlarmDescription"].(string)
			_, anchor, ok := strings.Cut(about, defaultRunbook+"#")
			if !ok || !anchors[anchor] {
				t.Errorf("%s: no section of the runbook for %q", id, about)
			}
			if at(a.Properties, "AlarmActions", 0) == nil {
				t.Errorf("%s tells nobody", id)
			}
			if a.Properties["Metrics"] != nil {
				math++
			}
		}
		rich := len(s.of("AWS::CloudWatch::CompositeAlarm"))
		if name == stageLocal && (math != 0 || rich != 0) || name != stageLocal && (math != 2 || rich != 1) {
			t.Errorf("%d alarms over several metrics, %d over alarms", math, rich)
		}
		if len(s.of("AWS::CloudWatch::Dashboard")) != 1 {
			t.Error("no dashboard")
		}
	})
}

// TestMetricsAreThere: an alarm over a metric that AWS never gives with these
// dimensions is silent for ever.
func TestMetricsAreThere(t *testing.T) {
	// The dimensions that the services' documentation has for each.
	known := map[string][]string{
		"AWS/ApiGateway 5XXError": {"ApiName", "Stage"}, "AWS/ApiGateway Latency": {"ApiName", "Stage"}, "AWS/ApiGateway Count": {"ApiName", "Stage"},
		"AWS/States ExecutionsFailed": {"StateMachineArn"}, "AWS/States ExecutionsTimedOut": {"StateMachineArn"},
		"AWS/Lambda Errors": {"FunctionName"}, "AWS/Lambda Throttles": {"FunctionName"},
		"AWS/SQS ApproximateNumberOfMessagesVisible": {"QueueName"},
		"Bindery AgentFaults":                        {"Stage"}, "Bindery SweepAge": {"Stage"}, "Bindery SweepFailures": {"Stage"}, "Bindery ExportFaults": {"Stage"},
		"AWS/DynamoDB ReadThrottleEvents": {"TableName"}, "AWS/DynamoDB WriteThrottleEvents": {"TableName"},
	}
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for id, a := range s.of("AWS::CloudWatch::Alarm") {
			metrics := []any{a.Properties}
			if several, ok := a.Properties["Metrics"].([]any); ok {
				metrics = nil
				for _, m := range several {
					if stat := at(m, "MetricStat", "Metric"); stat != nil {
						metrics = append(metrics, stat)
						continue
					}
					if expression, _ := at(m, "Expression").(string); strings.Contains(expression, " + ") {
						t.Errorf("%s: %q is nothing where one of them has no data", id, expression)
					}
				}
			}
			for _, m := range metrics {
				name := fmt.Sprint(at(m, "Namespace"), " ", at(m, "MetricName"))
				var dimensions []string
				list, _ := at(m, "Dimensions").([]any)
				for _, d := range list {
					dimensions = append(dimensions, fmt.Sprint(at(d, "Name")))
				}
				slices.Sort(dimensions)
				if !slices.Equal(dimensions, known[name]) {
					t.Errorf("%s: %s has the dimensions %v, want %v", id, name, dimensions, known[name])
				}
			}
		}
	})
}

// TestTheAccountsLoggingRoleStays: all APIs of an account log with the role of
// the stack that was deployed last, and must not fall silent when it goes.
func TestTheAccountsLoggingRoleStays(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		want := "Retain"
		if name == stageLocal { // nobody else is there
			want = "Delete"
		}
		_, role := s.named(t, "AWS::IAM::Role", "ApiCloudWatchRole")
		_, account := s.named(t, "AWS::ApiGateway::Account", "ApiAccount")
		if role.DeletionPolicy != want || account.DeletionPolicy != want {
			t.Errorf("the role: %s, the account's setting: %s, want %s", role.DeletionPolicy, account.DeletionPolicy, want)
		}
	})
}

// TestWhatStaysIsInNobodysWay: a resource that outlives its stack under a name
// that the next stack gives again keeps that one from being made.
func TestWhatStaysIsInNobodysWay(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		kept := 0
		for id, r := range s.Resources {
			if r.DeletionPolicy != "Retain" {
				continue
			}
			kept++
			for _, property := range []string{"TableName", "BucketName", "LogGroupName", "QueueName", "RoleName"} {
				fixed := r.Properties[property]
				if b, err := json.Marshal(fixed); err != nil || fixed != nil && !bytes.Contains(b, []byte("AWS::StackId")) {
					t.Errorf("%s stays, and is called %s (%v)", id, b, err)
				}
			}
		}
		if name == stageProd && kept == 0 {
			t.Error("nothing stays")
		}
	})
}

func TestOutputsAreWhatOperatorsRead(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for _, name := range []string{outputs.OutputURL, outputs.OutputTable, outputs.OutputSourcesBucket, outputs.OutputExportsBucket, outputs.OutputStateMachine, outputs.OutputCredentialKey} {
			if s.Outputs[name]["Value"] == nil {
				t.Errorf("no output %s", name)
			}
		}
	})
}

// TestLint has cfn-lint read the golden template of production, and with make test-all
// those of the other stages.
func TestLint(t *testing.T) {
	outside.Long(t, "starts a linter of CloudFormation")
	lint := outside.Tool(t, "cfn-lint", "venv", "bin", "cfn-lint")
	// W3005: CDK writes down dependencies that references imply already.
	args := []string{"--ignore-checks", "W3005", "--region", "eu-central-1", "--"}
	linted := stages
	if !outside.Full() {
		linted = []stage{stageProd}
	}
	for _, name := range linted {
		args = append(args, filepath.Join("testdata", string(name)+".template.json"))
	}
	if out, err := exec.Command(lint, args...).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
}

// CloudFormation takes 500 resources in a stack. What is to come needs some of
// them: twenty-one more functions, of the kind that takes most.
func TestResourcesAreFarFromTheLimit(t *testing.T) {
	const limit, more = 400, 21
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		most := 0
		for _, f := range functions() {
			own := regexp.MustCompile("^" + f.name + "(called$|(|role|logs|EventInvokeConfig|CurrentVersion)[0-9A-F]{8})")
			mine := 0
			for id, r := range s.Resources {
				// Rules that call a function have a permission of their own.
				if own.MatchString(id) || r.Type == "AWS::Lambda::Permission" && strings.Contains(id, "AllowEventRuleBindery"+f.name) {
					mine++
				}
			}
			if mine < 4 {
				t.Errorf("%s has only %d resources: are their names read right?", f.name, mine)
			}
			most = max(most, mine)
		}
		switch n := len(s.Resources); {
		case n < 90 || n+more*most >= limit:
			t.Errorf("%d resources, and %d for a function: %d more functions make %d", n, most, more, n+more*most)
		default:
			t.Logf("%d resources, %d with %d more functions of %d each", n, n+more*most, more, most)
		}
	})
}
