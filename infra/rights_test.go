package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/job"
)

// TestGrantsAreNarrow: no right but to trace and to write logs is on everything,
// and none is a pattern.
func TestGrantsAreNarrow(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		roles := 0
		for role := range s.of("AWS::IAM::Role") {
			if strings.HasPrefix(role, "Custom") || strings.HasPrefix(role, "ApiCloudWatch") {
				continue
			}
			roles++
			for action, resources := range s.allowed(t, role) {
				if strings.Contains(action, "*") {
					t.Errorf("%s allows %s", role, action)
				}
				if slices.Contains(resources, `"*"`) && !strings.HasPrefix(action, "xray:") && action != "dynamodb:ListStreams" &&
					!(strings.Contains(role, "WorkflowRole") && strings.HasPrefix(action, "logs:")) {
					t.Errorf("%s allows %s on everything", role, action)
				}
			}
		}
		if want := len(functions()) + 2; roles < want {
			t.Errorf("only %d roles, want %d or more: is the template read right?", roles, want)
		}
	})
}

// TestOnePolicyARole: what a role may do is a property of it. Policies beside
// roles are only those that would make a circle there: of who takes a signer
// role, of who reads the identity provider's secret, and of a workflow, whose own is
// CDK's.
func TestOnePolicyARole(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		var beside []string
		for id := range s.of("AWS::IAM::Policy") {
			beside = append(beside, strings.TrimRight(id, "0123456789ABCDEF"))
		}
		slices.Sort(beside)
		if diff := cmp.Diff([]string{"AgentWorkflowRoleDefaultPolicy", "WorkflowRoleDefaultPolicy", "dashboardsecret", "signertakers", "uploadertakers", "workflowmap"}, beside); diff != "" {
			t.Errorf("policies beside roles:\n%s", diff)
		}
		for _, f := range functions() {
			id, role := s.named(t, "AWS::IAM::Role", f.name+"role")
			if at(role.Properties, "Policies", 0, "PolicyName") != policyName || at(role.Properties, "Policies", 1) != nil {
				t.Errorf("%s has the policies %v", id, role.Properties["Policies"])
			}
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

// allowed gives what the policies of a role allow: the resources of each
// action, as JSON.
func (s *synthesized) allowed(t *testing.T, role string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	own, _ := s.Resources[role].Properties["Policies"].([]any)
	for _, p := range s.of("AWS::IAM::Policy") {
		roles, _ := p.Properties["Roles"].([]any)
		if slices.ContainsFunc(roles, func(r any) bool { return at(r, "Ref") == role }) {
			own = append(own, p.Properties)
		}
	}
	for _, p := range own {
		statements, _ := at(p, "PolicyDocument", "Statement").([]any)
		for i := range statements {
			resources, ok := at(statements, i, "Resource").([]any)
			if !ok {
				resources = []any{at(statements, i, "Resource")}
			}
			for _, action := range list(at(statements, i, "Action")) {
				for _, r := range resources {
					text, err := json.Marshal(r)
					if err != nil {
						t.Fatal(err)
					}
					all[action] = append(all[action], string(text))
				}
			}
		}
	}
	return all
}

// TestDeadLettersArrive: who has to bring what could not be handled to the
// queue may do so, and nobody else.
func TestDeadLettersArrive(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		queue, _ := s.named(t, "AWS::SQS::Queue", "DeadLetters")
		for _, f := range functions() {
			role, _ := s.named(t, "AWS::IAM::Role", f.name+"role")
			var want []string
			if f.byEvents() {
				want = []string{`{"Fn::GetAtt":["` + queue + `","Arn"]}`}
			}
			if diff := cmp.Diff(want, s.allowed(t, role)["sqs:SendMessage"]); diff != "" {
				t.Errorf("%s may send to:\n%s", f.name, diff)
			}
		}
		var rules []string
		for _, p := range s.of("AWS::SQS::QueuePolicy") {
			statements, _ := at(p.Properties, "PolicyDocument", "Statement").([]any)
			for i := range statements {
				if at(statements, i, "Effect") != "Allow" {
					continue
				}
				rule, _ := at(statements, i, "Condition", "ArnEquals", "aws:SourceArn", "Fn::GetAtt", 0).(string)
				if at(statements, i, "Principal", "Service") != "events.amazonaws.com" || s.Resources[rule].Type != "AWS::Events::Rule" {
					t.Errorf("the queue takes from %v", statements[i])
				}
				rules = append(rules, strings.TrimRight(rule, "0123456789ABCDEF"))
			}
		}
		slices.Sort(rules)
		if diff := cmp.Diff([]string{"AgentEnded", "ExportEnded", "Reconciler", "Webhooks"}, rules); diff != "" {
			t.Errorf("rules that may send to the queue:\n%s", diff)
		}
	})
}

