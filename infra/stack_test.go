package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/admin"
	"github.com/bindery-docs/bindery/shared/api"
	outputs "github.com/bindery-docs/bindery/shared/cloud/stack"
	"github.com/bindery-docs/bindery/statemachine"
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
			byEvents := f.name == "failexport" || f.part == looks
			if has := at(r.Properties, "DeadLetterConfig", "TargetArn") != nil; has != byEvents {
				t.Errorf("%s: dead letters: %v, want %v (%s)", f.name, has, byEvents, id)
			}
		}
	})
}

// TestStepsHaveTheWorkflowsTime: a function that goes on behind its state's
// limit works for nobody, and one that ends before it hides the limit.
func TestStepsHaveTheWorkflowsTime(t *testing.T) {
	filled := fill(t, map[string]string{
		statemachine.PlanFunction: "planexport", statemachine.RenderFunction: "rendershard",
		statemachine.AssembleFunction: "assemblebundle", statemachine.FailFunction: "failexport", statemachine.RenderConcurrency: "1",
	})
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
	if len(timeouts) != 4 {
		t.Fatalf("%d tasks in the workflow, want 4", len(timeouts))
	}
	for _, f := range functions() {
		if f.part == steps && timeouts[f.name] != f.timeout {
			t.Errorf("%s: the state waits %v s, the function runs %v s", f.name, timeouts[f.name], f.timeout)
		}
	}
}

func fill(t *testing.T, values map[string]string) any {
	t.Helper()
	raw, err := statemachine.Fill(statemachine.Export(), values)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWorkflowNamesVersionsThatStay: a deployment in the middle of an export
// does not mix renderers.
func TestWorkflowNamesVersionsThatStay(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		_, machine := s.named(t, "AWS::StepFunctions::StateMachine", "Workflow")
		if got := machine.Properties["DefinitionString"]; got != string(statemachine.Export()) {
			t.Error("the definition is not that of package statemachine")
		}
		substitutions, _ := machine.Properties["DefinitionSubstitutions"].(object)
		var names []string
		for name := range substitutions {
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(statemachine.Variables(statemachine.Export()), names); diff != "" {
			t.Errorf("substitutions:\n%s", diff)
		}
		for variable, function := range map[string]string{
			statemachine.PlanFunction: "planexport", statemachine.RenderFunction: "rendershard",
			statemachine.AssembleFunction: "assemblebundle", statemachine.FailFunction: "failexport",
		} {
			id, _ := at(substitutions, variable, "Ref").(string)
			version := s.Resources[id]
			if version.Type != "AWS::Lambda::Version" || !strings.HasPrefix(id, function) {
				t.Errorf("%s is %v, want a version of %s", variable, substitutions[variable], function)
			}
			if version.DeletionPolicy != "Retain" || version.UpdateReplacePolicy != "Retain" {
				t.Errorf("the version of %s goes with the next: %s, %s", function, version.DeletionPolicy, version.UpdateReplacePolicy)
			}
		}
		if diff := cmp.Diff(object{"Ref": "RenderConcurrency"}, substitutions[statemachine.RenderConcurrency]); diff != "" {
			t.Errorf("concurrency:\n%s", diff)
		}
		if p := s.Parameters["RenderConcurrency"]; p["MinValue"] != 1.0 {
			t.Errorf("concurrency has no bound: %v", p)
		}
		if at(machine.Properties, "TracingConfiguration", "Enabled") != true || at(machine.Properties, "LoggingConfiguration", "Level") != "ALL" ||
			at(machine.Properties, "LoggingConfiguration", "IncludeExecutionData") != false {
			t.Errorf("tracing and logs: %v %v", machine.Properties["TracingConfiguration"], machine.Properties["LoggingConfiguration"])
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
					t.Errorf("%s: a pack of last year may hold a page of today, but: %v", id, rules[i])
				}
			}
		}
		_, exports := s.named(t, "AWS::S3::Bucket", "Exports")
		rule := at(exports.Properties, "LifecycleConfiguration", "Rules", 1)
		if diff := cmp.Diff([]any{"BundlesExpire", "Enabled", "Disabled"}, at(rule, "Status", "Fn::If")); diff != "" {
			t.Errorf("bundles expire without being asked to:\n%s", diff)
		}
		if got := s.Parameters["BundleRetentionDays"]["Default"]; got != 0.0 {
			t.Errorf("bundles are kept %v days by default, want for ever", got)
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

// TestGatewayHasTheRoutesOfTheAPI and answers everything else with 404.
func TestGatewayHasTheRoutesOfTheAPI(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		want := map[string]bool{"GET /openapi.json": true}
		for _, r := range api.Routes(api.Options{}) {
			want[r.Method+" "+r.Path] = true
		}
		answered := map[string]bool{}
		for id, m := range s.of("AWS::ApiGateway::Method") {
			method, path := m.Properties["HttpMethod"].(string), s.path(m.Properties["ResourceId"])
			if method != "ANY" {
				if !want[method+" "+path] {
					t.Errorf("%s: the API has no %s %s", id, method, path)
				}
				delete(want, method+" "+path)
				if at(m.Properties, "Integration", "Type") != "AWS_PROXY" {
					t.Errorf("%s %s goes to %v", method, path, m.Properties["Integration"])
				}
				continue
			}
			answered[path] = true
			if at(m.Properties, "Integration", "Type") != "MOCK" || at(m.Properties, "Integration", "IntegrationResponses", 0, "StatusCode") != "404" ||
				at(m.Properties, "Integration", "PassthroughBehavior") != "NEVER" {
				t.Errorf("ANY %s: %v", path, m.Properties["Integration"])
			}
			body, _ := at(m.Properties, "Integration", "IntegrationResponses", 0, "ResponseTemplates", "application/json").(string)
			inForm(t, "ANY "+path, body)
		}
		for missing := range want {
			t.Errorf("%s is not deployed", missing)
		}
		for _, r := range s.of("AWS::ApiGateway::Resource") {
			if path := s.pathOf(r); !answered[path] {
				t.Errorf("%s has no answer for methods that it lacks", path)
			}
		}
		if !answered["/"] || !answered["/{proxy+}"] {
			t.Error("there are paths without an answer")
		}
	})
}

