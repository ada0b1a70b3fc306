package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/config"
	outputs "github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestLocalDiffersInJustThat compares the local stage with a dev stage that has
// everything: what local clouds can't deploy is left out, and nothing else.
func TestLocalDiffersInJustThat(t *testing.T) {
	outside.Long(t, "synthesizes one more stack")
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
	mayBeLeftOut = regexp.MustCompile(`^(AWS::WAFv2::\S+ .*|AWS::CloudWatch::CompositeAlarm .*|AWS::Cognito::ManagedLoginBranding .*|AWS::CloudWatch::Alarm Alarm(ApiFaultRate|StepsThrottled).*` +
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
	for id, r := range parsed.Resources {
		if strings.HasPrefix(id, "ApiAccount") || strings.HasPrefix(id, "ApiCloudWatchRole") { // others may use them, on AWS
			r.DeletionPolicy, r.UpdateReplacePolicy = "", ""
			parsed.Resources[id] = r
		}
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
			if env, ok := at(r.Properties, "Environment", "Variables").(object); ok {
				delete(env, config.DashboardURL) // a local cloud is at an address of its own
			}
		case "AWS::Cognito::UserPoolClient":
			delete(r.Properties, "CallbackURLs")
		case "AWS::S3::Bucket":
			rules, _ := at(r.Properties, "CorsConfiguration", "CorsRules").([]any)
			for _, rule := range rules {
				delete(rule.(object), "AllowedOrigins")
			}
		}
	}
	return parsed.Resources
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
		{"a domain of one's own", map[string]any{"domain": "api.example.com", "certificate": certificate}, func(s settings) bool { return s.domain == "api.example.com" && s.certificate == certificate }},
		{"a key of one's own", map[string]any{"key": customerKey}, func(s settings) bool { return s.key == customerKey }},
		{"dev protected", map[string]any{"protect": "true"}, func(s settings) bool { return s.protect && !s.keep }},
		{"prod unprotected", map[string]any{"stage": "prod", "protect": false}, func(s settings) bool { return !s.protect && s.keep }},
		{"a restored table", map[string]any{"table": "Restored-1"}, func(s settings) bool { return s.table == "Restored-1" }},
		{"another runbook", map[string]any{"runbook": "https://wiki.example/r"}, func(s settings) bool { return s.runbook == "https://wiki.example/r" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s, err := from(c.context); err != nil || !c.check(s) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	for name, context := range map[string]map[string]any{
		"unknown stage":              {"stage": "test"},
		"unknown answer":             {"waf": "yes"},
		"unclear protection":         {"protect": "maybe"},
		"no name of a table":         {"table": "arn:aws:dynamodb:eu-central-1:1:table/x"},
		"web ACL in local":           {"stage": "local", "waf": "true"},
		"unknown processor":          {"arch": "mips"},
		"runbook without TLS":        {"runbook": "http://wiki.example"},
		"domain without certificate": {"domain": "api.example.com"},
		"certificate without domain": {"certificate": certificate},
		"certificate of KMS":         {"domain": "api.example.com", "certificate": customerKey},
		"key by its alias":           {"key": strings.Replace(customerKey, "key/", "alias/", 1)},
		"key in local":               {"stage": "local", "key": customerKey},
		"no code":                    {"functions": filepath.Join(dir, "nothing")},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := from(context); err == nil {
				t.Errorf("taken: %+v", s)
			}
		})
	}
}

// What an account has of its own.
const (
	certificate = "arn:aws:acm:eu-central-1:123456789012:certificate/6a0b1f0e-0000-4000-8000-000000000000"
	customerKey = "arn:aws:kms:eu-central-1:123456789012:key/7b1c2d3e-0000-4000-8000-000000000000"
)