// TestWorkflowsRole: a workflow's role calls its steps in all their versions and
// does nothing else but write logs and traces, save that of exports, which starts
// the children of its map: executions of its own machine.
func TestWorkflowsRole(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for workflow, steps := range map[string][]string{
			"Workflow":      {"assemblebundle", "failexport", "planexport", "rendershard"},
			"AgentWorkflow": {"agentfail", "agentprepare", "agentpublish", "agentreview", "agentwork"},
		} {
			role, _ := s.named(t, "AWS::IAM::Role", workflow+"Role")
			allowed := s.allowed(t, role)
			var want []string
			for _, name := range steps {
				id, _ := s.named(t, "AWS::Lambda::Function", name)
				arn := `{"Fn::GetAtt":["` + id + `","Arn"]}`
				want = append(want, arn, `{"Fn::Join":["",[`+arn+`,":*"]]}`)
			}
			got := slices.Sorted(slices.Values(allowed["lambda:InvokeFunction"]))
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("functions that %s may call:\n%s", workflow, diff)
			}
			machine, _ := s.named(t, "AWS::StepFunctions::StateMachine", workflow)
			var starts []string
			if workflow == exportWorkflow {
				starts = []string{`{"Ref":"` + machine + `"}`}
			}
			if diff := cmp.Diff(starts, allowed["states:StartExecution"]); diff != "" {
				t.Errorf("machines that %s may start:\n%s", workflow, diff)
			}
			for action, resources := range allowed {
				service, _, _ := strings.Cut(action, ":")
				switch {
				case service == "logs", service == "xray", action == "lambda:InvokeFunction", action == "states:StartExecution":
				case workflow == exportWorkflow && (action == "states:DescribeExecution" || action == "states:StopExecution"):
					if len(resources) != 1 || !strings.Contains(resources[0], `":execution:"`) || !strings.Contains(resources[0], machine) {
						t.Errorf("%s on %v", action, resources)
					}
				default:
					t.Errorf("%s may %s", workflow, action)
				}
			}
		}
	})
}