// path follows a resource's parents to its path.
func (s *synthesized) path(ref any) string {
	if id, ok := at(ref, "Ref").(string); ok {
		return s.pathOf(s.Resources[id])
	}
	return "/" // the root is an attribute of the API
}

func (s *synthesized) pathOf(r resourceOf) string {
	return strings.TrimSuffix(s.path(r.Properties["ParentId"]), "/") + "/" + r.Properties["PathPart"].(string)
}

// inForm holds a body to the form of every refusal.
func inForm(t *testing.T, where, body string) {
	t.Helper()
	var v map[string]string
	if err := json.Unmarshal([]byte(body), &v); err != nil || len(v) != 1 || v["error"] == "" {
		t.Errorf(`%s: the body is %q, want {"error": …} and no more`, where, body)
	}
}

// gatewayKinds are all kinds of answers that API Gateway gives by itself.
var gatewayKinds = []string{
	"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "BAD_REQUEST_BODY",
	"BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT",
	"INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE",
	"RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
}

func TestEveryGatewayResponseIsInForm(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		var kinds []string
		for _, r := range s.of("AWS::ApiGateway::GatewayResponse") {
			kind := r.Properties["ResponseType"].(string)
			kinds = append(kinds, kind)
			body, _ := at(r.Properties, "ResponseTemplates", "application/json").(string)
			inForm(t, kind, body)
			code, _ := at(r.Properties, "ResponseParameters", "gatewayresponse.header."+api.HeaderErrorCode).(string)
			if !slices.Contains(admin.Codes(), strings.Trim(code, "'")) {
				t.Errorf("%s: the code %s is none of the API's", kind, code)
			}
			if at(r.Properties, "ResponseParameters", "gatewayresponse.header."+api.HeaderRequestID) == nil {
				t.Errorf("%s has no request id", kind)
			}
		}
		slices.Sort(kinds)
		if diff := cmp.Diff(gatewayKinds, kinds); diff != "" {
			t.Errorf("kinds of gateway responses:\n%s", diff)
		}
	})
}

