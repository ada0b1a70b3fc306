package awsconfig_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/service/cloud/awsconfig"
)

func TestFromEnv(t *testing.T) {
	whole := map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:4566",
	}
	cfg, err := awsconfig.FromEnv(func(name string) string { return whole[name] })
	if err != nil {
		t.Fatal(err)
	}
	keys, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil || cfg.Region != "eu-west-1" || aws.ToString(cfg.BaseEndpoint) != "http://127.0.0.1:4566" ||
		keys.AccessKeyID != "key" || keys.SecretAccessKey != "secret" || keys.SessionToken != "session" {
		t.Errorf("got %+v, %+v, %v", cfg, keys, err)
	}
	for _, missing := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		_, err := awsconfig.FromEnv(func(name string) string {
			if name == missing {
				return ""
			}
			return whole[name]
		})
		if err == nil || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), "secret") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}
