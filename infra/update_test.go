package main

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// before is the template of a stage as it was before policies became parts of
// roles and the API one document: the release that is updated from.
func before(t *testing.T, name stage) template {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "before", string(name)+".template.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var old template
	if err := json.NewDecoder(unpacked).Decode(&old); err != nil {
		t.Fatal(err)
	}
	return old
}

// immutable are, of each type that has to outlive an update, the properties
// whose change makes CloudFormation replace the resource.
var immutable = map[string][]string{
	"AWS::DynamoDB::Table":             {"TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "SSESpecification"},
	"AWS::S3::Bucket":                  {"BucketName"},
	"AWS::Logs::LogGroup":              {"LogGroupName"},
	"AWS::SQS::Queue":                  {"QueueName", "FifoQueue"},
	"AWS::SNS::Topic":                  {"TopicName", "FifoTopic"},
	"AWS::Lambda::Function":            {"FunctionName", "PackageType"},
	"AWS::IAM::Role":                   {"RoleName", "Path"},
	"AWS::StepFunctions::StateMachine": {"StateMachineName", "StateMachineType"},
	"AWS::ApiGateway::RestApi":         {},
	"AWS::ApiGateway::Stage":           {"RestApiId", "StageName"},
}

// mayGo lists the types of which an update may remove resources. CloudFormation
// removes after all else is made and changed, so who loses a policy has its
// other one by then.
var mayGo = []string{
	"AWS::ApiGateway::Deployment", "AWS::ApiGateway::GatewayResponse", "AWS::ApiGateway::Method", "AWS::ApiGateway::RequestValidator",
	"AWS::ApiGateway::Resource", "AWS::IAM::Policy", "AWS::Lambda::Permission", "AWS::Lambda::Version",
}

// TestUpdateKeeps: an update from the release before replaces and removes
// nothing that has data or that callers know, and takes no right away before
// its replacement is there.
func TestUpdateKeeps(t *testing.T) {
	for _, name := range []stage{stageProd, stageLocal} {
		t.Run(string(name), func(t *testing.T) {
			old, now := before(t, name), synth(t, name)
			kept := 0
			for id, r := range old.Resources {
				next, there := now.Resources[id]
				names, stays := immutable[r.Type]
				switch {
				case !there && (stays || !slices.Contains(mayGo, r.Type)):
					t.Errorf("%s, a %s, is removed", id, r.Type)
				case !there && r.Type == "AWS::Lambda::Version" && r.DeletionPolicy != "Retain":
					t.Errorf("%s is removed: an execution may call it", id)
				case there && next.Type != r.Type:
					t.Errorf("%s was a %s and is a %s", id, r.Type, next.Type)
				case there && stays:
					kept++
					for _, property := range names {
						if diff := cmp.Diff(r.Properties[property], next.Properties[property]); diff != "" {
							t.Errorf("%s is replaced: %s:\n%s", id, property, diff)
						}
					}
					if r.DeletionPolicy != next.DeletionPolicy {
						t.Errorf("%s: %s when the stack is deleted, before %s", id, next.DeletionPolicy, r.DeletionPolicy)
					}
				}
			}
			if kept < 50 {
				t.Errorf("only %d resources were looked at: is the template read right?", kept)
			}
			policiesKeepTheirRights(t, old, now)
			for name := range old.Outputs {
				if now.Outputs[name] == nil {
					t.Errorf("the output %s is gone", name)
				}
			}
			for name, p := range old.Parameters {
				if now.Parameters[name]["Type"] != p["Type"] {
					t.Errorf("the parameter %s: %v, before %v", name, now.Parameters[name], p)
				}
			}
		})
	}
}

// policiesKeepTheirRights: a policy that an update removes goes by its name, and
// must not take with it one of the same name that the update has just put there;
// and what it allowed, the role still may.
func policiesKeepTheirRights(t *testing.T, old template, now *synthesized) {
	t.Helper()
	was := &synthesized{template: old}
	for id, role := range now.of("AWS::IAM::Role") {
		policies, _ := role.Properties["Policies"].([]any)
		for _, p := range policies {
			for _, gone := range was.of("AWS::IAM::Policy") {
				if gone.Properties["PolicyName"] == at(p, "PolicyName") {
					t.Errorf("the policy %v of %s goes with an old one", at(p, "PolicyName"), id)
				}
			}
		}
		if _, had := old.Resources[id]; !had {
			continue // of a function that the release before did not have
		}
		may := now.allowed(t, id)
		for action, resources := range was.allowed(t, id) {
			for _, r := range resources {
				if !slices.Contains(may[action], r) {
					t.Errorf("%s may no longer %s on %s", id, action, r)
				}
			}
		}
		if lost := slices.Sorted(maps.Keys(was.allowed(t, id))); len(lost) == 0 && regexp.MustCompile("^[a-z]+role").MatchString(id) && !strings.HasPrefix(id, "openapi") {
			t.Errorf("%s had no rights: is the template read right?", id)
		}
	}
}