func TestStageOfTheGateway(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, name stage) {
		_, st := s.named(t, "AWS::ApiGateway::Stage", "Api")
		format, _ := at(st.Properties, "AccessLogSetting", "Format").(string)
		if !json.Valid([]byte(format)) || regexp.MustCompile(`(?i)authorization|\$input|header`).MatchString(format) {
			t.Errorf("access log: %s", format)
		}
		if at(st.Properties, "AccessLogSetting", "DestinationArn") == nil || st.Properties["TracingEnabled"] != true {
			t.Errorf("access log or tracing is off: %v", st.Properties)
		}
		all := at(st.Properties, "MethodSettings", 0)
		if at(all, "DataTraceEnabled") != false {
			t.Error("the gateway logs requests in full, keys too")
		}
		if at(all, "ThrottlingRateLimit", "Ref") != "RequestRate" || at(all, "ThrottlingBurstLimit", "Ref") != "RequestBurst" {
			t.Errorf("throttling: %v", all)
		}
		if len(s.of("AWS::ApiGateway::Account")) != 1 {
			t.Error("API Gateway has no role to write logs with")
		}
		acls := len(s.of("AWS::WAFv2::WebACLAssociation"))
		want := map[bool]int{true: 1}[name == stageProd]
		if acls != want {
			t.Errorf("%d web ACLs before the API, want %d", acls, want)
		}
	})
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
		_, looks := s.named(t, "AWS::Events::Rule", "Reconciler")
		if got := looks.Properties["ScheduleExpression"]; got != "rate(1 minute)" {
			t.Errorf("the reconciler looks at %v", got)
		}
		for name, rule := range map[string]resourceOf{"ended": ended, "reconciler": looks} {
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

// TestGrantsAreNarrow: no right but to trace and to write logs is on everything,
// and none is a pattern.
func TestGrantsAreNarrow(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		policies := 0
		for id, p := range s.of("AWS::IAM::Policy") {
			if strings.HasPrefix(id, "Custom") {
				continue
			}
			policies++
			statements, _ := at(p.Properties, "PolicyDocument", "Statement").([]any)
			for i := range statements {
				for _, action := range list(at(statements, i, "Action")) {
					if strings.Contains(action, "*") {
						t.Errorf("%s allows %s", id, action)
					}
					if slices.Contains(list(at(statements, i, "Resource")), "*") && !strings.HasPrefix(action, "xray:") &&
						!(strings.HasPrefix(id, "Workflow") && strings.HasPrefix(action, "logs:")) {
						t.Errorf("%s allows %s on everything", id, action)
					}
				}
			}
		}
		if policies < 25 {
			t.Errorf("only %d policies: is the template read right?", policies)
		}
	})
}

// list gives the texts of a value that is one text or several.
func list(v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, x := range v {
			all = append(all, list(x)...)
		}
	}
	return all
}

func TestOutputsAreWhatOperatorsRead(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for _, name := range []string{outputs.OutputURL, outputs.OutputTable, outputs.OutputSourcesBucket, outputs.OutputExportsBucket, outputs.OutputStateMachine} {
			if s.Outputs[name]["Value"] == nil {
				t.Errorf("no output %s", name)
			}
		}
	})
}

// TestLocalDiffersInJustThat compares the local stage with a dev stage that has
// everything: what local clouds can't deploy is left out, and nothing else.
func TestLocalDiffersInJustThat(t *testing.T) {
	all := plain(t, synth(t, stageDev, func(s *settings) { s.waf = true }))
	local := plain(t, synth(t, stageLocal))
	for id, r := range local {
		if _, ok := all[id]; !ok {
			t.Errorf("only local has %s, a %s", id, r.Type)
		}
	}
	left := 0
	for id, want := range all {
		have, ok := local[id]
		if !ok {
			left++
			if !mayBeLeftOut.MatchString(want.Type + " " + id) {
				t.Errorf("local lacks %s, a %s", id, want.Type)
			}
			continue
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s differs:\n%s", id, diff)
		}
	}
	if left < 8 {
		t.Errorf("only %d resources are left out: is the comparison right?", left)
	}
}

