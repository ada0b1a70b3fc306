package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/config"
)

// ifOwn is one thing with the stack's own user pool and another without.
func ifOwn(pools, others any) object { return object{"Fn::If": []any{"OwnUserPool", pools, others}} }

// TestPeopleSignInAtAPool, unless a parameter names another provider: then nothing
// of the pool is there, and one that has been there stays, outside of the stack.
func TestPeopleSignInAtAPool(t *testing.T) {
	everyStage(t, func(t *testing.T, s *synthesized, stage stage) {
		if diff := cmp.Diff(object{"Fn::Equals": []any{object{"Ref": "OidcIssuer"}, ""}}, s.Conditions["OwnUserPool"]); diff != "" {
			t.Errorf("the condition:\n%s", diff)
		}
		conditional := 0
		for id, r := range s.Resources {
			if strings.HasPrefix(r.Type, "AWS::Cognito::") {
				if conditional++; r.Condition != "OwnUserPool" {
					t.Errorf("%s is always there", id)
				}
			}
		}
		if want := map[bool]int{true: 3, false: 4}[stage == stageLocal]; conditional != want {
			t.Errorf("%d resources of Cognito, want %d", conditional, want)
		}
		poolID, pool := s.named(t, "AWS::Cognito::UserPool", "UserPool")
		clientID, client := s.named(t, "AWS::Cognito::UserPoolClient", "UserPoolClient")
		secretID, secret := s.named(t, "AWS::SecretsManager::Secret", "OidcClientSecret")
		if at(pool.Properties, "AdminCreateUserConfig", "AllowAdminCreateUserOnly") != true || pool.Properties["MfaConfiguration"] != "OPTIONAL" {
			t.Errorf("who may be in the pool: %v, %v", pool.Properties["AdminCreateUserConfig"], pool.Properties["MfaConfiguration"])
		}
		if kept := pool.DeletionPolicy == "Retain" && pool.Properties["DeletionProtection"] == "ACTIVE"; kept != (stage == stageProd) {
			t.Errorf("deleted with the stack: %s, %v", pool.DeletionPolicy, pool.Properties["DeletionProtection"])
		}
		if client.Properties["GenerateSecret"] != true || !slices.Equal(list(client.Properties["AllowedOAuthFlows"]), []string{"code"}) {
			t.Errorf("the client: %v", client.Properties)
		}
		if diff := cmp.Diff(ifOwn(object{"Fn::GetAtt": []any{clientID, "ClientSecret"}}, config.EmptySecret), secret.Properties["SecretString"]); diff != "" {
			t.Errorf("the secret:\n%s", diff)
		}
		_, f := s.named(t, "AWS::Lambda::Function", dashboardFunction)
		env, _ := at(f.Properties, "Environment", "Variables").(object)
		for name, want := range map[string]any{
			config.OIDCIssuer:      ifOwn(object{"Fn::Join": []any{"", []any{"https://cognito-idp.", object{"Ref": "AWS::Region"}, ".amazonaws.com/", object{"Ref": poolID}}}}, object{"Ref": "OidcIssuer"}),
			config.OIDCClientID:    ifOwn(object{"Ref": clientID}, object{"Ref": "OidcClientId"}),
			config.OIDCGroupsClaim: ifOwn("cognito:groups", object{"Ref": "OidcGroupsClaim"}),
			config.OIDCGroups:      object{"Ref": "OidcGroups"},
			config.OIDCSecret:      object{"Fn::GetAtt": []any{secretID, "Id"}},
		} {
			if diff := cmp.Diff(want, env[name]); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		}
		// People come back to where they were.
		callback, _ := at(client.Properties, "CallbackURLs", 0, "Fn::Join", 1).([]any)
		if last := callback[len(callback)-1]; !strings.HasSuffix(last.(string), "/sign-in/callback") {
			t.Errorf("people come back to %v", callback)
		}
		// Nothing that the API refers to may wait for it.
		if name := at(f.Properties, "FunctionName", "Fn::Sub"); name != "${AWS::StackName}-dashboard" {
			t.Errorf("the function is called %v", name)
		}
	})
}

// TestTheDashboardsName is never longer than Lambda takes.
func TestTheDashboardsName(t *testing.T) {
	for name, want := range map[string]string{
		"Bindery-prod":           "${AWS::StackName}-dashboard",
		strings.Repeat("a", 54):  "${AWS::StackName}-dashboard",
		strings.Repeat("a", 128): strings.Repeat("a", 54) + "-dashboard",
	} {
		s := &stack{settings: settings{stack: name}}
		if got := s.dashboardName(); got != want || len(strings.ReplaceAll(got, "${AWS::StackName}", name)) > 64 {
			t.Errorf("%s: %s", name, got)
		}
	}
}