// TestAgentsSecretsAreApart: who opens the credentials of forges reads the key of the
// GitHub App and no model's, and the other way round; nobody else does either, and the dashboard alone reads
// what the identity provider knows it by; and
// credentials are opened for owners alone. The steps see no partition of the table but those that
// they work on, and Work not that of credentials.
func TestAgentsSecretsAreApart(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		key, _ := s.named(t, "AWS::KMS::Key", "CredentialKey")
		keys, _ := s.named(t, "AWS::SecretsManager::Secret", "ModelKeys")
		app, _ := s.named(t, "AWS::SecretsManager::Secret", "GitHubAppKey")
		client, _ := s.named(t, "AWS::SecretsManager::Secret", "OidcClientSecret")
		for _, f := range functions() {
			role, r := s.named(t, "AWS::IAM::Role", f.name+"role")
			var decrypts, reads []string
			switch f.name {
			case "agentprepare", "agentpublish":
				decrypts = []string{`{"Fn::GetAtt":["` + key + `","Arn"]}`}
				reads = []string{`{"Fn::GetAtt":["` + app + `","Id"]}`}
			case "agentwork":
				reads = []string{`{"Fn::GetAtt":["` + keys + `","Id"]}`}
			case dashboardFunction:
				reads = []string{`{"Fn::GetAtt":["` + client + `","Id"]}`}
			}
			allowed := s.allowed(t, role)
			if diff := cmp.Diff([][]string{decrypts, reads}, [][]string{allowed["kms:Decrypt"], allowed["secretsmanager:GetSecretValue"]}); diff != "" {
				t.Errorf("secrets that %s may read:\n%s", f.name, diff)
			}
			// What asks for pull requests asks who has a credential.
			var invokes []string
			if f.name == "reconcile" {
				prepare, _ := s.named(t, "AWS::Lambda::Function", "agentprepare")
				invokes = []string{`{"Fn::GetAtt":["` + prepare + `","Arn"]}`}
			}
			if diff := cmp.Diff(invokes, allowed["lambda:InvokeFunction"]); diff != "" {
				t.Errorf("functions that %s may call:\n%s", f.name, diff)
			}
			statements, _ := at(r.Properties, "Policies", 0, "PolicyDocument", "Statement").([]any)
			partitions := ""
			for i := range statements {
				actions := list(at(statements, i, "Action"))
				if slices.Contains(actions, "kms:Decrypt") && mustJSON(t, at(statements, i, "Condition")) != `{"ForAllValues:StringEquals":{"kms:EncryptionContextKeys":["organisation","project"]}}` {
					t.Errorf("%s may decrypt for anybody: %v", f.name, statements[i])
				}
				if slices.Contains(actions, "dynamodb:GetItem") {
					partitions = strings.Join(list(at(statements, i, "Condition", "ForAllValues:StringLike", "dynamodb:LeadingKeys")), " ")
				}
			}
			want := ""
			switch f.name {
			case "agentprepare", "agentpublish":
				want = "project#* org#* agent#* webhook#* due#* secret#*"
			case "agentwork", "agentreview", "agentfail":
				want = "project#* org#* agent#* webhook#* due#*"
			}
			if partitions != want {
				t.Errorf("%s may read the partitions %q, want %q", f.name, partitions, want)
			}
		}
	})
}

// TestReviewsAreOfReviewAlone: only the function agentreview writes records of reviews.
// It writes nothing else among the objects, and nobody but Publish, and the reconciler
// that removes them, has a right to them besides.
func TestReviewsAreOfReviewAlone(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for _, f := range functions() {
			role, _ := s.named(t, "AWS::IAM::Role", f.name+"role")
			var rights []string
			for action, resources := range s.allowed(t, role) {
				if !strings.HasPrefix(action, "s3:") || action == "s3:ListBucket" {
					continue
				}
				for _, r := range resources {
					if strings.Contains(r, job.AgentReviews) || f.name == "agentreview" && action == "s3:PutObject" || strings.HasSuffix(r, `"/*"]]}`) {
						key := r[strings.LastIndexByte(r[:len(r)-4], '"'):]
						rights = append(rights, action+" "+strings.Trim(key, `"]}/`))
					}
				}
			}
			slices.Sort(rights)
			want := map[string][]string{
				"agentreview":  {"s3:GetObject agentreviews/*", "s3:PutObject agentreviews/*"},
				"agentpublish": {"s3:GetObject agentreviews/*"},
				"reconcile":    {"s3:DeleteObject agentreviews/*"},
			}[f.name]
			if diff := cmp.Diff(want, rights); diff != "" {
				t.Errorf("%s may:\n%s", f.name, diff)
			}
		}
	})
}

// TestWhoMayRunKnowsWhat: a function with a right to executions has a machine in
// its environment, without which it can't start.
func TestWhoMayRunKnowsWhat(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		for _, f := range functions() {
			_, r := s.named(t, "AWS::Lambda::Function", f.name)
			variables, _ := at(r.Properties, "Environment", "Variables").(object)
			knows := slices.ContainsFunc(slices.Collect(maps.Keys(variables)), func(name string) bool { return strings.HasSuffix(name, "_MACHINE") })
			if may := len(grants()[f.name].runs) > 0; may && !knows {
				t.Errorf("%s may run executions and knows no machine", f.name)
			}
		}
	})
}

// TestWhoMayStopMayLook: an execution is described before it is stopped
// (sfnrun.Runner.Stop).
func TestWhoMayStopMayLook(t *testing.T) {
	for name, a := range grants() {
		for _, calls := range [][]string{a.runs, a.agents} {
			if slices.Contains(calls, "StopExecution") && !slices.Contains(calls, "DescribeExecution") {
				t.Errorf("%s may stop executions and not describe them", name)
			}
		}
	}
}