var (
	mayBeLeftOut = regexp.MustCompile(`^(AWS::WAFv2::\S+ .*|AWS::CloudWatch::CompositeAlarm .*|AWS::CloudWatch::Alarm Alarm(ApiFaultRate|StepsThrottled).*` +
		`|\S+ Custom.*AutoDelete.*|Custom::S3AutoDeleteObjects .*)$`)
	stageName = regexp.MustCompile(`\b(dev|local)\b|(ApiDeploymentStage)(?:dev|local)[0-9A-F]{8}`)
	// Deployments and versions are named by a digest of what they hold.
	contentName = regexp.MustCompile(`(CurrentVersion[0-9A-F]{8}|ApiDeployment[0-9A-F]{8})[0-9a-f]{32}`)
)

// plain gives a template's resources without the stage's name, digests of
// content, and what stands in others for resources that may be left out.
func plain(t *testing.T, s *synthesized) map[string]resourceOf {
	t.Helper()
	text := stageName.ReplaceAllString(string(s.raw), "${2}STAGE")
	text = contentName.ReplaceAllString(text, "$1")
	var parsed template
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatal(err)
	}
	for _, r := range parsed.Resources {
		if tags, ok := r.Properties["Tags"].([]any); ok {
			r.Properties["Tags"] = slices.DeleteFunc(tags, func(tag any) bool { return at(tag, "Key") == "aws-cdk:auto-delete-objects" })
		}
		switch r.Type {
		case "AWS::S3::BucketPolicy":
			document := r.Properties["PolicyDocument"].(object)
			document["Statement"] = slices.DeleteFunc(document["Statement"].([]any), func(s any) bool {
				role, _ := at(s, "Principal", "AWS", "Fn::GetAtt", 0).(string)
				return strings.HasPrefix(role, "CustomS3AutoDelete")
			})
		case "AWS::CloudWatch::Dashboard": // it shows the alarms
			delete(r.Properties, "DashboardBody")
		case "AWS::Lambda::Function":
			r.Properties["Architectures"] = "the processor"
		}
	}
	return parsed.Resources
}

// TestLint has cfn-lint read the golden templates.
func TestLint(t *testing.T) {
	lint, err := filepath.Abs(filepath.Join("..", ".cache", "venv", "bin", "cfn-lint"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lint); err != nil {
		if os.Getenv("BINDERY_REQUIRE") == "all" {
			t.Fatal("needs cfn-lint (make tools), and BINDERY_REQUIRE=all")
		}
		t.Skip("not run: needs cfn-lint (make tools)")
	}
	// W3005: CDK writes down dependencies that references imply already.
	args := []string{"--ignore-checks", "W3005", "--region", "eu-central-1", "--"}
	for _, name := range stages {
		args = append(args, filepath.Join("testdata", string(name)+".template.json"))
	}
	if out, err := exec.Command(lint, args...).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
}

func TestSettings(t *testing.T) {
	dir := placeholders(t)
	from := func(context map[string]any) (settings, error) {
		if context["functions"] == nil {
			context["functions"] = dir
		}
		return settingsFrom(func(name string) any { return context[name] })
	}
	for _, c := range []struct {
		name    string
		context map[string]any
		check   func(s settings) bool
	}{
		{"dev by default", map[string]any{}, func(s settings) bool { return s.stage == stageDev && !s.waf && !s.keep && s.emptyBuckets }},
		{"prod keeps and guards", map[string]any{"stage": "prod"}, func(s settings) bool { return s.keep && s.waf && !s.emptyBuckets && s.stack == "Bindery-prod" }},
		{"prod without web ACL", map[string]any{"stage": "prod", "waf": "false"}, func(s settings) bool { return !s.waf }},
		{"values of JSON", map[string]any{"waf": true}, func(s settings) bool { return s.waf }},
		{"another name", map[string]any{"stack": "Docs"}, func(s settings) bool { return s.stack == "Docs" }},
		{"another runbook", map[string]any{"runbook": "https://wiki.example/r"}, func(s settings) bool { return s.runbook == "https://wiki.example/r" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s, err := from(c.context); err != nil || !c.check(s) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	for name, context := range map[string]map[string]any{
		"unknown stage":       {"stage": "test"},
		"unknown answer":      {"waf": "yes"},
		"web ACL in local":    {"stage": "local", "waf": "true"},
		"unknown processor":   {"arch": "mips"},
		"runbook without TLS": {"runbook": "http://wiki.example"},
		"no code":             {"functions": filepath.Join(dir, "nothing")},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := from(context); err == nil {
				t.Errorf("taken: %+v", s)
			}
		})
	}
}
