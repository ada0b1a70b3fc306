package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/config"
)

func TestFunctionFromEnv(t *testing.T) {
	all := map[string]string{
		config.Stage: "prod", config.Table: "bindery", config.SourcesBucket: "sources", config.ExportsBucket: "exports",
		config.StateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:export",
		config.SignerRole:   "arn:aws:iam::123456789012:role/signer", config.LinkLife: "30m", config.MaxRunning: "25", config.BundleDays: "90",
		config.ModelTable: "{}", config.ModelSecret: "arn:secret", config.CredentialKey: "arn:key", config.ForgeHosts: "a.example,*.b.example", config.ForgePrivateHosts: "c.internal",
		config.WebhookHosts: "hooks.internal,ci.internal:8443",
		config.GitHubApp:    "17", config.GitHubAppSecret: "arn:app",
	}
	got, err := config.FunctionFromEnv(environment(all), config.Table, config.SignerRole)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Function{
		Stage: "prod", Table: "bindery", SourcesBucket: "sources", ExportsBucket: "exports",
		StateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:export",
		SignerRole:   "arn:aws:iam::123456789012:role/signer", LinkLife: 30 * time.Minute, MaxRunning: 25, BundleDays: 90,
		ModelTable: "{}", ModelSecret: "arn:secret", CredentialKey: "arn:key", ForgeHosts: []string{"a.example", "*.b.example"}, ForgePrivateHosts: []string{"c.internal"},
		WebhookHosts: []string{"hooks.internal", "ci.internal:8443"},
		GitHubApp:    "17", GitHubAppHost: "github.com", GitHubAppSecret: "arn:app",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := config.FunctionFromEnv(environment(nil)); err != nil || !cmp.Equal(got, config.Function{}) {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
}

func TestFunctionFromEnvRefuses(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{config.Table, "", "BINDERY_TABLE: must be set"},
		{config.LinkLife, "30", "BINDERY_LINK_LIFE: must be a duration from 1s to 1h"},
		{config.LinkLife, "61m", "BINDERY_LINK_LIFE: must be a duration from 1s to 1h"},
		{config.LinkLife, "0s", "BINDERY_LINK_LIFE: must be a duration from 1s to 1h"},
		{config.MaxRunning, "0", "BINDERY_MAX_RUNNING: must be a whole number above 0"},
		{config.MaxRunning, "many", "BINDERY_MAX_RUNNING: must be a whole number above 0"},
		{config.BundleDays, "-1", "BINDERY_BUNDLE_DAYS: must be a whole number, 0 or more"},
	} {
		vars := map[string]string{config.Table: "bindery", c.name: c.value}
		if got, err := config.FunctionFromEnv(environment(vars), config.Table); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: got %+v, %v; want %s", c.name, c.value, got, err, c.want)
		}
	}
}