// With a key and a domain of the customer's own, table and buckets use the key,
// whoever reads or writes them may use it through those services alone, and
// callers are told the domain.
func TestKeyAndDomainOfTheCustomer(t *testing.T) {
	s := synth(t, stageProd, func(s *settings) { s.domain, s.certificate, s.key = "api.example.com", certificate, customerKey })
	for id, table := range s.of("AWS::DynamoDB::Table") {
		if got := at(table.Properties, "SSESpecification", "KMSMasterKeyId"); got != customerKey {
			t.Errorf("%s is encrypted with %v", id, got)
		}
	}
	encrypted := 0
	for id, bucket := range s.of("AWS::S3::Bucket") {
		rule := at(bucket.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0)
		if at(rule, "ServerSideEncryptionByDefault", "KMSMasterKeyID") == customerKey {
			encrypted++
			if at(rule, "BucketKeyEnabled") != true {
				t.Errorf("%s asks KMS for each object", id)
			}
		}
	}
	if encrypted != 2 {
		t.Errorf("%d buckets are encrypted with the key, want those of sources and exports", encrypted)
	}
	for _, f := range functions() {
		role, _ := s.named(t, "AWS::IAM::Role", f.name+"role")
		text := mustJSON(t, s.Resources[role].Properties["Policies"])
		data := strings.Contains(text, `"dynamodb:`) || strings.Contains(text, `"s3:GetObject`) || strings.Contains(text, `"s3:PutObject`)
		if data != (strings.Contains(text, "kms:Decrypt") && strings.Contains(text, "kms:ViaService")) {
			t.Errorf("%s reads or writes data: %v, and may use the key: %v", role, data, !data)
		}
	}
	// Credentials are encrypted with it, too: the stack has no other key.
	if keys, got := s.of("AWS::KMS::Key"), at(s.Outputs[outputs.OutputCredentialKey], "Value"); len(keys) != 0 || got != customerKey {
		t.Errorf("credentials are encrypted with %v, and the stack has %d keys", got, len(keys))
	}
	for _, name := range []string{"agentprepare", "agentpublish"} {
		role, _ := s.named(t, "AWS::IAM::Role", name+"role")
		text := mustJSON(t, s.Resources[role].Properties["Policies"])
		if !strings.Contains(text, `"kms:EncryptionContextKeys":["organisation","project"]}},"Effect":"Allow","Resource":"`+customerKey) {
			t.Errorf("%s may not open credentials: %s", name, text)
		}
	}
	if names := s.of("AWS::ApiGateway::DomainName"); len(names) != 1 {
		t.Errorf("%d domains", len(names))
	}
	if got := at(s.Outputs["ApiUrl"], "Value"); got != "https://api.example.com/" {
		t.Errorf("callers are told %v", got)
	}
	_, publish := s.named(t, "AWS::Lambda::Function", "agentpublish")
	if got := at(publish.Properties, "Environment", "Variables", config.DashboardURL); got != "https://api.example.com" {
		t.Errorf("pull requests link to jobs at %v", got)
	}
	if s.Outputs["DomainTarget"] == nil {
		t.Error("nobody is told what the record in DNS must point at")
	}
}

// TestRestoredTableTakesThePlace: with the name of a restored table, functions
// and operators use that one, and the stack's own is not in the stack any more,
// where prod keeps it.
func TestRestoredTableTakesThePlace(t *testing.T) {
	outside.Long(t, "synthesizes one more stack")
	s := synth(t, stageProd, func(s *settings) { s.table = "Restored" })
	if n := len(s.of("AWS::DynamoDB::Table")); n != 0 {
		t.Errorf("the stack has %d tables", n)
	}
	if got := at(s.Outputs["TableName"], "Value"); got != "Restored" {
		t.Errorf("operators are told of %v", got)
	}
	for _, f := range functions() {
		_, r := s.named(t, "AWS::Lambda::Function", f.name)
		if got := at(r.Properties, "Environment", "Variables", config.Table); f.operation != openAPI && got != "Restored" {
			t.Errorf("%s uses %v", f.name, got)
		}
		role, _ := s.named(t, "AWS::IAM::Role", f.name+"role")
		for _, resource := range s.allowed(t, role)["dynamodb:GetItem"] {
			if !strings.Contains(resource, ":table/Restored") {
				t.Errorf("%s may read %s", f.name, resource)
			}
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
